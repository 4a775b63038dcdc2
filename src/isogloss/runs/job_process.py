"""A call in separate processes: `python -m isogloss.runs.job_process CALL RESULT` under torchrun.

CALL is a file with a pickled call; the first process writes the pickled result to RESULT. Their standard input stays
open while the parent lives, so that they end, and free their GPUs, even if the parent is killed.
"""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from isogloss.training.processes import is_main
from isogloss.workers import WorkerDiedError

T = TypeVar("T")

# Characters of a dead process's output to quote.
_LOG_LENGTH = 400
# Seconds that processes have to end before they are killed.
_GRACE = 10.0


def call_together(call: Callable[[], T], processes: int) -> T:
    """Return the result of the first of several processes of this machine, started by torchrun for a call."""
    with TemporaryDirectory(prefix="isogloss-call-") as folder:
        pickled, result = Path(folder, "call"), Path(folder, "result")
        pickled.write_bytes(pickle.dumps(call))
        torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))
        command = [sys.executable, *torchrun, "-m", "isogloss.runs.job_process", str(pickled), str(result)]
        alive, mine = os.pipe()
        pipes: dict[str, Any] = {"stdin": alive, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        started = subprocess.Popen(command, **pipes, text=True)  # noqa: S603
        os.close(alive)
        try:
            _, output = started.communicate()
        except BaseException:  # such as Ctrl-C
            started.terminate()
            with suppress(subprocess.TimeoutExpired):
                started.wait(_GRACE)
            started.kill()
            raise
        finally:
            os.close(mine)
        if not result.exists():
            last = output.strip()[-_LOG_LENGTH:]
            raise WorkerDiedError(f"processes that fit together died (exit code {started.returncode}): {last}")
        value: T = pickle.loads(result.read_bytes())  # noqa: S301 - our own bytes
        return value


def main(call: str, result: str) -> None:
    """Execute a call and write its result."""

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
    value = pickle.loads(Path(call).read_bytes())()  # noqa: S301 - our own bytes
    if is_main():
        unfinished = Path(f"{result}.part")
        unfinished.write_bytes(pickle.dumps(value))
        unfinished.rename(result)


if __name__ == "__main__":
    main(*sys.argv[1:])
