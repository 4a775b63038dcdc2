"""Test the first sentence of a report in all situations."""

import json
import random
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import isogloss
from isogloss.scoring.averages import MIXED
from isogloss.scoring.results import Overall, Results
from isogloss.site.write import read_inputs
from isogloss.tables.headline import headline
from report.made_records import as_systems, results, scored

Scores = dict[tuple[str, str], float]
XNLI: Scores = {("xnli", "en"): 80, ("xnli", "de"): 70, ("xnli", "sw"): 60, ("xnli", "th"): 50}
OVER_LANGUAGES = "in similar languages (all pairs tested over languages, Holm's correction)"
BOTH: Scores = {**XNLI, ("xquad", "en"): 90, ("xquad", "de"): 70, ("xquad", "th"): 50}


def by(points: float, scores: Scores = BOTH) -> Scores:
    return {place: score + points for place, score in scores.items()}


def test_one_complete_system() -> None:
    (sentence,) = headline(as_systems({"one": scored("one", BOTH)}))
    assert sentence == (
        "one scores 67.5 (95 % interval 66.5–68.5) over all 2 tasks and all 4 languages of two-tasks; "
        "among languages in 2 or more tasks, the weakest is Thai (17.5 points behind the average of its tasks); "
        "English is 25.0 points better than the mean of the other languages (mean over 2 tasks)."
    )


def test_one_incomplete_system_states_its_coverage() -> None:
    made = scored("one", XNLI, missing=("xnli/ar", "xquad"))
    (sentence,) = headline(as_systems({"one": made}))
    assert sentence.startswith(
        "one scores 65.0* (95 % interval 64.0–66.0) over 1 of 2 tasks of two-tasks (4 of 16 cells); "
    )


def test_a_single_cell_is_named_instead_of_an_overall_score() -> None:
    made = scored("one", {("xnli", "th"): 50}, missing=("xnli/en", "xnli/de"))
    assert headline(as_systems({"one": made})) == [
        "one scores 50.0 (95 % interval 49.0–51.0) on xnli in Thai, one of the 3 cells of two-tasks."
    ]


def test_a_missing_overall_score_has_a_reason() -> None:
    made = scored("one", BOTH, overall=Overall("flat", None, [], MIXED))
    assert headline(as_systems({"one": made}))[0].startswith(
        f"one was scored on 7 of 7 cells of two-tasks (2 of 2 tasks): {MIXED}; "
    )


def test_no_fully_scored_cell() -> None:
    made = msgspec.structs.replace(results("one"), tasks=[], overall=Overall("category", None, ["xnli"]))
    assert headline(as_systems({"one": made})) == ["one has no fully scored cell of xtreme-r."]


def test_seeds_and_error_rates() -> None:
    rates: Scores = {("checklist-comparisons", code): rate for code, rate in (("en", 10), ("de", 20), ("sw", 60))}
    made = scored("one", rates, runs=["seed-0", "seed-1", "seed-2"])
    assert headline(as_systems({"one": made})) == [
        "one has an error rate of 30.0 (95 % interval 29.0–31.0, mean of 3 seeds, lower is better) over the only "
        "task and all 3 languages of two-tasks; the weakest is Swahili (30.0 points behind the average of its tasks); "
        "English is 30.0 points better than the mean of the other languages."
    ]


# Six languages of four families.
MANY: Scores = {
    ("xnli", code): score for code, score in zip("en de sw th fi et".split(), range(80, 50, -5), strict=True)
}


def moved(points: float, spread: float = 1.0, seed: int = 0) -> Scores:
    """Return the scores of a system that is ahead by some points on average, and by more or less in a language."""
    moves = np.random.default_rng(seed).normal(0, spread, len(MANY))
    return {
        place: score + points + move - moves.mean() for (place, score), move in zip(MANY.items(), moves, strict=True)
    }


def test_a_significant_lead() -> None:
    systems = {"second": scored("second", MANY), "first": scored("first", moved(8))}
    (sentence,) = headline(as_systems(systems))
    assert sentence.startswith(
        "first leads 2 systems on two-tasks with 75.5 (95 % interval 74.5–76.5), 8.0 points ahead of second "
        f"(67.5, 66.5–68.5): significant {OVER_LANGUAGES}; "
    )


