"""The pinned versions for a server match the dependencies that the package declares."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PINNED = (ROOT / "deploy/requirements.txt").read_text(encoding="utf-8")
EXTRAS = ("board", "postgresql")
# Each version with its hashes, on continued lines.
ENTRY = re.compile(r"^(\S+?)(?:\[\S+\])?==(\S+)[^\n]*\\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = (project["dependencies"], *(project["optional-dependencies"][extra] for extra in EXTRAS))
    return [Requirement(line) for group in groups for line in group]


def pinned() -> dict[str, str]:
    return {canonicalize_name(name): version for name, version, _ in ENTRY.findall(PINNED)}


def test_pinned_versions_satisfy_the_declared_ones() -> None:
    versions = pinned()
    wrong = {
        str(each): versions.get(canonicalize_name(each.name))
        for each in declared()
        if not each.specifier.contains(versions.get(canonicalize_name(each.name), "0"))
    }
    assert wrong == {}, "run make pin"


def test_every_version_has_hashes() -> None:
    lines = [line for line in PINNED.splitlines() if line and not line.startswith((" ", "#"))]
    assert len(lines) == len(ENTRY.findall(PINNED)) > 30
    assert all("==" in line for line in lines)
    assert "://" not in re.sub(r"#.*", "", PINNED), "no address of an index"


def test_declared_versions_exclude_known_bugs() -> None:
    """The last release with the bug that each floor excludes."""
    affected = {"starlette": "1.3.0", "h11": "0.14.0", "python-multipart": "0.0.26"}
    floors = {each.name: each.specifier for each in declared()}
    assert [name for name, version in affected.items() if floors[name].contains(version)] == []
