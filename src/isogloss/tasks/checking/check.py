"""Read all files of a task and report what is wrong with them."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write, read_bytes
from isogloss.decoding import MARK
from isogloss.errors import DataError, IsoglossError, MissingDataError, named
from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.notebooks import arrow_table, data_frame, html_table
from isogloss.tasks.checking.across import defects_across
from isogloss.tasks.checking.cell_facts import CellFacts, cell_facts
from isogloss.tasks.checking.defects import Defect
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import given_task, no_language
from isogloss.tasks.task import SPLITS, Task
from isogloss.tasks.task_sources import use_tasks_of

# Columns of the table of defects.
_COLUMNS = ("code", "severity", "language", "split", "count", "total", "other", "ids", "text", "fix")


@dataclass(repr=False, kw_only=True)
class TaskReport:
    """Contents of the files of a task, and their defects.

    Attributes:
        task: its id.
        sizes: numbers of examples by language and split; a split without files is left out.
        labels: numbers of examples (of tokens, in tagging) by label, language and split.
        defects: errors first, then by code, language and split.
    """

    task: str
    title: str
    sizes: dict[str, dict[str, int]] = field(default_factory=dict)
    labels: dict[str, dict[str, dict[str, int]]] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"TaskReport({self.task}: {self.verdict})"

    @property
    def errors(self) -> list[Defect]:
        """Defects that prevent scoring."""
        return [defect for defect in self.defects if defect.error]

    @property
    def warnings(self) -> list[Defect]:
        """Other defects."""
        return [defect for defect in self.defects if not defect.error]

    @property
    def verdict(self) -> str:
        """The result in one line."""
        examples = sum(count for sizes in self.sizes.values() for count in sizes.values())
        read = f"{examples:,} examples in {counted(len(self.sizes), 'language')}"
        if not self.defects:
            return f"no problems: {read}"
        languages = {defect.language for defect in self.defects if defect.language}
        parts = (counted(len(self.errors), "error"), counted(len(self.warnings), "warning"))
        place = f" in {counted(len(languages), 'language')}" if languages else ""
        return f"{counted(len(self.defects), 'problem')}{place} ({', '.join(parts)}); {read}"

    def to_json(self, path: Path | str | None = None) -> str:
        """Return everything as one JSON object; with a path, also write it."""
        record = {
            "schema": "isogloss-task-check/1",
            "task": self.task,
            "title": self.title,
            "verdict": self.verdict,
            "errors": len(self.errors),
            "warnings": len(self.warnings),
            "sizes": self.sizes,
            "labels": self.labels,
            "defects": [defect.record() for defect in self.defects],
        }
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        if path is not None:
            with atomic_write(Path(path)) as stream:
                stream.write(text)
        return text

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per defect."""
        return data_frame([defect.record() for defect in self.defects], _COLUMNS)

    def to_arrow(self) -> Any:
        """Return an Arrow table with one row per defect."""
        return arrow_table([defect.record() for defect in self.defects], _COLUMNS)

    def _repr_html_(self) -> str:
        rows = [("error" if each.error else "warning", each.where, each.what, each.fix) for each in self.defects]
        return html_table(repr(self), ("", "where", "what", "fix"), rows)


