"""Pairs of systems and surveys of the data as tables, charts and data of the page."""

from isogloss.report import charts
from isogloss.report.bias_section import survey_data, survey_section
from isogloss.report.pairwise_section import difference_table, versus_section
from report.made_records import HOSTILE, survey, versus


def test_every_cell_and_where_the_order_turns() -> None:
    section = versus_section([versus()])
    (english, _) = section.tables["differences"].rows
    assert english == ("xnli", "en", "English", "plain", HOSTILE, "+5.0", "100", "12", "7", "1")
    # L is turned too, but not surely.
    (turned,) = section.tables["turns"].rows
    assert turned[:5] == ("xnli", "en", "English", "qLen", "XL (9, 11]")
    assert turned[-3:] == ("-9.0", "-12.0 to -6.0", "0.010")
    assert {record["score"] for record in section.charts[0].spec["data"]["values"]} == {5.0}


def test_where_nothing_turns_there_is_no_table_of_it() -> None:
    pair = versus()
    calm = type(pair)(pair.first, pair.second, pair.facets[1:], pair.cells[1:])
    assert list(versus_section([calm]).tables) == ["differences"]


def test_every_bucket_of_a_pair() -> None:
    rows = difference_table([versus()]).rows
    assert len(rows) == 8
    assert rows[0][5:10] == ("XS", "[0, 2]", "plain", HOSTILE, "25")
    assert rows[0][10:] == ("92.0", "80.0", "+12.0", "+9.0 to +15.0", "0.001", "●")
    assert [row[-1] for row in rows[:4]] == ["●", "", "⇄", "●⇄"]
    assert r"$\bullet$$\rightleftharpoons$" in difference_table([versus()]).latex()


def test_every_number_of_a_survey_is_in_its_tables() -> None:
    tables = survey_section(survey()).tables
    rows = tables["distributions"].rows
    assert ("xnli", "en", "English", "test", "t1Len", "", "100", "", "10", "1", "6", "9", "14", "20") in rows
    assert ("xnli", "ar", "Arabic", "test", "label", "neutral", "100", "0.3000", *[""] * 6) in rows
    far = [row for row in tables["distances"].rows if row[1] == "t1Len"]
    assert [row[3:] for row in far] == [("en", "ar", "2"), ("en", "th", "30"), ("ar", "th", "28")]


def test_charts_of_long_tails_have_a_scale_of_roots() -> None:
    by_name = {chart.name: chart for chart in survey_section(survey()).charts}
    whole, *_ = by_name["data-xnli-t1Len"].spec["spec"]["layer"]
    assert whole["encoding"]["x"]["scale"] == {"type": "sqrt"}
    whole, *_ = by_name["data-xcopa-t1Len"].spec["spec"]["layer"]
    assert whole["encoding"]["x"]["scale"] == {"type": "linear"}


def test_values_have_colours_and_the_rest_is_grey() -> None:
    made = survey()
    many = {f"value {place:02}": 0.05 for place in range(20)}
    label = type(made.distributions[1])("xnli", "en", "test", "qType", "kind of question", True, 100, shares=many)
    by_name = {chart.name: chart for chart in survey_section(type(made)("test", [label], [])).charts}
    scale = by_name["data-xnli-qType"].spec["spec"]["encoding"]["color"]["scale"]
    assert scale["domain"] == [*sorted(many)[:7], "all others"]
    assert scale["range"][:7] == list(charts.PALETTE[:7])
    records = by_name["data-xnli-qType"].spec["data"]["values"]
    assert round(sum(record["share"] for record in records), 6) == 1


def test_the_page_has_what_stands_above_the_diagonal() -> None:
    data = survey_data(survey())
    assert data["distances"]["xnli"]["t1Len"] == ["wasserstein-1", ["en", "ar", "th"], 0.1, [[20, 300], [280]]]
    assert data["tasks"]["xnli"]["t1Len"]["th"] == [100, 40.0, 1.0, 36.0, 39.0, 44.0, 400.0]
    assert data["tasks"]["xnli"]["overlap"]["en"] == [100]
    assert data["values"]["label"] == {"xnli": ["entailment", "neutral", ""], "xcopa": ["0", "1"]}
