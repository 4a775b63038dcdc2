"""Diversity of languages: extremes of the scales, the printed indices, and invalid names."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.analysis.api import analyze
from isogloss.analysis.diversity import diversity, entropy, family_index, language_sets, typology_index
from isogloss.analysis.finding import AnalysisError
from isogloss.data.uriel import uriel_folder
from isogloss.errors import DataError, UnknownNameError
from uriel_files import write_uriel

pytestmark = pytest.mark.filterwarnings("error")


def test_identical_and_opposite_languages() -> None:
    alike = np.tile([1.0, 0.0, 1.0, 1.0], (6, 1))
    assert typology_index(alike) == 0
    assert typology_index(np.concatenate([alike, 1 - alike])) == pytest.approx(1)
    assert typology_index(alike[:1]) == 0
    assert family_index(["a"] * 4) == 0.25
    assert family_index(["a", "b", "c"]) == 1
    for none in (np.zeros((0, 3)), np.zeros((3, 0))):
        with pytest.raises(AnalysisError):
            typology_index(none)
    with pytest.raises(AnalysisError):
        family_index([])


def test_entropy_is_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    shares = np.array([0.0, 0.1, 0.5, 0.9, 1.0])
    assert entropy(shares) == pytest.approx(stats.entropy([shares, 1 - shares], base=2))


def test_a_typology_index_recovers_the_entropy_it_was_drawn_with() -> None:
    rng = np.random.default_rng(0)
    shares = rng.uniform(size=400)
    features = (rng.uniform(size=(2000, 400)) < shares).astype(float)
    assert typology_index(features) == pytest.approx(float(entropy(shares).mean()), abs=0.003)


def test_sets_of_languages() -> None:
    sets = language_sets(["xtreme-r", "xtreme", "xglue", "xcopa", "en,deu,Swahili", "qab", "fr", "de"])
    assert {name: len(codes) for name, codes in sets.items()} == {
        "xtreme-r": 50,
        "xtreme": 40,
        "xglue": 19,
        "xcopa": 11,
        "en,deu,Swahili": 3,
        "given": 3,
    }
    assert sets["en,deu,Swahili"] == ("en", "de", "sw")
    assert sets["given"] == ("qab", "fr", "de")
    with pytest.raises(UnknownNameError, match="klingon"):
        language_sets(["klingon"])
    with pytest.raises(UnknownNameError, match="xq"):
        language_sets(["en,xq"])
    with pytest.raises(AnalysisError, match="no languages"):
        language_sets([])
    with pytest.raises(AnalysisError, match="no languages"):
        diversity([","])


def test_families_without_uriel(tmp_path: Path) -> None:
    finding = analyze("diversity", data=tmp_path)
    printed = {(row["set"], row["index"]): row for row in finding.table("printed").records()}
    assert {name: row["here"] for (name, _), row in printed.items()} == pytest.approx(
        {"xtreme-r": 16 / 50, "xtreme": 14 / 40, "xglue": 7 / 19}
    )
    assert printed["xglue", "family"]["verdict"] == "equal"
    assert printed["xtreme-r", "family"]["verdict"] == "print implies 17 families of 50 languages; the registry has 16"
    assert any("isogloss fetch uriel" in note for note in finding.notes)
    with pytest.raises(AnalysisError, match="no family in the registry"):
        diversity(["en,qab"], data=str(tmp_path))


def test_made_up_languages(tmp_path: Path) -> None:
    features = {"eng": [1, 1, 0], "deu": [1, 0, 0], "qab": [0, 1, 1], "eus": [0, 0, 1]}
    ancestors = {"eng": ["Indo-European"], "deu": ["Indo-European"], "qab": ["Atlantic-Congo"]}
    places = {"eng": (0.0, 0.0), "deu": (0.0, 90.0)}
    write_uriel(tmp_path, ["S_A", "S_B", "P_C"], features, unknown={"qab": [0]}, ancestors=ancestors, places=places)
    finding = diversity(["en,de", "en,de,qab,eu"], data=str(tmp_path))
    two, four = finding.table("indices").records()
    assert (two["family"], two["typology"], two["attested"]) == pytest.approx((0.5, 0.5, 1))
    assert two["geography"] == pytest.approx(0.5, abs=1e-6)
    assert (four["families"], four["family"], four["typology"]) == pytest.approx((3, 0.75, 1))
    assert four["nats"] == pytest.approx(np.log(2))
    assert four["attested"] == pytest.approx(7 / 8)
    assert [row["feature"] for row in finding.table("features").records()] == ["A", "B", "A", "B"]
    assert "printed" not in {table.name for table in finding.tables}
    assert [float(row["added"]) for row in finding.table("contributions").records()][:2] == [0.5, 0.5]
    with pytest.raises(DataError, match="unknown language xyz"):
        diversity(["en,xyz"], data=str(tmp_path))
    (tmp_path / "uriel/geocoord_features.npz").unlink()
    without = diversity(["en,de"], data=str(tmp_path))
    [row] = without.table("indices").records()
    assert (row["typology"], row["geography"]) == (two["typology"], None)
    assert any(note.startswith("No geography: ") for note in without.notes)


def test_a_language_outside_the_registry_affects_only_its_own_set(tmp_path: Path) -> None:
    features = {"eng": [1], "hat": [0], "qab": [0]}
    tree = {"eng": ["Indo-European"], "hat": ["Indo-European"], "qab": ["Atlantic-Congo"]}
    write_uriel(tmp_path, ["S_A"], features, ancestors=tree)
    finding = diversity(["en,ht", "en,ht,qab"], data=str(tmp_path))
    # Haitian is Creole in the registry, and Indo-European in the tree.
    assert [row["families"] for row in finding.table("indices").records()] == [2, 2]
    notes = [note for note in finding.notes if "URIEL's tree" in note]
    assert len(notes) == 1
    assert notes[0].startswith("en,ht,qab: families are from URIEL's tree, as the registry lacks qab.")
    assert not any("URIEL's tree" in note for note in diversity(["en,ht"], data=str(tmp_path)).notes)


def test_a_listed_language_that_uriel_lacks_counts_in_families_only(tmp_path: Path) -> None:
    write_uriel(tmp_path, ["S_A"], {"eng": [1], "zul": [0]}, ancestors={"eng": ["Indo-European"], "zul": ["Bantu"]})
    finding = diversity(["en,zu,nah"], data=str(tmp_path))
    [row] = finding.table("indices").records()
    assert (row["languages"], row["families"], row["typology"], row["attested"]) == (3, 3, 1, 1)
    assert "URIEL lacks nah: they count in families only." in finding.notes
    assert [row["language"] for row in finding.table("contributions").records()] == ["en", "zu"]


def test_one_language(tmp_path: Path) -> None:
    write_uriel(tmp_path, ["S_A"], {"eng": [1]})
    [row] = diversity(["en"], data=str(tmp_path)).table("indices").records()
    assert (row["family"], row["typology"], row["geography"]) == (1, 0, 0)


def test_the_printed_indices(data_dir: Path) -> None:
    if uriel_folder(data_dir) is None:
        pytest.skip("URIEL is not in the data folder: run `isogloss fetch uriel`")
    finding = diversity([], data=str(data_dir))
    printed = {(row["set"], row["index"]): row for row in finding.table("printed").records()}
    typology = {name: row["here"] for (name, index), row in printed.items() if index == "typology"}
    assert typology == pytest.approx({"xtreme-r": 0.4177, "xtreme": 0.4239, "xglue": 0.3582}, abs=1e-4)
    assert printed["xtreme-r", "typology"]["verdict"] == "equal"
    # No choice of codes gives all three printed digits; all are within 0.01.
    assert all(
        abs(float(row["here"]) - float(row["printed"])) < 0.01 for row in printed.values() if row["index"] == "typology"
    )
    # Print has one more family; Estonian has no family in URIEL's tree.
    for name, families in (("xtreme-r", 17), ("xtreme", 15)):
        assert f"print implies {families} families" in str(printed[name, "family"]["verdict"])
        assert "if et, missing from URIEL's tree, counts as its own family" in str(printed[name, "family"]["verdict"])
