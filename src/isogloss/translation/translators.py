"""Translators: whatever gives a translation for each of some texts."""

import shlex
import subprocess
from collections.abc import Callable, Sequence

from isogloss.errors import IsoglossError

Translator = Callable[[Sequence[str]], Sequence[str]]


def command_translator(command: str) -> Translator:
    """A translator that is a program: it reads one text a line and writes one translation a line.

    Args:
        command: e.g. `apertium -u -f line eng-spa`; it is started once for all texts.
    """

    def translate_lines(lines: Sequence[str]) -> Sequence[str]:
        try:
            words, text = shlex.split(command), "".join(f"{line}\n" for line in lines)
            ended = subprocess.run(words, input=text.encode(), capture_output=True, check=False)  # noqa: S603 - the user's
        except (OSError, ValueError) as error:
            raise IsoglossError(f"the translator cannot be started: {error}", where=command) from error
        if ended.returncode:
            said = ended.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise IsoglossError(f"the translator ended with {ended.returncode}: {' '.join(said)}", where=command)
        translated = ended.stdout.decode(errors="replace").removesuffix("\n").split("\n")
        if len(translated) != len(lines):
            what = f"the translator gave {len(translated):,} lines for {len(lines):,}"
            raise IsoglossError(what, where=command, fix="It must write one line for every line it reads")
        return [line.strip() for line in translated]

    return translate_lines
