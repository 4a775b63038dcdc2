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


@pytest.mark.slow
def test_killed_build_is_finished_by_the_same_command(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = tmp_path / "killed/mewslix-work/parts"
    command = [sys.executable, "-m", "isogloss", *options(world, tmp_path / "killed", "--jobs", "2")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ})
    deadline = time.monotonic() + 120
    while sum(not path.name.startswith(".") for path in parts.glob("*")) < 3:
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.kill()
    process.wait()
    code, out, _ = run(capsys, *options(world, tmp_path / "killed"))
    assert code == 0
    assert "test: 44 mentions" in out
    assert "60 candidates" in out
    assert run(capsys, *options(world, tmp_path / "whole"))[0] == 0
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


def test_help_and_errors(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "description-languages" in run(capsys, "build", "mewslix", "--help")[1]
    out = ["-o", str(tmp_path)]
    assert run(capsys, "build", "mewslix", str(tmp_path / "absent"), *out)[0] == 1
    assert run(capsys, "build", "mewslix", str(world.folder), *out, "--languages", "xx")[0] == 2
    code, _, err = run(capsys, "build", "mewslix", str(world.folder), *out, "--mentions-from", "wikinew")
    assert (code, "Did you mean wikinews" in err) == (2, True)
    code, _, err = run(capsys, "build", "mewslix", str(tmp_path), *out)
    assert (code, "no Wikidata items" in err) == (1, True)
    assert not (tmp_path / "mewslix").exists()


def test_baseline_runs_on_a_build(world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, *options(world, tmp_path / "data", "--candidates", "30"))[0] == 0
    words = [
        "--tasks",
        "mewslix",
        "--languages",
        "en,ja",
        "--data",
        str(tmp_path / "data"),
        "--allow-partial",
        "--seeds",
        "1",
    ]
    code, _, err = run(capsys, "run", "ngram", *words, "-o", str(tmp_path / "runs"))
    assert code == 0, err
    assert list((tmp_path / "runs").rglob("mewslix/ja.jsonl*"))
