"""`isogloss.analyze`: run an analysis by name."""

import inspect
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.registry import RegisteredAnalysis, checked_options, find_analysis
from isogloss.errors import named
from isogloss.predictions.memory import Predictions, source_name
from isogloss.scoring.results import Results


def analyze(
    name: str,
    *results: "Path | str | Results | Predictions",
    data: Path | str | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    **options: Any,
) -> Finding:
    """Run an analysis across languages over results, predictions or checkpoints.

    Args:
        name: name of the analysis; `isogloss list analyses` lists them.
        results: sources. Analyses of scores take result records, files or run folders, folders of seeds, "published"
            for the papers' systems, "published:NAME" for a published system or group, or tidy CSV. Others take
            predictions (folders, or in memory as in `isogloss.score`), checkpoints or languages.
        data: data folder, for analyses that need gold labels or URIEL.
        tasks: tasks to include, all by default.
        languages: languages to include, all by default.
        options: options of the analysis; also `metric` for scores, and for predictions those of `isogloss.score`:
            `suite`, `split`, `gold`, `allow_partial` (include cells with incomplete gold, marked and excluded from
            means), `strict`, `resample`, `dialect`.

    Returns:
        Tidy tables with intervals, figures, and a summary paragraph.

    Raises:
        UnknownNameError: unknown analysis, option, task, language or published system.
        AnalysisError: too few sources, or sources of the wrong kind.

    Example:
        isogloss.analyze("families", "published")
        isogloss.analyze("consistency", "my-predictions", tasks=["xnli"], data="data").to_pandas()
    """
    limits = {"tasks": named("task", tasks), "languages": named("language", languages)}
    question = _Question(entry=find_analysis(name), sources=results, data=data, limits=limits, options=options)
    run = {"predictions": _over_predictions, "scores": _over_scores}.get(question.entry.takes, _over_others)
    command = command_line(f"analyze {question.entry.name}", results, {"data": data, **limits}, options)
    return msgspec.structs.replace(run(question), command=command)


@dataclass(frozen=True, kw_only=True)
class _Question:
    """Arguments of `analyze`; `limits` are the tasks and languages to include."""

    entry: RegisteredAnalysis
    sources: "Sequence[Path | str | Results | Predictions]"
    data: Path | str | None
    limits: Mapping[str, Sequence[str] | None]
    options: Mapping[str, Any]

    def need_sources(self, *common: str) -> None:
        """Refuse empty sources; `common` are options besides those of the analysis."""
        if not self.sources:
            options = ", ".join(sorted({*self.entry.options(), *common} - {"data"}))
            fix = f"{_EXAMPLES[self.entry.takes]}{f'; --set takes {options}' if options else ''}"
            raise AnalysisError("nothing to analyse", where=self.entry.name, fix=fix)

    def paths(self) -> list[Path]:
        """Return the sources, which must be files or folders."""
        paths = [Path(source) for source in self.sources if isinstance(source, str | os.PathLike)]
        if not paths or len(paths) < len(self.sources):
            raise AnalysisError("expected folders", where=self.entry.name, fix=_EXAMPLES["predictions"])
        return paths

    def predictions(self) -> "list[Predictions]":
        """Return the sources, which must be folders or predictions in memory."""
        sources: list[Predictions] = [
            Path(source) if isinstance(source, str | os.PathLike) else source
            for source in self.sources
            if not isinstance(source, Results)
        ]
        if not sources or len(sources) < len(self.sources):
            raise AnalysisError("expected predictions", where=self.entry.name, fix=_EXAMPLES["predictions"])
        return sources

    def scores(self) -> list[Path | str | Results]:
        """Return the sources, which must be result records or name them."""
        sources = [
            source if isinstance(source, str | Results) else Path(source)
            for source in self.sources
            if isinstance(source, str | os.PathLike | Results)
        ]
        if len(sources) < len(self.sources):
            fix = "Score the predictions with isogloss.score, and pass the results"
            raise AnalysisError("expected results, got predictions", where=self.entry.name, fix=fix)
        return sources


def _over_predictions(question: _Question) -> Finding:
    from isogloss.scoring.request import Request, request_options

    own: dict[str, Any] = {**question.limits, "data": question.data}
    common = {key: value for key, value in request_options().items() if key not in (*own, "pseudo")}
    chosen = checked_options(question.entry, question.options, common)
    question.need_sources(*common)
    request = Request.of(**own, **{key: chosen.pop(key) for key in common if key in chosen})
    return question.entry.function()(question.predictions(), request, **chosen)


def _over_scores(question: _Question) -> Finding:
    from isogloss.results.readers import read_results
    from isogloss.results.views import score_view

    common = {"metric": inspect.signature(score_view).parameters["metric"]}
    chosen = checked_options(question.entry, question.options, common)
    metric = str(chosen.pop("metric", ""))
    question.need_sources(*common)
    folder = {"data": question.data} if "data" in question.entry.options() else {}
    scores = score_view(read_results(question.scores()), **question.limits, metric=metric)
    if not scores.systems:
        raise AnalysisError("no scores of these tasks and languages", fix=_EXAMPLES["scores"])
    return question.entry.function()(scores, **chosen, **folder)


def _over_others(question: _Question) -> Finding:
    """Run an analysis over languages or checkpoints, which takes no restriction."""
    entry, chosen = question.entry, checked_options(question.entry, question.options)
    if limits := [name for name, wanted in question.limits.items() if wanted]:
        fix = "Use --set task=…" if "task" in entry.options() else "Pass the languages as arguments"
        raise AnalysisError(f"--{limits[0]} does not apply", where=entry.name, fix=fix)
    if entry.takes == "languages":
        return entry.function()([*map(str, question.sources)], data=question.data, **chosen)
    question.need_sources()
    return entry.function()(question.paths(), data=question.data, **chosen)


_EXAMPLES = {
    "scores": "Pass a results.json, a run folder, published, published:NAME or a CSV",
    "predictions": "Pass a prediction folder",
    "checkpoints": "Pass a folder of checkpoint records, or a CSV",
}


def command_line(
    verb: str, sources: Sequence[object], options: Mapping[str, object], settings: Mapping[str, Any] | None = None
) -> str:
    """Return the command with its sources, non-empty options and `--set` settings."""
    words = ["isogloss", *verb.split()]
    for source in sources:
        words.append(_source_name(source))
    for name, value in options.items():
        # Leave out the data folder set by the environment.
        if value and not (name == "data" and str(value) == os.environ.get("ISOGLOSS_DATA")):
            words += [f"--{name.replace('_', '-')}", _text(value)]
    for name, value in (settings or {}).items():
        if name in ("allow_partial", "strict") and isinstance(value, bool):  # flags on the command line
            words += [f"--{name.replace('_', '-')}"] * value
        else:
            words += ["--set", f"{name}={_text(value)}"]
    return shlex.join(words)


def _source_name(source: object) -> str:
    return f"<results of {source.system['name']}>" if isinstance(source, Results) else source_name(source)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
