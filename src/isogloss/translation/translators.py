"""Translators: functions that return one translation per text."""

import shlex
import subprocess
from collections.abc import Callable, Sequence

from isogloss.errors import IsoglossError

Translator = Callable[[Sequence[str]], Sequence[str]]


def command_translator(command: str) -> Translator:
    """Return a translator that runs a program with one text per input line and one translation per output line.

    Args:
        command: for example `apertium -u -f line eng-spa`; it is started once for all texts.
    """

    def translate_lines(lines: Sequence[str]) -> Sequence[str]:
        try:
            words, text = shlex.split(command), "".join(f"{line}\n" for line in lines)
            ended = subprocess.run(words, input=text.encode(), capture_output=True, check=False)  # noqa: S603 - the user's
        except (OSError, ValueError) as error:
            raise IsoglossError(f"cannot start the translator: {error}", where=command) from error
        if ended.returncode:
            last_line = "".join(ended.stderr.decode(errors="replace").strip().splitlines()[-1:])
            raise IsoglossError(f"the translator exited with {ended.returncode}: {last_line}", where=command)
        translated = ended.stdout.decode(errors="replace").removesuffix("\n").split("\n")
        if len(translated) != len(lines):
            what = f"expected {len(lines):,} lines from the translator, got {len(translated):,}"
            raise IsoglossError(what, where=command, fix="Write one output line per input line")
        return [line.strip() for line in translated]

    return translate_lines
