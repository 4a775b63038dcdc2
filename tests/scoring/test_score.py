"""Result records: averages, missing parts, intervals and views."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import isogloss
from isogloss.errors import DataError, PredictionError, UnknownNameError
from isogloss.metrics.aggregate import overall
from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, Results
from isogloss.tasks.suites import suite
from sample import write_gold, write_system


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete synthetic XTREME-R grid with 25 examples per cell."""
    root = tmp_path_factory.mktemp("grid")
    write_gold(root / "gold", suite("xtreme-r"), 25)
    write_system(root / "good", suite("xtreme-r"), 25, "good", 0.9)
    return root


@pytest.fixture(scope="module")
def results(grid: Path) -> Results:
    return isogloss.score(grid / "good", gold=grid / "gold")


def test_full_grid_has_an_overall_score(results: Results) -> None:
    assert len(results.cells) == 15 + 11 + 38 + 48 + 11 + 7 + 9 + 41 + 11 + 11
    assert results.overall.rule == "category"
    assert not results.overall.partial
    assert results.overall.score is not None
    assert results.overall.score.value == pytest.approx(overall(results.task_scores(), "category"))
    assert [category.name for category in results.categories] == ["classification", "structured", "qa", "retrieval"]


def test_task_averages_are_plain_means_over_languages(results: Results) -> None:
    for name, metric in (("xnli", "accuracy"), ("udpos", "f1"), ("lareqa", "map@20")):
        cells = [cell.metrics[metric].value for cell in results.cells if cell.task == name]
        assert results[name].score.value == pytest.approx(np.mean(cells))
    xquad = results["xquad"]
    assert xquad.score.value == pytest.approx((xquad.metrics["f1"].value + xquad.metrics["em"].value) / 2)


def test_transfer_gap_is_english_minus_mean_of_others(results: Results) -> None:
    for name, metric in (("xnli", "accuracy"), ("udpos", "f1")):
        scores = {cell.language: cell.metrics[metric].value for cell in results.cells if cell.task == name}
        english = scores.pop("en")
        gap = results[name].gap
        assert gap is not None
        assert gap.value == pytest.approx(english - np.mean(list(scores.values())))
        assert gap.low <= gap.value <= gap.high
    # Tatoeba pairs English with every other language, so it has no transfer gap.
    assert results["tatoeba"].gap is None


def test_parallel_languages_are_resampled_together_for_the_gap(tmp_path: Path) -> None:
    labels = [("entailment", "neutral", "contradiction")[place % 3] for place in range(100)]
    for code, errors in {"en": 40, "de": 50, "sw": 50}.items():
        said = ["neutral" if label != "neutral" else "entailment" for label in labels[:errors]] + labels[errors:]
        for root, rows in (("gold", labels), ("system", said)):
            folder = tmp_path / root / "xnli"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"test-{code}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    gap = isogloss.score(tmp_path / "system", gold=tmp_path / "gold", tasks=["xnli"])["xnli"].gap
    assert gap is not None
    assert gap.value == pytest.approx(10)
    # Only English is right in 10 of 100 examples: a standard error of 3 points. Resampling languages independently
    # would give one of 6.
    assert gap.high - gap.low == pytest.approx(2 * 1.96 * 3, rel=0.15)


def test_numbers_lie_in_their_intervals_and_cells_have_signatures(results: Results) -> None:
    for row in results.rows():
        if row.low is None:
            assert row.level == "pair" and "no interval: fewer than 20" in row.note, row
        else:
            assert 0 <= row.low <= row.value <= row.high <= 100
        assert row.n > 0
    for cell in results.cells:
        assert f"task:{cell.task}|lang:{cell.language}|" in cell.signature
        assert "|split:test|n:25|data:" in cell.signature
    assert "dialect:mlqa" in results["mlqa", "hi"].signature


def test_parallel_languages_have_wider_average_intervals(tmp_path: Path) -> None:
    # The same 20 of 100 are wrong in each of four languages. Translations of the same examples add no information;
    # separate test sets of 100 equal one set of 400, with an interval half as wide.
    labels = {("xnli", "xtreme-r"): ("neutral", "entailment"), ("mldoc", "mldoc"): ("CCAT", "ECAT")}
    widths = {}
    for (task, of_suite), (one, other) in labels.items():
        gold = [one, other] * 50
        said = [other, one] * 10 + gold[20:]
        for code in ("en", "de", "fr", "es"):
            for root, rows in (("gold", gold), ("system", said)):
                folder = tmp_path / root / task
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"test-{code}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        results = isogloss.score(tmp_path / "system", suite=of_suite, gold=tmp_path / "gold", tasks=[task])
        average = results[task].score
        assert average.value == pytest.approx(80)
        widths[task] = average.high - average.low
    assert widths["xnli"] == pytest.approx(2 * 1.96 * 4, rel=0.15)
    assert widths["mldoc"] == pytest.approx(2 * 1.96 * 2, rel=0.15)


def test_averages_have_narrower_intervals_than_cells(results: Results) -> None:
    cell = results["xnli", "en"].metrics["accuracy"]
    average = results["xnli"].score
    assert average.high - average.low < cell.high - cell.low


