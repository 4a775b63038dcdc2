"""Test tables and charts of pairs: a single pair is named in headings, several pairs in columns."""

import msgspec

from isogloss.site.explain_section import pairwise_section
from isogloss.tables.explain_tables import disagreement_table, pairwise_bucket_table, pairwise_tables, turned_table
from report.made_records import HOSTILE, pair_made


def test_every_cell_and_ranking_flip() -> None:
    section = pairwise_section([pair_made()])
    cells = section.tables["differences"]
    assert cells.title == f"plain against {HOSTILE}: examples that only one system gets right"
    assert cells.header == ("task", "code", "language", "Δ", "n", "only plain", f"only {HOSTILE}", "turned")
    assert cells.rows[0] == ("xnli", "en", "English", "+5.0", "100", "12", "7", "1")
    # L is flipped too, but not significantly.
    (turned,) = section.tables["turns"].rows
    assert turned[:5] == ("xnli", "en", "English", "qLen", "XL (9, 11]")
    assert turned[5:] == ("31.0", "40.0", "-9.0", "-12.0 to -6.0", "0.010", "25")
    assert {record["score"] for record in section.charts[0].records} == {5.0}


def test_tables_of_several_pairs_name_their_systems() -> None:
    pairs = [pair_made("a", "b"), pair_made("a", "c")]
    cells = disagreement_table(pairs)
    assert cells.header[3:5] == ("first", "second")
    assert cells.header[7:9] == ("only first", "only second")
    assert [row[3:6] for row in cells.rows] == [("a", other, "+5.0") for other in ("b", "b", "c", "c")]
    assert [row[5:7] for row in turned_table(pairs).rows] == [("a", "b"), ("a", "c")]
    buckets = pairwise_bucket_table(pairs)
    assert len(set(buckets.header)) == len(buckets.header)
    assert len(buckets.rows) == 16
    assert buckets.rows[-1][7:9] == ("a", "c")


def test_no_table_without_ranking_flips() -> None:
    made = pair_made()
    calm = type(made)(made.first, made.second, made.facets[1:], made.cells[1:])
    assert list(pairwise_section([calm]).tables) == ["differences"]
    assert turned_table([calm]).notes == [
        "nowhere: no bucket significantly favours the system that is behind in its cell"
    ]


def test_every_bucket_of_a_pair() -> None:
    table = pairwise_bucket_table([pair_made()])
    assert table.header[7:9] == ("plain", HOSTILE)
    assert len(table.rows) == 8
    assert table.rows[0][5:] == ("XS", "[0, 2]", "92.0", "80.0", "+12.0", "+9.0 to +15.0", "0.001", "25", "▲●")
    assert [row[-1] for row in table.rows[:4]] == ["▲●", "", "⇄", "▼●⇄"]
    assert r"$\bullet$$\rightleftharpoons$" in table.latex()


def test_few_cells_show_all_buckets_and_many_only_flips() -> None:
    made = pair_made()
    few = pairwise_tables([made])
    assert [table.title for table in few[1:]] == [
        f"plain minus {HOSTILE} on xnli/{code}: score by attribute" for code in ("en", "ar")
    ]
    assert [row[-1] for row in few[1].rows] == ["▲●", "", "⇄", "▼●⇄"]
    many = [msgspec.structs.replace(facet, task=str(n)) for n in range(4) for facet in made.facets]
    titles = [table.title for table in pairwise_tables([type(made)(made.first, made.second, many, made.cells)])]
    assert titles[1:] == [f"plain minus {HOSTILE}: where the ranking flips"]
