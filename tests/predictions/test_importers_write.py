"""Written predictions round-trip and never replace older ones by accident."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import DataError, PredictionError
from isogloss.predictions.formats import json_lines
from isogloss.predictions.write import prediction_path, write_predictions
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task

XQUAD = task("xquad")


def test_prediction_paths() -> None:
    root = Path("preds")
    assert prediction_path(root, XQUAD, "sw") == root / "xquad/sw.jsonl"
    assert prediction_path(root, task("panx"), "sw", "dev") == root / "wikiann/dev-sw.jsonl"


@given(st.dictionaries(st.text(), st.none() | st.text(), max_size=5))
def test_answers_round_trip(answers: dict[str, str | None]) -> None:
    with TemporaryDirectory() as folder:
        path = write_predictions(Path(folder), XQUAD, "en", "test", list(answers), list(answers.values()))
        found = json_lines(path, KINDS["qa"])
        assert found.problems == []
        assert dict(zip(found.ids, found.values, strict=True)) == answers


def test_lists_and_numbers_are_written_unchanged(tmp_path: Path) -> None:
    path = write_predictions(tmp_path, task("xcopa"), "et", "test", ["0", "1"], [1, None])
    assert path.read_bytes() == b'{"id":"0","prediction":1}\n{"id":"1","prediction":null}\n'
    path = write_predictions(tmp_path, task("lareqa"), "de", "dev", ["q"], [["a", "b"]])
    assert json.loads(path.read_text(encoding="utf-8")) == {"id": "q", "prediction": ["a", "b"]}


@pytest.mark.parametrize("name", ["en.jsonl", "en.jsonl.xz"])
def test_existing_predictions_are_kept_unless_forced(tmp_path: Path, name: str) -> None:
    older = tmp_path / "xquad" / name
    older.parent.mkdir()
    older.write_bytes(b"old")
    with pytest.raises(PredictionError, match=f"{name}: predictions exist already. Replace them with --force"):
        write_predictions(tmp_path, XQUAD, "en", "test", ["a"], ["x"])
    assert older.read_bytes() == b"old"
    path = write_predictions(tmp_path, XQUAD, "en", "test", ["a"], ["x"], force=True)
    assert path.read_bytes() == b'{"id":"a","prediction":"x"}\n'


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(PredictionError, match="invalid text in the answer to 'b'"):
        write_predictions(tmp_path, XQUAD, "en", "test", ["a", "b"], ["x", "\ud83d"])
    with pytest.raises(ValueError, match="zip"):
        write_predictions(tmp_path, XQUAD, "en", "test", ["a"], [])
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_predictions(tmp_path / "file", XQUAD, "en", "test", [], [])
