"""Cases that must not be averaged, compared or scored silently."""

import json
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import DataError, PredictionError
from isogloss.predictions.gold import gold_examples
from isogloss.scoring.compare import compare_request
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from predictions.made import wikiann_dev, write_jsonl, xquad
from sample import write_gold, write_system


def test_lareqa_labels_share_the_questions_of_all_languages(tmp_path: Path) -> None:
    for code in ("en", "th"):
        (tmp_path / "lareqa").mkdir(exist_ok=True)
        (tmp_path / f"lareqa/test-{code}.json").write_text(
            json.dumps({f"q1_{code}": ["en_1_0"], f"q2_{code}": ["th_1_0"]})
        )
    units = [gold_examples(task("lareqa"), code, "test", tmp_path) for code in ("en", "th")]
    assert [found.units for found in units if found] == [["q1", "q2"], ["q1", "q2"]]


def tags_and_spans(root: Path) -> tuple[Path, Path]:
    data = root / "data"
    for code in ("qu", "yo"):
        tags = wikiann_dev(data, code)
        write_jsonl(root / f"tags/wikiann/dev-{code}.jsonl", {f"dev-{i}": t for i, t in enumerate(tags)})
        write_jsonl(root / f"spans/wikiann/dev-{code}.jsonl", {f"dev-{i}": [] for i in range(len(tags))})
    return data, root


def test_tags_and_spans_are_not_compared(tmp_path: Path) -> None:
    data, root = tags_and_spans(tmp_path)
    request = Request.of("xtreme-r", tasks=["wikiann"], languages=["qu"], split="dev", data=data)
    with pytest.raises(PredictionError, match="the same kind of answers"):
        compare_request([root / "tags", root / "spans"], request)


def test_tags_and_spans_are_not_averaged(tmp_path: Path) -> None:
    data, root = tags_and_spans(tmp_path)
    (root / "spans/wikiann/dev-qu.jsonl").replace(root / "tags/wikiann/dev-qu.jsonl")
    with pytest.raises(PredictionError, match="of two kinds: "):
        isogloss.score(root / "tags", data=data, split="dev", tasks=["wikiann"])


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_file_raises_instead_of_scoring_zero(tmp_path: Path, content: str) -> None:
    xquad(tmp_path / "data")
    (tmp_path / "p/xquad").mkdir(parents=True)
    (tmp_path / "p/xquad/en.jsonl").write_text(content)
    with pytest.raises(PredictionError, match="no answer for 1190 of 1190 examples"):
        isogloss.score(tmp_path / "p", data=tmp_path / "data", tasks=["xquad"], languages=["en"])


def test_null_answers_are_noted(tmp_path: Path) -> None:
    answers: dict[str, object] = dict(xquad(tmp_path / "data"))
    answers["q3"] = None
    write_jsonl(tmp_path / "p/xquad/en.jsonl", answers)
    results = isogloss.score(tmp_path / "p", data=tmp_path / "data", tasks="xquad", languages="en")
    assert "1 of 1190 answers is null. They count as wrong" in results["xquad", "en"].notes
    cell = results["xquad", "en"]
    assert isinstance(cell, CellScore)
    assert cell.unanswered == 1 / 1190


def test_perfect_scores_have_wide_intervals(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", suite("xtreme-r"), 22)
    write_system(tmp_path / "perfect", suite("xtreme-r"), 22, "perfect", 9.0)
    results = isogloss.score(tmp_path / "perfect", gold=tmp_path / "gold")
    for row in results.rows():
        assert row.low < row.high, row


def test_placeholders_and_unknown_labels_in_a_gold_folder(tmp_path: Path) -> None:
    for folder in ("gold/xcopa", "p/xcopa", "gold/xnli", "p/xnli"):
        (tmp_path / folder).mkdir(parents=True)
    for root in ("gold", "p"):
        (tmp_path / f"{root}/xcopa/test-et.jsonl").write_text('{"label": 0}\n' * 500)
        (tmp_path / f"{root}/xnli/test-sw.tsv").write_text("neutral\nfoo\n")
    with pytest.raises(PredictionError, match="placeholders"):
        isogloss.score(tmp_path / "p", gold=tmp_path / "gold", tasks=["xcopa"])
    with pytest.raises(PredictionError, match=r"test-sw\.tsv:2: expected a gold label of .*, got 'foo'"):
        isogloss.score(tmp_path / "p", gold=tmp_path / "gold", tasks=["xnli"])


def test_duplicate_gold_line_raises(tmp_path: Path) -> None:
    (tmp_path / "tatoeba").mkdir()
    (tmp_path / "tatoeba/test-jv.tsv").write_text("4\n4\n")
    with pytest.raises(DataError, match="duplicate id '4' in the gold"):
        gold_examples(task("tatoeba"), "jv", "test", tmp_path)


def test_languages_outside_the_task_average_are_in_no_average(tmp_path: Path) -> None:
    for code, right in (("en", True), ("ro", False)):
        gold = xquad(tmp_path / "data", code)
        for name in ("a", "b"):
            answers = {key: value if right else "no" for key, value in gold.items()}
            write_jsonl(tmp_path / f"{name}/xquad/{code}.jsonl", dict(answers))
    request = Request.of("xtreme-r", tasks=["xquad"], languages=["en", "ro"], data=tmp_path / "data")
    [found] = compare_request([tmp_path / "a", tmp_path / "b"], request)
    assert [contrast.first for contrast in found.tasks] == [100.0]
    assert len(found.cells) == 2


def test_all_missing_answers_are_reported_together(tmp_path: Path) -> None:
    for code in ("en", "de"):
        write_jsonl(tmp_path / f"p/wikiann/{code}.jsonl", {"test-0": ["O"]})
    with pytest.raises(PredictionError) as error:
        isogloss.score(tmp_path / "p", data=tmp_path / "data", tasks=["wikiann"])
    assert "wikiann/en" in str(error.value)
    assert "wikiann/de" in str(error.value)
