"""URIEL's features are read without pickles, and its distances match their definitions."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.data.uriel import DISTANCES, read_uriel, uriel_folder
from isogloss.errors import DataError
from isogloss.languages import CODES
from uriel_files import write_uriel

NAMES = ["S_SVO", "S_SOV", "S_CASE", "P_TONE", "INV_A", "INV_B"]
FEATURES = {
    "eng": [1, 0, 0, 0, 1, 1],
    "deu": [1, 1, 1, 0, 1, 0],
    "eus": [0, 1, 1, 1, 0, 0],
    "arb": [0] * 6,
    "ara": [1] * 6,
}
ANCESTORS = {"eng": ["Indo-European", "Germanic", "Anglic", "West"], "deu": ["Indo-European"], "arb": ["Semitic"]}
PLACES = {"eng": (0.0, 0.0), "deu": (0.0, 90.0), "eus": (0.0, 180.0), "arb": (90.0, 0.0)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_uriel(tmp_path, NAMES, FEATURES, unknown={"deu": [0, 3]}, ancestors=ANCESTORS, places=PLACES)
    return tmp_path


def test_distances_are_angles_and_great_circles(data: Path) -> None:
    uriel = read_uriel(data, ["en", "de", "eu"])
    assert uriel.distance("syntactic", "en", "de") == pytest.approx(2 / np.pi * np.arccos(1 / np.sqrt(3)))
    assert uriel.distance("syntactic", "en", "eu") == pytest.approx(1)  # nothing in common
    assert uriel.distance("phonological", "en", "eu") == 1  # no feature at all
    assert uriel.distance("inventory", "en", "de") == pytest.approx(0.5)
    assert uriel.distance("featural", "en", "de") == pytest.approx(2 / np.pi * np.arccos(2 / np.sqrt(12)))
    assert uriel.distance("genetic", "en", "de") == pytest.approx(2 / np.pi * np.arccos(1 / 2))
    assert uriel.distance("genetic", "en", "eu") == 1
    assert uriel.distance("geographic", "en", "de") == pytest.approx(0.5, abs=1e-6)
    assert uriel.distance("geographic", "en", "eu") == pytest.approx(
        1, abs=1e-3
    )  # arc cosine at the edge of its domain
    for kind in DISTANCES:
        assert uriel.distance(kind, "de", "de") == 0
        assert uriel.distance(kind, "de", "eu") == uriel.distance(kind, "eu", "de")


def test_features_of_the_macrolanguage_and_genealogy_of_the_variety(data: Path) -> None:
    uriel = read_uriel(data, ["ar"])
    assert uriel.languages["ar"].values.tolist() == [1] * 6
    assert uriel.languages["ar"].ancestors == ("Semitic",)
    assert uriel.languages["ar"].place == pytest.approx([0, 0, 1], abs=1e-6)
    assert read_uriel(data, ["ar"], varieties=True).languages["ar"].values.tolist() == [0] * 6


def test_unattested_features_are_marked(data: Path) -> None:
    assert read_uriel(data, ["de"]).languages["de"].attested.tolist() == [False, True, True, False, True, True]


def test_languages_beyond_the_registry_go_by_their_codes(data: Path) -> None:
    write_uriel(data, NAMES, {**FEATURES, "kin": [1, 0, 1, 0, 1, 0]})
    assert read_uriel(data, ["kin"]).languages["kin"].values.sum() == 3
    with pytest.raises(DataError, match=r"feature_predictions\.npz: unknown language xxx\. Use"):
        read_uriel(data, ["en", "xxx"])


def test_missing_or_invalid_files(data: Path) -> None:
    with pytest.raises(DataError, match="isogloss fetch uriel"):
        read_uriel(data / "nowhere", ["en"])
    path = data / "uriel/feature_averages.npz"
    np.savez(path, feats=np.array(NAMES), langs=np.array(list(FEATURES)), data=np.zeros((5, 6)))
    with pytest.raises(DataError, match=r"per language \(5\), got shape \(5, 6\)"):
        read_uriel(data, ["en"])
    np.savez(path, feats=np.array(NAMES), langs=np.array(list(FEATURES)), data=np.full((5, 6, 1), np.nan))
    with pytest.raises(DataError, match="not finite"):
        read_uriel(data, ["en"])
    np.savez(path, feats=np.array(NAMES[::-1]), langs=np.array(list(FEATURES)), data=np.zeros((5, 6, 1)))
    with pytest.raises(DataError, match="do not match the attested ones"):
        read_uriel(data, ["en"])
    np.savez(path, feats=np.array(["a", None]), langs=np.array(list(FEATURES)), data=np.zeros((5, 6, 1)))
    with pytest.raises(DataError, match=r"not an \.npz archive of arrays: Object arrays"):
        read_uriel(data, ["en"])


def test_lang2vec_files_lack_only_coordinates(data: Path) -> None:
    six = read_uriel(data, ["en", "de"])
    (data / "uriel/geocoord_features.npz").unlink()
    (data / "uriel").rename(data / "lang2vec")
    assert uriel_folder(data) == data / "lang2vec"
    five = read_uriel(data, ["en", "de"])
    assert six.distances == DISTANCES
    assert five.distances == tuple(kind for kind in DISTANCES if kind != "geographic")
    assert all(five.distance(kind, "en", "de") == six.distance(kind, "en", "de") for kind in five.distances)
    with pytest.raises(DataError, match=r"geocoord_features\.npz: missing coordinates\. Run `isogloss"):
        five.distance("geographic", "en", "de")


def test_real_files(data_dir: Path) -> None:
    if uriel_folder(data_dir) is None:
        pytest.skip("URIEL is not in the data folder: `isogloss fetch uriel` brings it")
    uriel = read_uriel(data_dir, CODES)
    counts = {kind: int(uriel.of_kind(kind).sum()) for kind in ("syntactic", "phonological", "inventory", "featural")}
    assert counts == {"syntactic": 103, "phonological": 28, "inventory": 158, "featural": 289}
    others = set(CODES) - {"en"}
    nearest = {kind: min(others, key=lambda code: uriel.distance(kind, "en", code)) for kind in uriel.distances}
    assert nearest["genetic"] in ("de", "nl", "af")


def test_real_coordinates(data_dir: Path) -> None:
    folder = uriel_folder(data_dir)
    if folder is None or not (folder / "geocoord_features.npz").is_file():
        pytest.skip("URIEL's places are not in the data folder: `isogloss fetch uriel` brings them")
    uriel = read_uriel(data_dir, CODES)
    places = {code: uriel.languages[code].place for code in ("en", "ja", "qu")}
    north = {code: float(np.degrees(np.arcsin(place[2]))) for code, place in places.items() if place is not None}
    assert north == pytest.approx({"en": 53, "ja": 35, "qu": -14}, abs=1.5)
    assert min(set(CODES) - {"en"}, key=lambda code: uriel.distance("geographic", "en", code)) in ("nl", "fr")
