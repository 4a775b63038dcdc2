"""MLDoc: news topics in eight languages, as in Keung et al. (2020); the corpus (Reuters) comes from the user."""

from isogloss.tasks.task import Layout, Task

TASK = Task(
    id="mldoc",
    title="MLDoc: document classification",
    kind="classification",
    category="classification",
    languages=("en", "de", "es", "fr", "it", "ja", "ru", "zh"),
    main=("accuracy",),
    layouts=(
        Layout("pairs.documents", "mldoc/{name}.test", "mldoc/{name}.dev", "mldoc/{name}.train.1000"),
        Layout.by_split("pairs.documents", "mldoc/{lang}/{split}.tsv"),
    ),
    counts={"test": 4000, "dev": 1000},
    options={"labels": ("CCAT", "ECAT", "GCAT", "MCAT")},
    licence="Reuters RCV1/RCV2, by agreement with NIST",
    homepage="https://github.com/facebookresearch/MLDoc",
    citation="Schwenk and Li (2018), A Corpus for Multilingual Document Classification in Eight Languages",
)
