"""A task for a built-in reader: texts on many subjects, some of them rare."""

from isogloss.tasks import Layout, Task

TASK = Task(
    id="subjects",
    title="Subjects: what a text is about",
    kind="many-labels",
    category="classification",
    languages=("en", "de"),
    main=("balanced",),
    layouts=(Layout("pairs.documents", test="subjects/{lang}.tsv", train="subjects/train-{lang}.tsv"),),
    counts={},
    options={
        "labels": tuple(
            "astronomy botany cooking dance economics fishing geology history insects jazz kites law".split()
        )
    },
    licence="CC0-1.0",
    homepage="https://example.org/subjects",
    citation="made for a test",
)
