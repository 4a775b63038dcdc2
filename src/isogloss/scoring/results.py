"""Result record: every score with its interval and signature."""

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, overload

import msgspec

from isogloss.data.files import atomic_write, read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.escaping import NAME_LENGTH, csv_text, printable, printable_system, printable_values
from isogloss.figures import interval_text, score_text
from isogloss.metrics.student import ENOUGH
from isogloss.notebooks import arrow_table, data_frame, plot, rich_html, short_repr, to_latex
from isogloss.predictions.problems import LeftOut
from isogloss.reply_outcomes import Outcome, ReplyCounts
from isogloss.scoring.main_score import main_score
from isogloss.scoring.result_texts import line_of, no_score
from isogloss.tasks.pseudo_sets import is_pseudo
from isogloss.tasks.registry import ALIASES

SCHEMA = 1

# Name of the outcome `unparsed` beside the share of all replies without an answer, which has the same name.
UNREADABLE = "unreadable"
# Reason for excluding a cell from averages.
PARTIAL_GOLD = "partial gold"
# Reason for excluding a cell that was not asked for by its split.
PSEUDO_SET = "pseudo test set, not averaged"
# Reason for a missing interval.
NO_INTERVAL = f"no interval: fewer than {ENOUGH} independent examples"


class FactorSpread(msgspec.Struct, frozen=True, omit_defaults=True):
    """Spread of a score, 0..100, over the levels of a factor: seeds, prompts or translators."""

    values: list[float]  # mean of the runs with each level
    sd: float  # standard deviation
    share: float  # share of the mean's variance due to the factor, 0..1
    levels: list[str] = []  # names of the levels; empty in records of earlier versions

    @classmethod
    def of(cls, scores: Mapping[str, float], share: float) -> "FactorSpread":
        """Return the spread of scores by level."""
        from statistics import stdev  # slow import that reading a result record does not need

        return cls(list(scores.values()), stdev(scores.values()), share, list(scores))


class Number(msgspec.Struct, frozen=True, omit_defaults=True):
    """A score, 0..100, with its 95 % interval, if it has 20 independent examples, and number of examples."""

    value: float
    low: float | None
    high: float | None
    n: int
    spread: dict[str, FactorSpread] = {}  # by factor, for a mean over several runs
    seeds: FactorSpread | None = None  # only in records of earlier versions: becomes the spread of "seed"
    on_all: tuple[float, float] | None = None  # from a subset: 95 % interval of the score on all of these examples

    def __post_init__(self) -> None:
        if self.seeds is not None:
            msgspec.structs.force_setattr(self, "spread", {"seed": self.seeds})
            msgspec.structs.force_setattr(self, "seeds", None)

    def __str__(self) -> str:
        return f"{score_text(self.value)} ({interval_text(self.low, self.high)})"

    def __repr__(self) -> str:
        return f"<Number: {self}, n={self.n:,}>"


