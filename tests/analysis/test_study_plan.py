"""isogloss.plan: pilots of predictions, scores and figures; words, tables, and refusals."""

import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.plan_tables import ENOUGH_NOW, MORE, NEVER
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.tasks.suites import Suite
from sample import write_gold, write_system

LANGUAGES = ["en", "ar", "th", "tr", "vi"]
# What the pilots have of XTREME.
PART = Suite(id="part", title="", tasks=("xnli", "udpos"), languages=dict.fromkeys(("xnli", "udpos"), tuple(LANGUAGES)))


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds of two methods, on 60 examples per language."""
    folder = tmp_path_factory.mktemp("pilot")
    write_gold(folder / "gold", PART, 60)
    for name, share in {"mine": 0.8, "theirs": 0.7}.items():
        for seed in range(3):
            write_system(folder / name / f"seed-{seed}", PART, 60, f"{name} {seed}", share - 0.03 * seed)
    return folder


def planned(root: Path, *pilots: str, **options: Any) -> Finding:
    selection = {"suite": "xtreme", "gold": root / "gold", "tasks": ["xnli"], "languages": LANGUAGES, **options}
    return isogloss.plan(*(root / pilot for pilot in pilots), **selection)


def rows(finding: Finding, table: str = "needed") -> dict[str, dict[str, Any]]:
    return {str(row["factor"]): row for row in finding.table(table).records() if row["score"] == "xnli"}


def test_two_methods_with_seeds(root: Path) -> None:
    finding = planned(root, "mine", "theirs", difference=3)
    needs = rows(finding)
    assert list(needs) == ["examples", "languages", "seeds"]
    assert [needs[factor]["now"] for factor in needs] == [60, 5, 3]
    assert finding.reading.startswith("xnli: with 3 seeds each and 60 examples in each of 5 languages you can see ")
    assert needs["examples"]["share"] + needs["seeds"]["share"] == pytest.approx(1)
    for row in needs.values():
        assert (row["needed"] is None) == (row["answer"] == NEVER)
        assert row["needed"] is None or row["cautious"] is None or row["cautious"] >= row["needed"]
    assert not any("one run each" in note for note in finding.notes)
    assert {str(row["system"]) for row in finding.table("components").records()} == {"both", "mine 0", "theirs 0"}
    assert [str(row["language"]) for row in finding.table("cells").records()] == LANGUAGES


def test_notes_explain_the_columns_and_dots_that_are_shown(root: Path) -> None:
    shown: dict[str, list[bool]] = {"cautious": [], "dots": []}
    for difference in (0.1, 10, 90):
        finding = planned(root, "mine", "theirs", difference=difference)
        needs, cells = finding.table("needed"), finding.table("cells")
        shown["cautious"].append(any(row["cautious"] is not None for row in needs.records()))
        shown["dots"].append(any(row["needed"] is None for row in cells.records()))
        assert any("needed, cautious" in note for note in needs.notes) == shown["cautious"][-1]
        assert any("examples needed ·: no number" in note for note in cells.notes) == shown["dots"][-1]
        assert any("share ·: the study is about these languages" in note for note in needs.notes)
        assert not any("cautious" in note for note in finding.notes)
    assert all(set(seen) == {True, False} for seen in shown.values())


def test_single_runs_are_checkpoints(root: Path) -> None:
    finding = planned(root, "mine/seed-0", "theirs/seed-0", difference=5)
    needs = rows(finding)
    assert list(needs) == ["examples", "languages"]
    assert needs["examples"]["answer"] == MORE
    assert any(note.startswith("one run each: the variance between seeds is unknown") for note in finding.notes)
    assert f"For 5 points: {needs['examples']['needed']:,} examples per language" in finding.reading


def test_a_single_run_beside_several(root: Path) -> None:
    finding = planned(root, "mine", "theirs/seed-0")
    assert "with 3 and 1 seeds and 60 examples" in finding.reading
    assert any("taken as it is" in note for note in finding.notes)


def test_large_difference_is_enough_now(root: Path) -> None:
    finding = planned(root, "mine/seed-0", "theirs/seed-0", difference=40)
    assert {row["answer"] for row in rows(finding).values()} == {ENOUGH_NOW}
    assert "That is enough for 40 points." in finding.reading


def test_budgets_and_designs(root: Path) -> None:
    budgets = [{"seeds": 10, "examples": 500}, {"languages": 20}]
    finding = planned(root, "mine", "theirs", difference=3, budgets=budgets)
    designs = finding.table("designs").records()
    assert [row["design"] for row in designs[:3]] == ["now", "budget", "budget"]
    assert (designs[1]["examples"], designs[1]["seeds"], designs[1]["languages"]) == (500, 10, 5)
    assert float(designs[1]["detectable"] or 0) < float(designs[0]["detectable"] or 0)
    assert all(float(row["power"] or 0) >= 0.8 for row in designs if row["design"] == "enough")
    assert finding.command.endswith("--budget seeds=10,examples=500 --budget languages=20")


def test_several_tasks_have_an_overall_score(root: Path) -> None:
    finding = planned(root, "mine", "theirs", tasks=["xnli", "udpos"])
    assert [row["score"] for row in finding.table("designs").records() if row["design"] == "now"] == [
        "overall",
        "xnli",
        "udpos",
    ]
    assert re.match(r"overall: with 3 seeds each and [\d,]+ examples per language you can see ", finding.reading)
    assert any("see --comparisons" in note for note in finding.notes)
    together = planned(root, "mine", "theirs", tasks=["xnli", "udpos"], comparisons=2)
    assert any("corrected for 2 comparisons" in note for note in together.notes)


def test_one_pilot_needs_a_correlation(root: Path) -> None:
    bound, half = (planned(root, "mine", difference=5, correlation=share) for share in (0.0, 0.3))
    assert any("correlation of 0 on an example, an upper bound" in note for note in bound.notes)
    assert any("correlation of 0.3 on an example;" in note for note in half.notes)
    before, after = (finding.table("designs").records()[0]["detectable"] for finding in (bound, half))
    assert float(after or 0) <= float(before or 0)
    assert {str(row["system"]) for row in bound.table("components").records()} == {"both", "each"}


def test_languages_as_a_sample(root: Path) -> None:
    finding = planned(root, "mine", "theirs", languages_as="sample")
    assert rows(finding)["languages"]["share"] is not None
    assert rows(planned(root, "mine", "theirs"))["languages"]["share"] is None
    with pytest.raises(AnalysisError, match="too few languages or families to be a sample"):
        planned(root, "mine", "theirs", languages_as="sample", languages=LANGUAGES[:4])
    assert any("the languages are a sample" in note for note in finding.notes)
    with pytest.raises(AnalysisError, match="needs pilots of both systems"):
        planned(root, "mine", languages_as="sample")
    with pytest.raises(UnknownNameError, match="unknown population of languages 'all'"):
        planned(root, "mine", "theirs", languages_as="all")


def test_predictions_in_memory() -> None:
    gold = {str(row): "entailment" for row in range(10)}
    with pytest.raises((AnalysisError, PredictionError)):
        isogloss.plan({"xnli": {"en": gold}}, {"xnli": {"en": gold}})


def test_published_spread() -> None:
    finding = isogloss.plan("published:keung", tasks=["xnli"], difference=2)
    now = {str(row["score"]): row for row in finding.table("designs").records() if row["design"] == "now"}
    assert (now["xnli, mBERT"]["seeds"], now["xnli, mBERT"]["languages"], now["xnli, mBERT"]["examples"]) == (
        3,
        15,
        5010,
    )
    deviations = {
        (str(row["score"]), str(row["component"])): float(row["deviation"] or 0)
        for row in finding.table("components").records()
    }
    assert 0.3 < deviations["xnli, mBERT", "seeds"] < 1
    assert any("count as its seeds" in note for note in finding.notes)
    assert finding.command == "isogloss plan published:keung --difference 2 --tasks xnli"


def test_figures_in_place_of_a_pilot() -> None:
    alone = isogloss.plan(score=80, examples=1000, difference=2)
    [row] = alone.table("needed").records()
    # 2 p (1 - p) (1.96 + 0.84)² / d², and a little more for the exact test.
    assert row["needed"] == pytest.approx(2 * 0.16 * 2.8016**2 / 0.02**2, rel=0.02)
    assert row["cautious"] is None
    seeds = isogloss.plan(score=80, examples=20_000, seed_sd=1.2, correlation=0.5)
    assert "with 3 seeds each and 20,000 examples" in seeds.reading
    answers = {str(row["factor"]): row["answer"] for row in seeds.table("needed").records()}
    assert answers == {"examples": NEVER, "seeds": MORE}
    assert "More examples alone cannot do it: " in seeds.reading
    assert "of the variance is between seeds" in seeds.reading


def test_record_page_and_notebook(root: Path) -> None:
    finding = planned(root, "mine", "theirs")
    assert msgspec.json.decode(msgspec.json.encode(finding), type=Finding) == finding
    assert repr(finding).startswith("Finding(plan; needed: 3 rows, designs: ")
    assert "<table" in finding._repr_html_()
    assert list(finding.to_pandas().columns)[:3] == ["score", "factor", "share"]
    assert finding.figures[0].table == "curve"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"difference": 0}, "the difference must be above 0"),
        ({"difference": -1}, "the difference must be above 0"),
        ({"difference": float("nan")}, "the difference must be above 0"),
        ({"power": 1.0}, "the power must be at least 0.5"),
        ({"comparisons": 0}, "the number of comparisons must be 1 to 1,000,000, got 0"),
        ({"comparisons": 10**7}, "the number of comparisons must be 1 to 1,000,000, got 1e"),
        ({"correlation": 1.0}, "the correlation must be at least 0 and below 1"),
        ({"budgets": [{"seeds": 0}]}, "a budget needs 1 to 1,000,000,000 seeds, got 0"),
        ({"budgets": [{"examples": 5}]}, "a budget needs 20 to 1,000,000,000 examples, got 5"),
        ({"budgets": [{"prompts": 3}]}, "does not show the variance between prompts"),
        ({"score": 80, "examples": 100}, "expected one or two pilots"),
    ],
)
def test_refusals(root: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        planned(root, "mine", "theirs", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected one or two pilots of one kind, got 0"),
        ({"score": 80}, "missing number of examples"),
        ({"examples": 80}, "missing score"),
        ({"score": 100, "examples": 100}, "the score must be above 0 and below 100"),
        ({"score": 80, "examples": 19}, "expected 20 to 1,000,000,000 examples, got 19"),
        ({"score": 80, "examples": 10**13}, "expected 20 to 1,000,000,000 examples, got 10,000,000,000,000"),
        ({"score": 80, "examples": 100, "seed_sd": -1}, "standard deviation between seeds"),
        ({"score": 80, "examples": 100, "seed_sd": float("nan")}, "standard deviation between seeds"),
    ],
)
def test_refused_figures(options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnalysisError, match=message):
        isogloss.plan(**options)


def test_unknown_budget(root: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown number of a budget 'seed'"):
        planned(root, "mine", "theirs", budgets=[{"seed": 3}])


def test_too_many_pilots(root: Path) -> None:
    with pytest.raises(AnalysisError, match="expected one or two pilots of one kind, got 3"):
        planned(root, "mine", "theirs", "mine")


def test_equal_pilots(root: Path) -> None:
    with pytest.raises(AnalysisError, match=r"both systems have the same score .* less than 4.9 points \(95 %\)"):
        planned(root, "mine/seed-0", "mine/seed-0")


def test_small_pilots(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", PART, 15)
    for name in ("a", "b"):
        write_system(tmp_path / name, PART, 15, name, 0.7)
    with pytest.raises(AnalysisError, match="15 independent examples; a pilot needs at least 20"):
        planned(tmp_path, "a", "b")


def test_no_shared_cell(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "mine/seed-0", tmp_path / "mine")
    shutil.copytree(root / "theirs/seed-0", tmp_path / "theirs")
    shutil.copytree(root / "gold", tmp_path / "gold")
    shutil.rmtree(tmp_path / "mine/xnli")
    shutil.rmtree(tmp_path / "theirs/udpos")
    with pytest.raises(PredictionError, match="the pilots share no cell"):
        planned(tmp_path, "mine", "theirs", tasks=["xnli", "udpos"])
