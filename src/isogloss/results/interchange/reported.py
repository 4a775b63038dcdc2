"""Records of scores that another tool computed, and functions that the formats share."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from math import isfinite
from pathlib import Path
from typing import Any
from warnings import warn

from isogloss.errors import DataError, IsoglossError
from isogloss.escaping import NAME_LENGTH, printable, printable_system
from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.metrics.student import normal_quantile
from isogloss.results.metadata import public_metadata
from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, Results
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES

# Suites that a file's tasks may belong to, best first.
_SUITES = ("xtreme-r", "xtreme")
# Split of a record with cells of test and of dev.
_BOTH = "best"


@dataclass
class ReportedScores:
    """Scores of one system while a file is read, and what was left out."""

    path: Path
    tool: str
    cells: dict[tuple[str, str], CellScore] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)

    def add(
        self, task_id: str, language: str, metrics: Mapping[str, Number], size: int | None, split: str = ""
    ) -> None:
        """Add a cell if it covers a whole split and has the task's main metrics; otherwise note why not.

        Args:
            task_id: our name of the task.
            language: its language.
            metrics: the numbers, 0..100.
            size: number of examples, which tells the split; None if unknown.
            split: "test" or "dev" if the file names it.
        """
        where, scored = f"{task_id}/{language}", task(task_id)
        counts = {name: scored.expected(language, name) for name in ("test", "dev")}
        split = split or next((name for name, count in counts.items() if size is not None and count == size), "")
        if lacking := [name for name in scored.main if name not in metrics]:
            self.left_out.append(f"{where} (no {' and no '.join(lacking)})")
        elif not split or (size is not None and counts[split] != size):
            sizes = " or ".join(f"{count:,}" for count in counts.values() if count)
            examples = "an unknown number of examples" if size is None else f"{size:,} examples"
            self.left_out.append(f"{where} ({examples}, expected {sizes})")
        elif (task_id, language) in self.cells:
            raise DataError(f"duplicate scores of {where}", where=str(self.path), fix="Keep one of them")
        else:
            note = f"reported by {self.tool}"
            cell = CellScore(
                task=task_id, language=language, split=split, metrics=dict(metrics), signature="", notes=[note]
            )
            self.cells[task_id, language] = cell

    def record(self, system: Mapping[str, Any], known: str) -> Results:
        """Return the record, with plain means over languages and no overall score.

        Args:
            system: metadata.
            known: tasks that the format has in common with us, for the message if the file has none of them.
        """
        if self.left_out:
            cells = counted(len(self.left_out), "cell")
            warn(f"{self.path.name}: {cells} left out: {'; '.join(map(printable, self.left_out))}", stacklevel=2)
        if not self.cells:
            what = f"no scores that can be compared with ours in this {self.tool} file"
            raise DataError(what, where=str(self.path), fix=f"Pass results on {known}")
        return _record_of(list(self.cells.values()), {**system, "evaluator": self.tool})


def _record_of(cells: Sequence[CellScore], system: Mapping[str, Any]) -> Results:
    splits = {cell.split for cell in cells}
    names = {cell.task for cell in cells}
    suite = next((SUITES[name] for name in _SUITES if names <= set(SUITES[name].tasks)), SUITES[_SUITES[0]])
    return Results(
        suite=suite.id,
        system=printable_system(dict(system)),
        split=splits.pop() if len(splits) == 1 else _BOTH,
        cells=list(cells),
        tasks=_averages(cells, suite.languages_of),
        categories=[],
        overall=Overall(suite.rule, None, [name for name in suite.tasks if name not in names]),
        pairs=[],
        isogloss="",
    )


def joined(first: Results, second: Results) -> Results | None:
    """Return the record of two files about one system, or None if they are of different runs.

    Tools write a file per task, or one for the tasks that were run together.
    """
    cells = [*first.cells, *second.cells]
    facts = ("name", "regime", "evaluator", "decoding", "revision")
    same_run = all(first.system.get(fact) == second.system.get(fact) for fact in facts)
    repeated = len({(cell.task, cell.language) for cell in cells}) < len(cells)
    reported = not first.isogloss and not second.isogloss
    return _record_of(cells, first.system) if reported and same_run and not repeated else None


def _averages(cells: Sequence[CellScore], languages_of: Callable[[str], Sequence[str]]) -> list[AverageScore]:
    averages = []
    for name, of_task in group_by(cells, lambda cell: cell.task).items():
        main, total = task(name).main, sum(_size(cell) for cell in of_task)
        inside = [cell for cell in of_task if cell.language in languages_of(name)] or of_task
        means = {metric: sum(cell.metrics[metric].value for cell in inside) / len(inside) for metric in main}
        members = [cell.language for cell in inside]
        averages.append(
            AverageScore(
                name=name,
                score=Number(sum(means.values()) / len(means), None, None, total),
                metrics={metric: Number(value, None, None, total) for metric, value in means.items()},
                members=members,
                missing=[code for code in languages_of(name) if code not in members],
            )
        )
    return averages


def _size(cell: CellScore) -> int:
    return max(number.n for number in cell.metrics.values())


def percent(share: object, error: object, size: int | None, *, what: str, path: Path) -> Number:
    """Return a share of 0 to 1 as a score of 0 to 100, with the interval of its standard error, if there is one.

    Raises:
        DataError: the share is not a number from 0 to 1.
    """
    value = finite(share)
    if value is None or not 0 <= value <= 1:
        shown = printable(str(share), NAME_LENGTH)
        fix = "Pass the file as the tool wrote it: its scores are shares from 0 to 1"
        raise DataError(f"{what} is {shown}, expected a number from 0 to 1", where=str(path), fix=fix)
    spread = finite(error)
    if not spread or spread < 0:  # none is given, or all examples have the same score
        return Number(_hundredfold(value), None, None, size or 0)
    margin = normal_quantile(0.975) * spread
    low, high = max(0.0, value - margin), min(1.0, value + margin)
    return Number(_hundredfold(value), _hundredfold(low), _hundredfold(high), size or 0)


def _hundredfold(share: float) -> float:
    return round(100 * share, 10)  # 91.1, not 91.10000000000001


def finite(value: object) -> float | None:
    """Return a finite number, or None for anything else."""
    valid = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    return float(value) if valid and isinstance(value, int | float) else None


def table_in(decoded: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table of a decoded file, or an empty one if it is missing or something else."""
    value = decoded.get(name)
    return value if isinstance(value, Mapping) else {}


