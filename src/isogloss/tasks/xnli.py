"""XNLI: does the premise entail the hypothesis, in fifteen languages."""

from isogloss.tasks.task import Layout, Task

TASK = Task(
    id="xnli",
    title="XNLI: natural language inference",
    kind="classification",
    category="classification",
    languages=("en", "ar", "bg", "de", "el", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh"),
    main=("accuracy",),
    layouts=(
        Layout.by_split("pairs.xnli", "xnli/XNLI-1.0/xnli.{split}.tsv", "test", "dev"),
        Layout.by_split("pairs.prepared_xnli", "xnli/{split}-{lang}.tsv"),
        Layout.by_split("pairs.xnli", "XNLI-1.0/xnli.{split}.tsv", "test", "dev"),
        Layout("pairs.multinli", train="xnli/XNLI-MT-1.0/multinli/multinli.train.{lang}.tsv"),
    ),
    counts={"test": 5010, "dev": 2490},
    parallel="xnli",
    cluster="premise",
    options={"labels": ("entailment", "neutral", "contradiction")},
    english_training=True,
    licence="CC BY-NC 4.0",
    homepage="https://github.com/facebookresearch/XNLI",
    citation="Conneau et al. (2018), XNLI: Evaluating Cross-lingual Sentence Representations",
)
