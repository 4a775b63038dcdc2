"""Killed at random instants, with a file cut short between any two runs, a grid ends as if nothing had happened.

`pytest tests/runs/test_kill_and_damage.py --kills 100` goes on for longer.
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
from isogloss.scoring.cells import Request
from runs.grid_fake import leftovers, mini_cache, mini_data, scores, snapshot, untimed_records

pytestmark = pytest.mark.slow

__all__ = ["mini_cache", "mini_data"]

# Forked, because a process that is to die after some milliseconds must not spend them on imports.
FORK = multiprocessing.get_context("fork")
TASKS = ("mini-tatoeba", "mini-xnli", "mini-xquad")
LANGUAGES = ("ar", "de", "sw", "zh")


def command(plan: Plan) -> list[str]:
    words = ["run", plan.system, "--suite", "mini", "--tasks", ",".join(TASKS), "--languages", ",".join(LANGUAGES)]
    return [*words, "--seeds", str(plan.seeds), "--out", str(plan.root.parent.parent)]


def execute(plan: Plan) -> None:
    """The command, in a process of its own; what it says is of no interest here."""
    warnings.simplefilter("ignore")
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    main(command(plan))


def started(plan: Plan) -> multiprocessing.context.ForkProcess:
    process = FORK.Process(target=execute, args=(plan,))
    process.start()
    return process


def cut_a_file(root: Path, rng: random.Random) -> str:
    """Cut any file of a run at any place; gives its name."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    if not files:
        return ""
    path = rng.choice(files)
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content) + 1)])
    if ".lock" in path.name:
        os.utime(path, (0, 0))  # a while ago: a lock that is damaged just now is waited for
    return path.name


@pytest.mark.parametrize(("system", "share"), [("fake", 1.0), ("ngram", 0.5)])
def test_killed_and_damaged_it_ends_like_an_undisturbed_run(
    system: str,
    share: float,
    mini_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "20")
    asked = Request.of("mini", tasks=TASKS, languages=LANGUAGES)
    plan, undisturbed = (Plan.of(system, tmp_path / name, asked, seeds=2) for name in ("killed", "undisturbed"))
    began = time.monotonic()
    process = started(undisturbed)
    process.join()
    assert process.exitcode == 0
    whole, kills, runs, damaged = time.monotonic() - began, 0, 0, set()
    rng = random.Random(12)
    # Progress is made in spite of the kills: a run that has more time than the longest fit fills some cells.
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
