"""Test the tables in a browser: places, order, brackets, scales, keys, edges, print and files."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from board.opened_board import Open, column, go, ranks, settle
from board.synthetic_board import synthetic_board, write_site
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

# All systems, with partial results.
ALL = "#/?partial=1"
SCROLL = "document.querySelector('.content .scroll')"
PLACE = f"[scrollY, {SCROLL}.scrollTop, {SCROLL}.scrollLeft]"


def scrolled(tab: Any, page: int, top: int, left: int) -> list[int]:
    """Scroll the page and its table, and return where they are."""
    tab.evaluate(f"scrollTo(0, {page}); {SCROLL}.scrollTo({{top: {top}, left: {left}}})")
    place: list[int] = tab.evaluate(PLACE)
    assert place == [page, top, left]
    return place


def saved(tab: Any, name: str) -> tuple[str, Any]:
    with tab.expect_download() as download:
        tab.click(f".files button:text-is('{name}')")
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_changes_of_state_keep_all_scroll_positions(open_page: Open) -> None:
    tab = open_page(ALL)
    place = scrolled(tab, 120, 300, 450)
    tab.locator("[data-id=s9]").evaluate("box => box.click()")
    assert "tick=s9" in tab.evaluate("location.hash") and tab.evaluate(PLACE) == place
    tab.locator("button.sort:has-text('Tatoeba')").evaluate("button => button.click()")
    assert "sort=tatoeba" in tab.evaluate("location.hash") and tab.evaluate(PLACE) == place
    head, frame = tab.locator("th.sorted").bounding_box(), tab.locator(".content .scroll").bounding_box()
    assert frame["x"] < head["x"] and head["x"] + head["width"] <= frame["x"] + frame["width"]
    tab.locator("[data-column=xcopa]").evaluate("box => box.click()")
    assert "hide=xcopa" in tab.evaluate("location.hash") and tab.evaluate(PLACE) == place
    tab.select_option("label:has-text('Ranking') select", "flat")
    assert tab.evaluate(PLACE) == place
    settle(tab)
    assert tab.evaluate(PLACE) == place


def test_back_returns_to_the_place_and_the_focus(open_page: Open) -> None:
    tab = open_page("#/?partial=1&tick=s3")
    first = scrolled(tab, 90, 400, 120)
    tab.locator("tr[data-key=s4] th a").evaluate("link => { link.focus({preventScroll: true}); link.click(); }")
    wait_until(tab, "() => document.querySelector('h1').textContent.includes('System 4')")
    assert tab.evaluate("scrollY") == 0
    tab.evaluate("scrollTo(0, 333)")
    tab.go_back()
    wait_until(tab, "() => document.querySelector('.content .scroll')")
    assert tab.evaluate(PLACE) == first
    assert tab.evaluate("document.activeElement.closest('tr').dataset.key") == "s4"
    assert tab.locator("tr.ticked").get_attribute("data-key") == "s3"
    tab.go_forward()
    wait_until(tab, "() => scrollY === 333")
    assert "System 4" in tab.locator("h1").inner_text()
    # The entries of one page have places of their own, too.
    tab.go_back()
    go(tab, "#/?partial=1&tick=s3&sort=xnli")
    scrolled(tab, 10, 0, 300)
    tab.go_back()
    assert tab.evaluate(PLACE) == first


def test_a_reload_returns_to_the_place(open_page: Open) -> None:
    tab = open_page(ALL)
    place = scrolled(tab, 100, 222, 111)
    tab.reload()
    tab.wait_for_selector("html[data-ready]")
    assert tab.evaluate(PLACE) == place


def test_another_page_of_rows_starts_at_its_top(open_page: Open, tmp_path: Path) -> None:
    index = write_site(synthetic_board(120), tmp_path / "site", detailed=0)
    tab = open_page(ALL, index=index)
    place = scrolled(tab, 100, 600, 140)
    tab.locator(".pager button >> nth=1").click()
    assert column(tab, "System")[0] and tab.evaluate(f"[{SCROLL}.scrollTop, {SCROLL}.scrollLeft]") == [0, 140]
    tab.go_back()
    assert tab.evaluate(PLACE)[1:] == place[1:]


def test_rows_are_in_the_order_of_their_ranks(open_page: Open, tmp_path: Path) -> None:
    """Also for scores that are the same to two decimals, and partial scores between complete ones."""
    tab = open_page(ALL)
    keys = tab.locator("tbody:not(.before) tr:not(.unranked)").evaluate_all("rows => rows.map(row => row.dataset.key)")
    order = [int(key[1:]) for key in keys]
    order[9:13] = reversed(order[9:13])
    rank = [None] * 48
    for place, at in enumerate(order, 1):
        rank[at] = place
    board = synthetic_board(48)
    board["ranks"]["category"] = {
        "title": "", "rank": rank, "low": [None] * 48, "high": [None] * 48, "groups": [], "test": ""
    }  # fmt: skip
    tab = open_page(ALL, index=write_site(board, tmp_path / "site", detailed=0))
    assert ranks(tab) == [str(place) for place in range(1, 37)] + ["–"] * 12
    assert tab.locator("tbody:not(.before) tr").nth(9).get_attribute("data-key") == f"s{order[9]}"
    tab.click("button.sort:has-text('Overall')")
    assert ranks(tab) == [str(place) for place in range(36, 0, -1)] + ["–"] * 12
    for task in ("xnli", "mlqa", "tatoeba"):
        go(tab, f"#/?partial=1&sort={task}")
        found = ranks(tab)
        ranked = [int(each) for each in found if each != "–"]
        assert ranked == sorted(ranked) and len(ranked) > 30
        assert found[len(ranked) :] == ["–"] * (48 - len(ranked))
    go(tab, "#/?partial=1&regime=zero-shot")
    ranked = [each for each in ranks(tab) if each != "–"]
    assert ranked == [str(place) for place in range(1, len(ranked) + 1)] and len(ranked) > 5


BRACKETS = """() => [...document.querySelectorAll("tbody:not(.before) tr")].map((row) => [
  row.dataset.key, [...row.querySelectorAll(".lanes i")].map((lane) => lane.className.replace("lane ", "")),
  row.querySelector(".rank .sr")?.textContent ?? "", row.querySelector(".rank b")?.textContent ?? ""])"""


def test_brackets_join_systems_that_are_not_significantly_different(open_page: Open) -> None:
    tab = open_page(ALL)
    rows = tab.evaluate(BRACKETS)
    records = [row for row in json.loads(saved(tab, "JSON")[1])["rows"][1:] if row["rank"]]
    letters = {key: record["rank_letters"] for (key, *_), record in zip(rows, records, strict=False)}
    wanted = [
        {key for key, own in letters.items() if letter in own} for letter in sorted(set("".join(letters.values())))
    ]
    wanted = [group for group in wanted if len(group) > 1]
    places = {key: at for at, (key, *_) in enumerate(rows)}
    spans = []
    for lane in range(max(len(lanes) for _, lanes, *_ in rows)):
        start, members = None, set()
        for key, lanes, *_ in rows:
            kind = lanes[lane] if lane < len(lanes) else ""
            if kind == "start":
                assert start is None
                start, members = key, {key}
            elif kind in ("member", "end"):
                members.add(key)
            if kind == "end":
                spans.append(members)
                start = None
        assert start is None
    assert len(spans) > 3 and all(span in wanted for span in spans)
    assert len(spans) == len(wanted) or tab.locator("td.rank .of").count() > 0
    _, lanes, read, rank = rows[places[min(wanted[0], key=places.__getitem__)]]
    assert "start" in lanes and re.fullmatch("[0-9]+–[0-9]+", rank)
    assert re.match(r" [0-9]+, ranks [0-9]+ to [0-9]+ possible; not significantly different from ", read)
    assert tab.locator("td.rank sup").count() == 0
    # Filtered systems have their own test; in another order brackets would mean nothing.
    go(tab, "#/?partial=1&regime=zero-shot")
    assert tab.locator(".lane.start").count() == tab.locator(".lane.end").count() > 0
    go(tab, "#/?partial=1&sort=name")
    assert tab.locator(".lane").count() == 0 and tab.locator(".signs .bracket").count() == 0


def test_brackets_go_on_between_pages(open_page: Open, tmp_path: Path) -> None:
    index = write_site(synthetic_board(96), tmp_path / "site", detailed=0)
    tab = open_page(ALL, index=index)
    settle(tab)
    opened = tab.locator(".lane.start").count() - tab.locator(".lane.end").count()
    last = tab.locator("tbody:not(.before) tr").last.locator(".lane:not(.end)").count()
    assert opened == last > 0
    go(tab, "#/?partial=1&page=2")
    assert tab.locator(".lane.end").count() - tab.locator(".lane.start").count() == last


SHADES = """id => Object.fromEntries([...document.querySelectorAll("tbody:not(.before) tr")].map((row) =>
  [row.dataset.key, row.children[[...row.parentNode.parentNode.tHead.rows].at(-1).querySelector(`[data-key=sort-${id}]`)
    .closest("th").cellIndex].style.getPropertyValue("--strength")]))"""


def test_shades_do_not_depend_on_what_is_shown(open_page: Open) -> None:
    tab = open_page(ALL)
    everything = tab.evaluate(SHADES, "xnli")
    axis = tab.locator("th.overall .axis span").all_inner_texts()
    assert len(axis) > 1 and len({each for each in everything.values() if each}) > 5
    for change in ("kind=llm", "sort=mlqa&dir=asc", "regime=zero-shot&hide=xcopa", "q=System"):
        go(tab, f"#/?partial=1&{change}")
        shades = tab.evaluate(SHADES, "xnli")
        assert shades and all(everything[key] == shade for key, shade in shades.items()), change
        assert tab.locator("th.overall .axis span").all_inner_texts() == axis
    # A language's page has the tables of its tasks on the same scale: equal scores, equal shades.
    go(tab, "#/task/xnli")
    cells = tab.locator("td.score").evaluate_all(
        "cells => cells.map(cell => [cell.textContent, cell.style.getPropertyValue('--strength')])"
    )
    by_text = {}
    for text, shade in cells:
        by_text.setdefault(text, set()).add(shade)
    # Scores are rounded for the text, but not for the shade.
    assert all(len(shades) <= 2 for text, shades in by_text.items() if text != "no score")


def test_untested_cells_are_hatched_and_the_legend_names_the_signs(open_page: Open) -> None:
    tab = open_page(ALL)
    hatched = tab.locator("td.untested")
    assert hatched.count() > 2
    assert set(hatched.all_inner_texts()) == {"no score"}
    assert "repeating-linear-gradient" in hatched.first.evaluate("cell => getComputedStyle(cell).backgroundImage")
    legend = tab.locator(".signs").inner_text()
    for words in (
        "one scale per column",
        "not tested",
        "95 % interval",
        "not significantly different",
        "partial average",
    ):
        assert words in legend
    go(tab, "#/?all=1")
    assert "not tested" not in tab.locator(".signs").inner_text()
    go(tab, "#/language/sw")
    assert tab.locator(".signs").count() == 1


def test_tables_and_downloads_are_single_tab_stops(open_page: Open) -> None:
    tab = open_page(ALL)
    tab.locator("#page").focus()
    stops = []
    for _ in range(30):
        tab.keyboard.press("Tab")
        stops.append(
            tab.evaluate("document.activeElement.closest('.files, thead, tbody.before, tbody')?.className ?? 'other'")
        )
        if tab.evaluate("Boolean(document.activeElement.closest('tbody:not(.before)'))"):
            break
    assert stops.count("files") == 1
    assert stops[-3:] == ["", "before", ""]  # the head, the human scores, the rows
    assert tab.locator(".segments button[tabindex='0']").count() == 1
    # Out of the table in one step, whatever its size.
    tab.keyboard.press("Tab")
    assert not tab.evaluate("Boolean(document.activeElement.closest('table'))")
    tab.locator(".files [tabindex='0']").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.textContent") == "LaTeX"
    assert tab.locator(".files [tabindex='0']").count() == 1


def test_the_first_row_is_a_few_tab_stops_from_the_top(open_page: Open) -> None:
    tab = open_page(ALL)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to table"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.closest('tr').rowIndex") == 3  # two rows of heads, the human scores
    assert tab.evaluate("location.hash") == ALL
    box = tab.locator(":focus").bounding_box()
    assert box["y"] >= 0 and box["y"] < 900
    go(tab, "#/about")
    assert tab.locator("#skip-table").is_hidden()


def test_keys_move_in_the_head_and_the_rows(open_page: Open) -> None:
    tab = open_page(ALL)
    focused = "(document.activeElement.closest('[data-key]') ?? document.activeElement).dataset.key"
    tab.locator("thead [tabindex='0']").focus()
    tab.keyboard.press("End")
    last = tab.evaluate(focused)
    tab.keyboard.press("Home")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate(focused) == "sort-overall" and last == "sort-coverage"
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    assert "sort=xnli" in tab.evaluate("location.hash") and tab.evaluate(focused) == "sort-xnli"
    assert tab.locator("thead [tabindex='0']").count() == 1
    stop = tab.locator("tbody:not(.before) [tabindex='0']")
    assert stop.count() == 1
    stop.focus()
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Home")
    second = tab.evaluate("document.activeElement.dataset.id")
    tab.keyboard.press("Space")
    assert f"tick={second}" in tab.evaluate("location.hash")
    assert tab.evaluate("document.activeElement.dataset.id") == second
    assert tab.locator("tbody:not(.before) [tabindex='0']").count() == 1
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
    assert tab.evaluate("document.activeElement.tagName") == "A"
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == f"#/system/{second}"
    tab.go_back()
    assert tab.evaluate("document.activeElement.getAttribute('href')") == f"#/system/{second}"


def test_edges_fade_where_columns_go_on(open_page: Open) -> None:
    tab = open_page(ALL)
    marked = f"{SCROLL}.dataset.more"
    fade = f"getComputedStyle({SCROLL}).maskImage.split('linear-gradient').map(part => part.includes('0.15'))"
    wait_until(tab, f"() => {marked} === 'end below'")
    assert tab.evaluate(fade) == [False, True, True]
    tab.evaluate(f"{SCROLL}.scrollLeft = 100")
    wait_until(tab, f"() => {marked} === 'start end below'")
    tab.evaluate(f"{SCROLL}.scrollLeft = 99999")
    wait_until(tab, f"() => {marked} === 'start below'")
    assert tab.evaluate(fade) == [False, False, True]
    tab.evaluate(f"{SCROLL}.scrollTop = 99999")
    wait_until(tab, f"() => {marked} === 'start'")
    assert tab.evaluate(fade) == [False, False, False]
    left = tab.locator("tr[data-key=s1] > .system").bounding_box()["x"]
    assert 0 < left < 200
    go(tab, "#/?partial=1&task=xnli&hide=parameters&hide=year&hide=coverage&hide=cost&hide=tokens&hide=unparsed")
    wait_until(tab, f"() => !{marked}")


def test_rank_system_and_sorted_score_are_in_sight_on_a_phone(open_page: Open) -> None:
    tab = open_page("#/?partial=1&sort=tatoeba", width=390)
    for left in (0, 300, 99999):
        tab.evaluate(f"{SCROLL}.scrollLeft = {left}")
        for name in ("td.rank", "th.system", "td.sorted"):
            box = tab.locator(f"tbody:not(.before) tr:first-child > {name}").bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= 390, (left, name)
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    boxes = [
        tab.locator(f"tbody:not(.before) tr:first-child > {name}").bounding_box() for name in ("td.rank", "th.system")
    ]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1


@pytest.mark.parametrize("hash_", ["#/", "#/task/xnli", "#/task/wikiann"])
def test_print_has_all_columns(open_page: Open, hash_: str) -> None:
    # 277 mm: A4 across, without margins.
    tab = open_page(hash_, width=1047)
    shown = tab.locator("table.data thead tr").last.locator("th:visible").count()
    tab.emulate_media(media="print")
    heads = tab.locator("table.data thead tr").last.locator("th")
    assert heads.count() - tab.locator("thead .tick").count() <= shown
    edge = tab.evaluate(
        "Math.max(...[...document.querySelectorAll('table.data th')].map(th => th.getBoundingClientRect().right))"
    )
    assert edge <= 1047
    # Heads of groups stand over their columns, without the one of boxes.
    lefts = tab.evaluate(
        """() => {
          const [groups, heads] = [...document.querySelectorAll("table.data thead tr")].slice(-2);
          const of = (row, name) => [...row.children].find((cell) => cell.textContent.startsWith(name));
          return groups === heads || !heads ? [] : ["Classification", "Avg"].map((name, at) =>
            of(at ? heads : groups, name)?.getBoundingClientRect().left);
        }"""
    )
    assert len(set(lefts)) <= 1
    assert tab.evaluate("getComputedStyle(document.querySelector('.table .scroll')).maxHeight") == "none"


def test_files_carry_what_is_on_screen(open_page: Open) -> None:
    tab = open_page(ALL)
    lacked = tab.locator("td.untested").first.evaluate(
        "cell => [...cell.closest('table').tHead.rows].at(-1).cells[cell.cellIndex].querySelector('button').dataset.key"
    )
    go(tab, f"#/?partial=1&task={lacked.removeprefix('sort-')}")
    settle(tab)
    shown = tab.locator("tbody:not(.before) td.score.task:not(.untested)")
    rows = list(csv.DictReader(io.StringIO(saved(tab, "CSV")[1].decode())))
    rows = [row for row in rows if row["System"] != "Human"]
    # Systems that were not tested on the task have no row.
    assert len(rows) == shown.count() < tab.locator("tbody:not(.before) tr").count()
    go(tab, f"{ALL}&also=parameters")
    rows = list(csv.DictReader(io.StringIO(saved(tab, "CSV")[1].decode())))
    first = rows[1]
    low, high = float(first["Overall, 95 % from"]), float(first["Overall, 95 % to"])
    assert low <= float(first["Overall"]) <= high and low < high
    assert rows[2]["Best rank"] == "2" and rows[2]["Worst rank"] == "6" and rows[2]["Letters"] == "b"
    assert first["Notes"] == "" and any(row["Notes"].startswith("reported: ") for row in rows)
    sizes = [float(row["Parameters (millions)"]) for row in rows if row["Parameters (millions)"]]
    systems = [system["parameters"] for system in synthetic_board(48)["systems"] if system["parameters"]]
    assert sorted(sizes) == pytest.approx(sorted(size / 1e6 for size in systems))
    record = json.loads(saved(tab, "JSON")[1])
    titles = {each["id"]: each["title"] for each in record["columns"]}
    assert titles["parameters"] == "Parameters (millions)" and titles["overall_low"] == "Overall, 95 % from"
    assert record["rows"][1]["overall_high"] == high and record["rows"][2]["rank_high"] == 6
    latex = saved(tab, "LaTeX")[1].decode()
    assert "\n2--6$^{\\mathrm{b}}$ & System 2 (in-language) & " in latex
    line = next(line for line in latex.splitlines() if " & System 0 (zero-shot) & " in line)
    assert line.startswith("1$^{\\mathrm{a}}$ & ")
    assert f" & \\textbf{{{first['Overall']}}} {{\\scriptsize {low}--{high}}} & " in line
    assert not re.search("[0-9]{7}", latex.split("\\midrule")[1])
    assert latex.count("\\\\\n") == 1 + len(rows) and not re.search(r"\d\.\d{5}", latex)
    assert f"% {record['test']}" in latex


def test_maps_export_their_figures(open_page: Open) -> None:
    tab = open_page("#/languages?view=list&task=xnli")
    wanted = list(csv.DictReader(io.StringIO(saved(tab, "CSV")[1].decode())))
    assert wanted[0]["Language"] and wanted[0]["% of English"]
    for view in ("map", "tree"):
        go(tab, f"#/languages?view={view}&task=xnli")
        name, text = saved(tab, "CSV")
        assert name == "languages.csv" and list(csv.DictReader(io.StringIO(text.decode()))) == wanted
    go(tab, "#/languages?view=heat&task=xnli")
    rows = list(csv.DictReader(io.StringIO(saved(tab, "CSV")[1].decode())))
    heads = tab.locator("table.heat thead tr").last.locator("th").all_inner_texts()
    assert list(rows[0]) == ["System", "Regime", *heads]
    shown = tab.locator("table.heat tbody tr").first.locator("td").all_inner_texts()
    assert [f"{float(rows[0][head]) + 1e-9:.0f}" for head in heads] == shown
    assert json.loads(saved(tab, "JSON")[1])["figures"].startswith("XNLI")


def test_plots_export_their_data(open_page: Open) -> None:
    tab = open_page("#/progress?view=size")
    tab.wait_for_selector(".plot svg .mark")
    name, text = saved(tab, "CSV")
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert name == "size-and-cost.csv" and len(rows) > 10
    sizes = {str(system["name"]): system["parameters"] for system in synthetic_board(48)["systems"]}
    known = [row for row in rows if row["System"].startswith("System ")]
    assert known
    for row in known:
        assert float(row["Parameters (millions)"]) == pytest.approx(sizes[row["System"]] / 1e6, rel=1e-4)
