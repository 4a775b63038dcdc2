"""ExplainaBoard's stored reports, bucket by bucket: edges, sizes, F1, exact match and accuracy."""

import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.selection import choose_attributes
from isogloss.explain.single import attribute_scores
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge
from isogloss.tasks.registry import task

INFINITY = 1_000_000
# The report's name of each attribute, and ours.
QUESTIONS = {"context_length": "cLen", "question_length": "qLen", "answer_length": "aLen"}
PAIRS = {"label": "label", "text1_length": "t1Len", "text2_length": "t2Len", "similarity": "similarity"}
PAIRS["text1_divided_text2"] = "text1_divided_text2"
METRICS = {"F1ScoreQA": "f1", "ExactMatchQA": "em", "Accuracy": "accuracy"}
WORDS = {"entailment": "Yes", "neutral": "Maybe", "contradiction": "No"}
OUTPUTS = {
    "xquad": (
        *("mt5base/xquad/test-en_8113", "mt5base/xquad/test-es_7698", "mt5base/xquad/test-zh_7396"),
        *("mlpp/xquad/test-en_8235", "mlpp/xquad/test-es_7687", "mlpp/xquad/test-zh_7443"),
    ),
    "xnli": (
        *("mt5base/xnli/test-de_7213", "mt5base/xnli/test-en_7676", "mt5base/xnli/test-es_7377"),
        *("mt5base/xnli/test-zh_7117", "mlpp/xnli/test-ar_6960", "mlpp/xnli/test-en_7872"),
        *("mlpp/xnli/test-es_7678", "mlpp/xnli/test-zh_7311"),
    ),
}


def read(root: Path, name: str) -> Any:
    path = root / "explainaboard_outputs" / f"{name}.json.xz"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return json.load(stream)


def stored_cell(items: list[dict[str, Any]], language: str) -> CellTable:
    """Return the outputs scored against the gold in the file, and cut by the texts in the file."""
    ids = [str(row) for row in range(len(items))]
    if "question" in items[0]:
        of = replace(task("xquad"), options={"dialect": "mlqa"})
        columns: dict[str, Any] = {name: [item[name] for item in items] for name in ("question", "context")}
        columns["answers"] = [item["answers"]["text"] for item in items]
        said: list[Any] = [item["predicted_answers"]["text"] for item in items]
    else:
        of, meant = task("xnli"), {word: label for label, word in WORDS.items()}
        columns = {"text_a": [item["text1"] for item in items], "text_b": [item["text2"] for item in items]}
        columns["label"] = [meant[item["true_label"]] for item in items]
        said = [meant[item["predicted_label"]] for item in items]
    examples = Examples(of.id, language, "test", ids, columns, "answers" if of.id == "xquad" else "label")
    return CellTable.of_examples(of, examples, (said,), (judge(of, examples, said).metrics,))


def our_buckets(cell: CellTable, name: str) -> list[tuple[tuple[float | str, ...], int, dict[str, float]]]:
    """Return minimum and maximum (or the name), size and scores of every bucket under ExplainaBoard's convention."""
    selection = choose_attributes([name], [cell.task.kind], "explainaboard")
    (one,), (cut,) = selection.of(cell.task.kind), bucketed_rows(cell, selection)
    values = one.values(cell.examples) if one.values else None
    assert values is not None
    facets = attribute_scores(cell, [cut], claims=False)
    found = []
    for place, bucket in enumerate(cut.buckets):
        scores = {facet.metric: facet.buckets[place].value / 100 for facet in facets}
        inside = values[cut.rows(place)]
        ends = (WORDS[bucket.name],) if one.discrete else (float(inside.min()), float(inside.max()))
        found.append((ends, bucket.n, scores))
    return found


def assert_same_bucket(ours: tuple[Any, int, dict[str, float]], theirs: dict[str, Any], *, last: bool) -> None:
    ends, n, scores = ours
    named = list(theirs["bucket_name"])
    if isinstance(named[0], str):
        assert list(ends) == named
    else:
        # A bucket with one value is named after it; the last one has no upper edge.
        low, high = named[0], named[-1]
        assert ends[0] == pytest.approx(low, abs=1e-9)
        assert (high == INFINITY) if last else (ends[1] == pytest.approx(high, abs=1e-9))
    assert n == theirs["n_samples"]
    for performance in theirs["performances"]:
        assert scores[METRICS[performance["metric_name"]]] == pytest.approx(performance["value"], abs=1e-9)


@pytest.mark.parametrize(("kind", "buckets"), [("xquad", 68), ("xnli", 150)])
def test_every_bucket_of_every_report(kind: str, buckets: int, data_dir: Path) -> None:
    names, same = (QUESTIONS if kind == "xquad" else PAIRS), 0
    for output in OUTPUTS[kind]:
        file = output.rpartition("/")[2]
        report = read(data_dir, f"reports/{file}")["results"]["fine_grained"]
        assert report.keys() == names.keys()
        cell = stored_cell(read(data_dir, f"multilingual/{output}")["predictions"], file[len("test-") :][:2])
        for theirs, name in names.items():
            ours, stored = our_buckets(cell, name), list(report[theirs].values())
            if name == "label":
                ours.sort(key=lambda bucket: str(bucket[0]))
                stored.sort(key=lambda bucket: str(bucket["bucket_name"]))
            assert len(ours) == len(stored), (output, name)
            for place, (one, other) in enumerate(zip(ours, stored, strict=True)):
                assert_same_bucket(one, other, last=place == len(stored) - 1)
                same += 1
    assert same == buckets
