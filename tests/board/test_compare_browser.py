"""Test the comparison of systems in a browser: verdicts, differences, counts and the choice of systems."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from board.answered_systems import CHECKLIST, ONE_TASK, SUITE, build_answered
from board.axe import barriers, needs_axe
from board.opened_board import Open, column, exported, go
from board.synthetic_board import packed, synthetic_board, write_site
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

TASKS = ("mini-xnli", "mini-wikiann", "mini-xquad")
TESTS = ("checklist-comparisons", "checklist-properties")
NAMES = {"alpha": 0.1, "beta": 0.13, "gamma": 0.3}


@pytest.fixture(scope="module")
def tested_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a suite, the predictions of three systems, and their board."""
    return build_answered(tmp_path_factory.mktemp("tested"), SUITE, TASKS, NAMES)


def verdict(tab: Any) -> str:
    tab.wait_for_selector(".verdict")
    text: str = tab.locator(".verdict").first.inner_text()
    return text


def row(tab: Any, label: str, name: str) -> list[str]:
    """Return the texts of a row of a forest plot."""
    rows = tab.locator(f"[aria-label^='Differences by {label}'] tbody tr:not(.band)")
    found = rows.filter(has=tab.locator(f"th:has-text('{name}')")).first
    return [" ".join(text.split()) for text in found.locator("> *").all_inner_texts()]


def signed(value: float) -> str:
    text = f"{abs(value) + 1e-7:.1f}"
    return text if text == "0.0" else f"{'−' if value < 0 else '+'}{text}"


def test_two_best_systems_are_preselected(open_page: Open, published: Path, tmp_path: Path) -> None:
    tab = open_page("#/compare", index=published)
    assert "Preselected: the two best-ranked systems of the full benchmark." in tab.locator("main").inner_text()
    assert [tab.locator(f"#pick-{at}").input_value() for at in (0, 1)] == [
        "XLM-R Large · zero-shot",
        "mT5-XXL · zero-shot",
    ]
    # No system of this board is complete: XNLI has most of them.
    board = synthetic_board(6)
    for task in board["tasks"][1:]:
        board["cells"][task["id"]] = packed(np.full((6, len(task["languages"])), np.nan))
    board["averages"] = {}
    tab = open_page("#/compare", index=write_site(board, tmp_path / "site"))
    text = tab.locator("main").inner_text()
    assert "the two best-ranked of 6 systems on XNLI, because fewer than two systems cover the full benchmark" in text
    assert tab.locator("#pick-0").input_value().startswith("System 0")


def test_verdict_is_that_of_isogloss_compare(open_page: Open, tested_board: Path) -> None:
    site = tested_board / "site" / "index.html"
    compared = isogloss.compare(*(tested_board / name for name in NAMES), suite=str(tested_board / "suite.toml"))
    for pair in compared:
        tab = open_page(f"#/compare?system={pair.first}&system={pair.second}", index=site)
        low, high = pair.overall.interval_for_all
        span = f"{signed(pair.overall.difference)} ({signed(low)} to {signed(high)})"
        wanted = (
            f"{pair.first} is significantly better: {span}" if pair.overall.winner else f"Not distinguishable: {span}"
        )
        assert verdict(tab) == wanted
        text = tab.locator("main").inner_text()
        assert "on new examples in these languages (all pairs tested on the same examples, Holm's correction)" in text
        for contrasts, noun in ((pair.tasks, "tasks"), (pair.cells, "cells")):
            won = sum(contrast.winner == "first" for contrast in contrasts)
            lost = sum(contrast.winner == "second" for contrast in contrasts)
            open_ = len(contrasts) - won - lost
            if not won + lost:
                assert f"Neither is significantly better in any of {len(contrasts)} {noun}." in text
                continue
            assert f"significantly better in {won} of {len(contrasts)} {noun}" in text
            assert f"in {lost}; {open_} {'is' if open_ == 1 else 'are'} not distinguishable" in text
        # The file has the same numbers.
        lines = {(line["level"], line["name"], line["language"]): line for line in exported(tab)}
        assert len(lines) == len(exported(tab)) == 1 + 3 + 9 + 3
        cells = [line for (level, *_), line in lines.items() if level == "cell"]
        equal = sum(line["first"] == line["second"] for line in cells)
        assert not equal or f" of {len(cells)} shared cells ({equal} equal)" in text
        top = lines["overall", "Overall", ""]
        assert top["p"] == pytest.approx(pair.overall.p)
        assert [signed(top[end]) for end in ("lead", "low", "high")] == [
            signed(end) for end in (pair.overall.difference, low, high)
        ]
        assert top["verdict"] == (
            f"{pair.first} is significantly better" if pair.overall.winner else "not distinguishable"
        )
        assert top["population"] == "on new examples in these languages"


