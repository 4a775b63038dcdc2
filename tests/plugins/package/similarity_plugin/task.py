"""A task: its kind, languages and files. Listing tasks loads this module, so it has no heavy imports."""

from isogloss.tasks import Layout, Task

TASK = Task(
    id="likeness",
    title="Likeness: how alike two sentences are",
    kind="similarity",
    category="similarity",
    languages=("en", "de", "sw"),
    main=("spearman",),
    layouts=(Layout("similarity_plugin.reader:pairs", test="likeness/{lang}.tsv", dev="likeness/dev-{lang}.tsv"),),
    counts={"test": 30},
    parallel="likeness",  # the languages have the same pairs, translated
    licence="CC0-1.0",
    homepage="https://example.org/likeness",
    citation="made for a test",
)
