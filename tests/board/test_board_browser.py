"""Test the leaderboard in a browser: order, ranks, filters, URLs, columns, exports, keyboard and speed."""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from board.made_systems import record as made_record
from board.opened_board import Open, column, go, ranks, settle
from board.synthetic_board import synthetic_board, write_site
from isogloss.board.site import build_board
from isogloss.scoring import tested_on as words
from report.browser import BROWSER

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]


def test_order(open_page: Open) -> None:
    tab = open_page("#/?partial=1")
    # The first finding names the leader.
    assert tab.locator(".headline").inner_text() == "36 systems cover the full benchmark; 12 have partial results."
    overall = [float(text.split()[0]) for text in column(tab, "Overall") if not text.startswith("–")]
    assert len(overall) == 36 and overall == sorted(overall, reverse=True)
    assert column(tab, "Overall")[36:] == ["–"] * 12
    assert column(tab, "Rank")[0] == "1"
    before = ranks(tab)
    assert before[36:] == ["–"] * 12
    head = tab.locator("th:has(button:text('XNLI'))")
    tab.click("button.sort:has-text('XNLI')")
    assert head.get_attribute("aria-sort") == "descending"
    assert tab.evaluate("location.hash") == "#/?partial=1&sort=xnli"
    assert "by XNLI" in tab.locator("th.rank").inner_text()
    # Strip the marks of partial averages and footnotes.
    scores = [float(re.sub("[°†]", "", text)) for text in column(tab, "XNLI") if text != "no score"]
    assert scores == sorted(scores, reverse=True)
    tab.click("button.sort:has-text('XNLI')")
    assert head.get_attribute("aria-sort") == "ascending"
    tab.go_back()
    tab.go_back()
    assert tab.evaluate("location.hash") == "#/?partial=1"
    assert ranks(tab) == before


def test_own_systems_precede_published_ones(open_page: Open, tmp_path: Path) -> None:
    records = [made_record(name, score, regime="zero-shot") for name, score in (("mine", 20.0), ("mine too", 40.0))]
    partial = made_record("mine in part", 30.0, regime="zero-shot", without=("xcopa",))
    build_board([*records, partial, "published"], tmp_path / "site")
    tab = open_page("#/?segment=full", index=tmp_path / "site/index.html")
    systems = [text.split("\n")[0] for text in column(tab, "System")]
    assert systems[:3] == ["mine too", "mine", "XLM-R Large"]
    assert tab.locator("tr.own").count() == 2
    assert tab.locator("tbody.section span").all_inner_texts() == ["Scored here", "Published"]
    assert ranks(tab)[2] == "1"  # sections do not change the ranks
    tab.click("button.sort:has-text('XNLI')")
    assert column(tab, "System")[0].split("\n")[0] not in ("mine", "mine too")
    # The third one lacks a task: the page says where it is ranked.
    notice = tab.locator(".own-elsewhere")
    assert "1 system scored here lacks scores for this ranking: mine in part (zero-shot)." in notice.inner_text()
    notice.locator("a:has-text('Ranking in structured prediction')").click()
    assert "mine in part" in " ".join(column(tab, "System"))
    assert notice.count() == 0


def test_rank_sets_of_filtered_systems(open_page: Open) -> None:
    tab = open_page("#/?language=de&language=sw&language=zh&language=ar&language=ja&regime=zero-shot")
    tab.locator("td.rank", has_text="–").first.hover()
    assert "are possible in similar languages (95 %)" in tab.locator("#tip").inner_text()
    sets = zip(ranks(tab), tab.locator("td.rank b").all_inner_texts(), strict=True)
    is_open = [(int(rank), *map(int, text.split("–"))) for rank, text in sets if "–" in text]
    assert len(is_open) > 5
    assert all(1 <= low <= rank <= high <= 12 for rank, low, high in is_open)


def test_few_languages_are_not_tested(open_page: Open) -> None:
    tab = open_page("#/?language=de&language=sw&language=zh&language=ar")
    assert "; the order is not tested. " in tab.locator(".headline").inner_text()
    assert tab.locator(".lane, td.rank .sr").count() == 0
    assert "The order is not tested: this needs at least 5 languages" in tab.locator(".notes").inner_text()
    tab.locator("td.rank").nth(1).hover()
    assert "The order is not tested" in tab.locator("#tip").inner_text()


