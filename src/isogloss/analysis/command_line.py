"""The command that asks for a finding, so that a page or a file of it says what it is of."""

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.scoring.results import Results

# Options that the verbs have as flags.
_FLAGS = ("allow_partial", "strict")


def command_line(
    verb: str, sources: Sequence[object], options: Mapping[str, object], settings: Mapping[str, Any] | None = None
) -> str:
    """A command with its sources as they were given, the options that have a value, and what `--set` sets."""
    words = ["isogloss", *verb.split(), *map(_source, sources)]
    for name, value in options.items():
        # The data folder of the environment is nobody's choice for this command.
        if value and not (name == "data" and str(value) == os.environ.get("ISOGLOSS_DATA")):
            words += [f"--{name.replace('_', '-')}", _text(value)]
    for name, value in (settings or {}).items():
        if name in _FLAGS and isinstance(value, bool):
            words += [f"--{name.replace('_', '-')}"] * value
        else:
            words += ["--set", f"{name}={_text(value)}"]
    return shlex.join(words)


def _source(source: object) -> str:
    return f"<results of {source.system['name']}>" if isinstance(source, Results) else str(source)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
