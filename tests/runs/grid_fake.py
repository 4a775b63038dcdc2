"""A quick, deterministic system that can fail in every way, and a command line with it.

Environment variables, which reach every process, control it: FAKE_LOG (a log file with one line per fit
and per prediction), FAKE_SLEEP (the longest cell, in ms), FAKE_HOLD (a file: while it exists, cells wait, except in the
languages and on the nodes it lists), FAKE_TROUBLE (`kind@seed-task/language`, …).
"""

import json
import multiprocessing
import os
import random
import signal
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from isogloss.cli.main import main
from isogloss.runs.grid import run_plan
from isogloss.runs.locks import Owner
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.scoring.results import CellScore
from isogloss.systems import base
from isogloss.systems.base import System
from isogloss.tasks.examples import Examples
from isogloss.tasks.mini import make
from isogloss.tasks.task import Task
from isogloss.workers import node_name


def log(*words: object) -> None:
    """Append a line with one write, so that lines of several processes do not mix."""
    if path := os.environ.get("FAKE_LOG"):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, (" ".join(map(str, words)) + "\n").encode())
        os.close(descriptor)


def trouble(kind: str, place: str) -> bool:
    return f"{kind}@{place}" in os.environ.get("FAKE_TROUBLE", "").split()


class FakeSystem(System):
    """Answers by a hash of seed and id."""

    name = "fake"

    @property
    def metadata(self) -> Mapping[str, Any]:
        version = os.environ.get("FAKE_VERSION", "1")
        return {"name": self.name, "version": version, "layers": [1, 2], "odd key": {"a": True, "b": 0.5}}

    def refusal(self, task: Task) -> str:
        return "fake has no wish to" if trouble("refuse", task.id) else ""

    def needs_training(self, task: Task) -> bool:
        return task.kind != "bitext" or trouble("untrained", task.id)

    def fit(self, task: Task, train: Examples | None, seed: int) -> "FakeSystem":
        log("fit", f"{seed}-{task.id}", os.getpid())
        if trouble("fit", f"{seed}-{task.id}"):
            raise RuntimeError("the fit went wrong")
        if trouble("killfit", f"{seed}-{task.id}"):
            os.kill(os.getpid(), signal.SIGKILL)
        self.task, self.seed = task, seed
        self.vocabulary = [] if train is None else sorted(set(train[train.gold][0]))
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        place = f"{self.seed}-{self.task.id}/{examples.language}"
        log("predict", place, os.getpid())
        longest = float(os.environ.get("FAKE_SLEEP", "0")) / 1000
        time.sleep(longest * zlib.crc32(place.encode()) / 2**32)
        while self.is_held(examples.language):
            time.sleep(0.01)
        if trouble("fail", place):
            raise ZeroDivisionError("a cell went wrong")
        if trouble("kill", place):
            os.kill(os.getpid(), signal.SIGKILL)
        answers = [self._answer(row, zlib.crc32(f"{self.seed}/{row['id']}".encode())) for row in examples]
        return answers[:-1] if trouble("short", place) else answers

    def is_held(self, language: str) -> bool:
        """Return True while the cells of a language have to wait on this node."""
        try:
            return not {language, node_name()} & {*Path(os.environ.get("FAKE_HOLD", "")).read_text().split()}
        except OSError:  # no such file
            return False

    def _answer(self, row: dict[str, Any], number: int) -> Any:
        answer: Mapping[str, Callable[[], Any]] = {
            "classification": lambda: self.task.labels[number % len(self.task.labels)],
            "qa": lambda: row["context"].split()[number % len(row["context"].split())],
            "bitext": lambda: [str(number % 60)],
        }
        return answer[self.task.kind]()


