"""Hints install extras the way the package was installed, and Ctrl-C is answered at once."""

import json
import signal
import sys
from pathlib import Path

import pytest

from isogloss import installation
from isogloss.errors import IsoglossError
from isogloss.installation import CPU_INDEX, install_command, package_command
from isogloss.interrupts import announce, answering_interrupts


class Recorded:
    """Metadata of an installation."""

    def __init__(self, record: object) -> None:
        self._text = None if record is None else json.dumps(record)

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self._text


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation.shutil, "which", lambda name: None)


def record(monkeypatch: pytest.MonkeyPatch, recorded: object) -> None:
    monkeypatch.setattr(installation, "distribution", lambda name: Recorded(recorded))


PIP = f"{sys.executable} -m pip install"


@pytest.mark.parametrize(
    ("recorded", "command"),
    [
        (None, f"{PIP} 'isogloss[tables]'"),
        ({"url": "file:///src/iso%20gloss", "dir_info": {}}, f"{PIP} '/src/iso gloss[tables]'"),
        (
            {"url": "https://host/isogloss.git", "vcs_info": {"vcs": "git", "commit_id": "0"}},
            f"{PIP} 'isogloss[tables] @ git+https://host/isogloss.git'",
        ),
    ],
)
def test_pip_installs_from_the_same_source(
    recorded: object, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(monkeypatch, recorded)
    assert install_command("tables", prefix=tmp_path) == command


def test_editable_checkout_is_installed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch, {"url": "file:///elsewhere", "dir_info": {"editable": True}})
    root = Path(__file__).parents[1]
    assert install_command("zstd", prefix=tmp_path) == f"{PIP} --editable '{root}[zstd]'"


@pytest.mark.parametrize("name", ["not installed", "damaged"])
def test_missing_metadata(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> Recorded:
        if name == "damaged":
            raise ValueError("not JSON")
        raise installation.PackageNotFoundError

    monkeypatch.setattr(installation, "distribution", missing)
    command = install_command("zstd", prefix=tmp_path)
    assert command == f"{PIP} 'isogloss[zstd]'" if name == "damaged" else command.endswith("[zstd]'")


def test_other_installers(tmp_path: Path, no_gpu: None, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch, None)
    pipx = Path("/home/me/.local/share/pipx/venvs/isogloss")
    assert install_command("charts", prefix=pipx) == "pipx install --force 'isogloss[charts]'"
    assert install_command("train", prefix=pipx) == (
        f"pipx install --force --pip-args='--extra-index-url {CPU_INDEX}' 'isogloss[train]'"
    )
    tool = Path("/home/me/.local/share/uv/tools/isogloss")
    assert install_command("charts", prefix=tool) == "uv tool install --force 'isogloss[charts]'"
    run = Path("/home/me/.cache/pipx/88776e8afc611ed")
    assert install_command("charts", prefix=run) == "pipx run --spec 'isogloss[charts]' isogloss …"
    uvx = Path("/home/me/.cache/uv/archive-v0/42PmRCcRf6T2hTF7")
    assert install_command("charts", prefix=uvx) == "uvx --from 'isogloss[charts]' isogloss …"
    (tmp_path / "pyvenv.cfg").write_text("home = /usr/bin\nuv = 0.9.1\n")
    of_uv = f"uv pip install --python {sys.executable} 'isogloss[train]'"
    assert install_command("train", prefix=tmp_path) == f"UV_TORCH_BACKEND=auto {of_uv}"


def test_packages_without_an_extra(tmp_path: Path) -> None:
    assert package_command("wandb", prefix=tmp_path) == f"{PIP} wandb"
    assert package_command("wandb", prefix=Path("/home/me/pipx/venvs/isogloss")) == "pipx inject isogloss wandb"
    tool = Path("/home/me/.local/share/uv/tools/isogloss")
    assert package_command("wandb", prefix=tool) == "uv tool install --force --with wandb isogloss"
    uvx = Path("/home/me/.cache/uv/archive-v0/42PmRCcRf6T2hTF7")
    assert package_command("wandb", prefix=uvx) == "uvx --with wandb isogloss …"
    (tmp_path / "pyvenv.cfg").write_text("uv = 0.9.1\n")
    assert package_command("wandb", prefix=tmp_path) == f"uv pip install --python {sys.executable} wandb"


def test_torch_without_cuda_only_on_machines_without_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(monkeypatch, None)
    for gpu, index in ((None, f" --extra-index-url {CPU_INDEX}"), ("/usr/bin/nvidia-smi", "")):
        monkeypatch.setattr(installation.shutil, "which", lambda name, found=gpu: found)
        assert install_command("train", prefix=tmp_path) == f"{PIP}{index} 'isogloss[train]'"
        assert CPU_INDEX not in install_command("tables", prefix=tmp_path)


def test_missing_library_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.systems.pretrained import library

    monkeypatch.setattr(installation, "install_command", lambda extra: f"get {extra}")
    with pytest.raises(IsoglossError, match=r"cannot import surely_missing .*\. Run get onnx$"):
        library("surely_missing", "onnx")
    with pytest.raises(IsoglossError, match=r"Run .*pip install.* some-package$"):
        library("surely_missing", package="some-package")


def test_first_interrupt_is_answered_and_the_second_acts(capfd: pytest.CaptureFixture[str]) -> None:
    with answering_interrupts():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert capfd.readouterr().err == "\nStopping; press Ctrl-C again to quit\n"
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        announce("Again")
        assert capfd.readouterr().err == ""
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
