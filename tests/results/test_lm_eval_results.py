"""Results of lm-evaluation-harness, read and written."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import astuple

from isogloss.board.site import read_systems
from isogloss.errors import DataError
from isogloss.results.interchange import write_as
from isogloss.results.readers import read_records, read_results
from isogloss.scoring.results import Results
from isogloss.site.write import report
from isogloss.tasks.suites import suite
from report.made_records import results


def written(path: Path, results: dict[str, dict[str, Any]], **further: Any) -> Path:
    """Write a results file as version 0.4 does."""
    decoded = {
        "results": {name: {"alias": name} | values for name, values in results.items()},
        "configs": {},
        "versions": dict.fromkeys(results, 1.0),
        "n-shot": dict.fromkeys(results, 3),
        "config": {"model": "hf", "model_args": {"pretrained": "owner/model"}, "limit": None},
        "lm_eval_version": "0.4.9",
        "model_name": "owner/model",
    }
    path.write_text(json.dumps(decoded | further), encoding="utf-8")
    return path


def read(path: Path) -> Results:
    (record,) = read_records(path)
    return record


def test_current_version(tmp_path: Path) -> None:
    results = {
        "xcopa": {"acc,none": 0.7},  # a group's mean
        "xcopa_sw": {"acc,none": 0.6, "acc_stderr,none": 0.02},
        "paws_de": {"acc,none": 1.0, "acc_stderr,none": 0.0},
        "mlqa_ar_ar": {
            "f1,none": 0.5,
            "f1_stderr,none": 0.01,
            "exact_match,none": 0.25,
            "exact_match_stderr,none": "N/A",
        },
        "mlqa_ar_de": {"f1,none": 0.9, "exact_match,none": 0.9},
        "xnli_eu": {"acc,none": 0.4, "acc_stderr,none": 0.01},
        "hellaswag": {"acc,none": 0.9},
    }
    counts = {"xcopa_sw": 500, "paws_de": 2000, "mlqa_ar_ar": 5335}
    samples = {name: {"original": count, "effective": count} for name, count in counts.items()}
    record = read(written(tmp_path / "results.json", results, **{"n-samples": samples}))
    assert {(cell.task, cell.language) for cell in record.cells} == {("xcopa", "sw"), ("pawsx", "de"), ("mlqa", "ar")}
    xcopa = record["xcopa", "sw"].metrics["accuracy"]
    assert (xcopa.value, xcopa.low, xcopa.high, xcopa.n) == pytest.approx((60, 56.08, 63.92, 500), abs=0.001)
    perfect = record["pawsx", "de"].metrics["accuracy"]
    assert (perfect.value, perfect.low, perfect.n) == (100, None, 2000)
    answers = record["mlqa", "ar"].metrics
    assert (answers["f1"].value, answers["em"].value, answers["em"].low) == (50, 25, None)
    assert record["mlqa"].score.value == 37.5
    facts = ("name", "regime", "kind", "decoding", "evaluator", "evaluator_version")
    assert [record.system[fact] for fact in facts] == ["owner/model", "prompted", "llm", "3-shot", "lm-eval", "0.4.9"]
    assert (record.split, record.isogloss, record.overall.score) == ("test", "", None)


def test_number_of_examples_follows_from_the_standard_error(tmp_path: Path) -> None:
    """Version 0.3 records no number of examples; 1,768 of 5,010 correct, with the error of n - 1."""
    share = 1768 / 5010
    values = {"acc": share, "acc_stderr": (share * (1 - share) / 5009) ** 0.5}
    old = {"versions": {"xnli_sw": 0}, "config": {"model": "hf", "model_args": "pretrained=a/b,dtype=auto"}}
    path = tmp_path / "old.json"
    path.write_text(json.dumps({"results": {"xnli_sw": values}, **old}), encoding="utf-8")
    record = read(path)
    assert (record.split, record["xnli", "sw"].metrics["accuracy"].n, record.system["name"]) == ("test", 5010, "a/b")
    (system,) = read_results([path])
    assert (system.reported, system.regime) == (True, "prompted")


def test_xnli_runs_on_dev_now(tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", {"xnli_sw": {"acc,none": 0.4}, "xcopa_sw": {"acc,none": 0.6}})
    record = read(path)
    assert (record.split, record["xnli", "sw"].split, record["xcopa", "sw"].split) == ("best", "dev", "test")
    assert read(written(path, {"xnli_sw": {"acc,none": 0.4}})).split == "dev"
    with pytest.raises(DataError, match="cannot compare scores from different splits: dev, test"):
        read_systems([path, "published:bloom-1b1"], suite("xtreme-r"))


@pytest.mark.parametrize("value", [35.3, -0.1, float("nan"), "0.5", None, True])
def test_shares_have_to_be_numbers_from_0_to_1(tmp_path: Path, value: Any) -> None:
    path = written(tmp_path / "r.json", {"xcopa_sw": {"acc,none": value}})
    with pytest.raises(DataError, match=r"acc of xcopa_sw is .*, expected a number from 0 to 1.*shares"):
        read_results([path])


def test_partial_runs_are_left_out(tmp_path: Path) -> None:
    values = {"acc,none": 0.5, "acc_stderr,none": 0.05}
    samples = {"xcopa_sw": {"original": 500, "effective": 101}, "xcopa_et": {"original": 500, "effective": 500}}
    path = written(tmp_path / "r.json", dict.fromkeys(("xcopa_sw", "xcopa_et"), values), **{"n-samples": samples})
    with pytest.warns(UserWarning, match=r"1 cell left out: xcopa/sw \(101 examples, expected 500 or 100\)"):
        record = read(path)
    assert [cell.language for cell in record.cells] == ["et"]
    limited = written(
        path,
        {"xnli_ar": {"acc,none": 1.0}, "xquad_ar": {"f1,none": 0.5, "exact_match,none": 0.4}},
        config={"limit": 10},
    )
    with (
        pytest.warns(UserWarning, match="an unknown number of examples"),
        pytest.raises(DataError, match="no scores that can be compared"),
    ):
        read(limited)


def test_several_filters_and_missing_metrics(tmp_path: Path) -> None:
    several = {f"exact_match,{name}": 0.5 for name in ("strict", "flexible")}
    path = written(tmp_path / "r.json", {"xquad_ar": several, "xquad_de": {"f1,x": 0.5}, "xcopa_et": {"acc,x": 0.5}})
    with pytest.warns(UserWarning, match=r"xquad/ar \(several filters: strict, flexible\); xquad/de \(no em\)"):
        record = read(path)
    assert record["xcopa", "et"].metrics["accuracy"].value == 50


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    for text in ("{}", "[1]", '{"results": [], "versions": {}}', '{"results": {"xcopa_sw": {"acc,no'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match=r"r\.json.*lm-eval, mteb or inspect_ai"):
            read_results([path])
    with pytest.raises(DataError, match="no scores that can be compared with ours in this lm-eval file"):
        read_results([written(path, {"hellaswag": {"acc,none": 0.5}})])


def test_files_of_one_run_are_one_system(tmp_path: Path) -> None:
    shots = {"n-shot": {"xcopa_sw": 5}}
    paths = [
        written(tmp_path / "a.json", {"xcopa_sw": {"acc,none": 0.6}}),
        written(tmp_path / "b.json", {"xcopa_et": {"acc,none": 0.7}, "paws_de": {"acc,none": 0.8}}),
        written(tmp_path / "c.json", {"xcopa_sw": {"acc,none": 0.9}}),  # the same cell again
        written(tmp_path / "d.json", {"xcopa_sw": {"acc,none": 0.9}}, **shots),
    ]
    first, again, other = read_results(paths)
    assert {key: cell.score.value for key, cell in first.cells.items() if cell.score} == {
        ("xcopa", "sw"): 60,
        ("xcopa", "et"): 70,
        ("pawsx", "de"): 80,
    }
    assert first.record["xcopa"].score.value == 65
    assert (len(again.cells), len(other.cells), other.metadata["decoding"]) == (1, 1, "5-shot")
    out = report(paths[:2], tmp_path / "README.md", form="model-index")
    assert out.read_text(encoding="utf-8").count("value:") == 3


def test_written_results_are_read_again(tmp_path: Path) -> None:
    error = (0.6 * 0.4 / 499) ** 0.5
    record = read(written(tmp_path / "r.json", {"xcopa_sw": {"acc,none": 0.6, "acc_stderr,none": error}}))
    again = read(write_as("lm-eval", [record], tmp_path / "again.json"))
    numbers = [one["xcopa", "sw"].metrics["accuracy"] for one in (again, record)]
    assert astuple(numbers[0])[:4] == pytest.approx(astuple(numbers[1])[:4])
    assert again.system["name"] == "owner/model"


def test_our_results_are_written(tmp_path: Path) -> None:
    """Partial gold and tasks that the harness lacks are left out."""
    with pytest.warns(UserWarning, match="lm-eval has no such task, left out: wikiann"):
        path = write_as("lm-eval", [results("mine")], tmp_path / "r.json")
    decoded = json.loads(path.read_text(encoding="utf-8"))
    assert list(decoded["results"]) == ["xnli_en", "xnli_ar", "xnli_ur", "xnli_th", "xquad_en", "xquad_hi"]
    english = decoded["results"]["xquad_en"]
    assert (english["f1,none"], english["exact_match,none"]) == (0.95, 0.85)
    assert english["f1_stderr,none"] == pytest.approx(0.04 / 3.92, rel=1e-4)
    assert decoded["n-samples"]["xquad_en"]["effective"] == 100
    with pytest.raises(DataError, match="2 systems, but lm-eval describes one"):
        write_as("lm-eval", [results("mine"), results("other")], tmp_path / "r.json")
