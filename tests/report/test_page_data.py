"""The data that the page draws from: complete, and small."""

from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Explanation
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.page_data import explain_data
from report.made_records import HOSTILE, explained, facet


def alone(facets: list[AttributeScores], cases: dict[str, dict[str, ListedExample]] | None = None) -> ExplainRecords:
    return ExplainRecords({"a": Explanation({}, "s", "test", facets)}, cases=cases or {})


def test_ids_stand_once_and_are_cut_where_there_are_too_many() -> None:
    few = explain_data(alone([facet("xnli", "en", a) for a in ("qLen", "tLen")]))
    assert few["ids"] == {"xnli/en": [f"en-{row}" for row in range(12)]}
    assert [bucket[3] for bucket in few["cuts"][1][3]] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    many = explain_data(alone([facet("xnli", "en", "qLen", ids=100)]))
    *_, shown, total = many["cuts"][0][3][0]
    assert (len(shown), total) == (64, 100)


def test_many_long_ids_do_not_swell_the_page() -> None:
    long = [facet("xnli", "x" * place + "-" * 500, "qLen", ids=64) for place in range(40)]
    data = explain_data(alone(long))
    assert sum(len(one) for ids in data["ids"].values() for one in ids) < 3_000_000
    assert all(bucket[3] for cut in data["cuts"] for bucket in cut[3])


def test_long_texts_are_cut_so_that_all_fit() -> None:
    long = {
        f"en-{row}": ListedExample(f"en-{row}", {"text": "x" * 10_000}, ["a", "b"], {"a": None}, {})
        for row in range(240)
    }
    data = explain_data(alone([facet("xnli", "en", "qLen", ids=60)], {"xnli/en": long}))
    shown = data["cases"]["xnli/en"]["en-7"]
    assert shown == [[["text", "x" * 599 + "…"]], "a · b", [[0, "(none)", None]]]
    more = [facet("xnli", str(code), "qLen", ids=60) for code in range(50)]
    kept = {f"xnli/{code}": {f"{code}-{row}": long[f"en-{row}"] for row in range(240)} for code in range(50)}
    data = explain_data(alone(more, kept))
    assert len(data["ids"]["xnli/3"]) == 4 * 32
    assert data["cases"]["xnli/3"]["3-7"][0] == [["text", "x" * 239 + "…"]]
    data = explain_data(alone(more, kept), size=0)
    # Whatever the size, there are some.
    assert len(data["ids"]["xnli/3"]) == 4 * 4
    assert len(data["cases"]["xnli/3"]["3-0"][0][0][1]) == 240


def test_systems_and_pairs_share_their_buckets() -> None:
    data = explain_data(explained())
    assert len(data["cuts"]) == 9
    assert len(data["facets"]) == 18
    assert sorted({facet[1] for facet in data["facets"]}) == list(range(9))
    (pair,) = data["pairs"]
    cuts = [data["cuts"][place] for place, *_ in pair["facets"]]
    assert [cut[:3] for cut in cuts] == [["xnli", code, "qLen"] for code in ("en", "ar")]


def test_a_pair_has_scores_intervals_and_marks() -> None:
    (pair,) = explain_data(explained())["pairs"]
    numbers = pair["facets"][0][2]
    assert (pair["first"], pair["second"]) == ("plain", HOSTILE)
    # Both scores, difference, low and high in tenths, p in thousandths; 1 significant, 2 turned, 4 the first is better.
    assert numbers[:7] == [920, 800, 120, 90, 150, 1, 5]
    assert numbers[-7:] == [310, 400, -90, -120, -60, 10, 3]
    assert pair["cells"]["xnli/ar"][:4] == [100, 50, 9, 4]


def test_examples_come_with_the_main_metric_and_serve_the_others() -> None:
    main = facet("xquad", "en", "qLen")
    bare = [type(score)(score.bucket, score.value, score.low, score.high) for score in main.buckets]
    other = AttributeScores("xquad", "en", "em", "qLen", main.title, False, bare)
    data = explain_data(alone([main, other]))
    assert [found[1] for found in data["facets"]] == [0, 0]
    assert data["cuts"][0][3][0][3] == [0, 1, 2]
