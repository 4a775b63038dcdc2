"""Test the landing page in a browser: findings, finder, segments, coverage, row profiles and the selection bar."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, column, go, ranks
from board.synthetic_board import HUMAN, Board, packed, synthetic_board, write_site
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


def finding(tab: Any, key: str) -> str:
    text: str = tab.locator(f".finding[data-key={key}]").inner_text()
    return re.sub(r"\s+", " ", text)


def without_systems(count: int) -> Board:
    """Return a board with the first systems of a synthetic one."""
    board, size = synthetic_board(48), len(synthetic_board(48)["systems"])
    sizes = {each["id"]: len(each["languages"]) for each in board["tasks"]}

    def cut(text: str, width: int) -> str:
        return packed(np.full((count, width), 50.0)) if count and text else packed(np.empty((0, width)))

    assert size == 48
    cells = {name: cut(text, sizes[name]) for name, text in board["cells"].items()}
    averages = {name: {key: cut(text, 1) for key, text in each.items()} for name, each in board["averages"].items()}
    return board | {"systems": board["systems"][:count], "cells": cells, "averages": averages, "footnotes": []}


def test_findings_of_the_published_systems(open_page: Open, published: Path) -> None:
    tab = open_page(index=published)
    assert tab.locator("h1").inner_text() == "Where do multilingual models stop working?"
    assert "235 systems, 10 tasks, 50 languages" in tab.locator(".purpose").inner_text()
    lead = finding(tab, "lead")
    assert lead.startswith("XLM-R Large has the best average overall: 65.3")
    assert "mT5-XXL (zero-shot) follows with 64.6 and scores higher on 6 of 10 tasks; retrieval decides." in lead
    assert "Not tested: mT5-XXL lacks scores per language." in lead
    link = tab.locator(".finding[data-key=lead] h2 a").get_attribute("href")
    assert re.fullmatch(r"#/compare\?system=[\w-]+&system=[\w-]+", link)
    service = finding(tab, "service")
    served, below, untested = (
        int(each)
        for each in re.findall(
            r"^(\d+) of 50 languages reach 80 % of English.* (\d+) fall short.*; (\d+) cannot", service
        )[0]
    )
    assert served + below + untested == 50 and served > below > untested
    for name, count in (("served", served), ("below", below), ("untested", untested)):
        assert tab.locator(f".squares .square.{name}").count() == count
    human = finding(tab, "human")
    assert human.startswith("22.0 points below people on UD-POS") and "closest on XNLI (5.3 points below)" in human
    assert "Human scores are mostly for English" in human
    tab.click(".finding[data-key=service] h2 a")
    assert tab.evaluate("location.hash") == "#/languages"


def test_the_board_starts_with_a_ranking_of_many_systems(open_page: Open, published: Path) -> None:
    tab = open_page(index=published, width=1440)
    assert tab.locator(".segments [aria-pressed=true]").inner_text().split()[0] == "Classification"
    assert tab.locator("table.data tbody:not(.before) tr").count() == 10
    # The headline is about this ranking, the first finding about the whole benchmark.
    assert "in classification, 82.7" in tab.locator(".headline").inner_text()
    go(tab, "#/?segment=full")
    assert tab.locator(".headline").inner_text() == "3 systems cover the full benchmark; 232 have partial results."
    go(tab, "#/?segment=full&regime=zero-shot")
    assert tab.locator(".headline").inner_text().startswith("XLM-R Large (zero-shot) has the best score overall, 65.3")


def test_most_rows_are_on_the_first_screen(open_page: Open, published: Path) -> None:
    tab = open_page(index=published, width=1440)
    rows = tab.locator("table.data tbody:not(.before) tr")
    tops = rows.evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().bottom)")
    assert sum(bottom < 900 for bottom in tops) >= 7


def test_findings_are_single_lines_on_a_phone(open_page: Open, published: Path) -> None:
    tab = open_page(index=published, width=390)
    findings = tab.locator(".finding")
    assert findings.count() == 3
    assert all(box["height"] < 40 for box in (each.bounding_box() for each in findings.all()))
    assert tab.locator(".finding p:visible, .finding .picture:visible").count() == 0
    # The finder and its links follow the table, before the notes.
    order = "all => all.map((one) => one.className.split(' ')[0])"
    assert tab.locator("main :is(.content, .ways, .notes)").evaluate_all(order) == ["content", "ways", "notes"]
    assert rows_start(tab) < 600


def rows_start(tab: Any) -> float:
    top: float = tab.locator("table.data tbody:not(.before) tr").first.bounding_box()["y"]
    return top


def test_findings_say_what_the_test_says(open_page: Open) -> None:
    tab = open_page()
    assert "Significantly ahead of all others in similar languages." in finding(tab, "lead")
    assert finding(tab, "lead").startswith("System 0 leads overall: ")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_findings_of_few_systems(open_page: Open, tmp_path: Path, count: int) -> None:
    board = without_systems(count)
    for task in board["tasks"]:
        task["human"] = None
    tab = open_page(index=write_site(board, tmp_path / "site", detailed=0))
    keys = [card.get_attribute("data-key") for card in tab.locator(".finding").all()]
    # Without systems nothing is known, and without human scores nothing about people.
    assert keys == (["lead", "service"] if count else [])
    if count == 0:
        assert tab.locator(".headline").inner_text() == "This board has no systems yet."
    if count == 1:
        assert finding(tab, "lead").startswith("System 0 scores 50.0 overall The board has no other system.")
        assert tab.locator(".finding[data-key=lead] h2 a").get_attribute("href") == "#/system/s0"
    if count == 3:
        assert finding(tab, "lead").startswith("System 0 has the best average overall: 50.0 System 1")
        assert "follows with 50.0." in finding(tab, "lead")


def test_findings_without_english_and_with_error_rates(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(3)
    for language in board["languages"]:
        language["code"] = "is" if language["code"] == "en" else language["code"]
    for task in board["tasks"]:
        task["languages"] = ["is" if code == "en" else code for code in task["languages"]]
        task["lower_is_better"] = True
        task["human"] = 5 if task["id"] in ("xnli", "xcopa") else None
    tab = open_page(index=write_site(board, tmp_path / "site", detailed=0))
    assert [card.get_attribute("data-key") for card in tab.locator(".finding").all()] == ["lead", "human"]
    best = min(float(text.strip("°†")) for text in column(tab, "XNLI"))
    assert f"{best - 5:.1f} points above" in finding(tab, "human")


def test_finder_and_questions(open_page: Open) -> None:
    tab = open_page()
    tab.select_option("[aria-label=Task]", "qa")
    assert tab.evaluate("location.hash") == "#/find?task=qa"
    tab.go_back()
    tab.select_option("[aria-label='Language of the finder']", "sw")
    assert tab.evaluate("location.hash") == "#/find?language=sw"
    tab.go_back()
    hashes = tab.locator(".quick a").evaluate_all("links => links.map((link) => link.hash)")
    assert hashes == ["#/find?open=yes&pmax=1000", "#/progress", "#/languages?show=unserved"]
    # The analyses are in the menu.
    tab.click("#menu a:has-text('Analyses')")
    assert tab.evaluate("location.hash").startswith("#/analysis")


def test_segments_have_their_own_columns_ranks_and_counts(open_page: Open) -> None:
    tab = open_page()
    texts = [re.split(r"\s+(?=\d)", text) for text in tab.locator(".segments button").all_inner_texts()]
    assert texts[0] == ["Full benchmark", "36"] and len(texts) == 5
    for title, count in texts:
        tab.click(f".segments button:has-text('{title}')")
        assert tab.locator("output.count").inner_text() == f"{count} of 48 systems"
        assert ranks(tab)[:1] == ["1"] and "–" not in ranks(tab)
        assert "–" not in "".join(tab.locator("tbody:not(.before) td.score").all_inner_texts())
    assert tab.evaluate("location.hash") == "#/?segment=retrieval"
    assert tab.locator(".explains").inner_text().startswith("Mean over the category's tasks;")
    heads = tab.locator("th.score").all_inner_texts()
    assert [head.split("↕")[0].split("↓")[0].strip() for head in heads] == ["Average", "Mewsli-X", "LAReQA", "Tatoeba"]
    assert " in retrieval" in tab.locator(".headline").inner_text()
    # A sort column of one segment does not exist in the next one.
    tab.click("button.sort:has-text('Tatoeba')")
    tab.select_option("[aria-label='One task']", "xquad")
    assert tab.evaluate("location.hash") == "#/?segment=xquad"
    assert [head.split("↓")[0].strip() for head in tab.locator("th.score").all_inner_texts()] == ["XQuAD"]
    tab.go_back()
    assert tab.evaluate("location.hash") == "#/?segment=retrieval&sort=tatoeba"


def test_filters_work_within_a_segment(open_page: Open) -> None:
    tab = open_page("#/?segment=qa&kind=llm&language=ar&ranking=worst")
    llms = tab.locator("output.count").inner_text()
    assert re.fullmatch("[1-9] of 48 systems", llms)
    assert tab.locator(".segments [aria-pressed=true]").inner_text().split("\n")[0].startswith("Question answering")
    tab.locator("fieldset.toolbar .many:has-text('Task') > summary").click()
    assert tab.locator(".many[open] label").all_inner_texts() == ["XQuAD", "MLQA", "TyDiQA-GoldP"]
    tab.keyboard.press("Escape")
    go(tab, "#/?segment=xquad&ranking=weights")
    assert tab.locator(".sliders .slider").count() == 1


def test_a_board_without_complete_systems_starts_with_its_widest_part(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(8)
    for name in ("xnli", "mewslix"):
        width = next(len(each["languages"]) for each in board["tasks"] if each["id"] == name)
        board["cells"][name] = packed(np.full((8, width), np.nan))
        for group in (name, "classification", "retrieval", "overall"):
            board["averages"].pop(group, None)
    tab = open_page(index=write_site(board, tmp_path / "site", detailed=0))
    pressed = tab.locator(".segments [aria-pressed=true]").inner_text()
    counts = [int(re.findall(r"\d+", text)[-1]) for text in tab.locator(".segments button").all_inner_texts()]
    assert counts[0] == 0 and int(re.findall(r"\d+", pressed)[-1]) == max(counts)
    assert "has the best average in " in finding(tab, "lead")
    tab.click(".segments button:has-text('Full benchmark')")
    assert tab.locator(".headline").inner_text().startswith("No matching system covers the full benchmark; 8 systems")


def test_without_any_complete_part_partial_results_are_the_rows(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(4)
    board["averages"] = {}
    for task in board["tasks"]:
        scores = np.full((4, len(task["languages"])), np.nan)
        scores[:, 1] = 60.0
        board["cells"][task["id"]] = packed(scores)
    tab = open_page(index=write_site(board, tmp_path / "site", detailed=0))
    assert tab.locator("table.data tbody:not(.before, .section) tr").count() == 4
    assert tab.locator("[data-key=coverage]").is_visible() and tab.locator("[data-key=partial]").count() == 0


def test_ten_rows_until_all_are_asked_for(open_page: Open) -> None:
    tab = open_page()
    rows = tab.locator("table.data tbody:not(.before) tr")
    assert rows.count() == 10 and tab.locator(".pager").count() == 0
    tab.click("text=Show all 36 systems")
    assert rows.count() == 36 and tab.evaluate("location.hash") == "#/?all=1"
    tab.go_back()
    assert rows.count() == 10
    # The keyboard goes on at the first new row.
    tab.press("text=Show all 36 systems", "Enter")
    assert rows.nth(10).evaluate("row => row.contains(document.activeElement)")
    tab.go_back()
    tab.fill("fieldset.toolbar input[type=search]", "zero")
    assert rows.count() == 12


def test_search_finds_partial_systems(open_page: Open, published: Path) -> None:
    tab = open_page("#/?q=labse", index=published)
    assert tab.locator("table.data").count() == 0
    assert "No matching system covers all classification tasks" in tab.locator(".headline").inner_text()
    tab.locator(".elsewhere button").first.click()
    assert tab.evaluate("location.hash") == "#/?q=labse&segment=tatoeba"
    assert all("labse" in name.lower() for name in column(tab, "System"))


def test_coverage_matrix(open_page: Open, published: Path) -> None:
    tab = open_page("#/?segment=full", index=published)
    assert tab.locator(".cover").count() == 0
    tab.click("button:has-text('232 systems have partial results')")
    assert tab.evaluate("location.hash") == "#/?segment=full&coverage=1"
    heads = [head.split("\n")[0] for head in tab.locator(".cover thead tr").last.locator("th").all_inner_texts()]
    assert heads[0] == "Systems" and len(heads) == 11
    row = tab.locator(".cover tbody tr", has_text="182 systems")
    assert row.locator(".under").inner_text() == "Tatoeba only"
    states = row.locator("td").evaluate_all("cells => cells.map((cell) => cell.className.split(' ')[1])")
    assert sorted(states) == ["full"] + ["untested"] * 9 and states[heads.index("Tatoeba") - 1] == "full"
    assert row.locator("td").nth(0).text_content() == "none"
    assert "6/15" in tab.locator(".cover tbody tr", has_text="XNLI in part").inner_text()
    row.locator("summary").click()
    links = row.locator("li a")
    assert links.count() == 182
    name = links.first.inner_text()
    links.first.click()
    assert tab.locator("h1").inner_text().startswith(name.split(" (")[0])


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_coverage_of_any_number_of_systems(open_page: Open, tmp_path: Path, count: int) -> None:
    tab = open_page("#/?coverage=1", index=write_site(synthetic_board(count), tmp_path / "site", detailed=0), width=390)
    named = tab.locator(".cover tbody th > a").count()
    counted = [int(text.split()[0]) for text in tab.locator(".cover tbody summary b").all_inner_texts()]
    assert named + sum(counted) == count
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    # More scores are compared after the page is drawn.
    tab.wait_for_selector(".finding[data-key=service] .square", state="attached")


def test_rows_have_families_and_the_distance_to_people(open_page: Open) -> None:
    tab = open_page("#/?segment=classification", width=1600)
    human = column(tab, "To human")
    xnli, xcopa = (float(column(tab, name)[0].strip("†")) for name in ("XNLI", "XCOPA"))
    expected = ((xnli - 92.8) + (xcopa - 97.6)) / 2
    assert abs(float(human[0].replace("−", "-")) - expected) < 0.11
    strips = tab.locator(".family-strip")
    assert strips.count() == 10
    assert len(set(strips.evaluate_all("strips => strips.map(({ style }) => style.width)"))) == 1
    cell = tab.locator("tbody:not(.before) td.profile").first
    cell.hover()
    tip = tab.locator("#tip").inner_text()
    assert "share of the best English score" in tip and re.search(r"Niger-Congo \d+ %", tip)
    tab.click("button.sort:has-text('To human')")
    assert tab.locator("th[aria-sort]").inner_text().startswith("To human")
    # Columns that there is no room for are optional.
    tab = open_page("#/?segment=classification", width=390)
    assert tab.locator(".family-strip").count() == 0
    go(tab, "#/?segment=classification&also=families")
    assert tab.locator(".family-strip").count() == 10


def test_partial_rows_have_no_families_and_marked_distances(open_page: Open) -> None:
    tasks = [each["id"] for each in synthetic_board(4)["tasks"]]
    # Every fourth system lacks languages of one task. XCOPA has no English to compare with.
    place = next(place for place in range(3, 48, 4) if tasks[place % len(tasks)] in HUMAN.keys() - {"xcopa"})
    tab = open_page("#/?partial=1&also=families&also=to-human")
    row = tab.locator(f"tr[data-key=s{place}]")
    assert row.locator("td.number").first.inner_text().endswith("°")
    row.locator("td.number").first.hover()
    assert "Other tasks with a human score are missing." in tab.locator("#tip").inner_text()
    row.locator("td.profile").hover()
    assert re.search(r"[a-z] –(,|$)", tab.locator("#tip").inner_text())


def test_selection_bar(open_page: Open) -> None:
    tab = open_page()
    assert tab.locator(".selection").count() == 0
    tab.check("[data-id=s0]")
    bar = tab.locator(".selection")
    assert bar.locator(".selected-count").inner_text() == "1 system selected"
    assert bar.locator("[data-mode=compare]").get_attribute("aria-disabled") == "true"
    tab.check("[data-id=s1]")
    assert bar.locator(".selected-count").inner_text() == "2 systems selected"
    # The bar stays at the bottom of the window.
    tab.evaluate("scrollTo(0, 0)")
    assert tab.evaluate("document.querySelector('.selection').getBoundingClientRect().bottom <= innerHeight")
    wait_until(tab, "document.querySelector('a[data-mode=pairwise]') !== null")
    assert bar.locator("[data-mode=single]").get_attribute("aria-disabled") == "true"
    bar.locator("a[data-mode=compare]").click()
    assert tab.evaluate("location.hash") == "#/compare?system=s0&system=s1"
    tab.go_back()
    bar.locator("button[aria-label='remove System 1 from the selection']").click()
    assert tab.evaluate("location.hash") == "#/?tick=s0"
    bar.locator("text=Clear").click()
    assert bar.count() == 0


def test_controls_fold_into_one_button(open_page: Open) -> None:
    tab = open_page(width=390)
    controls = tab.locator("fieldset.toolbar, .explains, .files")
    assert [each.is_visible() for each in controls.all()] == [False] * 3
    tab.click("button:has-text('Filters and columns')")
    assert [each.is_visible() for each in controls.all()] == [True] * 3
    tab.fill("fieldset.toolbar input[type=search]", "zero")
    assert tab.locator(".fold-button").inner_text().startswith("Filters and columns (1)")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390


@needs_axe
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1600, "dark")])
def test_axe(open_page: Open, published: Path, width: int, scheme: str) -> None:
    tab = open_page(index=published, width=width, color_scheme=scheme, bypass_csp=True)
    for hash_ in ("#/?coverage=1", "#/?segment=classification", "#/?q=labse"):
        go(tab, hash_)
        assert barriers(tab) == [], hash_
    go(tab, "#/?segment=qa")
    tab.locator("td.tick input").first.check()
    tab.wait_for_selector(".selection")
    assert barriers(tab) == []


def test_addresses_with_a_choice_open_at_the_table(open_page: Open) -> None:
    top = "document.querySelector('.board-title').getBoundingClientRect().top"
    assert open_page().evaluate("scrollY") == 0
    tab = open_page("#/?segment=qa")
    wait_until(tab, f"{top} < 100")
    # Choosing another part does not move the page.
    before = tab.evaluate(top)
    tab.click(".segments button:has-text('Full benchmark')")
    assert tab.evaluate(top) == before
