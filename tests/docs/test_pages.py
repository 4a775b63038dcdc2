"""Guides run as written, and print what they show."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from caches import new_cache
from isogloss.languages import published
from isogloss.results.metadata import FIELDS
from page_blocks import NEEDS, ROOT, blocks, differs, environment, guides, outputs

# Pages of the reference with blocks that run.
MARKED = [ROOT / "docs" / name for name in ("scoring.md", "tasks.md")]
RUN = [page for page in [*guides(), *MARKED] if any(block.runs for block in blocks(page))]
# Blocks that guides leave out for what they need: more must have a good reason.
LEFT_OUT = 12


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT / "docs").as_posix())
def test_page_runs_as_written(page: Path, tmp_path: Path) -> None:
    env = environment(tmp_path, new_cache(tmp_path / ".cache"))
    for block, printed in outputs(page, tmp_path, env):
        wrong = differs(block.shown or "", printed)
        assert not wrong, f"{page.name}, after line {block.line}: not printed: {wrong}\n{printed}"


def test_blocks_left_out_say_why() -> None:
    left_out = [
        block for page in guides() for block in blocks(page) if block.kind in {"bash", "python"} and not block.runs
    ]
    assert all(block.reason.startswith(NEEDS) for block in left_out), [block.code for block in left_out]
    assert len(left_out) <= LEFT_OUT


def test_wrong_output_is_noticed() -> None:
    printed = "a  1\nb  2\nc  3\n"
    assert not differs("a  1\n…\nc  …\n", printed)
    assert not differs("b  2\nc  3\n", printed)
    assert differs("a  1\nc  3\n", printed) == "c  3"
    assert differs("…\nb  3\n", printed) == "b  3"
    assert differs("c  3\na  1\n", printed) == "a  1"


def test_how_to_pages_are_short() -> None:
    for page in (ROOT / "docs" / "how-to").glob("*.md"):
        assert len(page.read_text(encoding="utf-8").split()) <= 450, page.name  # 400 of prose and commands, and marks


@pytest.fixture(scope="module")
def generated() -> dict[str, str]:
    """The generated pages by their path in the site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "scripts" / "docs"))
        import stage

        return dict(stage.generated())


def _pages(nav: Any) -> list[str]:
    if isinstance(nav, str):
        return [nav]
    return [page for entry in (nav.values() if isinstance(nav, dict) else nav) for page in _pages(entry)]


def test_every_page_is_in_the_navigation(generated: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "docs"))
    import stage

    known = {place for place in stage.places().values() if place.endswith(".md")}
    known |= set(generated)
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    shown = _pages(settings["project"]["nav"])
    assert sorted(shown) == sorted(known | {"board/index.html"})


def test_pages_of_printed_figures_are_generated(generated: dict[str, str]) -> None:
    rows = [line.strip("| ").split(" | ") for line in generated["reference/doubts.md"].splitlines() if line[:2] == "| "]
    assert ["XTREME-R Table 13, parameters of mBERT", "178M", "110M in its Appendix G", "mBERT"] in rows
    assert len(rows) == 1 + len(published.doubts())
    rows = [line for line in generated["reference/printed-averages.md"].splitlines() if line[:2] == "| "]
    assert "| xnli | mBERT | zero-shot | 66.51 | 65.4 | 66.5 | not in the table |" in rows
    assert "| lareqa | XLM-R Large | zero-shot | 40.75 | 40.7 | 40.7 | yes |" in rows
    assert "| mBERT | tydiqa | em | 22.2 | 12.4 | XTREME-R Table 21 | f1: another metric |" in rows
    assert "| XLM-R Large | xnli | accuracy | 10.2 | 10.1 | XTREME-R Table 15 | **equal** |" in rows
    assert "| XLM-R Large | xnli | accuracy | 10.2 | 8.8 | ERNIE-M | other runs |" in rows
    assert sum(line.endswith("| yes |") for line in rows) == 29
    assert sum("not in " in line for line in rows) == 6


def test_checklist_samples_are_generated(generated: dict[str, str]) -> None:
    page = generated["reference/checklist-samples.md"]
    assert "| Tamil | ரவி சூர்யாவை விட உயரமானவர். | இருவரில் யார் அதிக உயரமானவர்? | ரவி | ரவிக்கு |" in page
    assert len(re.findall("^[|] English [|]", page, re.MULTILINE)) == 6 * 5


def test_links_lead_to_their_place_in_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "docs"))
    import stage

    known = {"docs/how-to/a.md": "how-to/a.md", "docs/b.md": "b.md", "benchmarks/README.md": "benchmarks.md"}
    text = "[x](../../benchmarks/README.md#y) [`z`](../b.md) [w](../../LICENSE) [board](../board/index.html)\n"
    wanted = "[x](../benchmarks.md#y) [`z`](../b.md) w [board](../board/index.html)\n"
    code = "```text\n[w](../../LICENSE)\n```\n"
    assert stage.relinked(text + code, "docs/how-to/a.md", known) == wanted + code
    with pytest.raises(SystemExit, match="link to a missing file"):
        stage.relinked("[x](nowhere.md)", "docs/how-to/a.md", known)


def test_pages_of_settings_and_measured_figures_are_generated(generated: dict[str, str]) -> None:
    settings = generated["reference/settings.md"].splitlines()
    assert "| `rerank` | `0` | number of first candidates that the model orders again; 0 for none. |" in settings
    assert "| `dev_examples` | `300` | the same for all other dev sets, per language; 0 for none |" in settings
    assert "| `monthly_submissions` | `5` | submissions scored per team and calendar month (UTC). |" in settings
    assert all(f"`{name}`" in generated["reference/system-toml.md"] for name in FIELDS)
    tables = sorted((ROOT / "benchmarks" / "measured").glob("*/*.tsv"))
    assert generated["reference/measured.md"].count("\n### ") == len(tables)
    assert "| xnli | mT5-XXL, zero-shot | accuracy | 14 | 92.6 | 84.3 |" in generated["reference/findings.md"]
