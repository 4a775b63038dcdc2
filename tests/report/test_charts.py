"""Test the content of charts, and that all of them can be drawn."""

import json
import re
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.explain.buckets import bucket_edges
from isogloss.explain.model import Bucket
from isogloss.site.explain_section import explain_charts
from isogloss.site.page_parts import Section
from isogloss.site.sections import report_sections
from isogloss.tables import vega
from isogloss.tables.charts import file_name
from isogloss.tables.vega import png, svg, vega_spec
from report.made_records import HOSTILE, inputs

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


@pytest.fixture(scope="module")
def parts() -> dict[str, Section]:
    return {part.id: part for part in report_sections(inputs())}


def values(parts: dict[str, Section], section: str, place: int = 0) -> list[dict[str, Any]]:
    return parts[section].charts[place].records


@pytest.mark.slow
def test_every_chart_is_drawn(parts: dict[str, Section]) -> None:
    names = []
    for part in parts.values():
        for chart in part.charts:
            drawing = svg(chart)
            assert drawing.startswith("<svg")
            assert "<script" not in drawing
            names.append(chart.name)
    assert names[:5] == ["overview", "languages", "families", "scripts", "gap"]
    assert "pairs-lareqa" in names
    assert {"explain-xnli-score-aLen-qLen", "differences", "bias-xnli-label", "distance-xnli-t1Len"} <= set(names)
    assert any(name.startswith("difference-plain-") and name.endswith("-xnli-qLen") for name in names)
    assert len(set(names)) == len(names)
    assert png(svg(parts["gap"].charts[0])).startswith(b"\x89PNG")


def test_a_heat_map_prints_its_numbers(parts: dict[str, Section]) -> None:
    drawing = svg(parts["languages"].charts[0])
    for text in (">80<", ">70<", ">90<", ">Burmese<", ">plain<"):
        assert text in drawing


def test_scores_of_a_cell_are_the_mean_of_its_metrics(parts: dict[str, Section]) -> None:
    scores = {(v["system"], v["task"], v["language"]): v["score"] for v in values(parts, "languages")}
    assert scores["plain", "xquad", "en"] == 90
    assert scores[HOSTILE, "xnli", "ar"] == 60


def test_the_gap_is_english_minus_the_mean_of_the_others(parts: dict[str, Section]) -> None:
    gaps = {(v["system"], v["task"]): v["gap"] for v in values(parts, "gap")}
    # wikiann has no English here, and XQuAD's Thai is partial.
    assert gaps == {
        (system, task): gap for system in ("plain", HOSTILE) for task, gap in (("xnli", 20.0), ("xquad", 50.0))
    }


def test_gaps_have_recorded_intervals_or_a_dash(parts: dict[str, Section]) -> None:
    intervals = {(v["system"], v["task"]): (v["low"], v["high"]) for v in values(parts, "gap")}
    assert intervals["plain", "xnli"] == (18.0, 22.0)
    assert intervals["plain", "xquad"] == (None, None)
    table = parts["gap"].tables["gap"]
    assert [row[5] for row in table.rows if row[1] == "plain"] == ["+18.0 to +22.0", "—"]
    assert any(note.startswith("— no interval: ") for note in table.notes)


def test_families_are_means_over_their_languages(parts: dict[str, Section]) -> None:
    means = {(v["system"], v["group"], v["task"]): (v["score"], v["languages"]) for v in values(parts, "groups")}
    assert means["plain", "Indo-European", "xnli"] == (70.0, 2)
    assert ("plain", "Kra-Dai", "xquad") not in means
    scripts = {(v["system"], v["group"], v["task"]): v["score"] for v in values(parts, "groups", 1)}
    assert scripts["plain", "Arab", "xnli"] == 65.0


def test_names_are_never_expressions(parts: dict[str, Section]) -> None:
    for part in parts.values():
        for chart in part.charts:
            spec = json.dumps(vega_spec(chart))
            expressions = re.findall(r'"(?:filter|test|calculate|expr)": "((?:[^"\\]|\\.)*)"', spec)
            assert not any("hacked" in expression for expression in expressions)


@pytest.mark.parametrize(
    ("bucket", "text"),
    [
        (Bucket("XS", 1, 4, 9), "[1, 4]"),
        (Bucket("S", 4, 5, 9), "(4, 5]"),
        (Bucket("who", None, None, 9), ""),
        (Bucket("(2, 5]", 2, 5, 9), ""),
        (Bucket("1", 1, 1, 9), ""),
    ],
)
def test_edges(bucket: Bucket, text: str) -> None:
    assert bucket_edges(bucket) == text


def test_file_names_are_safe() -> None:
    assert file_name("aLen/qLen of ../x") == "aLen-qLen-of-..-x"
    assert file_name("../..") == "x"
    taken: set[str] = set()
    assert [file_name(text, taken) for text in ("a/b", "A.b", "a b")] == ["a-b", "A.b", "a-b-2"]


def test_a_system_has_one_colour_in_the_whole_report() -> None:
    made = inputs()
    second = {HOSTILE: made.explained.explanations[HOSTILE]}
    overview = report_sections(made)[0].charts[0].series
    bars = next(explain_charts(second, made.systems)).series
    assert overview is not None
    assert bars is not None
    assert bars.names == [HOSTILE]
    assert bars.colours == overview.colours[1:]


def test_the_error_without_the_library_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(vega, "import_module", missing)
    with pytest.raises(IsoglossError, match=r"Run .* install .*\[charts\]'"):
        vega.chart_library()
