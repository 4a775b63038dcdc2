import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError, PredictionError, UnknownNameError
from isogloss.metrics import chunks
from isogloss.metrics.statistics import merge

UPOS = ["ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT"]
UPOS += ["SCONJ", "SYM", "VERB", "X", "_"]
IOB = ["O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in ("PER", "LOC", "A-B"))]
BIOES = ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("PER", "LOC", "A-B"))]
ODD = [prefix + rest for prefix in "BIESOXLU._" for rest in ("", "-PER", "-A-B", "-", "PER")]
STRICT = [*IOB, "B", "I", "O-PER", "B-PER-", "IPER"]

Corpus = list[list[str]]


def f1_score(*corpora: Corpus, **mode: str) -> float:
    """The score of the peer, which imports scikit-learn: a second of every test process otherwise."""
    from seqeval.metrics import f1_score
    from seqeval.scheme import IOB2

    return f1_score(*corpora, **mode, scheme=IOB2 if mode else None)


@pytest.fixture(autouse=True)
def _quiet_peer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval warns at every tag that is not IOB and at every empty corpus
        yield


def corpora(seed: int, tags: list[str], sentences: int = 6, longest: int = 7) -> tuple[Corpus, Corpus]:
    """Random gold, and predictions that agree with it two times out of three."""
    draw = random.Random(seed)
    gold = [[draw.choice(tags) for _ in range(draw.randint(0, longest))] for _ in range(draw.randint(1, sentences))]
    return gold, [[tag if draw.random() < 0.67 else draw.choice(tags) for tag in tags_] for tags_ in gold]


def old_seqeval_chunks(tags: list[str]) -> set[tuple[str, int, int]]:
    """The chunk rule of seqeval 0.0.12 read word by word, over one sequence that ends with O."""
    found = set()
    begin, before, type_before = 0, "O", ""
    for position, tag in enumerate([*tags, "O"]):
        prefix, kind = tag[0], tag.split("-")[-1]
        ended = before in "ES" or (before in "BI" and prefix in "BSO")
        if ended or (before not in "O." and kind != type_before):
            found.add((type_before, begin, position - 1))
        started = prefix in "BS" or (before in "ESO" and prefix in "EI")
        if started or (prefix not in "O." and kind != type_before):
            begin = position
        before, type_before = prefix, kind
    return found


def old_seqeval_f1(gold: Corpus, predicted: Corpus) -> float:
    wanted, given_ = (
        old_seqeval_chunks([tag for sentence in side for tag in [*sentence, "O"]]) for side in (gold, predicted)
    )
    correct = len(wanted & given_)
    if not correct:
        return 0.0
    precision, recall = correct / len(given_), correct / len(wanted)
    return 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", []),
        ("O O", []),
        ("B-PER I-PER O B-LOC", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("I-PER O I-LOC I-LOC", [("PER", 0, 0), ("LOC", 2, 3)]),  # an I- with nothing before it opens
        ("B-PER I-LOC", [("PER", 0, 0), ("LOC", 1, 1)]),  # an I- of another type closes and opens
        ("B-LOC B-LOC I-LOC", [("LOC", 0, 0), ("LOC", 1, 2)]),  # only B- separates equal neighbours
        ("I-LOC I-LOC", [("LOC", 0, 1)]),
        ("S-PER S-PER E-PER I-PER", [("PER", 0, 0), ("PER", 1, 1), ("PER", 2, 2), ("PER", 3, 3)]),
        ("B-PER I-PER E-PER B-PER", [("PER", 0, 2), ("PER", 3, 3)]),
        ("B-A-B I-A-B", [("B", 0, 1)]),  # the type is what follows the last hyphen
        ("B-A-X I-C-X", [("X", 0, 1)]),
        ("NOUN NOUN VERB", [("NOUN", 0, 1), ("VERB", 2, 2)]),
        ("SYM SYM INTJ INTJ", [("SYM", 0, 0), ("SYM", 1, 1), ("INTJ", 2, 3)]),
        ("CCONJ SCONJ X _", [("CCONJ", 0, 0), ("SCONJ", 1, 1), ("X", 2, 2), ("_", 3, 3)]),
        (". .-PER O", []),  # a full stop is outside, as O is
    ],
)
def test_chunks_of_conll(tags, expected):
    assert chunks.chunks(tags.split()) == expected


