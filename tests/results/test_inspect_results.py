"""Evaluation logs of inspect_ai."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.errors import DataError
from isogloss.results.interchange import write_as
from isogloss.results.readers import read_records, read_results
from isogloss.scoring.results import CellScore, Number
from report.made_records import results


def log(path: Path, task: str, value: Any = 0.6, *, samples: int = 500, **further: Any) -> Path:
    """Write a log with the fields that matter."""
    metrics = {"accuracy": {"name": "accuracy", "value": value}, "stderr": {"name": "stderr", "value": 0.02}}
    decoded = {
        "version": 2,
        "status": "success",
        "eval": {
            "task": task,
            "task_args": further.pop("task_args", {}),
            "model": "openai/gpt",
            "packages": {"inspect_ai": "0.3.1"},
        },
        "results": {
            "total_samples": samples,
            "completed_samples": samples,
            "scores": [{"name": "choice", "scorer": "choice", "metrics": metrics}],
        },
    }
    path.write_text(json.dumps(decoded | further), encoding="utf-8")
    return path


def test_accuracy_with_its_interval(tmp_path: Path) -> None:
    path = log(tmp_path / "log.json", "evals/xcopa_sw")
    (record,) = read_records(path)
    number = record["xcopa", "sw"].metrics["accuracy"]
    assert (number.value, number.low, number.high, number.n) == pytest.approx((60, 56.08, 63.92, 500), abs=0.001)
    notes = [row.note for row in record.rows() if row.low is None]
    assert notes and all(note.endswith("; reported without an interval") for note in notes)
    (system,) = read_results([path])
    assert (system.name, system.regime, system.reported) == ("openai/gpt", "prompted", True)
    assert system.metadata["evaluator_version"] == "0.3.1"


def test_every_regime_of_a_model_has_its_log(tmp_path: Path) -> None:
    both = [results("mine", regime=regime) for regime in ("zero-shot", "in-language")]
    write_as("inspect", both, tmp_path)
    assert len(list(tmp_path.iterdir())) == sum(not cell.partial for record in both for cell in record.cells)


def test_language_and_split_as_arguments(tmp_path: Path) -> None:
    path = log(tmp_path / "log.json", "xnli", samples=2490, task_args={"lang": "sw"})
    assert read_records(path)[0].split == "dev"
    path = log(tmp_path / "log.json", "xcopa_sw", samples=100, task_args={"language": "sw"})
    assert read_records(path)[0].split == "dev"
    path = log(tmp_path / "log.json", "paws-x", samples=2000, task_args={"language": "de", "split": "test"})
    assert read_records(path)[0]["pawsx", "de"].split == "test"  # type: ignore[union-attr]
    path = log(tmp_path / "log.json", "pawsx_de", samples=2000)
    with pytest.raises(DataError, match="the split is unknown"):
        read_records(path)


@pytest.mark.parametrize("task", ["gsm8k", "xquad_ar", "xcopa_de", "xcopa"])
def test_tasks_that_are_not_ours(tmp_path: Path, task: str) -> None:
    with pytest.raises(DataError, match=f"the task '{task}' is none of ours with accuracy"):
        read_results([log(tmp_path / "log.json", task)])


def test_unfinished_and_invalid_logs(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    for further in ({"status": "error"}, {"results": None}, {"invalidated": True}):
        with pytest.raises(DataError, match="the evaluation is not finished"):
            read_results([log(path, "xcopa_sw", **further)])
    for value in (60, float("nan")):
        with pytest.raises(DataError, match=r"accuracy of xcopa_sw is .*, expected a number from 0 to 1"):
            read_results([log(path, "xcopa_sw", value)])
    with (
        pytest.warns(UserWarning, match=r"xcopa/sw \(50 examples"),
        pytest.raises(DataError, match="no scores that can be compared"),
    ):
        read_results([log(path, "xcopa_sw", samples=50)])


def test_binary_logs(tmp_path: Path) -> None:
    path = tmp_path / "my log.eval"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataError, match=r"binary format. Run inspect log convert '.*my log.eval' --to json"):
        read_results([path])


def test_written_logs_read_back(tmp_path: Path) -> None:
    found = {("xcopa", "sw"): 500, ("sib200", "zh-Hant"): 204}
    cells = [
        CellScore(
            task=task,
            language=code,
            split="test",
            metrics={"accuracy": Number(60.0, 58.0, 62.0, size)},
            signature=f"task:{task}",
        )
        for (task, code), size in found.items()
    ]
    answers = CellScore(task="xquad", language="de", split="test", metrics={"f1": Number(5, 4, 6, 9)}, signature="")
    base = results("owner/mine", contact="me@example.org")
    write_as("inspect", [msgspec.structs.replace(base, cells=[*cells, answers])], tmp_path)
    logs = {path.name.split("_")[1]: path for path in tmp_path.iterdir()}
    assert sorted(logs) == ["sib200-zh-Hant", "xcopa-sw", "xquad-de"]
    for path in (logs["sib200-zh-Hant"], logs["xcopa-sw"]):
        [record] = read_records(path)
        [cell] = record.cells
        number = cell.metrics["accuracy"]
        assert (number.value, number.low, number.high, number.n) == pytest.approx(
            (60, 58, 62, found[cell.task, cell.language])
        )
        assert record.system["name"] == "owner/mine"
    header = ["version", "status", "eval", "plan", "results", "stats"]  # as inspect streams it
    assert list(json.loads(logs["xquad-de"].read_text(encoding="utf-8"))) == header
    assert "example.org" not in logs["xquad-de"].read_text(encoding="utf-8")
    inspect_log = pytest.importorskip("inspect_ai.log", reason="needs inspect_ai")
    for listed in inspect_log.list_eval_logs(str(tmp_path)):
        for header_only in (False, True):
            read = inspect_log.read_eval_log(listed.name, header_only=header_only)
            assert (read.status, read.eval.model) == ("success", "owner/mine")
    tables = pytest.importorskip("inspect_ai.analysis")
    assert set(tables.evals_df(str(tmp_path))["task_name"]) == {"sib200_zh_hant", "xcopa_sw", "xquad_de"}
