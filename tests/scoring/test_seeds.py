"""Several seeds of one system: mean, spread, and tests that compare methods."""

import shutil
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import PredictionError
from isogloss.scoring.seeds import seed_folders
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
    assert list(seed_folders(root / "better")) == ["seed-0", "seed-1", "seed-2"]
    assert list(seed_folders(root / "better/seed-0")) == [""]
    assert list(seed_folders({"xnli": {}})) == [""]


def test_scores_are_means_over_the_seeds(root: Path) -> None:
    found = isogloss.score(root / "better", **options(root, "xnli", "udpos"))
    single = [isogloss.score(root / f"better/seed-{seed}", **options(root, "xnli", "udpos")) for seed in range(3)]
    assert found.seeds == ["seed-0", "seed-1", "seed-2"]
    for number, parts in [
        (found["xnli", "de"].metrics["accuracy"], [each["xnli", "de"].metrics["accuracy"] for each in single]),
        (found["xnli"].score, [each["xnli"].score for each in single]),
        (found.overall.score, [each.overall.score for each in single]),
    ]:
        values = [part.value for part in parts]
        assert number.value == pytest.approx(sum(values) / 3)
        assert number.n == parts[0].n
        assert number.seeds.values == pytest.approx(values)
        deviations = sum((value - number.value) ** 2 for value in values)
        assert number.seeds.sd == pytest.approx((deviations / 2) ** 0.5)
        assert 0 < number.seeds.share < 1
        assert number.low < number.value < number.high
    assert all(each["xnli"].score.seeds is None for each in single)
    assert single[0].seeds == []


def test_seeds_compare_methods_and_single_runs_compare_checkpoints(root: Path) -> None:
    of_methods = isogloss.compare(root / "better", root / "worse", **options(root, "xnli", "udpos"))
    assert of_methods.seeds == (3, 3)
    assert of_methods.verdict().startswith("better is the better method: ")
    assert {contrast.test for contrast in of_methods.tasks} == {"t over seeds"}
    assert of_methods.overall.seed_share is not None
    assert 0 < of_methods.overall.seed_share < 1
    of_checkpoints = isogloss.compare(root / "better/seed-0", root / "worse/seed-0", **options(root, "xnli", "udpos"))
    assert of_checkpoints.verdict().startswith("better is the better checkpoint: ")
    assert of_checkpoints.overall.seed_share is None
    mixed = isogloss.compare(root / "better", root / "worse/seed-0", **options(root, "xnli"))
    assert mixed.seeds == (3, 1)
    assert "checkpoint" in mixed.verdict()


def test_method_is_tied_with_itself(root: Path) -> None:
    found = isogloss.compare(root / "better", root / "better", **options(root, "xnli"))
    assert found.tasks[0].p == 1
    assert "the methods better (1) and better (2) are statistically tied" in found.verdict()


def test_only_shared_cells_of_seeds_are_averaged(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root / "better", tmp_path / "better")
    shutil.rmtree(tmp_path / "better/seed-1/udpos")
    (tmp_path / "better/seed-2/xnli/test-de.tsv").unlink()
    found = isogloss.score(tmp_path / "better", **options(root, "xnli", "udpos"))
    assert [average.name for average in found.tasks] == ["xnli"]
    assert "de" in found["xnli"].missing
    left_out = {(one.task, one.language): one.reason for one in found.left_out}
    assert left_out["xnli", "de"] == left_out["udpos", "en"] == "only some of the seeds have it"
    left = [cell.language for cell in found.cells]
    for average in found.tasks:
        assert average.score.seeds.values == pytest.approx(
            [
                isogloss.score(root / f"better/seed-{seed}", **options(root, "xnli"), languages=left)[
                    "xnli"
                ].score.value
                for seed in range(3)
            ]
        )
    shutil.rmtree(tmp_path / "better/seed-1/xnli")
    shutil.rmtree(tmp_path / "better/seed-0/pawsx")
    with pytest.raises(PredictionError, match="seeds have no cell in common"):
        isogloss.score(tmp_path / "better", **options(root, "xnli", "pawsx"))
