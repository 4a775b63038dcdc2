"""Import of lm-evaluation-harness logs: choices, generated answers, filters and checks of texts."""

import json
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.command import cell, isogloss, scored, values, write, write_xtreme
from isogloss.errors import UnknownNameError
from isogloss.predictions.importers import import_files
from isogloss.predictions.importers.lm_eval import _likeliest, _Sample
from predictions.made import LABELS, import_refusal, imported, xnli_dev

Record = dict[str, Any]


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)


def choice(row: int, doc: Record, scores: list[float], **more: Any) -> Record:
    """Return a line as newer versions write it: numbers as strings, `[log-likelihood, is_greedy]` per choice."""
    responses = [[str(score), "False"] for score in scores]
    return {
        "doc_id": row,
        "doc": doc,
        "target": str(doc.get("label", "")),
        "arguments": {f"gen_args_{i}": {"arg_0": "a prompt", "arg_1": "a choice"} for i in range(len(scores))},
        "resps": [[response] for response in responses],
        "filtered_resps": responses,
        "filter": "none",
        "metrics": ["acc"],
        **more,
    }


def answer(identifier: str, text: str, **more: Any) -> Record:
    doc = {"id": identifier, "context": "…", "question": "What?", "answers": {"text": ["x"], "answer_start": [0]}}
    return {"doc_id": 0, "doc": doc, "target": "x", "resps": [[text]], "filtered_resps": [text], **more}


def log(path: Path, *records: Record) -> Path:
    return write(path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))


answers, refusal = partial(imported, "lm-eval"), partial(import_refusal, "lm-eval")


def pair(row: int) -> Record:
    return {"premise": f"p{row}", "hypothesis": f"h{row}", "label": row % 3}


# ----------------------------------------------------------------------------------------------------------- choices


def test_the_likeliest_choice_scores_as_computed_by_hand(tmp_path: Path) -> None:
    write_xtreme(tmp_path / "gold", "xnli", "de", "entailment\nneutral\ncontradiction\nentailment\n")
    rows = [[-1.0, -2, -3], [-2.0, -1, -3], [-1.0, -2, -3], [-5.0, -5, -9]]
    file = log(tmp_path / "samples_xnli_de_x.jsonl", *(choice(i, pair(i), row) for i, row in enumerate(rows)))
    assert isogloss("import", "auto", file, "-t", "xnli", "-l", "de", "-o", tmp_path / "preds").code == 0
    record = scored(tmp_path / "preds", "--gold", tmp_path / "gold", "--tasks", "xnli")
    # Right, right, wrong; the first of two equal choices counts: right.
    assert values(cell(record, "xnli", "de")["metrics"]) == pytest.approx({"accuracy": 75.0})


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), st.booleans())
def test_choice_matches_numpy_argmax(scores: list[float], as_strings: bool) -> None:
    responses = [[str(score) if as_strings else score, False] for score in scores]
    sample = _Sample(doc_id=0, doc={}, filtered_resps=responses)
    assert _likeliest(sample, 3, "here") == int(np.argmax(scores))


def test_older_logs_with_numbers_and_without_a_filter(tmp_path: Path) -> None:
    old = {"doc_id": 4, "doc": pair(4), "target": 1, "filtered_resps": [[-3.5, False], [-0.5, True], [-9, False]]}
    assert answers(log(tmp_path / "s.jsonl", old), "xnli", "de") == {"test-4": "neutral"}


def test_xcopa_uses_its_own_indices(tmp_path: Path) -> None:
    docs = [{"premise": "…", "choice1": "a", "choice2": "b", "idx": idx, "label": 0} for idx in (7, 3)]
    file = log(tmp_path / "s.jsonl", choice(0, docs[0], [-2, -1]), choice(1, docs[1], [-1, -2]))
    assert answers(file, "xcopa", "et") == {"7": 1, "3": 0}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (choice(0, pair(0), [-1, -2]), "s.jsonl:1: expected 3 choices, got 2"),
        (choice(0, pair(0), [-1, -2, math.nan]), "s.jsonl:1: a log-likelihood is NaN"),
        (
            {**choice(0, pair(0), [-1, -2, -3]), "filtered_resps": ["yes", "no", "so"]},
            "expected a log-likelihood, got 'yes'",
        ),
        (choice(0, pair(0), [-1, -2, -3], acc=0.0), "choice 0 is the likeliest and 0 is correct, but acc is 0"),
        (choice(-1, pair(0), [-1, -2, -3], filtered_resps={}), "s.jsonl:1: not a logged sample: Expected `array`"),
        ({"doc_id": "0"}, "s.jsonl:1: not a logged sample: Expected `int`, got `str` - at `$.doc_id`"),
        ({"results": {}, "configs": {}}, "only metrics, no answers"),
    ],
)
def test_damaged_samples_are_located(tmp_path: Path, record: Record, message: str) -> None:
    assert message in refusal(log(tmp_path / "s.jsonl", record), "xnli", "de")


