"""Test the page: complete, self-contained, safe with any name, and readable in every script."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.explain.analysis import Analysis
from isogloss.languages import language
from isogloss.scoring.names import shortest_distinct
from isogloss.scoring.results import Results
from isogloss.site.html import html_page
from isogloss.site.page_parts import ReportInputs
from isogloss.site.sections import report_sections
from isogloss.site.write import write_analysis, write_bias
from report.made_records import HOSTILE, LANGUAGES, as_systems, bias, explanation, inputs, pair_made, results
from report.page_reader import Reader


@pytest.fixture(scope="module")
def html() -> str:
    made = inputs()
    return html_page(made, report_sections(made), 'A & B "report" <now>')


@pytest.fixture(scope="module")
def read(html: str) -> Reader:
    return Reader(html)


def embedded(html: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


def test_elements_are_well_nested_and_ids_unique(read: Reader) -> None:
    assert read.open == []
    ids = Counter(attributes["id"] for _, attributes in read.elements if "id" in attributes)
    assert max(ids.values()) == 1


def test_every_internal_link_has_a_target(read: Reader) -> None:
    ids = {attributes["id"] for _, attributes in read.elements if "id" in attributes}
    inner = [str(a["href"])[1:] for a in read.all("a") if str(a["href"]).startswith("#")]
    assert {
        "overview",
        "languages",
        "groups",
        "gap",
        "pairs",
        "differences",
        "explain",
        "bias",
        "provenance",
    } <= set(inner)
    assert {target.split("/")[0] for target in inner} <= ids


def test_nothing_is_loaded_from_anywhere(read: Reader) -> None:
    for _, attributes in read.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:,", "tables/", "charts/")) or not value
    style = "".join(text for tag, text in read.texts if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    (policy,) = [a["content"] for a in read.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    assert str(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in str(policy)
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)
    assert "http" not in str(policy)


def test_the_only_address_is_the_svg_namespace(html: str) -> None:
    assert [*re.findall(r"\w+://[^\s\"'`)]*", html)] == ["http://www.w3.org/2000/svg"]


def test_the_page_is_small(html: str) -> None:
    assert len(html.encode()) < 250_000
    assert "vega" not in html.lower()


def test_hostile_names_stay_text(html: str, read: Reader) -> None:
    assert read.all("img") == []
    assert len(read.all("script")) == 2
    assert any(text == HOSTILE for _, text in read.texts)
    assert HOSTILE in embedded(html)["charts"]["overview"]["series"]["names"]
    assert "<title>A &amp; B &quot;report&quot; &lt;now&gt;</title>" in html


def test_languages_carry_their_own_names(html: str) -> None:
    for code in LANGUAGES:
        entry = language(code)
        assert f'<bdi lang="{code}">{entry.autonym}</bdi>' in html
        assert entry.autonym.lower() in embedded(html)["languages"][code]


def test_the_page_works_by_keyboard(read: Reader) -> None:
    assert read.all("a")[0] == {"class": "skip", "href": "#content"}
    scrolling = [a for a in read.all("div") if "scroll" in str(a.get("class")) and "role" in a]
    assert scrolling
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolling)
    assert len(read.all("button")) >= len([a for a in read.all("th") if a.get("scope") == "col"])


def test_cells_link_to_their_explanation(html: str, read: Reader) -> None:
    targets = {str(a["href"]) for a in read.all("a")}
    assert {"#explain/xnli/en", "#explain/xnli/th"} <= targets
    assert "#explain/xnli/ur" not in targets
    assert '<a href="#explain/xnli/th">50.0</a>' in html


def test_missing_cells_and_provenance_are_shown(html: str) -> None:
    assert "xnli/sw mewslix" in html
    assert "task:xquad|lang:hi|version:0" in html
    assert "65.0*" in html
    assert "7.0†" in html


def test_sections_without_data_are_left_out() -> None:
    alone = results("one")
    bare = Results(
        suite=alone.suite,
        system=alone.system,
        split=alone.split,
        cells=alone.cells[1:4],
        tasks=[],
        categories=[],
        overall=alone.overall,
        pairs=[],
        isogloss="0.1.0",
    )
    made = ReportInputs(as_systems({"one": bare}))
    assert [part.id for part in report_sections(made)] == ["overview", "languages", "groups", "provenance"]
    assert Reader(html_page(made, report_sections(made), "t")).open == []


def test_dataset_bias_is_a_page_of_its_own(tmp_path: Path) -> None:
    write_bias(bias(), tmp_path / "data.html")
    text = (tmp_path / "data.html").read_text(encoding="utf-8")
    page = Reader(text)
    assert page.open == []
    assert [a["id"] for a in page.all("section")] == ["bias", "tables"]
    assert "Dataset bias of xnli, xcopa (test), without any system" in text
    assert "no gold labels: xcopa/sw" in text
    assert set(embedded(text)["languages"]) == {"ar", "en", "th"}
    assert not any(str(a["href"]).startswith(("tables/", "charts/")) for a in page.all("a"))


def test_an_analysis_is_a_page_of_its_own(tmp_path: Path) -> None:
    pair = msgspec.structs.replace(pair_made(), cells=[])
    write_analysis(
        Analysis(explanations=[explanation("plain"), explanation(HOSTILE)], pairs=[pair], edges="shared"),
        tmp_path / "a.html",
    )
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert [a["id"] for a in Reader(text).all("section")] == ["explain", "tables"]
    assert "bucket edges shared by all languages of a task" in text
    assert len(embedded(text)["explain"]["pairs"]) == 1


def test_pages_do_not_import_the_checklist() -> None:
    code = "import sys, isogloss.site.write; print([m for m in sys.modules if m.startswith('isogloss.checklist')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_identical_inputs_give_identical_bytes(html: str) -> None:
    made = inputs()
    assert html_page(made, report_sections(made), 'A & B "report" <now>') == html


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ([("a",), ("b",)], ["a", "b"]),
        ([("a", "zero-shot", ""), ("a", "translate", "")], ["a, zero-shot", "a, translate"]),
        ([("a", "", "seed 0"), ("a", "", "seed 1")], ["a, seed 0", "a, seed 1"]),
        ([("a", "x", ""), ("a", "x", "")], ["a, x (1)", "a, x (2)"]),
        ([], []),
    ],
)
def test_names_are_as_short_as_possible(names: list[tuple[str, ...]], expected: list[str]) -> None:
    assert shortest_distinct(names) == expected
