"""Several runs of one system: means and spreads over seeds and prompts, and tests that compare methods."""

import shutil
from pathlib import Path

import msgspec
import pytest

import isogloss
from isogloss.errors import PredictionError
from isogloss.predictions.run_folders import run_folders, run_names
from isogloss.results.readers import system_of_record
from isogloss.scoring.results import Number
from isogloss.tables.score_tables import score_tables
from isogloss.tasks.suites import suite
from sample import write_gold, write_system


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds of a better and of a worse method, on 60 examples per language."""
    folder = tmp_path_factory.mktemp("seeds")
    write_gold(folder / "gold", suite("xtreme"), 60)
    for name, share in {"better": 0.9, "worse": 0.6}.items():
        for seed in range(3):
            run = folder / name / f"seed-{seed}"
            write_system(run, suite("xtreme"), 60, f"{name} {seed}", share)
            (run / "system.toml").write_text(f'name = "{name}"\n')
    return folder


def options(root: Path, *tasks: str) -> dict[str, object]:
    return {"suite": "xtreme", "gold": root / "gold", "tasks": list(tasks)}


def test_seed_folders_are_recognised(root: Path) -> None:
    assert list(run_folders(root / "better")) == ["seed-0", "seed-1", "seed-2"]
    assert list(run_folders(root / "better/seed-0")) == [""]


def test_scores_are_means_over_the_seeds(root: Path) -> None:
    found = isogloss.score(root / "better", **options(root, "xnli", "udpos"))
    single = [isogloss.score(root / f"better/seed-{seed}", **options(root, "xnli", "udpos")) for seed in range(3)]
    assert found.runs == ["seed-0", "seed-1", "seed-2"]
    for number, parts in [
        (found["xnli", "de"].metrics["accuracy"], [each["xnli", "de"].metrics["accuracy"] for each in single]),
        (found["xnli"].score, [each["xnli"].score for each in single]),
        (found.overall.score, [each.overall.score for each in single]),
    ]:
        values = [part.value for part in parts]
        assert number.value == pytest.approx(sum(values) / 3)
        assert number.n == parts[0].n
        assert number.spread["seed"].values == pytest.approx(values)
        deviations = sum((value - number.value) ** 2 for value in values)
        assert number.spread["seed"].sd == pytest.approx((deviations / 2) ** 0.5)
        assert 0 < number.spread["seed"].share < 1
        assert number.low < number.value < number.high
    assert all(each["xnli"].score.spread == {} for each in single)
    assert single[0].runs == []


def test_seeds_compare_methods_and_single_runs_compare_checkpoints(root: Path) -> None:
    of_methods = isogloss.compare(root / "better", root / "worse", **options(root, "xnli", "udpos"))
    assert of_methods.runs == [{"seed": 3}, {"seed": 3}]
    assert of_methods.verdict().startswith("better is the better method: ")
    assert {contrast.test for contrast in of_methods.tasks} == {"t over seeds"}
    assert 0 < of_methods.overall.shares["seed"] <= 1
    of_checkpoints = isogloss.compare(root / "better/seed-0", root / "worse/seed-0", **options(root, "xnli", "udpos"))
    assert of_checkpoints.verdict().startswith("better is the better checkpoint: ")
    assert of_checkpoints.overall.shares == {}
    mixed = isogloss.compare(root / "better", root / "worse/seed-0", **options(root, "xnli"))
    assert mixed.runs == [{"seed": 3}, {}]
    assert "checkpoint" in mixed.verdict()


def test_method_is_tied_with_itself(root: Path) -> None:
    found = isogloss.compare(root / "better", root / "better", **options(root, "xnli"))
    assert found.tasks[0].p == 1
    assert "the methods better (1) and better (2) are not significantly different" in found.verdict()


def test_only_shared_cells_of_seeds_are_averaged(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "better", tmp_path / "better")
    shutil.rmtree(tmp_path / "better/seed-1/udpos")
    (tmp_path / "better/seed-2/xnli/test-de.tsv").unlink()
    found = isogloss.score(tmp_path / "better", **options(root, "xnli", "udpos"))
    assert [average.name for average in found.tasks] == ["xnli"]
    assert "de" in found["xnli"].missing
    left_out = {(one.task, one.language): one.reason for one in found.left_out}
    assert left_out["xnli", "de"] == "missing in 1 of 3 runs: seed-2"
    assert left_out["udpos", "en"] == "missing in 1 of 3 runs: seed-1"
    left = [cell.language for cell in found.cells]
    for average in found.tasks:
        assert average.score.spread["seed"].values == pytest.approx(
            [
                isogloss.score(root / f"better/seed-{seed}", **options(root, "xnli"), languages=left)[
                    "xnli"
                ].score.value
                for seed in range(3)
            ]
        )
    shutil.rmtree(tmp_path / "better/seed-1/xnli")
    shutil.rmtree(tmp_path / "better/seed-0/pawsx")
    with pytest.raises(PredictionError, match="runs have no cell in common"):
        isogloss.score(tmp_path / "better", **options(root, "xnli", "pawsx"))


@pytest.fixture(scope="module")
def prompts(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two prompts with two seeds each; the long prompt is much better."""
    folder = tmp_path_factory.mktemp("prompts") / "llm"
    for prompt, share in {"long": 0.9, "short": 0.6}.items():
        for seed in range(2):
            run = folder / f"prompt-{prompt}" / f"seed-{seed}"
            write_system(run, suite("xtreme"), 60, f"{prompt} {seed}", share)
            (run / "system.toml").write_text('name = "llm"\n')
    return folder


