"""The n-gram system on small hand-made tasks, one per kind, and on slices of real ones."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.errors import DataError
from isogloss.systems.base import SystemFailureError, system
from isogloss.systems.ngram import NgramSystem
from isogloss.systems.ngram.linear_model import LinearModel, SparseRows
from isogloss.systems.ngram.tagging import _best_sequences, _followers
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of

NAMES = "Aino Bertil Cecilia Doris Eero Fanny Gustav Helmi Iris Jalmari".split()
TOWNS = "Kotka Lahti Oulu Pori Rauma Salo Turku Vaasa".split()


def made(task: str, gold: str = "", pool: Pool | None = None, **columns: Sequence[Any]) -> Examples:
    count = len(next(iter(columns.values()), ()))
    return Examples(task, "en", "train", [f"train-{row}" for row in range(count)], dict(columns), gold, pool=pool)


def topics(count: int) -> Examples:
    texts = [f"the market fell by {n} points" if n % 2 else f"the minister spoke {n} times" for n in range(count)]
    return made("mldoc", "label", text=texts, label=["MCAT" if n % 2 else "GCAT" for n in range(count)])


def paraphrases(count: int) -> Examples:
    firsts = [f"{NAMES[n % 10]} met {NAMES[(n + 3) % 10]} in {TOWNS[n % 8]}" for n in range(count)]
    seconds = [first if n % 2 else f"{TOWNS[(n + 1) % 8]} is a town" for n, first in enumerate(firsts)]
    return made("pawsx", "label", text_a=firsts, text_b=seconds, label=[str(n % 2) for n in range(count)])


def causes(count: int) -> Examples:
    right, wrong = "because it was broken", "because it was fine"
    choices = [(right, wrong) if n % 2 else (wrong, right) for n in range(count)]
    premises = [f"{NAMES[n % 10]} threw the chair away." for n in range(count)]
    labels = [0 if n % 2 else 1 for n in range(count)]
    return made("xcopa", "label", premise=premises, question=["cause"] * count, choices=choices, label=labels)


def sentences(count: int) -> Examples:
    tokens = [[NAMES[n % 10], TOWNS[(n + 1) % 8], "visited", TOWNS[n % 8], "."] for n in range(count)]
    tags = [["B-PER", "I-PER", "O", "B-LOC", "O"] for _ in range(count)]
    return made("wikiann", "tags", tokens=tokens, tags=tags)


def questions(count: int) -> Examples:
    towns = [TOWNS[n % 8] for n in range(count)]
    years = [str(1900 + n) for n in range(count)]
    contexts = [
        f"It is a long story. {town} was founded in {year} by the sea." for town, year in zip(towns, years, strict=True)
    ]
    asked = [f"When was {town} founded?" for town in towns]
    return made("tydiqa", "answers", question=asked, context=contexts, answers=[[year] for year in years])


def bitext() -> Examples:
    texts = [f"{name} lives in {town}" for name in NAMES for town in TOWNS]
    ids = [f"c{row}" for row in range(len(texts))]
    pool = Pool(lambda: dict.fromkeys(ids, "fi"), lambda: [text.replace("lives in", "asuu:") for text in texts])
    return made("tatoeba", "targets", pool, text=texts, targets=[[one] for one in ids])


MADE = {"mldoc": topics, "pawsx": paraphrases, "xcopa": causes, "wikiann": sentences, "tydiqa": questions}


def score(task: str, examples: Examples, answers: Sequence[Any]) -> float:
    found = isogloss.task(task)
    asked = kind_of(found)
    normal = [asked.normalize(answer) for answer in answers]
    assert not list(asked.errors(found, examples, normal))
    return next(iter(asked.judge(found, examples, normal).metrics.values())).score


@pytest.mark.parametrize("task", MADE)
def test_learns_and_never_abstains(task: str) -> None:
    train, test = MADE[task](160), MADE[task](200).keep(range(160, 200))
    fitted = system("ngram").fit(isogloss.task(task), train, 0)
    answers = fitted.predict(test)
    assert len(answers) == len(test)
    assert None not in answers
    assert score(task, test, answers) > 0.95


@pytest.mark.parametrize("task", MADE)
def test_seed_determines_predictions(task: str) -> None:
    def weights(seed: int) -> np.ndarray[Any, Any]:
        fitted = NgramSystem().fit(isogloss.task(task), MADE[task](60), seed)
        return fitted._model.model.weights  # type: ignore[union-attr, attr-defined, no-any-return]

    assert np.array_equal(weights(3), weights(3))
    assert not np.array_equal(weights(3), weights(4))


def test_retrieval_ranks_distinct_candidates_of_the_pool() -> None:
    examples = bitext()
    fitted = NgramSystem().fit(isogloss.task("tatoeba"), None, 0)
    ranked = fitted.predict(examples)
    assert {len(row) for row in ranked} == {20}
    assert score("tatoeba", examples, ranked) == 1
    assert fitted.predict(examples) == ranked


def test_small_pool_is_ranked_whole_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    examples = bitext()
    whole = NgramSystem().fit(isogloss.task("lareqa"), None, 0).predict(examples)
    assert {len(row) for row in whole} == {30}
    monkeypatch.setattr("isogloss.systems.ngram.retrieval._BLOCK", 7)
    assert NgramSystem().fit(isogloss.task("lareqa"), None, 0).predict(examples) == whole
    few = Pool(lambda: {"a": "fi", "b": "fi"}, lambda: ["", "asuu"])
    assert NgramSystem().fit(isogloss.task("lareqa"), None, 0).predict(
        made("lareqa", "targets", few, text=["asuu", ""], targets=[["b"], ["a"]])
    ) == [["b", "a"], ["a", "b"]]


def test_cached_pool_is_not_used_for_another() -> None:
    fitted = NgramSystem().fit(isogloss.task("tatoeba"), None, 0)
    for texts in (["one", "two"], ["two", "one"]):
        pool = Pool(lambda: {"x": "fi", "y": "fi"}, lambda texts=texts: texts)  # type: ignore[misc]
        [ranked] = fitted.predict(made("tatoeba", "targets", pool, text=["one"], targets=[["x"]]))
        assert ranked[0] == "xy"[texts.index("one")]


@pytest.mark.parametrize("context", ["", "  ", "?", "在1999年的夏天，他去了北京。", "ปี 1999", "İstanbul İ 1999 x"])
def test_answers_are_substrings_of_any_passage(context: str) -> None:
    fitted = NgramSystem().fit(isogloss.task("tydiqa"), questions(60), 0)
    asked = made("tydiqa", question=["When was it?", ""], context=[context, context])
    for answer in fitted.predict(asked):
        assert answer in context
        assert answer.strip() == answer or not context.strip()


def test_answers_outside_their_passages_raise() -> None:
    train = made("tydiqa", "answers", question=["Who?"], context=["Nobody."], answers=[["Aino"]])
    with pytest.raises(SystemFailureError, match="no training answer occurs in its passage"):
        NgramSystem().fit(isogloss.task("tydiqa"), train, 0)


@pytest.mark.parametrize("task", MADE)
@pytest.mark.parametrize(("train", "said"), [(None, "missing"), (made("x", "label", label=[]), "empty")])
def test_empty_training_set_raises(task: str, train: Examples | None, said: str) -> None:
    assert NgramSystem().needs_training(isogloss.task(task))
    with pytest.raises(SystemFailureError, match=f"training set is {said}"):
        NgramSystem().fit(isogloss.task(task), train, 0)


def test_training_set_without_labels_raises() -> None:
    with pytest.raises(SystemFailureError, match="without gold labels"):
        NgramSystem().fit(isogloss.task("mldoc"), made("mldoc", "label", text=["a"]), 0)


def test_predicts_only_training_labels_and_refuses_unknown_ones() -> None:
    fitted = NgramSystem().fit(isogloss.task("mldoc"), topics(20), 0)
    assert set(fitted.predict(made("mldoc", text=["équipe", "", "the market"]))) <= {"MCAT", "GCAT"}
    strange = made("mldoc", "label", text=["a", "b"], label=["GCAT", "SPORT"])
    with pytest.raises(SystemFailureError, match="unknown label 'SPORT'"):
        NgramSystem().fit(isogloss.task("mldoc"), strange, 0)


def test_invalid_gold_labels_are_refused() -> None:
    choices, tagged = causes(4), sentences(3)
    choices.columns["label"] = [0, 1, 2, 0]
    tagged.columns["tags"] = [*tagged["tags"][:2], ["O"]]
    with pytest.raises(SystemFailureError, match="label 2 is not an index into 2 choices"):
        NgramSystem().fit(isogloss.task("xcopa"), choices, 0)
    with pytest.raises(SystemFailureError, match="train-2: 1 tags for 5 words"):
        NgramSystem().fit(isogloss.task("wikiann"), tagged, 0)


def test_refusals_and_unfitted_system() -> None:
    fresh = NgramSystem()
    assert "threshold" in fresh.refusal(isogloss.task("bucc"))
    assert not fresh.refusal(isogloss.task("mewslix"))
    assert not fresh.needs_training(isogloss.task("tatoeba"))
    with pytest.raises(SystemFailureError, match="threshold"):
        fresh.fit(isogloss.task("bucc"), None, 0)
    with pytest.raises(SystemFailureError, match="is not fitted"):
        fresh.predict(topics(2))
    with pytest.raises(DataError, match="no candidate pool"):
        fresh.fit(isogloss.task("tatoeba"), None, 0).predict(topics(2))
    assert fresh.metadata["name"] == "ngram"


def test_empty_sentences_have_no_tags() -> None:
    fitted = NgramSystem().fit(isogloss.task("wikiann"), sentences(20), 0)
    assert [len(tags) for tags in fitted.predict(made("wikiann", tokens=[[], ["Aino"], []]))] == [0, 1, 0]
    assert fitted.predict(made("wikiann", tokens=[[]])) == [[]]


def test_viterbi_matches_brute_force() -> None:
    labels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
    follows = _followers(labels)
    scores = np.random.default_rng(0).normal(size=(9, 5)).astype(np.float32)
    lengths = np.array([4, 0, 1, 4])
    found = _best_sequences(scores, lengths, follows)
    for start, length in ((0, 4), (4, 1), (5, 4)):
        legal = [
            path
            for path in np.ndindex(*(5,) * length)
            if follows[-1, path[0]] and all(follows[a, b] for a, b in pairwise(path))
        ]
        best = max(legal, key=lambda path: sum(scores[start + t, label] for t, label in enumerate(path)))
        assert tuple(found[start : start + length].tolist()) == best


def test_one_step_of_adagrad_by_hand() -> None:
    model = LinearModel(2, rate=0.5)
    rows = SparseRows(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([1, 2, 1], np.float32))
    model.step(rows, np.array([[1], [-1]], np.float32))
    # Slopes: bucket 0 1 x 1, bucket 1 1 x 2 - 1 x 1; the first step is the rate, against the slope.
    assert model.weights[:, 0] == pytest.approx([-0.5, -0.5, 0, 0], abs=1e-5)
    assert model.scores(rows)[:, 0] == pytest.approx([-1.5, -0.5], abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "train", "language", "split", "floor"),
    [
        ("udpos", "train", "en", "dev", 0.75),
        ("wikiann", "train", "en", "dev", 0.35),
        ("tydiqa", "train", "en", "test", 0.15),
        ("xnli", "dev", "en", "test", 0.38),
        ("tatoeba", "", "fr", "test", 0.1),
    ],
)
def test_beats_chance_on_real_data(
    data_dir: Path, task: str, train: str, language: str, split: str, floor: float
) -> None:
    def some(code: str, part: str, count: int) -> Examples:
        examples = isogloss.load(task, code, part, data_dir)
        return examples.keep(range(0, len(examples), max(1, len(examples) // count)))

    fitted = NgramSystem().fit(isogloss.task(task), some("en", train, 1500) if train else None, 0)
    examples = some(language, split, 300)
    assert score(task, examples, fitted.predict(examples)) > floor
