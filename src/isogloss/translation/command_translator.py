"""Translation by any program that reads one text per line and writes one translation per line."""

import hashlib
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from isogloss.data.files import sha256_of
from isogloss.errors import IsoglossError
from isogloss.translation.translators import Translator

# Texts of the first start of a program, and of any start; most take less than a second to start.
_FIRST, _MOST = 32, 4096
# Seconds that a start should take: a killed command loses at most the texts of one start.
_BRIEF, _LONG = 5.0, 20.0
# Programs split their input at these, whatever the text means by them.
_BREAKS = re.compile(r"([\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+)")
_APERTIUM_MODES = Path("/usr/share/apertium/modes")
# Arguments that name programs, settings and models. Others may be logs, which change with every start.
_INPUTS = frozenset(
    ".bin .cfg .conf .gguf .js .json .lua .mode .model .npz .onnx .pl .pt .py .r .rb .safetensors .sh .spm .toml .ts "
    ".vocab .yaml .yml".split()
)
_QUOTED_PATH = re.compile(r"'(/[^']+)'")


def paced_batches(
    texts: Sequence[str], batch: int, translate: Callable[[Sequence[str]], dict[str, str]]
) -> Iterator[dict[str, str]]:
    """Yield the translations of texts, a batch at a time.

    Args:
        texts: texts to translate.
        batch: number of texts at a time; 0 to begin with a few, and to double the number while that takes seconds.
        translate: function from some texts to their translations.
    """
    size, start = batch or _FIRST, 0
    while start < len(texts):
        began = time.monotonic()
        translations = translate(texts[start : start + size])
        seconds = time.monotonic() - began
        yield translations
        start += size
        if not batch and seconds < _BRIEF:
            size = min(2 * size, _MOST)
        elif not batch and seconds > _LONG:
            size = max(1, size // 2)


class CommandTranslator(Translator):
    """A program, started once per batch of texts.

    A batch counts only if the program ends well and writes one line per text, so that no translation moves to the next
    text.

    The version covers the program's file, scripts, settings and models among its arguments, and the data of an Apertium
    pair. If the program asks a service, or finds its model elsewhere, only its command line decides.

    Args:
        command: for example `my-program --to es`.
        source: language of the texts.
        target: language of the translations.
        batch: number of texts per start of the program; 0 to choose it by the program's speed.
    """

    def __init__(self, command: str, source: str = "", target: str = "", *, batch: int = 0) -> None:
        self.name, self.source, self.target = command, source, target
        self._batch = batch
        try:
            self._words = shlex.split(command)
        except ValueError as error:
            raise self._not_started(error) from error
        self.version = _version(command)

    def _not_started(self, error: Exception) -> IsoglossError:
        return IsoglossError(f"cannot start the translator: {error}", where=self.name)

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield the translations of a batch of texts, line by line, with their line breaks."""
        yield from paced_batches(texts, self._batch, self._translated)

    def _translated(self, texts: Sequence[str]) -> dict[str, str]:
        parts = [_BREAKS.split(text) for text in texts]  # every other part is a line break
        lines = list(dict.fromkeys(line.strip() for pieces in parts for line in pieces[::2] if line.strip()))
        translated = dict(zip(lines, self._run(lines), strict=True)) if lines else {}
        return {
            text: "".join(
                piece if number % 2 else translated.get(piece.strip(), "") for number, piece in enumerate(pieces)
            )
            for text, pieces in zip(texts, parts, strict=True)
        }

    def _run(self, lines: Sequence[str]) -> list[str]:
        """Return the translation of each line."""
        translated = self._output(lines)
        if len(translated) != len(lines):
            what = f"expected {len(lines):,} lines from the translator, got {len(translated):,}"
            raise IsoglossError(what, where=self.name, fix="Write one output line per input line")
        return translated

    def _output(self, lines: Sequence[str]) -> list[str]:
        """Return the lines that the program writes for some lines."""
        text = "".join(f"{line}\n" for line in lines).encode(errors="replace")
        try:
            ended = subprocess.run(self._words, input=text, capture_output=True, check=False)  # noqa: S603 - the user's
        except (OSError, ValueError, IndexError) as error:
            raise self._not_started(error) from error
        if ended.returncode:
            last_line = "".join(ended.stderr.decode(errors="replace").strip().splitlines()[-1:])
            raise IsoglossError(f"the translator exited with {ended.returncode}: {last_line}", where=self.name)
        return [line.strip() for line in ended.stdout.decode(errors="replace").removesuffix("\n").split("\n")]


def _version(command: str) -> str:
    """Return a hash of the program's files."""
    words = shlex.split(command)
    files = [Path(word) for word in words[1:] if word == words[1] or Path(word).suffix in _INPUTS]
    if words and (program := shutil.which(words[0])):
        files.append(Path(program))
    # Apertium's data are named in a file of commands per pair; the pair may be inside of `sh -c "… | …"`.
    names = re.findall(r"[\w-]+", command) if "apertium" in command else []
    for mode in (_APERTIUM_MODES / f"{name}.mode" for name in names):
        if _is_file(mode):
            files += [mode, *map(Path, _QUOTED_PATH.findall(mode.read_text(encoding="utf-8", errors="replace")))]
    digest = hashlib.sha256()
    for path in sorted({path for path in files if _is_file(path)}):
        digest.update(f"{path.name} {sha256_of(path)}\n".encode(errors="replace"))
    return digest.hexdigest()[:16]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an argument that cannot be a path
        return False
