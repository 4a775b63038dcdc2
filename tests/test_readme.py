"""The README's examples run as written."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from caches import new_cache
from e2e.command import isogloss

pytestmark = pytest.mark.slow

README = Path(__file__).parents[1] / "README.md"
MARK = "<!-- runs as written: tests/test_readme.py -->"


def blocks(kind: str) -> list[str]:
    return re.findall(re.escape(MARK) + rf"\n```{kind}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder, in which the shell examples have been run in order."""
    where = tmp_path_factory.mktemp("readme")
    lines = [line.partition("  #")[0].strip() for shell in blocks("bash") for line in shell.splitlines()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path_factory.mktemp("cache"))))
        patch.delenv("ISOGLOSS_DATA", raising=False)  # the examples must not depend on the user's data folder
        patch.chdir(where)
        for line in filter(None, lines):
            words = line.split()
            assert words[0] == "isogloss"
            done = isogloss(*words[1:])
            assert done.code == 0, f"{line}\n{done.out}\n{done.err}"
        yield where


def test_shell_examples(folder: Path) -> None:
    assert (folder / "results.json").is_file()
    assert (folder / "site" / "index.html").is_file()


def test_the_sample_output_is_the_real_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [sample] = re.findall(r"```text\n(ngram on.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.setenv("COLUMNS", "80")
    done = isogloss("score", "runs/ngram/zero-shot/seed-0", "--suite", "mini")
    shown = {" ".join(line.split()) for line in done.out.splitlines()}
    # The line below the header is drawn on terminals only.
    rows = {" ".join(line.split()) for line in sample.splitlines() if set(line) - set(" ─")}
    assert rows - {"…", ""} <= shown


def test_python_example(folder: Path) -> None:
    [code] = blocks("python")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
