"""The result record: every number with its interval and signature, and views of it for every taste."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write, read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.escaping import csv_text, printable_system, printable_values
from isogloss.figures import interval_text, score_text
from isogloss.metrics.student import ENOUGH
from isogloss.notebooks import arrow_table, data_frame, html_table
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.main_score import main_score
from isogloss.tasks.registry import ALIASES

SCHEMA = 1

# Why a cell is in no average.
PARTIAL_GOLD = "partial gold"
# Why a number has no interval.
NO_INTERVAL = f"no interval: fewer than {ENOUGH} independent examples"


class SeedSpread(msgspec.Struct, frozen=True):
    """How a score, 0..100, differs between the seeds that it is the mean of.

    Attributes:
        values: the score of each seed.
        sd: the standard deviation over them.
        share: the part of the variance of their mean that is due to the seeds, 0..1; the rest is due to the test set.
    """

    values: list[float]
    sd: float
    share: float


class Number(msgspec.Struct, frozen=True, omit_defaults=True):
    """A score, 0..100, with its 95 % interval and the number of examples behind it.

    There is no interval from fewer than 20 examples that do not share a source; `seeds` is there for a mean over seeds.
    """

    value: float
    low: float | None
    high: float | None
    n: int
    seeds: SeedSpread | None = None


class CellScore(msgspec.Struct, frozen=True):
    """One task in one language.

    `design_effect` is how many times larger the variance of its score is for new sources (articles, say) than for new
    examples; None where examples share no source.
    """

    task: str
    language: str
    split: str
    metrics: dict[str, Number]
    signature: str
    partial: bool = False
    notes: list[str] = []
    design_effect: float | None = None

    @property
    def score(self) -> float:
        """The one figure the task is known by: the mean of its main metrics."""
        return main_score(self.task, {name: number.value for name, number in self.metrics.items()})


class AverageScore(msgspec.Struct, frozen=True):
    """An average over languages (of a task) or over tasks (of a category), and what it lacks.

    `gap` is the transfer gap of a task: English minus the mean of the other languages, source by source if they share
    any. None where there is no English or nothing else, or nothing varies.
    """

    name: str
    score: Number
    metrics: dict[str, Number]
    members: list[str]
    missing: list[str]
    gap: Number | None = None
    design_effect: float | None = None


class Overall(msgspec.Struct, frozen=True):
    """The average over tasks by a named rule; partial where anything of the suite is missing."""

    rule: str
    score: Number | None
    missing: list[str]
    note: str = ""

    @property
    def partial(self) -> bool:
        """Whether something is missing."""
        return bool(self.missing)

    @property
    def complete_value(self) -> float | None:
        """The average if nothing is missing, else none: an average over fewer tasks is another figure."""
        return None if self.partial or self.score is None else self.score.value


class PairScores(msgspec.Struct, frozen=True):
    """Scores by query and target language, pooled over all queries (micro-average)."""

    task: str
    metric: str
    subsets: dict[str, Number]
    matrix: dict[str, dict[str, Number]]


class ScoreRow(msgspec.Struct, frozen=True):
    """One number in the tidy form: `level` is cell, task, category, overall, subset or pair."""

    level: str
    task: str
    language: str
    split: str
    metric: str
    value: float
    low: float | None
    high: float | None
    n: int
    note: str
    signature: str

    def as_csv(self) -> list[Any]:
        """The cells of a line of CSV: numbers as they are, and text that no spreadsheet takes for a formula."""
        return [csv_text(cell) if isinstance(cell, str) else cell for cell in msgspec.structs.astuple(self)]


class Results(msgspec.Struct, frozen=True):
    """Everything that was scored, self-describing.

    `resample` says of what the intervals speak: of new sources ("source"), or of new examples from the same sources
    ("example"); "" in records of earlier versions. `seeds` names the runs that the scores are means of, where there are
    several. `left_out` are answers that are in no score, and why; `clustered` the tasks whose examples share sources.
    """

    suite: str
    system: dict[str, Any]
    split: str
    cells: list[CellScore]
    tasks: list[AverageScore]
    categories: list[AverageScore]
    overall: Overall
    pairs: list[PairScores]
    isogloss: str
    schema_version: int = SCHEMA
    resample: str = ""
    seeds: list[str] = []
    left_out: list[LeftOut] = []
    clustered: list[str] = []

    def rows(self) -> Iterator[ScoreRow]:
        """The record as tidy rows, one a number."""
        for cell in self.cells:
            note = PARTIAL_GOLD if cell.partial else ""
            for metric, number in cell.metrics.items():
                place = ("cell", cell.task, cell.language, cell.split, metric)
                yield _row(place, number, note, cell.signature)
        for average in self.tasks:
            note = _lacks(average.missing)
            for metric, number in {**average.metrics, "score": average.score}.items():
                yield _row(("task", average.name, "", self.split, metric), number, note)
        for average in self.categories:
            yield _row(("category", average.name, "", self.split, "score"), average.score, _lacks(average.missing))
        if self.overall.score is not None:
            place = ("overall", self.suite, "", self.split, self.overall.rule)
            yield _row(place, self.overall.score, _lacks(self.overall.missing))
        for pairs in self.pairs:
            for name, number in pairs.subsets.items():
                yield _row(("subset", pairs.task, name, self.split, pairs.metric), number, "")
            for query, targets in pairs.matrix.items():
                for target, number in targets.items():
                    yield _row(("pair", pairs.task, f"{query}>{target}", self.split, pairs.metric), number, "")

    def to_json(self, path: Path | str) -> None:
        """Write the record."""
        write_json(Path(path), self)

    @staticmethod
    def from_json(path: Path | str) -> "Results":
        """Read a record that was written here."""
        found: Results = decode_json(read_bytes(Path(path)), str(path), Results, what="a result record")
        if found.schema_version > SCHEMA:
            what = f"schema version {found.schema_version}, this isogloss reads up to {SCHEMA}"
            raise DataError(what, where=str(path), fix="Update isogloss")
        return msgspec.structs.replace(found, system=printable_system(found.system))

    def to_csv(self, path: Path | str) -> None:
        """Write the tidy form."""
        write_csv(Path(path), {"": self})

    def to_pandas(self) -> Any:
        """The tidy form as a pandas data frame."""
        return data_frame([msgspec.structs.asdict(row) for row in self.rows()], ScoreRow.__struct_fields__)

    def to_arrow(self) -> Any:
        """The tidy form as an Arrow table."""
        return arrow_table([msgspec.structs.asdict(row) for row in self.rows()])

    def task_scores(self) -> dict[str, float]:
        """The task averages by name."""
        return {average.name: average.score.value for average in self.tasks}

    def in_average(self, cell: CellScore) -> bool:
        """Whether a cell is part of its task's average: its language is of the suite, and its gold is complete."""
        return any(average.name == cell.task and cell.language in average.members for average in self.tasks)

    def __getitem__(self, key: tuple[str, str] | str) -> CellScore | AverageScore:
        """`results["xquad", "en"]` is a cell, `results["xquad"]` a task average; aliases are understood."""
        name, *language = [key] if isinstance(key, str) else key
        name = ALIASES.get(name, name)
        if not language:
            for average in self.tasks:
                if average.name == name:
                    return average
        for cell in self.cells:
            if [cell.language] == language and cell.task == name:
                return cell
        raise KeyError(key)

    def __repr__(self) -> str:
        top = self.overall.score
        scored = score_text(top.value) if top is not None else f"no overall, {len(self.tasks)} tasks"
        return f"<Results: {self.system.get('name', '')} on {self.suite} ({self.split}): {scored}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = [
            (
                average.name,
                score_text(average.score.value),
                interval_text(average.score.low, average.score.high),
                f"{average.score.n:,}",
                _lacks(average.missing),
            )
            for average in self.tasks
        ]
        return html_table(f"{self.system.get('name', '')} on {self.suite}", ("task", "score", "95 %", "n", ""), rows)


