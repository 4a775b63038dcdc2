"""Which analyses there are: names, what each takes and answers, and where it is. Nothing heavy is imported for that."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from isogloss.errors import UnknownNameError, unknown
from isogloss.plugins import load_object

if TYPE_CHECKING:
    from isogloss.analysis.finding import Finding

# What an analysis is given:
# - scores: `function(scores: ScoreTable, **options)`; records, folders of seeds, published systems, tidy CSV;
# - predictions: `function(folders: Sequence[Path], request: Request, **options)`; data are read as the request says;
# - checkpoints: `function(sources: Sequence[Path], **options)`; folders of checkpoint records, or CSV;
# - languages: `function(languages: Sequence[str], **options)`; codes, or the names of suites, as they were given.
Takes = Literal["scores", "predictions", "checkpoints", "languages"]


@dataclass(frozen=True)
class RegisteredAnalysis:
    """An analysis by name.

    Attributes:
        origin: `module:function` of the function that makes the finding; its keyword-only parameters are its options.
        takes: what it is made from.
        about: what it answers, in a line.
    """

    name: str
    origin: str
    takes: Takes
    about: str

    def function(self) -> "Callable[..., Finding]":
        """The function itself, imported now."""
        found: Callable[..., Finding] = load_object(self.origin)
        return found

    def options(self) -> dict[str, inspect.Parameter]:
        """Its options, by name."""
        parameters = inspect.signature(self.function()).parameters.values()
        return {each.name: each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}


def _row(name: str, takes: Takes, about: str) -> RegisteredAnalysis:
    module = name.replace("-", "_")
    return RegisteredAnalysis(name, f"isogloss.analysis.{module}:{module}", takes, about)


ANALYSES: Mapping[str, RegisteredAnalysis] = {
    each.name: each
    for each in (
        _row("transfer-gap", "scores", "What is lost between English and the other languages, task by task."),
        _row("resources", "scores", "What transfer goes with: Wikipedia's size, distances from English, own columns."),
        _row("diversity", "languages", "How diverse languages are in syntax and families, beside what was printed."),
        _row("families", "scores", "How scores spread over families, branches, scripts and resource classes."),
        _row(
            "rankings", "scores", "Who is ahead, by seven ways to average, and which conclusions survive all of them."
        ),
        _row("saturation", "scores", "How far people are ahead, and which differences the tests can still show."),
        _row("consistency", "predictions", "What is right in English and elsewhere, and what looks broken."),
        _row("unseen", "predictions", "Scores on tag n-grams and entities that English training has, and has not."),
        _row("language-pairs", "predictions", "Which languages find which in retrieval, and which rankings favour."),
        # `isogloss select` is the same.
        RegisteredAnalysis(
            "checkpoint-selection",
            "isogloss.analysis.checkpoint_selection:select",
            "checkpoints",
            "Which dev set should choose the checkpoint, and how far runs lie apart.",
        ),
    )
}


def find_analysis(name: str) -> RegisteredAnalysis:
    """The analysis of that name.

    Raises:
        UnknownNameError: there is none; the message has the nearest names.
    """
    found = ANALYSES.get(name.lower().replace("_", "-"))
    if found is None:
        raise unknown("analysis", name, ANALYSES)
    return found


def checked_options(
    entry: RegisteredAnalysis, given: Mapping[str, Any], common: Mapping[str, inspect.Parameter] | None = None
) -> dict[str, Any]:
    """Options by the names and types that the analysis has for them; text, as a command line gives it, is converted.

    Args:
        entry: the analysis.
        given: values, or text, by name.
        common: options that all analyses of its kind have besides its own.

    Raises:
        UnknownNameError: it has no such option, or the text is none of its values.
    """
    known = {**entry.options(), **(common or {})}
    for name in given:
        if name not in known:
            raise unknown(f"option of {entry.name}", name, known)
    return {name: _converted(entry, known[name], value) for name, value in given.items()}


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
        what = f"option {option.name} of {entry.name} is {value!r}"
        raise UnknownNameError(what, fix=f"Give {_WORDS[kind]}") from None
    return value
