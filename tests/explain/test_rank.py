"""Rank of the first hit: buckets by a system's answers, in single-system analyses only."""

from pathlib import Path

import numpy as np

from isogloss.explain.analysis import explain_request
from isogloss.explain.bias import bias_request
from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import bucketed_rows, ranks, rows_by_answer
from isogloss.explain.selection import choose_attributes
from isogloss.explain.single import attribute_scores
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.scoring.request import Request
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task
from predictions.made import tatoeba, write_jsonl

ONLY = choose_attributes(["rank"], ["pool"])


def ranking(hit: int | None) -> list[str]:
    """Return thirty candidates with the target at a rank, or without it."""
    return ["target" if place == hit else f"c{place}" for place in range(1, 31)]


def table(*hits: list[int | None]) -> CellTable:
    n = len(hits[0])
    columns = {"text": ["query"] * n, "targets": [["other", "target"]] * n}
    examples = Examples("lareqa", "en", "test", [f"q{row}" for row in range(n)], columns, "targets")
    values = tuple([None if hit == 0 else ranking(hit) for hit in of_system] for of_system in hits)
    scores = [np.array([1 / hit if hit and hit <= 20 else 0.0 for hit in of_system])[:, None] for of_system in hits]
    metrics = tuple({"map@20": Statistics(rows, MEAN)} for rows in scores)
    return CellTable.of_examples(task("lareqa"), examples, values, metrics)


def test_ranks_by_hand() -> None:
    cell = table([1, 2, 5, 6, 20, 21, None, 0], [6] * 8)
    assert ranks(cell).tolist() == ["1", "2-5", "2-5", "6-20", "6-20", "none", "none", "none"]
    assert set(ranks(cell, 1).tolist()) == {"6-20"}


def test_buckets_are_ordered_and_have_no_finding() -> None:
    cell = table([None] * 30 + [1] * 25 + [4] * 20 + [2] * 20)
    (cut,) = rows_by_answer(cell, ONLY)
    (facet,) = attribute_scores(cell, [cut], claims=False)
    assert [(s.bucket.name, s.bucket.n, round(s.value, 6)) for s in facet.buckets] == [
        ("1", 25, 100),
        ("2-5", 40, 37.5),
        ("none", 30, 0),
    ]
    assert facet.claims == []
    assert attribute_scores(cell, [cut])[0].claims != []


def test_it_is_not_an_attribute_of_examples() -> None:
    cell = table([1, 2], [1, 1])
    assert bucketed_rows(cell, ONLY) == []
    assert rows_by_answer(cell, ONLY, 1) == []  # equal in all languages
    assert rows_by_answer(cell, choose_attributes(["queryLen"], ["pool"])) == []
    assert [one.name for one in choose_attributes(["Rank"], ["bitext"]).of("bitext")] == ["rank"]


def test_every_system_has_its_own_and_pairs_have_none(tmp_path: Path) -> None:
    tatoeba(tmp_path / "data")
    gold = load_gold(task("tatoeba"), "jv", "test", tmp_path / "data")
    right = [targets[0] for targets in gold["targets"]]
    for name, shift in (("one", 5), ("two", 2)):
        # Every `shift`-th answer has the target second.
        said = {
            key: [right[row - 1], target] if row % shift == 0 else [target]
            for row, (key, target) in enumerate(zip(gold.ids, right, strict=True))
        }
        write_jsonl(tmp_path / f"{name}/tatoeba/jv.jsonl", dict(said))
    asked = Request.of(tasks=["tatoeba"], languages=["jv"], data=tmp_path / "data")
    found = explain_request(
        [tmp_path / "one", tmp_path / "two"], asked, choose_attributes(["rank", "queryLen", "digits"], ["bitext"])
    )
    buckets = [
        [(s.bucket.name, s.bucket.n, s.value) for s in facet.buckets]
        for explanation in found.explanations
        for facet in explanation.facets
        if facet.attribute == "rank"
    ]
    assert buckets == [[("1", 164, 100), ("2-5", 41, 0)], [("1", 102, 100), ("2-5", 103, 0)]]
    assert all(facet.attribute != "rank" for pair in found.pairs for facet in pair.facets)
    assert all(row.attribute != "rank" for row in bias_request(asked).distributions)
