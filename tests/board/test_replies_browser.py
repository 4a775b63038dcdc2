"""Test a board with a language model: unparsed replies, cost and spread over prompts, in a browser."""

from pathlib import Path

import pytest

import isogloss
from board.axe import barriers, needs_axe
from board.opened_board import Open, column, settle
from isogloss.board.build import make_board
from isogloss.board.site import build_board, read_systems
from isogloss.scoring.results import Results
from isogloss.tasks.suites import suite
from replied import facts, outcomes, write_replied
from report.browser import BROWSER

TASKS = ["mini-xnli", "mini-xcopa"]


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """Two prompts of a language model, and a system without replies."""
    root = tmp_path_factory.mktemp("replied")
    for prompt, refusals in {"long": 6, "short": 12}.items():
        read = [facts(each) for each in outcomes(refusal=refusals, unparsed=3)]
        fine = [facts(each) for each in outcomes(cut=1)]
        cells = {("mini-xnli", "sw"): read, ("mini-xcopa", "sw"): fine, ("mini-xnli", "de"): fine}
        write_replied(root / f"talker/prompt-{prompt}", cells)
    write_replied(root / "quiet", {("mini-xnli", "sw"): None}, "quiet")
    return [isogloss.score(root / name, "mini", tasks=TASKS) for name in ("talker", "quiet")]


def test_rows_of_systems_have_facts_about_replies(records: list[Results]) -> None:
    board = make_board(read_systems(records, suite("mini")), suite("mini"))
    talker, quiet = board.data.systems
    # Of 2 prompts × 3 cells × 60 replies, 9 and 15 fail in the first cell, and one in each of the others.
    assert talker.unparsed == pytest.approx((9 + 15 + 4) / 360, abs=1e-5)
    assert talker.tokens == 360 * 803
    assert (talker.cost, talker.thousand_cost) == (pytest.approx(0.036), 0.1)
    # The overall scores are 100 × (59/60 + 51/60 + 2 × 59/60) / 4 and 2.5 points less.
    assert talker.prompt_sd == pytest.approx(2.5 / 2**0.5, abs=1e-4)
    assert (quiet.unparsed, quiet.tokens, quiet.cost) == (0, None, None)
    assert (quiet.thousand_cost, quiet.prompt_sd) == (None, None)
    cells = {(cell.task, cell.language): cell for cell in board.details[0].cells}
    swahili = cells["mini-xnli", "sw"]
    assert (swahili.replies, swahili.failures) == (120, {"refusal": 18, "unparsed": 6})
    assert swahili.unparsed == pytest.approx(0.2)
    assert (board.details[1].cells[0].replies, board.details[1].cells[0].failures) == (0, {})


@pytest.fixture(scope="module")
def site(records: list[Results], tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("board")
    for record in records:
        record.to_json(root / f"{record.system['name']}.json")
    return build_board(sorted(root.glob("*.json")), root / "site", suite="mini")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_leaderboard_has_columns_of_replies(open_page: Open, site: Path) -> None:
    tab = open_page("#/", index=site, width=2400)
    rows = dict(zip(column(tab, "System"), column(tab, "Unparsed"), strict=True))
    assert {name.split()[0]: share for name, share in rows.items()} == {"quiet": "0.0 %", "talker": "7.8 %"}
    assert sorted(column(tab, "Cost per 1,000")) == ["$0.10", "–"]
    assert sorted(column(tab, "Prompt sd")) == ["1.8", "–"]


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_page_of_a_system_lists_replies_by_language(open_page: Open, site: Path) -> None:
    tab = open_page("#/system/talker", index=site)
    settle(tab)
    table = tab.get_by_role("region", name="Replies without an answer by language")
    assert table.locator("th").all_inner_texts() == ["Language", "Replies", "Unparsed", "Refusal", "Cut", "Unreadable"]
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    assert rows == [["Swahili", "240", "10.8 %", "18", "2", "6"], ["German", "120", "1.7 %", "–", "2", "–"]]
    tab = open_page("#/system/quiet", index=site)
    settle(tab)
    assert tab.get_by_text("Replies without an answer").count() == 0


@needs_axe
@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_table_of_replies_is_accessible(open_page: Open, site: Path) -> None:
    tab = open_page("#/system/talker", index=site, bypass_csp=True)
    settle(tab)
    assert barriers(tab) == []
