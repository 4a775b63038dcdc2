"""The guide to writing a system (docs/plugins.md): its package is installed and run as written."""

import re
import tomllib
from pathlib import Path

from plugins.installed import Environment, declare

GUIDE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")


def block(kind: str, title: str) -> str:
    [text] = re.findall(rf"```{kind}\n# {re.escape(title)}\n(.*?)```", GUIDE, re.DOTALL)
    return str(text)


def test_guide_runs_as_written(tmp_path: Path) -> None:
    project = tomllib.loads(block("toml", "pyproject.toml"))["project"]
    declare(tmp_path / "site", project["name"], project["entry-points"])
    (tmp_path / "site" / "longest_words.py").write_text(block("python", "longest_words.py"), encoding="utf-8")
    env = Environment(tmp_path / "site", tmp_path / "data")
    [commands] = re.findall(r"```bash\n(isogloss run longest .*?)```", GUIDE, re.DOTALL)
    for line in commands.splitlines():
        words = [word.strip("'").replace("runs", str(tmp_path / "runs")) for word in line.split()[1:]]
        assert "2 cells done" in env.isogloss(*words).out
    described = (tmp_path / "runs-of-three/longest/zero-shot/seed-0/system.toml").read_text(encoding="utf-8")
    assert f"```toml\n{described}```" in GUIDE
    refused = env.isogloss(*[word.replace("-of-three", "") for word in words], code=1)
    assert "settings.top was 1, is 3" in refused.err
