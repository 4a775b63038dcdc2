"""Free-text replies read as answers: made ones in every form, and real ones of language models."""

import csv
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from isogloss import answer_shapes
from isogloss.tasks.kinds import Reply, kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task


def read(
    task: str, *replies: str, language: str = "en", spellings: dict[str, str] | None = None, **inputs: object
) -> list[object]:
    asked = [Reply(text, inputs) for text in replies]
    readings = kind_of(find_task(task)).read_replies(find_task(task), language, asked, spellings or {})
    assert all((reading.answer is None) is not reading.outcome.is_answer for reading in readings)
    return [reading.answer for reading in readings]


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("neutral", "neutral"),
        ("**Entailment.**", "entailment"),
        ("Label: Contradiction", "contradiction"),
        ('{"label": "neutral", "reason": "no entailment or contradiction"}', "neutral"),
        ("<think>Is it entailment?</think>neutral", "neutral"),
        ("The answer is contradictory.", "contradiction"),  # a synonym that the task declares
        ("This is a case of entailment.", "entailment"),
        ("It is not entailment but neutral.", "neutral"),
        ("Entailment? No. The answer is neutral", "neutral"),
        ("I considered contradiction.\nFinal answer: neutral", "neutral"),
        ("not entailment", None),
        ("It isn't neutral.", None),
        ("entailment or neutral", None),
        ("neutral, or possibly entailment", None),
        ("neutral\nentailment", None),
        ("It could be neutral.", None),
        ("The answer is: none of these. I first thought of neutral.", None),
        ("neither entailment nor contradiction", None),
        ("Is it neutral?", None),
        ("The hypothesis contradicts the premise.", None),  # a form that the task does not declare
        ("Das ist kein entailment", None),
        ("I cannot help with that.", None),
        ("", None),
        ("neutral " * 100_000, None),
    ],
)
def test_labels(reply: str, label: str | None) -> None:
    assert read("xnli", reply, language="de") == [label]


def test_labels_of_one_letter_count_only_alone() -> None:
    assert read("pawsx", "1", "Answer: 0", '"1"', "1 of the 2 sentences differs") == ["1", "0", "1", None]
    assert read("pawsx", "Yes", "No.", "maybe") == [None, None, None]
    assert read("pawsx", "Yes", "No.", "maybe", spellings={"yes": "1", "no": "0"}) == ["1", "0", None]


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("No, they do not.", "0"),
        ("Yes, there is no difference.", "1"),
        ("The sentences do not mean the same, so no.", "0"),
        ("No, because the order is not the same.", "0"),
        ("yes/no", None),
        ("Yes and no", None),
        ("They do not mean the same.", None),
    ],
)
def test_labels_that_are_negations(reply: str, label: str | None) -> None:
    assert read("pawsx", reply, spellings={"yes": "1", "no": "0"}) == [label]


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("It is unclear whether the hypothesis is true.", "neutral"),
        ("It is neither true nor false; it is unclear.", "neutral"),
        ("The hypothesis is not true.", None),
        ("It could be true, but it is unclear.", None),
    ],
)
def test_labels_that_express_doubt(reply: str, label: str | None) -> None:
    words = {"true": "entailment", "unclear": "neutral", "false": "contradiction"}
    assert read("xnli", reply, spellings=words) == [label]


CHOICES = ("It was fragile.", "It was small.")


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("A", 0),
        ("(B)", 1),
        ("B: It was small.", 1),
        ("Option B", 1),
        ("choice1", 0),
        ("The second option.", 1),
        ("It was small", 1),
        ("1. It was fragile.", 0),
        ('I think "it was fragile" is more plausible.', 0),
        ("<think>A or B?</think> The answer is **B**.", 1),
        ("A: It was small.", None),  # letter and text disagree
        ("It was fragile. It was small.", None),
        ('"It was fragile." was wrapped, so it\nwas small is wrong', None),
        ("It was not true that it was small.", None),
        ("The answer is: none of the above. The first option is: it was fragile.", None),
        ("A or B", None),
        ("Z", None),
        ("1", None),  # counted from 0 or from 1?
    ],
)
def test_choices(reply: str, choice: int | None) -> None:
    assert read("xcopa", reply, choices=CHOICES) == [choice]


def test_numbers_of_choices_count_from_where_the_replies_do() -> None:
    assert read("xcopa", "1", "0", "Answer: 1", "B", choices=CHOICES) == [1, 0, 1, 1]
    assert read("xcopa", "1", "2", "option 1", "B", choices=CHOICES) == [0, 1, 0, 1]
    assert read("xcopa", "1", "2", "0", "B", choices=CHOICES) == [None, None, None, 1]
    assert read("xcopa", "1", "2", "0", choices=CHOICES, spellings={"1": "0", "2": "1"}) == [0, 1, 0]
    assert read("xcopa", "1", "0") == [1, 0]  # without the examples
    assert read("xcopa", "1", "2") == [None, None]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("308", "308"),
        ("Answer: 308", "308"),
        ("Based on the passage, 308 points", "308 points"),
        ("Carolina gave up few points.\n\n**Answer:** 308", "308"),
        ("1. FC Köln", "1. FC Köln"),
        ("", None),
        ("308\n309", None),
        ("Answer: 308\nAnswer: 309", None),
        ("<think>308", None),
    ],
)
def test_answers_to_questions(reply: str, answer: str | None) -> None:
    assert read("xquad", reply) == [answer]


def test_tags() -> None:
    tokens = ["Anna", "sleeps"]
    assert read("udpos", '["PROPN", "VERB"]', "PROPN VERB", "PROPN, VERB", "PROPN", "Anna sleeps", tokens=tokens) == [
        ["PROPN", "VERB"], ["PROPN", "VERB"], ["PROPN", "VERB"], None, None,
    ]  # fmt: skip


