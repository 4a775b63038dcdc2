"""Formats of tasks: exact round trips of tags, fields that fit, special tokens that name a language."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss
from caches import new_cache
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.text2text.adapter import Seq2SeqTokenizer, join_fields
from isogloss.systems.text2text.option_scoring import Text2TextClassifier, Text2TextMultipleChoice
from isogloss.systems.text2text.qa import Text2TextReader
from isogloss.systems.text2text.tagging import TagFormat, Text2TextTagger
from isogloss.tasks.examples import Examples
from isogloss.training.recipes import Recipe

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

TAGS = isogloss.task("udpos").labels
RECIPE = Recipe(name="test", learning_rate=1e-3, max_length=24, stride=4, query_length=6)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))


@pytest.fixture(scope="module")
def source(tiny_mt5: Path) -> ModelSource:
    return ModelSource(str(tiny_mt5))


@pytest.fixture(scope="module")
def form(source: ModelSource) -> TagFormat:
    return TagFormat(Seq2SeqTokenizer(source), TAGS)


def made(task: str, gold: str, **columns: list[object]) -> Examples:
    count = len(next(iter(columns.values())))
    return Examples(task, "en", "train", [str(row) for row in range(count)], dict(columns), gold)


def texts(source: ModelSource, encoded: object) -> list[str]:
    rows = np.split(encoded.input_ids, encoded.starts[1:-1])  # type: ignore[attr-defined]
    return [source.tokenizer.decode(row.tolist()) for row in rows]


@given(tags=st.lists(st.integers(0, len(TAGS) - 1), max_size=40), more=st.lists(st.integers(0, 911), max_size=5))
def test_tags_round_trip_through_tokens(form: TagFormat, tags: list[int], more: list[int]) -> None:
    written = form.write(tags).tolist()
    assert form.parse(written, len(tags)) == tags
    # Padding never changes a tag: it starts with the end or another marker.
    assert form.parse([*written, 1, *more], len(tags)) == tags
    assert len(written) <= len(tags) * form.longest


@given(tags=st.lists(st.integers(0, len(TAGS) - 1), min_size=1, max_size=14))
def test_tags_round_trip_through_text(form: TagFormat, source: ModelSource, tags: list[int]) -> None:
    text = "".join(f"<extra_id_{word % 12}> {TAGS[tag]}" for word, tag in enumerate(tags))
    pieces = source.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert form.parse(pieces, len(tags)) == tags


def test_invalid_tags_are_not_guessed(form: TagFormat) -> None:
    written = form.write([7, 3]).tolist()
    for spoilt in (written[1:], written[:1], [written[0], *written[2:]], written[:-1]):
        with pytest.raises(ValueError, match="no "):
            form.parse(spoilt, 2)


@given(lengths=st.lists(st.integers(0, 30), max_size=6), room=st.integers(0, 60))
def test_only_the_longest_fields_are_cut(lengths: list[int], room: int) -> None:
    fields = [np.full(length, number, np.int32) for number, length in enumerate(lengths)]
    kept = join_fields(fields, room)
    assert len(kept) == min(room, sum(lengths))
    left = [int((kept == number).sum()) for number in range(len(lengths))]
    cut = [now for now, before in zip(left, lengths, strict=True) if now < before]
    # A cut field is as long as the longest remaining one, within one token.
    assert all(now >= max(left) - 1 for now in cut)
    assert np.all(np.diff(kept) >= 0)


def test_pairs_have_the_documented_format(source: ModelSource) -> None:
    wide = Recipe(name="test", learning_rate=1e-3, max_length=64)
    single = made("mldoc", "label", text=["rain in the north"], label=["ECAT"])
    double = made("pawsx", "label", text_a=["a cat"], text_b=["a dog"], label=["1"])
    choice = made(
        "xcopa", "label", premise=["it rained"], question=["effect"], choices=[("it was wet", "it was dry")], label=[0]
    )
    tagged = made("wikiann", "tags", tokens=[["Anna", "met", "Otto"]], tags=[["B-PER", "O", "B-PER"]])
    asked = made("xquad", "answers", question=["who?"], context=["Anna met Otto here"], answers=[["Otto"]])
    cases = [
        (Text2TextClassifier, single, ["text: rain in the north</s>", "1</s>"]),
        (Text2TextClassifier, double, ["sentence1: a cat sentence2: a dog</s>", "1</s>"]),
        (
            Text2TextMultipleChoice,
            choice,
            [
                "premise: it rained question: What was the effect? choice1: it was wet choice2: it was dry</s>",
                "it was wet</s>",
            ],
        ),
        (
            Text2TextTagger,
            tagged,
            [
                "<extra_id_0> Anna<extra_id_1> met<extra_id_2> Otto</s>",
                "<extra_id_0> B-PER<extra_id_1> O<extra_id_2> B-PER</s>",
            ],
        ),
        (Text2TextReader, asked, ["question: who? context: Anna met Otto here</s>", "Otto</s>"]),
    ]
    for adapter, examples, expected in cases:
        found = texts(source, adapter(isogloss.task(examples.task), wide, source).pairs(examples))
        assert [text.replace("<extra", " <extra").split() for text in found] == [
            text.replace("<extra", " <extra").split() for text in expected
        ]


def test_long_sentences_are_split_and_renumbered(source: ModelSource) -> None:
    tokens = [f"rain{number}" for number in range(17)]
    train = made("udpos", "tags", tokens=[tokens, [], ["sun"]], tags=[["NOUN"] * 17, [], ["VERB"]])
    adapter = Text2TextTagger(isogloss.task("udpos"), RECIPE, source)
    found = texts(source, adapter.pairs(train))
    assert max(adapter.pairs(train).lengths[::2]) <= RECIPE.max_length
    assert all(text.startswith("<extra_id_0>") for text in found)
    written = "".join(found[1:-1:2])
    assert written.count("NOUN") == 17
    assert found[-1].split() == ["<extra_id_0>", "VERB</s>"]


def test_windows_without_the_answer_have_empty_targets(source: ModelSource) -> None:
    context = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    train = made("xquad", "answers", question=["where is it now and then?"], context=[context], answers=[["fourteen"]])
    found = texts(source, Text2TextReader(isogloss.task("xquad"), RECIPE, source).pairs(train))
    assert len(found) > 4
    assert found[-1] == "fourteen</s>"
    assert set(found[1:-1:2]) == {"</s>"}


def test_questions_without_answers_are_counted(source: ModelSource) -> None:
    train = made("xquad", "answers", question=["who?", "who?"], context=["Anna"] * 2, answers=[["Anna"], ["Otto"]])
    objective = Text2TextReader(isogloss.task("xquad"), RECIPE, source).objective(train)
    assert len(objective) == 1
    assert objective.notes == ["xquad/en train: 1 of 2 examples left out: the answer does not occur in the passage"]


@pytest.mark.parametrize(("stride", "step"), [(1, 1), (4, 4), (100, None)])
def test_windows_start_one_stride_apart(source: ModelSource, stride: int, step: int | None) -> None:
    context = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    asked = made("xquad", "answers", question=["where is it now and then?"], context=[context], answers=[["ten"]])
    adapter = Text2TextReader(isogloss.task("xquad"), replace(RECIPE, stride=stride), source)
    pieces = source.tokenizer(context, add_special_tokens=False)["input_ids"]
    _, rows = adapter.encode_windows(asked)
    inside = [row >= 0 for row in np.split(rows.aligned["begin"], rows.starts[1:-1])]
    passages = [row[of].tolist() for row, of in zip(np.split(rows.input_ids, rows.starts[1:-1]), inside, strict=True)]
    room = 24 - 1 - int(inside[0].argmax())  # without the end token and what precedes the passage
    assert 4 < room < len(pieces) / 2
    begins = [row * (step or room) for row in range(len(passages))]  # adjacent windows if the stride is longer
    assert passages == [pieces[begin : begin + room] for begin in begins]
    assert begins[-2] + room < len(pieces) <= begins[-1] + room


def test_answer_offset_is_used(source: ModelSource) -> None:
    adapter = Text2TextReader(isogloss.task("xquad"), RECIPE, source)
    context = ["a cat, the cats"]
    said = made("xquad", "answers", question=["?"], context=context, answers=[["cat"]], answer_starts=[[11]])
    wrong = made("xquad", "answers", question=["?"], context=context, answers=[["cat"]], answer_starts=[[3]])
    assert texts(source, adapter.pairs(said))[1].startswith("cat")
    assert texts(source, adapter.pairs(wrong))[1] == "cat</s>"
    nowhere = made("xquad", "answers", question=["?"], context=context, answers=[["dog"]], answer_starts=[[0]])
    with pytest.raises(SystemFailureError, match="no training answer occurs in its passage"):
        adapter.pairs(nowhere)


def test_answer_with_blank_at_its_edge(source: ModelSource) -> None:
    context = ["it was wet", "it was wet"]
    train = made("xquad", "answers", question=["?"] * 2, context=context, answers=[["was wet"], [" was"]])
    found = texts(source, Text2TextReader(isogloss.task("xquad"), RECIPE, source).pairs(train))
    assert found[1::2] == ["was wet</s>", "</s>"]


def test_truncated_answer_has_no_end_token(source: ModelSource) -> None:
    context = ["one two three four five"]
    train = made("xquad", "answers", question=["?"], context=context, answers=[["two three four five"]])
    for longest, ended in ((4, False), (60, True)):
        recipe = Recipe(name="test", learning_rate=1e-3, max_length=64, answer_length=longest)
        pairs = Text2TextReader(isogloss.task("xquad"), recipe, source).pairs(train)
        written = pairs.input_ids[pairs.starts[1] :]
        assert (written[-1] == source.tokenizer.eos_token_id) is np.bool_(ended)
        assert "two three four five".startswith(texts(source, pairs)[1].removesuffix("</s>"))
        assert len(written) == 4 or ended


def test_input_without_room_raises(source: ModelSource) -> None:
    tight = Recipe(name="test", learning_rate=1e-3, max_length=1)
    tagged = made("udpos", "tags", tokens=[["a"]], tags=[["DET"]])
    with pytest.raises(SystemFailureError, match="the special tokens take 1"):
        Text2TextTagger(isogloss.task("udpos"), tight, source).pairs(tagged)
    asked = made("xquad", "answers", question=["who is it?"], context=["Anna"], answers=[["Anna"]])
    with pytest.raises(SystemFailureError, match="leaves no room for its passage"):
        Text2TextReader(isogloss.task("xquad"), Recipe(name="test", learning_rate=1e-3, max_length=6), source).pairs(
            asked
        )


def test_unknown_tags_raise(source: ModelSource) -> None:
    tagged = made("udpos", "tags", tokens=[["a"]], tags=[["NOUNS"]])
    with pytest.raises(SystemFailureError, match="unknown label 'NOUNS'"):
        Text2TextTagger(isogloss.task("udpos"), RECIPE, source).pairs(tagged)


@pytest.mark.parametrize("tags", [[["DET"]], [None], [["DET", "NOUN", "VERB"]]])
def test_wrong_number_of_tags_raises(tags: list[object], source: ModelSource) -> None:
    tagged = made("udpos", "tags", tokens=[["a", "cat"]], tags=tags)
    with pytest.raises(SystemFailureError, match=r"udpos/en train, 0: \d tags for 2 words"):
        Text2TextTagger(isogloss.task("udpos"), RECIPE, source).pairs(tagged)


def test_long_choice_is_cut(source: ModelSource) -> None:
    columns: dict[str, list[object]] = {"premise": ["it"], "question": ["effect"], "choices": [("sun " * 999, "rain")]}
    pairs = Text2TextMultipleChoice(isogloss.task("xcopa"), RECIPE, source).pairs(
        made("xcopa", "label", **columns, label=[0])
    )
    assert pairs.lengths.tolist() == [24, 24]
    assert pairs.input_ids[[23, 47]].tolist() == [source.tokenizer.eos_token_id] * 2


def test_unspellable_tags_raise(source: ModelSource) -> None:
    with pytest.raises(SystemFailureError, match=r"cannot spell the tags ∅"):
        TagFormat(Seq2SeqTokenizer(source), ["NOUN", "∅"])
    with pytest.raises(SystemFailureError, match="cannot spell the tags"):
        TagFormat(Seq2SeqTokenizer(source), ["NOUN", "NOUN"])


class Stub:
    """A tokenizer with a configuration, for tests that need no model."""

    name = "stub"

    def __init__(self, tokenizer: object, start: int | None) -> None:
        self.tokenizer = tokenizer
        self.config = transformers.PretrainedConfig(decoder_start_token_id=start)
        self.config.decoder_start_token_id = start


def mbart50() -> object:
    letters = [("▁", -1.0), *((letter, -2.0) for letter in "abcdefghijklmnopqrstuvwxyz0123456789")]
    return transformers.MBart50Tokenizer(vocab=[("<unk>", 0.0), ("<s>", 0.0), ("</s>", 0.0), *letters])


def test_language_ids_are_added() -> None:
    vocabulary = Seq2SeqTokenizer(Stub(mbart50(), 2))  # type: ignore[arg-type]
    name = vocabulary.tokenizer.convert_ids_to_tokens
    special = vocabulary.special_tokens("sw")
    assert name(special.source_prefix.tolist()) == ["sw_KE"]
    assert name(special.target_prefix.tolist()) == ["sw_KE"]
    assert (name(special.source_suffix.tolist()), name(special.target_suffix.tolist()), special.decoder_start) == (
        ["</s>"],
        ["</s>"],
        2,
    )
    assert name(vocabulary.special_tokens("en").target_prefix.tolist()) == ["en_XX"]
    assert vocabulary.special_tokens("sw") is special
    with pytest.raises(SystemFailureError, match="has no id for qu"):
        vocabulary.special_tokens("qu")


def test_decoder_without_start_token_starts_with_the_language() -> None:
    vocabulary = Seq2SeqTokenizer(Stub(transformers.MBartTokenizer(), None))  # type: ignore[arg-type]
    special = vocabulary.special_tokens("de")
    assert vocabulary.tokenizer.convert_ids_to_tokens([*special.target_suffix.tolist(), special.decoder_start]) == [
        "</s>",
        "de_DE",
        "de_DE",
    ]


def test_digits_number_words_without_sentinels() -> None:
    vocabulary = Seq2SeqTokenizer(Stub(mbart50(), 2))  # type: ignore[arg-type]
    assert vocabulary.tokenizer.convert_ids_to_tokens(vocabulary.markers.tolist()) == list("0123456789")
    form = TagFormat(vocabulary, ["det", "noun"])
    tags = [0, 1] * 8
    assert form.parse(form.write(tags).tolist(), 16) == tags
