"""Seen and unseen n-grams and entities of the mini suite, with planted errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.seen_items import entity_strata, ngram_occurrences, tag_ngrams
from isogloss.analysis.unseen import PRINTED, unseen
from isogloss.errors import PredictionError
from isogloss.explain.tagging import TrainingEntities, training_entities
from isogloss.metrics.chunks import extract
from isogloss.metrics.estimate import difference
from isogloss.predictions.formats import Answers
from isogloss.scoring.cells import Cell, judge_answers
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement
from isogloss.tasks.registry import task as find_task

pytestmark = pytest.mark.filterwarnings("error")


def only(finding: Finding, table: str, **where: Any) -> dict[str, Any]:
    [row] = [row for row in finding.table(table).records() if where.items() <= row.items()]
    return row


def finding_of(answers: Any, task: str) -> Finding:
    return unseen([answers], Request.of("mini", tasks=[task]))


def predictions(code: str, broken: Any) -> dict[str, list[str]]:
    examples = isogloss.load("mini-udpos", code)
    return {
        name: broken(row, tags) for row, (name, tags) in enumerate(zip(examples.ids, examples["tags"], strict=True))
    }


def test_ngrams_are_split_by_english_training() -> None:
    # In German the first tag of every second sentence is wrong, in English everything is right.
    answers = {
        "en": predictions("en", lambda _, tags: tags),
        "de": predictions("de", lambda row, tags: tags if row % 2 else ["X", *tags[1:]]),
    }
    finding = finding_of({"mini-udpos": answers}, "mini-udpos")
    known = {order: tag_ngrams(isogloss.load("mini-udpos", "en", "train")["tags"], order) for order in (3, 4)}
    for order in (3, 4):
        right = {True: [0, 0], False: [0, 0]}
        for row, tags in enumerate(isogloss.load("mini-udpos", "de")["tags"]):
            for start in range(len(tags) - order + 1):
                seen = tuple(tags[start : start + order]) in known[order]
                right[seen][0] += bool(row % 2 or start)
                right[seen][1] += 1
        row = only(finding, "ngrams", language="de", order=order)
        assert row["n"] == right[True][1] + right[False][1]
        for side, name in ((True, "seen"), (False, "unseen")):
            expected = 100 * right[side][0] / right[side][1] if right[side][1] else None
            assert row[name] == (expected if expected is None else pytest.approx(expected))
        english = only(finding, "ngrams", language="en", order=order)
        assert english["seen"] == 100
        assert english["seen_low"] < 100
    table = finding.table("table-4").records()
    assert [(row["order"], row["which"]) for row in table] == [*PRINTED]
    assert [row["printed_loss"] for row in table] == [39.7, 50.9, 43.7, 49.2]
    assert table[0]["loss"] == pytest.approx(table[0]["english"] - table[0]["others"])


def test_one_language_has_no_table_4() -> None:
    finding = finding_of({"mini-udpos": {"de": predictions("de", lambda _, tags: tags)}}, "mini-udpos")
    assert [table.name for table in finding.tables] == ["ngrams"]


def test_spans_have_no_tags() -> None:
    examples = isogloss.load("mini-udpos", "de")
    spans = {name: [[0, 1, "NOUN"]] for name in examples.ids}
    with pytest.raises(AnalysisError, match="no cell has tags or entities"):
        finding_of({"mini-udpos": {"de": spans}}, "mini-udpos")


def made(tokens: list[list[str]], tags: list[list[str]]) -> Examples:
    ids = [f"test-{row}" for row in range(len(tokens))]
    return Examples("wikiann", "de", "test", ids, {"tokens": tokens, "tags": tags}, "tags")


def test_entities_by_hand() -> None:
    from collections import Counter

    tokens = [["Ada", "Lovelace", "in", "Oslo"], ["OSLO", "und", "Осло"], ["Das", "neue", "große", "Haus", "ada"]]
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "O", "B-LOC"], ["B-ORG", "I-ORG", "I-ORG", "I-ORG", "B-PER"]]
    predicted = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "O", "O"], ["B-ORG", "O", "O", "O", "B-PER"]]
    trained = TrainingEntities(Counter({"oslo": 3, "adalovelace": 1}), Counter())
    examples = made(tokens, gold)
    answers = Answers(Path("x"))
    for name, tags in zip(examples.ids, predicted, strict=True):
        answers.add(name, tags)
    answered, _ = judge_answers(find_task("wikiann"), examples, answers)
    assert answered is not None
    strata = entity_strata(answered, trained)
    assert strata.seen.tolist() == [True, True, True, False, False, False]
    assert strata.recalled.tolist() == [1, 0, 1, 0, 0, 1]
    assert strata.sentence.tolist() == [0, 0, 1, 1, 2, 2]
    assert strata.factors["length"].tolist() == ["2", "1", "1", "1", "4+", "1"]
    assert strata.factors["frequency"].tolist() == ["once", "2-4 times", "2-4 times", "once", "once", "once"]
    assert strata.factors["script"].tolist() == ["Latin", "Latin", "Latin", "other", "Latin", "Latin"]
    assert strata.factors["type"].tolist() == ["PER", "LOC", "LOC", "LOC", "ORG", "PER"]
    seen, rest = strata.recall(seen=True), strata.recall(seen=False)
    assert seen is not None
    assert rest is not None
    assert (seen.score, rest.score) == pytest.approx((2 / 3, 1 / 3))
    # Seen: two right of two predicted and three gold. Unseen: one right of two predicted (also "Das") and three gold.
    assert (strata.f1[True].score, strata.f1[False].score) == pytest.approx((4 / 5, 2 / 5))
    assert strata.matched() is None


def test_unseen_entities_are_all_missed() -> None:
    known = training_entities("mini-wikiann", None)
    assert known is not None
    answers = {}
    for code in ("en", "de", "sw"):
        examples = isogloss.load("mini-wikiann", code)
        tagged = {}
        for name, words, tags in zip(examples.ids, examples["tokens"], examples["tags"], strict=True):
            masked = list(tags)
            [chunks] = extract([tags], dialect=find_task("mini-wikiann").dialect)
            for _, first, last in chunks:
                if "".join(words[first : last + 1]).casefold() not in known.forms:
                    masked[first : last + 1] = ["O"] * (last - first + 1)
            tagged[name] = masked
        answers[code] = tagged
    finding = finding_of({"mini-wikiann": answers}, "mini-wikiann")
    for row in finding.table("entities").records():
        assert row["seen"] in (None, 100)
        assert row["unseen"] in (None, 0)
        assert row["alike"] in (None, pytest.approx(100))
    assert {row["factor"] for row in finding.table("entities-by").records()} == {
        "length",
        "frequency",
        "script",
        "type",
    }
    assert np.isfinite([row["gap"] for row in finding.table("entities").records() if row["gap"] is not None]).all()


def test_missing_english_training_is_refused(tmp_path: Path) -> None:
    (tmp_path / "panx").mkdir()
    (tmp_path / "panx/dev-de.tsv").write_text("Oslo\tB-LOC\n\n", encoding="utf-8")
    request = Request.of(tasks=["wikiann"], split="dev", data=tmp_path, allow_partial=True)
    with pytest.raises(
        AnalysisError, match=r"wikiann/en: cannot read the English training data: .*isogloss fetch wikiann"
    ):
        unseen([{"wikiann": {"de": {"dev-0": ["B-LOC"]}}}], request)


def test_task_without_english_training_does_not_end_the_analysis(tmp_path: Path) -> None:
    (tmp_path / "panx").mkdir()
    (tmp_path / "panx/test-de.tsv").write_text("Oslo\tB-LOC\n\n", encoding="utf-8")
    answers = {
        "wikiann": {"de": {"test-0": ["B-LOC"]}},
        "mini-udpos": {"de": predictions("de", lambda _, tags: tags)},
    }
    request = Request.of(tasks=["wikiann", "mini-udpos"], data=tmp_path, allow_partial=True)
    finding = unseen([answers], request)
    assert {row["task"] for row in finding.table("ngrams").records()} == {"mini-udpos"}
    assert [note for note in finding.notes if note.startswith("left out: wikiann/en: cannot read the English")]


def test_damaged_language_is_listed_with_its_reason() -> None:
    damaged = {name: ["NOUN"] * 99 for name in isogloss.load("mini-udpos", "sw").ids}
    both = {"mini-udpos": {"de": predictions("de", lambda _, tags: tags), "sw": damaged}}
    finding = finding_of(both, "mini-udpos")
    assert {row["language"] for row in finding.table("ngrams").records()} == {"de"}
    [note] = [note for note in finding.notes if "mini-udpos/sw" in note]
    assert note.startswith("left out: ")
    assert f"; {len(damaged) - 1} more like it" in note
    for limits in ({"languages": ["sw"]}, {"strict": True}):
        with pytest.raises(PredictionError, match="cannot be scored"):
            unseen([both], Request.of("mini", tasks=["mini-udpos"], **limits))


def test_gap_of_unnamed_sentences_is_paired() -> None:
    """Recompute the variance of seen minus unseen by leaving out sentences; some have only seen n-grams."""
    tags = [["DET", "NOUN", "VERB", "ADV"], ["DET", "NOUN", "VERB"], ["ADV", "ADV", "ADV", "VERB"], ["X", "X", "X"]] * 9
    said = [[tag if (row + place) % 5 else "INTJ" for place, tag in enumerate(own)] for row, own in enumerate(tags)]
    known = {("DET", "NOUN", "VERB"), ("ADV", "ADV", "ADV")}
    occurrences = ngram_occurrences(tags, said, known, 3)
    sides = [side for seen in (True, False) if (side := occurrences.accuracy(seen=seen)) is not None]
    errors = np.zeros((2, len(tags)))
    for side, own in zip(sides, errors, strict=True):
        rows, units = side.rows[:, 0], side.units
        here = np.unique(units)
        without = np.array([rows[units != sentence].mean() for sentence in here])
        own[here] = (without.mean() - without) * np.sqrt((len(here) - 1) / len(here))
    unnamed: dict[str, Any] = {"units": None, "checksum": "0" * 64, "judgement": Judgement({}), "n": len(tags)}
    cell = Cell(task="udpos", language="af", split="test", **unnamed)
    sources = Sources([cell])
    gap = difference(*(sources.estimate(cell, side) for side in sides))
    assert gap.value == pytest.approx(sides[0].score - sides[1].score)
    assert gap.variance == pytest.approx(((errors[0] - errors[1]) ** 2).sum())
    assert gap.sources == len(tags)


def test_other_tasks_have_no_tags() -> None:
    with pytest.raises(AnalysisError, match="Choose tagging tasks: udpos, wikiann"):
        finding_of({}, "mini-xnli")


def test_real_treebanks(data_dir: Path) -> None:
    """Gold tags as answers: all right, and the share of unseen n-grams recounted from the files."""
    if not (data_dir / "udpos").is_dir():
        pytest.skip("the data folder has no udpos")
    examples = isogloss.load("udpos", "eu", data=data_dir)
    train = isogloss.load("udpos", "en", "train", data=data_dir)
    answers = {"udpos": {"eu": dict(zip(examples.ids, examples["tags"], strict=True))}}
    finding = unseen([answers], Request.of(tasks=["udpos"], data=data_dir))
    row = only(finding, "ngrams", order=3)
    known = {three for tags in train["tags"] for three in zip(tags, tags[1:], tags[2:], strict=False)}
    there = [three for tags in examples["tags"] for three in zip(tags, tags[1:], tags[2:], strict=False)]
    assert row["unseen_share"] == pytest.approx(100 * sum(three not in known for three in there) / len(there))
    assert (row["seen"], row["unseen"], row["gap"]) == (100, 100, 0)


def test_table_4_of_real_treebanks_and_entities(data_dir: Path) -> None:
    """Languages with and without named sources in one call; every third sentence is wrong, recounted here."""
    if not all((data_dir / folder).is_dir() for folder in ("udpos", "panx")):
        pytest.skip("the data folder has no udpos or panx")
    languages = {"udpos": ["en", "id", "ja", "mr", "ta", "te", "vi"], "wikiann": ["en", "sw", "yo"]}
    answers: dict[str, dict[str, dict[str, list[str]]]] = {}
    for task, codes in languages.items():
        for code in codes:
            examples = isogloss.load(task, code, "dev", data=data_dir)
            told = (["X" if task == "udpos" else "O"] * len(tags) for tags in examples["tags"])
            said = [
                no if row % 3 == 0 else tags for row, (tags, no) in enumerate(zip(examples["tags"], told, strict=True))
            ]
            answers.setdefault(task, {})[code] = dict(zip(examples.ids, said, strict=True))
    finding = unseen([answers], Request.of(tasks=[*languages], split="dev", data=data_dir))
    assert {row["language"] for row in finding.table("ngrams").records()} >= {*languages["udpos"]}
    assert {row["language"] for row in finding.table("entities").records()} >= {*languages["wikiann"]}
    assert [(row["order"], row["which"]) for row in finding.table("table-4").records()] == [*PRINTED]
    known = tag_ngrams(isogloss.load("udpos", "en", "train", data=data_dir)["tags"], 4)
    tags = isogloss.load("udpos", "ta", "dev", data=data_dir)["tags"]
    for which in ("seen", "unseen"):
        right = [
            bool(row % 3)
            for row, own in enumerate(tags)
            for four in zip(own, own[1:], own[2:], own[3:], strict=False)
            if (four in known) == (which == "seen")
        ]
        assert only(finding, "ngrams", language="ta", order=4)[which] == pytest.approx(100 * np.mean(right))