def test_kinds_without_written_answers_read_none() -> None:
    assert read("tatoeba", "7") == [None]


def outcome(task: str, text: str, language: str = "en", **inputs: object) -> str:
    (reading,) = kind_of(find_task(task)).read_replies(find_task(task), language, [Reply(text, inputs)], {})
    return str(reading.outcome)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", "strict"),
        ("(b).", "strict"),
        ("It was small.", "strict"),
        ("The second option", "strict"),
        ("B: It was small.", "tolerant"),
        ("The answer is A.", "tolerant"),
        ("A. B.", "several"),
        ("It was fragile. It was small.", "several"),
        ("I cannot decide without more context.", "refusal"),
        ("Neither option makes sense.", "none"),
        ("None of the\noptions.", "none"),
        ("It was heavy.", "unparsed"),
        ("1", "unparsed"),  # counted from 0 or from 1?
        ("", "empty"),
    ],
)
def test_outcomes_of_choices(text: str, expected: str) -> None:
    assert outcome("xcopa", text, choices=CHOICES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("308", "strict"),
        ('"308."', "strict"),
        ("Answer: 308", "tolerant"),
        ("I'm sorry, but the passage does not say.", "refusal"),
        ("I cannot find it.\nAnswer: 308", "tolerant"),
        ("I cannot find it.\nPlease ask again.", "refusal"),
        ("cannot swim", "strict"),  # only the beginning of a refusal is one
        ("308\n309", "several"),
        ("<think>308", "unparsed"),
        (" ", "empty"),
    ],
)
def test_outcomes_of_answers(text: str, expected: str) -> None:
    assert outcome("xquad", text) == expected


def test_outcomes_of_tags_and_of_checklists() -> None:
    tokens = ["Anna", "sleeps"]
    assert outcome("udpos", '["PROPN", "VERB"]', tokens=tokens) == "strict"
    assert outcome("udpos", "PROPN VERB", tokens=tokens) == "strict"
    assert outcome("udpos", "Tags:\n**Answer:** PROPN VERB", tokens=tokens) == "tolerant"
    assert outcome("udpos", "PROPN", tokens=tokens) == "unparsed"
    assert outcome("udpos", "I am unable to tag this.", tokens=tokens) == "refusal"
    # Checklists keep the whole reply, which the rule reads with the context.
    task = find_task("checklist-comparisons")
    replies = [Reply("Ann"), Reply("The answer is Ann."), Reply(""), Reply("", cut=True)]
    assert [tuple(reading) for reading in kind_of(task).read_replies(task, "en", replies, {})] == [
        ("Ann", "strict"), ("The answer is Ann.", "tolerant"), (None, "empty"), (None, "cut"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("prompt", "parsed", "accuracy", "outcomes"),
    [
        ("direct", 496, 0.630, {"strict": 496, "refusal": 3, "none": 1}),
        ("cot", 455, 0.726, {"tolerant": 455, "refusal": 1, "none": 43, "unparsed": 1}),
    ],
)
def test_real_choices_agree_with_published_ones(
    data_dir: Path, prompt: str, parsed: int, accuracy: float, outcomes: dict[str, int]
) -> None:
    path = data_dir / "mega_gpt35" / "xcopa" / f"ht-{prompt}.csv"
    if not path.exists():
        pytest.skip("needs the published answers")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    task = find_task("xcopa")
    choices = load(task, "ht", "test", data_dir)["choices"]
    replies = [
        Reply(row["Prediction With Explanation"], {"choices": choice})
        for row, choice in zip(rows, choices, strict=True)
    ]
    readings = kind_of(task).read_replies(task, "ht", replies, {})
    read_back = [reading.answer for reading in readings]
    assert Counter(reading.outcome for reading in readings) == outcomes
    # Unread replies refuse to choose; the published reading of them is a sentence or nothing, never 0 or 1.
    published = [int(row["Prediction"]) if row["Prediction"] in "01" and row["Prediction"] else None for row in rows]
    assert [row for row, pair in enumerate(zip(read_back, published, strict=True)) if pair[0] != pair[1]] == []
    assert sum(answer is not None for answer in read_back) == parsed
    assert sum(answer == int(row["Label"]) for answer, row in zip(read_back, rows, strict=True)) == accuracy * 500


@pytest.fixture
def phrases(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Folder of phrases, read instead of the shipped ones."""
    cached = (answer_shapes._shipped, answer_shapes._of_prompts, answer_shapes.silence_phrases, answer_shapes._phrases)
    monkeypatch.setattr(answer_shapes, "files", lambda package: tmp_path)
    for function in cached:
        function.cache_clear()
    yield tmp_path
    for function in cached:
        function.cache_clear()


def test_phrases_of_prompts_count_in_their_language(phrases: Path) -> None:
    words = '[replies]\nrefusal = ["nenesi mi povas"]\nnone = ["neniu el tiuj"]\n'
    (phrases / "prompts" / "literals").mkdir(parents=True)
    (phrases / "prompts" / "literals" / "eo.toml").write_text(words, encoding="utf-8")
    (phrases / "answer_shapes.toml").write_text('[en]\nrefusals = ["unable to"]\n', encoding="utf-8")
    assert outcome("xnli", "Nenesi mi povas respondi.", "eo") == "refusal"
    assert outcome("xnli", "Nenesi mi povas: neniu el tiuj.", "eo") == "none"
    assert outcome("xnli", "I am unable to answer.", "eo") == "refusal"
    assert outcome("xquad", "Nenesi mi povas respondi.", "eo") == "refusal"
    assert outcome("xnli", "Nenesi mi povas respondi.", "de") == "unparsed"
