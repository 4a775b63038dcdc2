"""Charts: what they show, and that every one of them can be drawn."""

import json
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.explain.examples import Case
from isogloss.explain.model import Bucket, Explanation
from isogloss.report import charts
from isogloss.report.document import Section, sections
from isogloss.report.explained import edges, explain_data, slug
from report.made_records import HOSTILE, facet, inputs

pytest.importorskip("vl_convert", reason="charts need vl-convert-python")


@pytest.fixture(scope="module")
def parts() -> dict[str, Section]:
    return {part.id: part for part in sections(inputs())}


def values(parts: dict[str, Section], section: str, place: int = 0) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parts[section].charts[place].spec["data"]["values"]
    return found


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
    assert "explain-xnli-score-aLen-qLen" in names
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
    [(Bucket("XS", 1, 4, 9), "1–4"), (Bucket("S", 0.25, 0.25, 9), "0.25"), (Bucket("who", None, None, 9), "")],
)
def test_edges(bucket: Bucket, text: str) -> None:
    assert edges(bucket) == text


def test_file_names_are_tame() -> None:
    assert slug("aLen/qLen of ../x") == "aLen-qLen-of-..-x"
    assert slug("../..") == "x"


def test_ids_stand_once_and_are_cut_where_there_are_too_many() -> None:
    few = explain_data({"a": Explanation({}, "s", "test", [facet("xnli", "en", a) for a in ("qLen", "tLen")])})
    assert few["ids"] == {"xnli/en": [f"en-{row}" for row in range(12)]}
    assert [bucket[6] for bucket in few["facets"][1]["buckets"]] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    many = explain_data({"a": Explanation({}, "s", "test", [facet("xnli", "en", "qLen", ids=100)])})
    shown, total = many["facets"][0]["buckets"][0][6:]
    assert (len(shown), total) == (64, 100)


def test_many_long_ids_do_not_swell_the_page() -> None:
    long = [facet("xnli", "x" * place + "-" * 500, "qLen", ids=64) for place in range(40)]
    data = explain_data({"a": Explanation({}, "s", "test", long)})
    assert sum(len(one) for ids in data["ids"].values() for one in ids) < 3_000_000
    assert all(bucket[6] for found in data["facets"] for bucket in found["buckets"])


def test_long_texts_are_cut_so_that_all_fit() -> None:
    facets = [facet("xnli", "en", "qLen", ids=60)]
    long = {f"en-{row}": Case(f"en-{row}", {"text": "x" * 10_000}, ["a", "b"], {"s": 3}, {}) for row in range(240)}
    data = explain_data({"a": Explanation({}, "s", "test", facets)}, (), {"xnli/en": long})
    shown = data["cases"]["xnli/en"]["en-7"]
    assert shown == {"inputs": [["text", "x" * 599 + "…"]], "gold": "a · b", "said": [["s", "3", None]]}
    more = [facet("xnli", str(code), "qLen", ids=60) for code in range(50)]
    kept = {f"xnli/{code}": {f"{code}-{row}": long[f"en-{row}"] for row in range(240)} for code in range(50)}
    data = explain_data({"a": Explanation({}, "s", "test", more)}, (), kept)
    assert len(data["ids"]["xnli/3"]) == 4 * 32
    assert data["cases"]["xnli/3"]["3-7"]["inputs"] == [["text", "x" * 239 + "…"]]


def test_a_system_has_one_colour_in_the_whole_report() -> None:
    made = inputs()
    second = {HOSTILE: made.explanations[HOSTILE]}
    overview = sections(made)[0].charts[0].spec["encoding"]["color"]["scale"]
    (bars, _) = explain_data(second, made.systems)["spec"]["spec"]["layer"]
    scale = bars["encoding"]["color"]["scale"]
    assert scale["domain"] == [HOSTILE]
    assert scale["range"] == overview["range"][1:]


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(charts, "import_module", missing)
    with pytest.raises(IsoglossError, match=r"pip install 'isogloss\[charts\]'"):
        charts.converter()
