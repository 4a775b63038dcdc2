"""The README's examples run as written."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

README = Path(__file__).parents[1] / "README.md"
# The examples must not depend on the user's data folder.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "ISOGLOSS_DATA"}
ENVIRONMENT.setdefault("ISOGLOSS_CACHE", tempfile.mkdtemp(prefix="isogloss-readme-"))
MARK = "<!-- runs as written: tests/test_readme.py -->"


def blocks(kind: str) -> list[str]:
    return re.findall(re.escape(MARK) + rf"\n```{kind}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder in which the shell examples have been run in order."""
    where = tmp_path_factory.mktemp("readme")
    for settings in blocks("toml"):
        name = settings.partition("\n")[0].removeprefix("# ")
        (where / name).write_text(settings, encoding="utf-8")
    lines = [line.partition("  #")[0].strip() for shell in blocks("bash") for line in shell.splitlines()]
    for line in filter(None, lines):
        words = line.split()
        assert words[0] == "isogloss"
        call = [sys.executable, "-c", "from isogloss.cli.main import main; main()", *words[1:]]
        done = subprocess.run(call, cwd=where, env=ENVIRONMENT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return where


def test_shell_examples(folder: Path) -> None:
    assert (folder / "results.json").is_file()
    assert (folder / "scores.csv").is_file()


def test_the_sample_output_is_the_real_one(folder: Path) -> None:
    [sample] = re.findall(r"```text\n(ngram on.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    words = ["score", "runs/ngram/zero-shot/seed-0", "--suite", "mini"]
    call = [sys.executable, "-c", "from isogloss.cli.main import main; main()", *words]
    environment = {**ENVIRONMENT, "COLUMNS": "80"}
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    shown = {" ".join(line.split()) for line in done.stdout.splitlines()}
    # The line below the header is drawn on terminals only.
    rows = {" ".join(line.split()) for line in sample.splitlines() if set(line) - set(" ─")}
    assert rows - {"…", ""} <= shown


def test_python_example(folder: Path) -> None:
    [code] = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_values_in_comments_are_true(folder: Path) -> None:
    [code] = blocks("python")
    for line in code.splitlines():
        expression, _, comment = line.partition("  #")
        if expression.startswith("isogloss.metrics"):
            wanted = comment.strip()
            check = f"import isogloss\nassert {expression.strip()} == {wanted}"
            done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
