"""Facts about the replies of language models: from prediction files to result records."""

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss
from isogloss.predictions.formats import json_lines, parse_json_lines
from isogloss.predictions.problems import ProblemCode
from isogloss.predictions.write import encode_predictions
from isogloss.reply_outcomes import Outcome, ReplyCounts, ReplyFacts, Usage
from isogloss.results.csv_scores import read_csv
from isogloss.scoring.cells import Cell, judged_cells
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Results
from isogloss.scoring.stored import read_cell, write_cell
from isogloss.systems.base import RepliedPredictions
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task
from replied import EXAMPLES, facts, outcomes, write_replied

XNLI = kind_of(task("mini-xnli"))
codes = st.sampled_from(["", "en", "de", "zh-Hant"])
counts = st.integers(0, 10**6)
usages = st.builds(
    Usage, input=counts, cached=counts, output=counts, reasoning=counts, cost=st.none() | st.floats(0, 1000)
)
replies = st.builds(
    ReplyFacts,
    outcome=st.sampled_from(Outcome),
    usage=st.none() | usages,
    script=st.sampled_from(["", "Latn", "Arab"]),
    language=codes,
)


def lines(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "en.jsonl"
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


@given(st.lists(st.none() | replies, min_size=1))
def test_facts_survive_writing_and_reading(every: list[ReplyFacts | None]) -> None:
    ids = [f"test-{row}" for row in range(len(every))]
    content = encode_predictions(Path("x"), ids, ["neutral"] * len(ids), every)
    read = parse_json_lines(content, Path("x"), XNLI)
    assert read.replies == (every if any(every) else None)
    assert (read.ids, read.problems) == (ids, [])


def test_file_without_facts_has_none_and_is_written_as_before(tmp_path: Path) -> None:
    content = encode_predictions(tmp_path, ["a"], ["neutral"])
    assert content == b'{"id":"a","prediction":"neutral"}\n'
    assert encode_predictions(tmp_path, ["a"], ["neutral"], [None]) == content
    assert parse_json_lines(content, tmp_path, XNLI).replies is None


def test_invalid_facts_discard_nothing_else(tmp_path: Path) -> None:
    path = lines(
        tmp_path,
        '{"id": "a", "prediction": "neutral", "reply": {"outcome": "strict"}}',
        '{"id": "b", "prediction": "neutral", "confidence": 0.5, "reply": {"outcome": "shouted"}}',
        '{"id": "c", "prediction": "neutral", "reply": 7}',
        '{"id": "d", "prediction": "neutral", "reply": {"outcome": "strict", "usage": {"input": -1}}}',
        '{"id": "e", "prediction": "neutral", "reply": {"outcome": "cut", "script": "<b>"}}',
        '{"id": "f", "prediction": "neutral", "reply": null}',
        "",
        '{"id": "g", "prediction": null, "reply": {"outcome": "refusal", "later": 1}}',
    )
    answers = json_lines(path, XNLI)
    assert answers.ids == list("abcdefg")
    assert answers.confidences == [None, 0.5, None, None, None, None, None]
    none = [None] * 5
    expected = [ReplyFacts(outcome=Outcome.STRICT), *none, ReplyFacts(outcome=Outcome.REFUSAL)]
    assert answers.replies == expected
    [problem] = answers.problems
    assert (problem.code, problem.line, problem.count, problem.warning) == (ProblemCode.INVALID_REPLY, 2, 4, True)
    assert "4 of 7 replies" in problem.what


def judged(root: Path, **options: Any) -> list[Cell]:
    return list(judged_cells(root, Request.of("mini", tasks=["mini-xnli"], **options)))


def test_cells_count_their_replies(tmp_path: Path) -> None:
    read = [facts(each, language="de") for each in outcomes(refusal=6, cut=3, tolerant=10)]
    read[-1] = facts(Outcome.STRICT, usage=None, script="Latn")
    cells = {("mini-xnli", "de"): read, ("mini-xnli", "en"): None}
    root = write_replied(tmp_path / "talker", cells)
    german, english = judged(root)
    assert english.replies is None
    counts = german.replies
    assert counts is not None
    assert counts.outcomes == {"cut": 3, "refusal": 6, "strict": 41, "tolerant": 10}
    assert counts.unparsed == pytest.approx(9 / EXAMPLES)
    assert counts.failures == {Outcome.REFUSAL: 6, Outcome.CUT: 3}
    assert counts.usage == Usage(input=59 * 800, cached=59 * 200, output=59 * 3, cost=pytest.approx(0.0059))
    assert counts.counted == 59
    assert counts.cost_per_thousand == pytest.approx(0.1)
    assert (counts.scripts, counts.languages) == ({"Latn": 1}, {"de": 59})
    # Unparsed replies are wrong answers of a kind that admits no missing ones.
    assert german.unanswered == pytest.approx(9 / EXAMPLES)
    assert german.metrics["accuracy"].rows.sum() == EXAMPLES - 9


def test_examples_without_an_answer_are_unparsed_whatever_their_facts(tmp_path: Path) -> None:
    path = write_replied(tmp_path, {("mini-xnli", "de"): [facts(each) for each in outcomes()]}) / "mini-xnli/de.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["prediction"] = None  # its facts claim a strict answer
    rows[1]["prediction"] = None
    del rows[1]["reply"]
    del rows[2]["reply"]  # answered, so that nothing is known about the reply
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [cell] = judged(tmp_path)
    assert cell.replies is not None
    assert cell.replies.outcomes == {"strict": EXAMPLES - 3, "unparsed": 2}
    assert (cell.replies.replies, cell.replies.counted) == (EXAMPLES - 1, EXAMPLES - 2)


def test_stored_cells_keep_their_replies(tmp_path: Path) -> None:
    read = [facts(each, script="Latn") for each in outcomes(none=2)]
    replied, plain = judged(write_replied(tmp_path, {("mini-xnli", "de"): read, ("mini-xnli", "en"): None}))
    for cell in (replied, plain):
        write_cell(tmp_path / "cell.npz", cell)
        found = read_cell(tmp_path / "cell.npz")
        assert found is not None
        assert found.replies == cell.replies


def test_records_keep_replies_and_old_records_are_read(tmp_path: Path) -> None:
    read = [facts(each) for each in outcomes(refusal=6, unparsed=3)]
    root = write_replied(tmp_path / "talker", {("mini-xnli", "de"): read, ("mini-xnli", "en"): None})
    results = isogloss.score(root, "mini", tasks=["mini-xnli"])
    results.to_json(tmp_path / "results.json")
    assert Results.from_json(tmp_path / "results.json") == results
    written = json.loads((tmp_path / "results.json").read_text())
    german, english = written["cells"]
    assert german["replies"]["outcomes"] == {"refusal": 6, "strict": 51, "unparsed": 3}
    assert "replies" not in english
    assert msgspec.convert(english, CellScore).replies is msgspec.UNSET


def test_tidy_rows_have_shares_of_replies_that_are_not_scores(tmp_path: Path) -> None:
    read = [facts(each) for each in outcomes(refusal=6, unparsed=3)]
    root = write_replied(tmp_path / "talker", {("mini-xnli", "de"): read, ("mini-xnli", "en"): None})
    results = isogloss.score(root, "mini", tasks=["mini-xnli"])
    results.to_csv(tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["level"] == "replies"]
    shown = {row["metric"]: float(row["value"]) for row in rows}
    assert shown == pytest.approx({"unparsed": 15, "refusal": 10, "unreadable": 5, "cost of 1,000": 0.1})
    assert {(row["task"], row["language"], row["n"], row["note"]) for row in rows} == {("mini-xnli", "de", "60", "")}
    # The rows are read back as scores only if they are scores.
    [system] = read_csv(tmp_path / "scores.csv")
    assert set(system.cells["mini-xnli", "de"].metrics) == {"accuracy"}


def test_runs_sum_their_replies(tmp_path: Path) -> None:
    for prompt, refusals in {"long": 2, "short": 4}.items():
        for seed in range(2):
            run = tmp_path / f"talker/prompt-{prompt}/seed-{seed}"
            read = [facts(each) for each in outcomes(refusal=refusals + seed)]
            write_replied(run, {("mini-xnli", "de"): read})
    results = isogloss.score(tmp_path / "talker", "mini", tasks=["mini-xnli"])
    counts = results["mini-xnli", "de"].replies  # type: ignore[union-attr]
    assert counts.replies == 4 * EXAMPLES
    assert counts.outcomes == {"refusal": 2 + 3 + 4 + 5, "strict": 4 * EXAMPLES - 14}
    assert counts.usage.input == 4 * EXAMPLES * 800
    assert counts.cost_per_thousand == pytest.approx(0.1)


def test_drawn_subsets_count_the_drawn_replies(tmp_path: Path) -> None:
    path = tmp_path / "drawn"
    isogloss.export("mini-xnli", tmp_path / "inputs", languages=["de"], subset=30)
    [subset] = (tmp_path / "inputs").rglob("subset.json")
    drawn = [json.loads(line)["id"] for line in (tmp_path / "inputs/mini-xnli/de.jsonl").read_text().splitlines()]
    read = [facts(each) for each in outcomes()]
    file = write_replied(path, {("mini-xnli", "de"): read}) / "mini-xnli/de.jsonl"
    kept = [line for line in file.read_text().splitlines() if json.loads(line)["id"] in drawn]
    file.write_text("".join(f"{line}\n" for line in kept))
    results = isogloss.score(path, "mini", tasks=["mini-xnli"], subset=subset)
    assert results["mini-xnli", "de"].replies.replies == 30  # type: ignore[union-attr]


@given(st.lists(st.lists(replies, max_size=5), min_size=1, max_size=4))
def test_totals_are_those_of_all_replies(parts: list[list[ReplyFacts]]) -> None:
    total = ReplyCounts.total(ReplyCounts.of(part) for part in parts)
    assert total is not None
    whole = ReplyCounts.of(reply for part in parts for reply in part)
    assert msgspec.structs.replace(total, usage=None) == msgspec.structs.replace(whole, usage=None)
    if whole.usage is not None:
        assert total.usage is not None
        assert total.usage.input == whole.usage.input
        assert total.usage.cost == pytest.approx(whole.usage.cost)


def test_predictions_need_facts_about_every_reply() -> None:
    with pytest.raises(ValueError, match="1 replies for 2 predictions"):
        RepliedPredictions(["neutral", "neutral"], [None])


def test_runs_write_the_facts_of_a_system(tmp_path: Path) -> None:
    def talker(examples: Examples) -> RepliedPredictions:
        values = [None if row < 5 else "neutral" for row in range(len(examples))]
        read = outcomes(refusal=5)
        return RepliedPredictions(values, [facts(each) for each in read])

    options = {"suite": "mini", "tasks": ["mini-xnli"], "languages": ["de"], "seeds": 1}
    isogloss.run(talker, out=tmp_path, **options)  # type: ignore[arg-type]
    [path] = tmp_path.glob("*/*/seed-0/mini-xnli/de.jsonl")
    assert json.loads(path.read_text().splitlines()[0])["reply"]["outcome"] == "refusal"
    [record] = tmp_path.glob("*/*/seed-0/results.json")
    counts = Results.from_json(record)["mini-xnli", "de"].replies  # type: ignore[union-attr]
    assert counts.outcomes == {"refusal": 5, "strict": EXAMPLES - 5}