def write_csv(path: Path, systems: Mapping[str, Results]) -> None:
    """Write the tidy form of some results, with the system in a first column where there are several."""
    import csv

    several = len(systems) > 1
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*["system"] * several, *ScoreRow.__struct_fields__])
        for name, results in systems.items():
            writer.writerows([*[csv_text(name)] * several, *row.as_csv()] for row in results.rows())


def write_json(path: Path, record: Any, indent: int = 2) -> None:
    """Write a record, or a list of them, as JSON that people can read."""
    try:
        encoded = msgspec.json.encode(record)
    except UnicodeEncodeError:  # such as the name of a file that is not in UTF-8
        encoded = msgspec.json.encode(printable_values(msgspec.to_builtins(record)))
    with atomic_write(path) as stream:
        stream.write(msgspec.json.format(encoded, indent=indent).decode() + "\n")


def signature_parts(signature: str) -> dict[str, str]:
    """What a signature, `key:value|…`, says by its keys; whatever else stands in it is left out."""
    return dict(part.split(":", 1) for part in signature.split("|") if ":" in part)


def _row(place: tuple[str, str, str, str, str], number: Number, note: str, signature: str = "") -> ScoreRow:
    if number.low is None:
        note = "; ".join(filter(None, [note, NO_INTERVAL]))
    return ScoreRow(*place, number.value, number.low, number.high, number.n, note, signature)


def _lacks(missing: list[str]) -> str:
    return f"partial, missing: {' '.join(missing)}" if missing else ""
