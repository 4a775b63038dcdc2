"""Check that a tag may be released, and print its notes: python scripts/check_release.py TAG.

The tag must be the package's version, the working tree clean, and the changelog must have the version with a date and
at least one entry. Needs nothing installed.
"""

import re
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def release_notes(changelog: str, version: str) -> str:
    """Return the notes of a version in the changelog; raise ValueError if it has none."""
    found = re.search(
        rf"^## \[{re.escape(version)}\](?P<rest>.*)\n(?P<notes>(?:(?!## ).*\n?)*)", changelog, re.MULTILINE
    )
    if found is None:
        raise ValueError(f"CHANGELOG.md has no entry for {version}. Rename [Unreleased] to [{version}] - YYYY-MM-DD")
    if not re.fullmatch(r" - \d{4}-\d{2}-\d{2}", found["rest"]):
        raise ValueError(f"CHANGELOG.md: the heading must be ## [{version}] - YYYY-MM-DD")
    if not re.search(r"^- ", found["notes"], re.MULTILINE):
        raise ValueError(f"CHANGELOG.md: the entry for {version} is empty")
    return found["notes"].strip()


def problems(tag: str, version: str, changelog: str, changed: str) -> list[str]:
    """Return what prevents the release.

    Args:
        tag: Tag of the release, such as v1.2.3.
        version: Version of the package.
        changelog: Text of the changelog.
        changed: Output of `git status --porcelain`.
    """
    found = [] if tag == f"v{version}" else [f"the tag is {tag}, but src/isogloss/version.py says {version}"]
    found += [f"uncommitted changes:\n{changed.rstrip()}"] if changed.strip() else []
    try:
        release_notes(changelog, version)
    except ValueError as error:
        found.append(str(error))
    return found


def main(tag: str) -> None:
    """Print the notes, or exit with everything that prevents the release."""
    version = runpy.run_path(str(ROOT / "src/isogloss/version.py"))["__version__"]
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    status = ["git", "-C", str(ROOT), "status", "--porcelain"]
    changed = subprocess.run(status, capture_output=True, text=True, check=True).stdout  # noqa: S603
    if found := problems(tag, version, changelog, changed):
        sys.exit("".join(f"error: {problem}\n" for problem in found).rstrip())
    sys.stdout.write(release_notes(changelog, version) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
