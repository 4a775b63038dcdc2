"""A reader: returns the examples in a file of a task."""

from isogloss.data.tables import rows
from isogloss.tasks import Examples
from isogloss.tasks.readers.split_files import SplitFiles


def pairs(files: SplitFiles) -> Examples | None:
    """Read `sentence<TAB>sentence<TAB>similarity` lines; None if the file is missing."""
    path = files.path()
    if path is None:
        return None
    first, second, similarity = map(list, zip(*rows(path, 3, files.digest), strict=True))
    columns = {"text_a": first, "text_b": second, "similarity": [float(number) for number in similarity]}
    return files.examples(files.row_ids(len(first)), columns, "similarity")
