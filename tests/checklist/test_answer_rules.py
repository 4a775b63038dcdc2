"""Mechanisms of the fair rule: spelling classes and their guard, the person compared to, required words."""

import json
from pathlib import Path

import pytest

from checklist.test_answer_lists import right_answers
from isogloss.checklist.matching import fair_rule
from isogloss.checklist.right_answer import RightAnswer
from isogloss.explain.analysis import explain
from isogloss.tables.explain_tables import analysis_tables
from isogloss.tasks.kinds import judge
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task

MORE, LESS = "comparisons-0000-00", "comparisons-0000-01"


def made(language: str, accepted: str, wrong: str) -> RightAnswer:
    context = f"{accepted} x. {wrong} y."
    return RightAnswer((accepted,), (wrong,), context, "?", accepted, "")


@pytest.mark.parametrize(
    ("answer", "spelling"),
    [("Jürgen", ""), ("jürgen.", ""), ("Juergen", "ascii"), ("Jurgen", "no-diacritics"), ("Jargen", None)],
)
def test_spelling_classes_are_tried_in_turn(answer: str, spelling: str | None) -> None:
    assert fair_rule("de").accepted_as(answer, made("de", "Jürgen", "Anna")) == spelling


def test_spelling_class_that_merges_two_answers_is_not_used() -> None:
    rule = fair_rule("de")
    right = made("de", "Jörg", "Jorg")
    assert rule.accepted_as("Joerg", right) == "ascii"  # Jorg stays Jorg
    assert rule.accepted_as("Jorg", right) is None
    assert rule.accepted_as("jorg", right) is None
    assert rule.accepted_as("Joerg", made("de", "Jörg", "Joerg")) is None
    assert rule.accepted_as("jorg", made("de", "Jörg", "Anna")) == "no-diacritics"


def test_spelling_class_that_merges_an_answer_with_another_word_is_not_used() -> None:
    """In Turkish without diacritics, "on" would be any word that differs in marks only."""
    rule = fair_rule("tr")
    for lexicon, words in rule._speaker.answer_forms.items():
        if lexicon == "name":
            continue
        by_form: dict[str, set[str]] = {}
        [typed] = rule._typed
        for concept, forms in words.items():
            for form in forms:
                by_form.setdefault(typed.text.bare(form), set()).add(concept)
        for forms in words.values():
            merged = any(len(by_form[typed.text.bare(form)]) > 1 for form in forms)
            right = RightAnswer(tuple(forms), (), f"{forms[0]}.", "?", forms[0], "")
            plain = typed.text.folded(forms[0])
            if plain != rule.text.folded(forms[0]):
                assert (rule.accepted_as(plain, right) == "no-diacritics") != merged, forms


def test_spellings_are_counted_in_a_note() -> None:
    name = "checklist-comparisons"
    examples = load(task(name), "de", "test", None)
    answers = [gold[0].replace("ü", "ue").replace("ö", "oe").replace("ä", "ae") for gold in examples["answers"]]
    changed = sum(answer != gold[0] for answer, gold in zip(answers, examples["answers"], strict=True))
    judgement = judge(task(name), examples, answers)
    assert judgement.metrics["error"].score == 0.0
    assert changed > 0
    assert f"{changed} answers accepted in the spelling ascii" in judgement.notes


