"""Cost and gain of a cluster, compared with local processes in the same run: python benchmarks/cluster.py

Overhead: a grid of empty cells, filled by two local processes and by a Ray cluster of two nodes of one core
each, after a first grid that starts the processes; with many cells per job, and with one. Speed-up: a grid of cells
that keep a core busy, on one node and on two. Start-up: the command `isogloss run … --on ray`, and the same without.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from isogloss.runs.dispatch import Dispatcher
from isogloss.runs.grid import fill
from isogloss.runs.place import HERE, Place
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from isogloss.systems.base import System
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

TASK = "mini-xnli"
LANGUAGES = task(TASK).languages
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


class BusySystem(System):
    """Keeps a core busy for BUSY seconds, then always gives the same answer."""

    name = "busy"

    def fit(self, task: Task, train: Examples | None, seed: int) -> "BusySystem":
        self.label = task.labels[0]
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        end = time.process_time() + float(os.environ.get("BUSY", "0"))
        while time.process_time() < end:
            pass
        return [self.label] * len(examples)


def install(folder: Path) -> None:
    """Register the system in this process and in every process started from now on."""
    info = folder / "busy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: busy\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[isogloss.systems]\nbusy = cluster:BusySystem\n")
    paths = [str(folder), str(Path(__file__).parent), *sys.path]
    sys.path[:0] = paths[:2]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def planned(out: Path, cells: int, languages: int) -> Plan:
    request = Request.of("mini", tasks=[TASK], languages=LANGUAGES[:languages])
    return Plan.of("busy", out, request, seeds=cells // languages)


@contextmanager
def nodes(number: int) -> Iterator[Place]:
    """A cluster of nodes with one core each."""
    import ray
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False})
    try:
        for _ in range(number - 1):
            cluster.add_node(**NODE)
        yield Place(engine_name="ray", address=cluster.address, environment=(*Place.environment, "BUSY"))
    finally:
        ray.shutdown()
        cluster.shutdown()


def seconds_to_fill(plan: Plan, warm: Plan, dispatcher: Dispatcher) -> float:
    """Return the seconds to fill a grid with workers that have filled another one."""
    with dispatcher:
        fill(warm, dispatcher)
        began = time.perf_counter()
        fill(plan, dispatcher)
        return time.perf_counter() - began


def overhead(folder: Path, cells: int, rounds: int) -> None:
    print(f"{cells} empty cells, two processes or two nodes of one core, best of {rounds}; ms per cell")
    os.environ["BUSY"] = "0"
    with nodes(2) as place:
        for languages in (min(cells, 10), 1):
            best = {}
            for where, chosen in (("processes", HERE), ("ray", place)):
                times = []
                for number in range(rounds):
                    out = folder / f"overhead-{where}-{languages}-{number}"
                    plan, warm = planned(out / "timed", cells, languages), planned(out / "warm", 4, 1)
                    times.append(
                        seconds_to_fill(plan, warm, Dispatcher(plan, chosen.workers(2), chosen)) / cells * 1000
                    )
                best[where] = min(times)
            each = f"{languages} a job" if languages > 1 else "one a job"
            more = best["ray"] - best["processes"]
            print(f"  {each:10}  processes {best['processes']:6.1f}  ray {best['ray']:6.1f}  overhead {more:6.1f}")


def speed_up(folder: Path, seconds: float) -> None:
    cells = 60
    os.environ["BUSY"] = str(seconds / cells)
    print(f"{cells} cells of {seconds / cells:.2f} s of CPU time, 5 per job; wall seconds")
    taken = []
    for number in (1, 2):
        with nodes(number) as place:
            out = folder / f"speed-up-{number}"
            plan, warm = planned(out / "timed", cells, 5), planned(out / "warm", 4, 1)
            taken.append(seconds_to_fill(plan, warm, Dispatcher(plan, place.workers(), place)))
        print(f"  {number} node{'s'[: number - 1]}  {taken[-1]:6.1f}")
    print(f"  speed-up {taken[0] / taken[1]:.2f}x")


def start_up(folder: Path) -> None:
    print("isogloss run busy, one cell; wall seconds of the whole command")
    os.environ["BUSY"] = "0"
    with nodes(2) as place:
        for name, words in (
            ("here", []),
            ("ray (its own)", ["--on", "ray"]),
            ("ray (running)", ["--on", f"ray:{place.address}"]),
        ):
            out = str(folder / name)
            command = [
                "run",
                "busy",
                "--suite",
                "mini",
                "--tasks",
                TASK,
                "--languages",
                "en",
                "--seeds",
                "1",
                "-o",
                out,
            ]
            began = time.perf_counter()
            subprocess.run([sys.executable, "-m", "isogloss", *command, *words], check=True, capture_output=True)
            print(f"  {name:14} {time.perf_counter() - began:6.1f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="seconds of work for the speed-up")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as named:
        install(Path(named))
        overhead(Path(named), chosen.cells, chosen.rounds)
        speed_up(Path(named), chosen.seconds)
        start_up(Path(named))
