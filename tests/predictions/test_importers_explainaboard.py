"""Import of ExplainaBoard's system outputs; real ones reproduce the score in their name."""

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from e2e import rawfiles
from e2e.command import cell, scored, values, write
from e2e.independent import accuracy, qa_scores
from isogloss.errors import IsoglossError
from isogloss.metrics import accuracy as accuracy_metric
from isogloss.metrics import qa
from isogloss.predictions.importers import import_files
from isogloss.predictions.write import write_predictions
from isogloss.tasks.registry import task as find_task
from predictions.made import LABELS, xnli_dev, xquad

WORDS = {"entailment": "Yes", "neutral": "Maybe", "contradiction": "No"}

# File below `explainaboard_outputs/multilingual`, its score to four decimals against the stored gold, and against the
# dataset's gold: lower for XQuAD, because stored gold and answers are tokenised and the dataset is not.
REAL = [
    ("mlpp/xquad/test-en_8235", 82.3598, 76.5929),
    ("mlpp/xquad/test-es_7687", 76.8720, 74.1028),
    ("mlpp/xquad/test-zh_7443", 74.4363, 59.0203),
    ("mt5base/xquad/test-en_8113", 81.1359, 75.7569),
    ("mt5base/xquad/test-es_7698", 76.9873, 74.2210),
    ("mt5base/xquad/test-zh_7396", 73.9697, 59.0021),
    ("mlpp/xnli/test-ar_6960", 69.6008, 69.6008),
    ("mlpp/xnli/test-en_7872", 78.7226, 78.7226),
    ("mlpp/xnli/test-es_7678", 76.7864, 76.7864),
    ("mlpp/xnli/test-zh_7311", 73.1138, 73.1138),
    ("mt5base/xnli/test-de_7213", 72.1357, 72.1357),
    ("mt5base/xnli/test-en_7676", 76.7665, 76.7665),
    ("mt5base/xnli/test-es_7377", 73.7725, 73.7725),
    ("mt5base/xnli/test-zh_7117", 71.1776, 71.1776),
]


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "data_dir" not in request.fixturenames:
        monkeypatch.delenv("ISOGLOSS_DATA", raising=False)


@cache
def items(path: Path) -> list[dict[str, Any]]:
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return list(json.load(stream)["predictions"])


def real_file(data_dir: Path, name: str) -> Path:
    path = data_dir / f"explainaboard_outputs/multilingual/{name}.json.xz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    return path


@pytest.mark.parametrize(("name", "inner", "_real"), REAL)
def test_score_in_file_name_matches_stored_gold(data_dir: Path, name: str, inner: float, _real: float) -> None:
    found = items(real_file(data_dir, name))
    if "/xquad/" in name:
        gold = {str(row): item["answers"]["text"] for row, item in enumerate(found)}
        said = {str(row): item["predicted_answers"]["text"] for row, item in enumerate(found)}
        ours = 100 * qa.statistics(list(said.values()), list(gold.values()), dialect="squad")["f1"].score
        theirs = qa_scores(gold, said)["f1"]
    else:
        true, predicted = ([item[key] for item in found] for key in ("true_label", "predicted_label"))
        ours = 100 * accuracy_metric.statistics(true, predicted).score
        theirs = accuracy(true, predicted)
    assert ours == pytest.approx(theirs, abs=1e-9)
    assert ours == pytest.approx(inner, abs=5e-5)
    assert str(int(100 * ours)) == name.rpartition("_")[2]


@pytest.mark.parametrize(("name", "_inner", "real"), REAL)
def test_imported_outputs_score_against_real_gold(
    data_dir: Path, tmp_path: Path, name: str, _inner: float, real: float
) -> None:
    path = real_file(data_dir, name)
    _, task, file = name.split("/")
    language = file[len("test-") :][:2]
    imported = import_files("auto", [path], task, language, data=data_dir)
    write_predictions(tmp_path / "preds", find_task(task), language, "test", imported.ids, imported.values)
    record = scored(tmp_path / "preds", "--data", data_dir, "--tasks", task, "--languages", language)
    found = values(cell(record, task, language)["metrics"])
    said = dict(zip(imported.ids, imported.values, strict=True))
    if task == "xquad":
        expected = qa_scores(rawfiles.squad(data_dir / f"xquad/xquad.{language}.json"), said)
        assert any("because answers are imported unchanged" in note for note in imported.notes)
    else:
        assert any("lengths and overlaps may differ from the tool" in note for note in imported.notes)
        expected = {"accuracy": accuracy(rawfiles.xnli_labels(data_dir), list(said.values()))}
    assert found == pytest.approx(expected, abs=1e-9)
    assert next(iter(found.values())) == pytest.approx(real, abs=5e-5)


