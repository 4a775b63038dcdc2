"""Test per-example analyses in a browser against isogloss explain, at any edges."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

import isogloss
from board.answered_systems import CHECKLIST, SUITE, build_answered
from board.axe import barriers, needs_axe
from board.opened_board import Open, column, exported, go, ranks
from isogloss.board.site import build_board
from report.browser import BROWSER
from waiting import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")]

TASKS = ("mini-xnli", "mini-wikiann", "mini-xquad")
TESTS = ("checklist-comparisons", "checklist-properties")
NAMES = {"alpha": 0.1, "beta": 0.25, "gamma": 0.3}


@pytest.fixture(scope="module")
def answered_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a suite, the predictions of three systems, and their board."""
    return build_answered(tmp_path_factory.mktemp("answered"), SUITE, TASKS, NAMES)


@pytest.fixture(scope="module")
def error_board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the board of two systems on a suite of error rates."""
    return build_answered(tmp_path_factory.mktemp("errors"), CHECKLIST, TESTS, {"bad": 0.5, "good": 0.1})


def explained(root: Path, *systems: str, **words: Any) -> Any:
    return isogloss.explain(*(root / name for name in systems), suite=str(root / "suite.toml"), **words)


def page(mode: str, *systems: str, **params: str) -> str:
    return f"#/analysis/{mode}?{urlencode([('system', name) for name in systems] + list(params.items()))}"


def shown(tab: Any) -> dict[str, list[tuple[int, float, float | None, float | None]]]:
    """Return the exported values of the charts by attribute."""
    tab.wait_for_selector(".charts .bar")
    by_attribute: dict[str, list[tuple[int, float, float | None, float | None]]] = {}
    for row in exported(tab):
        by_attribute.setdefault(row["attribute"], []).append((row["n"], row["value"], row["low"], row["high"]))
    return by_attribute


def same(shown_rows: list[Any], wanted: list[Any]) -> bool:
    """Compare numbers of the page and of Python to 1e-7."""
    return [row[0] for row in shown_rows] == [row[0] for row in wanted] and all(
        (mine is None and theirs is None) or mine == pytest.approx(theirs, abs=1e-7)
        for ours, others in zip(shown_rows, wanted, strict=True)
        for mine, theirs in zip(ours[1:], others[1:], strict=True)
    )


def single_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.value, each.low, each.high) for each in facet.buckets]


def pair_rows(facet: Any) -> list[Any]:
    return [(each.bucket.n, each.difference, each.low, each.high) for each in facet.buckets]


# Attributes of predictions, not of examples.
ANSWERS = {"errorType", "confidence", "rank"}


def test_scores_and_intervals_match_explain(open_page: Open, answered_board: Path) -> None:
    analysis = explained(answered_board, *NAMES)
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    checked = 0
    for name, explanation in zip(NAMES, analysis.explanations, strict=True):
        cells: dict[tuple[str, str, str], dict[str, Any]] = {}
        for facet in explanation.facets:
            if facet.attribute not in ANSWERS:
                cells.setdefault((facet.task, facet.language, facet.metric), {})[facet.attribute] = facet
        for (task, language, metric), facets in cells.items():
            if name != "alpha" and language != "sw":
                continue
            go(tab, page("single", name, task=task, language=language, metric=metric))
            charts = shown(tab)
            assert facets.keys() == charts.keys(), (task, language, metric)
            for attribute, facet in facets.items():
                assert same(charts[attribute], single_rows(facet)), (name, task, language, metric, attribute)
                checked += any(row[2] is not None for row in charts[attribute])
    assert checked > 20


def test_differences_and_intervals_match_explain(open_page: Open, answered_board: Path) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"])
    pair = next(each for each in analysis.pairs if (each.first, each.second) == ("alpha", "gamma"))
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task in TASKS:
        go(tab, page("pairwise", "alpha", "gamma", task=task, language="sw"))
        charts = shown(tab)
        facets = [facet for facet in pair.facets if facet.task == task]
        assert facets
        for facet in facets:
            assert same(charts[facet.attribute], pair_rows(facet)), (task, facet.attribute)


@pytest.mark.parametrize(("cut", "words"), [("at~9,12", "9:12"), ("filled~4", "greedy")])
def test_other_edges_match_explain(open_page: Open, answered_board: Path, cut: str, words: str) -> None:
    analysis = explained(answered_board, *NAMES, languages=["sw"], attributes=[f"t1Len={words}", f"sLen={words}"])
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for task, attribute in (("mini-xnli", "t1Len"), ("mini-wikiann", "sLen")):
        go(tab, page("single", "beta", task=task, language="sw", cut=f"{attribute}~{cut}"))
        (facet,) = (
            each for each in analysis.explanations[1].facets if (each.task, each.attribute) == (task, attribute)
        )
        assert same(shown(tab)[attribute], single_rows(facet)), task


def brightness(tab: Any, cell: Any) -> float:
    """Return the brightness of a cell's background."""
    red, green, blue = tab.evaluate("node => getComputedStyle(node).backgroundColor.match(/\\d+/g).map(Number)", cell)
    return 0.3 * float(red) + 0.6 * float(green) + 0.1 * float(blue)


