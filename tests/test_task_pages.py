"""The commands in docs/tasks.md run as written."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.command import isogloss

PAGE = Path(__file__).parents[1] / "docs" / "tasks.md"
MARK = "<!-- runs as written: tests/test_task_pages.py -->"


def blocks(kind: str) -> list[str]:
    return re.findall(re.escape(MARK) + rf"\n```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_from_a_folder_to_a_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "no-data"))
    monkeypatch.chdir(tmp_path)
    [code], [commands] = blocks("python"), blocks("bash")
    subprocess.run([sys.executable, "-c", code], check=True)
    for line in commands.splitlines():
        done = isogloss(*line.split()[1:])
        assert done.code == 0, f"{line}\n{done.out}\n{done.err}"
        if line.startswith("isogloss task check"):
            assert "no problems: 1,500 examples in 5 languages" in done.out
    shown = re.findall(r"```toml\n(id = \"feelings\".*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert shown == [(tmp_path / "feelings" / "feelings.toml").read_text(encoding="utf-8")]
    assert (tmp_path / "site" / "index.html").is_file()
