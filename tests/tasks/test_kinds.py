"""What a kind declares, and what it need not."""

import random
import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from isogloss.errors import DataError, IsoglossError
from isogloss.metrics import accuracy, ranking
from isogloss.metrics.registry import METRICS, metric
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS, Judgement, Kind, Values, judge
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

IDS = [str(number) for number in range(60)]


class Sparse(Kind):
    """A kind that says only what it must."""

    form, answer_type, answer_help, inputs, gold = "word", str, "a word", ("text",), "word"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        return Judgement({"accuracy": accuracy.statistics(examples["word"], values)})


def examples(**columns: Any) -> Examples:
    return Examples("xnli", "sw", "test", ["test-0", "test-1"], columns, "word")


def test_optional_members_have_defaults() -> None:
    kind, made = Sparse(), examples(text=["one", "two"], word=["a", "b"])
    assert kind.provides == ("text", "word")
    assert kind.main_text(made) == ["one", "two"]
    assert kind.text_language(made) == "sw"
    assert kind.row_ids(made) == ["test-0", "test-1"]
    assert not list(kind.errors(task("xnli"), made, ["a", None]))
    assert kind.gold_columns(task("xnli"), ["x"], ["a"]) == (["x"], {"word": ["a"]})
    assert kind.placeholder(made) == ""
    with pytest.raises(IsoglossError, match=r"xnli cannot be answered with vectors\. Each prediction must be a word"):
        kind.answers_from_vectors(task("xnli"), made, None)  # type: ignore[arg-type]


def test_examples_without_any_input_have_no_text() -> None:
    with pytest.raises(IsoglossError, match="unknown column 'text'"):
        Sparse().main_text(examples(word=["a", "b"]))


def test_missing_declarations_are_named() -> None:
    class Silent(Kind):
        form = "word"

        def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
            return Judgement({})

    with pytest.raises(TypeError, match="Silent does not declare answer_type, answer_help, inputs, gold"):
        Silent()


@pytest.mark.parametrize(
    ("kind", "provides"),
    [
        ("classification", "text text_a text_b label"),
        ("choice", "premise question choices label"),
        ("tagging", "tokens text offsets tags"),
        ("qa", "question context answers answer_starts"),
        ("generation", "text references"),
        ("multilabel", "text text_a text_b labels"),
        ("regression", "text text_a text_b score"),
        ("bitext", "text targets pool ranking"),
        ("pool", "text targets frequency_bin pool shared-pool ranking"),
        ("mining", "text targets pool"),
    ],
)
def test_inputs_of_attributes(kind: str, provides: str) -> None:
    assert KINDS[kind].provides == tuple(provides.split())


def test_task_is_scored_by_a_metric_that_its_kind_has() -> None:
    odd = replace(task("xnli"), main=("f1",))
    made = examples(label=["neutral", "neutral"])
    with pytest.raises(IsoglossError, match="xnli is scored by f1, but its kind classification has accuracy"):
        judge(odd, made, ["neutral", "neutral"])


def test_metrics_know_their_direction() -> None:
    lower = ["mae", "mse", "error", "error_paper", "impossible", "flawed"]
    assert [name for name in METRICS.shipped if metric(name).lower_is_better] == lower
    assert metric("map@20").title.startswith("AP cut at 20")
    assert metric("nobody-knows-it") == replace(metric("f1"), name="nobody-knows-it", title="nobody-knows-it")


def test_long_ranking_is_searched_once_for_repeats() -> None:
    """Looked up in a list, 200,000 ids would take half an hour."""
    ids = [str(number) for number in range(200_000)]
    made = Examples("lareqa", "en", "test", ["q"], {"targets": [["0"]]}, "targets")
    found = list(KINDS["pool"].warnings(task("lareqa"), made, [[*ids, "199998", "5"]]))
    assert [(row, what) for row, what, _ in found] == [(0, "candidate '199998' is ranked more than once")]


def test_score_does_not_depend_on_ranks_beyond_the_cutoff() -> None:
    """Rankings of any length, with repeats of targets and of others, score as if all of each were looked at."""
    rng = random.Random(5)
    targets = [rng.sample(IDS[:15], rng.randint(1, 6)) for _ in range(200)]
    ranked = [rng.choices(IDS, k=rng.choice((26, 40, 200))) for _ in range(200)]
    made = Examples("lareqa", "en", "test", [str(row) for row in range(200)], {"targets": targets}, "targets")
    found = KINDS["pool"].judge(task("lareqa"), made, ranked)
    whole, wanted = (
        np.array([[*map(int, row), *[-1] * (200 - len(row))] for row in rows]) for rows in (ranked, targets)
    )
    assert found.metrics["map@20"].rows[:, 0].tolist() == ranking.average_precisions(whole, wanted, 20).tolist()
    single = ranking.limited_reciprocal_ranks(whole, wanted, 20, whole_pool=True)
    assert found.metrics["one-target"].rows[:, 0].tolist() == single[wanted >= 0].tolist()


def test_one_long_ranking_does_not_make_all_of_them_long() -> None:
    """As a table, a million ids in one of 11,000 rankings would take 88 GB."""
    names = [str(row) for row in range(11_000)]
    made = Examples("lareqa", "en", "test", names, {"targets": [["0", "1"]] * 11_000}, "targets")
    tracemalloc.start()
    KINDS["pool"].judge(task("lareqa"), made, [["0"] * 1_000_000, *([IDS[:21]] * 10_999)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 << 20


def test_duplicate_gold_targets_are_refused() -> None:
    with pytest.raises(DataError, match="lareqa 'b': duplicate target in a gold list"):
        KINDS["pool"].gold_columns(task("lareqa"), ["a", "b"], [["x", "y"], ["x", "y", "x"]])
