"""Footnotes on published scores: averages that disagree with the scores by language, other runs, and doubts."""

from collections.abc import Iterator, Mapping

from isogloss.languages.published import SUITES, PublishedResult, doubts, overall, table
from isogloss.metrics.aggregate import weighted_mean
from isogloss.results.system import CellResult
from isogloss.tasks.suites import Suite

MAIN_TABLES = {"xtreme-r": "XTREME-R Table 4", "xtreme": "XTREME Table 2"}
# The papers print one decimal; a mean of rounded rows may be off by slightly more than half of it.
_PRINTED = 0.06
# System and regime.
SystemKey = tuple[str, str]
# By task and language.
Cells = Mapping[tuple[str, str], CellResult]


def published_footnotes(
    system: SystemKey, cells: Cells, row: PublishedResult | None, suite: Suite
) -> Iterator[tuple[str, str]]:
    """Yield averages that disagree with the scores by language, and scores that look wrong in print."""
    for name, figures in row.metrics.items() if row is not None else ():
        for metric, printed in figures.items() if name in suite.tasks else ():
            mean = _mean_over_languages(cells, name, metric, suite)
            if mean is not None and abs(mean - printed) > _PRINTED:
                text = f"{MAIN_TABLES[suite.id]} prints {metric} {printed}; the scores by language give {mean:.1f}"
                yield name, f"{text}{_printed_as(system, name, metric, mean)}"
    yield from _other_runs(system, cells, suite)
    for line in table("printed_averages"):
        if (line["system"], line["regime"]) == system:
            mean = _mean_over_languages(cells, line["task"], line["metric"], suite)
            if mean is not None and abs(mean - float(line["value"])) > _PRINTED:
                text = f"{line['source_table']} prints an average of {line['value']}; its rows give {mean:.1f}"
                yield line["task"], text
    for doubt in doubts():
        if (doubt.system, doubt.regime or system[1]) == system:
            yield doubt.task, str(doubt)


def _printed_as(system: SystemKey, name: str, metric: str, mean: float) -> str:
    """Return the other row of a main table that prints this average, which is then probably of the same run."""
    for suite_id, main_table in MAIN_TABLES.items():
        for row in overall(suite_id):
            printed = row.metrics.get(name, {}).get(metric)
            if row.system == system[0] and printed is not None and abs(mean - printed) <= _PRINTED:
                regime = "" if row.regime == system[1] else f" for {row.regime}"
                return f", as {main_table} prints{regime}: probably another run"
    return ""


def _other_runs(system: SystemKey, cells: Cells, suite: Suite) -> Iterator[tuple[str, str]]:
    """Yield averages that the suite's main table prints for another run or model of the same name."""
    name, bracket, _ = system[0].partition(" [")
    rows = overall(suite.id) if bracket and suite.id in SUITES else ()
    for row in (row for row in rows if (row.system, row.regime) == (name, system[1])):
        for task_id in dict.fromkeys(task_id for task_id, _ in cells):
            for metric, printed in row.metrics.get(task_id, {}).items():
                mean = _mean_over_languages(cells, task_id, metric, suite)
                if mean is not None and abs(mean - printed) > _PRINTED:
                    text = f"another run than {name} of {MAIN_TABLES[suite.id]}, which has {metric} {printed}"
                    yield task_id, f"{text}; these scores by language give {mean:.1f}"


def _mean_over_languages(cells: Cells, name: str, metric: str, suite: Suite) -> float | None:
    metrics = [cell.metrics if (cell := cells.get((name, code))) else {} for code in suite.languages_of(name)]
    values = [numbers[metric].value for numbers in metrics if metric in numbers]
    return weighted_mean(values, [1.0] * len(values)) if len(values) == len(metrics) else None