def test_insignificant_differences_are_grey_and_untested_ones_hollow(open_page: Open, tested_board: Path) -> None:
    tab = open_page("#/compare?system=alpha&system=beta", index=tested_board / "site" / "index.html")
    tab.wait_for_selector(".forest")
    verdicts = {line["name"]: line["verdict"] for line in exported(tab) if line["level"] == "task"}
    assert len(set(verdicts.values())) == 2
    fill = "node => getComputedStyle(node).fill"
    for name, says in verdicts.items():
        mark = tab.locator(f".forest tr.task:has-text('{name}') .forest-mark circle")
        colour = tab.evaluate(fill, mark.element_handle())
        assert colour == ("rgb(0, 114, 178)" if says.startswith("alpha") else "rgb(123, 134, 147)")
        assert tab.locator(f".forest tr.task:has-text('{name}') .forest-mark .interval line").count() == 1
    # The mean over tasks in a language has no interval.
    language = tab.locator(".forest tr.language").first
    assert tab.evaluate(fill, language.locator(".forest-mark circle").element_handle()) == "rgb(255, 255, 255)"
    assert language.locator(".interval line").count() == 0
    # Cells that are not significant have no colour in the matrix.
    cells = [line for line in exported(tab) if line["level"] == "cell"]
    tied = sum(line["verdict"] == "not distinguishable" for line in cells)
    assert 0 < tied < len(cells)
    assert tab.locator("table.heat td.tied").count() == tied


def test_rows_unfold_and_sort_in_the_address(open_page: Open, tested_board: Path) -> None:
    tab = open_page("#/compare?system=alpha&system=gamma", index=tested_board / "site" / "index.html")
    tab.wait_for_selector(".forest")
    tab.click("[aria-label='Languages of mini XNLI']")
    assert tab.locator(".forest tr.cell th a:first-child").all_inner_texts() == ["German", "English", "Swahili"]
    assert tab.evaluate("location.hash").endswith("&unfold=mini-xnli")
    tab.click("text=By difference")
    leads = [
        float(text.split()[0].replace("−", "-"))
        for text in tab.locator(".forest tr.task .difference").all_inner_texts()
    ]
    assert leads == sorted(leads, reverse=True) and len(leads) == 3
    tab.click("text=Every language")
    assert tab.locator(".forest tr.cell").count() == 9
    tab.go_back()
    tab.wait_for_function("document.querySelectorAll('.forest tr.cell').length === 3")
    tab.click("[aria-label='Languages of mini XNLI']")
    assert tab.locator(".forest tr.cell").count() == 0


def test_conflict_between_average_and_cells_is_explained(open_page: Open, published: Path) -> None:
    tab = open_page("#/compare?system=xlm-r-large&system=mt5-xxl", index=published)
    assert verdict(tab) == "Not tested: XLM-R Large has the better average, +0.7"
    text = tab.locator("main").inner_text()
    assert "mT5-XXL has only averages for UD-POS, WikiANN, Mewsli-X, LAReQA, Tatoeba." in text
    assert (
        "XLM-R Large has the better average (65.3 vs 64.6) because of Retrieval (54.6 vs 37.4)†; "
        "mT5-XXL has the better score in 3 of 4 categories, 6 of 10 tasks and 51 of 53 shared cells."
    ) in text
    # The verdict comes first, then the plot; what qualifies it is folded below.
    plot = tab.locator(".forest tr.task").first.bounding_box()
    assert plot["y"] < 700
    notes = tab.locator(".pair-notes")
    assert notes.bounding_box()["y"] > plot["y"] and "from a frozen model" not in text
    notes.locator("summary:has-text('Notes: parts of the difference, coverage, tests, 4 footnotes')").click()
    text = notes.inner_text()
    assert "enter only by their averages" in text
    assert "from a frozen model" in text
    rows = [
        line.split("\t") for line in tab.locator("[aria-label='Parts of the difference'] tbody tr").all_inner_texts()
    ]
    assert rows[3] == ["Retrieval", "54.6", "37.4", "+17.2", "+4.3"]
    added = [float(cells[4].replace("−", "-")) for cells in rows]
    assert sum(added[:-1]) == pytest.approx(added[-1], abs=0.11)
    assert row(tab, "language", "Swahili")[-1] == "not tested"
    # Systems of one name are told apart by their regimes.
    go(tab, "#/compare?system=mbert&system=mbert-translate-train")
    text = tab.locator(".verdict-detail").inner_text()
    assert "mBERT (zero-shot) " in text and "mBERT (translate-train) " in text
    go(tab, "#/compare?system=xlm-r-large&system=mt5-xxl")
    # The same pair seen from the other side.
    tab.click("text=Swap")
    assert tab.evaluate("location.hash") == "#/compare?system=mt5-xxl&system=xlm-r-large"
    assert verdict(tab) == "Not tested: XLM-R Large has the better average, +0.7"
    assert row(tab, "task", "Overall")[4].startswith("−0.7")


