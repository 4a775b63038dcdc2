"""Tables of free-text replies, one file per language: predictions, and why replies have none."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from isogloss.data.files import unpacked_name
from isogloss.errors import PredictionError
from isogloss.languages import codes_meant_by
from isogloss.predictions.importers import ImportedAnswers, TableColumns, import_table
from isogloss.predictions.importers.table import POSITION
from isogloss.predictions.importers.table_files import table_rows
from isogloss.predictions.write import destination, write_predictions
from isogloss.reply_outcomes import Outcome, ReplyFacts
from isogloss.tasks.registry import given_task as find_task
from isogloss.tasks.task import Task

# Characters of a reply to show.
_LONGEST = 160


@dataclass(frozen=True)
class ReplyCell:
    """The replies of one language, and the answers read from them."""

    task: Task
    language: str
    split: str
    answers: ImportedAnswers

    @property
    def facts(self) -> list[ReplyFacts]:
        """Facts about every reply."""
        return [facts for facts in self.answers.replies or () if facts is not None]

    def write(self, out: Path, *, force: bool = False) -> Path:
        """Write the predictions with facts about their replies, and return the path."""
        answers = self.answers
        return write_predictions(
            out,
            self.task,
            self.language,
            self.split,
            answers.ids,
            answers.values,
            replies=answers.replies,
            force=force,
        )

    def unread(self) -> Iterator[tuple[Outcome, str, str]]:
        """Yield the replies without an answer: the reason, the id, and the reply."""
        rows = zip(self.answers.replies or (), self.answers.ids, self.answers.texts, strict=False)
        for facts, identifier, text in rows:
            if facts is not None and not facts.outcome.is_answer:
                yield facts.outcome, identifier, " ".join((text or "").split())


def read_reply_files(
    files: Sequence[str | os.PathLike[str]],
    task: str,
    *,
    column: str = "",
    id_column: str = POSITION,
    labels: Sequence[str] = (),
    split: str = "test",
    data: str | os.PathLike[str] | None = None,
) -> list[ReplyCell]:
    """Read tables of replies, each named after its language: `sw.csv`, `swh_Latn.tsv`.

    Args:
        files: tables.
        task: task or alias.
        column: column of the replies, by default the last.
        id_column: column of the ids, or "position" for the order of rows.
        labels: further spellings of answers.
        split: "test" or "dev".
        data: data folder.

    Raises:
        PredictionError: a file does not name a language of the task, two files name the same, or a table does not fit.
        UnknownNameError: unknown task, split or label.
    """
    target = find_task(task)
    cells: dict[str, ReplyCell] = {}
    for path in map(Path, files):
        code = _language_of(target, path)
        if code in cells:
            what = f"a second file for {code}, after {cells[code].answers.path}"
            raise PredictionError(what, where=str(path), fix="Pass one file per language")
        columns = TableColumns(prediction=column or _last_column(path), id=id_column)
        read = import_table(
            [path], task, columns, languages=[code], split=split, data=data, labels=labels, replies=True
        )
        cells[code] = ReplyCell(target, code, split, read[code])
    return list(cells.values())


def unread_replies(cells: Sequence[ReplyCell], most: int) -> list[tuple[Outcome, str, str]]:
    """Return replies without an answer, at most some per reason, from different languages: reason, place, and reply."""
    shown: dict[Outcome, list[tuple[Outcome, str, str]]] = {}
    for cell in cells:
        seen: set[Outcome] = set()
        for outcome, identifier, text in cell.unread():
            listed = shown.setdefault(outcome, [])
            if len(listed) < most and (outcome not in seen or len(cells) == 1):
                short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
                listed.append((outcome, f"{cell.task.id}/{cell.language} {identifier}", short))
                seen.add(outcome)
    return [each for outcome in Outcome if outcome in shown for each in shown[outcome]]


def check_destinations(cells: Sequence[ReplyCell], out: Path, *, force: bool = False) -> None:
    """Raise a PredictionError if a file to write exists, before any is written."""
    for cell in cells:
        destination(out, cell.task, cell.language, cell.split, force=force)


def _language_of(task: Task, path: Path) -> str:
    stem = Path(unpacked_name(path)).stem
    # `ht-direct` is Haitian, `zh-Hant` a language of its own.
    meant = [stem] if stem in task.every_language else []
    for name in (stem, stem.partition("-")[0]):
        meant = meant or codes_meant_by(name, task.every_language)
    if len(meant) != 1:
        fix = f"Name files after languages, such as {', '.join(task.languages[:3])}"
        raise PredictionError(f"{stem!r} is not a language of {task.id}", where=str(path), fix=fix)
    return meant[0]


def _last_column(path: Path) -> str:
    first = next(iter(table_rows(path, [])), None)
    if first is None:
        raise PredictionError("no rows", where=str(path))
    return str(list(first[1])[-1])