def command(plan: Plan, jobs: int) -> list[str]:
    """Return the command that fills a grid, with `fake` in spawned processes as well."""
    asked = plan.request
    words = ["run", "fake", "--suite", asked.suite.id, "--out", str(plan.root.parent.parent), "--jobs", str(jobs)]
    words += ["--tasks", ",".join(asked.tasks), "--languages", ",".join(asked.languages or ())]
    return [sys.executable, __file__, *words, "--seeds", str(plan.seeds), "--regime", plan.regime.name]


@pytest.fixture(scope="session")
def mini_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary cache with the suite mini."""
    from caches import new_cache  # not on the path of the command below

    return new_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def mini_data(mini_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the suite mini, with the system `fake`."""
    monkeypatch.setitem(base._SHIPPED, "fake", f"{__name__}:FakeSystem")
    monkeypatch.setenv("ISOGLOSS_CACHE", str(mini_cache))
    return make.folder()


def snapshot(root: Path) -> dict[str, bytes]:
    """Return all files that must not depend on process and time: predictions, statistics, results, summary."""
    files = (path for path in root.rglob("*") if path.is_file())
    found = [path for path in files if ".cells" not in path.parts or path.suffix == ".npz"]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def untimed_records(root: Path) -> dict[str, dict[str, Any]]:
    """Return the records of all cells without times and memory."""
    found = {}
    for path in sorted(root.glob("seed-*/.cells/*/*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for key in ("started", "fit_seconds", "seconds", "peak_memory_mb"):
            del record["provenance"][key]
        found[str(path.relative_to(root))] = record
    return found


def scores(plan: Plan) -> dict[CellKey, CellScore | None]:
    """Return the scores of all cells, which must be done."""
    records = {cell: read_record(plan.record_path(cell)) for cell in plan.cells}
    assert {record.status if record else "missing" for record in records.values()} == {"done"}
    return {cell: record.score for cell, record in records.items() if record}


def same(plan: Plan, undisturbed: Plan) -> None:
    """Assert that two grids are equal, except for times, without leftovers."""
    assert scores(plan) == scores(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert untimed_records(plan.root) == untimed_records(undisturbed.root)
    assert leftovers(plan.root) == []


def far_owner(machine: str = "elsewhere") -> Owner:
    """Return the owner of a lock on another machine."""
    return Owner(machine=machine, pid=1, started="1", token=os.urandom(4).hex())


def leftovers(root: Path) -> list[str]:
    """Return locks and unfinished files."""
    marks = (".lock", ".part", ".claim")
    return [path.name for path in root.rglob("*") if any(mark in path.name for mark in marks)]


def _run_until_killed(plan: Plan, seconds: float) -> None:
    """Run a plan in a process that an alarm ends: it runs late on a busy machine, so that kills never become fewer."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    run_plan(plan)


def kill_at_random(plan: Plan, seed: int, first: float = 0.02, growth: float = 1.02) -> int:
    """Start processes and kill each after a random time until one has finished; return the number of kills.

    The mean time grows, so that the end is reached on any machine; a small first one makes kills certain on fast ones.
    """
    rng = random.Random(seed)
    mean, kills = first, 0
    while not plan.summary_path.exists():
        seconds = max(0.001, rng.expovariate(1 / mean))
        process = multiprocessing.get_context("fork").Process(target=_run_until_killed, args=(plan, seconds))
        process.start()
        process.join()
        assert process.exitcode in (0, -signal.SIGALRM)
        kills += process.exitcode != 0
        mean *= growth
    return kills


if __name__ in ("__main__", "__mp_main__"):  # the latter in processes spawned by the former
    base._SHIPPED["fake"] = "__main__:FakeSystem"

if __name__ == "__main__":
    main()


def run_twice(plan: Plan, meanwhile: Callable[[Sequence[BaseProcess]], None] = lambda _: None) -> None:
    """Fill a grid by two forked processes at the same time."""
    both = [multiprocessing.get_context("fork").Process(target=run_plan, args=(plan,)) for _ in range(2)]
    for process in both:
        process.start()
    meanwhile(both)
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
