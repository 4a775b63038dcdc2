"""What analyses over scores are made from: result records, folders of runs, published systems, tidy CSV."""

import csv
import io
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.published_scores import is_published, published_scores
from isogloss.analysis.score_table import LanguageScore, ScoreTable
from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.languages import language
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.names import shortest_distinct, system_words
from isogloss.scoring.results import Number, Results
from isogloss.scoring.seeds import seed_folders
from isogloss.tasks.registry import canonical, task

FIX = "Give a results.json, a folder with one, published, published:NAME, or a CSV (task, system, language, value)"
# The columns that a tidy CSV must have; regime, metric, low, high and n may be there too.
COLUMNS = ("task", "system", "language", "value")


@dataclass
class _Metrics:
    """All metrics of one system on one task in one language, before one of them is chosen."""

    values: dict[str, Number]
    source: str


@dataclass
class _System:
    """What was given of one system under one regime."""

    words: tuple[str, ...]
    cells: dict[tuple[str, str], _Metrics] = field(default_factory=dict)
    gaps: dict[str, Number] = field(default_factory=dict)
    parameters: float | None = None


def read_scores(
    sources: Iterable[Path | str | Results],
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    metric: str = "",
) -> ScoreTable:
    """Scores by system, task and language, from one or more sources, in one metric a task.

    Args:
        sources: result records, files of them, run folders, folders of seeds (whose record is the mean over them),
            "published" for the systems of the papers' tables, "published:NAME" for one system or group, or tidy CSV.
        tasks: only these.
        languages: only these.
        metric: of tasks that have it; by default each task's own figure, where all systems have that.

    Raises:
        AnalysisError: there are no scores, two for one place, or one that is not a finite number.
        DataError: a source is none of these.
        UnknownNameError: a task, a language or a published system does not exist.
    """
    systems = [system for source in sources for system in _read(source)]
    names = shortest_distinct([system.words for system in systems])
    wanted = None if tasks is None else {canonical(word) for name in tasks for word in name.split(",")}
    codes = None if languages is None else {language(word).code for name in languages for word in name.split(",")}
    for system in systems:
        if codes is not None:
            system.gaps.clear()  # which are over all languages
        system.cells = {
            place: metrics
            for place, metrics in system.cells.items()
            if (wanted is None or place[0] in wanted) and (codes is None or place[1] in codes)
        }
    named = {name: system for name, system in zip(names, systems, strict=True) if system.cells}
    if not named:
        raise AnalysisError("there are no scores of these tasks and languages", fix=FIX)
    return _in_one_metric(named, metric)


def _in_one_metric(systems: Mapping[str, _System], wanted: str) -> ScoreTable:
    """The scores in the metric that is wanted, else the task's own where all systems have it, else the most common."""
    scores: list[LanguageScore] = []
    notes: list[str] = []
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(place[0] for system in systems.values() for place in system.cells):
        of_systems = {shown: _of_task(system, name) for shown, system in systems.items()}
        metric, without = _chosen_metric(name, {shown: of for shown, of in of_systems.items() if of}, wanted)
        chosen[name] = metric
        if without:
            notes.append(f"{name} is compared in {metric}; left out for want of it: {', '.join(without)}")
        elif metric not in (SCORE, wanted) and len(task(name).main) > 1:
            notes.append(f"{name} is compared in {metric} alone: not every system has {' and '.join(task(name).main)}")
        for shown, cells in of_systems.items():
            if shown not in without:
                scores += _scores(shown, systems[shown], name, metric, cells)
    whole = {name for name, metric in chosen.items() if metric == SCORE or task(name).main == (metric,)}
    gaps = {(shown, name): gap for shown, each in systems.items() for name, gap in each.gaps.items() if name in whole}
    parameters = {shown: each.parameters for shown, each in systems.items() if each.parameters is not None}
    base = {shown: each.words[0] for shown, each in systems.items()}
    return ScoreTable(tuple(scores), chosen, gaps, parameters, base, tuple(notes))


def _of_task(system: _System, name: str) -> dict[str, _Metrics]:
    return {code: metrics for (of, code), metrics in system.cells.items() if of == name}


def _chosen_metric(name: str, cells: Mapping[str, Mapping[str, _Metrics]], wanted: str) -> tuple[str, list[str]]:
    """The metric of a task, and the systems that do not have it in every cell."""
    main = task(name).main

    def lacking(metrics: Sequence[str]) -> list[str]:
        return [
            shown
            for shown, of in cells.items()
            if not all(metric in each.values for each in of.values() for metric in metrics)
        ]

    if wanted and len(lacking([wanted])) < len(cells):
        return wanted, lacking([wanted])
    if len(main) > 1 and not lacking(main):
        return SCORE, []
    candidates = [*main, *dict.fromkeys(m for of in cells.values() for each in of.values() for m in each.values)]
    best = min(candidates, key=lambda metric: (len(lacking([metric])), candidates.index(metric)))
    return best, lacking([best])


def _scores(
    shown: str, system: _System, name: str, metric: str, cells: Mapping[str, _Metrics]
) -> Iterator[LanguageScore]:
    for code, metrics in cells.items():
        number = _mean([metrics.values[one] for one in task(name).main]) if metric == SCORE else metrics.values[metric]
        if not math.isfinite(number.value):
            raise AnalysisError(f"the score is {number.value}", where=f"{shown}: {name}/{code}", fix="Leave it out")
        yield LanguageScore(
            shown, system.words[1], name, code, number.value, number.low, number.high, number.n, metrics.source
        )


