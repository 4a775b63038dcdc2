"""What analyses over scores are made from: result records, folders of runs, published systems, tidy CSV."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.published_scores import is_published, published_scores
from isogloss.analysis.score_table import LanguageScore, ScoreTable
from isogloss.data.tables import csv_records, finite_number
from isogloss.errors import DataError, unknown
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
_LARGEST = 100.001
_MOST_EXAMPLES = 10**9


@dataclass
class _GivenMetrics:
    """All metrics of one system on one task in one language, before one of them is chosen."""

    values: dict[str, Number]
    source: str


@dataclass
class _GivenSystem:
    """What was given of one system under one regime."""

    words: tuple[str, ...]
    cells: dict[tuple[str, str], _GivenMetrics] = field(default_factory=dict)
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
        UnknownNameError: a task, a language or a published system does not exist, or no score is in the metric.
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


def _in_one_metric(systems: Mapping[str, _GivenSystem], wanted: str) -> ScoreTable:
    """The scores in the metric that is wanted, else the task's own where all systems have it, else the most common."""
    scores: list[LanguageScore] = []
    notes: list[str] = []
    alone: dict[tuple[str, str], list[str]] = {}
    chosen: dict[str, str] = {}
    for name in dict.fromkeys(place[0] for system in systems.values() for place in system.cells):
        of_systems = {shown: _of_task(system, name) for shown, system in systems.items()}
        metric, without = _chosen_metric(name, {shown: of for shown, of in of_systems.items() if of}, wanted)
        chosen[name] = metric
        if without:
            notes.append(f"{name} is compared in {metric}; left out for want of it: {', '.join(without)}")
        elif metric not in (SCORE, wanted) and len(task(name).main) > 1:
            alone.setdefault((metric, " and ".join(task(name).main)), []).append(name)
        for shown, cells in of_systems.items():
            if shown not in without:
                scores += _scores(shown, systems[shown], name, metric, cells)
    if wanted and wanted not in chosen.values():
        known = {metric for system in systems.values() for cell in system.cells.values() for metric in cell.values}
        raise unknown("metric of these scores", wanted, known)
    if other := [name for name, metric in chosen.items() if wanted and metric != wanted]:
        notes.append(f"without {wanted}, and so in their own: {', '.join(other)}")
    notes += [
        f"{', '.join(names)}: compared in {metric} alone, as not every system has {main}"
        for (metric, main), names in alone.items()
    ]
    whole = {name for name, metric in chosen.items() if metric == SCORE or task(name).main == (metric,)}
    gaps = {(shown, name): gap for shown, each in systems.items() for name, gap in each.gaps.items() if name in whole}
    parameters = {shown: each.parameters for shown, each in systems.items() if each.parameters is not None}
    base = {shown: each.words[0] for shown, each in systems.items()}
    in_metrics = {
        (shown, name): _every_metric(_of_task(each, name)) for shown, each in systems.items() for name in chosen
    }
    return ScoreTable(tuple(scores), chosen, gaps, parameters, base, tuple(notes), in_metrics)


def _every_metric(cells: Mapping[str, _GivenMetrics]) -> dict[str, dict[str, float]]:
    """The metrics that all cells have, by language."""
    known = [set(each.values) for each in cells.values()]
    shared = sorted(set.intersection(*known)) if known else []
    return {metric: {code: each.values[metric].value for code, each in cells.items()} for metric in shared}


def _of_task(system: _GivenSystem, name: str) -> dict[str, _GivenMetrics]:
    return {code: metrics for (of, code), metrics in system.cells.items() if of == name}


def _chosen_metric(name: str, cells: Mapping[str, Mapping[str, _GivenMetrics]], wanted: str) -> tuple[str, list[str]]:
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
    shown: str, system: _GivenSystem, name: str, metric: str, cells: Mapping[str, _GivenMetrics]
) -> Iterator[LanguageScore]:
    for code, metrics in cells.items():
        number = (
            mean_of_metrics([metrics.values[one] for one in task(name).main])
            if metric == SCORE
            else metrics.values[metric]
        )
        if not _is_score(number):
            what = f"the score is {_words(number)}, and scores go from 0 to 100"
            raise AnalysisError(what, where=f"{shown}: {name}/{code}", fix="Leave it out")
        yield LanguageScore(
            shown, system.words[1], name, code, number.value, number.low, number.high, number.n, metrics.source
        )


