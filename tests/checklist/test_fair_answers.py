"""The fair rule: every form of the answer word is correct, alone or in a sentence; other words are wrong."""

import pytest

from isogloss.checklist import matches
from isogloss.checklist.matching import LONGEST, fair_rule
from isogloss.checklist.right_answer import RightAnswer, right_answer
from isogloss.checklist.shipped import language_examples
from isogloss.grammar.cases import ChecklistExample, opposites
from isogloss.grammar.file import grammar


def first_example(code: str, test: str, answer: str) -> ChecklistExample:
    """Return the first example of a test with this answer."""
    return next(each for each in language_examples(code, tests=(test,)) if each.answer == answer)


def answer_of(example: ChecklistExample, code: str) -> RightAnswer:
    sentences = opposites(example.case, grammar(code))
    return right_answer(example, sentences[example.place % len(sentences)])


def right(said: str, example: ChecklistExample, code: str = "en") -> bool:
    return fair_rule(code).is_right(said, answer_of(example, code))


@pytest.mark.parametrize(
    "said",
    ["stone", "made of stone", "Stone.", "It is made of stone.", "It's stone", "The hat is made of stone", "STONE"],
)
def test_thing_made_of_stone(said: str) -> None:
    assert right(said, first_example("en", "properties", "made of stone"))


@pytest.mark.parametrize(
    "said",
    [
        "",
        "made of",  # the frame alone
        "made of glass",
        "stone or glass",  # another word of the same kind
        "It is not made of stone.",  # a word in neither question nor sentence
        "The cup is made of stone.",  # about another thing
        "The hat in the room is big and made of stone.",  # the whole context: contains the other property too
    ],
)
def test_omitted_attributes(said: str) -> None:
    assert not right(said, first_example("en", "properties", "made of stone"))


def test_question_that_offers_both_is_not_answered_by_both() -> None:
    example = first_example("en", "properties", "old")
    assert example.question.endswith("new or old?")
    assert right("It is old.", example)
    assert not right("It is new.", example)
    assert not right("It is new or old.", example)
    assert not right("new", example)


def test_person_in_a_sentence() -> None:
    more, less = list(language_examples("en", tests=("comparisons",)))[:2]
    assert (more.question, less.question) == ("Who is more famous?", "Who is less famous?")
    assert right(f"{more.answer} is more famous.", more)
    assert right(f"The one who is more famous is {more.answer}.", more)
    assert not right(f"{less.answer} is more famous.", more)
    assert not right(more.context, more)  # names both
    assert not right(f"{less.answer} is more famous.", less)  # answers the opposite question


def test_opposite_is_wrong_if_only_a_word_is_left_out() -> None:
    more, less = list(language_examples("tr", tests=("comparisons",)))[:2]
    assert less.question == more.question.replace("daha", "daha az")
    assert right(less.sentence, less, "tr")
    assert answer_of(less, "tr").opposite == less.sentence.replace("daha az", "daha")
    assert not right(answer_of(less, "tr").opposite, less, "tr")
    assert right(more.sentence, more, "tr")
    assert not right(answer_of(more, "tr").opposite, more, "tr")


@pytest.mark.parametrize(
    ("code", "test", "denied"),
    [
        ("en", "properties", "not {}"),
        ("ru", "intensifiers", "не {}"),  # the context has a не: "почти не устал"
        ("zh", "comparisons", "{}没有"),  # the question contains 没有另一个人那么
        ("ja", "comparisons", "{}ではない"),
        ("th", "job_vs_nationality", "ไม่ใช่{}"),
        ("tr", "comparisons", "{} değil"),
    ],
)
def test_negated_answer_is_wrong(code: str, test: str, denied: str) -> None:
    for example in language_examples(code, tests=(test,), count=30):
        assert right(example.answer, example, code)
        assert not right(denied.format(example.answer), example, code)


@pytest.mark.parametrize("said", ["**{}**", "`{}`", "- {}", "“{}”", "{}\0", "\u2068{}\u2069", "{}。", "{}…", " {}\n"])
def test_markup_is_not_part_of_an_answer(said: str) -> None:
    job = next(language_examples("en", tests=("job_vs_nationality",)))
    bare = job.answer.split(" ", 1)[1]
    assert right(said.format(bare), job)
    assert right(f"The job is {bare}.", job)
    assert not right(said.format(""), job)


@pytest.mark.parametrize(
    ("code", "said", "answer"),
    [
        ("ro", "veş", "veș"),
        ("fa", "كتاب", "کتاب"),
        ("ur", "كتاب", "کتاب"),
        ("ml", "അവന്\u200d", "അവൻ"),
        ("el", "ΝΙΚΟΣ", "Νίκος"),
        ("uk", "пʼять", "п'ять"),
    ],
)
def test_letters_with_two_spellings(code: str, said: str, answer: str) -> None:
    assert matches(said, answer, language=code, mode="fair")


def test_long_text_is_wrong_and_cheap() -> None:
    for code in ("zh", "my", "en"):
        example = next(language_examples(code, tests=("comparisons",)))
        loop = example.question * LONGEST + example.answer
        assert not right(loop, example, code)
        assert not right("the " * 250_000, example, code)
        assert not right("e" + "\u0301\u0323" * 100_000, example, code)


def test_sentence_of_the_context() -> None:
    bought = next(language_examples("en", tests=("animal_vs_vehicle_2",)))
    assert bought.question == "Who bought an animal?"
    first, second = bought.context.removesuffix(".").split(". ")
    assert right(first, bought)
    assert not right(second, bought)
    assert not right(bought.context, bought)
    job = next(language_examples("en", tests=("job_vs_nationality",)))  # one sentence has both answers
    assert not right(job.context, job)


# Natural answers other than the span of the context, in each language.
SHORT = [
    ("en", "stone", "made of stone"),
    ("en", "wood", "wooden"),
    ("tl", "kahoy", "gawa sa kahoy"),
    ("vi", "gỗ", "làm bằng gỗ"),
    ("id", "batu", "terbuat dari batu"),
    ("ms", "batu", "diperbuat daripada batu"),
    ("jv", "Rusia", "wong Rusia"),
    ("de", "Glas", "aus Glas"),
    ("fr", "verre", "en verre"),
    ("es", "vidrio", "de vidrio"),
    ("my", "ယုန်", "ယုန်တစ်ကောင်"),
    ("ha", "Faransa", "ƴar ƙasar Faransa"),
    ("th", "เก่า", "สภาพเก่า"),
    ("ja", "ロシア", "ロシア人"),
]


@pytest.mark.parametrize(("code", "said", "answer"), SHORT)
def test_bare_word_is_right(code: str, said: str, answer: str) -> None:
    assert matches(said, answer, language=code, mode="fair")
    assert matches(answer, said, language=code, mode="fair")


@pytest.mark.parametrize(
    ("code", "said", "answer"),
    [
        ("en", "glass", "made of stone"),
        ("en", "stone", "Stone Age"),
        ("de", "Holz", "aus Glas"),
        ("en", "James", "John"),
    ],
)
def test_another_word_is_wrong(code: str, said: str, answer: str) -> None:
    assert not matches(said, answer, language=code, mode="fair")
