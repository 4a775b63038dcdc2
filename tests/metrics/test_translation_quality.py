"""Corpus BLEU and chrF compared with hand-computed values and with sacrebleu, on strings and on real translations."""

import lzma
import pickle
from collections import Counter
from math import exp
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.metrics.estimate import estimate
from isogloss.metrics.statistics import merge
from isogloss.metrics.translation_quality import (
    TOKENIZERS,
    bleu_signature,
    bleu_statistics,
    chrf_signature,
    chrf_statistics,
    tokenizer_for,
)

TEXT = st.text("abAB ,.-'\"&;(1)9\n<>é中、\u2460\u3000ก\ud800😀", max_size=30)
REFERENCES = st.integers(1, 3).flatmap(lambda k: st.lists(st.tuples(*[TEXT] * (k + 1)), min_size=1, max_size=4))


def bleu(translation: str, *references: str, tokenizer: str = "none") -> float:
    return bleu_statistics([translation], [[text] for text in references], tokenizer).score


def chrf(translation: str, *references: str, words: bool = False) -> float:
    return chrf_statistics([translation], [[text] for text in references], words=words).score


def test_bleu_by_hand() -> None:
    # Matches 4, 2, 1, 0 of 5, 4, 3, 2: the last precision is smoothed to 1/(2·2).
    assert bleu("a b c x e", "a b c d e") == pytest.approx((4 / 5 * 2 / 4 * 1 / 3 * 1 / 4) ** 0.25)
    # Two texts: 5 + 4 of 5 + 4 unigrams, 4 + 3, 3 + 2, 2 + 1; nine words against ten.
    both = bleu_statistics(["a b c d e", "p q r s"], [["a b c d e", "p q r s t"]], "none")
    assert both.score == pytest.approx(exp(1 - 10 / 9))
    assert both.rows.tolist() == [[5, 5, 5, 4, 3, 2, 5, 4, 3, 2], [4, 5, 4, 3, 2, 1, 4, 3, 2, 1]]


def test_bleu_is_zero_without_a_match_or_without_four_words() -> None:
    assert bleu("p q r s", "a b c d") == 0
    assert bleu("a b c", "a b c") == 0
    assert bleu("", "a") == bleu("a", "") == bleu("", "") == 0


def test_bleu_takes_the_largest_count_and_the_closest_length() -> None:
    # "the" occurs twice in one reference and once in the other; 3 and 5 words are equally close to 4.
    rows = bleu_statistics(["the the the cat"], [["the cat sat on mats"], ["the the cat"]], "none").rows
    assert rows.tolist() == [[4, 3, 3, 2, 1, 0, 4, 3, 2, 1]]


def test_chrf_by_hand() -> None:
    # "abc" and "abd" without blanks: 2 of 3 characters, 1 of 2 pairs and 0 of 1 triples, on both sides.
    assert chrf("a bc", "ab d") == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    # "ab" and "abcd": orders 1 and 2 only, precision 1, recall (2/4 + 1/3) / 2 = 5/12; 5 P R / (4 P + R).
    assert chrf("ab", "abcd") == pytest.approx(5 * (5 / 12) / (4 + 5 / 12))
    assert chrf("xy", "ab") == chrf("", "ab") == chrf("ab", "") == 0
    # With words "a", "b": one of two words, no pair; characters 1/2 and 0/1.
    assert chrf("a b", "a c", words=True) == pytest.approx((1 / 2 + 0 + 1 / 2 + 0) / 4)
    assert chrf("abc", "xyz", "abc", "abd") == 1


def test_tokenizers_by_language() -> None:
    assert [tokenizer_for(code) for code in ("es", "hi", "zh", "ja", "th", "my", "lo", "km", "zh-Hant")] == [
        *("13a", "13a"),
        *["char"] * 7,
    ]
    with pytest.raises(UnknownNameError, match="tokenizer 'flores'"):
        bleu_statistics(["a"], [["a"]], "flores")


