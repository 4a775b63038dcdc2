"""Embeddings as predictions: expected scores by brute force over synthetic vectors."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from e2e import rawfiles
from e2e.command import cell, refused, scored, values, write
from e2e.corrupted import lareqa_files
from e2e.independent import (
    accuracy,
    mined_pairs,
    one_target_scores,
    pair_scores,
    ranked_rows,
    ranking_scores,
    tuned_threshold,
    unit_rows,
)

Matrix = npt.NDArray[np.float64]


def save(folder: Path, name: str, ids: list[str], vectors: npt.NDArray[Any]) -> None:
    write(folder / f"{name}.ids.txt", "".join(f"{identifier}\n" for identifier in ids))
    np.save(folder / f"{name}.npy", vectors)


# ---------------------------------------------------------------------------------------------------------------
# Tatoeba: nearest by cosine, ties go to the lowest line


def tatoeba_vectors(root: Path, language: str) -> tuple[list[str], Matrix, Matrix]:
    """Return vectors of signs in 16 dimensions: equal lengths and exact cosines, so that there are many ties."""
    ids = [str(row) for row in range(len(rawfiles.tatoeba_english(root, language)))]
    draw = np.random.default_rng(1)
    other = draw.choice([-1.0, 1.0], (len(ids), 16))
    flipped = draw.random(other.shape) < 0.15
    return ids, np.where(flipped, -other, other), other


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_tatoeba(dtype: type, data_dir: Path, tmp_path: Path) -> None:
    ids, english, other = tatoeba_vectors(data_dir, "jv")
    folder = tmp_path / "run" / "tatoeba"
    # Files may have their rows in any order, and vectors of any length.
    save(folder, "queries-jv", ids[::-1], (4 * english[::-1]).astype(dtype))
    save(folder, "candidates-jv", ids, (2 * other).astype(dtype))
    nearest = [row[0] for row in ranked_rows(unit_rows(english), unit_rows(other), 1)]
    found = cell(scored(tmp_path / "run", "--data", data_dir, "--tasks", "tatoeba"), "tatoeba", "jv")
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(accuracy(list(range(len(ids))), nearest), abs=1e-9)
    assert f"|split:test|n:{len(ids)}|" in found["signature"]


# ---------------------------------------------------------------------------------------------------------------
# LAReQA: inner products over the pool of all languages


@pytest.fixture(scope="module")
def lareqa_vectors(data_dir: Path) -> tuple[rawfiles.Lareqa, Matrix, Matrix]:
    """Return integer vectors: each question has its own, near those of its eleven answers; the rest is noise."""
    built = lareqa_files(data_dir)
    draw = np.random.default_rng(2)
    rows = {name: row for row, name in enumerate(built.candidates)}
    pool = draw.integers(-4, 5, (len(rows), 16)).astype(np.float64)
    asked = draw.integers(-4, 5, (len(built.questions["th"]), 16)).astype(np.float64)
    for vector, name in zip(asked, built.questions["th"], strict=True):
        targets = [rows[target] for target in built.targets[name]]
        pool[targets] = vector + draw.integers(-3, 4, (len(targets), 16))
    return built, asked, pool


@pytest.mark.parametrize("one_pool", [True, False])
def test_lareqa(one_pool: bool, lareqa_vectors: Any, data_dir: Path, tmp_path: Path) -> None:
    built, asked, pool = lareqa_vectors
    folder = tmp_path / "run" / "lareqa"
    names = built.questions["th"]
    save(folder, "queries-th", names, asked)
    if one_pool:
        save(folder, "candidates", built.candidates, pool)
    else:
        for language in rawfiles.LAREQA_LANGUAGES:
            rows = [row for row, name in enumerate(built.candidates) if name.startswith(f"{language}_")]
            save(folder, f"candidates-{language}", [built.candidates[row] for row in rows], pool[rows])
    rankings = [[built.candidates[row] for row in ranked] for ranked in ranked_rows(asked, pool, 30)]
    targets = [built.targets[name] for name in names]
    expected = {"map@20": (ranking_scores(rankings, targets)["map@20"], len(names))}
    expected |= one_target_scores(rankings, targets, "th")
    found = cell(scored(tmp_path / "run", "--data", data_dir, "--tasks", "lareqa"), "lareqa", "th")
    assert {name: (number["value"], number["n"]) for name, number in found["metrics"].items()} == {
        name: (pytest.approx(score, abs=1e-9), n) for name, (score, n) in expected.items()
    }
    assert 20 < found["metrics"]["map@20"]["value"] < 90  # neither trivial nor random


# ---------------------------------------------------------------------------------------------------------------
# BUCC: margin mining, the threshold tuned on dev

Side = dict[str, tuple[str, Any]]


def make_bucc(root: Path, split: str, pairs: int, seed: int) -> tuple[Side, Side, list[tuple[str, str]]]:
    """Write sentences with vectors: close translations, unrelated sentences, and a few repeated ones."""
    draw = np.random.default_rng(seed)
    source: Side = {f"zh-{row:05}": (f"句子 {row}", draw.normal(size=24)) for row in range(pairs + 60)}
    english: Side = {f"en-{row:05}": (f"sentence {row}", draw.normal(size=24)) for row in range(pairs + 90)}
    gold = list(zip(list(source)[:pairs], list(english)[-pairs:], strict=True))
    for first, second in gold:
        english[second] = english[second][0], source[first][1] + draw.normal(scale=0.8, size=24)
    for row in range(0, pairs, 40):
        copied = list(source)[pairs + row // 40]
        source[copied] = source[gold[row][0]][0], source[copied][1]
    stem = f"bucc2018/zh-en.{split}"
    for side, sentences in (("zh", source), ("en", english)):
        write(root / f"{stem}.{side}", "".join(f"{name}\t{text}\n" for name, (text, _) in sentences.items()))
    write(root / f"{stem}.gold", "".join(f"{first}\t{second}\n" for first, second in gold))
    return source, english, gold


def save_bucc(folder: Path, prefix: str, source: Side, english: Side) -> None:
    save(folder, f"{prefix}queries-zh", list(source), np.array([vector for _, vector in source.values()]))
    save(folder, f"{prefix}candidates-zh", list(english), np.array([vector for _, vector in english.values()]))


@pytest.mark.parametrize("split", ["dev", "test"])
def test_bucc(split: str, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "run" / "bucc"
    source, english, gold = make_bucc(data, "dev", 257, seed=4)
    save_bucc(folder, "dev-", source, english)
    mined = mined_pairs(source, english)
    cut = tuned_threshold(mined, gold)
    if split == "test":
        source, english, gold = make_bucc(data, "test", 1899, seed=5)
        save_bucc(folder, "", source, english)
        mined = mined_pairs(source, english)
    expected = pair_scores(gold, [(first, second) for first, second, score in mined if score >= cut])
    record = scored(tmp_path / "run", "--data", data, "--suite", "xtreme", "--tasks", "bucc", "--split", split)
    found = cell(record, "bucc", "zh")
    assert values(found["metrics"]) == pytest.approx(expected, abs=1e-9)
    assert f"|split:{split}|n:{len(source)}|" in found["signature"]
    assert 50 < expected["f1"] < 99


# ---------------------------------------------------------------------------------------------------------------
# Invalid embeddings


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ("nan", "row 3 (id '3') is not finite"),
        ("dimension", "16 dimensions, but the candidates have 15"),
        ("short", "205 rows but 204 ids"),
        ("twice", "duplicate id"),
        ("stranger", "no vector for 1 id, e.g. '7'"),
        ("flat", "shape (3280,)"),
        ("pickle", "not a plain .npy array"),
        ("no-ids", "missing file"),
        ("no-candidates", "missing file"),
    ],
)
def test_bad_embeddings_are_refused(spoil: str, message: str, data_dir: Path, tmp_path: Path) -> None:
    ids, english, other = tatoeba_vectors(data_dir, "jv")
    folder = tmp_path / "run" / "tatoeba"
    save(folder, "queries-jv", ids, english)
    save(folder, "candidates-jv", ids, other)
    blamed = folder / "queries-jv.npy"
    if spoil == "nan":
        english[3, 5] = np.nan
        save(folder, "queries-jv", ids, english)
    elif spoil == "dimension":
        save(folder, "candidates-jv", ids, other[:, :-1])
    elif spoil == "short":
        save(folder, "queries-jv", ids[:-1], english)
    elif spoil == "twice":
        save(folder, "queries-jv", [*ids[:-1], "0"], english)
        blamed = folder / "queries-jv.ids.txt"
    elif spoil == "stranger":
        save(folder, "queries-jv", ["x" if name == "7" else name for name in ids], english)
    elif spoil == "flat":
        save(folder, "queries-jv", ids, english.ravel())
    elif spoil == "pickle":
        np.save(blamed, np.array([{"not": "numbers"}] * len(ids)), allow_pickle=True)
    elif spoil == "no-ids":
        blamed = folder / "queries-jv.ids.txt"
        blamed.unlink()
    elif spoil == "no-candidates":
        blamed = folder / "candidates-jv.npy"
        blamed.unlink()
    error = refused(tmp_path / "run", "--data", data_dir, "--tasks", "tatoeba")
    assert f"{blamed}: " in error
    assert message in error
