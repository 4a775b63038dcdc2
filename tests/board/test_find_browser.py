"""Test the page that finds a model, in a browser: what was tested, what was not, and what is only a guess."""

from pathlib import Path

import pytest

from board.answered_systems import ONE_TASK, build_answered
from board.axe import barriers, needs_axe
from board.opened_board import Open, go
from board.synthetic_board import synthetic_board, write_site
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

WISHES = [
    "#/find",
    "#/find?task=qa&language=sw",
    "#/find?task=qa&language=wo",
    "#/find?task=xnli",
    "#/find?language=yo",
    "#/find?open=yes&pmax=1000",
    "#/find?task=qa&language=sw&open=yes&pmax=1",
]


def names(tab) -> list[str]:
    return tab.locator(".pick h3 a").all_inner_texts()


def test_the_best_for_swahili_questions_is_one_click_from_the_landing_page(open_page: Open, published: Path) -> None:
    tab = open_page(index=published)
    tab.click("#menu a:has-text('Find a model')")
    tab.click(".presets a:has-text('Question answering in Swahili')")
    assert tab.evaluate("location.hash") == "#/find?task=qa&language=sw"
    assert names(tab) == ["mT5-XXL", "mBERT", "XLM-R Large"]
    first = tab.locator(".pick").first.inner_text()
    assert "87.2" in first and "F1 on TyDiQA-GoldP" in first and "TyDiQA-GoldP (499 examples)" in first
    assert "XQuAD, MLQA: no Swahili data" in first and "reported, XTREME-R Tables 4" in first
    assert "of the best score in English" in first
    assert tab.locator(".pick-verdict").inner_text().startswith("The order is not tested")
    tab.click("text=Compare the three")
    assert tab.evaluate("location.hash").startswith("#/compare?system=mt5-xxl&system=")


def test_the_sentence_writes_the_address(open_page: Open, published: Path) -> None:
    tab = open_page("#/find", index=published)
    tab.select_option("[aria-label=Task]", "qa")
    tab.select_option("[aria-label=Language]", "ar")
    tab.select_option("[aria-label=Weights]", "yes")
    tab.select_option("[aria-label=Size]", "1000")
    assert tab.evaluate("location.hash") == "#/find?task=qa&language=ar&open=yes&pmax=1000"
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") != ""
    # Like with like: all three have the same three tasks, and the mean is that of the scores below it.
    assert tab.locator(".pick-group").count() == 1
    card = tab.locator(".pick").first
    parts = [float(text) for text in card.locator(".pick-parts strong").all_inner_texts()]
    assert float(card.locator(".pick-score strong").inner_text()) == pytest.approx(sum(parts) / 3, abs=0.06)
    assert len(parts) == 3
    tab.go_back()
    assert tab.locator("[aria-label=Size]").input_value() == ""
    tab.select_option("[aria-label=Language]", "")
    assert tab.evaluate("location.hash") == "#/find?task=qa&open=yes"


def test_open_systems_below_a_size(open_page: Open, published: Path) -> None:
    tab = open_page("#/find?open=yes&pmax=1000", index=published)
    sizes = tab.locator(".pick-facts div:has(dt:text-is('Size')) dd").all_inner_texts()
    assert sizes and all(" M parameters" in size for size in sizes)
    assert "more tested systems do not disclose their size or weights" in tab.locator(".found").inner_text()
    # The same order as on the leaderboard with the same filters.
    go(tab, "#/?open=yes&pmax=1000")
    leaders = tab.locator("table.data tbody tr:not(.unranked) .system .name").all_inner_texts()
    go(tab, "#/find?open=yes&pmax=1000")
    assert names(tab) == leaders[: len(names(tab))]


def test_an_untested_language_gets_a_labelled_guess(open_page: Open, published: Path) -> None:
    tab = open_page("#/find?task=qa&language=wo", index=published)
    text = tab.locator(".guess").inner_text()
    assert text.startswith("No system was tested on question answering in Wolof. Nearest tested language: Swahili")
    assert "(same family)" in text and "A guess, not a result" in text
    assert len(names(tab)) == 3


def test_conditions_that_no_system_meets_can_be_dropped(open_page: Open, published: Path) -> None:
    tab = open_page("#/find?task=qa&language=sw&open=yes&pmax=10", index=published)
    assert "up to 10 M parameters: the limit on size removes all of them." in tab.locator(".headline").inner_text()
    assert tab.locator(".pick").count() == 0
    tab.click("text=Allow any size")
    assert tab.evaluate("location.hash") == "#/find?task=qa&language=sw&open=yes"
    assert names(tab)


def test_any_task_lists_the_highest_score_of_each(open_page: Open, published: Path) -> None:
    tab = open_page("#/find?language=yo", index=published)
    rows = tab.locator(".found tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows] == ["UD-POS", "WikiANN"]
    assert tab.locator(".pick").count() == 0


@pytest.mark.parametrize(
    "query",
    [
        "task=%00&language=__proto__&open=maybe&pmax=-1",
        "task=<img src=x onerror='window.hacked=1'>&language=%3Cscript%3E",
        "pmax=1e400&task=constructor",
        "task=qa&task=xnli&language=sw&language=ar",
        "%E0%A4%A",
    ],
)
def test_made_up_addresses_show_something_sensible(open_page: Open, query: str) -> None:
    tab = open_page(f"#/find?{query}")
    assert tab.locator(".sentence select").count() == 4
    assert tab.locator(".pick, .found tbody tr").count() > 0
    assert tab.locator("main img").count() == 0


def test_paired_tests_decide_the_verdict(open_page: Open, tmp_path: Path) -> None:
    rates = {"first": 0.05, "second": 0.55, "third": 0.60}
    index = build_answered(tmp_path, ONE_TASK, ["mini-xnli"], rates) / "site" / "index.html"
    tab = open_page("#/find?task=mini-xnli&language=de", index=index)
    wait_until(tab, "() => !document.querySelector('.pick-verdict').textContent.includes('Loading')")
    assert names(tab)[0] == "first"
    verdict = tab.locator(".pick-verdict").inner_text()
    assert verdict.startswith("first is significantly better than ") and "paired tests on the same examples" in verdict
    # Over all languages, the verdict is the leaderboard's.
    go(tab, "#/find?task=mini-xnli")
    assert tab.locator(".pick-verdict").inner_text().startswith("The first place is significant on new examples")
    assert tab.locator(".pick .whiskered").count() == 3


def test_a_large_ranking_is_tested_after_it_is_shown(open_page: Open, tmp_path: Path) -> None:
    index = write_site(synthetic_board(100), tmp_path / "site", detailed=3)
    tab = open_page("#/find?task=qa", index=index)
    wait_until(tab, "() => document.querySelector('.pick-verdict').textContent.includes('could be first')")
    assert "possible)" in tab.locator(".pick").first.inner_text()


def test_the_page_fits_every_width_in_every_state(open_page: Open, published: Path) -> None:
    for width in (1440, 768, 390, 320):
        tab = open_page("#/find", index=published, width=width)
        for hash_ in WISHES:
            go(tab, hash_)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, (hash_, width)


@needs_axe
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_barriers(open_page: Open, published: Path, scheme: str, width: int) -> None:
    tab = open_page("#/find", index=published, color_scheme=scheme, width=width, bypass_csp=True)
    for hash_ in WISHES:
        go(tab, hash_)
        assert barriers(tab) == [], hash_