def letters_of(tab: Any) -> dict[str, set[str]]:
    """Return the letters of the leaderboard's file by system: those that share one are joined by a bracket."""
    with tab.expect_download() as download:
        tab.click(".files button:has-text('JSON')")
    rows = json.loads(download.value.path().read_text(encoding="utf-8"))["rows"]
    return {row["name"]: set(row["rank_letters"]) for row in rows if row["rank"]}


def test_verdicts_over_languages_are_those_of_the_leaderboard(open_page: Open) -> None:
    tab = open_page()
    letters = dict(list(letters_of(tab).items())[:6])
    names = list(letters)
    ids = {name: f"s{name.split()[1]}" for name in names if name.startswith("System ")}
    both = set()
    for (one, mine), (other, theirs) in combinations(letters.items(), 2):
        # Two have a paired test of their own, which answers another question.
        if one not in ids or other not in ids or {ids[one], ids[other]} == {"s0", "s1"}:
            continue
        go(tab, f"#/compare?system={ids[one]}&system={ids[other]}")
        shared = bool(mine & theirs)
        both.add(shared)
        assert verdict(tab).startswith(
            "Not distinguishable in similar languages" if shared else f"{one} is significantly better in similar"
        )
    assert both == {True, False}


def test_only_the_compared_systems_are_tested_on_large_boards(open_page: Open, tmp_path: Path) -> None:
    """Rankings of more than 100 systems have no letters, hence no verdict on a pair."""
    index = write_site(synthetic_board(140), tmp_path / "site", detailed=2)
    tab = open_page("#/compare?system=s0&system=s2", index=index)
    assert "in similar languages: +" in verdict(tab)
    alone = "Only the compared systems are tested, not all"
    assert alone in tab.locator(".verdict-detail").inner_text()
    tab = open_page("#/compare")
    assert "The correction covers all pairs of 36 systems" in tab.locator(".verdict-detail").inner_text()
    assert alone not in tab.locator("main").inner_text()


def test_languages_are_in_the_bands_of_other_pages(open_page: Open, published: Path) -> None:
    tab = open_page("#/compare?system=mt5-xxl&system=xlm-r-large", index=published)
    bands = tab.locator("[aria-label^='Differences by language'] tr.band").all_inner_texts()
    assert bands == ["Indo-European", "Dravidian", "Uralic", "Other families"]
    go(tab, "#/system/mt5-xxl")
    assert tab.locator("table.heat tr.bands th").all_inner_texts()[-4:] == bands


