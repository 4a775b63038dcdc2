"""How a finding is shown: values by what their column holds, every look as a chart that can be drawn, in reports."""

import pytest

from isogloss.analysis.finding import Column, Figure, Finding, TidyTable, Value
from isogloss.report.charts import svg
from isogloss.report.finding_charts import finding_charts
from isogloss.report.finding_section import finding_sections
from isogloss.report.finding_tables import finding_tables, tidy_csv, value_text
from isogloss.report.score_sections import gap_section
from report.made_records import results

TABLE = TidyTable(
    "made",
    "Made up",
    [
        Column("language", label="code"),
        Column("system"),
        Column("size", "number"),
        Column("score", "score", low="low", high="high"),
        Column("low", "score"),
        Column("high", "score"),
        Column("gap", "difference"),
    ],
    [
        ["en", "a", 6.0, 80.04, 78.0, 82.0, 0.0],
        ["sw", "a", 0.05, 51.25, None, None, -3.0],
        ["en", "=b", 6.0, 70.0, 60.0, 75.0, 2.0],
        ["sw", "=b", 0.05, 40.0, 30.0, 50.0, None],
    ],
    shown=3,
)
LOOKS = [
    Figure("made", "scatter", "t", "d", "size", "score", colour="system", label="language", fit=True, log_x=True),
    Figure("made", "strip", "t", "d", "score", "language", colour="system", marks=[("human", 90.0), ("mean", 50.0)]),
    Figure("made", "lines", "t", "d", "size", "score", colour="system", panel="system"),
    Figure("made", "bars", "t", "d", "score", "language", colour="system", marks=[("English", 80.0)]),
    Figure("made", "heatmap", "t", "d", "system", "language", colour="score"),
    Figure("made", "heatmap", "t", "d", "system", "language", colour="gap", panel="system"),
]
FINDING = Finding("made", "Made up", "Nothing.", [TABLE], LOOKS)


@pytest.mark.parametrize(
    ("value", "holds", "text"),
    [
        (80.04, "score", "80.0"),
        (-3.0, "difference", "-3.0"),
        (0.254, "share", "0.25"),
        (-0.5, "correlation", "-0.50"),
        (0.0001, "p", "1e-04"),
        (12345, "count", "12,345"),
        (13000.0, "number", "13,000"),
        (0.1234567, "number", "0.1235"),
        (True, "text", "yes"),
        (None, "score", "·"),
        ("en", "text", "en"),
    ],
)
def test_values_by_what_they_are(value: object, holds: str, text: str) -> None:
    assert value_text(value, holds) == text  # type: ignore[arg-type]


def test_a_table_shows_intervals_beside_their_values_and_no_more_rows_than_it_asks_for() -> None:
    [shown] = finding_tables(FINDING)
    assert shown.header == ["code", "system", "size", "score", "95 %", "gap"]
    assert shown.words == 2
    assert shown.rows[0] == ("en", "a", "6", "80.0", "78.0–82.0", "+0.0")
    assert shown.rows[1][4] == "—"
    assert len(shown.rows) == 3
    assert shown.notes == ["1 more rows: --csv and --json have all"]
    assert len(finding_tables(FINDING, most=100)[0].rows) == 4


def test_columns_that_tell_nothing_are_in_the_files_alone() -> None:
    rows = [[code, system, size, score, None, None, None] for code, system, size, score, *_ in TABLE.rows]
    bare = TidyTable("made", "Made up", TABLE.columns, rows)
    [shown] = finding_tables(Finding("made", "Made up", "Nothing.", [bare]))
    assert shown.header == ["code", "system", "size", "score"]
    assert "gap" in tidy_csv(bare)
    [empty] = finding_tables(Finding("made", "Made up", "", [TidyTable("made", "t", TABLE.columns, [])]))
    assert empty.header == ["code", "system", "size", "score", "gap"]


def test_bars_without_intervals_have_no_rules() -> None:
    rows = [[code, system, size, score, None, None, gap] for code, system, size, score, _, _, gap in TABLE.rows]
    bare = Finding("made", "Made up", "", [TidyTable("made", "t", TABLE.columns, rows)], [LOOKS[2], LOOKS[3]])
    assert all(
        "high" not in str(chart.spec["layer" if "layer" in chart.spec else "spec"]) for chart in finding_charts(bare)
    )