def test_partial_systems_are_unranked_and_list_their_missing_cells(open_page: Open) -> None:
    tab = open_page()
    assert tab.locator("output.count").inner_text() == "36 of 48 systems"
    tab.click("text=Show them as rows")
    assert tab.locator("output.count").inner_text() == "48 systems"
    row = tab.locator("tr.unranked", has_text="System 3").first
    row.locator("td.rank").hover()
    tip = tab.locator("#tip").inner_text()
    assert tip.startswith("Not ranked") and "missing: MLQA in English, Spanish, Chinese" in tip
    tab.click("text=Hide partial results")
    assert tab.locator("output.count").inner_text() == "36 of 48 systems"
    assert tab.locator("tr.unranked").count() == 0
    # Without the missing task the system is complete; addresses from before still work.
    for old in ("", "&complete=1"):
        go(tab, f"#/?task=xnli&task=xquad{old}")
        assert tab.locator("output.count").inner_text() != "36 of 48 systems"
        assert "System 3" in column(tab, "System")[3]


def test_filters_and_the_url(open_page: Open, board_site: Path) -> None:
    tab = open_page("#/?partial=1")
    tab.click("summary:has-text('More filters')")
    tab.click(".filters .many:has-text('Kind') > summary")
    tab.check(".many[open] label:has-text('llm') input")
    assert tab.locator("output.count").inner_text() == "9 of 48 systems"
    tab.keyboard.press("Escape")
    tab.click(".many:has-text('Language') > summary")
    tab.fill(".many[open] input[type=search]", "swah")
    tab.check(".many[open] label:visible input")
    assert tab.locator("th:has(button:text('XNLI'))").inner_text().replace("↕", " ").split() == ["XNLI", "1/15"]
    assert tab.locator("button.sort:has-text('UD-POS')").count() == 0
    assert tab.evaluate("location.hash") == "#/?partial=1&kind=llm&language=sw"
    assert ranks(tab)[0] == "1"
    tab.fill("input[type=search] >> nth=0", "System")
    assert "q=System" in tab.evaluate("location.hash")
    names = column(tab, "System")
    again = open_page(tab.evaluate("location.hash"), index=board_site)
    assert column(again, "System") == names
    assert again.locator("input[type=search] >> nth=0").input_value() == "System"
    tab.click(".chip:has-text('Language')")
    assert "language" not in tab.evaluate("location.hash")
    tab.go_back()
    assert "language=sw" in tab.evaluate("location.hash")
    assert column(tab, "System") == names
    tab.go_forward()
    assert "language" not in tab.evaluate("location.hash")
    tab.click("text=clear all")
    assert tab.locator("output.count").inner_text() == "48 systems"


FILTERS: dict[str, Callable[[Any], bool]] = {
    "year=2019": lambda s: s["year"] == 2019,
    "regime=few-shot": lambda s: s["regime"] == "few-shot",
    "open=yes": lambda s: s["open_weights"] is True,
    "open=not+disclosed": lambda s: s["open_weights"] is None,
    "parallel=no": lambda s: s["parallel_data"] == "",
    "parallel=yes&parallel=not+disclosed": lambda s: s["parallel_data"] != "",
    "translated=yes": lambda s: s["translated_data"] != "",
    "contamination=flagged": lambda s: s["contamination"] != "",
    "origin=reported": lambda s: s["reported"],
    "pmin=1000": lambda s: (s["parameters"] or 0) >= 1e9,
    "pmax=1000": lambda s: s["parameters"] is not None and s["parameters"] <= 1e9,
    "": lambda s: True,
}


def test_systems_kept_by_each_filter(open_page: Open) -> None:
    systems, tab = synthetic_board(48)["systems"], open_page()
    for query, kept in FILTERS.items():
        expected = sum(map(kept, systems))
        assert 0 < expected <= 48, query
        go(tab, f"#/?partial=1&{query}")
        shown = "48 systems" if expected == 48 else f"{expected} of 48 systems"
        assert tab.locator("output.count").inner_text() == shown, query