def test_prompts_and_seeds_are_crossed(root: Path, prompts: Path) -> None:
    names = [f"prompt-{prompt}/seed-{seed}" for prompt in ("long", "short") for seed in range(2)]
    assert list(run_folders(prompts)) == names
    assert run_names([prompts / name for name in names]) == names
    assert run_names([prompts / names[0]]) == [""]
    found = isogloss.score(prompts, **options(root, "xnli", "udpos"))
    assert found.runs == names
    single = [isogloss.score(prompts / name, **options(root, "xnli", "udpos")) for name in names]
    values = [each.overall.score.value for each in single]
    spread = found.overall.score.spread
    assert found.overall.score.value == pytest.approx(sum(values) / 4)
    assert spread["prompt"].levels == ["long", "short"]
    assert spread["prompt"].values == pytest.approx([sum(values[:2]) / 2, sum(values[2:]) / 2])
    assert spread["seed"].values == pytest.approx([(values[0] + values[2]) / 2, (values[1] + values[3]) / 2])
    # The prompt decides, and each factor's share is stated apart.
    assert spread["prompt"].share > 0.9
    assert spread["seed"].share < 0.1
    [shown, *_] = score_tables({"llm": system_of_record(found, "")})
    assert any(note.startswith("means over 2 prompts × 2 seeds: standard deviation ") for note in shown.notes)
    compared = isogloss.compare(prompts, root / "better", **options(root, "xnli"))
    assert compared.runs == [{"prompt": 2, "seed": 2}, {"seed": 3}]
    assert {contrast.test for contrast in compared.tasks} == {"t over prompts and seeds"}
    # Two prompts cannot tell a better system from a lucky prompt.
    assert not compared.tasks[0].significant


def test_incomplete_designs_are_refused(root: Path, prompts: Path, tmp_path: Path) -> None:
    shutil.copytree(prompts, tmp_path / "llm")
    shutil.rmtree(tmp_path / "llm/prompt-short/seed-1")
    with pytest.raises(PredictionError, match="prompt-short/seed-1 is missing"):
        isogloss.score(tmp_path / "llm", **options(root, "xnli"))


def test_records_of_earlier_versions_have_seeds() -> None:
    old = b'{"value": 50.0, "low": null, "high": null, "n": 9, "seeds": {"values": [49, 51], "sd": 1.4, "share": 0.5}}'
    number = msgspec.json.decode(old, type=Number)
    assert number.spread["seed"].values == [49, 51]
    assert number.seeds is None
    again = msgspec.json.decode(msgspec.json.encode(number), type=Number)
    assert again.spread == number.spread


def test_prompts_of_the_same_names_are_paired(root: Path, prompts: Path, tmp_path: Path) -> None:
    """A second system with the same prompts is compared within prompts; a prompt of its own is left out."""
    other = tmp_path / "other"
    for prompt, share in {"long": 0.8, "short": 0.5, "own": 0.9}.items():
        for seed in range(2):
            run = other / f"prompt-{prompt}" / f"seed-{seed}"
            write_system(run, suite("xtreme"), 60, f"other {prompt} {seed}", share)
            (run / "system.toml").write_text('name = "other"\n')
    found = isogloss.compare(prompts, other, **options(root, "xnli"))
    [average] = found.tasks
    assert found.runs == [{"prompt": 2, "seed": 2}, {"prompt": 2, "seed": 2}]
    assert average.test == "t over shared prompts and seeds"
    assert [str(each) for each in found.left_out] == [
        "left out: other/prompt-own: only some of the systems have it. Run every system with the same prompts"
    ]
    # Prompts differ by 30 points in both systems, which cancels.
    assert average.low is not None and average.high is not None
    assert average.high - average.low < 40
    plan = isogloss.plan(prompts, other, difference=5, **options(root, "xnli"))
    [now] = [row for row in plan.table("designs").records() if row["design"] == "now"]
    assert now["detectable"] == pytest.approx(average.detectable)
    assert "the same 2 prompts and 2 seeds each" in plan.reading
    assert str(found.left_out[0]) in plan.notes
    # With one prompt in common, prompts are independent samples.
    (other / "prompt-short").rename(other / "prompt-brief")
    found = isogloss.compare(prompts, other, **options(root, "xnli"))
    assert found.runs[1] == {"prompt": 3, "seed": 2}
    assert found.tasks[0].test == "t over different prompts and seeds"
    assert not found.left_out
