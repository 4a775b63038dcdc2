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


def _names_in(*origins: str) -> Callable[[], Iterable[str]]:
    """Return a function that yields the names in objects of the package, `module:attribute`, or the words themselves.

    Modules are imported when they are needed.
    """

    def names() -> Iterator[str]:
        from isogloss.plugins import load_object

        for origin in origins:
            listed = load_object(f"isogloss.{origin}") if ":" in origin else (origin,)
            yield from listed() if callable(listed) else listed

    return names


def _languages() -> Iterable[str]:
    from isogloss.languages import all_languages

    return [each.code for each in all_languages()]


_tasks = _names_in("tasks.registry:TASKS")
# Names by the parameter that takes them; for all others, the shell completes files.
_NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "tasks": _tasks,
    "task": _tasks,
    "languages": _languages,
    "language": _languages,
    "suite": _names_in("tasks.suites:SUITES"),
    "system": _names_in("systems.base:systems"),
    "what": lambda: [*_names_in("tables.listings:LISTS")(), *_tasks(), *_languages()],
    "analyze name": _names_in("analysis.registry:ANALYSES"),
    "fetch names": _names_in("all", "data.fetch.catalog:datasets"),
    "import tool": _names_in("auto", "predictions.importers:TOOLS", "table"),
    "new kind": _names_in("tasks.kinds:KINDS"),
    "report form": _names_in("html", "results.interchange:WRITABLE"),
    "split": _names_in("test", "dev", "best", "tasks.pseudo_sets:ORIGINAL_SPLITS"),
    "regime": _names_in("training.regimes:REGIMES"),
    "recipe": _names_in("training.recipes:NAMES"),
    "resample": _names_in("scoring.request:RESAMPLES"),
    "convention": _names_in("ours", "explain.selection:REFERENCES"),
    "form": _names_in("tables.table:FORMATS"),
    "shell": _names_in("cli.completion:SCRIPTS"),
}