def test_columns_weights_and_rankings(open_page: Open) -> None:
    tab = open_page()
    tab.click("summary:has-text('Columns')")
    tab.uncheck("[data-column=xcopa]")
    tab.check("[data-column=licence]")
    assert tab.locator("button.sort:has-text('XCOPA')").count() == 0
    assert "Apache-2.0" in column(tab, "Licence")
    assert tab.evaluate("location.hash") == "#/?hide=xcopa&also=licence"
    tab.keyboard.press("Escape")
    first = column(tab, "Overall")[0].split()[0]
    tab.select_option("label:has-text('Ranking') select", "weights")
    slider = tab.locator(".slider:has-text('XNLI') input")
    slider.focus()
    for _ in range(2):
        slider.press("ArrowRight")
    assert "w=xnli%3A2" in tab.evaluate("location.hash")
    weighted = column(tab, "Overall")[0].split()[0]
    assert weighted != first
    for ranking in ("flat", "family", "speakers", "worst", "gini"):
        tab.select_option("label:has-text('Ranking') select", ranking)
        assert column(tab, "Rank")[0].startswith("1")
        assert len(tab.locator(".explains").inner_text()) > 30


def test_exports_contain_the_visible_table_and_no_formulas(open_page: Open) -> None:
    tab = open_page("#/?hide=xcopa&partial=1")
    with tab.expect_download() as download:
        tab.click("text=CSV")
    human, *rows = csv.DictReader(io.StringIO(download.value.path().read_text(encoding="utf-8")))
    assert (human["System"], human["Regime"], human["Rank by Overall"]) == ("Human", "human performance", "")
    assert human["XNLI"] == "92.8"
    assert len(rows) == 48
    assert "XCOPA" not in rows[0]
    assert rows[0]["Overall"] == column(tab, "Overall")[0].split()[0]
    assert not any(value.lstrip().startswith(("=", "+", "@", "-")) for row in rows for value in row.values())
    assert any(row["System"].startswith("'=cmd") for row in rows)
    tested = "Best rank", "Worst rank", "Letters", "Tested"
    assert [rows[0][name] for name in tested] == ["1", "1", "a", words.tested_on("languages")]
    assert [rows[-1][name] for name in tested] == ["", "", "", ""]
    partial = [row["Partial averages"] for row in rows if row["Partial averages"]]
    assert len(partial) == tab.locator("td.partial").count() > 0
    with tab.expect_download() as download:
        tab.click("text=JSON")
    record = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert record["suite"] == "xtreme-r" and "hide=xcopa" in record["page"]
    assert record["test"].startswith(f"Ranks hold {words.tested_on('languages')}; ")
    assert [row["name"] for row in record["rows"]][:2] == ["Human", rows[0]["System"]]
    with tab.expect_download() as download:
        tab.click("text=LaTeX")
    text = download.value.path().read_text(encoding="utf-8")
    assert text.count("\\\\\n") == 50 and "$^{\\circ}$ &" in text
    assert "\\textbackslash{}write18\\{id\\}" in text and "\\write18" not in text


def test_intervals_and_provenance_by_keyboard(open_page: Open) -> None:
    tab = open_page()
    stop = tab.locator("table.data tbody:not(.before) [tabindex='0']")
    assert stop.count() == 1
    stop.focus()
    text = tab.locator("#tip").inner_text()
    assert text.startswith("Rank 1 of 36 by Overall")
    assert "rank 1 in similar languages (95 %)" in text
    assert "significantly different from all others" in text
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
    assert "95 % interval" in tab.locator("#tip").inner_text()
    for _ in range(2):
        tab.keyboard.press("ArrowRight")
    text = tab.locator("#tip").inner_text()
    assert "XNLI" in text and "scorer Isogloss 1.0" in text and "15 checksums" in text
    assert tab.locator("[aria-describedby=tip]").count() == 1
    tab.keyboard.press("ArrowDown")
    text = tab.locator("#tip").inner_text()
    assert " · XNLI: " in text and not text.startswith("System 0 ")
    tab.keyboard.press("Escape")
    assert tab.locator("#tip").is_hidden()
    tab.locator("button.sort:has-text('XNLI')").focus()
    tab.keyboard.press("Enter")
    assert "sort=xnli" in tab.evaluate("location.hash")
    tab.locator(".skip").first.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.id") == "page"


