"""Results written for a model card, Every Eval Ever and trackers of experiments."""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import isogloss
from board.server.test_submissions import EVERY_EVAL_EVER
from e2e.command import isogloss as command
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.results.interchange import WRITABLE, write_as
from report.made_records import HOSTILE, results


@pytest.fixture
def record(tmp_path: Path) -> Path:
    results("owner/mine", regime="zero-shot").to_json(tmp_path / "results.json")
    return tmp_path / "results.json"


def test_model_card_is_valid_for_the_hub(record: Path, tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    done = command("report", record, "--format", "model-index", "--out", tmp_path / "README.md")
    assert (done.code, done.err) == (0, "")
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    card = hub.ModelCard(text + "\n# My model\n")
    assert card.data.model_name == "owner/mine"
    found = {(one.dataset_name, one.metric_type): one for one in card.data.eval_results}
    swahili = found["XNLI (Arabic)", "accuracy"]
    assert (swahili.task_type, swahili.dataset_type) == ("text-classification", "facebook/xnli")
    assert (swahili.dataset_config, swahili.dataset_split, swahili.metric_value) == ("ar", "test", 70.0)
    assert swahili.metric_args == {
        "examples": 100,
        "interval": [68.0, 72.0],
        "confidence_level": 0.95,
        "signature": "task:xnli|lang:ar|version:0",
    }
    assert swahili.verified is None
    assert found["XQuAD (English)", "exact_match"].metric_value == 85
    # XNLI lacks Swahili here, and one XQuAD language has partial gold.
    assert found["XQuAD (mean of 2 languages)", "f1"].metric_value == 70
    assert not [name for name, _ in found if name in ("XQuAD (Thai)", "XNLI (mean of 4 languages)")]
    assert hub.ModelCard(str(card)).data.to_dict() == card.data.to_dict()


def test_model_card_with_any_name(tmp_path: Path) -> None:
    hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    for name in (HOSTILE, "yes", '"a": b # c', "名前\\", "1.0"):
        path = write_as("model-index", [results(name)], tmp_path / "README.md")
        assert hub.ModelCard.load(path).data.model_name == name


def test_every_eval_ever(record: Path, tmp_path: Path) -> None:
    path = isogloss.report(record, tmp_path / "one.json", form="every-eval-ever")
    one = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(one, EVERY_EVAL_EVER)
    assert (one["model_info"]["name"], one["eval_library"]["name"]) == ("owner/mine", "isogloss")
    both = isogloss.report([record, results("other")], tmp_path / "all.jsonl", form="every-eval-ever")
    lines = [json.loads(line) for line in both.read_text(encoding="utf-8").splitlines()]
    assert [line["model_info"]["name"] for line in lines] == ["owner/mine", "other"]
    assert lines[0]["evaluation_results"] == one["evaluation_results"]
    with pytest.raises(DataError, match=r"2 systems, but all\.json, which is not a \.jsonl file"):
        isogloss.report([record, results("other")], tmp_path / "all.json", form="every-eval-ever")


def test_reported_scores_keep_their_evaluator(tmp_path: Path) -> None:
    path = tmp_path / "lm-eval.json"
    values = {"acc,none": 0.6, "acc_stderr,none": 0.02}
    path.write_text(json.dumps({"results": {"xcopa_sw": values}, "versions": {"xcopa_sw": 1}}), encoding="utf-8")
    with (
        pytest.warns(UserWarning, match="left out: xcopa/sw"),  # an error of 0.02 means 601 examples
        pytest.raises(DataError, match="no scores that can be compared"),
    ):
        isogloss.report(path, tmp_path / "one.json", form="every-eval-ever")
    values["acc_stderr,none"] = (0.6 * 0.4 / 499) ** 0.5
    path.write_text(json.dumps({"results": {"xcopa_sw": values}, "versions": {"xcopa_sw": 1}}), encoding="utf-8")
    out = isogloss.report(path, tmp_path / "one.json", form="every-eval-ever")
    made = json.loads(out.read_text(encoding="utf-8"))
    jsonschema.validate(made, EVERY_EVAL_EVER)
    assert made["eval_library"]["name"] == "lm-eval"
    (result,) = made["evaluation_results"]
    assert result["score_details"]["uncertainty"]["confidence_interval"]["method"] == "standard error"


def test_unknown_format(record: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean model-index"):
        isogloss.report(record, tmp_path / "out", form="model-idx")
    assert not (tmp_path / "out").exists()
    help_text = command("report", "--help").out
    assert all(name in help_text for name in WRITABLE)


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_missing_client(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(IsoglossError, match=f"{name} is not installed.*pip install.* {name}"):
        write_as(name, [results("mine")], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_wandb_run(tmp_path: Path) -> None:
    wandb = pytest.importorskip("wandb", reason="needs wandb")
    out = write_as("wandb", [results("one"), results("two", 5, contact="me@example.org")], tmp_path / "out")
    wandb.teardown()  # waits until all is written, as the end of a process does
    runs = sorted(out.glob("wandb/offline-run-*"))
    assert len(runs) == 2
    values = set()
    for run in runs:
        (journal,) = run.glob("*.wandb")
        content = journal.read_bytes()
        assert b"xnli/ar/accuracy/low" in content
        assert b"me@example.org" not in content
        (table,) = run.glob("files/media/table/scores*.table.json")
        decoded: dict[str, Any] = json.loads(table.read_text(encoding="utf-8"))
        rows = [dict(zip(decoded["columns"], row, strict=True)) for row in decoded["data"]]
        values |= {row["value"] for row in rows if (row["task"], row["language"]) == ("xnli", "ar")}
    assert values == {70, 75}


def test_mlflow_run(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="needs mlflow")
    pytest.importorskip("sqlalchemy", reason="needs the database of mlflow")
    out = tmp_path / "out"
    for name in ("one", "two"):
        write_as("mlflow", [results(name, contact="me@example.org", **{"a?b": 1})], out)
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{out / 'mlflow.db'}")
    (experiment,) = [each for each in client.search_experiments() if each.name == "isogloss"]
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(run.info.run_name for run in runs) == ["one", "two"]
    for run in runs:
        assert run.info.status == "FINISHED"
        assert (run.data.metrics["xnli/ar/accuracy"], run.data.metrics["xnli/ar/accuracy/low"]) == (70, 68)
        assert (run.data.params["suite"], run.data.params["a_b"]) == ("xtreme-r", "1")
        assert "contact" not in run.data.params
