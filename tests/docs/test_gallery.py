"""The gallery and the README show every picture, each made by a real command and up to date."""

import html
import re
from pathlib import Path

import pytest

import pictures
from page_blocks import ROOT, blocks
from parsed_commands import command_problem

SHOWN = re.compile(r'(?:src|srcset)="([^"]+)"')


def test_every_picture_is_in_the_gallery_in_both_schemes() -> None:
    files = sorted(path.name for path in pictures.PICTURES.iterdir())
    shown = SHOWN.findall(pictures.GALLERY.read_text(encoding="utf-8"))
    assert sorted(Path(each).name for each in shown) == files
    assert {name.rpartition(".")[0] for name in files} == {
        f"{name}-{scheme}" for name in pictures.gallery() for scheme in pictures.SCHEMES
    }
    assert sum(path.stat().st_size for path in pictures.PICTURES.iterdir()) <= 700_000


def test_pictures_of_the_readme_exist() -> None:
    shown = SHOWN.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(shown) == 4
    assert all((ROOT / path).is_file() for path in shown)


@pytest.mark.parametrize("name", pictures.gallery())
def test_the_command_is_shown_and_valid(name: str) -> None:
    assert command_problem(pictures.gallery()[name].command) == ""


def test_the_gallery_is_short() -> None:
    assert len(pictures.GALLERY.read_text(encoding="utf-8").split()) <= 300


def _words(path: Path) -> str:
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))
    return " ".join(html.unescape(" ".join(drawn)).split())


@pytest.mark.parametrize("name", [name for name, made in pictures.gallery().items() if not made.address])
def test_terminals_show_what_the_tutorial_prints(name: str) -> None:
    """A test runs the tutorial and compares what it shows with what is printed."""
    command = pictures.gallery()[name].command
    [block] = [each for each in blocks(ROOT / "docs" / "tutorial.md") if each.code.strip() == command]
    for scheme in pictures.SCHEMES:
        text = _words(pictures.PICTURES / f"{name}-{scheme}.svg")
        for line in (block.shown or "").replace("─", "").splitlines():
            for part in line.split("…"):
                assert " ".join(part.split()) in text, (scheme, part)


def test_a_command_that_cannot_be_meant_is_noticed() -> None:
    assert command_problem("isogloss scroe x") == "unknown verb scroe"
    assert "--sute" in command_problem("isogloss score x --sute mini")
    assert "mini-xnil" in command_problem("isogloss score x --tasks mini-xnil")
    assert "'two' is not a valid" in command_problem("isogloss run ngram --seeds two --out runs")
    assert command_problem("isogloss run ngram") == "missing out"
