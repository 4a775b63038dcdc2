"""`isogloss.analyze`: an analysis by its name, from whatever it takes."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    asked = _Question(find_analysis(name), results, data, {"tasks": tasks, "languages": languages}, options)
    find = {"predictions": _over_predictions, "scores": _over_scores}.get(asked.entry.takes, _over_others)
    found = find(asked)
    command = command_line(f"analyze {asked.entry.name}", results, {"data": data, **asked.limits}, options)
    return msgspec.structs.replace(found, asked=command)


@dataclass(frozen=True)
class _Question:
    """What `analyze` was asked; `limits` are the tasks and languages it is asked about."""

    entry: RegisteredAnalysis
    sources: Sequence[Path | str | Results]
    data: Path | str | None
    limits: Mapping[str, Sequence[str] | None]
    options: Mapping[str, Any]

    def need_sources(self, *common: str) -> None:
        """Refuse a question about nothing; `common` are options that go with those of the analysis itself."""
        if not self.sources:
            known = ", ".join(sorted({*self.entry.options(), *common} - {"data"}))
            fix = f"{_EXAMPLES[self.entry.takes]}{f'; --set takes {known}' if known else ''}"
            raise AnalysisError("nothing to analyse", where=self.entry.name, fix=fix)

    def paths(self) -> list[Path]:
        """The sources, which must be files or folders."""
        paths = [Path(each) for each in self.sources if not isinstance(each, Results)]
        if not paths or len(paths) < len(self.sources):
            fix = _EXAMPLES["predictions"]
            raise AnalysisError("it looks into folders, and none was given", where=self.entry.name, fix=fix)
        return paths


def _over_predictions(asked: _Question) -> Finding:
    from isogloss.scoring.cells import Request

    own: dict[str, Any] = {**asked.limits, "data": asked.data}
    common = {key: each for key, each in inspect.signature(Request.of).parameters.items() if key not in own}
    chosen = checked_options(asked.entry, asked.options, common)
    asked.need_sources(*common)
    request = Request.of(**own, **{key: chosen.pop(key) for key in common if key in chosen})
    return asked.entry.function()(asked.paths(), request, **chosen)


def _over_scores(asked: _Question) -> Finding:
    from isogloss.analysis.inputs import read_scores

    common = {"metric": inspect.signature(read_scores).parameters["metric"]}
    chosen = checked_options(asked.entry, asked.options, common)
    metric = str(chosen.pop("metric", ""))
    asked.need_sources(*common)
    folder = {"data": asked.data} if "data" in asked.entry.options() else {}
    return asked.entry.function()(read_scores(asked.sources, **asked.limits, metric=metric), **chosen, **folder)


def _over_others(asked: _Question) -> Finding:
    """An analysis over languages or checkpoints, which is asked of all that is given."""
    entry, chosen = asked.entry, checked_options(asked.entry, asked.options)
    if given := [name for name, wanted in asked.limits.items() if wanted]:
        fix = "Choose by --set task=…" if "task" in entry.options() else "Name the languages themselves"
        raise AnalysisError(f"it cannot be limited by --{given[0]}", where=entry.name, fix=fix)
    if entry.takes == "languages":
        return entry.function()([*map(str, asked.sources)], data=asked.data, **chosen)
    asked.need_sources()
    return entry.function()(asked.paths(), **chosen)


_EXAMPLES = {
    "scores": "Give a results.json, a run folder, published, published:NAME or a CSV",
    "predictions": "Give a prediction folder",
    "checkpoints": "Give a folder of checkpoint records, or a CSV",
}
