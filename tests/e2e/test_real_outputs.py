"""Outputs of real systems: five SQuAD systems on XQuAD's English questions."""

import json
import lzma
from pathlib import Path

import pytest

from e2e import rawfiles
from e2e.command import cell, scored, values, write_xtreme
from e2e.independent import qa_scores

# Number of the 1,190 questions missing from each system's file.
SYSTEMS = {"bert": 0, "logistic": 2, "match-lstm": 0, "r-netplus": 0, "slqaplus": 0}


@pytest.mark.parametrize("system", SYSTEMS)
def test_squad_systems_on_english_xquad(system: str, data_dir: Path, tmp_path: Path) -> None:
    with lzma.open(data_dir / f"squad_dev_predictions/{system}.json.xz", "rt", encoding="utf-8") as stream:
        text = stream.read()
    write_xtreme(tmp_path / system, "xquad", "en", text)
    found = cell(scored(tmp_path / system, "--data", data_dir, "--tasks", "xquad"), "xquad", "en")
    gold = rawfiles.squad(data_dir / "xquad/xquad.en.json")
    given = json.loads(text)
    assert values(found["metrics"]) == pytest.approx(qa_scores(gold, given), abs=1e-9)
    assert {number["n"] for number in found["metrics"].values()} == {1190}
    assert all(number["low"] < number["value"] < number["high"] for number in found["metrics"].values())
    missing = SYSTEMS[system]
    assert len(set(gold) - set(given)) == missing
    assert any(f"no answer for {missing} of 1190 " in note for note in found["notes"]) == bool(missing)
    unknown_files = len(set(given) - set(gold))
    assert any(note.startswith(f"{unknown_files} ids are not in xquad/en") for note in found["notes"])


def test_packed_predictions_are_read(data_dir: Path, tmp_path: Path) -> None:
    packed = tmp_path / "bert" / "xquad" / "test-en.json.xz"
    packed.parent.mkdir(parents=True)
    packed.symlink_to(data_dir / "squad_dev_predictions/bert.json.xz")
    found = cell(scored(tmp_path / "bert", "--data", data_dir, "--tasks", "xquad"), "xquad", "en")
    with lzma.open(packed, "rt", encoding="utf-8") as stream:
        expected = qa_scores(rawfiles.squad(data_dir / "xquad/xquad.en.json"), json.load(stream))
    assert values(found["metrics"]) == pytest.approx(expected, abs=1e-9)
