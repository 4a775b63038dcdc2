"""Packages as an installer leaves them: a folder on Python's path with the code and its entry points."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree

import isogloss

PACKAGE = Path(__file__).parent / "package"


@dataclass(frozen=True)
class Finished:
    """A finished command."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Environment:
    """A folder of installed packages, and a data folder."""

    site: Path
    data: Path

    def isogloss(self, *words: object, code: int = 0) -> Finished:
        """Run a command line and check its exit code."""
        return self.python("-m", "isogloss", *words, code=code)

    def python(self, *words: object, code: int = 0) -> Finished:
        """Run a process with the packages; it must end with this exit code and without a traceback."""
        path = os.pathsep.join([str(Path(isogloss.__file__).parents[1]), str(self.site)])
        env = {**os.environ, "PYTHONPATH": path, "ISOGLOSS_DATA": str(self.data), "COLUMNS": "200"}
        command = [sys.executable, *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", env=env, check=False)
        assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        return Finished(done.returncode, done.stdout, done.stderr)


def install(site: Path, source: Path = PACKAGE) -> None:
    """Install a package as pip does: copy its code and write the entry points of its pyproject.toml."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for code in source.iterdir():
        if code.is_dir() and (code / "__init__.py").is_file():
            copytree(code, site / code.name)
    declare(site, project["name"], project["entry-points"])


def declare(site: Path, name: str, groups: Mapping[str, Mapping[str, str]]) -> None:
    """Write the metadata of a package: its name, and its entry points by group."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    lines = [
        line for group, points in groups.items() for line in (f"[{group}]", *(f"{n} = {v}" for n, v in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
