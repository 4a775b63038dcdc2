"""Stored translations of whole examples: the same ids or rows in another language, in a format that the task reads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.data.files import resolve
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import reader_of
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.task import Layout, Task
from isogloss.translation.markers import Span
from isogloss.translation.translators import UntranslatedError

# Share of gold labels that must be the same in parallel rows without ids.
_LEAST_EQUAL = 0.9
_MISSING = "not in the file"


@dataclass(frozen=True, kw_only=True)
class StoredExamples:
    """Translations of some examples.

    Attributes:
        rows: rows of the originals that have a translation.
        translated: their translations, in the same order.
        total: number of originals.
    """

    rows: list[int]
    translated: Examples
    total: int

    @property
    def is_whole(self) -> bool:
        """True if every original has a translation."""
        return len(self.rows) == self.total

    def spans(self, context: Sequence[str]) -> list[list[Span]] | None:
        """Return the spans of each question's answers in its translated passage; None if no answers are stored.

        Answers without an offset, or not at it, are left out.
        """
        if not {"answers", "answer_starts"} <= self.translated.columns.keys():
            return None
        answers, starts = self.translated["answers"], self.translated["answer_starts"]
        return [
            [(at, at + len(text)) for text, at in zip(*one, strict=True) if text and _occurs(passage, text, at)]
            for passage, *one in zip(context, answers, starts, strict=True)
        ]


def _occurs(passage: str, text: str, at: int) -> bool:
    return at >= 0 and passage.startswith(text, at)


def nearest_span(spans: Sequence[Span], to: Span | None) -> Span | None:
    """Return the span that shares most letters with another one; the first if none does, None without spans."""
    shared = [0 if to is None else min(end, to[1]) - max(start, to[0]) for start, end in spans]
    return spans[max(range(len(spans)), key=lambda number: (max(0, shared[number]), -number))] if spans else None


def match_stored(
    task: Task, originals: Examples, path: Path, languages: Sequence[str], *, covered: bool = False
) -> StoredExamples:
    """Return the examples of a file that translate some others.

    Args:
        task: task of the examples; the readers of its layouts are tried.
        originals: examples to translate.
        path: the file, packed or not.
        languages: languages that a file of several may call the texts by, best first.
        covered: True to return the examples that the file covers; otherwise it must have all.

    Raises:
        UntranslatedError: the file has not all examples.
        DataError: no reader of the task can read the file, or it has other examples.
    """
    file = resolve(path)
    if file is None:
        raise DataError("no such file", where=str(path))
    failures: list[str] = []
    problems: dict[int, str] = {}  # of examples that could be read, by their number
    best: Examples | None = None
    known = set(originals.ids)
    for read in _readings(task, originals.split, file, languages):
        try:
            examples = read()
        except DataError as error:
            failures.append(error.what)
            continue
        if examples is not None and (problem := _mismatch(task, originals, examples)):
            problems.setdefault(len(examples), problem)
        elif examples is not None and (best is None or _shared(examples, known) > _shared(best, known)):
            best = examples
    if best is None:
        wanted = f"{task.id}/{originals.language} {originals.split}"
        reason = problems[max(problems)] if problems else next(iter(failures), "another format")
        fix = f"It must have the examples of {wanted}, by id or row by row, in a format that {task.id} is read from"
        raise DataError(f"no examples of {wanted}: {reason}", where=str(file), fix=fix)
    return _matched(originals, best, str(file), covered)


def _readings(task: Task, split: str, path: Path, languages: Sequence[str]) -> Iterator[Any]:
    """Yield functions that read a file in each format of a task, and as each language."""
    pattern = path.name.replace("{", "{{").replace("}", "}}")
    for reader in dict.fromkeys(layout.reader for layout in task.layouts):
        read = reader_of(Layout(reader, test=pattern))
        for language in dict.fromkeys(languages):
            files = SplitFiles(task=task, language=language, split=split, root=path.parent, pattern=pattern)
            yield lambda read=read, files=files: read(files)


def _shared(examples: Examples, known: set[str]) -> int:
    return len(known.intersection(examples.ids))


def _mismatch(task: Task, originals: Examples, examples: Examples) -> str:
    """Return why some examples are not translations of the originals, or ""."""
    needed = {name for name in kind_of(task).translatable if name in originals.columns}
    if missing := sorted(needed - examples.columns.keys()):
        return f"it has no {' and '.join(missing)}"
    row_of = {identifier: row for row, identifier in enumerate(examples.ids)}
    common = [identifier for identifier in originals.ids if identifier in row_of]
    if not common:
        return "none of its ids is one of theirs"
    if originals.ids[0] != f"{originals.split}-0":
        return ""
    # Rows without ids are only parallel if there are as many of them.
    if len(examples) != len(originals):
        return f"it has {len(examples):,} rows, not {len(originals):,}"
    if kind_of(task).form in ("label", "option") and originals.has_gold and examples.has_gold:
        pairs = zip(originals[originals.gold], examples[examples.gold], strict=True)
        equal = sum(str(one) == str(other) for one, other in pairs)
        if equal < _LEAST_EQUAL * len(originals):
            return f"only {equal:,} of {len(originals):,} labels are the same, so the rows are not parallel"
    return ""


def _matched(originals: Examples, examples: Examples, where: str, covered: bool) -> StoredExamples:
    row_of = {identifier: row for row, identifier in enumerate(examples.ids)}
    rows = [row for row, identifier in enumerate(originals.ids) if identifier in row_of]
    if len(rows) < len(originals) and not covered:
        missing = [identifier for identifier in originals.ids if identifier not in row_of]
        fix = "Add covered to keep the others: replay:FILE#examples,covered"
        raise UntranslatedError(dict.fromkeys(missing, _MISSING), len(originals), what="examples", where=where, fix=fix)
    translated = examples.keep([row_of[originals.ids[row]] for row in rows])
    return StoredExamples(rows=rows, translated=translated, total=len(originals))


def stored_columns(stored: StoredExamples, names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the stored texts of some columns."""
    return {name: list(stored.translated.column(name)) for name in names}
