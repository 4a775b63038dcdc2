"""Consistency: small grids computed by hand, prediction files, clusters, and invalid input."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.analysis.consistency import consistency
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.scoring.request import Request

pytestmark = pytest.mark.filterwarnings("error")

LABELS = ("entailment", "neutral", "contradiction")


def wrong(label: str) -> str:
    return LABELS[(LABELS.index(label) + 1) % 3]


def answered(task: str, rights: Mapping[str, str]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return answers that are right where a language's repeated pattern has a 1."""
    languages = {}
    for code, pattern in rights.items():
        examples = isogloss.load(task, code)
        gold = examples[examples.gold]
        ones = [pattern[row % len(pattern)] == "1" for row in range(len(examples))]
        languages[code] = {
            name: right if one else wrong(right) for name, right, one in zip(examples.ids, gold, ones, strict=True)
        }
    return {task: languages}


def finding_of(*systems: Any, tasks: str = "mini-xnli", **options: Any) -> Finding:
    return consistency(systems, Request.of("mini", tasks=[tasks]), **options)


def only(finding: Finding, table: str, **where: Any) -> dict[str, Any]:
    [row] = [row for row in finding.table(table).records() if where.items() <= row.items()]
    return row


def test_right_given_english_by_hand() -> None:
    # Of six: English has four right, German three of these four and one of the other two.
    finding = finding_of(answered("mini-xnli", {"en": "111100", "de": "111010", "sw": "111100"}))
    german = only(finding, "given-pivot", language="de")
    assert (german["n"], german["pivot_right"], german["right"]) == (60, pytest.approx(400 / 6), pytest.approx(400 / 6))
    assert (german["if_right"], german["if_wrong"], german["gain"]) == pytest.approx((75, 50, 25))
    assert german["if_right_low"] < 75 < german["if_right_high"]
    agreed = only(finding, "agreement", language="de")
    assert agreed["same_outcome"] == pytest.approx(400 / 6)
    assert agreed["outcome_chance"] == pytest.approx(100 * (4 / 6 * 4 / 6 + 2 / 6 * 2 / 6))
    assert agreed["outcome_kappa"] == pytest.approx((4 / 6 - 5 / 9) / (4 / 9))
    assert agreed["outcome_kappa_low"] < agreed["outcome_kappa"] < agreed["outcome_kappa_high"]
    same = only(finding, "agreement", language="sw")
    assert (same["outcome_kappa"], same["same_answer"], same["answer_kappa"]) == (1, 100, 1)
    whole = only(finding, "given-pivot", language="mean")
    assert (whole["if_right"], whole["if_wrong"]) == pytest.approx((87.5, 25))
    assert only(finding, "agreement", language="mean")["outcome_kappa"] == pytest.approx((1 + 0.25) / 2)
    assert "is right in the other languages on 87.5 %" in finding.reading


def test_the_same_question_in_all_languages() -> None:
    finding = finding_of(answered("mini-xnli", {"en": "111100", "de": "111010", "sw": "111100"}))
    rows = list(finding.table("right-in").records())
    assert [(row["right_in"], row["n"]) for row in rows] == [(0, 10), (1, 10), (2, 10), (3, 30)]
    assert [row["share"] for row in rows] == pytest.approx([100 / 6, 100 / 6, 100 / 6, 50])
    assert [row["independent"] for row in rows] == pytest.approx([100 / 27, 600 / 27, 1200 / 27, 800 / 27])
    # Pairs that agree: 1, 1/3, 1/3, 1 of 1, 1, 1, 3 sixths.
    assert rows[0]["kappa"] == pytest.approx((1 / 6 + 1 / 18 + 1 / 18 + 1 / 2 - 5 / 9) / (4 / 9))


def test_candidates_fail_in_all_systems() -> None:
    first = answered("mini-xnli", {"en": "111100", "de": "111010", "sw": "110110"})
    second = answered("mini-xnli", {"en": "111100", "de": "111110", "sw": "110100"})
    finding = finding_of(first, second)
    broken, lonely = finding.table("failed-everywhere").records(), finding.table("failed-in-one").records()
    assert [row["id"] for row in broken] == [f"test-{row}" for row in range(5, 60, 6)]
    assert {(row["cells"], row["times"]) for row in broken} == {(6, 6)}
    texts = isogloss.load("mini-xnli", "en")
    assert broken[0]["text"] == f"{texts['text_a'][5]} {texts['text_b'][5]}"
    assert broken[0]["answer"] == wrong(texts["label"][5])
    # Only the first system fails the fourth in German.
    assert {row["language"] for row in lonely} == {"sw"}
    assert [row["id"] for row in lonely] == [f"test-{row}" for row in range(2, 60, 6)]
    assert lonely[0]["elsewhere"] == f"{texts['text_a'][2]} {texts['text_b'][2]}"
    assert only(finding, "one-language", language="sw")["count"] == 10
    assert only(finding, "one-language", language="sw")["share"] == pytest.approx(100 / 6)
    assert "20 items" not in finding.reading
    assert "10 items fail everywhere and 10 in only one language" in finding.reading