def _is_score(number: Number) -> bool:
    """Whether a score and its interval are on the scale; a correlation may be below 0."""
    ends = (number.value if end is None else end for end in (number.low, number.high))
    return all(-_LARGEST <= value <= _LARGEST for value in (number.value, *ends)) and 0 <= number.n < _MOST_EXAMPLES


def _words(number: Number) -> str:
    interval = "" if number.low is None or number.high is None else f" ({number.low:g} to {number.high:g})"
    return f"{number.value:g}{interval} of {number.n} examples"


def mean_of_metrics(numbers: Sequence[Number]) -> Number:
    """The mean of metrics of the same examples; its interval is the mean of theirs, an upper bound of its width."""
    count = len(numbers)
    lows, highs = ([getattr(each, end) for each in numbers] for end in ("low", "high"))
    known = not any(end is None for end in (*lows, *highs))
    low, high = (sum(lows) / count, sum(highs) / count) if known else (None, None)
    return Number(sum(each.value for each in numbers) / count, low, high, numbers[0].n)


def _read(source: Path | str | Results) -> list[_GivenSystem]:
    if isinstance(source, Results):
        return [_of_record(source, "results in memory")]
    if isinstance(source, str) and is_published(source):
        return _of_published(source)
    path = Path(source)
    if path.is_dir():
        return [_of_folder(path)]
    return _of_csv(path) if path.suffix.lower() == ".csv" else [_of_record(Results.from_json(path), str(path))]


def _of_folder(path: Path) -> _GivenSystem:
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
        cells[place] = _GivenMetrics(values, f"{path}, mean of {len(metrics)} seeds")
    return replace(each[0], words=each[0].words[:2], cells=cells, gaps={})


def _of_record(record: Results, source: str) -> _GivenSystem:
    cells = {
        (cell.task, cell.language): _GivenMetrics(dict(cell.metrics), source)
        for cell in record.cells
        if record.in_average(cell)
    }
    gaps = {average.name: average.gap for average in record.tasks if average.gap is not None}
    words = (*system_words(record.system), record.suite)
    return _GivenSystem(words, cells, gaps, _parameters(record.system.get("parameters")))


def _parameters(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None


def _of_published(source: str) -> list[_GivenSystem]:
    systems: dict[tuple[str, str], _GivenSystem] = {}
    for row in published_scores(source):
        known = systems.setdefault((row.system, row.regime), _GivenSystem((row.system, row.regime)))
        known.parameters = row.parameters
        cell = known.cells.setdefault((row.task, row.language), _GivenMetrics({}, row.source))
        # How many examples there are is the task's own knowledge.
        count = task(row.task).expected(row.language, "test") or 0
        cell.values[row.metric] = Number(row.value, None, None, count)
    return list(systems.values())


def _of_csv(path: Path) -> list[_GivenSystem]:
    """Tidy rows; a metric that is not named is the task's main one."""
    systems: dict[tuple[str, str], _GivenSystem] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for line, row in csv_records(path, COLUMNS):
        where = f"{path}:{line}"
        name = canonical(row["task"])
        code, metric = language(row["language"]).code, row.get("metric") or task(name).main[0]
        words = printable(row["system"], NAME_LENGTH), printable(row.get("regime") or "", NAME_LENGTH)
        place = (*words, name, code, metric)
        seen[place] += 1
        if seen[place] > 1:
            raise AnalysisError(f"two scores of {' '.join(filter(None, place))}", where=where, fix="Give one of them")
        cell = systems.setdefault(words, _GivenSystem(words)).cells.setdefault(
            (name, code), _GivenMetrics({}, str(path))
        )
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
    value = finite_number(text)
    if value is None:
        raise AnalysisError(f"{column} is {printable(text, 40)!r}, not a number", where=where, fix="Leave the row out")
    return value