def test_compare_agrees_with_the_leaderboard(open_page: Open, tmp_path: Path) -> None:
    """Two of the six pairs are significant if each pair is tested alone (p = 0.03), but not after the correction."""
    rates = {"first": 0.30, "second": 0.36, "third": 0.40, "fourth": 0.46}
    index = build_answered(tmp_path, ONE_TASK, ["mini-xnli"], rates) / "site" / "index.html"
    tab = open_page(index=index)
    letters = letters_of(tab)
    assert list(letters) == list(rates)
    verdicts = set()
    for one, other in combinations(rates, 2):
        go(tab, f"#/compare?system={one}&system={other}")
        shared = letters[one] & letters[other]
        assert verdict(tab).startswith("Not distinguishable: " if shared else f"{one} is significantly better: ")
        assert row(tab, "task", "mini XNLI")[-1] == ("not distinguishable" if shared else f"{one} better")
        verdicts.add(verdict(tab).split(":")[0])
        alone = isogloss.compare(tmp_path / one, tmp_path / other, suite=str(tmp_path / "suite.toml")).tasks[0]
        if (one, other) in (("first", "third"), ("third", "fourth")):
            assert alone.p < 0.05
            assert shared
    assert len(verdicts) == 3
    assert "selected or not" in tab.locator("main").inner_text()
    go(tab, "#/system/third")
    tested = "ranks 1–4 of 4 complete systems, tested on new examples in these languages (all pairs tested on the same"
    assert tested in tab.locator("main").inner_text()
    # A filter does not turn them significant either.
    go(tab, "#/?q=ir")
    assert [text.split()[0] for text in column(tab, "System")] == ["first", "third"]
    assert tab.locator("td.rank .lane").count() == 2


def test_partial_systems_are_compared_on_what_they_share(open_page: Open, published: Path) -> None:
    tab = open_page("#/compare?system=s0&system=s3")
    tab.click(".pair-notes summary")
    text = tab.locator(".pair-notes").inner_text()
    assert f"Both have scores in {202 - 48} of 202 cells" in text
    assert "System 3 – missing: WikiANN" in text
    assert row(tab, "task", "Average of 9 shared tasks")[0].startswith("Average of 9 shared tasks")
    assert tab.locator(".forest tr.task:has-text('WikiANN')").count() == 0
    assert tab.locator(".forest tr.task").count() == 9
    # Only some languages of a task.
    go(tab, "#/compare?system=s3&system=s7")
    assert "5 of 11 languages" in tab.locator(".forest tr.task:has-text('Mewsli-X')").inner_text()
    tab = open_page("#/compare?system=mteb-baseline-random-encoder&system=xnli-baseline", index=published)
    assert verdict(tab) == "Not comparable: no task in common"
    text = tab.locator("main").inner_text()
    assert "has scores on Tatoeba. Compare it with XLM-R Large (41 shared cells)" in text
    assert tab.locator("table").count() == 0
    tab.locator("main a:has-text('XLM-R Large')").first.click()
    assert tab.locator(".forest tr.task").count() == 1
    assert verdict(tab) == "XLM-R Large is significantly better in similar languages: +77.2"
    assert row(tab, "task", "Tatoeba")[-1] == "XLM-R Large better"


def test_a_single_system_gets_partners(open_page: Open, published: Path) -> None:
    tab = open_page("#/compare?system=mbert&system=nobody", index=published)
    assert "Not on this board: nobody." in tab.locator("main").inner_text()
    assert (
        "Most in common with mBERT (zero-shot): XLM-R Large (202 shared cells)" in tab.locator(".headline").inner_text()
    )


def test_lower_is_better_turns_differences(open_page: Open, tmp_path: Path) -> None:
    site = build_answered(tmp_path, CHECKLIST, TESTS, {"bad": 0.5, "good": 0.1}) / "site"
    tab = open_page("#/compare?system=bad&system=good", index=site / "index.html")
    assert verdict(tab).startswith("good is significantly better: +")
    assert "Overall (lower is better)" in tab.locator(".verdict-detail").inner_text()
    rows = [row(tab, "task", name) for name in ("Overall", "comparisons", "properties")]
    assert all(cells[4].startswith("−") and cells[5] == "good better" for cells in rows)
    # Left of zero, in the second system's colour.
    mark = tab.locator(".forest tr.task circle").first
    assert float(mark.get_attribute("cx").rstrip("%")) < 50
    assert tab.evaluate("node => getComputedStyle(node).fill", mark.element_handle()) == "rgb(213, 94, 0)"
    summary = tab.locator("h2:has-text('Bucket by bucket') ~ p:has-text('significantly best')")
    summary.wait_for()
    assert "bad is significantly best in 0" in summary.inner_text()
    red, _, blue = tab.evaluate(
        "node => getComputedStyle(node).backgroundColor.match(/\\d+/g).map(Number)",
        tab.locator("table.heat tbody td").first.element_handle(),
    )
    assert red > blue


