"""Read systems from a CSV of scores: written by `isogloss score --csv`, or any with one score per row."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.data.tables import csv_records, finite_number
from isogloss.errors import DataError, UnknownNameError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.languages import known_language, language, listed_language
from isogloss.results.system import OVERALL, UNKNOWN_SCORER, CellResult, Scorer, SystemResult
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.results import PARTIAL_GOLD, PSEUDO_SET, Number, signature_parts
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

REQUIRED = ("task", "language", "value")
# File names that do not name a system; its folder does.
_NAMELESS = ("scores", "results")
# Columns with metadata, as in system.toml.
_TEXTS = (
    *("kind", "date", "paper", "url", "open_weights", "pretraining_data", "parallel_data", "translated_data"),
    *("licence", "contamination"),
)
_NUMBERS = ("year", "parameters", "parameters_active", "unparsed", "tokens", "cost")
_CELL, _AVERAGES = "cell", ("task", "category", OVERALL)


@dataclass(kw_only=True)
class _Rows:
    source: str
    metadata: dict[str, Any] = field(default_factory=dict)
    metrics: dict[tuple[str, str], dict[str, Number]] = field(default_factory=dict)
    pseudo: dict[tuple[str, str], dict[str, Number]] = field(default_factory=dict)
    signatures: dict[tuple[str, str], str] = field(default_factory=dict)
    averages: dict[str, Number] = field(default_factory=dict)
    scorer: Scorer = UNKNOWN_SCORER
    reported: bool = True


def read_csv(path: Path, suite: Suite | None = None) -> list[SystemResult]:
    """Read the systems of a CSV file, in the order of their first rows.

    Args:
        path: file with the columns task, language and value (0..100). Optional columns: metric (default: the task's
            main metric), system and regime (default: one system named after the file), level, split, low, high, n,
            note, signature, source, and metadata named as in `system.toml`. Rows with an empty value are skipped.
        suite: suite to restrict rows to.

    Raises:
        DataError: missing column, unknown task or language, invalid number, duplicate score, scores from two splits, or
            no main metric in a cell of the suite.
    """
    return _CsvReader(path, suite).systems()


class _CsvReader:
    def __init__(self, path: Path, suite: Suite | None) -> None:
        self._path, self._suite = path, suite
        self._where = ""

    def systems(self) -> list[SystemResult]:
        by_system: dict[tuple[str, str], _Rows] = {}
        for line, row in csv_records(self._path, REQUIRED):
            self._where = f"{self._path}:{line}"
            name = printable(row.get("system", ""), NAME_LENGTH).strip()
            if not name:
                name = self._path.resolve().parent.name if self._path.stem in _NAMELESS else self._path.stem
            key = name, printable(row.get("regime", ""), NAME_LENGTH).strip()
            rows = by_system.setdefault(key, _Rows(source=self._path.name))
            self._add_metadata(rows, row)
            level = row.get("level") or _CELL
            if not row["value"].strip():
                continue
            if level == _CELL:
                self._add_cell(key, rows, row)
            elif level in _AVERAGES and not row.get("note", "").startswith("partial"):
                self._add_average(rows, level, row)
        return [self._system(*key, rows) for key, rows in by_system.items()]

    def _add_metadata(self, rows: _Rows, row: Mapping[str, str]) -> None:
        for key in (*_TEXTS, *_NUMBERS):
            if text := row.get(key, "").strip():
                rows.metadata.setdefault(key, text if key in _TEXTS else self._number(key, text))
        source = row.get("source", "").strip() or row.get("source_table", "").strip()
        if source and rows.reported:
            rows.source = printable(source, FACT_LENGTH)

    def _add_cell(self, system: tuple[str, str], rows: _Rows, row: Mapping[str, str]) -> None:
        name = row["task"].strip()
        try:
            scored_task = task(name)
        except UnknownNameError as error:
            raise DataError(error.what, where=self._where, fix=error.fix) from None
        metric = row.get("metric", "").strip() or scored_task.main[0]
        if PSEUDO_SET in row.get("note", ""):
            if entry := known_language(row["language"].strip()):
                rows.pseudo.setdefault((scored_task.id, entry.code), {})[metric] = self._score(row)
                rows.signatures.setdefault((scored_task.id, entry.code), row.get("signature", ""))
            return
        code = self._code(scored_task.id, row["language"].strip())
        if not code or row.get("note") == PARTIAL_GOLD:
            return
        metrics = rows.metrics.setdefault((scored_task.id, code), {})
        signature = rows.signatures.setdefault((scored_task.id, code), row.get("signature", ""))
        if metric in metrics:
            what = f"duplicate score of {', '.join(filter(None, system))}: {scored_task.id}/{code} {metric}"
            raise DataError(what, where=self._where, fix="Keep one of them")
        metrics[metric] = self._score(row)
        split = printable(row.get("split", "").strip(), NAME_LENGTH)
        if rows.scorer.split and split and rows.scorer.split != split:
            what = f"cannot compare scores from different splits: {rows.scorer.split}, {split}"
            raise DataError(what, where=self._where, fix="Build a board for each split")
        version = signature_parts(signature).get("version", "")
        rows.scorer = Scorer(version=version, split=split or rows.scorer.split)
        rows.reported = rows.reported and not signature

    def _add_average(self, rows: _Rows, level: str, row: Mapping[str, str]) -> None:
        """Add the average of a task, a category, or of the suite by its own rule."""
        if self._suite is None:
            return
        name, metric = (OVERALL, self._suite.rule) if level == OVERALL else (row["task"].strip(), SCORE)
        names = {"task": self._suite.tasks, "category": self._suite.categories, OVERALL: (OVERALL,)}[level]
        is_of_suite = level != OVERALL or row["task"].strip() == self._suite.id
        if name in names and row.get("metric") == metric and is_of_suite:
            rows.averages[name] = self._score(row)

    def _code(self, task_id: str, text: str) -> str:
        """Return the code of a language, or "" if the suite does not have this cell."""
        if self._suite is not None:
            codes = self._suite.languages_of(task_id) if task_id in self._suite.tasks else ()
            entry = listed_language(text)
            return next((code for code in (text, entry.code if entry else "") if code in codes), "")
        try:
            return language(text).code
        except UnknownNameError as error:
            raise DataError(error.what, where=self._where, fix=error.fix) from None

    def _score(self, row: Mapping[str, str]) -> Number:
        low, high, n = (
            self._number(name, text) if (text := row.get(name, "").strip()) else None for name in ("low", "high", "n")
        )
        return Number(self._number("value", row["value"]), low, high, int(n or 0))

    def _number(self, name: str, text: str) -> float:
        number = finite_number(text)
        if number is None:
            what = f"{name} is {printable(text, NAME_LENGTH)!r}, expected a number"
            raise DataError(what, where=self._where, fix="Leave the cell empty if there is no value")
        return number

    def _system(self, name: str, regime: str, rows: _Rows) -> SystemResult:
        source = str(self._path)
        for (task_id, code), metrics in rows.metrics.items():
            scored = task(task_id)
            if self._suite is not None and not set(scored.main) & set(metrics):
                what = f"{name} has {', '.join(metrics)} of {task_id}/{code}, but none of the task's main metrics"
                raise DataError(printable(what), where=source, fix=f"Add {' and '.join(scored.main)}")
        parameters = rows.metadata.get("parameters")
        return SystemResult(
            name=name,
            regime=regime,
            metadata=rows.metadata,
            parameters=parameters if parameters and parameters > 0 else None,
            cells=self._cells(rows, rows.metrics),
            pseudo=self._cells(rows, rows.pseudo),
            averages=rows.averages,
            reported=rows.reported,
            source=rows.source,
            scorer=rows.scorer,
        )

    def _cells(
        self, rows: _Rows, metrics: Mapping[tuple[str, str], dict[str, Number]]
    ) -> dict[tuple[str, str], CellResult]:
        return {
            (task_id, code): CellResult(
                task=task(task_id),
                code=code,
                language=known_language(code),
                metrics=numbers,
                signature=rows.signatures[task_id, code],
                source=str(self._path),
            )
            for (task_id, code), numbers in metrics.items()
        }