def test_references_must_be_parallel() -> None:
    with pytest.raises(IsoglossError, match="no references"):
        chrf_statistics(["a"], [])
    with pytest.raises(IsoglossError, match="reference 2 has 1 texts, but there are 2 translations"):
        bleu_statistics(["a", "b"], [["a", "b"], ["a"]])


def test_no_texts_and_one_text_have_a_score() -> None:
    assert bleu_statistics([], [[]]).score == chrf_statistics([], [[]], words=True).score == 0
    alone = estimate(bleu_statistics(["a b c d"], [["a b c d"]]))
    assert alone.value == pytest.approx(1) and alone.score_interval() is None


def test_blocks_shards_and_pickles_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ours, theirs = ([" ".join(rng.choice(list("abcde"), size=9)) for _ in range(50)] for _ in range(2))
    whole = bleu_statistics(ours, [theirs]), chrf_statistics(ours, [theirs], words=True)
    monkeypatch.setattr("isogloss.metrics.translation_quality._BLOCK", 40)
    for statistics, again in zip(
        whole, (bleu_statistics(ours, [theirs]), chrf_statistics(ours, [theirs], words=True)), strict=True
    ):
        assert np.array_equal(statistics.rows, again.rows)
        parts = merge([statistics.select(np.arange(20)), statistics.select(np.arange(20, 50))])
        assert parts.score == pickle.loads(pickle.dumps(statistics)).score == statistics.score  # noqa: S301


def test_interval_has_the_width_of_the_bootstrap() -> None:
    rng = np.random.default_rng(1)
    theirs = [" ".join(rng.choice(list("abcdefgh"), size=12)) for _ in range(400)]
    ours = [" ".join(w if rng.random() < 0.8 else "x" for w in text.split()) for text in theirs]
    statistics = bleu_statistics(ours, [theirs])
    low, high = estimate(statistics).score_interval() or (0.0, 0.0)
    draws = [statistics.select(rng.integers(0, 400, 400)).score for _ in range(400)]
    assert high - low == pytest.approx(3.92 * np.std(draws), rel=0.15)
    assert low < statistics.score < high


@pytest.mark.slow
def test_text_of_two_megabytes() -> None:
    text = "word " * 400_000
    assert bleu(text, text, tokenizer="13a") == pytest.approx(1)
    assert chrf(text, text) == pytest.approx(1)


@given(REFERENCES, st.sampled_from(sorted(TOKENIZERS)))
def test_bleu_is_sacrebleus(rows: list[tuple[str, ...]], tokenizer: str) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    ours, *references = map(list, zip(*rows, strict=True))
    theirs = sacrebleu.corpus_bleu(ours, references, tokenize=tokenizer, force=True).score
    assert 100 * bleu_statistics(ours, references, tokenizer).score == pytest.approx(theirs, abs=1e-9)


@given(REFERENCES, st.booleans())
def test_chrf_is_sacrebleus(rows: list[tuple[str, ...]], words: bool) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    ours, *references = map(list, zip(*rows, strict=True))
    theirs = sacrebleu.corpus_chrf(ours, references, word_order=2 * words).score
    assert 100 * chrf_statistics(ours, references, words=words).score == pytest.approx(theirs, abs=1e-9)


@given(st.characters())
def test_chinese_characters_are_sacrebleus(character: str) -> None:
    tokenizers = pytest.importorskip("sacrebleu.tokenizers.tokenizer_zh", reason="sacrebleu is not installed")
    text = f"a{character}b"
    assert TOKENIZERS["zh"](text) == tokenizers.TokenizerZh()(text).split()


def test_every_chinese_character_is_sacrebleus() -> None:
    tokenizers = pytest.importorskip("sacrebleu.tokenizers.tokenizer_zh", reason="sacrebleu is not installed")
    text = "".join(f"a{chr(code)}" for code in range(0x2000, 0x10000))
    assert TOKENIZERS["zh"](text) == tokenizers.TokenizerZh()(text).split()