# Pairs of texts of a drawing, or of axis labels and handles, that lie over each other or outside their drawing.
_OVERLAPS = """() => [...document.querySelectorAll(".plot svg")].flatMap((svg) => {
  const outer = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
  const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
  const found = boxes
    .filter(([, box]) => box.left < outer.left - 1 || box.right > outer.right + 1)
    .map(([text]) => `${text} leaves its drawing`);
  boxes.forEach(([one, a], at) => {
    for (const [other, b] of boxes.slice(at + 1))
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)
        found.push(`${one} over ${other}`);
  });
  return found;
})"""
_TWELVE = {"task": "mini-xquad", "language": "en", "cut": "aPos~equal~12"}


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_labels_do_not_overlap(open_page: Open, answered_board: Path, error_board: Path, width: int) -> None:
    site = answered_board / "site" / "index.html"
    tab = open_page("#/about", index=site, width=width)
    for hash_ in (
        page("single", "alpha", **_TWELVE),
        page("pairwise", "alpha", "beta", **_TWELVE),
        page("single", "alpha", task="mini-wikiann", language="de"),
        page("bias"),
        page("bias", task="mini-xquad", attribute="cLen", cut="cLen~equal~12"),
    ):
        go(tab, hash_)
        tab.wait_for_selector(".charts .bar")
        assert tab.evaluate(_OVERLAPS) == [], hash_
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab = open_page(page("pairwise", "bad", "good"), index=error_board / "site" / "index.html", width=width)
    tab.wait_for_selector(".charts .bar")
    assert tab.evaluate(_OVERLAPS) == []


@pytest.mark.parametrize("width", [1440, 390])
def test_box_plots_do_not_overlap(open_page: Open, width: int) -> None:
    tab = open_page("#/analysis/bias?attribute=cLen", width=width)
    tab.wait_for_selector(".box-plot")
    assert tab.evaluate(_OVERLAPS) == []


_AXES = """figures => figures.map((figure) =>
  [...figure.querySelectorAll(".bars svg > text[text-anchor=middle]")].map((text) => text.textContent))"""


