"""PAWS-X: are two sentences paraphrases, in seven languages (XTREME only)."""

from isogloss.tasks.task import Layout, Task

TASK = Task(
    id="pawsx",
    title="PAWS-X: paraphrase identification",
    kind="classification",
    category="classification",
    languages=("en", "de", "es", "fr", "ja", "ko", "zh"),
    main=("accuracy",),
    layouts=(
        Layout("pairs.pawsx", "pawsx/{lang}/test_2k.tsv", "pawsx/{lang}/dev_2k.tsv", "pawsx/{lang}/train.tsv"),
        Layout("pairs.pawsx", train="pawsx/{lang}/translated_train.tsv"),
        Layout(
            "pairs.pawsx",
            test="pawsx/with_id_and_label/test-{lang}.tsv",
            dev="pawsx/with_id_and_label/validation-{lang}.tsv",
        ),
        Layout.by_split("pairs.prepared_pawsx", "pawsx/{split}-{lang}.tsv"),
        Layout.by_split("pairs.pawsx", "x-final/{lang}/{split}_2k.tsv", "test", "dev"),
    ),
    counts={"test": 2000, "dev": 2000},
    # Row i of every language translates the same English pair, although a few labels differ.
    parallel="pawsx",
    cluster="sentence",
    options={"labels": ("0", "1")},
    english_training=True,
    licence="free use, attribution asked",
    homepage="https://github.com/google-research-datasets/paws",
    citation="Yang et al. (2019), PAWS-X: A Cross-lingual Adversarial Dataset for Paraphrase Identification",
)
