"""Every kind of defect is planted and detected."""

import pytest

from isogloss.checklist.audit import TokenRules, audit
from isogloss.grammar.cases import ChecklistCase, ChecklistExample


def kinds(
    context: str, answer: str, question: str = "Who?", language: str = "en", names: tuple[str, ...] = (), **how: object
) -> set[str]:
    example = ChecklistExample(
        case=ChecklistCase(test="comparisons", number=0, slots=()),
        place=0,
        context=context,
        question=question,
        answer=answer,
        people=names,
    )
    rules = TokenRules(language=language, **how)  # type: ignore[arg-type]
    return {finding.kind for finding in audit([example], rules).defects}


def test_fair_example_has_no_finding() -> None:
    assert kinds("Ann is older than Bea.", "Ann", names=("Ann", "Bea")) == set()


@pytest.mark.parametrize(
    ("context", "answer", "expected"),
    [
        ("Ann is older than Bea.", "Cay", {"absent", "unreachable"}),
        ("Annabel is older than Bea.", "Ann", {"not-a-span", "unreachable"}),
        ("Ann is older than Ann.", "Ann", {"ambiguous"}),
        ("{a} is older than Bea.", "Bea", {"unfilled"}),
        ("ann is older than Bea.", "Bea", {"capital"}),
        ("Ann sleeps. she is older than Bea.", "Bea", {"capital"}),
        ("Аня is older than Bea.", "Bea", {"script"}),
    ],
)
def test_planted_defects(context: str, answer: str, expected: set[str]) -> None:
    assert kinds(context, answer) == expected


def test_two_people_of_one_name() -> None:
    assert kinds("Ann is older than Bea.", "Ann", names=("Ann", "Ann")) == {"same-name"}


def test_english_left_in_another_script() -> None:
    assert kinds("Иван is здесь.", "Иван", "Кто?", "ru") == {"english"}


def test_attached_affixes_are_not_defects() -> None:
    assert kinds("민준이 왔다.", "민준", "누가?", "ko") == {"not-a-span", "unreachable"}
    assert kinds("민준이 왔다.", "민준", "누가?", "ko", particles=("이", "가")) == set()
    assert kinds("小明来了。", "小明", "谁？", "zh") == set()


def test_papers_pipeline_cuts_at_blanks_only() -> None:
    assert kinds("Ann is older than Bea.", "Bea", mode="paper") == set()
    assert kinds("Ann's dog saw Bea.", "Ann", mode="paper") == {"unreachable"}
    assert kinds("Ann's dog saw Bea.", "Ann") == set()
