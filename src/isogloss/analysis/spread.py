"""Spread of the results that several papers report for one model (Keung et al. 2020, Tables 1 and 5 to 8)."""

from collections.abc import Iterator

import numpy as np

from isogloss.analysis.finding import AnalysisError, Finding, TidyTable, Value, columns, figure
from isogloss.analysis.language_selection import LARGE_SPREAD, run_spread
from isogloss.figures import counted, score_text
from isogloss.grouping import group_by
from isogloss.languages.published import table
from isogloss.metrics.student import ALPHA
from isogloss.results.views import ScoreView

# Papers round to one decimal.
EQUAL = 0.051
_PRINTED = ("Keung et al. Table 5", "Keung et al. Table 6", "Keung et al. Table 7", "Keung et al. Table 8")


def spread(scores: ScoreView, *, together: bool = False) -> Finding:
    """Compare the results of one model by language: the smallest, the largest, and whether they are compatible.

    Results belong to one model if they have the same regime, and the same name before the source in brackets; with
    `together`, all do.
    """

    def model_of(system: str) -> str:
        name, regime = scores.results[system].name.partition(" [")[0], scores.results[system].regime
        return "all" if together else name if regime in ("", "zero-shot") else f"{name}, {regime}"

    models = group_by(scores.systems, model_of)
    several = {model: systems for model, systems in models.items() if len(systems) > 1}
    if not several:
        fix = "Pass several results of one model, such as published:keung, or --set together=true"
        raise AnalysisError("no model has two results", fix=fix)
    rows = [row for model, systems in several.items() for row in _rows(scores, model, systems)]
    if not rows:
        raise AnalysisError("no two results of a model share a task and a language", fix="Add languages or tasks")
    notes = [
        f"{LARGE_SPREAD} points are the threshold of Keung et al. for test sets of 4,000 to 5,010 examples",
        "p is Fisher's exact test of the smallest and the largest result as proportions of the test set; 'any two "
        "results' corrects for their being the extremes (Bonferroni over all pairs). Both ignore that all answer the "
        "same examples, which makes them conservative, and are approximate for F1",
        *(f"{model} has a single result" for model in models if model not in several),
        *scores.notes,
    ]
    spreads = TidyTable("spread", "Spread of the results of one model", _SPREAD, rows, shown=120)
    return Finding(
        analysis="spread",
        title="Spread of published results",
        reading=_reading(spreads),
        tables=[spreads, _results(scores, several)],
        figures=[
            figure(
                "bars",
                "spread: spread, language, model",
                "Difference between the largest and the smallest result",
                "Points between the largest and the smallest result of one model, by language.",
                marks=[("2.5 points", LARGE_SPREAD)],
            )
        ],
        notes=notes,
    )


_SPREAD = columns(
    f"model task metric language; results:count; smallest largest spread:score; large = at least {LARGE_SPREAD}; p:p; "
    "p_any:p = p, any two results; printed:score = printed spread; differs = print differs"
)


def _rows(scores: ScoreView, model: str, systems: list[str]) -> Iterator[list[Value]]:
    printed = {
        (row["system"], row["task"], row["metric"], row["language"]): float(row["value"])
        for row in table("keung")
        if row["source_table"] in _PRINTED and row["row"] == "Δ"
    }
    for task, metric in scores.metrics.items():
        cells = [scores.scores[system].get(task, {}) for system in systems]
        for code in dict.fromkeys(code for cell in cells for code in cell):
            shared = [cell[code] for cell in cells if code in cell]
            if len(shared) > 1:
                runs = run_spread(np.array([one.value for one in shared]), min(one.n for one in shared))
                stated = printed.get((model, task, metric, code))
                differs = None if stated is None else abs(stated - runs.spread) > EQUAL
                ends = runs.smallest, runs.largest, runs.spread, runs.large, runs.p, runs.p_any
                yield [model, task, metric, code, len(shared), *ends, stated, differs]


def _results(scores: ScoreView, models: dict[str, list[str]]) -> TidyTable:
    """Return the results themselves, as the papers' tables list them."""
    results = TidyTable("results", "Results by language", columns("model task system language; value:score"), shown=120)
    for model, systems in models.items():
        for task in scores.tasks:
            for system in systems:
                for code, value in scores.values(system, task).items():
                    results.add(model, task, system, code, value)
    return results


def _reading(spreads: TidyTable) -> str:
    sentences = []
    for (model, task), rows in group_by(spreads.records(), lambda row: (row["model"], row["task"])).items():
        largest = max(rows, key=lambda row: float(row["spread"] or 0))
        large = [str(row["language"]) for row in rows if row["large"]]
        tested = [row for row in rows if isinstance(row["p_any"], float)]
        apart = sum(float(row["p_any"] or 0) < ALPHA for row in tested)
        verdict = (
            f"; significantly (any two results, corrected) in {apart} of {len(tested)}" if tested else "; not tested"
        )
        where = f" ({' '.join(large)})" if large else ""
        sentences.append(
            f"{model} on {task}: results differ by up to {score_text(float(largest['spread'] or 0))} points "
            f"({largest['language']}), and by {LARGE_SPREAD} or more in {len(large)} of "
            f"{counted(len(rows), 'language')}{where}{verdict}."
        )
    wrong = [f"{row['task']}/{row['language']}" for row in spreads.records() if row["differs"]]
    if wrong:
        sentences.append(f"The spread that Keung et al. print differs from their rows in {', '.join(wrong)}.")
    return " ".join(sentences)