def test_signatures_are_sacrebleus() -> None:
    metrics = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu is not installed")

    def theirs(metric: Any, count: int) -> str:
        metric.corpus_score(["a"], [["a"]] * count)
        return str(metric.get_signature()).rpartition("|")[0]

    for count in (1, 2):
        assert theirs(metrics.BLEU(tokenize="char"), count) == bleu_signature(count, "char").rpartition("|")[0]
        assert theirs(metrics.CHRF(), count) == chrf_signature(count).rpartition("|")[0]
        assert theirs(metrics.CHRF(word_order=2), count) == chrf_signature(count, words=True).rpartition("|")[0]


def lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return stream.read().removesuffix("\n").split("\n")


def real_outputs(folder: Path) -> list[tuple[str, str, Path, list[Path]]]:
    """Return pair, target language, translations and references of every system."""
    found = []
    for year in ("wmt21", "wmt22"):
        for path in sorted((folder / year / "system-outputs").glob("*.hyp.*.xz")):
            test, pair, _, _, target, _ = path.name.split(".")
            references = sorted((folder / year / "references").glob(f"{test}.{pair}.ref.*"))
            found.append((pair, target, path, references))
    for path in sorted((folder / "flores_chatgpt").rglob("test_rand_50.*-*.txt.xz")):
        pair = path.name.split(".")[2]
        target = pair.partition("-")[2]
        if (reference := path.with_name(f"test_rand_50.{target}.txt.xz")).exists():
            found.append((pair, target, path, [reference]))
    return found


@pytest.mark.slow
def test_every_real_system_scores_as_with_sacrebleu(data_dir: Path, request: pytest.FixtureRequest) -> None:
    """The first sentences of every system by default, all of them with `--every-case`: sacrebleu takes a minute."""
    most = None if request.config.getoption("--every-case") else 50
    sacrebleu = pytest.importorskip("sacrebleu", reason="sacrebleu is not installed")
    outputs = real_outputs(data_dir / "mt_system_outputs")
    if not outputs:
        pytest.skip("no system outputs in the data folder")
    assert {"bn-hi", "de-en", "en-ja", "ro-zh"} <= {pair for pair, *_ in outputs}
    for _, target, path, reference_paths in outputs:
        ours, references = lines(path)[:most], [lines(reference)[:most] for reference in reference_paths]
        tokenizer = tokenizer_for(target)
        theirs = sacrebleu.corpus_bleu(ours, references, tokenize=tokenizer, force=True).score
        assert 100 * bleu_statistics(ours, references, tokenizer).score == pytest.approx(theirs, abs=1e-9), path.name
        theirs = sacrebleu.corpus_chrf(ours, references).score
        assert 100 * chrf_statistics(ours, references).score == pytest.approx(theirs, abs=1e-9), path.name


@pytest.mark.slow
def test_scores_are_those_that_wmt_published(data_dir: Path, request: pytest.FixtureRequest) -> None:
    """One system per year and pair by default, every system with `--every-case`."""
    every = request.config.getoption("--every-case")
    folder = data_dir / "mt_system_outputs"
    if not folder.is_dir():
        pytest.skip("no system outputs in the data folder")
    compared: Counter[tuple[str, str]] = Counter()
    for year in ("wmt21", "wmt22"):
        rows = [line.split("\t") for line in lines(folder / year / "automatic-scores.tsv.xz")]
        published = {(row[0], row[1], row[4]): float(row[5]) for row in rows[1:]}
        for pair, target, path, references in real_outputs(folder):
            system = path.name.split(".")[3]
            # WMT scores Japanese with a morphological analyser.
            if target == "ja" or year not in path.parts or (pair, system, "bleu-A") not in published:
                continue
            if compared[year, pair] and not every:
                continue
            ours, reference = lines(path), lines(references[0])
            bleu = bleu_statistics(ours, [reference], "zh" if target == "zh" else "13a")
            assert 100 * bleu.score == pytest.approx(published[pair, system, "bleu-A"], abs=1e-9)
            chrf = chrf_statistics(ours, [reference])
            assert 100 * chrf.score == pytest.approx(published[pair, system, "chrf-A"], abs=1e-9)
            compared[year, pair] += 1
    assert len(compared) >= 5
    assert not every or compared.total() > 50