@pytest.mark.parametrize(
    ("language", "example", "answer", "right"),
    [
        ("en", MORE, "Nancy is more famous than Karen", True),
        ("en", MORE, "than Nancy", False),
        ("en", MORE, "more famous than Nancy", False),
        ("en", MORE, "Karen is more famous than Nancy", False),
        ("en", LESS, "Nancy is more famous than Karen", False),
        ("en", LESS, "Karen is less famous than Nancy", True),
        ("en", LESS, "Nancy is less famous than Karen", False),
        ("de", MORE, "berühmter als Petra", False),
        ("de", MORE, "Petra ist berühmter als Sabine", True),
        ("tr", MORE, "Büşra'dan", False),
        ("tr", MORE, "Büşra'dır", True),
        ("ko", MORE, "수아보다", False),
        ("ko", MORE, "수아입니다", True),
        ("ja", MORE, "真由より", False),
        ("ja", MORE, "真由です", True),
        ("zh", MORE, "比佳怡", False),
        ("zh", MORE, "佳怡比婷婷有名", True),
        ("sw", MORE, "kuliko Mwanahamisi", False),
    ],
)
def test_person_compared_to_is_not_the_answer(language: str, example: str, answer: str, right: bool) -> None:
    assert fair_rule(language).is_right(answer, right_answers(language, {example})[example]) is right


@pytest.mark.parametrize(
    ("language", "answer", "right"),
    [
        ("en", "Karen is less famous", True),
        ("en", "Karen is famous", False),
        ("en", "Karen is not as famous", True),
        ("en", "Karen is as famous", False),
        ("sw", "Saida si maarufu kama mwenzake", True),
        ("sw", "Saida ni maarufu kama mwenzake", False),
        ("ja", "もう一人ほど有名ではないのは直美です", True),
        ("ja", "もう一人ほど有名なのは直美です", False),
        ("zh", "婷婷没有另一个人那么有名", True),
        ("zh", "婷婷有另一个人那么有名", False),
        ("yo", "Dọlápọ̀ ni kò lókìkí tó ẹnì kejì", True),
        ("yo", "Dọlápọ̀ ni ó lókìkí tó ẹnì kejì", False),
        ("tr", "Gül daha az ünlü", True),
        ("tr", "Gül daha ünlü", False),
    ],
)
def test_words_that_distinguish_the_question_are_required(language: str, answer: str, right: bool) -> None:
    assert fair_rule(language).is_right(answer, right_answers(language, {LESS})[LESS]) is right


@pytest.mark.parametrize(
    "wrong",
    [
        "Nancy or Karen", "not Nancy", "Nancy? No, Karen.", "**Nancy** and **Karen**", "1. Nancy\n2. Karen",
        "It could be Nancy or Karen.", "Karen", "Nancy is more famous than Karen. Karen is more famous.",
        "**Karen** Nancy", '{"answer": ["Nancy", "Karen"]}', "\\boxed{Nancy} \\boxed{Karen}",
        "<answer>Karen</answer> Nancy", "<think>Nancy</think>", "<think>Nancy", "Answer: Nancy\nAnswer: Karen",
        "Neither Nancy nor Karen", "I do not know whether it is Nancy.", "Nancy's sister",
    ],
)  # fmt: skip
def test_adversarial_answers_are_wrong(wrong: str) -> None:
    assert not fair_rule("en").is_right(wrong, right_answers("en", {MORE})[MORE])


def test_long_replies_are_refused_before_they_are_read_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    rule, right = fair_rule("en"), right_answers("en", {MORE})[MORE]
    monkeypatch.setattr(rule, "accepts", pytest.fail)
    for hostile in ("Nancy " * 200_000, "Nancy\n" * 20_000, "<think>" * 100_000, '{"answer":' * 50_000):
        assert rule.accepted_as(hostile, right) is None


def test_explanations_have_the_notes_on_spellings(tmp_path: Path) -> None:
    name = "checklist-comparisons"
    examples = load(task(name), "de", "test", None)
    path = tmp_path / name / "de.jsonl"
    path.parent.mkdir()
    typed = [
        {"id": row, "prediction": gold[0].replace("ü", "ue")}
        for row, gold in zip(examples.ids, examples["answers"], strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in typed))
    analysis = explain(tmp_path, suite="checklist")
    [note] = [note for note in analysis.explanations[0].notes[f"{name}/de"] if "spelling ascii" in note]
    assert any(note in table.notes for table in analysis_tables(analysis))
