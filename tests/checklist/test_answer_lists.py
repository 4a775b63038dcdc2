"""Natural right and wrong answers, written without knowledge of the language files, in every language.

`answers/<code>.tsv` has the example, the verdict, the shape of the answer, the answer (with `\\n` for a line break)
and a note. The verdict `refused` marks a right answer that the rule knowingly refuses, such as a free paraphrase. It
counts as refused only as long as it is: an answer that the rule learns to accept becomes `right`.
"""

from pathlib import Path

import pytest

from isogloss.checklist.matching import fair_rule
from isogloss.checklist.right_answer import RightAnswer, right_answer
from isogloss.checklist.shipped import find_case
from isogloss.grammar.cases import examples, opposites, statements
from isogloss.grammar.file import grammar

LISTS = Path(__file__).parent / "answers"
HEADER = ["example", "verdict", "shape", "answer", "note"]
MOST_REFUSED = 5


def listed_answers(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a list with their numbers."""
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    assert lines[0] == HEADER, path
    return list(enumerate(lines[1:], 2))


def right_answers(code: str, ids: set[str]) -> dict[str, RightAnswer]:
    """Return the right answers of the listed examples; only their cases are built."""
    found: dict[str, RightAnswer] = {}
    speaker = grammar(code)
    for case in (find_case(name) for name in {example.rpartition("-")[0] for example in ids}):
        opposite, about = opposites(case, speaker), statements(case, speaker)
        for example in examples(case, speaker):
            question = example.place % len(opposite)
            found[example.id] = right_answer(example, opposite[question], about[question])
    return found


@pytest.mark.parametrize("path", sorted(LISTS.glob("*.tsv")), ids=lambda path: path.stem)
def test_listed_answers(path: Path) -> None:
    listed = listed_answers(path)
    right = right_answers(path.stem, {line[0] for _, line in listed})
    faults = []
    for number, (example, verdict, shape, answer, note) in listed:
        assert verdict in ("right", "wrong", "refused"), f"{path.name}:{number}"
        accepted = fair_rule(path.stem).is_right(answer.replace("\\n", "\n"), right[example])
        if accepted != (verdict == "right"):
            asked = f"{right[example].context} {right[example].question}"
            faults.append(f"{path.name}:{number}: {verdict} ({shape}): {answer!r} to {asked!r}; {note}")
    refused = sum(line[1] == "refused" for _, line in listed)
    assert refused <= MOST_REFUSED, f"{path.name}: {refused} right answers are refused, at most {MOST_REFUSED} may be"
    assert not faults, "\n".join([f"{len(faults)} of {len(listed)} answers are scored incorrectly", *faults])
