"""Entities: rows that sum to the chunk score, hand-computed attributes, and a training set."""

from collections import Counter
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from isogloss.explain.tagging import Entities, TrainingEntities, confusion, entities, training_entities
from isogloss.metrics import chunks, spans
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task

WIKIANN = task("wikiann")
TOKENS = [["Ada", "met", "Bo", "Li"], ["In", "Oslo"], ["Nothing"]]
GOLD = [["B-PER", "O", "B-PER", "I-PER"], ["O", "B-LOC"], ["O"]]
# Ada is right; Bo Li has another type and is cut in half; Oslo is an ORG; one PER is spurious.
SAID = [["B-PER", "O", "B-LOC", "O"], ["O", "B-ORG"], ["B-PER"]]


def made(tokens: list[list[str]], gold: list[list[str]], language: str = "en") -> Examples:
    ids = [f"test-{row}" for row in range(len(tokens))]
    return Examples("wikiann", language, "test", ids, {"tokens": tokens, "tags": gold}, "tags")


def shown(found: Entities) -> list[str]:
    """Return the sentence, bounds, type and side of each chunk."""
    sides = [
        "both" if gold and said else "gold" if gold else "said"
        for gold, said in zip(found.gold, found.predicted[0], strict=True)
    ]
    return [
        f"{e} {first}-{last} {kind} {side}"
        for e, first, last, kind, side in zip(found.example, found.first, found.last, found.types, sides, strict=True)
    ]


def test_every_chunk_of_either_side_is_one_row() -> None:
    found = entities(WIKIANN, made(TOKENS, GOLD), [SAID])
    assert shown(found) == [
        "0 0-0 PER both",
        "0 2-2 LOC said",
        "0 2-3 PER gold",
        "1 1-1 LOC gold",
        "1 1-1 ORG said",
        "2 0-0 PER said",
    ]
    statistics = found.statistics(0)
    assert statistics.sums.tolist() == [1, 4, 3]
    assert statistics.score == 2 / 7


def test_attributes_by_hand() -> None:
    columns = entities(WIKIANN, made(TOKENS, GOLD), [SAID]).columns(made(TOKENS, GOLD), None)
    assert columns["tag"].tolist() == ["PER", "LOC", "PER", "LOC", "ORG", "PER"]
    assert columns["eLen"].tolist() == [1, 1, 2, 1, 1, 1]
    assert columns["tLen"].tolist() == [3, 2, 4, 4, 4, 7]
    assert columns["rPos"].tolist() == [0, 0.5, 0.5, 0.5, 0.5, 0]
    # Density depends on the gold entities only: 3 of 4, 1 of 2 and 0 of 1 tokens.
    assert columns["eDen"].tolist() == [0.75, 0.75, 0.75, 0.5, 0.5, 0]


def test_confusion_is_over_equal_bounds() -> None:
    found = entities(WIKIANN, made(TOKENS, GOLD), [SAID])
    assert confusion(found, 0) == {
        "PER": {"PER": 1, "O": 1},
        "LOC": {"ORG": 1},
        "O": {"LOC": 1, "PER": 1},
    }


def test_sentence_without_an_answer_has_no_predicted_entity() -> None:
    found = entities(WIKIANN, made(TOKENS, GOLD), [[None, SAID[1], SAID[2]]])
    assert found.predicted[0].sum() == 2
    assert found.gold.sum() == 3


def test_nothing_tagged_at_all() -> None:
    found = entities(WIKIANN, made([["a"]], [["O"]]), [[["O"]]])
    assert len(found.example) == 0
    assert confusion(found, 0) == {}
    assert found.columns(made([["a"]], [["O"]]), None)["tag"].tolist() == []


def test_seen_attribute_comes_from_training_set(tmp_path: Path) -> None:
    path = tmp_path / "panx/train-en.tsv"
    path.parent.mkdir(parents=True)
    # "ada" twice as PER and once as ORG.
    path.write_text("Ada\tB-PER\nin\tO\nOslo\tB-LOC\n\nada\tB-PER\n\nADA\tB-ORG\n\n")
    trained = training_entities(WIKIANN.id, tmp_path)
    columns = entities(WIKIANN, made(TOKENS, GOLD), [SAID]).columns(made(TOKENS, GOLD), trained)
    assert columns["seen"].tolist() == ["seen", "unseen", "unseen", "seen", "seen", "unseen"]
    assert columns["eFre"].tolist() == [3, 0, 0, 1, 1, 0]
    np.testing.assert_allclose(columns["eCon"].astype(float), [2 / 3, np.nan, np.nan, 1, 0, np.nan])
    assert training_entities(WIKIANN.id, tmp_path / "nowhere") is None


