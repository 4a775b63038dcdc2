"""Charts: what they show, and that every one of them can be drawn."""

import json
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.explain.model import Bucket
from isogloss.report import charts
from isogloss.report.explain_section import explain_charts
from isogloss.report.section import Section, file_name
from isogloss.report.sections import report_sections
from isogloss.report.single_tables import bucket_edges
from report.made_records import HOSTILE, inputs

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


@pytest.fixture(scope="module")
def parts() -> dict[str, Section]:
    return {part.id: part for part in report_sections(inputs())}


def values(parts: dict[str, Section], section: str, place: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parts[section].charts[place].spec["data"]["values"]
    return found


@pytest.mark.slow
def test_every_chart_is_drawn(parts: dict[str, Section]) -> None:
    names = []
    for part in parts.values():
        for chart in part.charts:
            drawing = charts.svg(chart)
            assert drawing.startswith("<svg")
            assert "<script" not in drawing
            names.append(chart.name)
    assert names[:5] == ["overview", "languages", "families", "scripts", "gap"]
    assert "pairs-lareqa" in names
    assert {"explain-xnli-score-aLen-qLen", "differences", "data-xnli-label", "distance-xnli-t1Len"} <= set(names)
    assert any(name.startswith("difference-plain-") and name.endswith("-xnli-qLen") for name in names)
    assert len(set(names)) == len(names)
    assert charts.png(charts.svg(parts["gap"].charts[0])).startswith(b"\x89PNG")


def test_a_heat_map_prints_its_numbers(parts: dict[str, Section]) -> None:
    drawing = charts.svg(parts["languages"].charts[0])
    for text in (">80<", ">70<", ">90<", ">Burmese<", ">plain<"):
        assert text in drawing


def test_scores_of_a_cell_are_the_mean_of_its_metrics(parts: dict[str, Section]) -> None:
    found = {(v["system"], v["task"], v["language"]): v["score"] for v in values(parts, "languages")}
    assert found["plain", "xquad", "en"] == 90
    assert found[HOSTILE, "xnli", "ar"] == 60


def test_the_gap_is_english_minus_the_mean_of_the_others(parts: dict[str, Section]) -> None:
    found = {(v["system"], v["task"]): v["gap"] for v in values(parts, "gap")}
    # wikiann has no English here, and XQuAD's Thai is partial.
    assert found == {
        (system, task): gap for system in ("plain", HOSTILE) for task, gap in (("xnli", 20.0), ("xquad", 50.0))
    }


def test_the_gap_has_the_interval_of_the_record_and_else_says_that_there_is_none(parts: dict[str, Section]) -> None:
    found = {(v["system"], v["task"]): (v["low"], v["high"]) for v in values(parts, "gap")}
    assert found["plain", "xnli"] == (18.0, 22.0)
    assert found["plain", "xquad"] == (None, None)
    table = parts["gap"].tables["gap"]
    assert [row[5] for row in table.rows if row[1] == "plain"] == ["+18.0 to +22.0", "—"]
    assert any(note.startswith("— no interval: ") for note in table.notes)


def test_families_are_means_over_their_languages(parts: dict[str, Section]) -> None:
    found = {(v["system"], v["group"], v["task"]): (v["score"], v["languages"]) for v in values(parts, "groups")}
    assert found["plain", "Indo-European", "xnli"] == (70.0, 2)
    assert ("plain", "Kra-Dai", "xquad") not in found
    scripts = {(v["system"], v["group"], v["task"]): v["score"] for v in values(parts, "groups", 1)}
    assert scripts["plain", "Arab", "xnli"] == 65.0


def test_names_are_data_never_expressions(parts: dict[str, Section]) -> None:
    for part in parts.values():
        for chart in part.charts:
            transforms = json.dumps([chart.spec.get("transform"), chart.spec.get("params")])
            assert "hacked" not in transforms


@pytest.mark.parametrize(
    ("bucket", "text"),
    [
        (Bucket("XS", 1, 4, 9), "[1, 4]"),
        (Bucket("S", 4, 5, 9), "(4, 5]"),
        (Bucket("who", None, None, 9), ""),
        (Bucket("(2, 5]", 2, 5, 9), ""),
    ],
)
def test_edges(bucket: Bucket, text: str) -> None:
    assert bucket_edges(bucket) == text


def test_file_names_are_tame() -> None:
    assert file_name("aLen/qLen of ../x") == "aLen-qLen-of-..-x"
    assert file_name("../..") == "x"
    taken: set[str] = set()
    assert [file_name(text, taken) for text in ("a/b", "A.b", "a b")] == ["a-b", "A.b", "a-b-2"]


def test_a_system_has_one_colour_in_the_whole_report() -> None:
    made = inputs()
    second = {HOSTILE: made.explained.explanations[HOSTILE]}
    overview = report_sections(made)[0].charts[0].spec["encoding"]["color"]["scale"]
    (bars, _) = next(explain_charts(second, made.systems)).spec["spec"]["layer"]
    scale = bars["encoding"]["color"]["scale"]
    assert scale["domain"] == [HOSTILE]
    assert scale["range"] == overview["range"][1:]


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(charts, "import_module", missing)
    with pytest.raises(IsoglossError, match=r"pip install 'isogloss\[charts\]'"):
        charts.chart_library()
