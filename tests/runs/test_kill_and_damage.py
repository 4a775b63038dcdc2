"""Runs killed at random moments, with files truncated in between, end like undisturbed runs.

`pytest tests/runs/test_kill_and_damage.py --kills 100` runs longer.
"""

import multiprocessing
import os
import random
import time
import warnings
from pathlib import Path

import pytest

from isogloss.cli.main import main
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot, untimed_records

pytestmark = pytest.mark.slow

__all__ = ["mini_cache", "mini_data"]

# Forked, because processes that are killed after milliseconds must not spend them on imports.
FORK = multiprocessing.get_context("fork")
TASKS = ("mini-tatoeba", "mini-xnli", "mini-xquad")
LANGUAGES = ("de", "sw", "zh")


def command(plan: Plan) -> list[str]:
    words = ["run", plan.system, "--suite", "mini", "--tasks", ",".join(TASKS), "--languages", ",".join(LANGUAGES)]
    return [*words, "--seeds", str(plan.seeds), "--out", str(plan.root.parent.parent)]


def execute(plan: Plan) -> None:
    """Run the command without output."""
    warnings.simplefilter("ignore")
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    main(command(plan))


def started(plan: Plan) -> multiprocessing.context.ForkProcess:
    process = FORK.Process(target=execute, args=(plan,))
    process.start()
    return process


def cut_a_file(root: Path, rng: random.Random) -> str:
    """Truncate a random file of a run at random, and return its name."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    if not files:
        return ""
    path = rng.choice(files)
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content) + 1)])
    if ".lock" in path.name:
        os.utime(path, (0, 0))  # old, because a recently damaged lock is waited for
    return path.name


@pytest.mark.parametrize(("system", "share", "seeds"), [("fake", 1.0, 2), ("ngram", 0.5, 1)])
def test_a_killed_and_damaged_run_ends_like_an_undisturbed_one(
    system: str,
    share: float,
    seeds: int,
    mini_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "20")
    asked = Request.of("mini", tasks=TASKS, languages=LANGUAGES)
    plan, undisturbed = (Plan.of(system, tmp_path / name, asked, seeds=seeds) for name in ("killed", "undisturbed"))
    began = time.monotonic()
    process = started(undisturbed)
    process.join()
    assert process.exitcode == 0
    whole, kills, runs, damaged = time.monotonic() - began, 0, 0, set()
    rng = random.Random(12)
    # Kills do not prevent progress: a run with more time than the longest fit fills some cells.
    while kills < share * request.config.getoption("--kills"):
        process = started(plan)
        runs += 1
        process.join(rng.expovariate(8 / whole))
        if process.is_alive():
            process.kill()
            kills += 1
        process.join()
        damaged.add(Path(cut_a_file(plan.root, rng)).suffix)
    process = started(plan)
    process.join()
    assert process.exitcode == 0
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert scores(plan) == scores(undisturbed)
    assert untimed_records(plan.root) == untimed_records(undisturbed.root)
    assert leftovers(plan.root) == []
    print(f"{system}: {kills} kills in {runs} runs of up to {whole:.1f} s; damaged: {sorted(damaged)}")  # noqa: T201
