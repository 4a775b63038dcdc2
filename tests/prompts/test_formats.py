"""Formats of answers: hand-made replies and what they say."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.endpoints.replies import ModelReply
from isogloss.prompts.formats.answers import cut_to
from isogloss.prompts.formats.base import PromptReply
from isogloss.prompts.formats.labels import separated
from isogloss.prompts.formats.tags import NameList
from isogloss.prompts.recipes import PromptRecipeError
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

NER = task("wikiann")


def prompts(target: Task, language: str = "en", **choices: Any) -> Prompts:
    return Prompts(target, language, PromptSettings(model="m", **choices))


def read(made: Prompts, row: dict[str, Any], text: str, **facts: Any) -> tuple[Any, Outcome]:
    [reading] = made.format.read([row], [PromptReply(text, **facts)])
    return reading.answer, reading.outcome


# Labels


@pytest.mark.parametrize(
    ("text", "answer", "outcome"),
    [
        ("kweli", "entailment", Outcome.STRICT),
        ("Kweli.", "entailment", Outcome.STRICT),
        ("Jibu: uongo", "contradiction", Outcome.TOLERANT),
        ("<think>kweli?</think>haijulikani", "neutral", Outcome.TOLERANT),
        ('{"answer": "uongo"}', "contradiction", Outcome.TOLERANT),
        ("neutral", "neutral", Outcome.TOLERANT),
        ("", None, Outcome.EMPTY),
    ],
)
def test_native_labels(text: str, answer: str | None, outcome: Outcome) -> None:
    got, how = read(prompts(task("xnli"), "sw", prompt_language="native"), {"text_a": "a", "text_b": "b"}, text)
    assert (got, how) == (answer, outcome)


def test_yes_and_no_are_labels_not_denials() -> None:
    made, row = prompts(task("pawsx")), {"text_a": "a", "text_b": "b"}
    assert read(made, row, "no")[0] == "0"
    assert read(made, row, "No, they differ.")[0] in ("0", None)
    assert read(made, row, "yes")[0] == "1"


def test_schemas_of_labels() -> None:
    made = prompts(task("xnli"), labels="schema")
    schema = made.format.parameters({})["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["answer"]["enum"] == ["true", "unclear", "false"]
    assert read(made, {}, '{"answer": "false"}') == ("contradiction", Outcome.SCHEMA)
    assert read(made, {}, '{"answer": "maybe"}')[0] is None


def test_filtered_and_cut_replies() -> None:
    made = prompts(task("xnli"))
    assert read(made, {}, "", filtered=True) == (None, Outcome.FILTERED)
    assert read(made, {}, "Let me think about the", cut=True) == (None, Outcome.CUT)


def test_log_probabilities_separate_labels() -> None:
    made = prompts(task("xnli"), labels="logprobs")
    tokens = [("Un", math.log(0.5)), ("true", math.log(0.3)), ("False", math.log(0.1))]
    assert read(made, {}, "unclear", first_tokens=tokens) == ("neutral", Outcome.LOGPROBS)
    # Nothing that begins a label: the text decides.
    assert read(made, {}, "false", first_tokens=[("The", -0.1)]) == ("contradiction", Outcome.STRICT)


@pytest.mark.parametrize(
    ("tokens", "word"),
    [
        ([("t", -0.1)], "true"),
        ([(" True", -0.1), ("f", -3)], "true"),
        ([("fal", -0.5), ("false", -1.5), ("t", -1.2)], "false"),
        ([("", 0.0)], None),
        ([("x", 0.0)], None),
        ([], None),
    ],
)
def test_separated(tokens: list[tuple[str, float]], word: str | None) -> None:
    assert separated(["true", "unclear", "false"], tokens) == word


def test_a_shared_beginning_separates_nothing() -> None:
    assert separated(["neutral", "negative"], [("ne", -0.1)]) is None
    # Even when one of the two is slightly ahead: the shared token may go to the other.
    assert separated(["neutral", "negative"], [("ne", math.log(0.6)), ("neutral", math.log(0.3))]) is None
    assert separated(["neutral", "negative"], [("ne", math.log(0.3)), ("neutral", math.log(0.5))]) == "neutral"


# Choices


@pytest.mark.parametrize(("text", "answer"), [("B", 1), ("b.", 1), ("A", 0), ("Answer: B", 1), ("C", None)])
def test_letters(text: str, answer: int | None) -> None:
    row = {"premise": "It rained.", "question": "effect", "choices": ("wet", "dry")}
    assert read(prompts(task("xcopa"), "et"), row, text)[0] == answer


def test_more_choices_than_letters_are_refused() -> None:
    row = {"premise": "p", "question": "cause", "choices": tuple("abcdefghi")}
    with pytest.raises(PromptRecipeError, match=r"xcopa: 9 choices, but 8 letters"):
        prompts(task("xcopa"), recipe="mega").request(row)
    with pytest.raises(PromptRecipeError, match=r"xcopa: 27 choices, but 26 letters"):
        prompts(task("xcopa")).request(row | {"choices": ("a",) * 27})


def test_choices_beyond_a_language_s_letters_get_latin_ones() -> None:
    made = prompts(task("xcopa"), "ta", prompt_language="native")
    row = {
        "premise": "p",
        "question": "cause",
        "choices": tuple(f"{letter} word" for letter in "qwertyuiopasdfghjklzxcvbnm"),
    }
    assert made.format.options(row).endswith("\nZ. m word")
    assert read(made, row, "Z") == (25, Outcome.STRICT)
    assert read(made, row, "(M) d word") == (12, Outcome.TOLERANT)


def test_native_letters_are_offered_and_read() -> None:
    made = prompts(task("xcopa"), "ta", prompt_language="native")
    row = {"premise": "p", "question": "cause", "choices": ("ஒன்று", "இரண்டு")}
    letters = made.literals.letters
    assert made.format.options(row) == f"{letters[0]}. ஒன்று\n{letters[1]}. இரண்டு"
    assert read(made, row, letters[1]) == (1, Outcome.STRICT)


# Tags

WORDS = {"tokens": ["Kofi", "Annan", "visited", "Accra"]}
TAGS = ["B-PER", "I-PER", "O", "B-LOC"]


@pytest.mark.parametrize("style", ["lines", "schema", "entities"])
def test_right_answers_are_read_as_written(style: str) -> None:
    made = prompts(NER, tags=style)
    assert read(made, WORDS, made.format.write(WORDS, TAGS))[0] == TAGS


def test_a_missing_line_is_one_untagged_word() -> None:
    made = prompts(NER, tags="lines")
    assert read(made, WORDS, "1\tB-PER\n2\tI-PER\n4\tB-LOC") == (TAGS, Outcome.PARTIAL)
    pos = prompts(task("udpos"), tags="lines")
    got = read(pos, WORDS, "1\tPROPN\n4\tPROPN")
    assert got == (["PROPN", "O", "O", "PROPN"], Outcome.PARTIAL)


@pytest.mark.parametrize(
    "text",
    [
        "1. Kofi B-PER\n2. Annan I-PER\n3. visited O\n4. Accra B-LOC",
        "```\n1\tB-PER\n2\tI-PER\n3\tO\n4\tB-LOC\n```",
        "| 1 | Kofi | B-PER |\n| 2 | Annan | I-PER |\n| 3 | visited | O |\n| 4 | Accra | B-LOC |",
        "(1) B-PER\n(2) I-PER\n(3) O\n(4) B-LOC",
        "0\tB-PER\n1\tI-PER\n2\tO\n3\tB-LOC",
        "B-PER I-PER O B-LOC",
    ],
)
def test_tolerant_lines(text: str) -> None:
    assert read(prompts(NER, tags="lines"), WORDS, text) == (TAGS, Outcome.TOLERANT)


def test_two_tags_for_a_word_are_none() -> None:
    tags, outcome = read(prompts(NER, tags="lines"), WORDS, "1\tB-PER\n1\tB-LOC\n2\tI-PER\n3\tO\n4\tB-LOC")
    assert (tags, outcome) == (["O", "I-PER", "O", "B-LOC"], Outcome.PARTIAL)


def test_lists_of_another_length_are_not_guessed() -> None:
    made = prompts(NER, tags="schema")
    assert read(made, WORDS, '{"tags": ["B-PER", "I-PER", "O"]}')[0] is None
    assert read(made, WORDS, '{"tags": ["B-PER", "I-PER", "O", "B-LOC", "O"]}')[0] is None
    # The beginning of a list that the token limit cut is aligned.
    got = read(made, WORDS, '{"tags": ["B-PER", "I-PER"', cut=True)
    assert got == (["B-PER", "I-PER", "O", "O"], Outcome.PARTIAL)


def test_schema_asks_for_one_tag_per_word() -> None:
    schema = prompts(NER, tags="schema").format.parameters(WORDS)["response_format"]["json_schema"]["schema"]
    array = schema["properties"]["tags"]
    assert (array["minItems"], array["maxItems"]) == (4, 4)
    assert array["items"]["enum"] == list(NER.labels)


def test_names_are_found_from_left_to_right() -> None:
    made = prompts(NER, tags="entities")
    row = {"tokens": ["Paris", "likes", "Paris", "."]}
    tags = ["B-PER", "O", "B-LOC", "O"]
    assert json.loads(made.format.write(row, tags)) == [
        {"text": "Paris", "type": "PER"},
        {"text": "Paris", "type": "LOC"},
    ]
    # Only the second occurrence is a name: its number says so.
    second = ["O", "O", "B-LOC", "O"]
    assert json.loads(made.format.write(row, second)) == [{"text": "Paris", "type": "LOC", "at": 3}]
    for gold in (tags, second):
        assert read(made, row, made.format.write(row, gold)) == (gold, Outcome.STRICT)


def test_names_that_are_not_in_the_sentence_make_an_answer_partial() -> None:
    made = prompts(NER, tags="entities")
    text = '[{"text": "Kofi Annan", "type": "PER"}, {"text": "Ghana", "type": "LOC"}]'
    assert read(made, WORDS, text) == (["B-PER", "I-PER", "O", "O"], Outcome.PARTIAL)
    assert read(made, WORDS, "[]") == (["O"] * 4, Outcome.STRICT)
    assert read(made, WORDS, "There are none: []") == (["O"] * 4, Outcome.TOLERANT)
    assert read(made, WORDS, "I cannot do that.")[0] is None


def test_names_without_spaces_match_single_characters() -> None:
    made = prompts(NER, "zh", tags="entities")
    row = {"tokens": list("我在北京")}
    assert json.loads(made.format.write(row, ["O", "O", "B-LOC", "I-LOC"])) == [{"text": "北京", "type": "LOC"}]
    assert read(made, row, '[{"text": "北京", "type": "loc"}]') == (["O", "O", "B-LOC", "I-LOC"], Outcome.STRICT)


@given(st.lists(st.tuples(st.text("ab", min_size=1, max_size=2), st.sampled_from(NER.labels)), max_size=8))
def test_names_survive_any_repetition(pairs: list[tuple[str, str]]) -> None:
    from isogloss.metrics import chunks

    row, gold = {"tokens": [word for word, _ in pairs]}, [tag for _, tag in pairs]
    made = prompts(NER, tags="entities")
    assert isinstance(made.format, NameList)
    got, _ = read(made, row, made.format.write(row, gold))
    assert chunks.chunks(got, dialect="conll") == chunks.chunks(gold, dialect="conll")


def test_joined_tags_stop_at_a_word_that_differs() -> None:
    made = prompts(NER, recipe="mega")
    assert made.format.write({"tokens": ["a_b", "c"]}, ["B-LOC", "O"]) == "a_b_B-LOC c_O"
    assert read(made, {"tokens": ["a_b", "c"]}, "a_b_B-LOC c_O")[0] == ["B-LOC", "O"]
    assert read(made, WORDS, "Kofi_B-PER visited_O Accra_B-LOC") == (["B-PER", "O", "O", "O"], Outcome.PARTIAL)


# Answers


def test_answers_in_the_passage_stay_as_they_are() -> None:
    row = {"question": "q", "context": "Answer: 1. FC Köln won."}
    assert read(prompts(task("xquad")), row, "1. FC Köln") == ("1. FC Köln", Outcome.STRICT)
    assert read(prompts(task("xquad"), answers="schema"), row, '{"answer": "FC"}') == ("FC", Outcome.SCHEMA)


@pytest.mark.parametrize(
    ("answer", "cut"),
    [
        ("The answer is the Nile River.", "the Nile"),
        ("The Nile", "the Nile"),
        ("Amazonas", "Amazonas"),
        ("It flows to: Egypt!", "Egypt"),
    ],
)
def test_cut_to_the_passage(answer: str, cut: str) -> None:
    assert cut_to(answer, "Cairo lies on the Nile in Egypt.") == cut


def test_requests_of_base_models() -> None:
    made = prompts(task("xcopa"), "et", api="completions", labels="logprobs")
    row = {"premise": "It rained.", "question": "effect", "choices": ("wet", "dry")}
    request = made.request(row, [(row, 0)])
    assert request.url == "/v1/completions"
    assert request.body["prompt"].endswith("B. dry\nAnswer:")
    assert "Answer: A\n\nSituation" in request.body["prompt"]
    assert request.body["logprobs"] == 20
    assert request.body["stop"] == ["\n"]


def test_models_without_a_system_role() -> None:
    row = {"text_a": "a", "text_b": "b"}
    for shown in ([], [(row, "neutral")]):
        body = prompts(task("xnli"), system_role=False).request(row, shown).body
        assert [message["role"] for message in body["messages"]] == ["user", "assistant"] * len(shown) + ["user"]
        assert body["messages"][0]["content"].startswith("Decide whether")


def test_thoughts_have_room() -> None:
    row = {"text_a": "a", "text_b": "b"}
    plain, thinking = (prompts(task("xnli"), thoughts=number).request(row).body for number in (0, 1000))
    assert thinking["max_tokens"] == plain["max_tokens"] + 1000
    renamed = prompts(task("xnli"), token_limit="max_completion_tokens").request(row).body  # noqa: S106 - a parameter
    assert "max_tokens" not in renamed
    assert renamed["max_completion_tokens"] == plain["max_tokens"]


def test_refusals_in_their_own_field_are_read() -> None:
    from isogloss.tasks.examples import Examples

    examples = Examples("xnli", "en", "test", ["1"], {"text_a": ["a"], "text_b": ["b"]}, "label")
    [reading] = prompts(task("xnli")).read(examples, [ModelReply(refusal="I'm sorry, I cannot help with that.")])
    assert reading.outcome is Outcome.REFUSAL


def test_tasks_without_a_question_of_their_own() -> None:
    plain = replace(task("xnli"), options={"labels": ("x", "y")})
    turn = prompts(plain).turn({"text_a": "one", "text_b": "two"})
    assert turn == "Sentence 1: one\nSentence 2: two"
    assert prompts(plain).label_words == {"x": "x", "y": "y"}


def test_sentences_on_the_format() -> None:
    labels, answers = task("xnli"), task("xquad")
    row = {"text_a": "a", "text_b": "b", "question": "q", "context": "c"}
    either = prompts(labels, labels="schema").system_text(row)
    assert either.startswith("Decide whether the hypothesis follows")
    assert "contradicts it, or neither. Answer with a JSON object" in either
    both = prompts(answers, answers="schema").system_text(row)
    assert both.endswith('and nothing else. Answer with a JSON object that has the key "answer".')
    japanese = prompts(answers, "ja", prompt_language="native").system_text(row)
    assert "。 " not in japanese
