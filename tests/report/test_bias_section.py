"""Test dataset bias in tables, charts and page data."""

from msgspec.structs import replace as change

from isogloss.site.bias_section import bias_data, bias_section
from isogloss.tables import charts
from report.made_records import bias


def test_every_number_of_dataset_bias_is_in_its_tables() -> None:
    tables = bias_section(bias()).tables
    rows = tables["distributions"].rows
    assert ("xnli", "en", "English", "test", "t1Len", "", "100", "", "10", "1", "6", "9", "14", "20") in rows
    assert ("xnli", "ar", "Arabic", "test", "label", "neutral", "100", "0.3000", *[""] * 6) in rows
    far = [row for row in tables["distances"].rows if row[1] == "t1Len"]
    assert [row[3:] for row in far] == [("en", "ar", "2", "3"), ("en", "th", "30", "3"), ("ar", "th", "28", "3")]


def test_long_tails_get_a_square_root_scale() -> None:
    by_name = {chart.name: chart for chart in bias_section(bias()).charts}
    assert by_name["bias-xnli-t1Len"].x.scale == "sqrt"
    assert by_name["bias-xcopa-t1Len"].x.scale == "linear"


def test_values_have_colours_and_the_rest_is_grey() -> None:
    made = bias()
    many = {f"value {place:02}": 0.05 for place in range(20)}
    label = change(made.distributions[1], language="en", attribute="qType", title="kind of question", shares=many)
    by_name = {
        chart.name: chart
        for chart in bias_section(change(made, distributions=[label], distances=[], missing=[])).charts
    }
    series = by_name["bias-xnli-qType"].series
    assert series is not None
    assert series.names == [*sorted(many)[:7], "all others"]
    assert series.colours == [*charts.PALETTE[:7], "#999999"]
    records = by_name["bias-xnli-qType"].records
    assert round(sum(record["share"] for record in records), 6) == 1


def test_the_page_stores_distances_above_the_diagonal() -> None:
    data = bias_data(bias())
    assert data["distances"]["xnli"]["t1Len"] == ["wasserstein-1", ["en", "ar", "th"], 0.1, [[20, 300], [280]], 1]
    assert data["tasks"]["xnli"]["t1Len"]["th"] == [100, 40.0, 1.0, 36.0, 39.0, 44.0, 400.0]
    assert data["tasks"]["xnli"]["overlap"]["en"] == [100]
    assert data["values"]["label"] == {"xnli": ["entailment", "neutral", ""], "xcopa": ["0", "1"]}
