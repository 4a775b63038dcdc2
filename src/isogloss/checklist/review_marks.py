"""Marks of review: which words of a test how many speakers have vouched for; other words withdraw the mark.

A mark stands in the table `[review]` of a language file: `comparisons = "reviewed by 2 on 2026-11-16, content
1f2e3d4c5b6a"`. The content is a hash of all that the test says in the language, so nobody has to remember to remove it.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from isogloss.checklist.shipped import suite_cases
from isogloss.data.files import atomic_write, read_text
from isogloss.errors import IsoglossError
from isogloss.grammar.cases import ChecklistExample, examples
from isogloss.grammar.file import Grammar
from isogloss.grammar.schema import REVIEW, key_line, parse


@dataclass(frozen=True)
class ReviewStatus:
    """Whether speakers vouch for a test in a language.

    Attributes:
        text: it in words: as the language file says, unless the words have changed since.
        reviewed: whether speakers vouch for the present words.
        withdrawn: whether they vouched for other words.
    """

    text: str
    reviewed: bool = False
    withdrawn: bool = False


def example_text(example: ChecklistExample) -> bytes:
    """All that an example says, for checksums."""
    said = (example.id, example.context, example.question, *example.accepted, example.sentence, "\n")
    return "\t".join(said).encode()


def content_hash(speaker: Grammar, test: str) -> str:
    """A hash of all that the cases of a test say in a language: contexts, questions, right answers, sentences."""
    digest = sha256()
    for case in suite_cases(test):
        for example in examples(case, speaker):
            digest.update(example_text(example))
    return digest.hexdigest()[:12]


def review_status(speaker: Grammar, test: str) -> ReviewStatus:
    """Whether speakers vouch for the present words of a test in a language."""
    written = speaker.file.review[test]
    mark = REVIEW.fullmatch(written)
    if mark is None or mark["content"] is None:
        return ReviewStatus(written)
    if mark["content"] == content_hash(speaker, test):
        return ReviewStatus(written, reviewed=True)
    once = f"reviewed by {mark['speakers']} on {mark['date']}, but the words have changed since"
    return ReviewStatus(f"unreviewed: {once}", withdrawn=True)


def mark_text(speakers: int, day: date, content: str) -> str:
    """A mark as it stands in a language file."""
    return f"reviewed by {speakers} on {day.isoformat()}, content {content}"


def withdrawal_text(speakers: int, day: date) -> str:
    """What stands in a language file instead of a mark that speakers contradicted."""
    return f"unreviewed; {speakers} found something wrong on {day.isoformat()}"


def standing_speakers(speaker: Grammar, test: str, content: str) -> int:
    """How many speakers the language file says vouch for this content; 0 where it says that of another, or of none."""
    mark = REVIEW.fullmatch(speaker.file.review[test])
    return int(mark["speakers"]) if mark is not None and mark["content"] == content else 0


def write_marks(path: Path, marks: Mapping[str, str]) -> None:
    """Put marks into a language file, or take them back; nothing else in it changes, comments stay.

    Several processes may do so at once: each changes its own lines of what the others have written.

    Args:
        path: the file.
        marks: by test, what the file is to say (`mark_text`, `withdrawal_text`).

    Raises:
        IsoglossError: a mark has no line of its own in the file, or the file cannot be read or written.
    """
    with _one_at_a_time(path.resolve().parent):
        text = _with_marks(read_text(path), marks, path)
        parse(text, path.name)
        with atomic_write(path) as stream:
            stream.write(text)


def _with_marks(text: str, marks: Mapping[str, str], path: Path) -> str:
    lines = text.split("\n")
    for test, mark in marks.items():
        place = key_line("\n".join(lines), f"review.{test}") - 1
        line = re.fullmatch(rf'(\s*{re.escape(test)}\s*=\s*)"(?:[^"\\]|\\.)*"(\s*(?:#.*)?)', lines[place])
        if line is None:
            fix = f'Give it a line of its own in [review]: {test} = "{mark}"'
            raise IsoglossError(f'no line {test} = "…" to be changed', where=f"{path}:{place + 1}", fix=fix)
        lines[place] = f'{line[1]}"{mark}"{line[2]}'
    return "\n".join(lines)


if sys.platform == "win32":

    @contextmanager
    def _one_at_a_time(folder: Path) -> Iterator[None]:
        yield  # a folder cannot be opened there, and a file of locks would lie among the sources

else:
    import fcntl

    @contextmanager
    def _one_at_a_time(folder: Path) -> Iterator[None]:
        """Wait until no other process changes a file of the folder; the system lets go of it when this one dies."""
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except OSError as error:
            raise IsoglossError(f"cannot be opened ({error.strerror})", where=str(folder)) from error
        try:
            with suppress(OSError):  # a file system without locks: nothing can be known about others
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
