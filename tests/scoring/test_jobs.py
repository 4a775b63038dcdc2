"""score, compare and explain give the same output and errors with several processes."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import isogloss
from isogloss.cli.main import main
from isogloss.errors import IsoglossError, PredictionError
from isogloss.metrics.statistics import Statistics, Value
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task

pytestmark = pytest.mark.slow

LANGUAGES = ("en", "de", "sw")
MINI = {"suite": "mini", "tasks": ["mini-xnli", "mini-xquad"], "languages": list(LANGUAGES)}


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three systems that answer every second, third and fourth example correctly; the last has two seeds."""
    root = tmp_path_factory.mktemp("systems")
    folders = [root / "two", root / "three", root / "four" / "seed-0", root / "four" / "seed-1"]
    for place, folder in enumerate(folders):
        for name in MINI["tasks"]:
            for language in LANGUAGES[: 2 if "four" in str(folder) else 3]:
                gold = load_gold(task(name), language, "test", None)
                right = gold[gold.gold]
                wrong = "neutral" if name == "mini-xnli" else "nothing"
                given = (value[0] if isinstance(value, list | tuple) else value for value in right)
                answers = [value if row % (place + 2) else wrong for row, value in enumerate(given)]
                path = folder / name / f"{language}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = ({"id": one, "prediction": str(two)} for one, two in zip(gold.ids, answers, strict=True))
                path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        (folder / "system.toml").write_text(f'name = "{folder.relative_to(root).parts[0]}"\n')
    return [root / "two", root / "three", root / "four"]


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


OPTIONS = ("--suite", "mini", "--tasks", ",".join(MINI["tasks"]), "--languages", ",".join(LANGUAGES))


@pytest.mark.parametrize(
    "verb",
    [("score",), ("compare",), ("explain", "--examples", "2", "--attributes", "all=shared")],
    ids=" ".join,
)
def test_output_is_independent_of_the_number_of_processes(
    verb: tuple[str, ...], systems: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    # `explain` takes single runs.
    folders = [*systems[:2], systems[2] / "seed-0"] if verb[0] == "explain" else systems
    for jobs in (1, 2, 4) if verb == ("score",) else (1, 3):
        target = tmp_path / f"{jobs}.json"
        assert run(*verb, *folders, *OPTIONS, "--json", target, "--jobs", jobs) == 0
        found.append((capsys.readouterr().out, target.read_bytes()))
    assert all(each == found[0] for each in found)


def test_cells_of_one_system_are_shared_among_workers(systems: list[Path]) -> None:
    for folder in (systems[0], systems[2]):
        alone, shared = (isogloss.score(folder, **MINI, jobs=jobs) for jobs in (1, 2))
        assert msgspec.json.encode(alone) == msgspec.json.encode(shared)


def test_several_systems_in_one_table_and_in_one_file(
    systems: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("score", *systems, *OPTIONS, "--json", tmp_path / "all.json") == 0
    assert "3 systems on mini" in capsys.readouterr().out
    records = json.loads((tmp_path / "all.json").read_text())
    assert [record["system"]["name"] for record in records] == ["two", "three", "four"]
    assert run("score", *systems, *OPTIONS, "--json", tmp_path / "all.csv") == 0
    with (tmp_path / "all.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert list(dict.fromkeys(row["system"] for row in rows)) == ["two", "three", "four"]
    isogloss.score(systems[0], **MINI).to_csv(tmp_path / "one.csv")
    own = (tmp_path / "one.csv").read_text().splitlines()
    assert own[1:] == [line[4:] for line in (tmp_path / "all.csv").read_text().splitlines() if line[:4] == "two,"]


def test_errors_match_those_of_one_process(systems: list[Path], tmp_path: Path) -> None:
    """Each task has a problem in one cell, and one system lacks a task."""
    for name, language in (("mini-xnli", "en"), ("mini-xquad", "de")):
        for system in ("first", "second"):
            path = tmp_path / system / name / f"{language}.jsonl"
            path.parent.mkdir(parents=True)
            path.write_text(f'{{"id": "{system} {name}", "prediction": "x"}}\n')
    said = []
    for jobs in (1, 2):
        for call in (isogloss.score, isogloss.compare, isogloss.explain):
            folders = [tmp_path / "first"] if call is isogloss.score else [tmp_path / "first", tmp_path / "second"]
            with pytest.raises(PredictionError) as refused:
                call(*folders, **MINI, jobs=jobs)
            said.append(str(refused.value))
    assert said[:3] == said[3:]
    assert all("first mini-xnli" in text and "first mini-xquad" in text for text in said)


def test_metric_values_can_be_pickled(systems: list[Path]) -> None:
    import pickle

    from isogloss.metrics.statistics import VALUES

    for value in VALUES.values():
        assert pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own


def test_unpicklable_objects_raise_a_clear_error() -> None:
    from isogloss.workers import ProcessWorkers, in_parallel

    with (
        ProcessWorkers(1) as workers,
        pytest.raises(IsoglossError, match="cannot pickle an object defined outside a module"),
    ):
        list(in_parallel(workers, _unpicklable, [1]))


def _unpicklable(item: int) -> Statistics:
    import numpy as np

    return Statistics(np.ones((item, 1)), Value("mine", ("x",), lambda sums, count: sums[..., 0]))


def test_results_are_independent_of_the_number_of_cores() -> None:
    """Processes that share cores use fewer threads each."""
    code = (
        "import numpy as np\n"
        "from isogloss.metrics.estimate import estimate\n"
        "from isogloss.metrics.statistics import MEAN, Statistics\n"
        "rows = np.random.default_rng(0).random((200_000, 1))\n"
        "print(estimate(Statistics(rows, MEAN)).variance.hex())\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads, "OMP_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "2", "4")
    }
    assert len(said) == 1