@pytest.mark.parametrize(
    ("dialect", "tags", "expected"),
    [
        ("seqeval-1.2.2", "NOUN NOUN VERB", [("OUN", 0, 1), ("ERB", 2, 2)]),
        # S closes itself and nothing closes the C before it, whose type is the same.
        ("seqeval-1.2.2", "CCONJ SCONJ CCONJ", [("CONJ", 1, 1), ("CONJ", 1, 2)]),
        ("seqeval-1.2.2", "X NOUN X", [("_", 0, 0), ("OUN", 1, 1)]),  # a last X is never closed
        ("seqeval-1.2.2", "NOUN O X VERB", [("OUN", 0, 0), ("_", 0, 2), ("ERB", 3, 3)]),  # nor opened after O
        ("seqeval-1.2.2", "B-A-B I-A-B I-C-B", [("A-B", 0, 1), ("C-B", 2, 2)]),
        ("seqeval-1.2.2", "B I O", [("_", 0, 1)]),
        ("iob2-strict", "I-PER O B-LOC I-LOC", [("LOC", 2, 3)]),
        ("iob2-strict", "B-PER I-PER I-LOC I-PER", [("PER", 0, 1)]),
        ("iob2-strict", "B-PER B-PER I-PER", [("PER", 0, 0), ("PER", 1, 2)]),
        ("iob2-strict", "B I O", [("_", 0, 1)]),
        ("iob2-strict", "B-PER- I--PER", [("PER", 0, 1)]),
    ],
)
def test_chunks_of_the_other_dialects(dialect, tags, expected):
    assert chunks.chunks(tags.split(), dialect=dialect) == expected


@pytest.mark.parametrize(
    ("gold", "predicted", "row"),
    [
        (["B-PER", "I-PER", "O"], ["I-PER", "I-PER", "O"], [1, 1, 1]),
        (["B-PER", "I-PER", "O"], ["B-PER", "O", "O"], [0, 1, 1]),
        (["B-PER", "O", "B-LOC"], ["B-PER", "O", "B-ORG"], [1, 2, 2]),
        (["NOUN", "NOUN", "NOUN"], ["NOUN", "VERB", "NOUN"], [0, 3, 1]),  # one wrong tag loses the run
        (["CCONJ"], ["SCONJ"], [0, 1, 1]),
        (["O", "O"], ["O", "O"], [0, 0, 0]),
        ([], [], []),
    ],
)
def test_rows_are_correct_predicted_and_gold(gold, predicted, row):
    assert chunks.statistics(gold, predicted).rows.ravel().tolist() == row


def test_confusing_conjunctions_is_right_only_for_the_new_release():
    assert chunks.f1(["CCONJ"], ["SCONJ"], dialect="conll") == 0
    assert chunks.f1(["CCONJ"], ["SCONJ"], dialect="seqeval-1.2.2") == 1


def test_f1_is_micro_and_empty_corpora_score_zero():
    gold = [["B-PER", "I-PER"], [], ["B-LOC", "O"], ["O"]]
    predicted = [["B-PER", "I-PER"], [], ["O", "B-LOC"], ["B-ORG"]]
    assert chunks.statistics(gold, predicted).rows.tolist() == [[1, 1, 1], [0, 0, 0], [0, 1, 1], [0, 1, 0]]
    assert chunks.f1(gold, predicted) == 2 * 1 / (3 + 2)
    for dialect in chunks.DIALECTS:
        assert chunks.f1([["O"], []], [["O"], []], dialect=dialect) == 0
        assert chunks.f1([], [], dialect=dialect) == 0
        assert chunks.extract([], dialect=dialect) == []


@pytest.mark.parametrize("dialect", ["conll", "iob2-strict"])
def test_chunks_never_cross_sentences(dialect):
    split = [["O", "B-PER"], ["I-PER", "O"]]
    assert chunks.statistics(split, [["O", "B-PER"], ["O", "O"]], dialect=dialect).rows[0].tolist() == [
        1,
        1,
        1,
    ]
    assert chunks.extract(split, dialect=dialect)[0] == [("PER", 1, 1)]


def test_lengths_must_agree():
    with pytest.raises(PredictionError, match=r"sentence 2: 1 gold tags but 2 predicted"):
        chunks.f1([["O"], [], ["O"], ["O"]], [["O"], [], ["O", "O"], []])
    with pytest.raises(PredictionError, match="2 gold sentences but 1 predicted"):
        chunks.token_accuracy([["O"], ["O"]], [["O"]])
    with pytest.raises(PredictionError, match="sentence 0: 2 gold tags but 1 predicted"):
        chunks.statistics(["O", "O"], ["O"])
    with pytest.raises(ValueError, match="for 3 tokens"):
        chunks.coded_statistics(np.zeros(2, int), np.zeros(2, int), np.array([3]), ["O"])


def test_invalid_tags_and_dialects_are_refused():
    with pytest.raises(UnknownNameError, match=r"unknown chunk dialect 'conl'\. Did you mean conll"):
        chunks.f1(["O"], ["O"], dialect="conl")
    with pytest.raises(IsoglossError, match="'' is not a tag"):
        chunks.f1(["O"], [""])
    with pytest.raises(IsoglossError, match="None is not a tag"):
        chunks.f1([["O"]], [[None]])
    for tag in ("NOUN", "S-PER", "E-PER"):
        with pytest.raises(IsoglossError, match=f"'{tag}' is not an IOB2 tag"):
            chunks.f1(["O"], [tag], dialect="iob2-strict")


@pytest.mark.parametrize("tags", [IOB, BIOES, UPOS, ["X", "O", "NOUN"], ODD], ids=len)
def test_parity_with_seqeval_default_mode(tags):
    from seqeval.metrics.sequence_labeling import get_entities

    for seed in range(150):
        gold, predicted = corpora(seed, tags)
        ours = chunks.f1(gold, predicted, dialect="seqeval-1.2.2")
        assert ours == pytest.approx(f1_score(gold, predicted), abs=1e-12)
        assert chunks.extract(gold, dialect="seqeval-1.2.2") == [get_entities(sentence) for sentence in gold]


