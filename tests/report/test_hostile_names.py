"""Test hostile names in all parts of a report: tables, charts, files, page and browser."""

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.parsers.expat import ParserCreate

import msgspec
import pytest
from rich.console import Console

from hostile import ACTING, NAMES
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.explain.analysis import Analysis
from isogloss.site.explain_section import pairwise_charts
from isogloss.site.sections import report_sections
from isogloss.site.write import read_inputs, report
from isogloss.tables.score_tables import score_tables
from isogloss.tables.table import Table
from isogloss.tables.vega import png, svg
from report.browser import BROWSER, QUIET
from report.made_records import explanation, pair_made, results
from report.page_reader import Reader
from waiting import wait_until

pytest.importorskip("vl_convert", reason="reports need vl-convert-python")

each_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


def table_of(name: str) -> Table:
    made = Table(f"about {name}", ("system", name, "Δ"), notes=[name, f"{name}: * partial"])
    made.add(name, "1.0", "-1.5")
    made.add(name, "1.0", "+2.5", strong=True)
    return made


def svg_text(drawing: str) -> str:
    """Return the text of a drawing, which must be XML."""
    texts: list[str] = []
    parser = ParserCreate()
    parser.CharacterDataHandler = texts.append
    parser.Parse(drawing, True)
    return "".join(texts)


@each_name
def test_a_table_in_every_format(name: str) -> None:
    made = table_of(name)
    terminal = io.StringIO()
    made.print(Console(file=terminal, width=100))
    for text in (made.plain(), made.markdown(), made.latex(), made.csv(), terminal.getvalue()):
        assert not ACTING.search(text)
    assert len(made.markdown().splitlines()) == 2 + 4 + 1 + 2
    assert len(made.latex().splitlines()) == 10 + 2 + 2
    assert r"\input" not in made.latex()
    assert r"\write" not in made.latex()
    rows = list(csv.reader(io.StringIO(made.csv())))
    assert [row[2] for row in rows[1:]] == ["-1.5", "+2.5"]
    assert not any(cell.lstrip().startswith(("=", "+", "@")) for row in rows for cell in row[:2])
    assert "<img" not in made.markdown()


@each_name
def test_a_record_with_the_name_is_read_and_shown(name: str, tmp_path: Path) -> None:
    content = msgspec.json.encode(results("placeholder", description=name.encode(errors="replace").decode()))
    quoted = json.dumps(name.encode(errors="replace").decode())
    (tmp_path / "results.json").write_bytes(content.replace(b'"placeholder"', quoted.encode()))
    [(shown, system)] = read_inputs([tmp_path]).systems.items()
    record = system.record
    assert len(shown) <= NAME_LENGTH
    assert not ACTING.search(shown + repr(record) + record._repr_html_() + str(record.system))
    assert not any(ACTING.search(table.plain()) for table in score_tables({shown: system}))


@each_name
def test_a_chart_of_a_pair_is_drawn(name: str) -> None:
    """The name is in the legend, on an axis, and a title in the tooltip."""
    pair = pair_made("plain", name)
    [chart] = pairwise_charts([pair], {"plain": "#000", name: "#fff"})
    drawing = svg(chart)
    texts = svg_text(drawing)
    assert printable(f"{name} is better").strip()[:20] in texts
    assert len(re.findall('aria-roledescription="point"', drawing)) == 8
    assert not ACTING.search(drawing)
    assert png(drawing).startswith(b"\x89PNG")
    assert len(f"{chart.name}.svg".encode()) < 255


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report of all names, each compared with the one before it."""
    names = [name for name in NAMES.values() if name != NAMES["surrogate"]]
    analysis = Analysis(
        explanations=[explanation(name) for name in names],
        pairs=[pair_made(first, second) for first, second in pairwise(names)],
    )
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "explain.json").write_bytes(msgspec.json.encode(analysis))
    title = "".join(names)
    return report([results(name) for name in names], folder / "out", explain=[folder / "explain.json"], title=title)


@pytest.mark.slow
def test_every_file_of_the_report(page: Path) -> None:
    files = [path for path in page.parent.rglob("*") if path.is_file()]
    assert len(files) > 80
    for path in files:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            # The script has a pattern of unprintable characters.
            text = text.replace(max(re.findall(r"<script>.*?</script>", text, re.DOTALL), key=len), "")
            assert "<img" not in text
        assert not ACTING.search(text), path
        if path.suffix == ".svg":
            svg_text(text)
        if path.suffix == ".tex":
            assert not re.search(r"\\(?:input|write)", text)
        if path.suffix == ".csv":
            texts = (cell for row in csv.reader(io.StringIO(text)) for cell in row)
            assert not any(re.match(r"\s*[=+@-](?![\d.,]+(?: to [+-]?[\d.,]+)?[*†‡]?$)", cell) for cell in texts), path


@pytest.mark.slow
def test_the_page_is_one_page(page: Path) -> None:
    read = Reader(page.read_text(encoding="utf-8"))
    assert read.open == []
    assert len(read.all("script")) == 2
    (policy,) = [a["content"] for a in read.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert "unsafe" not in str(policy).partition("script-src")[2].partition(";")[0]


@pytest.fixture(scope="module")
def tab(page: Path) -> Iterator[Any]:
    browser_tests = pytest.importorskip("report.test_html_browser", reason="the browser is driven by playwright")
    if BROWSER is None:
        pytest.skip("no Chromium is installed")
    with browser_tests.playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=QUIET)
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        opened.messages = []
        opened.on("console", lambda message: opened.messages.append(message.text))
        opened.on("pageerror", lambda error: opened.messages.append(str(error)))
        opened.context.set_offline(True)
        opened.goto(page.as_uri())
        opened.wait_for_selector("html[data-drawn=all]")
        yield opened
        browser.close()


@pytest.mark.slow
def test_the_browser_draws_every_pair_without_console_messages(tab: Any) -> None:
    assert tab.locator("[data-chart]").count() == tab.locator("[data-chart]:has(svg, table)").count()
    count = tab.locator("#choose-pair option").count()
    assert count == len(NAMES) - 2
    for place in range(count):
        tab.select_option("#choose-pair", str(place))
        shown = tab.locator("#versus-title").inner_text()
        wait_until(tab, "document.querySelectorAll('#versus-chart .bar').length === 4")
        assert "minus" in shown
        assert not ACTING.search(shown)
    assert tab.evaluate("window.hacked") is None
    assert tab.messages == []


def test_names_that_look_alike_once_cleaned_stay_distinct() -> None:
    inputs = read_inputs([results("a\x00"), results("a\x01")])
    assert len(inputs.systems) == 2
    assert {part.id for part in report_sections(inputs)} >= {"overview", "provenance"}