def test_files_have_the_numbers_as_they_are_and_no_formulas() -> None:
    lines = tidy_csv(TABLE).splitlines()
    assert lines[0] == "language,system,size,score,low,high,gap"
    assert lines[1] == "en,a,6.0,80.04,78.0,82.0,0.0"
    assert lines[3].startswith("en,'=b,")


@pytest.mark.parametrize("place", range(len(LOOKS)))
def test_every_look_can_be_drawn(place: int) -> None:
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    chart = finding_charts(FINDING)[place]
    drawing = svg(chart)
    assert "<svg" in drawing
    assert drawing.count("<path") > 4
    for name, value in LOOKS[place].marks:
        assert name in drawing
        assert value in [
            row["value"] for layer in chart.spec["layer"] for row in layer.get("data", {}).get("values", [])
        ]


def test_a_point_that_is_not_fitted_is_a_diamond() -> None:
    rows = [[code, size, score, code != "en"] for code, size, score in (("en", 6.0, 80.0), ("sw", 0.05, 40.0))]
    columns = [Column("language"), Column("size", "number"), Column("score", "score"), Column("fitted")]
    look = Figure("made", "scatter", "t", "d", "size", "score", fit=True, fitted="fitted")
    [chart] = finding_charts(Finding("made", "t", "", [TidyTable("made", "t", columns, rows)], [look]))
    points, line = chart.spec["layer"][:2]
    assert points["encoding"]["shape"]["condition"] == {"test": "!datum['fitted']", "value": "diamond"}
    assert line["transform"][0] == {"filter": "datum['fitted']"}
    assert "regression" in line["transform"][1]


def test_the_mean_stands_last_and_axes_name_their_unit() -> None:
    rows: list[list[Value]] = [
        [language, system, 50.0, 2.0] for system in ("a", "b") for language in ("de", "mean", "sw")
    ]
    columns = [
        Column("language"),
        Column("system"),
        Column("right", "score"),
        Column("gap", "difference", "gap, points"),
    ]
    table = TidyTable("made", "t", columns, rows)
    looks = [Figure("made", "bars", "t", "d", x, "language", colour="system") for x in ("right", "gap")]
    charts = finding_charts(Finding("made", "t", "", [table], looks))
    for chart, title in zip(charts, ("right (score)", "gap, points"), strict=True):
        encoding = chart.spec["layer"][0]["encoding"]
        assert encoding["y"]["sort"] == ["de", "sw", "mean"]
        assert encoding["x"]["title"] == title


def test_one_colour_has_a_legend_where_nothing_else_tells_what_it_is() -> None:
    rows: list[list[Value]] = [["a", "on the Pareto front", 100.0, 50.0], ["b", "on the Pareto front", 200.0, 60.0]]
    columns = [Column("system"), Column("front"), Column("size", "number"), Column("score", "score")]
    table = TidyTable("made", "t", columns, rows)
    look = Figure("made", "scatter", "t", "d", "size", "score", colour="front")
    [chart] = finding_charts(Finding("made", "t", "", [table], [look]))
    assert chart.spec["layer"][0]["encoding"]["color"]["legend"] is not None
    look = Figure("made", "strip", "t", "d", "score", "front", colour="front")
    [chart] = finding_charts(Finding("made", "t", "", [table], [look]))
    assert chart.spec["layer"][0]["encoding"]["color"]["legend"] is None  # the axis has the word


def test_a_figure_without_numbers_is_left_out() -> None:
    empty = TidyTable("made", "t", TABLE.columns, [["en", "a", None, None, None, None, None]])
    assert finding_charts(Finding("made", "Made up", "Nothing.", [empty], LOOKS)) == []


def test_a_report_has_the_analyses_that_its_records_allow() -> None:
    one = finding_sections({"mine": results("mine")})
    assert [section.id for section in one] == ["families", "saturation"]
    two = finding_sections({"mine": results("mine"), "other": results("other", 3)})
    assert [section.id for section in two] == ["families", "rankings", "saturation"]
    assert all(section.intro and section.tables for section in two)
    assert finding_sections({}) == []


def test_transfer_gaps_stand_beside_what_could_be_reached() -> None:
    tables = gap_section({"mine": results("mine")}).tables
    assert list(tables) == ["gap", "gap-ceilings"]
    ceilings = tables["gap-ceilings"]
    [xnli] = [row for row in ceilings.rows if row[0] == "xnli"]
    assert xnli[ceilings.header.index("human")] == "92.8"
    assert xnli[ceilings.header.index("to human")] == "+32.8"
    assert len(ceilings.rows) == len(tables["gap"].rows)
