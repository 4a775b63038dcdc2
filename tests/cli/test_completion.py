"""Shells complete verbs, options and names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss.cli.candidates import candidates
from isogloss.cli.completion import SCRIPTS
from isogloss.cli.main import VERBS


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("sc", ["score"]),
        ("score --tasks-f", ["--tasks-from"]),
        ("score mine --tasks xnli,xqu", ["xnli,xquad"]),
        ("score --tasks=xqu", ["--tasks=xquad"]),
        ("board admin su", ["submissions"]),
        ("board build x --suite x", ["xtreme-r", "xtreme"]),
        ("list all-l", ["all-languages"]),
        ("analyze fam", ["families"]),
        ("fetch mus", ["muse"]),
        ("task new feelings --kind cla", ["classification"]),
        ("export xquad --languages sw", ["sw"]),
        ("score my-pred", []),  # a folder
        ("board submit https://host mine --system n", []),  # a file
        ("report results.json --format in", ["inspect"]),
        ("explain mine --convention e", ["explainaboard"]),
        ("run ngram --regime in-language-", ["in-language-1000", "in-language-all", "in-language-native"]),
        ("run ngram --out x", []),
        ("nonsense x", []),
        ("board nonsense x", []),
    ],
)
def test_candidates(line: str, wanted: list[str]) -> None:
    assert list(candidates(line.split(), VERBS, "zsh")) == wanted


def test_bash_replaces_the_last_part_of_a_word_only() -> None:
    assert list(candidates("score --tasks = xnli,xq".split(), VERBS, "bash")) == ["xnli,xquad"]
    assert list(candidates(["score", "--resample", "="], VERBS, "bash")) == ["source", "example"]


ASK = {
    "bash": 'COMP_WORDS=(isogloss score --tasks xqu) COMP_CWORD=3; _isogloss isogloss; echo "${COMPREPLY[@]}"',
    "fish": "complete -C 'isogloss score --tasks xqu'",
    "zsh": 'compadd() { shift 2; echo "$@"; }; words=(isogloss score --tasks xqu) CURRENT=4; _isogloss',
}


@pytest.mark.parametrize("shell", SCRIPTS)
def test_script_completes_in_the_shell(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    command = tmp_path / "isogloss"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m isogloss "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, "-c", f"{SCRIPTS[shell]}\n{ASK[shell]}"],
        env=os.environ | {"PATH": path, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["xquad"], done.stderr
