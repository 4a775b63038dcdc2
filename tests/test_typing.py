"""Types of the public functions as mypy and pyright see them in a program of a user."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import isogloss

PROGRAM = """
from pathlib import Path
from typing import Any, assert_type

import isogloss
from isogloss.analysis.finding import Finding
from isogloss.explain.analysis import Analysis
from isogloss.predictions import Embeddings
from isogloss.predictions.validate import ValidationReport
from isogloss.runs.summary import RunSummary
from isogloss.scoring.comparison import Comparison, SystemsComparison
from isogloss.scoring.results import AverageScore, CellScore, Number, Results
from isogloss.tasks.examples import Examples


def answer(examples: Examples) -> list[str]:
    return ["neutral"] * len(examples)


def use(answers: dict[str, dict[str, dict[str, str]]], columns: dict[str, list[str]]) -> None:
    results = isogloss.score(Path("mine"), tasks=["xquad"], languages=["en"], split="dev")
    assert_type(results, Results)
    assert_type(results["xquad"], AverageScore)
    assert_type(results["xquad"].score, Number)
    assert_type(results["xquad"].score.value, float)
    assert_type(results["xquad", "en"], CellScore)
    assert_type(results["xquad", "en"].score, float)
    assert_type(results.to_json(), str)
    assert_type(results.to_latex(siunitx=True), str)
    assert_type(isogloss.score(answer), Results)
    assert_type(isogloss.run(answer, out="runs"), RunSummary)
    assert_type(isogloss.score(answers), Results)
    assert_type(isogloss.score(columns), Results)
    assert_type(isogloss.score({"tatoeba": {"sw": Embeddings(queries=[[1.0]], candidates=[[1.0]])}}), Results)
    assert_type(isogloss.compare("mine", "theirs", margin=1.0), Comparison)
    assert_type(isogloss.compare("a", "b", "c"), Comparison | SystemsComparison)
    assert_type(isogloss.explain("mine", convention="paper", tasks=["xquad"]), Analysis)
    assert_type(isogloss.analyze("families", results), Finding)
    assert_type(isogloss.validate(answers, tasks=["xnli"]), ValidationReport)
    assert_type(isogloss.load("xquad", "en"), Examples)
    assert_type(isogloss.score({"xnli": {"sw": isogloss.predict("ngram", "xnli", "sw")}}), Results)
    assert_type(isogloss.score({"xnli": {"sw": isogloss.import_files("hf", ["out.json"], "xnli", "sw")}}), Results)
    assert_type([row["task"] for row in isogloss.list("tasks")], list[Any])
"""
# Each of these lines is an error.
MISTAKES = """
import isogloss

results = isogloss.score("mine")
isogloss.score("mine", langauges=["en"])
print(results["xquad"].metric)
print(results["xquad", "en", "f1"])
isogloss.explain("mine", tasks=3)
isogloss.score(3)
"""
LINES = {4, 5, 6, 7, 8}
PACKAGE = Path(isogloss.__file__).parent


def programs(folder: Path) -> tuple[Path, Path]:
    good, bad = folder / "good.py", folder / "bad.py"
    good.write_text(PROGRAM.lstrip(), encoding="utf-8")
    bad.write_text(MISTAKES.lstrip(), encoding="utf-8")
    return good, bad


@pytest.mark.slow
def test_mypy_accepts_right_and_rejects_wrong_programs(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    good, bad = programs(tmp_path)
    checkout = PACKAGE.parents[1] if PACKAGE.parent.name == "src" else None
    words = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary"]
    words += ["--config-file", str(checkout / "pyproject.toml")] if checkout else []
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}

    def check(cache: Path) -> subprocess.CompletedProcess[str]:
        command = [*words, "--cache-dir", str(cache), str(good), str(bad)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)

    # The cache of `make lint` saves reading the package again. It is a copy, which another run may be writing.
    known = tmp_path / "known"
    with suppress(OSError, shutil.Error):
        shutil.copytree((checkout or tmp_path) / ".mypy_cache", known)
    done = check(known)
    done = check(tmp_path / "new") if done.returncode > 1 else done
    errors = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    assert {int(parts[1]) for parts in errors if Path(parts[0]).name == "bad.py"} == LINES, done.stdout
    assert [":".join(parts) for parts in errors if Path(parts[0]).name != "bad.py"] == []


@pytest.mark.slow
def test_pyright_accepts_right_and_rejects_wrong_programs(tmp_path: Path) -> None:
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed (npm install pyright)")
    good, bad = programs(tmp_path)
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(PACKAGE.parent)], "include": [good.name, bad.name]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = subprocess.run(
        [pyright, "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)["generalDiagnostics"]
    wrong = [each for each in found if each["severity"] == "error"]
    errors = [(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in wrong]
    assert {line for name, line in errors if name == "bad.py"} == LINES, found
    assert [each for each in errors if each[0] != "bad.py"] == []


def test_types_are_part_of_the_package() -> None:
    assert (PACKAGE / "py.typed").is_file()