class SubsetUse(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Use of a subset of the examples of a cell."""

    answered: int  # number of examples to answer
    examples: int  # number of all examples
    equivalent: int  # a plain random subset of this size is as precise
    seed: int
    guide: str = ""  # name of the system used as control variate


class CellScore(msgspec.Struct, frozen=True, kw_only=True):
    """One task in one language.

    `design_effect` is the ratio of the variance for new sources (such as articles) to that for new examples; None if
    examples share no source.
    """

    task: str
    language: str
    split: str
    metrics: dict[str, Number]
    signature: str
    partial: bool = False
    notes: list[str] = []
    design_effect: float | None = None
    unanswered: float | msgspec.UnsetType = msgspec.UNSET  # share of examples without an answer; not written if 0
    subset: SubsetUse | msgspec.UnsetType = msgspec.UNSET  # set if estimated from answers to a subset
    replies: ReplyCounts | msgspec.UnsetType = msgspec.UNSET  # replies of a language model, over all runs

    def __repr__(self) -> str:
        scored = ", ".join(f"{name} {number}" for name, number in self.metrics.items())
        return f"<CellScore: {printable(f'{self.task}/{self.language} ({self.split}): {scored}', NAME_LENGTH)}>"

    @property
    def score(self) -> float:
        """Mean of the task's main metrics."""
        return main_score(self.task, {name: number.value for name, number in self.metrics.items()})

    @property
    def subset_note(self) -> str:
        """Number of answers that the score was estimated from, in words, or ""."""
        return f"estimated from {self.subset.answered:,} of {self.subset.examples:,} answers" if self.subset else ""


class AverageScore(msgspec.Struct, frozen=True, kw_only=True):
    """Average over languages (of a task) or tasks (of a category), and its missing members.

    `gap` is the transfer gap of a task: English minus the mean of the other languages, paired by shared sources. It is
    None without English or other languages, or if nothing varies.
    """

    name: str
    score: Number
    metrics: dict[str, Number]
    members: list[str]
    missing: list[str]
    gap: Number | None = None
    design_effect: float | None = None

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" * bool(self.missing)
        return f"<AverageScore: {printable(self.name, NAME_LENGTH)} {self.score}{missing}>"


class Overall(msgspec.Struct, frozen=True):
    """Average over tasks by a named rule; partial if the suite is not covered."""

    rule: str
    score: Number | None
    missing: list[str]
    note: str = ""

    def __repr__(self) -> str:
        missing = f", {len(self.missing)} missing" * self.partial
        return f"<Overall: {self.score or 'no score'}{missing}, rule: {printable(self.rule, NAME_LENGTH)}>"

    @property
    def partial(self) -> bool:
        """True if something is missing."""
        return bool(self.missing)

    @property
    def complete_value(self) -> float | None:
        """Score if nothing is missing, else None."""
        return None if self.partial or self.score is None else self.score.value


class PairScores(msgspec.Struct, frozen=True):
    """Scores by query and target language, pooled over all queries (micro-average)."""

    task: str
    metric: str
    subsets: dict[str, Number]
    matrix: dict[str, dict[str, Number]]

    __repr__ = short_repr


class ScoreRow(msgspec.Struct, frozen=True, kw_only=True):
    """One number in the tidy form: `level` is cell, replies (of a cell), task, category, overall, subset or pair."""

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
        """Return the cells of a CSV row, with text escaped against spreadsheet formulas."""
        return [csv_text(cell) if isinstance(cell, str) else cell for cell in msgspec.structs.astuple(self)]


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """All scores of a system on a suite.

    The intervals are for new sources (`resample` is "source"), or new examples from the same sources ("example").
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
    resample: str = ""  # "" in records of earlier versions
    # Names of the runs that the scores are means of, if there are several: `seed-0`, `prompt-short/seed-1`, …
    runs: list[str] = msgspec.field(default_factory=list, name="seeds")
    left_out: list[LeftOut] = []  # predictions that are not scored, with reasons
    clustered: list[str] = []  # tasks with examples that share sources

    def rows(self) -> Iterator[ScoreRow]:
        """Yield the record as tidy rows, one per number."""
        any_row = partial(_row, why=NO_INTERVAL if self.isogloss else "reported without an interval")
        for cell in self.cells:
            apart = PSEUDO_SET if self.is_apart(cell) else ""
            note = "; ".join(filter(None, [PARTIAL_GOLD if cell.partial else "", apart, cell.subset_note]))
            for metric, number in cell.metrics.items():
                where = {"task": cell.task, "language": cell.language, "split": cell.split}
                yield any_row("cell", number, note, **where, metric=metric, signature=cell.signature)
            yield from _reply_rows(cell)
        row = partial(any_row, split=self.split)
        for average in self.tasks:
            for metric, number in {**average.metrics, "score": average.score}.items():
                yield row("task", number, _lacks(average.missing), task=average.name, metric=metric)
        for average in self.categories:
            yield row("category", average.score, _lacks(average.missing), task=average.name, metric="score")
        top = self.overall
        if top.score is not None:
            yield row("overall", top.score, _lacks(top.missing), task=self.suite, metric=top.rule)
        for pairs in self.pairs:
            row = partial(any_row, note="", task=pairs.task, split=self.split, metric=pairs.metric)
            for name, number in pairs.subsets.items():
                yield row("subset", number, language=name)
            for query, targets in pairs.matrix.items():
                for target, number in targets.items():
                    yield row("pair", number, language=f"{query}>{target}")

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the record as JSON; with a path, also write it."""
        return json_of(self, path)

    @staticmethod
    def from_json(path: Path | str) -> "Results":
        """Read a record written by `to_json`."""
        record: Results = decode_json(read_bytes(Path(path)), str(path), Results, what="a result record")
        return record._checked(path)

    @staticmethod
    def list_from_json(path: Path | str) -> "list[Results]":
        """Read a record, or the list of several that `isogloss score A B --json` writes."""
        raw = read_bytes(Path(path))
        if not raw.lstrip().startswith(b"["):
            return [Results.from_json(path)]
        records: list[Results] = decode_json(raw, str(path), list[Results], what="a list of result records")
        return [record._checked(path) for record in records]

    def _checked(self, path: Path | str) -> "Results":
        if self.schema_version > SCHEMA:
            what = f"schema version {self.schema_version}, this isogloss reads up to {SCHEMA}"
            raise DataError(what, where=str(path), fix="Update isogloss")
        return msgspec.structs.replace(self, system=printable_system(self.system))

    def to_csv(self, path: Path | str) -> None:
        """Write the tidy form."""
        write_csv(Path(path), {"": self})

    def to_pandas(self) -> Any:
        """Return the tidy form as a pandas data frame."""
        return data_frame([msgspec.structs.asdict(row) for row in self.rows()], ScoreRow.__struct_fields__)

    def to_arrow(self) -> Any:
        """Return the tidy form as an Arrow table."""
        return arrow_table([msgspec.structs.asdict(row) for row in self.rows()])

    def task_scores(self) -> dict[str, float]:
        """Return the task averages by name."""
        return {average.name: average.score.value for average in self.tasks}

    def in_average(self, cell: CellScore) -> bool:
        """Return True if a cell enters its task's average: the suite has its language and its gold is complete."""
        return any(average.name == cell.task and cell.language in average.members for average in self.tasks)

    def is_apart(self, cell: CellScore) -> bool:
        """Return True for a cell on a pseudo test set beside human ones: it is marked, and in no average."""
        return is_pseudo(cell.split) and not is_pseudo(self.split)

    @overload
    def __getitem__(self, key: str) -> AverageScore: ...

    @overload
    def __getitem__(self, key: tuple[str, str]) -> CellScore: ...

    def __getitem__(self, key: tuple[str, str] | str) -> CellScore | AverageScore:
        """Return a cell (`results["xquad", "en"]`) or a task average (`results["xquad"]`); aliases are accepted."""
        name, *language = key if isinstance(key, tuple) else (key,)
        name = ALIASES.get(name, name)
        if not language:
            for average in self.tasks:
                if average.name == name:
                    return average
        for cell in self.cells:
            if [cell.language] == language and cell.task == name:
                return cell
        raise no_score(self, key)

    def is_one_cell(self, tasks: Collection[str] | None = None, missing: Collection[str] | None = None) -> bool:
        """Return True if the average over some tasks (default: the overall score) has one cell, and the suite more."""
        members = [average.members for average in self.tasks if tasks is None or average.name in tasks]
        return sum(map(len, members)) == 1 and bool(self.overall.missing if missing is None else missing)

    @property
    def shown_overall(self) -> Number | None:
        """Overall score, or None if there is none or it is the score of a single cell."""
        return None if self.is_one_cell() else self.overall.score

    def __repr__(self) -> str:
        return line_of(self)

    _repr_html_ = rich_html
    to_latex = to_latex
    plot = plot


def write_csv(path: Path, systems: Mapping[str, Results]) -> None:
    """Write the tidy form of results, with a first column for the system if there are several."""
    import csv

    several = len(systems) > 1
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([*["system"] * several, *ScoreRow.__struct_fields__])
        for name, results in systems.items():
            writer.writerows([*[csv_text(name)] * several, *row.as_csv()] for row in results.rows())


def write_json(path: Path, record: Any, indent: int = 2) -> None:
    """Write a record, or a list of them, as indented JSON."""
    with atomic_write(path) as stream:
        stream.write(_json_text(record, indent) + "\n")


def json_of(record: Any, path: Path | str | None = None) -> str:
    """Return a record as indented JSON; with a path, also write it."""
    if path is not None:
        write_json(Path(path), record)
    return _json_text(record, 2)


def _json_text(record: Any, indent: int) -> str:
    try:
        encoded = msgspec.json.encode(record)
    except UnicodeEncodeError:  # such as the name of a file that is not in UTF-8
        encoded = msgspec.json.encode(printable_values(msgspec.to_builtins(record)))
    return msgspec.json.format(encoded, indent=indent).decode()


def signature_parts(signature: str) -> dict[str, str]:
    """Return the parts of a signature, `key:value|…`, by key; invalid parts are skipped."""
    return dict(part.split(":", 1) for part in signature.split("|") if ":" in part)


def _row(
    level: str, number: Number, note: str, *, why: str, language: str = "", signature: str = "", **where: str
) -> ScoreRow:
    if number.low is None:
        note = "; ".join(filter(None, [note, why]))
    figures = {"value": number.value, "low": number.low, "high": number.high, "n": number.n}
    row: dict[str, Any] = {"level": level, "language": language, **where, **figures, "note": note}
    return ScoreRow(**row, signature=signature)


def _reply_rows(cell: CellScore) -> Iterator[ScoreRow]:
    """Yield shares of replies, 0..100: those without an answer, and each reason that occurs; and the cost of 1,000."""
    counts = cell.replies
    if not counts:
        return
    shares = {outcome.value: 100 * count / counts.replies for outcome, count in counts.failures.items()}
    other = shares.pop(Outcome.UNPARSED.value, None)
    numbers = {"unparsed": 100 * counts.unparsed} | shares | ({} if other is None else {UNREADABLE: other})
    if counts.cost_per_thousand is not None:
        numbers["cost of 1,000"] = counts.cost_per_thousand
    where = {"task": cell.task, "language": cell.language, "split": cell.split, "note": "", "signature": cell.signature}
    for metric, value in numbers.items():
        yield ScoreRow(level="replies", metric=metric, value=value, low=None, high=None, n=counts.replies, **where)


def _lacks(missing: list[str]) -> str:
    return f"partial, missing: {' '.join(missing)}" if missing else ""
