"""The sentence a report begins with, in every situation it may be in."""

from typing import Any

import msgspec
import pytest

from isogloss.report.headline import headline
from isogloss.scoring.averages import MIXED
from isogloss.scoring.results import Overall
from report.made_records import results, scored

Scores = dict[tuple[str, str], float]
XNLI: Scores = {("xnli", "en"): 80, ("xnli", "de"): 70, ("xnli", "sw"): 60, ("xnli", "th"): 50}
BOTH: Scores = {**XNLI, ("xquad", "en"): 90, ("xquad", "de"): 70, ("xquad", "th"): 50}


def by(points: float, scores: Scores = BOTH) -> Scores:
    return {place: score + points for place, score in scores.items()}


def test_one_system_with_everything() -> None:
    (said,) = headline({"one": scored("one", BOTH)})
    assert said == (
        "one scores 67.5 (95 % interval 66.5–68.5) over all 2 tasks and all 4 languages of two-tasks; "
        "of the languages in 2 tasks or more the weakest is Thai (17.5 points behind the average of its tasks); "
        "English is 25.0 points better than the mean of the other languages (mean over 2 tasks)."
    )


def test_one_system_that_lacks_something_says_of_how_much_it_speaks() -> None:
    made = scored("one", XNLI, missing=("xnli/ar", "xquad"))
    (said,) = headline({"one": made})
    assert said.startswith(
        "one scores 65.0* (95 % interval 64.0–66.0) over 1 of 2 tasks of two-tasks (4 of 16 cells); "
    )


def test_one_cell_is_named_and_is_no_overall_figure() -> None:
    made = scored("one", {("xnli", "th"): 50}, missing=("xnli/en", "xnli/de"))
    assert headline({"one": made}) == [
        "one scores 50.0 (95 % interval 49.0–51.0) on xnli in Thai, one of the 3 cells of two-tasks."
    ]


def test_without_an_overall_figure_the_reason_is_said() -> None:
    made = scored("one", BOTH, overall=Overall("flat", None, [], MIXED))
    assert headline({"one": made})[0].startswith(
        f"one was scored on 7 of 7 cells of two-tasks (2 of 2 tasks): {MIXED}; "
    )


def test_nothing_was_scored_in_full() -> None:
    made = msgspec.structs.replace(results("one"), tasks=[], overall=Overall("category", None, ["xnli"]))
    assert headline({"one": made}) == ["one was scored in full on no cell of xtreme-r."]


def test_seeds_and_errors_are_told() -> None:
    rates: Scores = {("checklist-comparisons", code): rate for code, rate in (("en", 10), ("de", 20), ("sw", 60))}
    made = scored("one", rates, seeds=["a", "b", "c"])
    assert headline({"one": made}) == [
        "one has an error rate of 30.0 (95 % interval 29.0–31.0, mean of 3 seeds, lower is better) over the one "
        "task and all 3 languages of two-tasks; the weakest is Swahili (30.0 points behind the average of its tasks); "
        "English is 30.0 points better than the mean of the other languages."
    ]


@pytest.mark.parametrize(
    ("ahead", "width", "verdict"),
    [
        (
            3,
            1.0,
            "3.0 points ahead of second (67.5, 66.5–68.5): more than chance, as its 95 % interval overlaps with no",
        ),
        (
            1,
            1.0,
            "1.0 points ahead of second (67.5, 66.5–68.5): that may be chance, as its 95 % interval overlaps with t",
        ),
        (3, None, "3.0 points ahead of second (67.5): not all have an interval, so that may be chance"),
        (0.01, 1.0, "level with second (67.5, 66.5–68.5): that may be chance"),
    ],
)
def test_who_leads_by_how_much_and_whether_that_may_be_chance(ahead: float, width: float, verdict: str) -> None:
    systems = {name: scored(name, by(more), width=width) for name, more in (("second", 0), ("first", ahead))}
    (said,) = headline(systems)
    assert said.startswith("first leads 2 systems on two-tasks with ")
    assert verdict in said


def test_all_that_may_as_well_be_first_are_named() -> None:
    (said,) = headline({name: scored(name, by(-points)) for name, points in (("a", 0), ("b", 1), ("c", 2), ("d", 9))})
    assert "its 95 % interval overlaps with that of b and c; " in said
    assert "English is 25.0 points better" in said


def test_fewer_errors_lead() -> None:
    rates: Scores = {("checklist-comparisons", "en"): 10, ("checklist-comparisons", "sw"): 50}
    (said,) = headline({"more": scored("more", by(5, rates)), "fewer": scored("fewer", rates)})
    assert said.startswith(
        "fewer leads 2 systems on two-tasks with an error rate of 30.0 (95 % interval 29.0–31.0, lower is"
    )
    assert "5.0 points ahead of more (35.0, 34.0–36.0): more than chance" in said
    assert "the weakest is Swahili (20.0 points behind the average of its tasks); English is 40.0 points better" in said


def test_incomplete_systems_are_never_ranked() -> None:
    best = scored("best", by(20, XNLI), missing=("xquad",))
    said, unranked = headline({"a": scored("a", by(3)), "b": scored("b", BOTH), "best": best})
    assert said.startswith("a leads 2 systems on two-tasks with 70.5")
    assert "best" not in said
    assert unranked == "Not ranked, since incomplete: best (4 of 15 cells, 1 of 2 tasks)."


def test_where_fewer_than_two_are_complete_they_stand_side_by_side_on_what_they_share() -> None:
    part = scored("part", by(20, XNLI), missing=("xquad/en", "xquad/de", "xquad/th"))
    said, unranked = headline({"part": part, "whole": scored("whole", BOTH)})
    shared = "On the 4 of 7 cells (1 of 2 tasks) that both systems share"
    assert said.startswith(f"{shared}, the means over tasks are 85.0 (part) and 65.0 (whole); ")
    assert "leads" not in said
    assert unranked == "Not ranked, since incomplete: part (4 of 7 cells, 1 of 2 tasks)."


@pytest.mark.parametrize("other", [{"data": "other"}, {"suite": "two-tasks"}])
def test_figures_of_other_data_are_not_compared(other: dict[str, Any]) -> None:
    apart = {("xquad", "en"): 1.0} if "suite" in other else BOTH
    (said, *_) = headline({"a": scored("a", XNLI), "b": scored("b", apart, **other)})
    assert said == "The 2 systems share no cell, so that nothing can be compared."


def test_tasks_of_both_directions_have_no_mean() -> None:
    mixed: Scores = {("xnli", "en"): 80, ("checklist-comparisons", "en"): 10}
    made = {name: scored(name, mixed, overall=Overall("flat", None, [], MIXED)) for name in ("a", "b")}
    (said,) = headline(made)
    assert said == (
        "On the 2 of 2 cells (2 of 2 tasks) that both systems share, some tasks are better with more and others with "
        "less, so that there is no mean."
    )


def test_every_name_of_a_record_is_written_as_the_page_wants_it() -> None:
    made = scored("<a>", {("xnli", "<x>"): 50, ("xnli", "en"): 60}, suite="<s>")
    said = " ".join(headline({"<a>": made, "<b>": scored("<b>", by(9), missing=("xquad/<y>",))}, lambda name: "NAME"))
    assert "<" not in said
    assert "<" not in headline({"<a>": made}, lambda name: "NAME")[0]


def test_no_systems_no_sentence() -> None:
    assert headline({}) == []