@pytest.mark.parametrize(
    ("ahead", "words"), [(1.0, "1.0 points ahead of second (67.5)"), (0.01, "level with second (67.5)")]
)
def test_a_lead_that_may_be_due_to_chance(ahead: float, words: str) -> None:
    systems = {"second": scored("second", MANY, width=None), "first": scored("first", moved(ahead, 3), width=None)}
    (sentence,) = headline(as_systems(systems))
    assert sentence.startswith("first has the best score of 2 systems on two-tasks, ")
    assert f"{words}: first and second are not significantly different {OVER_LANGUAGES}; " in sentence


def test_four_languages_are_not_tested() -> None:
    systems = {"second": scored("second", BOTH), "first": scored("first", by(30))}
    (sentence,) = headline(as_systems(systems))
    assert "30.0 points ahead of second (67.5, 66.5–68.5): not tested, as this needs 5 languages; with pred" in sentence
    assert "leads" not in sentence


def test_systems_not_different_from_the_first_are_named() -> None:
    scores = {"a": moved(2, 2, 1), "b": moved(1, 2, 2), "c": moved(0, 2, 3), "d": moved(-30, 2, 4)}
    (sentence,) = headline(as_systems({name: scored(name, each) for name, each in scores.items()}))
    assert "a has the best score of 4 systems" in sentence
    assert f": a, b and c are not significantly different {OVER_LANGUAGES}; " in sentence


