"""Examples cut in two, and the control's assignment of other examples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.prompts.halves import (
    Halves,
    continuation_request,
    drawn_halves,
    example_halves,
    example_texts,
    halved,
    other_rows,
    without_surplus,
)
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task


@pytest.mark.parametrize(
    ("text", "beginning", "rest"),
    [
        ("one two three four", "one two", "three four"),
        ("  one two\nthree four ", "one two", "three four"),
        ("甲乙丙丁戊己", "甲乙丙", "丁戊己"),
        ("किकिकि", "किकि", "कि"),  # not between a consonant and its vowel sign
        ("abcdefg hij", "abcdefg", "hij"),  # a blank within a quarter of the text
        ("a bcdefghijkl", "a bcde", "fghijkl"),  # the only blank is too far away
        ("", "", ""),
    ],
)
def test_cuts(text: str, beginning: str, rest: str) -> None:
    assert halved(text) == Halves(beginning, rest)


@given(st.text())
def test_no_character_is_lost_but_blanks(text: str) -> None:
    half = halved(text[:200])
    assert "".join((half.beginning + half.rest).split()) == "".join(text[:200].split())


def test_long_rests_are_cut() -> None:
    assert len(halved("x" * 1000).rest) == 200


def test_short_and_known_rests_are_not_used() -> None:
    assert Halves("", "abcdefghijklmnop").is_long_enough
    assert not Halves("", "abcdefghijklmno").is_long_enough
    assert Halves("", "今天天气很好啊我").is_long_enough
    assert not Halves("", "今天天气很好啊").is_long_enough
    assert not Halves("abcdefghijklmnop", "abcdefghijklmnop").is_long_enough
    assert not Halves("and", "abcdefghijklmnop", context="ABCDEFGHIJKL").is_long_enough


def test_others_are_of_other_clusters() -> None:
    assert other_rows(["a", "a", "b", "c"]) == [2, 3, 0, 1]
    assert other_rows(["a", "b", "c"]) == [1, 2, 0]
    assert other_rows([]) == []
    assert without_surplus(["a", "a", "a", "b"]) == [0, 3]
    assert without_surplus(["a", "a"]) == []


@given(st.lists(st.sampled_from("abcd"), max_size=40))
def test_derangements(names: list[str]) -> None:
    kept = [names[row] for row in without_surplus(names)]
    others = other_rows(kept)
    assert sorted(others) == list(range(len(kept)))
    assert all(kept[other] != kept[row] for row, other in enumerate(others))
    if names and 2 * max(map(names.count, names)) <= len(names):
        assert kept == names


def made(name: str, language: str, gold: str, clusters: list[str] | None = None, **columns: list[object]) -> Examples:
    ids = [f"test-{row}" for row in range(len(next(iter(columns.values()))))]
    return Examples(name, language, "test", ids, dict(columns), gold, clusters=clusters)


def test_texts_by_kind() -> None:
    choice = made("xcopa", "sw", "label", premise=["Aliamka."], question=["cause"], choices=[["Saa.", "Usiku."]])
    assert example_texts(task("xcopa"), choice) == ["Aliamka.\nSaa.\nUsiku."]
    pair = made("xnli", "en", "label", text_a=["It rains."], text_b=["It is wet."])
    assert example_texts(task("xnli"), pair) == ["It rains. It is wet."]
    assert example_texts(task("udpos"), made("udpos", "de", "tags", tokens=[["Es", "regnet"]])) == ["Es regnet"]
    assert example_texts(task("udpos"), made("udpos", "zh", "tags", tokens=[["下", "雨"]])) == ["下雨"]
    asked = made("xquad", "en", "answers", question=["Who lives in Rome?"], context=["A passage."])
    [half] = example_halves(task("xquad"), asked)
    assert half == Halves("Who lives", "in Rome?", context="A passage.")
    assert half.shown == "A passage.\nWho lives"


def text_of(number: int) -> str:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima".split()
    return " ".join(f"{words[number * 7 % 12]}{number}{words[(number + step) % 12]}" for step in range(6))


def test_draws_are_nested_and_pass_over_short_examples() -> None:
    texts = [text_of(number) if number % 3 else "short" for number in range(90)]
    clusters = [str(number // 2) for number in range(90)]
    examples = made("xnli", "en", "label", clusters, text_a=texts, text_b=[""] * 90)
    small, large = (drawn_halves(task("xnli"), examples, count, 7) for count in (20, 40))
    assert large.examples.ids[:20] == small.examples.ids
    assert (len(large.halves), len(large.others)) == (40, 40)
    assert drawn_halves(task("xnli"), examples, 90, 7).skipped == 30
    assert drawn_halves(task("xnli"), examples, 20, 8).examples.ids != small.examples.ids
    names = large.examples.clusters or []
    assert all(names[row] != names[other] for row, other in enumerate(large.others))


def test_requests_name_the_dataset_to_chat_models_alone() -> None:
    examples = made("xquad", "sw", "answers", question=["q"], context=["c"])
    half = Halves("Nani", "anaishi Roma leo?", context="Kifungu.")
    chat = continuation_request(task("xquad"), examples, half, PromptSettings(model="m", thoughts=100))
    [message] = chat.body["messages"]
    assert message["content"] == (
        f"You are given the beginning of an example of the dataset {task('xquad').title} (Swahili, test set). "
        "Continue it exactly as in the dataset. Write only the continuation.\n\nKifungu.\nNani"
    )
    assert (chat.body["temperature"], chat.url) == (0, "/v1/chat/completions")
    assert chat.body["max_tokens"] == 100 + 2 * 4  # 17 characters are about 4 tokens
    base = PromptSettings(model="m", api="completions", token_limit="max_completion_tokens")  # noqa: S106 - a name
    plain = continuation_request(task("xquad"), examples, half, base)
    assert (plain.body["prompt"], plain.url) == ("Kifungu.\nNani", "/v1/completions")
    assert plain.body["max_completion_tokens"] == 8
