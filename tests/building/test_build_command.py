"""The command: options, output, errors, and a build that is killed."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from building.made_dumps import WIKIS, World, make_world
from isogloss.cli.main import main

SIZES = ["--test", "44", "--dev", "11", "--candidates", "60", "--pairs", "5", "--pair-pages", "1", "--part-size", "1KB"]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return make_world(tmp_path_factory.mktemp("dumps"))


def options(world: World, out: Path, *more: str) -> list[str]:
    return [
        "build",
        "mewslix",
        str(world.folder),
        "-o",
        str(out),
        *SIZES,
        "--description-languages",
        ",".join(WIKIS),
        *more,
    ]


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_info:
        main(list(words))
    output = capsys.readouterr()
    return int(exit_info.value.code or 0), output.out, output.err


def files(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "mewslix").iterdir()}


def results(out: Path) -> int:
    """Return the number of finished parts, of folders with merged entities, and of written files."""
    found = [*out.glob("mewslix-work/parts/*"), *out.glob("mewslix-work/*"), *out.glob("mewslix/*")]
    return sum(not path.name.startswith(".") for path in found)


@pytest.mark.slow
def test_killed_build_is_finished_by_the_same_command(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], pytestconfig: pytest.Config
) -> None:
    killed = tmp_path / "killed"
    command = [sys.executable, "-m", "isogloss", *options(world, killed, "--jobs", "2")]
    for _ in range(max(1, pytestconfig.getoption("--kills") // 8)):
        before = results(killed)
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
        deadline = time.monotonic() + 120
        while results(killed) < before + 3 and process.poll() is None:
            assert time.monotonic() < deadline
        process.kill()
        process.wait()
    code, out, _ = run(capsys, *options(world, killed))
    assert code == 0
    assert "test: 44 mentions" in out
    assert "60 candidates" in out
    assert run(capsys, *options(world, tmp_path / "whole"))[0] == 0
    assert files(killed) == files(tmp_path / "whole")


def test_help_and_errors(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "description-languages" in run(capsys, "build", "mewslix", "--help")[1]
    out = ["-o", str(tmp_path)]
    assert run(capsys, "build", "mewslix", str(tmp_path / "absent"), *out)[0] == 1
    assert run(capsys, "build", "mewslix", str(world.folder), *out, "--languages", "xx")[0] == 2
    code, _, err = run(capsys, "build", "mewslix", str(world.folder), *out, "--mentions-from", "wikinew")
    assert (code, "Did you mean wikinews" in err) == (2, True)
    code, _, err = run(capsys, "build", "mewslix", str(tmp_path), *out)
    assert (code, "no Wikidata items" in err) == (1, True)
    code, _, err = run(capsys, "build", "mewslix", str(world.folder), *out, "--name", "mewslix")
    assert (code, "'mewslix' cannot be the name of the task" in err) == (1, True)
    assert not (tmp_path / "mewslix").exists()


def test_baseline_runs_on_a_build(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")  # restored after the test
    assert run(capsys, *options(world, tmp_path / "data", "--candidates", "30"))[0] == 0
    data = tmp_path / "data"
    # The task file that the build has written declares its sizes: nothing is partial.
    words = ["--suite", str(data / "mewslix/mewslix-built.toml"), "--languages", "en,ja", "--data", str(data)]
    code, _, err = run(capsys, "run", "ngram", *words, "--seeds", "1", "-o", str(tmp_path / "runs"))
    assert code == 0, err
    predictions = next((tmp_path / "runs").rglob("mewslix-built")).parent
    code, out, err = run(capsys, "score", str(predictions), *words)
    assert code == 0, err
    assert "mewslix-built" in out
    assert "partial gold" not in out
    code, out, err = run(capsys, "explain", str(predictions), *words)
    assert code == 0, err
    assert "bin04_1000-inf" in out  # frequency bins are attributes of the mentions


def test_warnings_are_printed(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *options(world, tmp_path, "--test", "1000", "--languages", "de,sw"))
    assert code == 0
    assert "warning: no mentions in sw" in err
    assert "of 1,000 test mentions" in err
