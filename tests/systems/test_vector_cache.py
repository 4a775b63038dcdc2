"""The vector cache: it returns what was stored, or nothing."""

import multiprocessing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.systems.embedder.encoders import VectorCache, text_keys

DIMENSION = 3


def vectors_of(texts: list[str]) -> np.ndarray:
    return np.array([[len(text), text.count("a"), hash_free(text)] for text in texts], np.float32).reshape(-1, 3)


def hash_free(text: str) -> int:
    return sum(map(ord, text)) % 997


def filled(folder: Path, texts: list[str]) -> VectorCache:
    store = VectorCache(folder, DIMENSION)
    store.add(text_keys(texts), vectors_of(texts))
    return store


def found(store: VectorCache, texts: list[str]) -> list[str]:
    """Return the cached texts, after checking their vectors."""
    known, vectors = store.find(text_keys(texts))
    here = [text for text, is_known in zip(texts, known, strict=True) if is_known]
    np.testing.assert_array_equal(vectors, vectors_of(here))
    return here


def test_empty_cache_creates_no_files(tmp_path: Path) -> None:
    assert found(VectorCache(tmp_path / "none", DIMENSION), ["a", "b"]) == []
    assert not (tmp_path / "none").exists()


def test_keys_depend_on_the_text() -> None:
    keys = text_keys(["a", "b", "a", "", "\ud800"])
    assert keys.shape == (5, 2)
    assert (keys[0] == keys[2]).all()
    assert len({tuple(key) for key in keys.tolist()}) == 4
    assert text_keys([]).shape == (0, 2)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.text(max_size=3), max_size=6), max_size=5), st.lists(st.text(max_size=3), max_size=8))
def test_any_order_of_add_and_find(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[str]], asked: list[str]
) -> None:
    store = VectorCache(tmp_path_factory.mktemp("store"), DIMENSION)
    present: set[str] = set()
    for part in parts:
        store.add(text_keys(part), vectors_of(part))
        present.update(part)
        assert found(store, asked) == [text for text in asked if text in present]


def test_other_instances_see_later_additions(tmp_path: Path) -> None:
    reader = VectorCache(tmp_path, DIMENSION)
    assert found(reader, ["a", "b"]) == []
    filled(tmp_path, ["b"])
    assert found(reader, ["a", "b"]) == ["b"]
    filled(tmp_path, ["a"])
    assert found(reader, ["a", "b"]) == ["a", "b"]


def test_incomplete_shard_is_ignored(tmp_path: Path) -> None:
    filled(tmp_path, ["a"])
    [keys] = tmp_path.glob("*.keys.npy")
    keys.rename(tmp_path / f".{keys.name}.part")  # killed between the two files
    assert found(VectorCache(tmp_path, DIMENSION), ["a"]) == []


@pytest.mark.parametrize("suffix", ["keys", "vectors"])
def test_every_damaged_byte_is_detected(tmp_path: Path, suffix: str) -> None:
    filled(tmp_path, ["alpha", "beta"])
    keys, vectors = next(tmp_path.glob("*.keys.npy")), next(tmp_path.glob("*.vectors.npy"))
    whole = {path: path.read_bytes() for path in (keys, vectors)}
    hurt = keys if suffix == "keys" else vectors
    for place in range(len(whole[hurt])):
        for path, content in whole.items():
            path.write_bytes(content)
        spoilt = bytearray(whole[hurt])
        spoilt[place] ^= 0xFF
        hurt.write_bytes(spoilt)
        found(VectorCache(tmp_path, DIMENSION), ["alpha", "beta"])  # right or absent


@pytest.mark.parametrize("suffix", ["keys", "vectors"])
@pytest.mark.parametrize("length", [0, 5, 90, 140])
def test_truncated_shard_is_dropped_and_rebuilt(tmp_path: Path, suffix: str, length: int) -> None:
    filled(tmp_path, ["alpha", "beta"])
    [hurt] = tmp_path.glob(f"*.{suffix}.npy")
    hurt.write_bytes(hurt.read_bytes()[:length])
    store = VectorCache(tmp_path, DIMENSION)
    assert found(store, ["alpha", "beta"]) == []
    assert not list(tmp_path.iterdir())
    store.add(text_keys(["alpha"]), vectors_of(["alpha"]))
    assert found(VectorCache(tmp_path, DIMENSION), ["alpha", "beta"]) == ["alpha"]


def test_damage_affects_only_its_shard(tmp_path: Path) -> None:
    filled(tmp_path, ["alpha", "beta"])
    [hurt] = tmp_path.glob("*.vectors.npy")
    filled(tmp_path, ["gamma"])
    content = bytearray(hurt.read_bytes())
    content[-1] ^= 1
    hurt.write_bytes(content)
    store = VectorCache(tmp_path, DIMENSION)
    assert found(store, ["alpha", "beta", "gamma"]) == ["gamma"]
    filled(tmp_path, ["beta"])
    assert found(store, ["alpha", "beta", "gamma"]) == ["beta", "gamma"]


def test_vectors_of_another_dimension_are_ignored(tmp_path: Path) -> None:
    filled(tmp_path, ["alpha"])
    known, vectors = VectorCache(tmp_path, DIMENSION + 1).find(text_keys(["alpha"]))
    assert not known.any()
    assert vectors.shape == (0, DIMENSION + 1)


def write_and_read(folder: Path, number: int) -> bool:
    store = VectorCache(folder, DIMENSION)
    for step in range(20):
        texts = [f"{number}-{step}", f"shared-{step}"]
        store.add(text_keys(texts), vectors_of(texts))
        if found(store, texts) != texts:
            return False
    return True


@pytest.mark.slow
def test_many_processes_share_a_folder(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert all(pool.starmap(write_and_read, [(tmp_path, number) for number in range(3)]))
    texts = [f"{number}-{step}" for number in range(3) for step in range(20)] + [f"shared-{n}" for n in range(20)]
    assert found(VectorCache(tmp_path, DIMENSION), texts) == texts
    assert not list(tmp_path.glob(".*"))
