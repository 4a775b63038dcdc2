"""A reader: from a file of a task to its examples."""

from isogloss.data.tables import rows
from isogloss.tasks import Examples
from isogloss.tasks.readers.split_files import SplitFiles


def pairs(files: SplitFiles) -> Examples | None:
    """`sentence<TAB>sentence<TAB>similarity` a line; None where there is no such file."""
    path = files.path()
    if path is None:
        return None
    first, second, similarity = map(list, zip(*rows(path, 3, files.digest), strict=True))
    columns = {"text_a": first, "text_b": second, "similarity": [float(number) for number in similarity]}
    return files.examples(files.row_ids(len(first)), columns, "similarity")
