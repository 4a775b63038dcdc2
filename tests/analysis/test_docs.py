"""The documentation of analyses: commands over published scores run as written, and figures and links exist."""

import re
import shlex
from pathlib import Path

import pytest

from isogloss.analysis.registry import ANALYSES
from isogloss.cli.main import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("analysis.md", "analysis-printed.md", "selection.md")
LARGEST_FIGURE = 150_000


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def commands() -> list[str]:
    """Return the commands in shell blocks and figure captions that need no results or data of the user."""
    lines = [
        line
        for page in PAGES
        for shell in re.findall(r"```bash\n(.*?)```", text_of(page), re.DOTALL)
        for line in shell.splitlines()
    ]
    lines += re.findall(r"`(isogloss analyze [^`]+)`", text_of("analysis.md"))
    own = re.compile(r"results\.json|mine\.|runs/|predictions/")
    runnable = [line for line in lines if line.startswith("isogloss analyze") and not own.search(line)]
    return sorted({shlex.join(shlex.split(line, comments=True)) for line in runnable})


@pytest.mark.parametrize("command", commands())
def test_command(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "data"))
    with pytest.raises(SystemExit) as end:
        main(shlex.split(command)[1:])
    assert end.value.code == 0, capsys.readouterr().err


def test_every_score_analysis_has_a_command() -> None:
    analyses = {command.split()[2] for command in commands() if len(command.split()) > 2}
    assert analyses == {name for name, entry in ANALYSES.items() if entry.takes in ("scores", "languages")}


@pytest.mark.parametrize("page", PAGES)
def test_links_have_targets(page: str) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", text_of(page)):
        path, _, anchor = target.partition("#")
        if path.startswith("reference/"):  # generated when the site is built, which checks these links
            continue
        assert (DOCS / (path or page)).is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", text_of(path or page), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, (
                target
            )


def test_figures_are_small_drawings() -> None:
    shown = {name for page in PAGES for name in re.findall(r"\]\((figures/[^)]+)\)", text_of(page))}
    assert shown == {f"figures/{path.name}" for path in (DOCS / "figures").glob("*.svg")}
    for name in shown:
        assert (DOCS / name).stat().st_size < LARGEST_FIGURE
        assert (DOCS / name).read_text(encoding="utf-8").startswith("<svg ")
