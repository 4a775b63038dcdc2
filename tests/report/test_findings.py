"""Test the display of findings: formatted values, charts of every kind, and sections of reports."""

import pytest

from isogloss.analysis.finding import Column, Figure, Finding, TidyTable, Value
from isogloss.site.sections import finding_sections, gap_section
from isogloss.tables.findings import finding_charts, finding_tables, tidy_csv, value_text
from isogloss.tables.vega import svg, vega_spec
from report.made_records import as_systems, results

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
    Figure(
        table="made",
        looks="scatter",
        title="t",
        description="d",
        x="size",
        y="score",
        colour="system",
        label="language",
        fit=True,
        log_x=True,
    ),
    Figure(
        table="made",
        looks="strip",
        title="t",
        description="d",
        x="score",
        y="language",
        colour="system",
        marks=[("human", 90.0), ("mean", 50.0)],
    ),
    Figure(
        table="made", looks="lines", title="t", description="d", x="size", y="score", colour="system", panel="system"
    ),
    Figure(
        table="made",
        looks="bars",
        title="t",
        description="d",
        marks=[("English", 80.0)],
        x="score",
        y="language",
        colour="system",
    ),
    Figure(table="made", looks="heatmap", title="t", description="d", x="system", y="language", colour="score"),
    Figure(
        table="made",
        looks="heatmap",
        title="t",
        description="d",
        x="system",
        y="language",
        colour="gap",
        panel="system",
    ),
]
FINDING = Finding(analysis="made", title="Made up", reading="Nothing.", tables=[TABLE], figures=LOOKS)


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
def test_values_are_formatted_by_column(value: object, holds: str, text: str) -> None:
    assert value_text(value, holds) == text  # type: ignore[arg-type]


def test_tables_show_intervals_and_a_limited_number_of_rows() -> None:
    [shown] = finding_tables(FINDING)
    assert shown.header == ["code", "system", "size", "score", "95 %", "gap"]
    assert shown.words == 2
    assert shown.rows[0] == ("en", "a", "6", "80.0", "78.0–82.0", "0.0")
    assert shown.rows[1][4] == "—"
    assert len(shown.rows) == 3
    assert shown.notes == ["1 more row: use --csv, --json or to_pandas for all"]
    assert len(finding_tables(FINDING, most=100)[0].rows) == 4


def test_empty_columns_appear_only_in_files() -> None:
    rows = [[code, system, size, score, None, None, None] for code, system, size, score, *_ in TABLE.rows]
    bare = TidyTable("made", "Made up", TABLE.columns, rows)
    [shown] = finding_tables(Finding(analysis="made", title="Made up", reading="Nothing.", tables=[bare]))
    assert shown.header == ["code", "system", "size", "score"]
    assert "gap" in tidy_csv(bare)
    [empty] = finding_tables(
        Finding(analysis="made", title="Made up", reading="", tables=[TidyTable("made", "t", TABLE.columns, [])])
    )
    assert empty.header == ["code", "system", "size", "score", "gap"]


def test_bars_without_intervals_have_no_rules() -> None:
    rows = [[code, system, size, score, None, None, gap] for code, system, size, score, _, _, gap in TABLE.rows]
    bare = Finding(
        analysis="made",
        title="Made up",
        reading="",
        tables=[TidyTable("made", "t", TABLE.columns, rows)],
        figures=[LOOKS[2], LOOKS[3]],
    )
    assert all(
        "high" not in str(vega_spec(chart).get("layer") or vega_spec(chart)["spec"]) for chart in finding_charts(bare)
    )
    assert all(chart.interval is None for chart in finding_charts(bare))


def test_files_have_unrounded_numbers_and_no_formulas() -> None:
    lines = tidy_csv(TABLE).splitlines()
    assert lines[0] == "language,system,size,score,low,high,gap"
    assert lines[1] == "en,a,6.0,80.04,78.0,82.0,0.0"
    assert lines[3].startswith("en,'=b,")