def _mean(numbers: Sequence[Number]) -> Number:
    """The mean of metrics of the same examples; its interval is the mean of theirs, an upper bound of its width."""
    count = len(numbers)
    lows, highs = ([getattr(each, end) for each in numbers] for end in ("low", "high"))
    known = not any(end is None for end in (*lows, *highs))
    low, high = (sum(lows) / count, sum(highs) / count) if known else (None, None)
    return Number(sum(each.value for each in numbers) / count, low, high, numbers[0].n)


def _read(source: Path | str | Results) -> list[_System]:
    if isinstance(source, Results):
        return [_of_record(source, "results in memory")]
    if isinstance(source, str) and is_published(source):
        return _of_published(source)
    path = Path(source)
    if path.is_dir():
        return [_of_folder(path)]
    return _of_csv(path) if path.suffix.lower() == ".csv" else [_of_record(Results.from_json(path), str(path))]


def _of_folder(path: Path) -> _System:
    """A run folder with its record, or several seeds of one system as their mean."""
    if (path / "results.json").is_file():
        return _of_record(Results.from_json(path / "results.json"), str(path))
    runs = [Path(str(each)) for each in seed_folders(path).values() if Path(str(each)) != path]
    records = [Results.from_json(run / "results.json") for run in runs if (run / "results.json").is_file()]
    if not records:
        raise DataError("has no results.json, and no seed-<n> folders that have one", where=str(path), fix=FIX)
    each = [_of_record(record, str(path)) for record in records]
    shared = [place for place in each[0].cells if all(place in system.cells for system in each)]
    cells = {}
    for place in shared:
        metrics = [system.cells[place].values for system in each]
        # An interval of one seed is none of their mean: `isogloss score` of the folder makes that.
        values = {
            name: Number(sum(one[name].value for one in metrics) / len(metrics), None, None, metrics[0][name].n)
            for name in metrics[0]
            if all(name in one for one in metrics)
        }
        cells[place] = _Metrics(values, f"{path}, mean of {len(metrics)} seeds")
    return replace(each[0], words=each[0].words[:2], cells=cells, gaps={})


def _of_record(record: Results, source: str) -> _System:
    cells = {
        (cell.task, cell.language): _Metrics(dict(cell.metrics), source)
        for cell in record.cells
        if record.in_average(cell)
    }
    gaps = {average.name: average.gap for average in record.tasks if average.gap is not None}
    words = (*system_words(record.system), record.suite)
    return _System(words, cells, gaps, _parameters(record.system.get("parameters")))


def _parameters(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _of_published(source: str) -> list[_System]:
    systems: dict[tuple[str, str], _System] = {}
    for row in published_scores(source):
        known = systems.setdefault((row.system, row.regime), _System((row.system, row.regime)))
        known.parameters = row.parameters
        cell = known.cells.setdefault((row.task, row.language), _Metrics({}, row.source))
        # How many examples there are is the task's own knowledge.
        count = task(row.task).expected(row.language, "test") or 0
        cell.values[row.metric] = Number(row.value, None, None, count)
    return list(systems.values())


def _of_csv(path: Path) -> list[_System]:
    """Tidy rows; a metric that is not named is the task's main one."""
    reader = csv.DictReader(io.StringIO(read_bytes(path).decode("utf-8-sig", errors="replace")))
    header = reader.fieldnames or []
    if lacking := [name for name in COLUMNS if name not in header]:
        raise DataError(f"has no column {' and none '.join(lacking)}", where=str(path), fix=FIX)
    systems: dict[tuple[str, str], _System] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for row in reader:
        where = f"{path}:{reader.line_num}"
        if None in row.values():
            raise DataError("a row with fewer cells than the header", where=where)
        name = canonical(row["task"])
        code, metric = language(row["language"]).code, row.get("metric") or task(name).main[0]
        words = printable(row["system"], NAME_LENGTH), printable(row.get("regime") or "", NAME_LENGTH)
        place = (*words, name, code, metric)
        seen[place] += 1
        if seen[place] > 1:
            raise AnalysisError(f"two scores of {' '.join(filter(None, place))}", where=where, fix="Give one of them")
        cell = systems.setdefault(words, _System(words)).cells.setdefault((name, code), _Metrics({}, str(path)))
        n = _figure(row, "n", where)
        cell.values[metric] = Number(
            _needed(row, where), _figure(row, "low", where), _figure(row, "high", where), int(n or 0)
        )
    return list(systems.values())


def _needed(row: Mapping[str, str], where: str) -> float:
    value = _figure(row, "value", where)
    if value is None:
        raise AnalysisError("a row without a value", where=where, fix="Leave the row out")
    return value


def _figure(row: Mapping[str, str], column: str, where: str) -> float | None:
    text = (row.get(column) or "").strip()
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AnalysisError(f"{column} is {printable(text, 40)!r}, not a number", where=where, fix="Leave the row out")
    return value


def grouped(scores: Iterable[LanguageScore]) -> dict[tuple[str, str], dict[str, LanguageScore]]:
    """Scores by system and task, then by language."""
    groups: dict[tuple[str, str], dict[str, LanguageScore]] = defaultdict(dict)
    for score in scores:
        groups[score.system, score.task][score.language] = score
    return dict(groups)