STATE = """() => [document.querySelector("main").innerText,
  [...document.querySelectorAll("main input, main select")]
    .map((each) => (each.type === "checkbox" ? each.checked : each.value))]"""
CHANGE = """([seed, kind]) => {
  const controls = [...document.querySelectorAll({
    box: ".controls input[type=checkbox], .line input[type=checkbox], .tick input",
    list: ".controls select", number: "input[type=number]", sort: "button.sort", slider: ".sliders input",
    text: ".controls > label input[type=search]",
  }[kind])];
  const one = controls[seed % controls.length];
  if (kind === "sort") one.click();
  else if (kind === "box") one.click();
  else {
    one.value = { list: () => one.options[seed % one.options.length].value, number: () => String(50 + seed % 500),
      slider: () => String((seed % 10) / 2), text: () => ["System", "a", "System 1"][seed % 3] }[kind]();
    one.dispatchEvent(new Event(kind === "list" ? "change" : "input"));
  }
}"""


@pytest.mark.parametrize("seed", range(4))
def test_the_url_holds_the_whole_state(open_page: Open, seed: int) -> None:
    """The URL reproduces the page after any sequence of changes."""
    draw = Random(seed)
    tab = open_page()
    kinds = ["box", "box", "box", "list", "number", "sort", "text", "slider"]
    for kind in draw.choices(kinds, k=14):
        if kind == "slider":
            tab.select_option("label:has-text('Ranking') select", "weights")
        if tab.locator("button.sort").count() or kind != "sort":
            tab.evaluate(CHANGE, [draw.randrange(10_000), kind])
    settle(tab)
    again = open_page(tab.evaluate("location.hash"))
    settle(again)
    # Scroll positions and open lists are not part of the state.
    assert again.evaluate(STATE) == tab.evaluate(STATE)
    assert again.evaluate("location.hash") == tab.evaluate("location.hash")


def test_focus_is_kept(open_page: Open) -> None:
    tab = open_page()
    name = "document.activeElement.dataset.key ?? document.activeElement.textContent"
    tab.locator("button.sort:has-text('XNLI')").press("Enter")
    assert tab.evaluate(name) == "sort-xnli"
    tab.locator("[data-id=s1]").press("Space")
    assert tab.evaluate(name) == "select-s1" and tab.evaluate("document.activeElement.checked")
    tab.click("summary:has-text('Columns')")
    tab.locator("[data-column=licence]").press("Space")
    assert tab.evaluate("document.activeElement.dataset.column") == "licence"
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_screen_reader_announcements(open_page: Open) -> None:
    tab = open_page()
    tab.evaluate("window.count = document.querySelector('output.count')")
    tab.fill("input[type=search] >> nth=0", "zero-shot")
    # Screen readers announce a changed number only in the same element.
    assert tab.evaluate("window.count.isConnected && window.count.textContent") == "12 of 48 systems"
    assert tab.locator("fieldset > legend").all_text_contents()[0] == "Systems, ranking and cells"
    assert tab.locator("th[aria-sort] button").all_inner_texts() == ["Overall↓"]
    assert tab.locator(".many fieldset legend:text-is('Language')").count() == 1


def test_headline_names_the_ranking_and_its_direction(open_page: Open) -> None:
    tab = open_page("#/?ranking=gini")
    assert "has the best score by “Inequality (Gini)”, " in tab.locator(".headline").inner_text()
    verdict = r"; lower is better; [0-9]+ others are statistically tied for first in similar languages\. "
    assert re.search(verdict, tab.locator(".headline").inner_text())
    assert "Inequality (Gini)" in tab.locator("th.overall").inner_text()
    tab = open_page("#/?task=xnli&language=sw&language=de")
    assert "Averaged over 1 of 10 tasks and 2 of 50 languages." in tab.locator(".explains").inner_text()


def test_cost_and_unparsed_predictions(open_page: Open) -> None:
    tab = open_page("#/?kind=llm")
    assert column(tab, "Unparsed")[0] == "1.3 %"
    assert column(tab, "Cost")[0].startswith("$") and column(tab, "Tokens")[0].endswith("M")
    tab.locator("tbody:not(.before) td.overall").first.hover()
    assert "1.3 % of predictions missing or unparseable" in tab.locator("#tip").inner_text()