@pytest.fixture(scope="module")
def answered_folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Run folders with answers: the first system is better than the second in two languages of nine."""
    folder = tmp_path_factory.mktemp("answered")
    codes = "en ar fi id ko sw te th tr".split()
    suite = folder / "nine.toml"
    suite.write_text(f'title = "Nine"\ntasks = ["mini-xquad"]\nlanguages = {json.dumps(codes)}\n', encoding="utf-8")
    rights = {"A": dict.fromkeys(codes, 0.8), "B": {code: 0.2 if code in ("ko", "th") else 0.8 for code in codes}}
    rights["C"] = dict.fromkeys(codes, 0.5)
    for name, shares in rights.items():
        answers: dict[str, dict[str, Any]] = {}
        for code, share in shares.items():
            examples, draw = isogloss.load("mini-xquad", code), random.Random(name + code)
            (folder / name / "mini-xquad").mkdir(parents=True, exist_ok=True)
            answers[code] = {
                identifier: gold[0] if draw.random() < share else "wrong"
                for identifier, gold in zip(examples.ids, examples["answers"], strict=True)
            }
            lines = [json.dumps({"id": identifier, "prediction": each}) for identifier, each in answers[code].items()]
            (folder / name / "mini-xquad" / f"{code}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        isogloss.score(folder / name, suite=str(suite)).to_json(folder / name / "results.json")
    return [folder / name for name in rights]


def test_run_folders_with_predictions_are_tested_on_examples(answered_folders: list[Path], tmp_path: Path) -> None:
    """The order is that of `compare`; records alone show only how much languages differ."""
    (sentence,) = headline(read_inputs(answered_folders).systems)
    verdict = (
        "significant on new examples in these languages (all pairs tested on the same examples, Holm's correction)"
    )
    assert sentence.startswith("A leads 3 systems on nine with ")
    assert f": {verdict}; " in sentence
    suite = str(answered_folders[0].parent / "nine.toml")
    assert "A is the best of 3 systems" in isogloss.compare(*answered_folders, suite=suite).verdict()
    assert headline(read_inputs([folder / "results.json" for folder in answered_folders]).systems) == [sentence]
    page = isogloss.report(answered_folders, tmp_path, pictures=False, data=tmp_path)
    assert verdict in page.read_text(encoding="utf-8")
    records = [Results.from_json(folder / "results.json") for folder in answered_folders]
    (alone,) = headline(read_inputs(records).systems)
    assert f": A and B are not significantly different {OVER_LANGUAGES}; " in alone
    assert alone.startswith("A has the best score of 3 systems on nine, ")


def test_predictions_of_other_scores_are_not_tested(answered_folders: list[Path], tmp_path: Path) -> None:
    copies = [shutil.copytree(folder, tmp_path / folder.name) for folder in answered_folders[:2]]
    assert "tested on the same examples" in headline(read_inputs(copies).systems)[0]
    shutil.copy(copies[0] / "mini-xquad" / "en.jsonl", copies[1] / "mini-xquad" / "en.jsonl")
    assert "tested over languages" in headline(read_inputs(copies).systems)[0]
    shutil.rmtree(copies[1] / "mini-xquad")
    assert "tested over languages" in headline(read_inputs(copies).systems)[0]


def test_the_lowest_error_rate_leads() -> None:
    rates = {("checklist-comparisons", code): 100 - score for (_, code), score in MANY.items()}
    more = {("checklist-comparisons", code): 100 - score for (_, code), score in moved(-9).items()}
    (sentence,) = headline(as_systems({"more": scored("more", more), "fewer": scored("fewer", rates)}))
    assert sentence.startswith(
        "fewer leads 2 systems on two-tasks with an error rate of 32.5 (95 % interval 31.5–33.5, lower is"
    )
    assert "9.0 points ahead of more (41.5, 40.5–42.5): significant" in sentence
    assert "the weakest are Estonian" in sentence


def test_incomplete_systems_are_never_ranked() -> None:
    best = scored("best", by(20, XNLI), missing=("xquad",))
    sentence, unranked = headline(as_systems({"a": scored("a", by(3)), "b": scored("b", BOTH), "best": best}))
    assert sentence.startswith("a has the best score of 2 systems on two-tasks, 70.5")
    assert unranked == "Not ranked because incomplete: best (4 of 15 cells, 1 of 2 tasks)."


def test_incomplete_systems_are_compared_on_shared_cells() -> None:
    part = scored("part", by(20, XNLI), missing=("xquad/en", "xquad/de", "xquad/th"))
    sentence, unranked = headline(as_systems({"part": part, "whole": scored("whole", BOTH)}))
    shared = "On the 4 of 7 cells (1 of 2 tasks) that both systems share"
    assert sentence.startswith(f"{shared}, the means over tasks are 85.0 (part) and 65.0 (whole); ")
    assert "leads" not in sentence
    assert unranked == "Not ranked because incomplete: part (4 of 7 cells, 1 of 2 tasks)."


@pytest.mark.parametrize("other", [{"data": "other"}, {"suite": "two-tasks"}])
def test_scores_on_different_data_are_not_compared(other: dict[str, Any]) -> None:
    apart = {("xquad", "en"): 1.0} if "suite" in other else BOTH
    (sentence, *_) = headline(as_systems({"a": scored("a", XNLI), "b": scored("b", apart, **other)}))
    assert sentence == "The 2 systems share no cell and cannot be compared."


def test_mixed_directions_have_no_mean() -> None:
    mixed: Scores = {("xnli", "en"): 80, ("checklist-comparisons", "en"): 10}
    made = {name: scored(name, mixed, overall=Overall("flat", None, [], MIXED)) for name in ("a", "b")}
    (sentence,) = headline(as_systems(made))
    assert sentence == (
        "On the 2 of 2 cells (2 of 2 tasks) that both systems share, higher is better in some tasks and lower in "
        "others, so there is no mean."
    )


def test_all_names_are_escaped() -> None:
    made = scored("<a>", {("xnli", "<x>"): 50, ("xnli", "en"): 60}, suite="<s>")
    sentence = " ".join(
        headline(as_systems({"<a>": made, "<b>": scored("<b>", by(9), missing=("xquad/<y>",))}), lambda name: "NAME")
    )
    assert "<" not in sentence
    assert "<" not in headline(as_systems({"<a>": made}), lambda name: "NAME")[0]


def test_no_systems_no_sentence() -> None:
    assert headline(as_systems({})) == []
