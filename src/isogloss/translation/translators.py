"""Having data translated by a program that reads one text per line and writes one translation per line."""

import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.translated import TEXTS, Data, own_file, texts_of

Translator = Callable[[Sequence[str]], Sequence[str]]


def program(command: str) -> Translator:
    """A translator that is a command, e.g. `apertium -u -f line eng-spa`; it is started once for all lines."""

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


def translate(task: Task, language: str, split: str, data: Data, translator: Translator) -> Path:
    """Write a file of our own folder: the English training set to a language, or its test or dev set to English."""
    originals = _originals(task, language, split, data)
    columns = _texts(originals)
    lines = dict.fromkeys(chain.from_iterable(map(_lines, _flat(chain(*columns.values())))))
    if not lines:
        raise IsoglossError("there is no text to translate", where=", ".join(originals.sources))
    known = dict(zip(lines, translator(list(lines)), strict=True))
    told = {name: [_told(item, known) for item in column] for name, column in columns.items()}
    return _write(own_file(task, language, split, data), originals.ids, told)


def untranslated(task: Task, language: str, split: str, data: Data, path: Path) -> Path:
    """Write the same file with the texts as they are, to be translated in place by somebody else."""
    originals = _originals(task, language, split, data)
    return _write(path, originals.ids, _texts(originals))


def _originals(task: Task, language: str, split: str, data: Data) -> Examples:
    if task.kind not in TEXTS:
        raise IsoglossError(f"{task.id} cannot be translated: {task.kind} has no regime with translations")
    return load(task, "en" if split == "train" else language, split, data)


def _texts(originals: Examples) -> dict[str, Sequence[Any]]:
    """The columns to translate; of questions to learn from, the answers as well."""
    learnt = originals.split == "train" and "answers" in originals.columns
    names = [*texts_of(originals), *(["answers"] if learnt else [])]
    return {name: originals.column(name) for name in names}


def _flat(items: Iterator[Any]) -> Iterator[str]:
    """The texts of items that are a text or several."""
    for item in items:
        yield from (item,) if isinstance(item, str) else item


def _lines(text: str) -> list[str]:
    """The lines of a text that hold something to translate, without the white space around them."""
    return [line.strip() for line in text.split("\n") if line.strip()]


def _told(item: Any, known: Mapping[str, str]) -> Any:
    """An item in its translation; its line breaks stay."""
    if not isinstance(item, str):
        return [_told(text, known) for text in item]
    return "\n".join(known.get(line.strip(), "") for line in item.split("\n"))


def _write(path: Path, ids: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> Path:
    encode = msgspec.json.Encoder().encode
    with atomic_write(path) as stream:
        for identifier, *values in zip(ids, *columns.values(), strict=True):
            stream.write(encode({"id": identifier, **dict(zip(columns, values, strict=True))}).decode() + "\n")
    return path