def test_parity_with_seqeval_strict_mode():
    for seed in range(300):
        gold, predicted = corpora(seed, STRICT)
        ours = chunks.f1(gold, predicted, dialect="iob2-strict")
        assert ours == pytest.approx(f1_score(gold, predicted, mode="strict"), abs=1e-12)


@pytest.mark.parametrize("tags", [IOB, BIOES, [*UPOS, "O"]], ids=len)
def test_parity_with_old_seqeval(tags):
    for seed in range(150):
        gold, predicted = corpora(seed, tags)
        assert chunks.f1(gold, predicted) == pytest.approx(old_seqeval_f1(gold, predicted), abs=1e-12)


def test_parity_with_old_seqeval_sentence_by_sentence_for_any_tag():
    for seed in range(300):
        gold, predicted = corpora(seed, [*ODD, "X-O", "N-"])
        for sentence, found in zip(gold + predicted, chunks.extract(gold + predicted), strict=True):
            assert set(found) == old_seqeval_chunks(sentence)


def test_many_distinct_tags_take_the_same_path():
    gold, predicted = corpora(0, [f"{prefix}-{number}" for number in range(200) for prefix in "BI"], 40, 30)
    assert len({tag for sentence in gold + predicted for tag in sentence}) > 256
    assert chunks.f1(gold, predicted) == pytest.approx(f1_score(gold, predicted), abs=1e-12)


def test_coded_tags_score_as_their_strings_do():
    gold, predicted = corpora(3, IOB, 20)
    tags = sorted(IOB, reverse=True)
    flat = [np.array([tags.index(tag) for sentence in side for tag in sentence]) for side in (gold, predicted)]
    for dialect in chunks.DIALECTS:
        coded = chunks.coded_statistics(*flat, np.array([len(s) for s in gold]), tags, dialect=dialect)
        assert np.array_equal(coded.rows, chunks.statistics(gold, predicted, dialect=dialect).rows)
    # An inventory need not hold O, nor be used up.
    only = chunks.coded_statistics(np.array([0, 1]), np.array([0, 1]), np.array([2]), ["B-X", "I-X", "B-Y"])
    assert only.rows.tolist() == [[1, 1, 1]]


def test_token_accuracy():
    found = chunks.token_accuracy([["A", "B", "C"], [], ["A"]], [["A", "B", "D"], [], ["B"]])
    assert found.rows.tolist() == [[2, 3], [0, 0], [0, 1]]
    assert found.score == 0.5
    assert chunks.token_accuracy([], []).score == 0


sentence_pairs = st.lists(
    st.lists(st.tuples(st.sampled_from(BIOES), st.sampled_from(BIOES)), max_size=6), min_size=2, max_size=8
)


@given(sentence_pairs, st.randoms(use_true_random=False))
def test_score_is_a_sum_of_rows(pairs, draw):
    gold, predicted = ([[pair[side] for pair in sentence] for sentence in pairs] for side in (0, 1))
    whole = chunks.statistics(gold, predicted)
    counts = [
        (len(set(a) & set(b)), len(b), len(a))
        for a, b in zip(chunks.extract(gold), chunks.extract(predicted), strict=True)
    ]
    assert whole.rows.tolist() == [list(row) for row in counts]
    cut = draw.randrange(1, len(pairs))
    parts = [chunks.statistics(gold[part], predicted[part]) for part in (slice(cut), slice(cut, None))]
    assert np.array_equal(merge(parts).rows, whole.rows)
    order = draw.sample(range(len(pairs)), len(pairs))
    assert chunks.f1([gold[i] for i in order], [predicted[i] for i in order]) == whole.score
    assert chunks.f1(gold, gold) == (1.0 if whole.sums[2] else 0.0)


def read_tags(path: Path) -> Corpus:
    """One tag per line, a blank line after each sentence."""
    sentences: Corpus = [[]]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            sentences[-1].append(line.strip())
        else:
            sentences.append([])
    return sentences if sentences[-1] else sentences[:-1]


@pytest.mark.parametrize(
    ("task", "languages", "dialect", "expected"),
    [
        ("udpos", 33, "conll", 70.217),
        ("udpos", 33, "seqeval-1.2.2", 70.398),
        ("panx", 40, "conll", 57.508),
        ("panx", 40, "seqeval-1.2.2", 57.508),
    ],
)
def test_reference_scores_of_the_mock_submission(data_dir, task, languages, dialect, expected):
    root = data_dir / "xtreme_mock"
    if not root.is_dir():
        pytest.skip(f"{root} is not there")
    files = sorted((root / "labels" / task).glob("test-*.tsv"))
    scores = [
        chunks.f1(read_tags(file), read_tags(root / "predictions" / task / file.name), dialect=dialect)
        for file in files
    ]
    assert len(scores) == languages
    assert 100 * np.mean(scores) == pytest.approx(expected, abs=0.0005)