def test_charts_of_a_page_share_a_labelled_axis(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    seen = {}
    for hash_ in (
        page("single", "alpha", task="mini-xquad", language="en"),
        page("pairwise", "alpha", "beta", task="mini-xquad", language="en"),
        page("pairwise", "beta", "alpha", task="mini-xquad", language="en"),
        page("bias", task="mini-xquad", attribute="cLen"),
    ):
        go(tab, hash_)
        tab.wait_for_selector(".charts .bar")
        axes = tab.locator(".charts figure").evaluate_all(_AXES)
        assert len(axes) > 2 and len({(axis[0], axis[-1]) for axis in axes}) == 1, axes
        seen[hash_] = (axes[0][0], axes[0][-1])
    single, pair, turned, _ = seen.values()
    assert 0 < int(single[0]) < int(single[1]) == 100
    # The other way round, differences have the same axis, with zero in the middle.
    assert pair == turned == (f"−{pair[1]}", pair[1])


_NUMBERS = re.compile(r"[+-]?\d+(?:\.\d+)?")


def test_the_sentences_and_marks_are_those_of_explain(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    stated = 0
    for name, code in (("alpha", "de"), ("beta", "en"), ("gamma", "sw"), ("gamma", "de")):
        (explanation,) = isogloss.explain(
            answered_board / name,
            suite=str(answered_board / "suite.toml"),
            tasks=["mini-wikiann"],
            languages=[code],
        ).explanations
        go(tab, page("single", name, task="mini-wikiann", language=code))
        tab.wait_for_selector(".charts .bar")
        for facet in explanation.facets:
            if facet.attribute in ANSWERS:
                continue
            figure = tab.locator(f".charts figure[data-key='{facet.attribute}']")
            told = figure.locator(".insight").inner_text().replace("−", "-")
            if not facet.claims:
                assert told.startswith("Not tested"), (name, code)
                continue
            wanted = facet.insight or "No significant differences between buckets."
            # A score of 31.25 is printed as 31.2 or 31.3, but the words and all numbers agree.
            assert _NUMBERS.sub("#", told) == _NUMBERS.sub("#", wanted), (name, code)
            numbers = [[float(number) for number in _NUMBERS.findall(text)] for text in (told, wanted)]
            assert numbers[0] == pytest.approx(numbers[1], abs=0.11), (name, code)
            stated += bool(facet.insight)
            marks = {"best": ".bar.top .label", "worst": ".bar.low .label"}
            for kind, selector in marks.items():
                bucket = facet.named(kind)
                shown_names = [text.split()[0] for text in figure.locator(selector).all_text_contents()]
                assert shown_names == ([] if bucket is None else [bucket.bucket.name]), (name, code, kind)
    assert stated > 6


def test_best_and_worst_are_not_marked_without_significance(open_page: Open, answered_board: Path) -> None:
    tab = open_page(
        page("single", "alpha", task="mini-xnli", language="de"), index=answered_board / "site" / "index.html"
    )
    tab.wait_for_selector(".charts .bar")
    values = [float(text) for text in tab.locator("figure[data-key=label] .value").all_text_contents()]
    assert max(values) - min(values) > 10
    assert tab.locator(".bar.top, .bar.low").count() == 0
    assert "No significant differences" in tab.locator("figure[data-key=label]").inner_text()
    go(tab, page("pairwise", "alpha", "beta", task="mini-xnli", language="de"))
    tab.wait_for_selector(".charts .bar")
    assert tab.locator(".interval:not(.unsure)").count() == 0
    go(tab, page("pairwise", "alpha", "beta", task="mini-wikiann", language="en"))
    tab.wait_for_selector(".interval:not(.unsure)")
    assert "Significant in " in tab.locator(".charts").inner_text()


def test_the_analyses_open_with_one_click(open_page: Open, answered_board: Path) -> None:
    index = answered_board / "site" / "index.html"
    tab = open_page(index=index)
    for mode, title, systems in (("single", "Single", 1), ("pairwise", "Pairwise", 2), ("bias", "Dataset", 0)):
        go(tab, "#/analysis")
        tab.wait_for_selector("[data-mode]")
        assert tab.locator("[disabled], [aria-disabled]").count() == 0
        tab.click(f"[data-mode={mode}]")
        tab.wait_for_selector(".charts .bar")
        assert tab.locator("h1").inner_text().startswith(title)
        names = ("alpha", "beta")[:systems]
        assert tab.evaluate("new URLSearchParams(location.hash.split('?')[1]).getAll('system')") == list(names)
    # Without systems in the address, the best-ranked ones are chosen.
    go(tab, "#/analysis/pairwise")
    tab.wait_for_selector(".charts .bar")
    assert tab.locator(".headline").inner_text().startswith("alpha minus beta")
    # Lists on the page change the systems; choosing the other one of the pair swaps the two.
    tab.get_by_label("First system").select_option("beta")
    wait_until(tab, "document.querySelector('.headline').textContent.startsWith('beta minus alpha')")
    tab.get_by_label("Second system").select_option("gamma")
    wait_until(tab, "document.querySelector('.headline').textContent.startsWith('beta minus gamma')")
    tab.go_back()
    wait_until(tab, "document.querySelector('.headline').textContent.startsWith('beta minus alpha')")
    go(tab, "#/analysis")
    tab.locator(".analysis").nth(1).get_by_label("Second system").select_option("gamma")
    tab.wait_for_selector("[data-mode=pairwise][href*='system=alpha&system=gamma']")


def test_without_single_examples_the_page_says_what_to_do(open_page: Open, tmp_path: Path) -> None:
    index = build_board(["published"], tmp_path / "site")
    tab = open_page("#/analysis", index=index)
    text = tab.locator("main").inner_text()
    assert "isogloss board build my-predictions published:all --data data --out site" in text
    assert "--explain explain.json" in text and "isogloss demo" in text
    assert tab.locator("main a[href='#/compare']").count() == 1
    assert tab.locator("main button, main [aria-disabled]").count() == 0
    for mode in ("single", "pairwise", "bias"):
        go(tab, f"#/analysis/{mode}")
        assert "scores only" in tab.locator(".headline").inner_text()
        assert tab.locator(".headline a[href='#/analysis']").count() == 1


def test_bias_opens_on_the_most_uneven_attribute(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/analysis/bias", index=answered_board / "site" / "index.html")
    tab.wait_for_selector(".charts .bar")
    main = tab.locator("main").inner_text()
    # Labels are balanced by design: they are named, and last in the list.
    assert "Balanced, so listed last: mini XNLI: gold label in all 3 languages" in main
    assert "makes up" in tab.locator(".headline").inner_text()
    shares = [float(text) for text in tab.locator(".charts .value").all_text_contents()]
    assert max(shares) > 60
    go(tab, "#/analysis/bias?task=mini-xnli")
    tab.wait_for_selector(".charts .bar")
    options = tab.locator("label:has-text('Attribute') option").all_inner_texts()
    assert len(options) > 1 and options[-1] == "Gold label"


@needs_axe
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_axe_finds_nothing_on_the_analyses(open_page: Open, answered_board: Path, width: int, scheme: str) -> None:
    tab = open_page(
        "#/analysis",
        index=answered_board / "site" / "index.html",
        width=width,
        color_scheme=scheme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    for hash_ in (
        "#/analysis",
        page("single", "alpha", task="mini-wikiann", language="en"),
        page("pairwise", "alpha", "beta", task="mini-wikiann", language="en"),
        "#/analysis/bias",
    ):
        go(tab, hash_)
        tab.wait_for_selector(".charts .bar, .analyses")
        assert barriers(tab) == [], hash_
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_lower_is_better_throughout(open_page: Open, error_board: Path) -> None:
    tab = open_page(index=error_board / "site" / "index.html")
    lead = tab.locator(".finding[data-key=lead]").inner_text()
    assert lead.startswith("good leads overall") and "Lower is better." in lead
    assert [text.split()[0] for text in column(tab, "System")] == ["good", "bad"]
    assert ranks(tab) == ["1", "2"]
    first = tab.locator("table.data tbody tr").first
    assert first.locator(".best").count() == 4
    for ranking in ("flat", "worst", "family", "weights"):
        go(tab, f"#/?ranking={ranking}")
        assert [text.split()[0] for text in column(tab, "System")] == ["good", "bad"], ranking
    # With a filter the page computes the ranks.
    go(tab, "#/?language=sw")
    assert ranks(tab) == ["1", "2"]
    assert column(tab, "System")[0].startswith("good")
    tab.click("button.sort:has-text('comparisons')")
    assert column(tab, "System")[0].startswith("good")
    for hash_ in (
        "#/language/sw",
        "#/family/Niger-Congo",
        "#/task/checklist-comparisons",
        "#/task/checklist-properties/sw",
    ):
        go(tab, hash_)
        assert column(tab, "System")[0].startswith("good"), hash_
        assert ranks(tab)[0] == "1", hash_
    go(tab, "#/task/checklist-comparisons")
    rows = tab.locator("table.heat tbody tr")
    good, bad = (rows.nth(at).locator("td").first.element_handle() for at in (0, 1))
    assert brightness(tab, good) > brightness(tab, bad)
    go(tab, "#/languages?view=heat")
    rows = tab.locator("table.heat tbody tr")
    assert rows.first.inner_text().startswith("good")
    good, bad = (rows.nth(at).locator("td").first.element_handle() for at in (0, 1))
    assert brightness(tab, good) > brightness(tab, bad)
    go(tab, "#/system/good")
    assert "rank 1" in tab.locator(".cards").inner_text() and "rank 2" not in tab.locator(".cards").inner_text()


def test_analyses_of_error_rates(open_page: Open, error_board: Path) -> None:
    tab = open_page(page("pairwise", "bad", "good"), index=error_board / "site" / "index.html")
    tab.wait_for_selector(".charts .bar")
    assert "the first is better below zero" in tab.locator(".headline").inner_text()
    bars = tab.locator(".bar")
    assert bars.count() == tab.locator(".bar.below").count() > 1
    go(tab, page("single", "bad"))
    tab.wait_for_selector(".charts .bar")
    assert "lower is better" in tab.locator(".headline").inner_text()


def test_edges_are_moved_by_mouse_keyboard_and_typing(open_page: Open, answered_board: Path) -> None:
    tab = open_page(
        page("pairwise", "alpha", "beta", task="mini-xquad", language="en"),
        index=answered_board / "site" / "index.html",
    )
    figure = tab.locator("figure[data-key=cLen]")
    figure.locator(".handle").first.wait_for()
    before = figure.locator(".bar").all_text_contents()
    handle = figure.locator(".handle").nth(1)
    assert handle.get_attribute("role") == "slider"
    assert handle.get_attribute("aria-label").startswith("Edge 2 of ")
    handle.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    assert "cut=cLen%7Eat%7E" in tab.evaluate("location.hash")
    assert tab.evaluate("document.activeElement.getAttribute('role')") == "slider"
    assert figure.locator(".bar").all_text_contents() != before
    box = figure.locator(".handle").first.bounding_box()
    value = figure.locator(".handle").first.get_attribute("aria-valuenow")
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    tab.mouse.down()
    tab.mouse.move(box["x"] - 40, box["y"] + 10, steps=4)
    tab.mouse.up()
    assert float(figure.locator(".handle").first.get_attribute("aria-valuenow")) < float(value)
    typed = figure.locator("input[type=text]")
    typed.fill("20 30; 30, x 25")
    typed.press("Enter")
    assert tab.evaluate("location.hash").endswith("cut=cLen%7Eat%7E20%2C25%2C30")
    assert figure.locator(".handle").count() == 3
    figure.locator("select").select_option("equal")
    figure.locator("input[type=number]").fill("3")
    figure.locator("input[type=number]").press("Enter")
    assert tab.evaluate("location.hash").endswith("cut=cLen%7Eequal%7E3")
    assert figure.locator(".bar").count() == 3
    figure.locator("text=reset").click()
    assert figure.locator(".bar").all_text_contents() == before
    assert "cut" not in tab.evaluate("location.hash")


def test_a_bar_lists_its_examples(open_page: Open, answered_board: Path) -> None:
    tab = open_page(
        page("single", "gamma", task="mini-xnli", language="sw"), index=answered_board / "site" / "index.html"
    )
    bar = tab.locator(".bar").first
    bar.wait_for()
    bar.focus()
    tab.keyboard.press(" ")
    listed = tab.locator(".examples")
    assert "worst first" in listed.inner_text()
    assert listed.locator("li").count() == 10
    first = listed.locator("li").first.inner_text()
    assert "gold" in first and "gamma (0)" in first
    # The list begins below the header, and leads back to the row.
    assert 0 < listed.locator("h2").bounding_box()["y"] < 200
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == bar.get_attribute("aria-label")
    # The row says that it lists examples, to the eye, to the keyboard and to screen readers.
    assert bar.get_attribute("role") == "button"
    assert bar.get_attribute("aria-label").endswith("Show examples")
    assert tab.evaluate("node => getComputedStyle(node).cursor", bar.element_handle()) == "pointer"
    bar.hover()
    assert "Select to show examples" in tab.locator("#tip").inner_text()
    go(tab, page("bias", "gamma"))
    tab.wait_for_selector(".charts figure")
    assert tab.locator(".charts figure").count() > 1
    tab.locator(".charts .bar").first.click()
    assert "examples with texts first" in tab.locator(".examples").inner_text()


def test_disabled_buttons_have_accessible_reasons(open_page: Open, answered_board: Path) -> None:
    tab = open_page(index=answered_board / "site" / "index.html")
    for mode, ticked, reason in (
        ("compare", ("alpha",), "select another system"),
        ("single", ("alpha", "beta"), "select one system"),
        ("pairwise", ("alpha",), "select two systems"),
        ("pairwise", ("alpha", "beta", "gamma"), "select two systems"),
    ):
        go(tab, "#/?" + urlencode([("tick", name) for name in ticked]))
        button = tab.locator(f"[data-mode={mode}]")
        button.focus()
        assert tab.evaluate("document.activeElement.dataset.mode") == mode
        assert button.get_attribute("aria-disabled") == "true"
        assert tab.locator(f"#{button.get_attribute('aria-describedby')}").inner_text() == reason
        tab.keyboard.press("Enter")
        assert tab.evaluate("location.hash").startswith("#/?") or tab.evaluate("location.hash") == "#/"
    go(tab, "#/?tick=alpha&tick=beta")
    tab.wait_for_selector("[data-mode=pairwise]:not([aria-disabled])")
    assert tab.locator("#why-pairwise").count() == 0


def test_systems_that_the_address_lacks_are_chosen(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/about", index=answered_board / "site" / "index.html")
    for mode, named, used in (
        ("single", (), ["alpha"]),
        ("pairwise", (), ["alpha", "beta"]),
        ("pairwise", ("gamma",), ["gamma", "alpha"]),
        ("pairwise", ("beta", "beta"), ["beta", "alpha"]),
        ("single", ("beta", "alpha"), ["beta"]),
    ):
        go(tab, page(mode, *named))
        tab.wait_for_selector(".charts .bar")
        assert tab.locator(".headline").inner_text().split(" · ")[0] == " minus ".join(used)


def test_compared_buckets_list_their_examples(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/compare?system=alpha&system=beta&system=gamma", index=answered_board / "site" / "index.html")
    button = tab.locator("[aria-label='Buckets'] tbody button").first
    button.wait_for()
    button.focus()
    tab.keyboard.press("Enter")
    listed = tab.locator(".examples")
    assert "largest differences first" in listed.inner_text()
    assert all(name in listed.locator("li").first.inner_text() for name in NAMES)


def test_every_cell_leads_to_its_examples(open_page: Open, answered_board: Path) -> None:
    tab = open_page("#/task/mini-xnli/sw", index=answered_board / "site" / "index.html")
    # The verdict of the finder: the board has paired tests of the cell.
    tab.wait_for_selector(".headline:has-text('in paired tests on the same examples (Holm’s correction).')")
    links = tab.locator(".cell-examples a")
    assert links.all_inner_texts() == ["alpha", "beta", "gamma", "how two systems differ", "what the test set contains"]
    for at, heading in ((0, "Single analysis"), (3, "Pairwise analysis"), (4, "Dataset bias")):
        go(tab, "#/task/mini-xnli/sw")
        links.nth(at).click()
        tab.wait_for_selector(f"h1:text-is('{heading}')")
        tab.wait_for_selector(".charts .bar")
        assert tab.evaluate("location.hash").count("task=mini-xnli") == 1
    # From a comparison: the cells of its plot and of its matrix.
    for cell in (".forest tr.cell a:text-is('examples')", "table.heat tbody td a"):
        go(tab, "#/compare?system=alpha&system=gamma&unfold=mini-xnli")
        tab.locator(cell).first.click()
        tab.wait_for_selector(".charts .bar")
        assert tab.evaluate("location.hash").startswith("#/analysis/pairwise?system=alpha&system=gamma&task=mini-x")


def test_insights_of_explain_hold_until_edges_move(open_page: Open, answered_board: Path) -> None:
    analysis = explained(
        answered_board, *NAMES, tasks=["mini-xquad"], languages=["sw"], attributes=["cLen=20:22", "qLen"]
    )
    told = msgspec.json.decode(msgspec.json.encode(analysis))
    for facet in told["explanations"][0]["facets"]:
        facet["insight"] = "A sentence of explain."
    (answered_board / "explain.json").write_text(json.dumps(told), encoding="utf-8")
    site = answered_board / "explained"
    folders = [answered_board / name for name in NAMES]
    build_board(folders, site, suite=str(answered_board / "suite.toml"), explain=[answered_board / "explain.json"])
    tab = open_page(page("single", "alpha", task="mini-xquad", language="sw"), index=site / "index.html")
    figure = tab.locator("figure[data-key=cLen]")
    figure.locator(".bar").first.wait_for()
    facet = next(each for each in analysis.explanations[0].facets if each.attribute == "cLen")
    assert same(shown(tab)["cLen"], single_rows(facet))
    assert figure.locator("input[type=text]").input_value() == "20, 22"
    assert "A sentence of explain." in figure.inner_text()
    # A bar is marked as isogloss explain found it.
    found = {kind for kind in ("best", "worst") if facet.named(kind) is not None}
    assert figure.locator(".bar.top").count() == ("best" in found)
    figure.locator(".handle").first.focus()
    tab.keyboard.press("ArrowLeft")
    assert "A sentence of explain." not in figure.inner_text()


def test_invalid_cuts_are_ignored(open_page: Open, answered_board: Path) -> None:
    index = answered_board / "site" / "index.html"
    plain = shown(open_page(page("single", "alpha", task="mini-xquad", language="sw"), index=index))["qLen"]
    for cut in ("equal~99", "magic~4", "equal", "", "~~~"):
        tab = open_page(page("single", "alpha", task="mini-xquad", language="sw", cut=f"qLen~{cut}"), index=index)
        assert shown(tab)["qLen"] == plain, cut
    tab = open_page(page("single", "alpha", task="mini-xquad", language="sw", cut="qLen~at~x,1e99"), index=index)
    assert [row[0] for row in shown(tab)["qLen"]] == [60]
