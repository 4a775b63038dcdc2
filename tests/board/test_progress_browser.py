"""Test the Progress room in a browser: scores over time, gaps to humans, size and cost."""

import json
from pathlib import Path
from typing import Any

import pytest

from board.axe import barriers, needs_axe
from board.opened_board import Open, go
from board.synthetic_board import synthetic_board, write_site
from isogloss.board.site import build_board
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

VIEWS = ("#/progress", "#/progress?view=humans", "#/progress?view=size")
# Boxes of the texts within each drawing, which must not overlap.
_LABELS = """() => [...document.querySelectorAll(".progress .plot svg")].map((svg) =>
  [...svg.querySelectorAll("text.label")].map((node) => {
    const { left, right, top, bottom } = node.getBoundingClientRect();
    return [left, right, top + 2, bottom - 2];
  }))"""


@pytest.fixture(scope="module")
def published_sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("published")
    return {name: build_board(["published:all"], folder / name, suite=name) for name in ("xtreme-r", "xtreme")}


def overlaps(boxes: list[list[float]]) -> int:
    """Return the number of pairs of boxes that overlap."""
    pairs = ((one, other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    return sum(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3] for a, b in pairs)


def names(tab: Any, selector: str) -> list[str]:
    found: list[str] = tab.locator(selector).all_text_contents()
    return found


def test_what_changed_since_xtreme(open_page: Open, published_sites: dict[str, Path]) -> None:
    """Two selections from the landing page, and computed from the data of both suites."""
    tab = open_page("#/", index=published_sites["xtreme-r"])
    tab.click("#menu a:has-text('Progress')")
    tab.click("button:has-text('Since XTREME')")
    assert tab.evaluate("location.hash") == "#/progress?view=changes"
    text = tab.locator(".view-changes").inner_text()
    assert "XTREME (March 2020) has 9 tasks in 40 languages, XTREME-R (April 2021) 10 tasks in 50 languages" in text
    assert "Dropped: PAWS-X and BUCC 2018. Added: XCOPA, Mewsli-X and LAReQA." in text
    assert "Tatoeba: models are fine-tuned on SQuAD v1.1; XTREME searched without fine-tuning" in text
    assert "XTREME's best average was 68.2 (XLM-R Large, March 2020) and 81.4 in April 2021" in text
    assert "roughly 25 points in March 2020 and below 12 points in April 2021" in text
    assert "Farthest from humans on this board: UD-POS, by 22.0 points" in text
    rows = {
        row[0]: row[1:]
        for row in tab.locator(".view-changes tbody tr").evaluate_all(
            "rows => rows.map(row => [...row.children].map(cell => cell.firstChild.textContent))"
        )
    }
    assert rows["PAWS-X"] == ["dropped", "7 → –", "86.4", "–", "–", "97.5", "–"]
    assert rows["XCOPA"] == ["added", "– → 11", "–", "74.9", "77.8", "97.6", "−19.8"]
    assert rows["Tatoeba"][:4] == ["kept, new rules", "36 → 41", "57.3", "77.3"]
    # On a phone, no column is so narrow that rows grow tall, and the task stays in sight.
    tab.set_viewport_size({"width": 390, "height": 844})
    heights = tab.locator(".view-changes tbody tr").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert max(heights) < 110
    tab.locator(".view-changes .scroll").evaluate("one => { one.scrollLeft = 300; }")
    assert 0 <= tab.locator(".view-changes tbody th").first.bounding_box()["x"] < 30


def test_both_suites_have_their_own_panel(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress", index=published_sites["xtreme"])
    for key in ("xtreme", "xtreme-r"):
        tab.wait_for_selector(f"[data-key='suite-{key}'] svg")
    titles = names(tab, ".two figcaption")
    assert titles == [
        "Overall, on this board",
        "XTREME's leaderboard: mean over 9 tasks",
        "XTREME-R's first results: mean over 4 categories",
    ]
    old, new = (tab.locator(f"[data-key='suite-{key}'] svg") for key in ("xtreme", "xtreme-r"))
    marks = [each.locator("[role=img]").evaluate_all("all => all.map(one => one.ariaLabel)") for each in (old, new)]
    assert "XLM-R Large: 68.2 (baseline), March 2020, XTREME Table 2" in marks[0]
    assert [label.split(",")[0] for label in marks[0] if "first place" in label] == [
        "X-STILTS: first place",
        "FILTER: first place",
        "T-URLv2: first place",
        "VECO: first place",
    ]
    assert [label.split(" (")[0] for label in marks[1]] == ["XLM-R Large: 65.3", "mT5-XXL: 64.6", "mBERT: 54.1"]
    # A first place without a stated score is below the axis: it has no height.
    mark = old.locator("[aria-label^='VECO: first']").bounding_box()
    tick = old.locator("text:text-is('50')").bounding_box()
    assert mark and tick and mark["y"] > tick["y"] + tick["height"]
    # XTREME-R's own board draws its first results already.
    tab = open_page("#/progress", index=published_sites["xtreme-r"])
    tab.wait_for_selector("[data-key='suite-xtreme'] svg")
    assert tab.locator("[data-key='suite-xtreme-r']").count() == 0


def test_systems_without_a_date_are_listed_and_not_drawn(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress", index=published_sites["xtreme-r"])
    tab.wait_for_selector("[data-key='time-tatoeba'] svg")
    drawn = tab.locator(".time-panel a[href^='#/system/']").evaluate_all("all => all.map(one => one.ariaLabel)")
    listed = names(tab, ".undated li")
    assert len(listed) == 182
    assert tab.locator("summary:has-text('182 systems without a date')").count() == 1
    # Only the best on Tatoeba, which no dated system reaches, is drawn: hollow, at the end of the axis.
    assert {label for label in drawn if label.split(": ")[0] in listed} == {"microsoft/harrier-oss-v1-27b: 96.4"}
    assert tab.locator(".time-panel a .hollow").count() == 1
    assert "Overall, zero-shot transfer: from 54.1 (mBERT, 2019) to 65.3 (XLM-R Large, 2020)" in names(tab, ".rises li")


def test_regimes_have_their_own_lines_and_marks(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress", index=published_sites["xtreme-r"])
    xcopa = tab.locator("[data-key='time-xcopa']")
    xcopa.locator("path.steps").first.wait_for(state="attached")
    colours = xcopa.locator("path.steps").evaluate_all("all => all.map(one => one.getAttribute('stroke'))")
    assert len(colours) == len(set(colours)) == 3
    assert xcopa.locator(".human-label").text_content() == "humans 97.6"
    assert names(tab, ".legend:first-of-type bdi")[:3] == ["Prompted", "Zero-shot transfer", "Translated data"]
    before = xcopa.locator("svg > g, svg > text").evaluate_all("all => all.map(one => one.textContent)")
    tab.click("summary:has-text('Regimes')")
    tab.check("label:has-text('Translated data') input")
    assert tab.evaluate("location.hash") == "#/progress?regime=translated"
    assert xcopa.locator("path.steps").count() == 1
    axis = xcopa.locator("svg > text").all_text_contents()
    # The axes stay, whatever is shown.
    assert {"40", "60", "80", "100"} <= set(axis) and {"40", "60", "80", "100"} <= set(before)
    tab.go_back()
    wait_until(tab, """() => document.querySelectorAll("[data-key='time-xcopa'] path.steps").length === 3""")


def test_gaps_to_humans_are_sorted_and_say_what_the_human_score_is(
    open_page: Open, published_sites: dict[str, Path]
) -> None:
    tab = open_page("#/progress", index=published_sites["xtreme-r"])
    tab.click("button:has-text('Gap to humans')")
    assert tab.evaluate("location.hash") == "#/progress?view=humans"
    tab.wait_for_selector(".human-row")
    assert names(tab, ".row-name") == ["UD-POS", "XCOPA", "MLQA", "XQuAD", "XNLI"]
    assert names(tab, ".gap-text") == ["−22.0", "−19.8", "−19.4", "−8.5", "−5.3"]
    assert tab.locator(".headline").inner_text().startswith("No system reaches the human score on any of 5 tasks.")
    notes = tab.locator(".progress .notes").inner_text()
    assert "No published human score: WikiANN, TyDiQA-GoldP, Mewsli-X, LAReQA, Tatoeba." in notes
    assert "not tested for significance" in notes
    basis = tab.locator("[aria-label^='What the human scores']").inner_text()
    assert "estimate in English (SQuAD" in basis and "F1 only" in basis
    # The marks and the line lie on one axis: XNLI's gap of 5.3 is shorter than XCOPA's of 19.8.
    widths = tab.locator("line.gap-line").evaluate_all(
        "all => all.map(one => Math.abs(one.x2.baseVal.value - one.x1.baseVal.value))"
    )
    assert widths == sorted(widths, reverse=True)
    assert widths[4] / widths[1] == pytest.approx(5.3 / 19.8, rel=0.01)


def test_known_intervals_are_drawn(open_page: Open) -> None:
    tab = open_page("#/progress?view=size")
    tab.wait_for_selector(".size svg a.first")
    tab.locator("summary:has-text('Show as a table')").click()
    known = [text for text in names(tab, ".size ~ details td:last-child") if text != "–"]
    assert known and all("–" in text for text in known)
    ends = tab.locator(".size svg .whisker").count()
    assert ends == tab.locator(".size svg a.first:has(.whisker)").count() > 0


def test_the_frontier_is_that_of_the_table(open_page: Open, tmp_path: Path) -> None:
    tab = open_page("#/progress?view=size&y=xnli", index=write_site(synthetic_board(24), tmp_path / "site"))
    tab.wait_for_selector(".size svg a")
    tab.locator("summary:has-text('Show as a table')").click()
    with tab.expect_download() as download:
        tab.click("button:has-text('JSON')")
    rows = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["rows"]
    assert len(rows) == tab.locator(".size svg a").count() == tab.locator(".size ~ details tbody tr").count()
    best = [
        row
        for row in rows
        if not any(
            (other["parameters"], -other["score"]) < (row["parameters"], -row["score"])
            and other["score"] >= row["score"]
            for other in rows
        )
    ]
    assert {row["system"] for row in rows if row["frontier"] == "yes"} == {row["system"] for row in best}
    assert tab.locator(".size svg a.first").count() == len(best)
    assert names(tab, ".headline")[0].startswith(f"{len(best)} system")
    shapes = tab.locator(".size .legend svg path.mark, .size .legend svg circle.mark").count()
    assert shapes == len({row["kind"] for row in rows})


def test_the_start_column_and_what_is_left_out(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress?view=size", index=published_sites["xtreme-r"])
    # Three systems have an overall score and a size: Tatoeba says more.
    assert tab.locator("label:has-text('Score') select").input_value() == "tatoeba"
    assert "Left out: 152 systems with an undisclosed size and" in tab.locator(".progress .notes").inner_text()
    tab.select_option("label:has-text('Score') select", "overall")
    assert tab.evaluate("location.hash") == "#/progress?view=size&y=overall"
    wait_until(tab, "() => document.querySelectorAll('.size svg a').length === 3")
    labels = names(tab, ".size svg text.label")
    assert labels == ["XLM-R Large", "mBERT"]
    ticks = names(tab, ".size svg > text[text-anchor=end]:not(.label)")
    assert ticks[0] == "50" and ticks[-1] == "70"
    tab.select_option("label:has-text('Against') select", "date")
    tab.wait_for_selector(".size svg text:text-is('published')")


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_labels_never_overlap_and_pages_fit(open_page: Open, published_sites: dict[str, Path], width: int) -> None:
    for index in published_sites.values():
        tab = open_page("#/about", index=index, width=width)
        for view in VIEWS:
            go(tab, view)
            tab.wait_for_selector(".progress .plot svg")
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            for boxes in tab.evaluate(_LABELS):
                assert overlaps(boxes) == 0


@pytest.mark.parametrize("count", [3, 24, 1000])
def test_boards_of_any_size(open_page: Open, tmp_path: Path, count: int) -> None:
    tab = open_page("#/about", index=write_site(synthetic_board(count), tmp_path / "site"), width=390)
    for view in VIEWS:
        go(tab, view)
        tab.wait_for_selector(".progress .plot svg")
        assert tab.evaluate("document.documentElement.scrollWidth") == 390
    # Other boards have no history.
    go(tab, VIEWS[0])
    assert tab.locator("button:has-text('Since XTREME')").count() == 0
    assert tab.locator(".time-panel").count() > 1
    assert tab.locator(".time-panel svg a").count() < 11 * 80
    notes = tab.locator(".progress .notes").first.inner_text()
    assert ("sampled evenly by rank" in notes) == (count == 1000)


def test_one_system(open_page: Open, tmp_path: Path) -> None:
    tab = open_page("#/progress", index=build_board(["published:mT5-XXL"], tmp_path / "site"))
    assert names(tab, ".rises li") == ["Overall, zero-shot transfer: best score 64.6 (mT5-XXL, 2021)"]
    for view in VIEWS[1:]:
        go(tab, view)
        tab.wait_for_selector(".progress .plot svg")
        assert tab.locator(".progress .plot svg").count() == 1


def test_an_address_reproduces_a_view_and_back_restores_it(open_page: Open) -> None:
    tab = open_page("#/progress?view=size")
    state = "document.querySelector('main').innerText"
    tab.select_option("label:has-text('Score') select", "xquad")
    tab.click("summary:has-text('Regimes')")
    tab.check("label:has-text('Zero-shot transfer') input")
    tab.wait_for_selector("text=XQuAD against parameters")
    text, address = tab.evaluate(state), tab.evaluate("location.hash")
    again = open_page(address)
    again.click("summary:has-text('Regimes')")
    again.wait_for_selector(".size .plot svg")
    assert again.evaluate(state) == text
    tab.go_back()
    tab.go_back()
    tab.wait_for_selector("text=Overall against parameters")
    assert tab.evaluate("location.hash") == "#/progress?view=size"
    assert tab.locator("label:has-text('Score') select").input_value() == "overall"


def test_names_are_text(open_page: Open, tmp_path: Path) -> None:
    board = synthetic_board(3)
    board["systems"][0]["name"] = "<img src=x onerror='window.hacked = 1'>"
    tab = open_page("#/progress", index=write_site(board, tmp_path / "site"))
    for view in VIEWS:
        go(tab, view)
        tab.wait_for_selector(".progress .plot svg")
        assert "<img src=x" in (tab.locator(".progress").text_content() or "")
        assert tab.locator("main img").count() == 0


def test_leaderboard_links_to_the_plots(open_page: Open) -> None:
    tab = open_page("#/")
    tab.click("main a:has-text('Size and cost')")
    assert tab.evaluate("location.hash") == "#/progress?view=size"


def test_options_fold_on_phones_and_everything_prints(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress?view=size", index=published_sites["xtreme-r"], width=390)
    assert not tab.locator("label:has-text('Score') select").is_visible()
    tab.click("button:has-text('Options')")
    assert tab.locator("label:has-text('Score') select").is_visible()
    tab.emulate_media(media="print")
    assert tab.locator(".size .plot svg").is_visible()
    assert not tab.locator(".tabs").is_visible()


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_barriers(open_page: Open, published_sites: dict[str, Path], scheme: str) -> None:
    for width in (1200, 390):
        tab = open_page("#/about", index=published_sites["xtreme-r"], width=width, color_scheme=scheme, bypass_csp=True)
        for view in VIEWS:
            go(tab, view)
            tab.wait_for_selector(".progress .plot svg")
            assert barriers(tab) == []
        go(tab, "#/progress?view=changes")
        assert barriers(tab) == []


def test_drawn_scores_are_files_too(open_page: Open, published_sites: dict[str, Path]) -> None:
    tab = open_page("#/progress?regime=prompted", index=published_sites["xtreme-r"])
    files = []
    for at in (0, 1):
        with tab.expect_download() as download:
            tab.locator("button:has-text('JSON')").nth(at).click()
        files.append(json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["rows"])
    history, scores = files
    assert {"date": "2020-03", "system": "XLM-R Large", "event": "baseline", "measure": "overall"}.items() <= next(
        row for row in history if row["value"] == 68.2
    ).items()
    assert {row["regime"] for row in scores} == {"prompted"}
    assert len(scores) == 14 * 2
    best = {row["column"]: row["score"] for row in scores if row["step"] == "yes"}
    assert best == {
        column: max(row["score"] for row in scores if row["column"] == column) for column in ("XNLI", "XCOPA")
    }


def test_doubts_about_a_best_score_are_shown_with_it(open_page: Open, published_sites: dict[str, Path]) -> None:
    """XTREME's best XQuAD score is on translated gold, so it is not comparable with the others."""
    tab = open_page("#/progress?view=humans", index=published_sites["xtreme"])
    tab.wait_for_selector(".human-row")
    [row] = [text for text in names(tab, ".row-text") if text.startswith("XQuAD")]
    assert row.startswith("XQuAD69.2†BERT-large")
    notes = names(tab, ".progress > p.notes")
    assert len(notes) == 1 and notes[0].startswith("† BERT-large, XQuAD: ") and "on translated gold" in notes[0]
    go(tab, "#/progress?view=changes")
    assert "† BERT-large, XQuAD: " in tab.locator(".view-changes").inner_text()
