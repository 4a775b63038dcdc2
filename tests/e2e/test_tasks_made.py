"""The two tasks without redistributable files, end to end on synthetic files of the real size."""

import json
import random
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from e2e.command import cell, refused, scored, values, write, write_answers, write_xtreme
from e2e.independent import accuracy, one_target, ranked_rows, ranking_scores

MLDOC = {
    "en": "english", "de": "german", "es": "spanish", "fr": "french", "it": "italian", "ja": "japanese",
    "ru": "russian", "zh": "chinese",
}  # fmt: skip
TOPICS = ("CCAT", "ECAT", "GCAT", "MCAT")

MENTIONS = {"fa": 458, "ro": 672}
ENTITIES = [(f"Q{number}", ("en", "fa", "ro", "de")[number % 4]) for number in range(1, 301)]


# ---------------------------------------------------------------------------------------------------------------
# MLDoc


def make_mldoc(root: Path) -> dict[str, list[str]]:
    """Write 4,000 test documents per language, `topic<TAB>text`; return the topics."""
    topics = {}
    for place, (language, name) in enumerate(MLDOC.items()):
        topics[language] = random.Random(place).choices(TOPICS, k=4000)
        rows = (f"{topic}\tdocument {row} of “{name}”\n" for row, topic in enumerate(topics[language]))
        write(root / "mldoc" / f"{name}.test", "".join(rows))
    return topics


@pytest.mark.parametrize("layout", ["own", "xtreme"])
def test_mldoc(layout: str, tmp_path: Path) -> None:
    """Every k-th document gets the next topic, with another k in every language."""
    expected = {}
    for place, (language, gold) in enumerate(make_mldoc(tmp_path / "data").items()):
        step = place + 3
        given = [TOPICS[(TOPICS.index(x) + (row % step == 0)) % 4] for row, x in enumerate(gold)]
        expected[language] = accuracy(gold, given)
        if layout == "own":
            answers = {f"test-{row}": topic for row, topic in enumerate(given)}
            write_answers(tmp_path / "run", "mldoc", language, answers)
        else:
            write_xtreme(tmp_path / "run", "mldoc", language, "".join(f"{topic}\n" for topic in given))
    record = scored(tmp_path / "run", "--data", tmp_path / "data", "--suite", "mldoc")
    for language, score in expected.items():
        found = cell(record, "mldoc", language)
        assert values(found["metrics"]) == {"accuracy": pytest.approx(score, abs=1e-9)}
        assert found["metrics"]["accuracy"]["n"] == 4000
        assert "|split:test|n:4000|" in found["signature"]
    assert record["tasks"][0]["score"]["value"] == pytest.approx(fmean(expected.values()), abs=1e-9)
    assert record["overall"]["score"]["value"] == pytest.approx(fmean(expected.values()), abs=1e-9)
    assert (record["overall"]["rule"], record["overall"]["missing"]) == ("flat", [])


def test_short_mldoc_is_refused_with_both_numbers(tmp_path: Path) -> None:
    write(tmp_path / "data" / "mldoc" / "german.test", "CCAT\tone\nMCAT\ttwo\n")
    write_answers(tmp_path / "run", "mldoc", "de", {"test-0": "CCAT", "test-1": "CCAT"})
    words = ("--data", tmp_path / "data", "--suite", "mldoc")
    message = refused(tmp_path / "run", *words)
    assert "2 examples" in message
    assert "4000" in message
    found = scored(tmp_path / "run", *words, "--allow-partial")
    assert cell(found, "mldoc", "de")["partial"] is True
    assert values(cell(found, "mldoc", "de")["metrics"]) == {"accuracy": 50.0}
    assert found["tasks"] == []


# ---------------------------------------------------------------------------------------------------------------
# Mewsli-X


def make_mewslix(root: Path) -> dict[str, dict[str, str]]:
    """Write mentions in two languages, three per document, over a small pool; return the gold entities by mention."""
    gold: dict[str, dict[str, str]] = {}
    documents = []
    for language, count in MENTIONS.items():
        gold[language] = {f"{language}-{row:04}": ENTITIES[row * 7 % len(ENTITIES)][0] for row in range(count)}
        names = list(gold[language].items())
        documents += [_document(language, names[row : row + 3]) for row in range(0, count, 3)]
    write(root / "mewslix" / "wikinews_mentions-test.jsonl", _json_lines(documents))
    write(root / "mewslix" / "candidate_set_entities.jsonl", _json_lines([_entity(*entity) for entity in ENTITIES]))
    return gold