@pytest.mark.parametrize("name", [name for name, *_ in REAL if "/xquad/" in name])
def test_stored_gold_differs_from_real_gold_only_in_spaces(data_dir: Path, name: str) -> None:
    language = name.rpartition("/")[2][len("test-") :][:2]
    real = rawfiles.squad(data_dir / f"xquad/xquad.{language}.json").values()
    stored = [item["answers"]["text"] for item in items(real_file(data_dir, name))]
    differ = 0
    for (kept,), (own,) in zip(stored, real, strict=True):
        assert "".join(kept.split()) == "".join(own.replace("\ufeff", "").split())
        differ += kept != own
    assert differ > 100


# ------------------------------------------------------------------------------------------------- synthetic files


def outputs(path: Path, found: list[Any], **metadata: str) -> Path:
    return write(path, json.dumps({"user_defined_metadata_configs": metadata, "predictions": found}))


def refusal(path: Path, task: str, language: str, **options: Any) -> str:
    with pytest.raises(IsoglossError) as caught:
        import_files("explainaboard", [path], task, language, **options)
    return str(caught.value)


def pairs(labels: list[str]) -> list[dict[str, str]]:
    return [
        {"text1": f"p{i} .", "text2": f"H{i}", "true_label": WORDS[label], "predicted_label": "Maybe"}
        for i, label in enumerate(labels)
    ]


def test_words_become_labels_and_rows_are_verified(tmp_path: Path) -> None:
    labels = xnli_dev(tmp_path / "data")
    options: dict[str, Any] = {"split": "dev", "data": tmp_path / "data"}
    file = outputs(tmp_path / "o.json", pairs(labels), language="en", dataset_name="xnli")
    found = import_files("auto", [file], "xnli", "en", **options)
    assert found.ids == [f"dev-{i}" for i in range(2490)]
    assert set(found.values) == {"neutral"}
    # Every premise has a blank before its full stop; hypotheses differ in case.
    note = "changed spaces, punctuation or case in 2490 examples; lengths and overlaps"
    assert [note in line for line in found.notes] == [True]

    shifted = outputs(tmp_path / "s.json", pairs(labels[1:] + labels[:1]))
    message = refusal(shifted, "xnli", "en", **options)
    assert f"label of 'dev-0' is '{LABELS[1]}' here but '{LABELS[0]}' in xnli/en dev (2490 of 2490" in message
    assert "2489 outputs, but xnli/en dev has 2490" in refusal(
        outputs(tmp_path / "n.json", pairs(labels[1:])), "xnli", "en", **options
    )


def test_questions_are_matched_by_row(tmp_path: Path) -> None:
    gold = xquad(tmp_path / "data")
    found = [{"id": "0", "question": "What ?", "predicted_answers": {"text": text}} for text in gold.values()]
    file = outputs(tmp_path / "o.json", found)
    imported = import_files("explainaboard", [file], "xquad", "en", data=tmp_path / "data")
    assert dict(zip(imported.ids, imported.values, strict=True)) == gold
    assert any("changed spaces, punctuation or case in 1190 examples" in note for note in imported.notes)
    message = refusal(file, "xquad", "en")
    assert "no question ids, so the examples are needed" in message
    assert "--data" in message
    found[3]["question"] = "Who ?"
    assert "question of 'q3' is 'Who ?' here but 'What?'" in refusal(
        outputs(tmp_path / "w.json", found), "xquad", "en", data=tmp_path / "data"
    )


def test_bare_list_is_accepted(tmp_path: Path) -> None:
    file = write(tmp_path / "o.json", json.dumps([{"predicted_label": "Yes"}, {"predicted_label": "neutral"}]))
    found = import_files("auto", [file], "xnli", "en")
    assert dict(zip(found.ids, found.values, strict=True)) == {"test-0": "entailment", "test-1": "neutral"}


@pytest.mark.parametrize(
    ("found", "metadata", "message"),
    [
        ([{"predicted_label": "Yes"}], {"language": "de"}, "expected language 'en', got 'de'"),
        ([{"predicted_label": "Yes"}], {"dataset_name": "snli"}, "expected dataset_name 'xnli', got 'snli'"),
        ([{"predicted_label": "Perhaps"}], {}, "(item 0): label 'Perhaps' is not one of entailment"),
        ([{"predicted_label": "Yes"}, {}], {}, "(item 1): expected a string in predicted_label"),
        ([7], {}, "(item 0): expected an object"),
        ([], {}, "no answers"),
        (None, {}, "expected a list of system outputs"),
    ],
)
def test_other_outputs_raise(tmp_path: Path, found: Any, metadata: dict[str, str], message: str) -> None:
    assert message in refusal(outputs(tmp_path / "o.json", found, **metadata), "xnli", "en")


def test_other_tasks_raise(tmp_path: Path) -> None:
    assert "cannot import ExplainaBoard's udpos" in refusal(outputs(tmp_path / "o.json", []), "udpos", "en")
