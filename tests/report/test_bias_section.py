"""Surveys of the data as tables, charts and data of the page."""

from isogloss.report import charts
from isogloss.report.bias_section import bias_data, bias_section
from report.made_records import bias


def test_every_number_of_a_survey_is_in_its_tables() -> None:
    tables = bias_section(bias()).tables
    rows = tables["distributions"].rows
    assert ("xnli", "en", "English", "test", "t1Len", "", "100", "", "10", "1", "6", "9", "14", "20") in rows
    assert ("xnli", "ar", "Arabic", "test", "label", "neutral", "100", "0.3000", *[""] * 6) in rows
    far = [row for row in tables["distances"].rows if row[1] == "t1Len"]
    assert [row[3:] for row in far] == [("en", "ar", "2", "3"), ("en", "th", "30", "3"), ("ar", "th", "28", "3")]


def test_charts_of_long_tails_have_a_scale_of_roots() -> None:
    by_name = {chart.name: chart for chart in bias_section(bias()).charts}
    whole, *_ = by_name["data-xnli-t1Len"].spec["spec"]["layer"]
    assert whole["encoding"]["x"]["scale"] == {"type": "sqrt"}
    whole, *_ = by_name["data-xcopa-t1Len"].spec["spec"]["layer"]
    assert whole["encoding"]["x"]["scale"] == {"type": "linear"}


def test_values_have_colours_and_the_rest_is_grey() -> None:
    made = bias()
    many = {f"value {place:02}": 0.05 for place in range(20)}
    label = type(made.distributions[1])("xnli", "en", "test", "qType", "kind of question", True, 100, shares=many)
    by_name = {chart.name: chart for chart in bias_section(type(made)("test", [label], [])).charts}
    scale = by_name["data-xnli-qType"].spec["spec"]["encoding"]["color"]["scale"]
    assert scale["domain"] == [*sorted(many)[:7], "all others"]
    assert scale["range"][:7] == list(charts.PALETTE[:7])
    records = by_name["data-xnli-qType"].spec["data"]["values"]
    assert round(sum(record["share"] for record in records), 6) == 1


def test_the_page_has_what_stands_above_the_diagonal() -> None:
    data = bias_data(bias())
    assert data["distances"]["xnli"]["t1Len"] == ["wasserstein-1", ["en", "ar", "th"], 0.1, [[20, 300], [280]], 1]
    assert data["tasks"]["xnli"]["t1Len"]["th"] == [100, 40.0, 1.0, 36.0, 39.0, 44.0, 400.0]
    assert data["tasks"]["xnli"]["overlap"]["en"] == [100]
    assert data["values"]["label"] == {"xnli": ["entailment", "neutral", ""], "xcopa": ["0", "1"]}
