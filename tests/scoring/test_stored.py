"""Stored cells round-trip, equal cells give equal bytes, and damaged files give no cell."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from isogloss.metrics.statistics import F1, MEAN, Statistics, Value
from isogloss.scoring.cells import Cell
from isogloss.scoring.score import score_cell
from isogloss.scoring.stored import VALUES, can_store, read_cell, write_cell
from isogloss.tasks.kinds import Judgement, LanguagePairs


def made(value: Value = MEAN) -> Cell:
    """Return a cell with all optional fields."""
    rng = np.random.default_rng(0)
    rows = rng.random((6, 1))
    of_pairs = Statistics(rows, value, np.array([0, 0, 1, 1, 2, 2]))
    metrics = {
        "map@20": Statistics(rng.random((3, 1)), MEAN),
        "one-target": of_pairs,
        "f1": Statistics(rng.integers(0, 5, (3, 3)).astype(float), F1),
    }
    pairs = LanguagePairs("one-target", of_pairs, np.array(["de", "zh", "de", "zh", "de", "zh"]))
    judgement = Judgement(metrics, pairs, dialect="squad", notes=["said by the judge"])
    units, clusters, notes = ["q-1", "q-ü", "q-\0"], ["Rain", "Rain", "Wind"], ["said by the judge"]
    return Cell(
        task="lareqa",
        language="de",
        split="test",
        n=3,
        judgement=judgement,
        units=units,
        checksum="c" * 64,
        notes=notes,
        clusters=clusters,
    )


def test_cells_round_trip(tmp_path: Path) -> None:
    cell, path = made(), tmp_path / "folder" / "de.npz"
    write_cell(path, cell)
    found = read_cell(path)
    assert found is not None
    assert found.signature == cell.signature
    assert (found.units, found.clusters) == (cell.units, cell.clusters)
    assert (found.notes, found.partial) == (cell.notes, cell.partial)
    assert list(found.metrics) == list(cell.metrics)
    pairs, expected = found.judgement.pairs, cell.judgement.pairs
    assert pairs is not None
    assert expected is not None
    assert pairs.metric == expected.metric
    np.testing.assert_array_equal(pairs.target_languages, expected.target_languages)
    both = [(found.metrics[name], cell.metrics[name]) for name in cell.metrics]
    for read, written in (*both, (pairs.statistics, expected.statistics)):
        np.testing.assert_array_equal(read.rows, written.rows)
        np.testing.assert_array_equal(read.units, written.units)  # type: ignore[arg-type]
        assert read.value is written.value
    assert score_cell(found) == score_cell(cell)


def test_files_without_clusters_are_readable(tmp_path: Path) -> None:
    write_cell(tmp_path / "new.npz", made())
    with np.load(tmp_path / "new.npz") as arrays:
        kept = dict(arrays)
    header = json.loads(kept["header"].tobytes())
    del header["clusters"]
    np.savez(tmp_path / "old.npz", **{**kept, "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})
    found = read_cell(tmp_path / "old.npz")
    assert found is not None
    assert found.clusters is None
    assert found.units == made().units


def test_equal_cells_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_cell(tmp_path / name, made())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with zipfile.ZipFile(tmp_path / "a") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}  # they contain no times


def test_shared_arrays_are_stored_once(tmp_path: Path) -> None:
    write_cell(tmp_path / "x.npz", made())
    with np.load(tmp_path / "x.npz") as arrays:
        assert len(arrays.files) == 6  # a header, three sets of rows, units, target languages


@pytest.mark.parametrize("keep", [0, 1, 100, -1])
def test_damaged_file_gives_no_cell(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "x.npz"
    assert read_cell(path) is None
    write_cell(path, made())
    path.write_bytes(path.read_bytes()[:keep])
    assert read_cell(path) is None


def test_other_files_give_no_cell(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", rows=np.zeros(3))
    assert read_cell(tmp_path / "x.npz") is None
    np.save(tmp_path / "y.npy", np.zeros(3))
    assert read_cell(tmp_path / "y.npy") is None
    (tmp_path / "z.npz").write_text("{}")
    assert read_cell(tmp_path / "z.npz") is None


def test_unnamed_value_function_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Value("own", ("score",), lambda sums, count: sums[..., 0])
    assert can_store(made())
    assert not can_store(made(own))
    assert not can_store(made(Value("mean", ("score",), lambda sums, count: sums[..., 0])))  # ours only by its name
    monkeypatch.setitem(VALUES, "own", own)
    write_cell(tmp_path / "x.npz", made(own))
    monkeypatch.undo()
    assert read_cell(tmp_path / "x.npz") is None
