"""A call in processes of its own: `python -m isogloss.runs.job_process CALL RESULT` under torchrun.

CALL is a file with a pickled call, RESULT gets what it returns, pickled; of processes that torchrun started together,
the first one writes it. Their standard input is open for as long as whoever started them lives: one that was killed can
tell nobody to stop, and they would keep their GPUs.
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

# Characters of what a process said before it died.
_LAST_WORDS = 400
# Seconds that processes have to end by themselves.
_GRACE = 10.0


def call_together(call: Callable[[], T], processes: int) -> T:
    """Have a call made by several processes of this machine at once, as torchrun starts them.

    Returns:
        What the first of them returns.

    Raises:
        WorkerDiedError: one of them died.
    """
    with TemporaryDirectory(prefix="isogloss-call-") as folder:
        made, result = Path(folder, "call"), Path(folder, "result")
        made.write_bytes(pickle.dumps(call))
        torchrun = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes))
        command = [sys.executable, *torchrun, "-m", "isogloss.runs.job_process", str(made), str(result)]
        alive, mine = os.pipe()
        pipes: dict[str, Any] = {"stdin": alive, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        started = subprocess.Popen(command, **pipes, text=True)  # noqa: S603
        os.close(alive)
        try:
            _, said = started.communicate()
        except BaseException:  # Ctrl-C, which they are told as well
            started.terminate()
            with suppress(subprocess.TimeoutExpired):
                started.wait(_GRACE)
            started.kill()
            raise
        finally:
            os.close(mine)
        if not result.exists():
            last = said.strip()[-_LAST_WORDS:]
            raise WorkerDiedError(f"processes that fit together died (exit code {started.returncode}): {last}")
        found: T = pickle.loads(result.read_bytes())  # noqa: S301 - our own bytes
        return found


def main(call: str, result: str) -> None:
    """Make a call, and write what it returns."""
    threading.Thread(target=_leave_with_caller, daemon=True).start()
    made = pickle.loads(Path(call).read_bytes())()  # noqa: S301 - our own bytes
    if is_main():
        unfinished = Path(f"{result}.part")
        unfinished.write_bytes(pickle.dumps(made))
        unfinished.rename(result)


def _leave_with_caller() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