def only_record(records: Sequence[Results], form: str) -> Results:
    """Return the record for a format that describes one system; raise DataError for several."""
    if len(records) != 1:
        raise DataError(f"{len(records)} systems, but {form} describes one", fix="Write one file per system")
    return records[0]


def refuse_all(record: Results, written: Collection[CellScore], form: str) -> None:
    """Raise DataError if a format holds none of a record's cells; warn if it does not hold all."""
    names = {cell.task for cell in written}
    others = list(dict.fromkeys(cell.task for cell in record.cells if cell.task not in names))
    if not written:
        what = f"{form} has none of the tasks of {system_name(record)}: {', '.join(others)}"
        raise DataError(what, fix="Choose another format")
    if others:
        warn(f"{form} has no such task, left out: {', '.join(others)}", stacklevel=2)


def system_name(record: Results) -> str:
    """Return the name of a record's system."""
    return str(record.system.get("name") or "unnamed")


def standard_error_share(number: Number) -> float | None:
    """Return the standard error behind an interval as a share of 0 to 1, or None without an interval."""
    if number.low is None or number.high is None:
        return None
    return (number.high - number.low) / (200 * normal_quantile(0.975))


def client(name: str) -> Any:
    """Import the client of a service; raise IsoglossError if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        from isogloss.installation import package_command

        raise IsoglossError(f"{name} is not installed", fix=f"Run {package_command(name)}") from None


def flat_scores(record: Results) -> dict[str, float]:
    """Return all numbers of a record by name: `xnli/sw/accuracy`, `xnli/score`, `overall`; ends of intervals beside."""
    scores: dict[str, float] = {}
    for row in record.rows():
        places = {"cell": (row.task, row.language), "task": (row.task,), "overall": ()}.get(row.level)
        if places is None:
            continue
        name = "/".join((*places, row.metric if places else "overall"))
        ends = {"": row.value, "/low": row.low, "/high": row.high}
        scores |= {name + end: value for end, value in ends.items() if value is not None}
    return scores


def settings_of(record: Results) -> dict[str, str | int | float | bool]:
    """Return the metadata of a system that clients can show: texts and numbers, without private ones."""
    facts = {**public_metadata(record.system), "suite": record.suite, "split": record.split}
    facts |= {"isogloss": record.isogloss} if record.isogloss else {}
    return {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
