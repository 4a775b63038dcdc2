"""XQuAD: SQuAD questions translated by people, in eleven languages."""

from isogloss.tasks.task import Layout, Task

TASK = Task(
    id="xquad",
    title="XQuAD: extractive question answering",
    kind="qa",
    category="qa",
    languages=("en", "ar", "de", "el", "es", "hi", "ru", "th", "tr", "vi", "zh"),
    # Romanian came after the paper; the reference code lists it, no published average has it.
    also=("ro",),
    main=("f1", "em"),
    layouts=(
        Layout("questions.one_language", test="xquad/xquad.{lang}.json"),
        Layout("questions.english", dev="squad/dev-v1.1.json", train="squad/train-v1.1.json"),
    ),
    counts={"test": 1190},
    parallel="xquad",
    cluster="article",
    # The articles keep their English titles in every language.
    options={"dialect": "squad", "shared_titles": True},
    licence="CC BY-SA 4.0",
    homepage="https://github.com/google-deepmind/xquad",
    citation="Artetxe et al. (2020), On the Cross-lingual Transferability of Monolingual Representations",
)