def test_logged_accuracy_is_checked(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", choice(0, pair(0), [-1, -2, -3], acc=1.0), choice(1, pair(1), [-1, -2, -3], acc=0))
    assert answers(file, "xnli", "de") == {"test-0": "entailment", "test-1": "entailment"}


def test_broken_lines_are_located(tmp_path: Path) -> None:
    good = json.dumps(choice(0, pair(0), [-1, -2, -3]))
    for wrong in ("{", '{"\\ud800": 0}'):
        path = write(tmp_path / "s.jsonl", f"{good}\n\n{wrong}\n")
        assert "s.jsonl:3: not a logged sample" in refusal(path, "xnli", "de")
    assert "no answers" in refusal(write(tmp_path / "s.jsonl", "\n"), "xnli", "de")
    pretty = json.dumps({"results": {"xnli_de": {}}, "configs": {}}, indent=2)
    assert "--log_samples" in refusal(write(tmp_path / "results.json", pretty), "xnli", "de")


def test_tasks_the_harness_does_not_have(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", answer("a", "x"))
    assert "does not have udpos. It has xnli, pawsx, xcopa, xquad, mlqa and tydiqa" in refusal(file, "udpos", "de")


# ---------------------------------------------------------------------------------------------------- generated text


def test_generated_answers_by_id(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", answer("a", " forty two\n"), answer("b", ""))
    assert answers(file, "tydiqa", "fi") == {"a": "forty two", "b": None}
    repeats = log(tmp_path / "r.jsonl", answer("a", "", filtered_resps=[["first", "second"]]))
    assert answers(repeats, "mlqa", "de") == {"a": "first"}
    nothing = log(tmp_path / "n.jsonl", answer("a", "", filtered_resps=[]))
    assert "n.jsonl:1: no generated text" in refusal(nothing, "xquad", "de")
    assert "the document has no 'id'" in refusal(log(tmp_path / "o.jsonl", choice(0, {}, [-1])), "xquad", "de")


def test_generated_text_is_read_as_an_answer_of_the_task(tmp_path: Path) -> None:
    texts = ["The answer is: Neutral", "**contradiction**", "entailment or neutral"]
    file = log(
        tmp_path / "s.jsonl", *({**choice(i, pair(i), []), "filtered_resps": [[t]]} for i, t in enumerate(texts))
    )
    assert answers(file, "xnli", "de") == {"test-0": "neutral", "test-1": "contradiction", "test-2": None}
    result = isogloss("import", "lm-eval", file, "-t", "xnli", "-l", "de", "-o", tmp_path / "preds")
    assert f"replies without an answer: 1 of 3 (1 several), first at {file}:3; they count as unanswered" in result.err
    longer = log(tmp_path / "l.jsonl", answer("a", "Answer: forty two"), answer("b", "forty"))
    result = isogloss("import", "lm-eval", longer, "-t", "tydiqa", "-l", "fi", "-o", tmp_path / "preds")
    assert "answers taken from longer replies: 1" in result.err
    assert answers(longer, "tydiqa", "fi") == {"a": "forty two", "b": "forty"}


def test_filter_is_selected_by_the_user(tmp_path: Path) -> None:
    records = [answer(key, f"{key}-{name}", filter=name) for name in ("strict", "loose") for key in "ab"]
    file = log(tmp_path / "s.jsonl", *records)
    assert answers(file, "xquad", "de", choose_filter="loose") == {"a": "a-loose", "b": "b-loose"}
    message = refusal(file, "xquad", "de")
    assert "2 filters: strict, loose" in message
    assert "--filter strict" in message
    with pytest.raises(UnknownNameError, match="unknown filter 'losse'"):
        import_files("lm-eval", [file], "xquad", "de", choose_filter="losse")


def test_duplicate_document_raises(tmp_path: Path) -> None:
    file = log(tmp_path / "s.jsonl", answer("a", "x"), answer("a", "y"))
    assert f"s.jsonl:2: duplicate answer to 'a', first at {file}:1" in refusal(file, "xquad", "de")


# ----------------------------------------------------------------------------------------- checks against the data


def test_texts_and_labels_verify_the_rows(tmp_path: Path) -> None:
    data = tmp_path / "data"
    xnli_dev(data, "de")
    records = [choice(i, pair(i), [-1.0, -2, -3]) for i in range(2490)]
    options = {"split": "dev", "data": data}
    found = import_files("lm-eval", [log(tmp_path / "s.jsonl", *records)], "xnli", "de", **options)
    assert found.ids == [f"dev-{i}" for i in range(2490)]
    assert found.notes == []
    assert "2490 answers, but xnli/de test has 5010 examples; dev has 2490" in refusal(
        tmp_path / "s.jsonl", "xnli", "de"
    )

    records[5], records[6] = choice(5, pair(6), [-1, -2, -3]), choice(6, pair(5), [-1, -2, -3])
    message = refusal(log(tmp_path / "swapped.jsonl", *records), "xnli", "de", **options)
    assert "swapped.jsonl:6: text_a of 'dev-5' is 'p6' here but 'p5' in xnli/de dev (2 of 2490 examples" in message

    records[5], records[6] = (choice(i, {**pair(i), "label": 0}, [-1, -2, -3]) for i in (5, 6))
    message = refusal(log(tmp_path / "labels.jsonl", *records), "xnli", "de", **options)
    assert f"label of 'dev-5' is 'entailment' here but '{LABELS[2]}'" in message


def test_partial_split_raises_when_scored(tmp_path: Path) -> None:
    xnli_dev(tmp_path / "data", "de")
    file = log(tmp_path / "s.jsonl", choice(0, pair(0), [-1, -2, -3]))
    assert "no answer for 2489 of 2490" in refusal(file, "xnli", "de", split="dev", data=tmp_path / "data")


def pawsx_dev(data: Path, without_text: set[int]) -> list[tuple[str, str]]:
    pairs = [("" if i in without_text else f"Satz {i} .", f"Ein {i}") for i in range(2000)]
    write(data / "pawsx/dev-de.tsv", "".join(f"{a}\t{b}\t{i % 2}\n" for i, (a, b) in enumerate(pairs)))
    return pairs


def test_pawsx_rows_shift_when_the_harness_skips_pairs(tmp_path: Path) -> None:
    pairs = pawsx_dev(tmp_path / "data", without_text={3, 8})
    kept = [i for i, (a, _) in enumerate(pairs) if a]
    # The harness drops the full stop and lower-cases the second sentence.
    docs = [{"id": 7, "sentence1": f"Satz {i}", "sentence2": f"ein {i}", "label": i % 2} for i in kept]
    file = log(tmp_path / "s.jsonl", *(choice(row, doc, [-2, -1]) for row, doc in enumerate(docs)))
    found = import_files("lm-eval", [file], "pawsx", "de", split="dev", data=tmp_path / "data")
    given_answers = dict(zip(found.ids, found.values, strict=True))
    assert {key for key, value in given_answers.items() if value is None} == {"dev-3", "dev-8"}
    assert len(given_answers) == 2000
    assert any("2 pairs without text" in note for note in found.notes)
    message = refusal(file, "pawsx", "de", split="dev")
    assert "1998 of 2000 pairs" in message
    assert "--data" in message


def test_complete_pawsx_needs_no_data(tmp_path: Path) -> None:
    docs = [{"sentence1": "a", "sentence2": "b", "label": 0}] * 2000
    file = log(tmp_path / "s.jsonl", *(choice(row, doc, [-2, -1]) for row, doc in enumerate(docs)))
    assert set(answers(file, "pawsx", "de").values()) == {"1"}
