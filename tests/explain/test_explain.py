"""explain and dataset_bias as Python functions: same results as the verb, with short views."""

import json
from pathlib import Path

import pytest

from isogloss.errors import PredictionError, UnknownNameError
from isogloss.explain.analysis import explain, explain_request
from isogloss.explain.bias import dataset_bias
from isogloss.explain.selection import select_attributes
from isogloss.scoring.request import Request
from predictions.made import write_jsonl, xquad


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write English XQuAD; `half` has the answers with word0, `right` has all."""
    root = tmp_path_factory.mktemp("explain")
    answers = xquad(root / "data")
    write_jsonl(root / "right/xquad/en.jsonl", dict(answers))
    write_jsonl(root / "half/xquad/en.jsonl", {key: text if "word0" in text else "no" for key, text in answers.items()})
    rows = [{"id": key, "value": "zero" if "word0" in text else "other"} for key, text in answers.items()]
    (root / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return root


def test_function_equals_the_verb(made: Path) -> None:
    words = [f"word@{made / 'mine.jsonl'}"]
    options = {"data": made / "data", "tasks": ["xquad"], "languages": ["en"], "attributes": words}
    found = explain(str(made / "half"), made / "right", **options, examples=1)
    request = Request.of(tasks=["xquad"], languages=["en"], data=made / "data")
    selection = select_attributes(words, request)
    assert found == explain_request([made / "half", made / "right"], request, selection, examples=1)
    assert "<Explanation of half on xtreme-r (test): " in repr(found)
    assert len(repr(found)) < 400
    assert "best at zero (100.0), worst at other (0.0)" in found._repr_html_()


def test_buckets_are_rows_of_a_data_frame(made: Path) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas")
    words = [f"word@{made / 'mine.jsonl'}"]
    found = explain(made / "half", data=made / "data", tasks=["xquad"], languages=["en"], attributes=words)
    buckets = [score for facet in found.explanations[0].facets for score in facet.buckets]
    frame = found.to_pandas()
    assert frame["value"].tolist() == [score.value for score in buckets]
    assert len(buckets) == 6  # two under each of three metrics
    assert frame["n"].tolist() == [score.bucket.n for score in buckets]


def test_data_without_systems(made: Path) -> None:
    found = dataset_bias(data=made / "data", tasks=["xquad"], languages=["en"], attributes=["aLen"])
    assert [(each.attribute, each.mean) for each in found.distributions] == [("aLen", 2)]
    assert repr(found) == "<DatasetBias: 1 distributions of attributes in 1 cells (test)>"


def test_unexplainable_input_is_refused(made: Path) -> None:
    with pytest.raises(PredictionError, match="nothing to explain"):
        explain()
    with pytest.raises(UnknownNameError, match="Did you mean aLen"):
        explain(made / "half", tasks=["xquad"], attributes=["aLem"])