def test_three_systems_have_a_matrix_of_verdicts(open_page: Open, tested_board: Path) -> None:
    tab = open_page("#/compare?system=alpha&system=beta&system=gamma", index=tested_board / "site" / "index.html")
    compared = isogloss.compare(*(tested_board / name for name in NAMES), suite=str(tested_board / "suite.toml"))
    best = [
        name for order in compared.top_orders for name, low in zip(order.systems, order.low, strict=True) if low == 1
    ]
    words = "is the best of" if len(best) == 1 else "could each be the best of"
    assert f"{words} 3 systems on new examples in these languages" in verdict(tab)
    table = tab.locator("[aria-label='Verdicts on all pairs'] tbody tr")
    cells = {
        (one, other): table.nth(at).locator("td").nth(place).inner_text().split("\n")[0]
        for (at, one), (place, other) in ((a, b) for a in enumerate(NAMES) for b in enumerate(NAMES) if a != b)
    }
    for pair in compared:
        wanted = {"first": ("better", "worse"), "second": ("worse", "better"), "": ("not distinguishable",) * 2}
        assert (cells[pair.first, pair.second], cells[pair.second, pair.first]) == wanted[pair.overall.winner]
    heads = tab.locator("main h3").all_inner_texts()
    assert heads == ["alpha against beta", "alpha against gamma"]
    # All forest plots share an axis.
    axes = tab.locator(".forest-mark.axis").evaluate_all("axes => axes.map((axis) => axis.textContent)")
    assert len(axes) == 4 and len(set(axes)) == 1
    assert {line["second_system"] for line in exported(tab)} == {"beta", "gamma"}
    tab.wait_for_selector("[aria-label='Buckets'] tbody tr")
    tab.select_option("label:has-text('Task') select", "mini-xquad")
    tab.wait_for_selector("text=score; 60 examples; 9 cells available")
    tab.click("[aria-label='Remove beta']")
    assert tab.evaluate("location.hash") == "#/compare?task=mini-xquad&system=alpha&system=gamma"


def test_systems_are_chosen_by_keyboard(open_page: Open) -> None:
    tab = open_page("#/compare?system=s0&system=s1")
    field = tab.locator("#pick-1")
    field.focus()
    assert tab.locator("#pick-1-list").is_hidden()
    tab.keyboard.type("system 4")
    options = tab.locator("#pick-1-list [role=option]")
    found = [text.split()[1] for text in options.all_inner_texts()]
    assert {"4", *map(str, range(40, 47))} <= set(found) and all("4" in number for number in found)
    assert field.get_attribute("aria-expanded") == "true"
    tab.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == "pick-1-1"
    assert options.nth(1).get_attribute("aria-selected") == "true"
    # Names that begin with the text come first.
    assert found[:2] == ["4", "40"]
    chosen = found[1]
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == f"#/compare?system=s0&system=s{chosen}"
    assert field.input_value().startswith(f"System {chosen} ")
    # Escape restores the choice.
    tab.keyboard.type("nothing")
    assert options.all_inner_texts() == ["No system matches"]
    tab.keyboard.press("Escape")
    assert field.input_value().startswith(f"System {chosen} ") and options.count() == 0
    # A third one by mouse; systems that are compared already are not offered.
    tab.locator("#pick-2").click()
    tab.locator("#pick-2").fill("system 0")
    offered = tab.locator("#pick-2-list [role=option]").all_inner_texts()
    assert offered and not any(text.startswith("System 0 ") for text in offered)
    tab.locator("#pick-2").fill("system 44")
    tab.locator("#pick-2-list [role=option]").first.click()
    assert tab.evaluate("location.hash") == f"#/compare?system=s0&system=s{chosen}&system=s44"


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_comparison_is_accessible(open_page: Open, published: Path, tested_board: Path, scheme: str) -> None:
    for hash_, index in (
        ("#/compare?unfold=tydiqa", published),
        ("#/compare?system=alpha&system=beta&system=gamma", tested_board / "site" / "index.html"),
        ("#/compare?system=alpha&system=gamma", tested_board / "site" / "index.html"),
    ):
        tab = open_page(hash_, index=index, width=390, color_scheme=scheme, bypass_csp=True)
        verdict(tab)
        tab.locator("#pick-0").click()
        assert tab.locator("#pick-0-list [role=option]").count() >= 1
        assert barriers(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
