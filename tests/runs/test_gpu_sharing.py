"""The service by which processes share a GPU: started for several, ended with them, done without where it fails."""

import os
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from isogloss.runs import gpu_sharing
from isogloss.runs.gpu_sharing import LOGS, PIPES, gpu_shared

# What the driver's program does, as far as we need it: `-f` waits for commands, without arguments it hands one over.
SERVICE = """\
    #!{python}
    import os, sys, time
    from pathlib import Path

    folder, how = Path(os.environ["CUDA_MPS_PIPE_DIRECTORY"]), os.environ.get("SERVICE", "")
    if sys.argv[1:] == ["-f"]:
        if how == "refused":
            sys.exit(1)
        (folder / "pid").write_text(str(os.getpid()))
        (folder / "control").touch()
        while how == "stubborn" or not (folder / "quit").exists():
            time.sleep(0.01)
    else:
        command = sys.stdin.read().split()
        if command[0] == "get_server_list":
            print("" if how == "useless" else 4711)
        if command[0] == "quit":
            (folder / "quit").touch()
"""


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    program = tmp_path / "nvidia-cuda-mps-control"
    program.write_text(textwrap.dedent(SERVICE.format(python=sys.executable)))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for name in (PIPES, LOGS, "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split()[2]


def test_it_is_there_for_several_processes_and_no_longer(service: pytest.MonkeyPatch) -> None:
    with gpu_shared(2) as shared:
        assert shared
        folder = Path(os.environ[PIPES])
        pid = int((folder / "pid").read_text())
        assert alive(pid)
    assert PIPES not in os.environ
    assert LOGS not in os.environ
    assert not folder.exists()
    assert not alive(pid)


@pytest.mark.parametrize("how", ["refused", "useless"])
def test_processes_take_turns_where_it_does_not_start(service: pytest.MonkeyPatch, how: str) -> None:
    service.setenv("SERVICE", how)
    with gpu_shared(2) as shared:
        assert not shared
        assert PIPES not in os.environ


def test_it_is_killed_where_it_does_not_end(service: pytest.MonkeyPatch) -> None:
    service.setenv("SERVICE", "stubborn")
    service.setattr(gpu_sharing, "_PATIENCE", 1.0)
    with gpu_shared(2) as shared:
        assert shared
        pid = int((Path(os.environ[PIPES]) / "pid").read_text())
    assert not alive(pid)


def test_one_process_or_a_hidden_gpu_needs_none(service: pytest.MonkeyPatch) -> None:
    with gpu_shared(1) as shared:
        assert not shared
    service.setenv("CUDA_VISIBLE_DEVICES", "")
    with gpu_shared(2) as shared:
        assert not shared
        assert PIPES not in os.environ


def test_the_users_own_is_used(service: pytest.MonkeyPatch) -> None:
    service.setenv(PIPES, "/theirs")
    with gpu_shared(2) as shared:
        assert shared
        assert os.environ[PIPES] == "/theirs"
    assert os.environ[PIPES] == "/theirs"


def test_it_ends_with_a_process_that_is_killed(service: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import os, time
        from pathlib import Path
        from isogloss.runs.gpu_sharing import PIPES, gpu_shared
        with gpu_shared(2):
            print((Path(os.environ[PIPES]) / "pid").read_text(), flush=True)
            time.sleep(60)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive(pid)
