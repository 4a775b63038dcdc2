"""Import of outputs of Hugging Face's example scripts."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from e2e.command import cell, isogloss, scored, values, write, write_xtreme
from isogloss.errors import PredictionError
from isogloss.predictions.importers import import_files
from predictions.made import import_refusal, imported, wikiann_dev, xnli_dev

TABLE = "index\tprediction\n"


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)


answers, refusal = partial(imported, "hf"), partial(import_refusal, "hf")


# ------------------------------------------------------------------------------------------------ question answering


def gold_questions(root: Path) -> None:
    asked = {"a": "the red fox", "b": "in 1987", "c": "forty two"}
    qas = [{"id": k, "question": "?", "answers": [{"text": v, "answer_start": 0}]} for k, v in asked.items()]
    write_xtreme(root, "xquad", "en", json.dumps({"data": [{"paragraphs": [{"context": "…", "qas": qas}]}]}))


def test_answers_score_as_computed_by_hand(tmp_path: Path) -> None:
    gold_questions(tmp_path / "gold")
    said = {"a": "red fox", "b": "1987", "c": ""}
    file = write(tmp_path / "predict_predictions.json", json.dumps(said, indent=4))
    done = isogloss("import", "hf", file, "-t", "xquad", "-l", "en", "-o", tmp_path / "preds")
    assert done.code == 0
    assert "not checked" in done.err
    record = scored(tmp_path / "preds", "--gold", tmp_path / "gold", "--tasks", "xquad")
    # "the" is not a token; 1987 is one of two tokens: F1 2/3; an empty answer scores 0.
    expected = {"f1": 100 * (1 + 2 / 3) / 3, "em": 100 / 3}
    assert values(cell(record, "xquad", "en")["metrics"]) == pytest.approx(expected)


def test_first_of_n_best_is_used(tmp_path: Path) -> None:
    n_best = {"a": [{"text": "fox", "probability": 0.9}, {"text": "hen", "probability": 0.1}], "b": [{"text": ""}]}
    file = write(tmp_path / "predict_nbest_predictions.json", json.dumps(n_best))
    assert answers(file, "xquad") == {"a": "fox", "b": ""}


def test_several_files_merge_unless_an_id_repeats(tmp_path: Path) -> None:
    first = write(tmp_path / "1.json", '{"a": "x"}')
    second = write(tmp_path / "2.json", '{"b": "y"}')
    assert import_files("hf", [first, second], "mlqa", "de").ids == ["a", "b"]
    with pytest.raises(PredictionError, match=rf"{second}: duplicate answer to 'a', first at {first}"):
        import_files("hf", [first, write(second, '{"a": "y"}')], "mlqa", "de")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"eval_f1": 80.1, "eval_exact_match": 70.0, "epoch": 3.0}', "only metrics, no answers"),
        ('{"predict_loss": 0.3, "predict_samples": 1190}', "--do_predict"),
        ('{"a": -3.2, "b": 1.5}', "odds"),
        ('{"a": ["x"]}', "expected a string or an n-best list as answer to 'a'"),
        ('{"a": null}', "expected a string or an n-best list as answer to 'a'"),
        ('["x"]', "expected one JSON object"),
        ('{\n"a": "x",\n"b"\n}', "file.json:4: not JSON"),
        ("", "file.json:1: not JSON"),
        ("{}", "no answers"),
    ],
)
def test_other_json_raises_with_the_reason(tmp_path: Path, content: str, message: str) -> None:
    assert message in refusal(write(tmp_path / "file.json", content), "xquad")


def test_invalid_utf8_is_located(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b'{"a": "x",\n"b": "\xff"}')
    assert "file.json:2: not UTF-8" in refusal(path, "xquad")


# ---------------------------------------------------------------------------------------------------- classification


def test_label_names_become_labels(tmp_path: Path) -> None:
    file = write(tmp_path / "predictions.txt", f"{TABLE}0\tneutral\n1\tentailment\n")
    assert answers(file, "xnli") == {"test-0": "neutral", "test-1": "entailment"}


def test_class_indices_require_label_order(tmp_path: Path) -> None:
    file = write(tmp_path / "predict_results.txt", f"{TABLE}0\t2\n1\tLABEL_0\n")
    message = refusal(file, "xnli")
    assert f"{file}:2: 2 is a class index" in message
    assert "--labels entailment,neutral,contradiction" in message
    reversed_order = ["contradiction", "neutral", "entailment"]
    assert answers(file, "xnli", labels=reversed_order) == {"test-0": "entailment", "test-1": "contradiction"}
    assert "--labels names 2" in refusal(file, "xnli", labels=["neutral", "entailment"])
    assert "unknown label of xnli 'yes'" in refusal(file, "xnli", labels=["yes"])


def test_digit_labels_are_not_indices(tmp_path: Path) -> None:
    file = write(tmp_path / "predict_results.txt", f"{TABLE}0\t1\n1\t0\n")
    assert answers(file, "pawsx", "de") == {"test-0": "1", "test-1": "0"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("neutral\n", "file.txt:1: missing header"),
        (f"{TABLE}0 neutral\n", "file.txt:2: expected `index<TAB>prediction`"),
        (f"{TABLE}zero\tneutral\n", "file.txt:2: expected `index<TAB>prediction`"),
        (f"{TABLE}0\tneutral\n1\tnuetral\n", "file.txt:3: label 'nuetral' is not one of"),
        (f"{TABLE}0\t0.731\n", "file.txt:2: label '0.731'"),
        (f"{TABLE}0\tneutral\n0\tneutral\n", "file.txt:3: duplicate answer to 'test-0'"),
        (TABLE, "no answers"),
    ],
)
def test_damaged_tables_are_located(tmp_path: Path, content: str, message: str) -> None:
    assert message in refusal(write(tmp_path / "file.txt", content), "xnli")


def test_rows_of_another_split_are_detected_by_count(tmp_path: Path) -> None:
    rows = "".join(f"{row}\tneutral\n" for row in range(2490))
    file = write(tmp_path / "predictions.txt", TABLE + rows)
    assert "--split dev" in refusal(file, "xnli", "de")
    assert len(answers(file, "xnli", "de", split="dev")) == 2490


def test_rows_are_checked_against_the_data(tmp_path: Path) -> None:
    labels = xnli_dev(tmp_path / "data")
    rows = "".join(f"{row}\t{label}\n" for row, label in enumerate(labels))
    file = write(tmp_path / "predictions.txt", TABLE + rows)
    found = answers(file, "xnli", split="dev", data=tmp_path / "data")
    assert list(found.values()) == labels
    longer = write(tmp_path / "longer.txt", f"{TABLE}{rows}2490\tneutral\n")
    assert "longer.txt:2492: answer for row 2490" in refusal(longer, "xnli", split="dev", data=tmp_path / "data")
    shorter = write(tmp_path / "shorter.txt", f"{TABLE}0\tneutral\n")
    assert "no answer for 2489 of 2490" in refusal(shorter, "xnli", split="dev", data=tmp_path / "data")


def test_arrays_of_indices_and_of_logits(tmp_path: Path) -> None:
    order = ["entailment", "neutral", "contradiction"]
    np.save(tmp_path / "indices.npy", np.array([2, 0]))
    np.save(tmp_path / "logits.npy", np.array([[0.1, 0.2, 3.0], [1.0, -1.0, 0.5]], dtype=np.float32))
    for name in ("indices", "logits"):
        assert list(answers(tmp_path / f"{name}.npy", "xnli", labels=order).values()) == ["contradiction", "entailment"]
    np.save(tmp_path / "floats.npy", np.array([0.5, 0.5]))
    assert "got float64 with shape (2,)" in refusal(tmp_path / "floats.npy", "xnli", labels=order)
    np.save(tmp_path / "nan.npy", np.array([[0.0, 1.0], [np.nan, 1.0]]))
    assert "the logits of row 1 are not finite" in refusal(tmp_path / "nan.npy", "xnli", labels=order)
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "not a plain .npy array" in refusal(tmp_path / "objects.npy", "xnli", labels=order)


# ------------------------------------------------------------------------------------------- choices, tags, rankings


@pytest.mark.parametrize("archive", [True, False])
def test_invalid_arrays_raise(tmp_path: Path, archive: bool) -> None:
    path = tmp_path / "p.npy"
    with path.open("wb") as stream:
        np.savez(stream, a=np.arange(3)) if archive else np.save(stream, np.arange(3))
    if not archive:
        path.write_bytes(path.read_bytes().replace(b"(3,), }" + b" " * 13, b"(3000000000000000,)}"))
    assert ("an .npz archive" if archive else "not a plain .npy array") in refusal(path, "xcopa", "zh")


def test_choices_by_table_list_and_array(tmp_path: Path) -> None:
    np.save(tmp_path / "choices.npy", np.array([1, 0]))
    write(tmp_path / "choices.json", "[1, 0]")
    write(tmp_path / "choices.txt", f"{TABLE}0\t1\n1\t0\n")
    for suffix in ("npy", "json", "txt"):
        assert answers(tmp_path / f"choices.{suffix}", "xcopa", "et") == {"0": 1, "1": 0}
    assert "expected the index of a choice, got 'B'" in refusal(
        write(tmp_path / "letters.json", '["B"]'), "xcopa", "et"
    )
    metrics = write(tmp_path / "all_results.json", '{"eval_accuracy": 0.6}')
    assert "only metrics" in refusal(metrics, "xcopa", "et")
    assert "expected a JSON list" in refusal(write(tmp_path / "map.json", '{"0": 1}'), "xcopa", "et")


def test_tags_score_as_computed_by_hand(tmp_path: Path) -> None:
    write_xtreme(tmp_path / "gold", "wikiann", "sw", "B-PER\nI-PER\nO\n\nB-LOC\nO\n\n")
    file = write(tmp_path / "predictions.txt", "B-PER I-PER O\nO B-LOC\n")
    assert isogloss("import", "hf", file, "-t", "panx", "-l", "sw", "-o", tmp_path / "preds").code == 0
    record = scored(tmp_path / "preds", "--gold", tmp_path / "gold", "--tasks", "wikiann")
    # One of two gold entities and one of two predicted ones match; three of five words.
    assert values(cell(record, "wikiann", "sw")["metrics"]) == pytest.approx({"f1": 50.0, "accuracy": 60.0})


def test_tags_are_checked_against_the_words(tmp_path: Path) -> None:
    tags = wikiann_dev(tmp_path / "data")
    options = {"split": "dev", "data": tmp_path / "data"}
    whole = write(tmp_path / "predictions.txt", "".join(" ".join(row) + "\n" for row in tags))
    assert list(answers(whole, "wikiann", "qu", **options).values()) == tags
    cut = write(tmp_path / "cut.txt", "".join(" ".join(row[: 3 - (i == 7)]) + "\n" for i, row in enumerate(tags)))
    message = refusal(cut, "wikiann", "qu", **options)
    assert "cut.txt:8: 2 tags for the 3 words of dev-7" in message
    assert "--max_seq_length" in message
    assert "file.txt:1: tag 'B-MISC'" in refusal(write(tmp_path / "file.txt", "O B-MISC\n"), "wikiann", "qu")


def test_formats_without_ids_require_one_file(tmp_path: Path) -> None:
    file = write(tmp_path / "predictions.txt", f"{TABLE}0\tneutral\n")
    with pytest.raises(
        PredictionError, match="expected one file, because its rows are numbered from the beginning; got 2"
    ):
        import_files("hf", [file, file], "xnli", "en")


@pytest.mark.parametrize(("task", "language"), [("tatoeba", "de"), ("lareqa", "de"), ("bucc", "de")])
def test_rankings_are_not_supported(tmp_path: Path, task: str, language: str) -> None:
    assert f"{task}/queries-{language}.npy" in refusal(write(tmp_path / "predictions.txt", "1\n"), task, language)
