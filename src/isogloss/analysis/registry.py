"""Registry of analyses. Importing it is cheap."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from isogloss.errors import UnknownNameError, unknown
from isogloss.plugins import load_object

if TYPE_CHECKING:
    from isogloss.analysis.finding import Finding

# Input of an analysis:
# - scores: `function(scores: ScoreView, **options)`; records, folders of seeds, published systems, tidy CSV;
# - predictions: `function(folders: Sequence[Path], request: Request, **options)`;
# - checkpoints: `function(sources: Sequence[Path], **options)`; folders of checkpoint records, or CSV;
# - languages: `function(languages: Sequence[str], **options)`; codes or names of suites.
Takes = Literal["scores", "predictions", "checkpoints", "languages"]


@dataclass(frozen=True)
class RegisteredAnalysis:
    """An analysis by name.

    `origin` is the `module:function` that makes the finding; its keyword-only parameters are its options.
    """

    name: str
    origin: str
    takes: Takes
    about: str

    def function(self) -> "Callable[..., Finding]":
        """Import and return the function."""
        function: Callable[..., Finding] = load_object(self.origin)
        return function

    def options(self) -> dict[str, inspect.Parameter]:
        """Return the options by name."""
        parameters = inspect.signature(self.function()).parameters
        return {name: each for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}


_ROWS: Mapping[str, tuple[Takes, str]] = {
    "transfer-gap": ("scores", "Difference between English and the other languages, by task."),
    "resources": ("scores", "Correlation of scores with Wikipedia size, distances from English, or your columns."),
    "diversity": ("languages", "Diversity of languages in syntax and families, compared with printed figures."),
    "families": ("scores", "Scores by language family, branch, script and resource class."),
    "rankings": ("scores", "Rankings by seven ways to average, and conclusions that hold in all of them."),
    "dispersion": ("scores", "Inequality over languages and worst languages, corrected for noise of small tests."),
    "saturation": ("scores", "Gap to human performance, and tests of the two best systems."),
    "spread": ("scores", "Spread of the results that several papers report for one model."),
    "consistency": ("predictions", "Agreement between languages on the same questions, and suspicious examples."),
    "unseen": ("predictions", "Scores on tag n-grams and entities seen and unseen in English training."),
    "language-pairs": ("predictions", "Retrieval by query and target language, and language bias of rankings."),
    "pseudo": ("predictions", "Scores on pseudo and human test sets, their correlation, and BLEU and chrF."),
    "checkpoint-selection": ("checkpoints", "Checkpoint selection by different dev sets, and variation between runs."),
}
# Functions with another name than their analysis; `select` is also a verb.
_FUNCTIONS = {"checkpoint-selection": "select"}
ANALYSES: Mapping[str, RegisteredAnalysis] = {
    name: RegisteredAnalysis(name, f"isogloss.analysis.{module}:{_FUNCTIONS.get(name, module)}", takes, about)
    for name, (takes, about) in _ROWS.items()
    for module in [name.replace("-", "_")]
}


def find_analysis(name: str) -> RegisteredAnalysis:
    """Return an analysis by name; the error of an unknown name has the nearest names."""
    entry = ANALYSES.get(name.lower().replace("_", "-")) if isinstance(name, str) else None
    if entry is None:
        raise unknown("analysis", name, ANALYSES)
    return entry


def checked_options(
    entry: RegisteredAnalysis, values: Mapping[str, Any], common: Mapping[str, inspect.Parameter] | None = None
) -> dict[str, Any]:
    """Check the names of options, and convert text from the command line to their types.

    `common` are further options shared by analyses of its kind.
    """
    options = {**entry.options(), **(common or {})}
    for name in values:
        if name not in options:
            raise unknown(f"option of {entry.name}", name, options)
    return {name: _converted(entry, options[name], value) for name, value in values.items()}


_WORDS = {bool: "true or false", int: "a whole number", float: "a number"}


def _converted(entry: RegisteredAnalysis, option: inspect.Parameter, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    kind = option.annotation
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[value.lower()]
        if kind in (int, float):
            return kind(value)
    except (KeyError, ValueError):
        what = f"invalid value {value!r} of option {option.name} of {entry.name}"
        raise UnknownNameError(what, fix=f"Pass {_WORDS[kind]}") from None
    return value