def check_task(
    task: str | Task,
    data: str | os.PathLike[str] | None = None,
    *,
    languages: Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TaskReport:
    """Read all files of a task and report counts, labels, and everything suspicious.

    A damaged file is one error of the report: the others are checked nevertheless.

    Args:
        task: task, its name, or the path of its file.
        data: data folder; default ISOGLOSS_DATA or the user's cache folder.
        languages: tags of the languages to check; default all.
        progress: called with the numbers of read and of all files.

    Returns:
        The report.

    Raises:
        UnknownNameError: unknown task or language.
        DataError: the task file is wrong.

    Example:
        isogloss.check_task("feelings/feelings.toml").errors
    """
    if not isinstance(task, Task):
        use_tasks_of(data)
        task = given_task(task)
    languages = named("language", languages)
    chosen = task.every_language if languages is None else tuple(dict.fromkeys(languages))
    for code in chosen:
        if code not in task.every_language:
            raise no_language(task.id, code, task.every_language)
    splits = [split for split in SPLITS if any(getattr(layout, split) for layout in task.layouts)]
    if task.dev_from_train and "dev" not in splits:
        splits.append("dev")
    report = TaskReport(task=task.id, title=task.title)
    cells: list[CellFacts] = []
    for number, language in enumerate(chosen):
        for index, split in enumerate(splits):
            if progress is not None:
                progress(number * len(splits) + index, len(chosen) * len(splits))
            facts = _checked_cell(task, language, split, data, report)
            if facts is not None:
                cells.append(facts)
                report.sizes.setdefault(language, {})[split] = len(facts)
                if facts.labels:
                    report.labels.setdefault(language, {})[split] = dict(facts.labels.most_common())
    report.defects += _missing(task, chosen, splits, data, report)
    report.defects += (defect for cell in cells for defect in cell.defects)
    report.defects += _marked_files(cells)
    report.defects += defects_across(task, cells)
    report.defects.sort(key=lambda defect: (not defect.error, defect.code, defect.language, defect.split))
    if progress is not None:
        progress(len(chosen) * len(splits), len(chosen) * len(splits))
    return report


def _checked_cell(
    task: Task, language: str, split: str, data: str | os.PathLike[str] | None, report: TaskReport
) -> CellFacts | None:
    """Read a language and split; add an error to the report if that fails."""
    try:
        examples = _examples(task, language, split, data)
        return None if examples is None else cell_facts(task, examples)
    except IsoglossError as error:
        report.defects.append(
            Defect(code="unreadable-file", error=True, language=language, split=split, detail=str(error))
        )
        return None


def _examples(task: Task, language: str, split: str, data: str | os.PathLike[str] | None) -> Examples | None:
    """Return the examples whatever their number, or None if there are no files."""
    try:
        return load(task, language, split, data, allow_partial=True)
    except MissingDataError:
        return None
    except DataError:
        # Without the declared number, which is compared later; any other error is raised again.
        return load(replace(task, counts={}), language, split, data, allow_partial=True)


def _missing(
    task: Task,
    languages: Sequence[str],
    splits: Sequence[str],
    data: str | os.PathLike[str] | None,
    report: TaskReport,
) -> Iterator[Defect]:
    """Yield languages without test and dev files; training files are often those of another language."""
    failed = {(defect.language, defect.split) for defect in report.defects}
    lacking = []
    for language in languages:
        read = {*report.sizes.get(language, ()), *(split for code, split in failed if code == language)}
        if read.isdisjoint({"test", "dev"} & set(splits)) and not (language in task.also and read):
            lacking.append(language)
    for language in lacking:
        detail = "no test file"
        with suppress(IsoglossError):
            try:
                load(task, language, "test" if "test" in splits else splits[0], data)
            except MissingDataError as error:
                detail = str(error)
        yield Defect(code="no-files", error=True, language=language, detail=detail)


def _marked_files(cells: Sequence[CellFacts]) -> Iterator[Defect]:
    for source, several in group_by(
        ((path, cell) for cell in cells for path in cell.sources), lambda pair: pair[0]
    ).items():
        with suppress(DataError, OSError):
            if read_bytes(Path(source), most=len(MARK)) == MARK:
                cell = several[0][1]
                detail = f"{source} begins with a byte-order mark"
                yield Defect(
                    code="file-byte-order-mark", language=cell.language, split=cell.split, count=1, detail=detail
                )


def label_totals(report: TaskReport) -> dict[str, Counter[str]]:
    """Return the numbers of examples by label, by split, over all languages."""
    totals: dict[str, Counter[str]] = {}
    for splits in report.labels.values():
        for split, labels in splits.items():
            totals.setdefault(split, Counter()).update(labels)
    return totals
