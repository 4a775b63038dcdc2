"""Tables of `isogloss task check`: sizes by language, labels by split, and defects by code."""

from collections.abc import Iterator

from isogloss.figures import counted
from isogloss.grouping import group_by
from isogloss.tables.table import Table
from isogloss.tasks.checking.check import TaskReport, label_totals
from isogloss.tasks.checking.defects import Defect
from isogloss.tasks.task import SPLITS

# Languages shown; of more, those with defects.
_LANGUAGES = 30
_LABELS = 20


def sizes_table(report: TaskReport, limit: int = _LANGUAGES) -> Table:
    """Return the numbers of examples and defects by language; `limit` rows at most, 0 for all."""
    splits = [split for split in SPLITS if any(split in sizes for sizes in report.sizes.values())]
    table = Table(report.title, ("language", *splits, "errors", "warnings"))
    by_language = group_by(report.defects, lambda defect: defect.language)
    languages = list(dict.fromkeys([*report.sizes, *(code for code in by_language if code)]))
    shown = languages
    if limit and len(languages) > limit:
        most = sorted((code for code in languages if code in by_language), key=lambda code: -len(by_language[code]))
        shown = [code for code in languages if code in most[:limit]]
    for code in shown:
        sizes, defects = report.sizes.get(code, {}), by_language.get(code, [])
        errors = sum(defect.error for defect in defects)
        numbers = [f"{sizes[split]:,}" if split in sizes else "·" for split in splits]
        marks = [str(count) if count else "" for count in (errors, len(defects) - errors)]
        table.add(code, *numbers, *marks, strong=bool(errors))
    if rest := len(languages) - len(shown):
        clean = sum(code not in by_language for code in languages)
        table.notes.append(f"{rest} more languages, {clean} of them without problems; --limit 0 shows all")
    return table


def labels_table(report: TaskReport) -> Table | None:
    """Return the numbers of examples by label and split, over all languages; None if the task has no labels."""
    totals = label_totals(report)
    splits = [split for split in SPLITS if split in totals]
    labels = list(dict.fromkeys(label for split in splits for label, _ in totals[split].most_common()))
    if not labels:
        return None
    table = Table("Labels", ("label", *(cell for split in splits for cell in (split, "%"))))
    for label in labels[:_LABELS]:
        cells = []
        for split in splits:
            count = totals[split][label]
            cells += [f"{count:,}", f"{100 * count / totals[split].total():.1f}"]
        table.add(label if len(label) <= 24 else f"{label[:23]}…", *cells)
    if len(labels) > _LABELS:
        table.notes.append(f"{len(labels) - _LABELS} more labels")
    return table


def defect_lines(report: TaskReport, limit: int) -> Iterator[tuple[str, str]]:
    """Yield lines with their style: per code a heading, the first places, and advice; `limit` 0 shows all places."""
    for defects in group_by(report.defects, lambda defect: (not defect.error, defect.code)).values():
        first = defects[0]
        languages = len({defect.language for defect in defects})
        places = f" ({counted(len(defects), 'place')}, {counted(languages, 'language')})" if len(defects) > 1 else ""
        yield "error" if first.error else "warning", f"{first.title}{places}"
        shown = sorted(defects, key=_share, reverse=True)[: limit or None]
        for defect in shown:
            yield "", f"  {defect.where}: {defect.what}" if defect.where else f"  {defect.what}"
        if rest := len(defects) - len(shown):
            yield "dim", f"  … and {counted(rest, 'more place', 'more places')}"
        if first.fix:
            yield "dim", f"  {first.fix}."


def _share(defect: Defect) -> float:
    return defect.count / defect.total if defect.total else float(defect.count)
