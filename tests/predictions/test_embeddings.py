"""Vectors as predictions: rankings and mined pairs match brute force."""

import re
from pathlib import Path

import numpy as np
import pytest

import isogloss
from isogloss.errors import PredictionError
from isogloss.predictions.folder import PredictionFolder
from isogloss.tasks.registry import task
from predictions.made import bucc_dev, tatoeba


def save(folder: Path, name: str, vectors: np.ndarray, ids: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.npy", vectors.astype(np.float32))
    (folder / f"{name}.ids.txt").write_text("\n".join(ids) + "\n")


def test_tatoeba_ranks_by_cosine_in_any_row_order(tmp_path: Path) -> None:
    tatoeba(tmp_path / "data")
    rng = np.random.default_rng(1)
    candidates = rng.normal(size=(205, 12))
    queries = candidates + 0.9 * rng.normal(size=(205, 12))
    queries *= rng.uniform(0.1, 9, size=(205, 1))  # lengths must not matter
    order = rng.permutation(205)
    save(tmp_path / "p/tatoeba", "queries-jv", queries[order], [str(i) for i in order])
    save(tmp_path / "p/tatoeba", "candidates-jv", candidates, [str(i) for i in range(205)])
    unit = lambda x: x / np.linalg.norm(x, axis=1, keepdims=True)  # noqa: E731
    expected = 100 * np.mean((unit(queries) @ unit(candidates).T).argmax(axis=1) == np.arange(205))
    results = isogloss.score(tmp_path / "p", data=tmp_path / "data", tasks=["tatoeba"], languages=["jv"])
    assert 10 < expected < 90
    assert results["tatoeba", "jv"].metrics["accuracy"].value == pytest.approx(expected)


def test_bucc_dev_is_mined_and_cut_at_the_threshold(tmp_path: Path) -> None:
    bucc_dev(tmp_path / "data")
    rng = np.random.default_rng(2)
    chinese = rng.normal(size=(300, 24))
    english = rng.normal(size=(400, 24))
    english[:257] = chinese[:257] + 0.2 * rng.normal(size=(257, 24))
    save(tmp_path / "p/bucc", "dev-queries-zh", chinese, [f"zh-{i}" for i in range(300)])
    save(tmp_path / "p/bucc", "dev-candidates-zh", english, [f"en-{i}" for i in range(400)])
    results = isogloss.score(
        tmp_path / "p", suite="xtreme", data=tmp_path / "data", split="dev", tasks=["bucc"], languages=["zh"]
    )
    metrics = results["bucc", "zh"].metrics
    assert metrics["f1"].value > 97
    assert metrics["recall"].value > 97
    (note,) = results["bucc", "zh"].notes
    said = re.fullmatch(r"the threshold was tuned on the gold .*; F1 is ([\d.]+) with each half cut .*", note)
    assert said is not None
    assert 95 < float(said[1]) <= 100


def test_dev_pairs_get_a_note_on_tuning(tmp_path: Path) -> None:
    bucc_dev(tmp_path / "data")
    pairs = {f"zh-{i}": f"en-{i}" for i in range(200)}
    results = isogloss.score(
        {"bucc": {"zh": pairs}}, suite="xtreme", data=tmp_path / "data", split="dev", tasks=["bucc"], languages=["zh"]
    )
    assert results["bucc", "zh"].metrics["precision"].value == 100
    assert ["thresholds are tuned on dev" in note for note in results["bucc", "zh"].notes] == [True]


def test_candidates_of_all_languages_can_be_one_file(tmp_path: Path) -> None:
    bucc_dev(tmp_path / "data")
    save(tmp_path / "p/bucc", "dev-queries-zh", np.eye(300), [f"zh-{i}" for i in range(300)])
    save(tmp_path / "p/bucc", "dev-candidates", np.eye(400)[:, :300], [f"en-{i}" for i in range(400)])
    report = isogloss.validate(tmp_path / "p", tmp_path / "data")
    assert [cell.path.name for cell in report.cells] == ["dev-queries-zh.npy"]
    assert not report.problems


def test_mining_on_test_requires_dev_vectors(tmp_path: Path) -> None:
    bucc_dev(tmp_path / "data")
    for name in ("zh", "en", "gold"):
        source = tmp_path / f"data/bucc2018/zh-en.dev.{name}"
        source.with_name(f"zh-en.test.{name}").write_text(source.read_text())
    save(tmp_path / "p/bucc", "queries-zh", np.eye(300), [f"zh-{i}" for i in range(300)])
    save(tmp_path / "p/bucc", "candidates-zh", np.eye(400)[:, :300], [f"en-{i}" for i in range(400)])
    folder = PredictionFolder(tmp_path / "p")
    found = folder.find(task("bucc"), "zh", "test")
    assert found is not None
    examples = isogloss.load("bucc", "zh", data=tmp_path / "data", allow_partial=True)
    with pytest.raises(PredictionError, match=r"dev-queries-zh\.npy: missing dev vectors"):
        folder.read(task("bucc"), found, examples)


def test_ids_are_required(tmp_path: Path) -> None:
    tatoeba(tmp_path / "data")
    (tmp_path / "p/tatoeba").mkdir(parents=True)
    np.save(tmp_path / "p/tatoeba/queries-jv.npy", np.ones((205, 4), dtype=np.float32))
    with pytest.raises(PredictionError, match=r"queries-jv\.ids\.txt: missing file"):
        isogloss.score(tmp_path / "p", data=tmp_path / "data", tasks=["tatoeba"], languages=["jv"])
