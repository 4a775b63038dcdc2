"""What the package says of itself, and the files that pin what is installed with it, agree with each other."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from isogloss.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCKED = {each["name"]: each for each in tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]}
Entry = dict[str, Any]
NOTES = "## [Unreleased]\n\n## [1.2.3] - 2026-11-19\n\n### Added\n\n- More.\n\n## [1.2.2] - 2026-10-01\n\n- Less.\n"


def test_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
    assert __version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tag", "changelog", "changed", "wanted"),
    [
        ("v1.2.3", NOTES, "", []),
        ("v1.2.4", NOTES, "", ["the tag is v1.2.4"]),
        ("1.2.3", NOTES, "", ["the tag is 1.2.3"]),
        ("v1.2.3", NOTES, " M README.md", ["uncommitted changes"]),
        ("v1.2.3", NOTES.replace("[1.2.3] - 2026-11-19", "[1.2.3]"), "", ["CHANGELOG.md: the heading must be"]),
        ("v1.2.3", NOTES.replace("- More.", ""), "", ["CHANGELOG.md: the entry for 1.2.3 is empty"]),
        ("v2", NOTES.replace("1.2.3", "1.2.0"), " M x", ["the tag is v2", "uncommitted", "CHANGELOG.md has no entry"]),
    ],
)
def test_wrong_releases_are_stopped(
    tag: str, changelog: str, changed: str, wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import check_release

    found = check_release.problems(tag, "1.2.3", changelog, changed)
    assert [problem for problem, start in zip(found, wanted, strict=True) if not problem.startswith(start)] == []
    assert wanted or check_release.release_notes(changelog, "1.2.3") == "### Added\n\n- More."


def test_addresses_are_those_of_the_building_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hatchling")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import project_urls

    assert list(project_urls.urls("")) == ["XTREME-R"]
    found = project_urls.urls("https://host/Owner/isogloss/")
    assert found["Issues"] == "https://host/Owner/isogloss/issues"
    assert found["Leaderboard"] == "https://owner.github.io/isogloss/board/"


def test_lock_belongs_to_the_declared_dependencies() -> None:
    project = PROJECT["project"]
    declared = {_key(Requirement(line), "") for line in project["dependencies"]}
    for extra in project["optional-dependencies"]:
        declared |= {_key(each, extra) for each in _of_extra(extra)}
    own = LOCKED["isogloss"]["metadata"]["requires-dist"]
    assert {_locked_key(each) for each in own if each["name"] != "isogloss"} == declared, "run make lock"


def _of_extra(extra: str) -> list[Requirement]:
    """Return the requirements of an extra and of the extras that it names."""
    listed = [Requirement(line) for line in PROJECT["project"]["optional-dependencies"][extra]]
    nested = [_of_extra(name) for each in listed if each.name == "isogloss" for name in each.extras]
    return sum(nested, [each for each in listed if each.name != "isogloss"])


def _key(requirement: Requirement, extra: str) -> tuple[str, str, str]:
    return canonicalize_name(requirement.name), str(requirement.specifier), extra


def _locked_key(entry: Entry) -> tuple[str, str, str]:
    extra = re.search(r"extra == '([^']+)'", entry.get("marker", ""))
    return entry["name"], str(Requirement(f"x{entry.get('specifier', '')}").specifier), extra[1] if extra else ""


def test_lock_has_public_addresses_only() -> None:
    sources = {next(iter(each["source"].items())) for each in LOCKED.values()}
    assert sources == {("registry", "https://pypi.org/simple"), ("editable", ".")}
    addresses = re.findall(r'url = "([^"]+)"', (ROOT / "uv.lock").read_text(encoding="utf-8"))
    assert all(each.startswith("https://files.pythonhosted.org/packages/") for each in addresses)


def test_lock_and_constraints_pin_the_same_versions() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    of_uv = dict(line.split("==") for line in PROJECT["tool"]["uv"]["constraint-dependencies"])
    assert of_uv.items() <= pinned.items()
    locked = {name: LOCKED[name]["version"] for name in pinned if name in LOCKED}
    assert locked == {name: pinned[name] for name in locked}
    assert set(of_uv) == set(locked)
