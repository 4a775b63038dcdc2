"""Are these answers to these examples? By number, by id, and by the texts that the tool's files quote."""

from isogloss.errors import PredictionError
from isogloss.predictions.align import align
from isogloss.predictions.importers.base import ImportedAnswers, Target, alike, shown
from isogloss.predictions.problems import Problem
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import SPLITS


def check(target: Target, found: ImportedAnswers) -> None:
    """Refuse answers that are not the cell's; what could not be checked becomes a note."""
    if not found.ids:
        raise PredictionError("there is no answer in it", where=str(found.path))
    _refuse_repeats(found)
    _refuse_other_split(target, found)
    if target.examples is None:
        found.notes.append("ids and texts were not checked against the examples: no --data")
        return
    _refuse_other_ids(target, target.examples, found)
    _refuse_other_texts(target, target.examples, found)
    _, problems = align(target.task, target.examples, found)
    _refuse_problems(problems)
    found.notes += [f"{problem.what}. {problem.fix}" for problem in problems]


def _refuse_problems(problems: list[Problem]) -> None:
    errors = [problem for problem in problems if not problem.warning]
    if errors:
        more = f" (and {len(errors) - 1} more problems)" if len(errors) > 1 else ""
        raise PredictionError(errors[0].what + more, where=errors[0].where, fix=errors[0].fix)


def _refuse_repeats(found: ImportedAnswers) -> None:
    first: dict[str, int] = {}
    for row, identifier in enumerate(found.ids):
        if first.setdefault(identifier, row) != row:
            what = f"a second answer to {identifier!r}, the first is at {found.where(first[identifier])}"
            raise PredictionError(what, where=found.where(row), fix="Keep one answer to each example")


def _refuse_other_split(target: Target, found: ImportedAnswers) -> None:
    """The number of answers is often enough to see that a file is of another split."""
    expected = target.task.expected(target.language, target.split)
    count = len(found.ids)
    others = [split for split in SPLITS if target.task.expected(target.language, split) == count]
    if expected is not None and expected != count and others:
        what = f"{count} answers, as many as {others[0]} has; {target.name} has {expected} examples"
        raise PredictionError(what, where=found.where(0), fix=f"--split {others[0]}")


def _refuse_other_ids(target: Target, examples: Examples, found: ImportedAnswers) -> None:
    """Unknown ids are passed over in some tasks, but not if there are no others."""
    if not set(examples.ids).intersection(found.ids):
        what = f"none of the {len(found.ids)} ids is of {target.name}: {shown(found.ids[0])}, not {examples.ids[0]!r}"
        raise PredictionError(what, where=found.where(0), fix="Is this the right task, language and split?")


def _refuse_other_texts(target: Target, examples: Examples, found: ImportedAnswers) -> None:
    """The texts the file quotes must be the examples', but for blanks, punctuation and case."""
    rows = {identifier: row for row, identifier in enumerate(examples.ids)}
    places = {identifier: row for row, identifier in enumerate(found.ids)}
    rewritten = 0
    for column, quotes in found.evidence.items():
        if column not in examples.columns or (column == examples.gold and target.kind.placeholder(examples)):
            continue
        real = examples[column]
        pairs = [(key, text, str(real[rows[key]])) for key, text in quotes.items() if key in rows]
        wrong = [pair for pair in pairs if not alike(pair[1], pair[2])]
        if wrong:
            key, text, other = wrong[0]
            what = f"{column} of {key!r} is {shown(text)} here but {shown(other)} in {target.name}"
            more = f" ({len(wrong)} of {len(pairs)} examples differ)" if len(wrong) > 1 else ""
            fix = "Is this the right language and split, with the rows in the dataset's order?"
            raise PredictionError(what + more, where=found.where(places[key]), fix=fix)
        rewritten = max(rewritten, sum(text != other for _, text, other in pairs))
    if rewritten:
        of_answers = "answers are kept as they are and may score other than in the tool"
        of_texts = "lengths and overlaps of the data's own texts may be other than in the tool"
        note = of_answers if target.kind.form == "answer" else of_texts
        found.notes.append(f"the tool rewrote blanks, punctuation or case in {rewritten} examples; {note}")
