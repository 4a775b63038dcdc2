"""Test the page's data: complete and small."""

import msgspec

from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Explanation
from isogloss.site.page_data import explain_data
from isogloss.tables.explain_io import ExplainRecords
from report.made_records import HOSTILE, explained, facet


def alone(facets: list[AttributeScores], cases: dict[str, dict[str, ListedExample]] | None = None) -> ExplainRecords:
    return ExplainRecords(
        explanations={"a": Explanation(system={}, suite="s", split="test", facets=facets)}, cases=cases or {}
    )


def test_ids_are_stored_once_and_limited() -> None:
    few = explain_data(alone([facet("xnli", "en", a) for a in ("qLen", "tLen")]))
    assert few["ids"] == {"xnli/en": [f"en-{row}" for row in range(12)]}
    assert [bucket[3] for bucket in few["cuts"][1][3]] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    many = explain_data(alone([facet("xnli", "en", "qLen", ids=100)]))
    *_, shown, total = many["cuts"][0][3][0]
    assert (len(shown), total) == (64, 100)


def test_many_long_ids_keep_the_page_small() -> None:
    long = [facet("xnli", "x" * place + "-" * 500, "qLen", ids=64) for place in range(40)]
    data = explain_data(alone(long))
    assert sum(len(one) for ids in data["ids"].values() for one in ids) < 3_000_000
    assert all(bucket[3] for cut in data["cuts"] for bucket in cut[3])


def test_long_texts_are_cut_to_fit() -> None:
    long = {
        f"en-{row}": ListedExample(
            id=f"en-{row}", inputs={"text": "x" * 10_000}, gold=["a", "b"], predictions={"a": None}, scores={}
        )
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
    # Some examples remain at any size.
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
    # Both scores, difference, low, high in tenths, p in thousandths; 1 significant, 2 flipped, 4 the first is better.
    assert numbers[:7] == [920, 800, 120, 90, 150, 1, 5]
    assert numbers[-7:] == [310, 400, -90, -120, -60, 10, 3]
    assert pair["cells"]["xnli/ar"][:4] == [100, 50, 9, 4]


def test_examples_of_the_main_metric_serve_the_others() -> None:
    main = facet("xquad", "en", "qLen")
    bare = [msgspec.structs.replace(score, ids=[]) for score in main.buckets]
    other = AttributeScores(
        task="xquad", language="en", metric="em", attribute="qLen", title=main.title, discrete=False, buckets=bare
    )
    data = explain_data(alone([main, other]))
    assert [facet[1] for facet in data["facets"]] == [0, 0]
    assert data["cuts"][0][3][0][3] == [0, 1, 2]
