"""Language models on retrieval tasks: the endpoint's embeddings, and the model's order of the first candidates."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from caches import new_cache
from isogloss.prompts.recipes import PromptRecipeError
from isogloss.reply_outcomes import Outcome, Usage
from isogloss.systems import system
from isogloss.systems.base import RepliedPredictions
from isogloss.systems.llm.reranking import reranked
from isogloss.tasks import task
from isogloss.tasks.examples import Examples
from systems.embedding_server import EmbeddingServer, bag, embedding_server

TATOEBA, LANGUAGE = "mini-tatoeba", "nl"
SHOWN = re.compile(r"^(\d+)\. (.*)$", re.M)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddingServer]:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    with embedding_server() as running:
        monkeypatch.setenv("ISOGLOSS_ENDPOINT", running.url)
        yield running


def llm(**settings: Any) -> Any:
    return system("llm:fake", **{"labels": "text", "tags": "lines", "quiet": True, **settings})


def found_order(examples: Examples) -> Any:
    """Return the ids of the pool for every query, nearest first."""
    assert examples.pool is not None
    sides = [bag(texts).astype(np.float64) for texts in (examples["text"], examples.pool.text)]
    queries, candidates = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in sides)
    order = np.argsort(-np.round(queries @ candidates.T, 6), axis=1, kind="stable")
    return [[examples.pool.ids[row] for row in rows] for rows in order.tolist()]


def preferring(examples: Examples) -> Any:
    """Return a model that puts the gold candidates first, and forgets all others."""
    assert examples.pool is not None
    text_of = dict(zip(examples.pool.ids, examples.pool.text, strict=True))
    gold = {
        text: {text_of[target] for target in targets}
        for text, targets in zip(examples["text"], examples["targets"], strict=True)
    }

    def answer(prompt: str) -> str:
        query = prompt.splitlines()[0].removeprefix("Query: ")
        right = [number for number, text in SHOWN.findall(prompt) if text in gold[query]]
        return ", ".join(right) or "I cannot decide."

    return answer


def accuracy(examples: Examples, ranked: Any) -> float:
    return float(np.mean([ids[0] in gold for ids, gold in zip(ranked, examples["targets"], strict=True)]))


def test_retrieval_without_reranking_asks_for_embeddings_only(server: EmbeddingServer) -> None:
    examples = isogloss.load(TATOEBA, LANGUAGE)
    ranked = llm().fit(task(TATOEBA), None, 0).predict(examples)
    assert ranked == [ids[:20] for ids in found_order(examples)]
    assert not isinstance(ranked, RepliedPredictions)
    assert server.prompts == []


def test_languages_share_the_embedder(server: EmbeddingServer) -> None:
    made = llm().fit(task("mini-lareqa"), None, 0)
    made.predict(isogloss.load("mini-lareqa", "de"))
    sent = len(server.texts)
    spanish = isogloss.load("mini-lareqa", "es")
    made.predict(spanish)
    assert sorted(server.texts[sent:]) == sorted(set(spanish["text"]))


@pytest.mark.parametrize("first", [1, 5, 20])
def test_the_model_finds_what_is_among_the_first(server: EmbeddingServer, first: int) -> None:
    examples = isogloss.load(TATOEBA, LANGUAGE)
    server.answer = preferring(examples)
    ranked = llm(rerank=first).fit(task(TATOEBA), None, 0).predict(examples)
    found = [ids[:20] for ids in found_order(examples)]
    among = [bool(set(ids[:first]) & set(gold)) for ids, gold in zip(found, examples["targets"], strict=True)]
    assert accuracy(examples, ranked) == np.mean(among)
    for ids, before, gold, there in zip(ranked, found, examples["targets"], among, strict=True):
        assert ids == ([*gold, *(each for each in before if each not in gold)] if there else before)
    few = Outcome.PARTIAL if first > 2 else Outcome.STRICT
    assert [facts.outcome for facts in ranked.replies] == [few if there else Outcome.REFUSAL for there in among]
    assert ranked.replies[0].usage == Usage(input=100, output=10)


def test_several_right_answers_and_candidates_beyond_the_first(server: EmbeddingServer) -> None:
    examples = isogloss.load("mini-lareqa", "de").keep(range(8))
    server.answer = preferring(examples)
    ranked = llm(rerank=10).fit(task("mini-lareqa"), None, 0).predict(examples)
    before = llm().fit(task("mini-lareqa"), None, 0).predict(examples)
    for ids, earlier, gold in zip(ranked, before, examples["targets"], strict=True):
        right = [each for each in earlier[:10] if each in gold]
        assert ids == [*right, *(each for each in earlier[:10] if each not in gold), *earlier[10:]]
    assert all(len(SHOWN.findall(body["messages"][-1]["content"])) == 10 for body in server.prompts)


def test_long_candidates_are_cut_and_have_one_line(server: EmbeddingServer) -> None:
    examples = isogloss.load(TATOEBA, LANGUAGE).keep([0])
    assert examples.pool is not None
    examples.pool.text[:] = ["word\n" * 300, *examples.pool.text[1:]]
    server.answer = lambda prompt: "1"
    made = llm().fit(task(TATOEBA), None, 0)
    reranked(made, task(TATOEBA), examples, [[examples.pool.ids[0], examples.pool.ids[1]]])
    shown = dict(SHOWN.findall(server.prompts[0]["messages"][-1]["content"]))
    assert shown["1"] == ("word " * 100)[:499] + "…"
    assert shown["2"] == examples.pool.text[1]


def test_stored_replies_are_not_asked_for_again(server: EmbeddingServer) -> None:
    examples = isogloss.load(TATOEBA, LANGUAGE)
    server.answer = preferring(examples)
    first, second = (llm(rerank=5).fit(task(TATOEBA), None, 0) for _ in range(2))
    ranked = first.predict(examples)
    asked = len(server.prompts)
    assert second.predict(examples) == ranked
    assert len(server.prompts) == asked == len(set(examples["text"]))


def test_recipe_without_rankings_raises(server: EmbeddingServer) -> None:
    made = llm(rerank=5, recipe="mega").fit(task(TATOEBA), None, 0)
    with pytest.raises(PromptRecipeError, match="no prompts for ranking"):
        made.predict(isogloss.load(TATOEBA, LANGUAGE))


@pytest.mark.slow
def test_run_on_the_command_line(server: EmbeddingServer, tmp_path: Path) -> None:
    examples = isogloss.load(TATOEBA, LANGUAGE)
    server.answer = lambda prompt: preferring(examples)(prompt) if prompt.startswith("Query: ") else "yes"
    words = ["run", "llm:fake#rerank=5", "--suite", "mini", "--tasks", TATOEBA, "--languages", LANGUAGE]
    command = [sys.executable, "-m", "isogloss", *words, "--out", str(tmp_path / "runs")]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [file] = (tmp_path / "runs").rglob(f"{LANGUAGE}.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = found_order(examples)
    among = [bool(set(ids[:5]) & set(gold)) for ids, gold in zip(found, examples["targets"], strict=True)]
    by_id = {line["id"]: line["prediction"] for line in lines}
    assert accuracy(examples, [by_id[identifier] for identifier in examples.ids]) == np.mean(among)
    outcomes = Counter(line["reply"]["outcome"] for line in lines)
    assert outcomes == {"partial": sum(among), "refusal": len(among) - sum(among)}
