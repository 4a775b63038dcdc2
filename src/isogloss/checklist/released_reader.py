"""Reader of the released checklist: the sheet of the data folder, filled with CheckList's names."""

from functools import lru_cache
from pathlib import Path

from isogloss.checklist import released
from isogloss.checklist.released import ReleasedExample, ReleasedSheet, audit_examples
from isogloss.checklist.released_names import NAMES_FILES, ReleasedNames, given_names, names_in
from isogloss.checklist.tasks import CASES
from isogloss.data.files import Stamp, resolve, stamp
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file

_FIX = "Run isogloss fetch multichecklist"


@of_one_file
def read(split: SplitFiles, path: Path) -> Examples:
    """Return the examples of a task: the same cases for everyone with this sheet and these names."""
    sheet, test = _sheet(path, stamp(path)), str(split.task.options["test"])
    if isinstance(sheet, DataError):
        raise sheet
    names = _names_of(split)
    _check_shape(sheet, split, test)
    drawn = list(sheet.examples(split.language, test, names=names))
    for example in drawn:
        split.digest.update("\t".join((example.id, example.context, example.question, example.answer, "\n")).encode())
    columns: dict[str, Column] = {
        "question": [example.question for example in drawn],
        "context": [example.context for example in drawn],
        "answers": [[example.answer] for example in drawn],
        "answer_starts": [[example.context.find(example.answer)] for example in drawn],
        "defects": lambda: _defects(drawn, split.language, names),
    }
    cases = [f"{split.language}:{example.case.id}" for example in drawn]
    return split.examples([example.id for example in drawn], columns, "answers", clusters=cases)


def _defects(examples: list[ReleasedExample], language: str, names: ReleasedNames) -> list[tuple[str, ...]]:
    """Return the kinds of each example's defects, without repetition."""
    kinds: dict[str, dict[str, None]] = {example.id: {} for example in examples}
    for finding in audit_examples(examples, language, names).defects:
        kinds[finding.example].setdefault(finding.kind)
    return [tuple(own) for own in kinds.values()]


# A process reads all cells of the sheet in turn, also of a damaged one; the stamp reads a changed file again.
@lru_cache(maxsize=1)
def _sheet(path: Path, stamp: Stamp) -> ReleasedSheet | DataError:
    try:
        return released.load(path)
    except IsoglossError as error:
        return DataError(error.what, where=error.where, fix=error.fix or _FIX)


@lru_cache(maxsize=1)
def _names(path: Path, stamp: Stamp) -> ReleasedNames:
    return given_names(path)


def _names_of(split: SplitFiles) -> ReleasedNames:
    path = names_in(split.root)
    if path is None:
        what = f"no names for {split.task.id} in {split.root}"
        fix = f"{_FIX}, or point --data at a folder with one of: {', '.join(NAMES_FILES)}"
        raise MissingDataError(what, fix=fix, cause=f"no names in {split.root}")
    packed = resolve(path) or path
    split.read.append(packed)
    return _names(path, stamp(packed))


def _check_shape(sheet: ReleasedSheet, split: SplitFiles, test: str) -> None:
    """Raise an error if the sheet lacks the language or the test, or if the test has lost or gained rows."""
    if split.language not in sheet.languages or test not in sheet.tests:
        missing = f"column {split.language}" if split.language not in sheet.languages else f"test {test!r}"
        raise DataError(f"missing {missing}", where=str(sheet.path), fix=_FIX)
    translation, expected = sheet.translation(split.language, test), split.task.expected(split.language, "test")
    contexts, questions = len(translation.contexts), len(translation.questions)
    if contexts * questions * CASES != expected:
        shape = f"{contexts} contexts and {questions} questions, so {contexts * questions} examples per case"
        raise DataError(f"{test} has {shape} instead of {(expected or 0) // CASES}", where=str(sheet.path), fix=_FIX)
