"""Collect the pages of the site, with the notebooks and the references generated from the code, for zensical.

python scripts/docs/stage.py out/docs/pages

Pages link to files as they lie in the repository. In the copy, links to notebooks lead to their pages, links to pages
elsewhere (benchmarks, contributing) to their place in the site. Links to anything that is not a page become plain text.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import checklist_samples
import command_pages
import hyperparameter_page
import lists_page
import measured_pages
import metadata_page
import notebook_pages
import printed_pages
import prompt_page
import python_page
import settings_page

ROOT = Path(__file__).parents[2]
# Pages and files outside docs/: their place in the site.
ELSEWHERE = {
    "benchmarks/README.md": "benchmarks.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "src/isogloss/grammar/languages/README.md": "checklist-languages.md",
    "src/isogloss/languages/published/README.md": "published.md",
    "src/isogloss/site/web/icon.svg": "logo.svg",
    **{f"deploy/{name}": f"deploy/{name}" for name in ("Containerfile", "isogloss-board.service", "nginx.conf")},
}
NOTEBOOKS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))]
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
_PICTURE = re.compile(
    r'<picture>\s*<source media="[^"]*" srcset="([^"]+)">\s*<img alt="([^"]+)" src="([^"]+)">\s*</picture>'
)
# The board and the generated references exist only in the site.
_BUILT = ("docs/board/", "docs/reference/")


def places() -> dict[str, str]:
    """Return the place in the site of each file in the repository that belongs to it."""
    docs = {
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix()
        for path in sorted((ROOT / "docs").rglob("*"))
        if path.suffix in {".md", ".svg", ".png", ".css"}
    }
    pages = {notebook: notebook.removeprefix("docs/").replace(".ipynb", ".md") for notebook in NOTEBOOKS}
    return docs | pages | ELSEWHERE


def _target(link: str, page: str, known: Mapping[str, str]) -> str | None:
    """Return a link as the staged page needs it, or None if it leads out of the site."""
    if re.match(r"[a-z]+:|#", link):
        return link
    path, hash_, anchor = link.partition("#")
    at = os.path.normpath(Path(page).parent / path)
    place = known.get(at) or (at.removeprefix("docs/") if at.startswith(_BUILT) else None)
    if place is None:
        if not (ROOT / at).exists():
            raise SystemExit(f"{page}: link to a missing file: {link}")
        return None
    return os.path.relpath(place, Path(known[page]).parent) + hash_ + anchor


def relinked(text: str, page: str, known: Mapping[str, str]) -> str:
    """Return a page with its links as they must be in the site; code stays as it is."""

    def one(found: re.Match[str]) -> str:
        image, label, link = found.groups()
        target = _target(link, page, known)
        return label if target is None else f"{image}[{label}]({target})"

    # A link's text may be code, so links are found first, outside of blocks only.
    parts = re.split(r"(^```.*?^```)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else _pictured(_LINK.sub(one, part)) for part in parts)


def _pictured(text: str) -> str:
    """Return a page whose pictures follow the scheme that a reader chooses on the site, not only the system's."""
    return _PICTURE.sub(
        r'<img class="pictured light" loading="lazy" alt="\2" src="\3">'
        r'<img class="pictured dark" loading="lazy" alt="\2" src="\1">',
        text,
    )


def generated() -> Iterator[tuple[str, str]]:
    """Yield the references generated from the code: path in the site and text."""
    yield from command_pages.pages()
    yield "reference/python.md", python_page.page()
    yield "reference/system-toml.md", metadata_page.page()
    yield "reference/lists.md", lists_page.page()
    yield "reference/settings.md", settings_page.page()
    yield "reference/findings.md", measured_pages.findings()
    yield "reference/measured.md", measured_pages.measured()
    yield "reference/capacity.md", measured_pages.costs()
    yield "reference/doubts.md", printed_pages.doubts()
    yield "reference/printed-averages.md", printed_pages.averages()
    yield "reference/hyperparameters.md", hyperparameter_page.page()
    yield "reference/prompts.md", prompt_page.page()
    yield "reference/checklist-samples.md", checklist_samples.page()


def stage(out: Path) -> None:
    """Write all pages to a folder, which is replaced."""
    shutil.rmtree(out, ignore_errors=True)
    known = places()
    for source, place in known.items():
        target = out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source in NOTEBOOKS:
            shutil.copy(ROOT / source, target.parent)
            text = notebook_pages.page(ROOT / source, target.parent)
            target.write_text(relinked(text, source, known), encoding="utf-8")
        elif place.endswith(".md"):
            text = (ROOT / source).read_text(encoding="utf-8")
            target.write_text(relinked(text, source, known), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, target)
    for place, text in generated():
        target = out / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
