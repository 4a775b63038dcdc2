"""A task: its languages, its files, and the function that reads them."""

from isogloss.data.tables import rows
from isogloss.tasks import Layout, Task
from isogloss.tasks.examples import Examples
from isogloss.tasks.readers.split_files import SplitFiles

TASK = Task(
    id="likeness",
    title="Likeness: how alike two sentences are",
    kind="similarity",
    category="similarity",
    languages=("en", "de", "sw"),
    main=("spearman",),
    layouts=(Layout("similarity_plugin.task:pairs", test="likeness/{lang}.tsv", dev="likeness/dev-{lang}.tsv"),),
    counts={"test": 30},
    parallel="likeness",  # the languages have the same pairs, translated
    licence="CC0-1.0",
    homepage="https://example.org/likeness",
    citation="made for a test",
)


def pairs(files: SplitFiles) -> Examples | None:
    """`sentence<TAB>sentence<TAB>similarity` a line; None where there is no such file."""
    path = files.path()
    if path is None:
        return None
    first, second, similarity = map(list, zip(*rows(path, 3, files.digest), strict=True))
    columns = {"text_a": first, "text_b": second, "similarity": [float(number) for number in similarity]}
    return files.examples(files.row_ids(len(first)), columns, "similarity")
