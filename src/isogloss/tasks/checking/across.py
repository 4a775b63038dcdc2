"""Checks across splits and languages: leakage, shared texts, labels, normalization and parallel examples."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from isogloss.grouping import group_by
from isogloss.tasks.checking.cell_facts import CellFacts
from isogloss.tasks.checking.defects import Defect
from isogloss.tasks.task import Task

# Test sets with fewer examples have intervals of twenty points and more.
_SMALL = 50
# A parallel example is compared with its translations if there are at least as many.
_FEWEST_TRANSLATIONS = 3


def defects_across(task: Task, cells: Sequence[CellFacts]) -> Iterator[Defect]:
    """Yield the defects that show between splits or languages."""
    by_language = group_by(cells, lambda cell: cell.language)
    english = {cell.split: cell for cell in by_language.get("en", ())}
    for several in by_language.values():
        splits = {cell.split: cell for cell in several}
        yield from _split_overlaps(splits, is_dev_in_train=bool(task.dev_from_train))
        yield from _label_defects(task, splits, english)
        yield from _normalization(several)
        if "test" in splits and len(splits["test"]) < _SMALL:
            yield splits["test"].defect("small-split", count=len(splits["test"]))
    yield from _language_overlaps(by_language)
    if task.parallel:
        for parallel in group_by(cells, lambda cell: cell.split).values():
            yield from _parallel_defects([cell for cell in parallel if cell.units is not None])


def _split_overlaps(splits: Mapping[str, CellFacts], *, is_dev_in_train: bool) -> Iterator[Defect]:
    for split, other in (("test", "train"), ("test", "dev"), ("dev", "train")):
        is_part = is_dev_in_train and (split, other) == ("dev", "train")
        if split in splits and other in splits and not is_part:
            known = set(splits[other].inputs)
            if rows := [row for row, key in enumerate(splits[split].inputs) if key in known]:
                yield splits[split].defect("split-overlap", rows, other=other)


def _label_defects(task: Task, splits: Mapping[str, CellFacts], english: Mapping[str, CellFacts]) -> Iterator[Defect]:
    labelled = [cell for cell in splits.values() if cell.labels]
    # Indices of choices are not labels, and a training set of another task may have others.
    if not labelled or not task.labels:
        return
    train = splits.get("train") or english.get("train")
    for cell in labelled:
        if train is None or not train.labels or cell is train:
            continue
        if unseen := [label for label in cell.labels if label not in train.labels]:
            count = sum(cell.labels[label] for label in unseen)
            place = "train" if train.language == cell.language else f"{train.language} train"
            total = cell.labels.total()
            yield cell.defect("unseen-label", count=count, total=total, other=place, detail=_listed(unseen))
    present = Counter[str]()
    for cell in labelled:
        present.update(cell.labels)
    if missing := [label for label in task.labels if label not in present]:
        yield Defect(
            code="missing-label", language=labelled[0].language, count=len(missing), detail=_listed(missing, "or")
        )


def _listed(names: Sequence[str], conjunction: str = "and") -> str:
    shown = [repr(name)[:60] for name in names[:5]]
    if len(names) > len(shown):
        return f"{', '.join(shown)} {conjunction} {len(names) - len(shown)} more"
    return f" {conjunction} ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _normalization(cells: Sequence[CellFacts]) -> Iterator[Defect]:
    """Yield texts outside of NFC, if others of the language are in it and have composed characters."""
    if sum(cell.faults.composed for cell in cells):
        for cell in cells:
            if cell.faults.decomposed:
                yield cell.defect("mixed-normalization", sorted(cell.faults.decomposed))


def _language_overlaps(by_language: Mapping[str, Sequence[CellFacts]]) -> Iterator[Defect]:
    """Yield, for each language, the number of its texts that an earlier one has, too."""
    first: dict[int, str] = {}
    for language, cells in by_language.items():
        texts: frozenset[int] = frozenset().union(*(cell.texts for cell in cells))
        shared = Counter(first[key] for key in texts if key in first)
        if shared:
            others = ", ".join(f"{other} ({count:,})" for other, count in shared.most_common(3))
            count, total = shared.total(), len(texts)
            more = ", …" * (len(shared) > 3)
            yield Defect(code="language-overlap", language=language, count=count, total=total, other=f"{others}{more}")
        for key in texts:
            first.setdefault(key, language)


def _parallel_defects(cells: Sequence[CellFacts]) -> Iterator[Defect]:
    """Yield examples that translations lack, and values that differ from those of most translations."""
    if len(cells) < 2:
        return
    numbers = Counter(unit for cell in cells for unit in set(cell.units or ()))
    for cell in cells:
        units = set(cell.units or ())
        alone = [row for row, unit in enumerate(cell.units or ()) if numbers[unit] == 1]
        lacking = sum(count > len(cells) / 2 for unit, count in numbers.items() if unit not in units)
        parts = []
        if alone:
            parts.append(f"{len(alone):,} of {len(cell):,} examples have no translation")
        if lacking:
            parts.append(f"{lacking:,} of {len(numbers):,} examples of most languages are missing")
        if parts:
            yield cell.defect("unit-mismatch", alone, count=len(alone) + lacking, detail="; ".join(parts))
    yield from _disagreements(cells)


def _disagreements(cells: Sequence[CellFacts]) -> Iterator[Defect]:
    columns = Counter(name for cell in cells for name in cell.closed)
    for name in ("", *(name for name, count in columns.items() if 2 * count > len(cells))):
        # A single label is a placeholder, which is reported as such.
        values = {
            id(cell): cell.closed.get(name) if name else cell.gold if len(cell.labels) > 1 else None for cell in cells
        }
        votes: dict[int, Counter[int]] = {}
        for cell in cells:
            for unit, value in zip(cell.units or (), values[id(cell)] or (), strict=False):
                votes.setdefault(unit, Counter())[value] += 1
        majority = {
            unit: winner
            for unit, several in votes.items()
            for winner, count in several.most_common(1)
            if several.total() >= _FEWEST_TRANSLATIONS and 2 * count > several.total()
        }
        for cell in cells:
            pairs = enumerate(zip(cell.units or (), values[id(cell)] or (), strict=False))
            rows = [row for row, (unit, value) in pairs if majority.get(unit, value) != value]
            if rows:
                code = "column-mismatch" if name else "gold-mismatch"
                yield cell.defect(code, rows, detail=name)
