"""Review marks: the number of speakers who approved a test's wording; changed wording withdraws the mark.

A mark is an entry in the table `[review]` of a language file: `comparisons = "reviewed by 2 on 2026-11-16, content
1f2e3d4c5b6a"`. The content is a hash of the test's texts in the language, so marks expire automatically.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path

from isogloss.checklist.shipped import suite_cases
from isogloss.data.files import atomic_write, read_text
from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.grammar.cases import ChecklistExample, examples
from isogloss.grammar.file import Grammar
from isogloss.grammar.schema import REVIEW, key_line, parse


@dataclass(frozen=True)
class ReviewStatus:
    """Review status of a test in a language."""

    text: str
    reviewed: bool = False
    withdrawn: bool = False  # speakers approved an earlier wording


def example_text(example: ChecklistExample) -> bytes:
    """Return all texts of an example, for checksums."""
    texts = (example.id, example.context, example.question, *example.accepted, example.sentence, "\n")
    return "\t".join(texts).encode()


def content_hash(speaker: Grammar, test: str) -> str:
    """Return a hash of all texts of a test in a language: contexts, questions, accepted answers, sentences."""
    digest = sha256()
    for case in suite_cases(test):
        for example in examples(case, speaker):
            digest.update(example_text(example))
    return digest.hexdigest()[:12]


def review_status(speaker: Grammar, test: str) -> ReviewStatus:
    """Return the review status of a test in a language."""
    written = speaker.file.review[test]
    mark = REVIEW.fullmatch(written)
    if mark is None or mark["content"] is None:
        return ReviewStatus(written)
    if mark["content"] == content_hash(speaker, test):
        return ReviewStatus(written, reviewed=True)
    once = f"reviewed by {mark['speakers']} on {mark['date']}, but the wording has changed since"
    return ReviewStatus(f"unreviewed: {once}", withdrawn=True)


def mark_text(speakers: int, day: date, content: str) -> str:
    """Return a mark for a language file."""
    return f"reviewed by {speakers} on {day}, content {content}"


def withdrawal_text(speakers: int, day: date) -> str:
    """Return the entry that replaces a mark which speakers contradicted."""
    return f"unreviewed; {speakers} found something wrong on {day.isoformat()}"


def standing_speakers(speaker: Grammar, test: str, content: str) -> int:
    """Return the number of speakers who approved this content according to the language file."""
    mark = REVIEW.fullmatch(speaker.file.review[test])
    return int(mark["speakers"]) if mark is not None and mark["content"] == content else 0


def write_marks(path: Path, marks: Mapping[str, str]) -> None:
    """Write or withdraw marks by test (`mark_text`, `withdrawal_text`), each on its own line of a language file.

    Several processes may do so concurrently: everything else stays unchanged.
    """
    from filelock import FileLock

    # One process at a time changes files of the folder; the lock is in the cache, not among the sources.
    locks = cache_dir() / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with FileLock(locks / f"{sha256(str(path.resolve().parent).encode()).hexdigest()[:32]}.lock"):
        text = _with_marks(read_text(path), marks, path)
        parse(text, path.name)
        with atomic_write(path) as stream:
            stream.write(text)


def _with_marks(text: str, marks: Mapping[str, str], path: Path) -> str:
    lines = text.split("\n")
    for test, mark in marks.items():
        index = key_line("\n".join(lines), f"review.{test}") - 1
        line = re.fullmatch(rf'(\s*{re.escape(test)}\s*=\s*)"(?:[^"\\]|\\.)*"(\s*(?:#.*)?)', lines[index])
        if line is None:
            fix = f'Add a separate line in [review]: {test} = "{mark}"'
            raise IsoglossError(f'missing line {test} = "…"', where=f"{path}:{index + 1}", fix=fix)
        lines[index] = f'{line[1]}"{mark}"{line[2]}'
    return "\n".join(lines)
