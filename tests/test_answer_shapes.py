"""Units of answers in the shapes that language models give them."""

import sys
from collections.abc import Callable

import pytest

from isogloss.answer_shapes import Unit, answer_units, sentence_units, sentences


def texts(text: str, language: str = "en") -> list[str]:
    return [unit.text for unit in answer_units(text, language)]


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: Ann",
        "**Answer:** Ann",
        "Final answer:\nAnn",
        "### Answer\n\nAnn",
        "The answer is Ann",
        "The answer is **Ann**",
        "Therefore, the answer is: Ann",
        "Based on the passage, the answer is: Ann",
        '{"answer": "Ann"}',
        '{"reasoning": "Bea is younger", "answer": "Ann"}',
        '```json\n{"answer": "Ann"}\n```',
        '["Ann"]',
        '"Ann"',
        "<answer>Ann</answer>",
        "<final_answer>Ann</final_answer>",
        "<ANSWER>\nAnn",
        "<think>Bea?</think><answer>Ann</answer>",
    ],
)
def test_marked_answers_are_explicit(reply: str) -> None:
    assert [(unit.text, unit.explicit) for unit in answer_units(reply, "en")] == [("Ann", True)]


@pytest.mark.parametrize(
    "reply",
    [
        "Ann",
        "  Ann\n",
        "1. Ann",
        "- Ann",
        "> Ann",
        "(a) Ann",
        "* **Ann**",
        "`Ann`",
        "<b>Ann</b>",
        "```\nAnn\n```",
        "Based on the passage, Ann",
        "According to the text: Ann",
        "<think>Is it Bea? No.</think>\n\nAnn",
        "Is it Bea? No.</think>Ann",
        "<think>one<think>two</think>three</think>Ann",
        "\ufeffAnn\u200b",
    ],
)
def test_wrappings_are_removed(reply: str) -> None:
    assert [(unit.text, unit.explicit) for unit in answer_units(reply, "en")] == [("Ann", False)]


@pytest.mark.parametrize(
    ("reply", "language", "text"),
    [
        ("Antwort: Ann", "de", "Ann"),
        ("Answer: Ann", "de", "Ann"),  # English labels apply in every language
        ("Respuesta: Ann", "es", "Ann"),
        ("Laut dem Text, Ann", "de", "Ann"),
        ("الإجابة: آن", "ar", "آن"),
        ("答案：安", "zh", "安"),
        ("答案是安", "zh", "安"),
    ],
)
def test_labels_of_languages(reply: str, language: str, text: str) -> None:
    assert texts(reply, language) == [text]


@pytest.mark.parametrize(
    ("reply", "units"),
    [
        ("Ann\nBea", ["Ann", "Bea"]),
        ("1. Ann\n2. Bea", ["Ann", "Bea"]),
        ('["Ann", "Bea"]', ["Ann", "Bea"]),
        ("<answer>Ann</answer><answer>Bea</answer>", ["Ann", "Bea"]),
        ("\\boxed{Ann} or \\boxed{Bea}", ["Ann", "Bea", "Ann or Bea"]),
        ("Answer: Ann\nAnswer: Bea", ["Ann", "Bea"]),
        ("Ann or Bea", ["Ann or Bea"]),
        ("not Ann", ["not Ann"]),
        ("Ann? No, Bea", ["Ann? No, Bea"]),
        ("<answer>Ann</answer>\nBea", ["Ann", "Bea"]),
        ('{"Ann": 1, "Bea": 2}', ['{"Ann": 1, "Bea": 2}']),  # no key says which is the answer
        ("answering Ann", ["answering Ann"]),  # a label ends with its word
        ("The answer isn't Ann", ["The answer isn't Ann"]),
    ],
)
def test_nothing_is_guessed(reply: str, units: list[str]) -> None:
    assert texts(reply) == units


@pytest.mark.parametrize("reply", ["", " \n", "<think>Ann", "```\n```", "Answer:", "**", "<answer></answer>"])
def test_replies_without_an_answer(reply: str) -> None:
    assert [text for text in texts(reply) if text.strip("*")] == []


def test_boxes_and_strong_spans() -> None:
    boxed, plain = answer_units(r"So $\boxed{\text{Ann}}$.", "en")
    assert boxed == Unit("Ann", explicit=True)
    assert plain.text == "Ann."
    assert answer_units("**Ann** is older than *Bea*", "en")[0].strong == ("Ann", "Bea")
    # A label in bold is not an emphasised answer.
    assert answer_units("**Answer:** Ann", "en")[0].strong == ()
    assert texts("snake_case_name = 2 * 3") == ["snake_case_name = 2  3"]  # underscores within words stay


def test_sentences() -> None:
    assert sentences("Ann. She is older! 安更大。对。") == ["Ann.", "She is older!", "安更大。", "对。"]
    units = sentence_units("Bea is young. Therefore, the answer is: Ann", "en")
    assert [(unit.text, unit.explicit) for unit in units] == [("Bea is young.", False), ("Ann", True)]
    units = sentence_units("Answer: Ann. Bea is young.", "en")
    assert [(unit.text, unit.explicit) for unit in units] == [("Ann.", True), ("Bea is young.", False)]


def calls(function: Callable[[], object]) -> int:
    """Count the calls of Python and C functions."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


HOSTILE = [
    "<think>", "</think>", "<answer>", "</answer>", "<think></think>", "\\boxed{", "\\boxed{}", "}", "{", "[", '{"a":',
    '"', "**", "*a", "_a_", "`", "<b>", "~~~\n", "```\n", "1. ", "> ", "- ", "# ", "a\n", "\n", ". ", "?", "Answer: ",
    "answer is ", "so ", "Based on the passage, ", " ", "\u200b", "\\text{", "$", "\u0301", "字",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_effort_grows_with_the_text_and_no_faster(piece: str) -> None:
    """Count operations on hostile texts of two sizes; quadratic effort would grow sixteenfold."""
    small, large = piece * 500, piece * 2_000
    few = calls(lambda: sentence_units(small, "en"))
    many = calls(lambda: sentence_units(large, "en"))
    assert many <= 4.5 * few + 200


def test_megabytes_are_read() -> None:
    for piece in ("<think>", "\\boxed{", "**a** ", '{"answer": ', "Answer: x\n"):
        answer_units(piece * (1_000_000 // len(piece)), "en")
