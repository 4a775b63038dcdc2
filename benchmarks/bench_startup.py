"""Time to the first output of the command, compared with the interpreter itself and the import of numpy.

Run it: `python benchmarks/bench_startup.py`. Each figure is the best CPU time of fifteen fresh processes; ours and
the peers take turns.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

RUNS = 15

Row = dict[str, Any]
Command = Sequence[str | os.PathLike[str]]


class Cost(NamedTuple):
    """Cost of a process: CPU and wall seconds, and peak memory in megabytes."""

    cpu: float
    wall: float
    megabytes: float


def measured(command: Command) -> Cost:
    """Run a command that must succeed, and drop its output.

    The memory is the kernel's figure for the child, which starts at the size of the calling process: call
    this from a small one.
    """
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    per_megabyte = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return Cost(usage.ru_utime + usage.ru_stime, perf_counter() - start, usage.ru_maxrss / per_megabyte)


def run() -> list[Row]:
    """Time every command, the bare interpreter, and the import of numpy for scale."""
    isogloss = Path(sys.executable).with_name("isogloss")
    commands: dict[str, Command] = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "import isogloss": [sys.executable, "-c", "import isogloss"],
        "isogloss --help": [isogloss, "--help"],
        "isogloss list tasks": [isogloss, "list", "tasks"],
    }
    costs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            costs[name].append(measured(command).cpu)
    best = {name: min(times) for name, times in costs.items()}
    return [
        {"what": name, "peer": peer, "ours_s": best[name], "peer_s": best[peer], "ratio": best[peer] / best[name]}
        for name in list(commands)[2:]
        for peer in list(commands)[:2]
    ]


if __name__ == "__main__":
    print(f"{'what':22}{'peer':18}{'ours s':>8}{'peer s':>8}{'ratio':>8}")
    for row in run():
        print("{what:22}{peer:18}{ours_s:8.3f}{peer_s:8.3f}{ratio:7.2f}x".format(**row))
