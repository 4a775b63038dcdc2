"""The ids beside the vectors of a search, and the rankings as a prediction file."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.data.files import atomic_write, lines
from isogloss.errors import PredictionError
from isogloss.metrics.statistics import IntArray
from isogloss.predictions.write import encode_predictions


class SearchIds(NamedTuple):
    """The files of ids of both sides, one id a line, and where the rankings belong."""

    queries: Path
    candidates: Path
    predictions: Path

    @classmethod
    def beside(cls, queries: Path, candidates: Path, folder: Path) -> "SearchIds | None":
        """The `<name>.ids.txt` beside both `<name>.npy`; None where a side has none.

        The rankings of `queries-sw.npy` are `sw.jsonl`, as they are called in the folder of their task.
        """
        asked, pool = (path.with_name(f"{path.name.removesuffix('.npy')}.ids.txt") for path in (queries, candidates))
        name = queries.name.removesuffix(".npy").replace("queries-", "", 1)
        return cls(asked, pool, folder / f"{name}.jsonl") if asked.is_file() and pool.is_file() else None

    def check(self, queries: int, candidates: int) -> None:
        """Refuse ids that do not belong to so many vectors, before anything is searched.

        Raises:
            PredictionError: their number is another one, or an id of a query occurs twice.
        """
        for path, expected in ((self.queries, queries), (self.candidates, candidates)):
            count = sum(1 for _ in lines(path))
            if count != expected:
                raise PredictionError(f"{expected:,} rows but {count:,} ids", where=str(path))
        asked = list(_ids(self.queries))
        if len(set(asked)) != len(asked):
            raise PredictionError("an id occurs twice", where=str(self.queries))

    def write(self, rows: IntArray) -> Path:
        """Write the ranked candidates of every query, and give the path."""
        wanted = np.unique(rows)
        # Of a large pool only the ids that were found are held.
        names, before, stream = {}, -1, _ids(self.candidates)
        for row in wanted.tolist():
            names[row] = next(islice(stream, row - before - 1, None))
            before = row
        rankings = [[names[row] for row in best] for best in rows.tolist()]
        with atomic_write(self.predictions) as file:
            file.buffer.write(encode_predictions(self.predictions, list(_ids(self.queries)), rankings))
        return self.predictions


def _ids(path: Path) -> Iterator[str]:
    return (line.strip() for line in lines(path))
