"""`isogloss.analyze`: an analysis by its name, from whatever it takes."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.analysis.command_line import command_line
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.registry import RegisteredAnalysis, checked_options, find_analysis
from isogloss.scoring.results import Results


def analyze(
    name: str,
    *results: Path | str | Results,
    data: Path | str | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    **options: Any,
) -> Finding:
    """Ask one question across languages of results, predictions or checkpoints.

    Args:
        name: which analysis, one of `isogloss list analyses`.
        results: what it is made from. Scores: result records, files or run folders of them, folders of seeds,
            "published" for the systems of the papers, "published:NAME" for one system or group of published ones, or
            tidy CSV. Others take prediction folders, checkpoints, or languages.
        data: the data folder, where predictions are looked into.
        tasks: only these, of scores and predictions.
        languages: only these, likewise.
        options: what the analysis itself offers; `metric` for one over scores; for one over predictions what
            `isogloss.score` takes: `suite`, `split`, `gold`, `allow_partial` (cells whose gold is incomplete, marked
            and in no mean), `strict`, `resample`, `dialect`.

    Returns:
        Tidy tables with intervals, figures over them, and a paragraph of reading.

    Raises:
        UnknownNameError: there is no such analysis, option, task, language or published system.
        AnalysisError: what was given is too little, or not of the kind that is needed.
    """
    entry = find_analysis(name)
    limits = {"tasks": tasks, "languages": languages}
    if entry.takes == "predictions":
        found = _over_predictions(entry, results, options, {**limits, "data": data})
    elif entry.takes == "scores":
        found = _over_scores(entry, results, options, limits, data)
    else:
        found = _over_others(entry, results, options, limits, data)
    asked = command_line(f"analyze {entry.name}", results, {"data": data, **limits}, options)
    return msgspec.structs.replace(found, asked=asked)


_Sources = Sequence[Path | str | Results]
_Limits = Mapping[str, Sequence[str] | None]


def _over_predictions(
    entry: RegisteredAnalysis, results: _Sources, options: Mapping[str, Any], own: Mapping[str, Any]
) -> Finding:
    """An analysis over predictions; `own` is what a request is given besides the options."""
    from isogloss.scoring.cells import Request

    common = {key: each for key, each in inspect.signature(Request.of).parameters.items() if key not in own}
    chosen = checked_options(entry, options, common)
    _something(entry, results, *common)
    request = Request.of(**own, **{key: chosen.pop(key) for key in common if key in chosen})
    return _found(entry.function()(_paths(entry.name, results), request, **chosen))


def _over_scores(
    entry: RegisteredAnalysis,
    results: _Sources,
    options: Mapping[str, Any],
    limits: _Limits,
    data: Path | str | None,
) -> Finding:
    """An analysis over scores."""
    from isogloss.analysis.inputs import read_scores

    common = {"metric": inspect.signature(read_scores).parameters["metric"]}
    chosen = checked_options(entry, options, common)
    metric = str(chosen.pop("metric", ""))
    _something(entry, results, *common)
    folder = {"data": data} if "data" in entry.options() else {}
    return _found(entry.function()(read_scores(results, **limits, metric=metric), **chosen, **folder))


def _over_others(
    entry: RegisteredAnalysis,
    results: _Sources,
    options: Mapping[str, Any],
    limits: _Limits,
    data: Path | str | None,
) -> Finding:
    """An analysis over languages or checkpoints, which is asked of all that is given."""
    chosen = checked_options(entry, options)
    if given := [name for name, wanted in limits.items() if wanted]:
        fix = "Choose by --set task=…" if "task" in entry.options() else "Name the languages themselves"
        raise AnalysisError(f"it cannot be limited by --{given[0]}", where=entry.name, fix=fix)
    if entry.takes == "languages":
        return _found(entry.function()([*map(str, results)], data=data, **chosen))
    _something(entry, results)
    return _found(entry.function()(_paths(entry.name, results), **chosen))


_EXAMPLES = {
    "scores": "Give a results.json, a run folder, published, published:NAME or a CSV",
    "predictions": "Give a prediction folder",
    "checkpoints": "Give a folder of checkpoint records, or a CSV",
}


def _something(entry: RegisteredAnalysis, results: _Sources, *common: str) -> None:
    if not results:
        known = ", ".join(sorted({*entry.options(), *common} - {"data"}))
        fix = f"{_EXAMPLES[entry.takes]}{f'; --set takes {known}' if known else ''}"
        raise AnalysisError("nothing to analyse", where=entry.name, fix=fix)


def _paths(name: str, results: _Sources) -> list[Path]:
    paths = [Path(each) for each in results if not isinstance(each, Results)]
    if not paths or len(paths) < len(results):
        raise AnalysisError("it looks into folders, and none was given", where=name, fix=_EXAMPLES["predictions"])
    return paths


def _found(finding: Any) -> Finding:
    found: Finding = finding
    return found