def test_scoring_twice_gives_the_same_bytes(grid: Path, results: Results, tmp_path: Path) -> None:
    results.to_json(tmp_path / "a.json")
    isogloss.score(grid / "good", gold=grid / "gold").to_json(tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert Results.from_json(tmp_path / "a.json") == results


def test_partial_grid_lists_missing_cells(grid: Path) -> None:
    part = isogloss.score(grid / "good", gold=grid / "gold", tasks=["xnli", "xquad"], languages=["en", "sw"])
    assert part.overall.partial
    assert {"xcopa", "udpos", "lareqa", "xnli/ar", "xquad/zh"} <= set(part.overall.missing)
    assert "xnli/sw" not in part.overall.missing
    assert part["xnli"].members == ["en", "sw"]
    assert len(part["xnli"].missing) == 13


def test_tidy_views_agree(results: Results, tmp_path: Path) -> None:
    rows = list(results.rows())
    frame = results.to_pandas()
    table = results.to_arrow()
    results.to_csv(tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    assert len(frame) == table.num_rows == len(rows) == len(lines) - 1
    assert lines[0] == "level,task,language,split,metric,value,low,high,n,note,signature"
    assert frame.query("level == 'overall'").value.item() == results.overall.score.value  # type: ignore[union-attr]
    assert "<table" in results._repr_html_()


def test_numbers_are_short_with_their_intervals() -> None:
    number = Number(41.66, 29.67, 54.73, 1_200)
    cell = CellScore(task="xnli", language="th", split="dev", metrics={"accuracy": number}, signature="")
    average = AverageScore(name="xnli", score=number, metrics={}, members=["th"], missing=["sw", "en"])
    assert (str(number), repr(number)) == ("41.7 (29.7–54.7)", "<Number: 41.7 (29.7–54.7), n=1,200>")
    assert repr(cell) == "<CellScore: xnli/th (dev): accuracy 41.7 (29.7–54.7)>"
    assert repr(average) == "<AverageScore: xnli 41.7 (29.7–54.7), 2 missing>"
    assert repr(replace(average, name="\x1b[2J", missing=[])) == "<AverageScore: �[2J 41.7 (29.7–54.7)>"
    assert repr(Overall("category", Number(5, None, None, 3), [])) == "<Overall: 5.0 (—), rule: category>"
    assert repr(Overall("category", None, ["xnli"])) == "<Overall: no score, 1 missing, rule: category>"


def test_short_forms_mark_partial_averages(results: Results, tmp_path: Path) -> None:
    whole, top = f"<Results: {results.system['name']} on xtreme-r (test): ", results.overall.score
    assert top is not None
    assert repr(results) == f"{whole}{top.value:.1f}{'*' * results.overall.partial}>"
    some = replace(results, overall=replace(results.overall, missing=["xcopa/qu"]))
    assert repr(some) == f"{whole}{top.value:.1f}*>"
    assert re.search(rf"<td[^>]*>overall</td><td[^>]*>[^<]*</td><td>{top.value:.1f}\*</td>", some._repr_html_())
    first = results.tasks[0]
    one = replace(some, tasks=[replace(first, members=["sw"], missing=["en"])])
    assert repr(one) == f"{whole}{first.name}/sw {first.score.value:.1f}>"
    assert ">overall</td>" not in one._repr_html_()
    assert f"<td>{first.score.value:.1f}*</td>" in one._repr_html_()


def test_newer_or_foreign_records_raise(results: Results, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    results.to_json(path)
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "schema_version": 99}))
    with pytest.raises(DataError, match="schema version 99"):
        Results.from_json(path)
    wrong = {b"{}": "not a result record", b'{"suite": "\xff"}': "r.json:1: not UTF-8", b"[" * 100_000: "not a result"}
    for content, said in wrong.items():
        path.write_bytes(content)
        with pytest.raises(DataError, match=said):
            Results.from_json(path)


def test_names_are_checked_before_reading(grid: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean xtreme"):
        isogloss.score(grid / "good", suite="xtrem")
    with pytest.raises(UnknownNameError, match="unknown language of xtreme-r 'xx'"):
        isogloss.score(grid / "good", gold=grid / "gold", languages=["xx"])
    with pytest.raises(UnknownNameError, match=r"^xquad or mlqa has no sw\. It has ar, de, el,"):
        isogloss.score(grid / "good", gold=grid / "gold", tasks=["xquad", "mlqa"], languages=["sw"])
    with pytest.raises(UnknownNameError, match="unknown split"):
        isogloss.score(grid / "good", gold=grid / "gold", split="tets")
    with pytest.raises(PredictionError, match="no such folder"):
        isogloss.score(grid / "nobody", gold=grid / "gold")
    with pytest.raises(PredictionError, match="no test predictions for xnli"):
        isogloss.score(grid / "gold" / "xnli", gold=grid / "gold", tasks=["xnli"])
    with pytest.raises(PredictionError, match="It has predictions for xquad: select them with --suite xtreme-r"):
        isogloss.score({"xquad": {"en": {}}}, suite="mini")
