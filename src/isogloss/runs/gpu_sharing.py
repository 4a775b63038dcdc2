"""Several processes on one GPU, computing at the same time.

Without help a GPU serves one process after the other, a few milliseconds each, and a small model leaves most of it idle
meanwhile. CUDA's Multi-Process Service lets their kernels run side by side; it comes with the driver, and any user may
start one. Where there is none, processes take turns as ever.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PIPES, LOGS = "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_LOG_DIRECTORY"
_CONTROL = "nvidia-cuda-mps-control"
_PATIENCE = 20.0  # seconds within which the service must have started, or ended


@contextmanager
def gpu_shared(jobs: int) -> Iterator[bool]:
    """Let processes that are started meanwhile compute on a GPU at the same time.

    Nothing is done for one process, where there is no GPU for us, or where the user has a service already.

    Args:
        jobs: how many processes there will be.

    Yields:
        Whether there is such a service.
    """
    control = shutil.which(_CONTROL)
    hidden = os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1")
    if PIPES in os.environ or control is None or hidden or jobs < 2:
        yield PIPES in os.environ
        return
    with tempfile.TemporaryDirectory(prefix="isogloss-mps-") as folder:
        added = {PIPES: folder, LOGS: folder}
        os.environ.update(added)
        service = _start(control)
        try:
            started = _ready(control, service)
            if not started:
                _forget(added)
            yield started
        finally:
            _stop(control, service)
            _forget(added)


def _start(control: str) -> "subprocess.Popen[bytes]":
    """The service, as a process of ours that Ctrl-C does not reach and that a kill of this one ends."""
    tied = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    quiet = subprocess.DEVNULL
    return subprocess.Popen(  # noqa: S603 - the driver's own program
        [*tied, control, "-f"], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )


def _ready(control: str, service: "subprocess.Popen[bytes]") -> bool:
    """Have the service start its server; whether it did."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and service.poll() is None:
        if (Path(os.environ[PIPES]) / "control").exists():
            _tell(control, f"start_server -uid {os.getuid()}")
            return _tell(control, "get_server_list").strip().isdigit()
        time.sleep(0.05)
    return False


def _stop(control: str, service: "subprocess.Popen[bytes]") -> None:
    if service.poll() is None:
        _tell(control, "quit -t 5")
    with suppress(subprocess.TimeoutExpired):
        service.wait(_PATIENCE)
    service.kill()
    service.wait()


def _tell(control: str, command: str) -> str:
    """What the service answers to a command; nothing if it does not."""
    with suppress(OSError, subprocess.SubprocessError):
        asked = subprocess.run(  # noqa: S603
            [control], input=command + "\n", capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        return asked.stdout
    return ""


def _forget(added: dict[str, str]) -> None:
    for name in added:
        os.environ.pop(name, None)