@pytest.mark.parametrize("place", range(len(LOOKS)))
def test_every_kind_of_figure_can_be_drawn(place: int) -> None:
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    chart = finding_charts(FINDING)[place]
    drawing = svg(chart)
    assert "<svg" in drawing
    assert drawing.count("<path") > 4
    for name, value in LOOKS[place].marks:
        assert name in drawing
        assert value in [
            row["value"] for layer in vega_spec(chart)["layer"] for row in layer.get("data", {}).get("values", [])
        ]


def test_points_outside_the_fit_are_diamonds() -> None:
    rows = [[code, size, score, code != "en"] for code, size, score in (("en", 6.0, 80.0), ("sw", 0.05, 40.0))]
    columns = [Column("language"), Column("size", "number"), Column("score", "score"), Column("fitted")]
    look = Figure(
        table="made", looks="scatter", title="t", description="d", x="size", y="score", fit=True, fitted="fitted"
    )
    [chart] = finding_charts(
        Finding(analysis="made", title="t", reading="", tables=[TidyTable("made", "t", columns, rows)], figures=[look])
    )
    points, line = vega_spec(chart)["layer"][:2]
    assert points["encoding"]["shape"]["condition"] == {"test": "!datum['fitted']", "value": "diamond"}
    assert line["transform"][0] == {"filter": "datum['fitted']"}
    assert "regression" in line["transform"][1]


def test_the_mean_is_last_and_axes_name_their_unit() -> None:
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
    looks = [
        Figure(table="made", looks="bars", title="t", description="d", x=x, y="language", colour="system")
        for x in ("right", "gap")
    ]
    charts = finding_charts(Finding(analysis="made", title="t", reading="", tables=[table], figures=looks))
    for chart, title in zip(charts, ("right (score)", "gap, points"), strict=True):
        encoding = vega_spec(chart)["layer"][0]["encoding"]
        assert encoding["y"]["sort"] == ["de", "sw", "mean"]
        assert encoding["x"]["title"] == title


def test_a_single_colour_has_a_legend_only_if_nothing_else_names_it() -> None:
    rows: list[list[Value]] = [["a", "on the Pareto front", 100.0, 50.0], ["b", "on the Pareto front", 200.0, 60.0]]
    columns = [Column("system"), Column("front"), Column("size", "number"), Column("score", "score")]
    table = TidyTable("made", "t", columns, rows)
    look = Figure(table="made", looks="scatter", title="t", description="d", x="size", y="score", colour="front")
    [chart] = finding_charts(Finding(analysis="made", title="t", reading="", tables=[table], figures=[look]))
    assert chart.series is not None
    assert chart.series.legend
    look = Figure(table="made", looks="strip", title="t", description="d", x="score", y="front", colour="front")
    [chart] = finding_charts(Finding(analysis="made", title="t", reading="", tables=[table], figures=[look]))
    assert chart.series is not None
    assert not chart.series.legend  # the axis names it


def test_a_figure_without_numbers_is_left_out() -> None:
    empty = TidyTable("made", "t", TABLE.columns, [["en", "a", None, None, None, None, None]])
    assert (
        finding_charts(Finding(analysis="made", title="Made up", reading="Nothing.", tables=[empty], figures=LOOKS))
        == []
    )


def test_reports_include_the_analyses_their_records_allow() -> None:
    one = finding_sections(as_systems({"mine": results("mine")}))
    assert [section.id for section in one] == ["families", "saturation"]
    two = finding_sections(as_systems({"mine": results("mine"), "other": results("other", 3)}))
    assert [section.id for section in two] == ["families", "rankings", "saturation"]
    assert all(section.intro and section.tables for section in two)
    assert finding_sections(as_systems({})) == []


def test_transfer_gaps_are_shown_next_to_ceilings() -> None:
    tables = gap_section(as_systems({"mine": results("mine")})).tables
    assert list(tables) == ["gap", "gap-ceilings"]
    ceilings = tables["gap-ceilings"]
    [xnli] = [row for row in ceilings.rows if row[0] == "xnli"]
    assert xnli[ceilings.header.index("human")] == "92.8"
    assert xnli[ceilings.header.index("to human")] == "+32.8"
    assert len(ceilings.rows) == len(tables["gap"].rows)