def spelled(tokens: list[list[str]], gold: list[list[str]], task_id: str = "wikiann") -> Examples:
    """Return sentences with their texts, with one blank between tokens."""
    offsets = []
    for words in tokens:
        ends = np.cumsum([len(word) + 1 for word in words]).tolist()
        offsets.append([(end - len(word) - 1, end - 1) for word, end in zip(words, ends, strict=True)])
    columns = {"tokens": tokens, "tags": gold, "text": [" ".join(words) for words in tokens], "offsets": offsets}
    return Examples(task_id, "en", "test", [f"test-{row}" for row in range(len(tokens))], columns, "tags")


# "Ada met Bo Li": Ada is right, with an extra blank; Bo Li is cut in half; a span of blanks is spurious.
SPANS = [[[0, 4, "PER"], [8, 10, "PER"], [3, 4, "LOC"]], [[3, 7, "ORG"], [3, 7, "ORG"]], None]


def test_character_spans_are_entities_counted_in_characters() -> None:
    examples = spelled(TOKENS, GOLD)
    found = entities(WIKIANN, examples, [SPANS], spans=True)
    persons = ["0 0-2 PER both", "0 8-9 PER said", "0 8-12 PER gold"]
    assert shown(found) == [persons[0], "0 4-3 LOC said", *persons[1:], "1 3-6 LOC gold", "1 3-6 ORG said"]
    columns = found.columns(examples, None)
    assert columns["eLen"].tolist() == [3, 0, 2, 5, 4, 4]
    assert columns["tLen"].tolist() == [3, 0, 2, 4, 4, 4]
    assert columns["rPos"].tolist() == [0, 4 / 13, 8 / 13, 8 / 13, 3 / 7, 3 / 7]
    assert columns["eDen"].tolist() == [8 / 13] * 4 + [4 / 7] * 2
    assert confusion(found, 0) == {"PER": {"PER": 1, "O": 1}, "LOC": {"ORG": 1}, "O": {"LOC": 1, "PER": 1}}


def test_spans_are_seen_in_training_by_their_characters() -> None:
    examples = spelled(TOKENS, GOLD)
    trained = TrainingEntities(Counter({"boli": 2, "oslo": 1}), Counter({("boli", "PER"): 1, ("boli", "ORG"): 1}))
    by_spans = entities(WIKIANN, examples, [], spans=True).columns(examples, trained)
    by_tokens = entities(WIKIANN, examples, []).columns(examples, trained)
    for name in ("seen", "eFre", "eCon"):
        assert by_spans[name].tolist()[1:] == by_tokens[name].tolist()[1:]
    assert by_spans["eFre"].tolist() == [0, 2, 1]


def test_bare_tags_are_spans_of_single_words() -> None:
    examples = spelled([["I", "go"]], [["PRON", "VERB"]], "udpos")
    found = entities(task("udpos"), examples, [[[[0, 1, "PRON"], [2, 4, "NOUN"]]]], spans=True)
    assert found.statistics(0).sums.tolist() == [1, 2, 2]


tags = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
corpora = st.lists(st.lists(st.tuples(tags, tags, tags), max_size=8), min_size=1, max_size=6)


@given(corpora)
def test_rows_sum_to_the_score_of_the_task(corpus: list[list[tuple[str, str, str]]]) -> None:
    gold, *systems = ([[token[side] for token in sentence] for sentence in corpus] for side in range(3))
    examples = made([["w"] * len(sentence) for sentence in corpus], gold)
    found = entities(WIKIANN, examples, systems)
    for place, said in enumerate(systems):
        whole = chunks.statistics(gold, said, dialect="conll")
        ours = found.statistics(place)
        assert ours.sums.tolist() == whole.sums.tolist()
        for sentence in range(len(corpus)):
            assert ours.rows[found.example == sentence].sum(axis=0).tolist() == whole.rows[sentence].tolist()


@given(corpora)
def test_spans_sum_to_the_score_of_spans(corpus: list[list[tuple[str, str, str]]]) -> None:
    gold, *systems = ([[token[side] for token in sentence] for sentence in corpus] for side in range(3))
    examples = spelled([["w" * (place + 1) for place, _ in enumerate(sentence)] for sentence in corpus], gold)
    said = [spans.from_sentences(tagged, examples["offsets"]) for tagged in systems]
    found = entities(WIKIANN, examples, said, spans=True)
    for place, answers in enumerate(said):
        whole = spans.statistics(spans.from_sentences(gold, examples["offsets"]), answers)
        assert found.statistics(place).sums.tolist() == whole.sums.tolist()


@given(corpora)
def test_gold_columns_do_not_depend_on_systems(corpus: list[list[tuple[str, str, str]]]) -> None:
    gold, first, _ = ([[token[side] for token in sentence] for sentence in corpus] for side in range(3))
    tokens = [["w"] * len(sentence) for sentence in corpus]
    alone = entities(WIKIANN, made(tokens, gold), []).columns(made(tokens, gold), None)
    found = entities(WIKIANN, made(tokens, gold), [first])
    both = found.columns(made(tokens, gold), None)
    for name, column in alone.items():
        assert column.tolist() == both[name][found.gold].tolist()