def _document(language: str, mentions: list[tuple[str, str]]) -> dict[str, Any]:
    sentences = [f"Here {entity} is named." for _, entity in mentions]
    starts = [sum(len(s) + 1 for s in sentences[:place]) for place in range(len(sentences))]
    spans = [{"start": start, "end": start + len(s)} for start, s in zip(starts, sentences, strict=True)]
    found = [
        {
            "example_id": name,
            "mention_span": {"start": start + 5, "end": start + 5 + len(entity), "text": entity},
            "entity_id": entity,
            "metadata": {"bin_name": "bin00"},
        }
        for start, (name, entity) in zip(starts, mentions, strict=True)
    ]
    context = {
        "document_id": mentions[0][0],
        "language": language,
        "text": " ".join(sentences),
        "sentence_spans": spans,
    }
    return {"context": context, "mentions": found}


def _entity(name: str, language: str) -> dict[str, Any]:
    text = f"{name} is an entity."
    spans = [{"start": 0, "end": len(text)}]
    return {"entity_id": name, "description_language": language, "description": text, "sentence_spans": spans}


def _json_lines(records: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def spoilt_entities(gold: dict[str, str]) -> dict[str, list[str]]:
    """Return rankings with the correct entity at rank 1 + (row mod 25); every 31st mention has no answer."""
    answers = {}
    for row, (name, entity) in enumerate(gold.items()):
        if row % 31:
            others = [other for other, _ in ENTITIES[row % 200 : row % 200 + 30] if other != entity]
            answers[name] = [*others[: row % 25], entity, *others[row % 25 :]]
    return answers


@pytest.mark.parametrize("layout", ["own", "xtreme"])
def test_mewslix(layout: str, tmp_path: Path) -> None:
    languages_of = dict(ENTITIES)
    subsets: dict[str, list[float]] = {"same language": [], "different languages": []}
    expected = {}
    for language, gold in make_mewslix(tmp_path / "data").items():
        answers = spoilt_entities(gold)
        if layout == "own":
            write_answers(tmp_path / "run", "mewslix", language, answers)
        else:
            write_xtreme(tmp_path / "run", "mewslix", language, json.dumps(answers))
        rankings = [answers.get(name, []) for name in gold]
        expected[language] = ranking_scores(rankings, [[entity] for entity in gold.values()])["map@20"]
        for ranking, entity in zip(rankings, gold.values(), strict=True):
            subset = "same language" if languages_of[entity] == language else "different languages"
            subsets[subset].append(one_target(ranking, entity, [entity]))
    record = scored(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "mewslix")
    for language, score in expected.items():
        found = cell(record, "mewslix", language)
        assert values(found["metrics"]) == {"map@20": pytest.approx(score, abs=1e-9)}
        assert found["metrics"]["map@20"]["n"] == MENTIONS[language]
        assert f"|split:test|n:{MENTIONS[language]}|" in found["signature"]
        unanswered = len(range(0, MENTIONS[language], 31))
        assert any(f"no answer for {unanswered} of {MENTIONS[language]} " in note for note in found["notes"])
    (pairs,) = record["pairs"]
    for name, scores in subsets.items():
        assert pairs["subsets"][name]["value"] == pytest.approx(100 * fmean(scores), abs=1e-9)
        assert pairs["subsets"][name]["n"] == len(scores)


def test_mewslix_from_embeddings(tmp_path: Path) -> None:
    """Small integers: inner products are exact, and there are many ties."""
    gold = make_mewslix(tmp_path / "data")["fa"]
    draw = np.random.default_rng(3)
    pool = draw.integers(-2, 3, (len(ENTITIES), 6)).astype(np.float64)
    places = {name: place for place, (name, _) in enumerate(ENTITIES)}
    asked = np.array([pool[places[entity]] + draw.integers(-1, 2, 6) for entity in gold.values()])
    folder = tmp_path / "run" / "mewslix"
    write(folder / "queries-fa.ids.txt", "".join(f"{name}\n" for name in gold))
    write(folder / "candidates.ids.txt", "".join(f"{name}\n" for name in places))
    np.save(folder / "queries-fa.npy", asked)
    np.save(folder / "candidates.npy", pool)
    names = list(places)
    rankings = [[names[place] for place in row] for row in ranked_rows(asked, pool, 20)]
    expected = ranking_scores(rankings, [[entity] for entity in gold.values()])
    record = scored(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "mewslix", "--languages", "fa")
    assert values(cell(record, "mewslix", "fa")["metrics"]) == pytest.approx(expected, abs=1e-9)


def test_unknown_candidates_are_named(tmp_path: Path) -> None:
    gold = make_mewslix(tmp_path / "data")["fa"]
    answers: dict[str, list[str]] = {name: [entity] for name, entity in gold.items()}
    answers["fa-0001"] = ["Q5", "Q999999"]
    path = write_answers(tmp_path / "run", "mewslix", "fa", answers)
    message = refused(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "mewslix")
    assert f"{path}:2 (mewslix/fa/fa-0001): candidate 'Q999999' is not in the pool" in message