def test_one_system_is_noted() -> None:
    finding = finding_of(answered("mini-xnli", {"en": "10", "de": "10"}))
    assert any("With one system" in note for note in finding.notes)
    # With two languages it is unclear which one is the odd one out.
    assert finding.table("failed-in-one").rows == []


def test_different_languages_are_noted() -> None:
    first, second = (
        answered("mini-xnli", {"en": "1100", "de": "1010"}),
        answered("mini-xnli", {"en": "1100", "sw": "1010"}),
    )
    assert any("means are not comparable" in note for note in finding_of(first, second).notes)
    assert not any("means are not comparable" in note for note in finding_of(first, first).notes)


def test_question_answering_is_right_by_exact_match_and_its_answers_are_not_compared() -> None:
    loaded = {code: isogloss.load("mini-xquad", code) for code in ("en", "de")}
    answers = {
        code: {
            name: gold[0] if row % 2 else f"{gold[0]} and more"
            for row, (name, gold) in enumerate(zip(examples.ids, examples["answers"], strict=True))
        }
        for code, examples in loaded.items()
    }
    # Half right is neither right nor failed.
    finding = finding_of({"mini-xquad": answers}, tasks="mini-xquad")
    assert finding.table("failed-everywhere").rows == []
    assert only(finding, "given-pivot", language="de")["right"] == 50
    assert only(finding, "agreement", language="de")["outcome_kappa"] == 1
    assert only(finding, "agreement", language="de")["same_answer"] is None


def test_checklist_items_are_cases() -> None:
    name = "checklist-comparisons"
    answers = {}
    for code in ("en", "de"):
        examples = isogloss.load(name, code)
        answers[code] = {
            example: gold[0] if unit.endswith(("0", "2", "4", "6", "8")) else "?"
            for example, unit, gold in zip(examples.ids, examples.units or [], examples["answers"], strict=True)
        }
    finding = consistency([{name: answers}], Request.of("checklist", tasks=[name]))
    row = only(finding, "given-pivot", language="de")
    assert (row["n"], row["pivot_right"], row["if_right"], row["if_wrong"]) == (200, 50, 100, 0)


def test_english_all_right() -> None:
    finding = finding_of(answered("mini-xnli", {"en": "1", "de": "10"}))
    row = only(finding, "given-pivot", language="de")
    assert (row["if_right"], row["if_wrong"], row["gain"]) == (50, None, None)
    # English never varies, so chance explains all agreement.
    assert only(finding, "agreement", language="de")["outcome_kappa"] == pytest.approx(0)
    constant = finding_of(answered("mini-xnli", {"en": "1", "de": "1"}))
    assert only(constant, "agreement", language="de")["outcome_kappa"] is None


def test_another_pivot() -> None:
    finding = finding_of(answered("mini-xnli", {"sw": "1100", "de": "1010"}), pivot="sw")
    assert only(finding, "given-pivot", language="de")["if_right"] == 50


@pytest.mark.parametrize(
    ("rights", "message"),
    [
        ({"en": "10"}, "no task has answers in two languages"),
        ({"de": "10", "sw": "10"}, "no system has answers in en and in another language. Add en, or choose another"),
    ],
)
def test_too_few_languages(rights: dict[str, str], message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        finding_of(answered("mini-xnli", rights))


def test_tasks_that_are_not_parallel_or_not_right_or_wrong() -> None:
    with pytest.raises(
        AnalysisError, match=r"mini-udpos cannot be analysed this way\. Choose tasks with translated test sets"
    ):
        finding_of({}, tasks="mini-udpos")
    with pytest.raises(AnalysisError, match="no predictions to analyse"):
        finding_of()


def test_real_outputs_of_two_systems(data_dir: Path, tmp_path: Path) -> None:
    """ExplainaBoard's XNLI files: the shares recounted independently from the files."""
    import json
    import lzma

    folder = data_dir / "explainaboard_outputs/multilingual/mt5base/xnli"
    if not folder.is_dir():
        pytest.skip("the data folder has no explainaboard_outputs")
    right = {}
    answers: dict[str, dict[str, str]] = {}
    words = {"Yes": "entailment", "No": "contradiction", "Maybe": "neutral"}
    for code in ("en", "es"):
        [path] = folder.glob(f"test-{code}_*.json.xz")
        with lzma.open(path) as stream:
            rows = json.load(stream)["predictions"]
        right[code] = [row["true_label"] == row["predicted_label"] for row in rows]
        labels = [words.get(row["predicted_label"], row["predicted_label"]) for row in rows]
        answers[code] = {f"test-{row}": label for row, label in enumerate(labels)}
    finding = consistency([{"xnli": answers}], Request.of(tasks=["xnli"], data=data_dir))
    row = only(finding, "given-pivot", language="es")
    both = sum(e and s for e, s in zip(right["en"], right["es"], strict=True))
    assert row["if_right"] == pytest.approx(100 * both / sum(right["en"]))
    assert row["if_wrong"] == pytest.approx(100 * (sum(right["es"]) - both) / (len(right["en"]) - sum(right["en"])))
    # Examples wrong in English are near chance for three labels, as XTREME reports for mBERT.
    assert 30 < row["if_wrong"] < 40
