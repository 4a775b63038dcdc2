"""Words that may stand at the cursor of a shell: verbs, options and names. Verbs complete without heavy imports."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any


def candidates(words: Sequence[str], verbs: Mapping[str, object], shell: str) -> Iterator[str]:
    """Yield what the last word may become.

    Args:
        words: Words after `isogloss`, up to the cursor.
        verbs: Verbs of the command line.
        shell: Name of the shell: bash splits words at `=` and `:`, and replaces only the last part.
    """
    split = words[-1] if words else ""
    if shell == "bash":
        words = _joined(words)
    typed = words[-1] if words else ""
    kept = len(typed) - len(split) if split not in {"=", ":"} else len(typed)
    for word in _words_for(words, verbs):
        if word.startswith(typed):
            yield word[kept:] if shell == "bash" else word


def _joined(words: Sequence[str]) -> list[str]:
    """Join the parts of words that bash split."""
    joined: list[str] = []
    glued = False
    for word in words:
        if joined and (glued or word in {"=", ":"}):
            joined[-1] += word
        else:
            joined.append(word)
        glued = word in {"=", ":"}
    return joined


def _words_for(words: Sequence[str], verbs: Mapping[str, object]) -> Iterable[str]:
    """Return all words that the command line accepts in the place of the last one."""
    if len(words) <= 1:
        return [*verbs, "--help", "--version"]
    if words[0] not in verbs:
        return []
    from isogloss.cli.main import verb_command

    command, rest = verb_command(words[0]), list(words[1:])
    while hasattr(command, "commands"):
        if len(rest) == 1:
            return [*command.commands, "--help"]
        command = command.commands.get(rest.pop(0))
    return [] if command is None else _of_command(command, rest)


def _of_command(command: Any, words: list[str]) -> Iterable[str]:
    """Return options, or values of the option or argument in the place of the last word."""
    options = {name: each for each in command.params for name in (*each.opts, *each.secondary_opts) if name[0] == "-"}
    *given, last = words
    name, equals, value = last.partition("=")
    if equals and name in options:
        return [f"{name}={each}" for each in _values(command, options[name], value)]
    if given and given[-1] in options and not options[given[-1]].is_flag:
        return _values(command, options[given[-1]], last)
    if last.startswith("-"):
        return [*options, "--help"]
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    at = sum(1 for _ in _arguments(given, options))
    return _values(command, arguments[min(at, len(arguments) - 1)], last) if arguments else []


def _arguments(given: Sequence[str], options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words that are neither options nor their values."""
    value_next = False
    for word in given:
        if not value_next and not word.startswith("-"):
            yield word
        value_next = not value_next and word in options and not options[word].is_flag


def _values(command: Any, parameter: Any, typed: str) -> Iterable[str]:
    """Return values of a parameter; of a list, with the items typed so far."""
    find = _NAMES.get(f"{command.name} {parameter.name}") or _NAMES.get(parameter.name)
    if find is None or "Path" in type(parameter.type).__name__:
        return []
    before = typed.rpartition(",")[0] + "," if "," in typed else ""
    return [before + name for name in find()]


def _tasks() -> Iterable[str]:
    from isogloss.tasks.registry import TASKS

    return TASKS


def _languages() -> Iterable[str]:
    from isogloss.languages import all_languages

    return [each.code for each in all_languages()]


def _suites() -> Iterable[str]:
    from isogloss.tasks.suites import SUITES

    return SUITES


def _systems() -> Iterable[str]:
    from isogloss.systems.base import systems

    return systems()


def _analyses() -> Iterable[str]:
    from isogloss.analysis.registry import ANALYSES

    return ANALYSES


def _lists() -> Iterable[str]:
    from isogloss.tables.listings import LISTS

    return [*LISTS, *_tasks(), *_languages()]


def _datasets() -> Iterable[str]:
    from isogloss.data.fetch.catalog import datasets

    return ["all", *datasets()]


def _kinds() -> Iterable[str]:
    from isogloss.tasks.kinds import KINDS

    return KINDS


# Names by the parameter that takes them; for all others, the shell completes files.
_NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "tasks": _tasks,
    "task": _tasks,
    "languages": _languages,
    "language": _languages,
    "suite": _suites,
    "system": _systems,
    "what": _lists,
    "analyze name": _analyses,
    "fetch names": _datasets,
    "import tool": lambda: ("auto", "hf", "lm-eval", "mteb", "explainaboard", "table"),
    "new kind": _kinds,
    "report form": lambda: ("html", "model-index", "every-eval-ever", "lm-eval", "mteb", "wandb", "mlflow"),
    "split": lambda: ("test", "dev", "best", "pseudo"),
    "regime": lambda: ("zero-shot", "translate-train", "translate-train-all", "translate-test", "in-language"),
    "resample": lambda: ("source", "example"),
    "form": lambda: ("table", "md", "latex", "siunitx"),
    "shell": lambda: ("bash", "zsh", "fish"),
}