def test_patching_keeps_nodes_scroll_positions_and_open_details(open_page: Open) -> None:
    tab = open_page("#/?all=1")
    tab.click("summary:has-text('More filters')")
    tab.evaluate("""() => {
      window.row = document.querySelector("tr[data-key=s1]");
      document.querySelector(".content .scroll").scrollTop = 120;
    }""")
    tab.locator("[data-id=s1]").press("Space")
    assert tab.evaluate("window.row.isConnected && window.row.classList.contains('ticked')")
    assert tab.evaluate("document.querySelector('.content .scroll').scrollTop") == 120
    assert tab.evaluate("document.querySelector('details.filters').open")
    # Listeners are those of the latest render: each change builds on the one before.
    tab.locator("[data-id=s2]").press("Space")
    assert tab.evaluate("location.hash") == "#/?all=1&tick=s1&tick=s2"
    tab.click("button.sort:has-text('XNLI')")
    assert tab.evaluate("window.row.isConnected && window.row.dataset.key") == "s1"


def test_a_thousand_systems(open_page: Open, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = write_site(synthetic_board(1000), tmp_path / "site", detailed=0)
    size = sum(path.stat().st_size for path in index.parent.rglob("*") if path.is_file())
    tab = open_page(index=index)
    painted = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
    ready = tab.evaluate("performance.now()")
    timed = """hashes => hashes.map((hash) => {
      const before = performance.now();
      history.pushState(null, "", hash);
      dispatchEvent(new PopStateEvent("popstate"));
      document.body.offsetHeight;
      return [hash, Math.round(performance.now() - before)]; })"""
    hashes = [
        f"#/?{query}"
        for query in (
            "kind=llm",
            "language=sw",
            "sort=xnli",
            "ranking=worst",
            "ranking=family",
            "partial=1",
            "segment=qa",
            "coverage=1",
            "page=5",
            "",
            "all=1",
        )
    ]
    times = tab.evaluate(timed, hashes)
    with capsys.disabled():
        print(f"\n{size / 1e6:.2f} MB; first paint {painted:.0f} ms; ready {ready:.0f} ms; filters: {dict(times)} ms")  # noqa: T201
    assert size < 1_500_000
    assert tab.locator("table.data tbody:not(.before) tr").count() == 50
    assert "1–50 of 750" in tab.locator(".pager").inner_text()


def test_headline_of_a_selection(open_page: Open) -> None:
    tab = open_page("#/")
    assert tab.locator(".lead").inner_text().startswith("36 systems cover the full benchmark")
    human = tab.locator("tbody.before tr").inner_text().split()
    assert "92.8" in human and "91.2" in human
    go(tab, "#/?task=xnli&task=xquad&language=sw&language=ar")
    text = tab.locator(".lead").inner_text()
    assert " has the best score on XNLI and XQuAD in Arabic and Swahili, " in text
    assert "; the order is not tested. " in text
    # Human performance is published for whole tasks only.
    assert tab.locator("tbody.before").count() == 0
    with tab.expect_download() as download:
        tab.click("text=CSV")
    heads = download.value.path().read_text(encoding="utf-8").splitlines()[0].split(",")
    assert {"XNLI (2/15 languages)", "XQuAD (1/11 languages)"} <= set(heads)


def test_interval_strips_fit_their_scale(open_page: Open) -> None:
    tab = open_page("#/?all=1")
    end = "end => parseFloat(strip.style.getPropertyValue(end))"
    ends = tab.locator("i.strip.whiskered").evaluate_all(
        f"strips => strips.map(strip => ['--low', '--at', '--high'].map({end}))"
    )
    # The lowest scores are beyond the scale; all others lie inside their intervals.
    assert len(ends) > 20
    assert sum(low < at < high for low, at, high in ends) >= 0.9 * len(ends)


def test_scripts_and_metrics_have_names(open_page: Open) -> None:
    tab = open_page("#/?script=Latn&metric=f1")
    assert [chip.split(" ×")[0] for chip in tab.locator("button.chip:not(.clear)").all_inner_texts()] == [
        "Metric: F1",
        "Script: Latin",
    ]
    go(tab, "#/language/ar")
    assert tab.locator("dl a", has_text="Arabic").get_attribute("href") == "#/?script=Arab"
