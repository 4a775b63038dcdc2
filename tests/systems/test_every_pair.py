"""Every task with every trained system: 16 training examples are memorized, or the pair is refused.

Tasks have their own labels, columns and kinds; the texts are the suite's. For retrieval a text-to-text model learns to
read (as in footnote 7 of the XTREME-R paper), and so does an encoder before it finds translations: it is reading that
they must know by heart, and texts that they must tell apart.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caches import new_cache
from isogloss.systems.base import SystemFailureError, system
from isogloss.systems.dual.system import training_pairs
from isogloss.systems.neural.system import NeuralSystem
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.shipped import SHIPPED
from tiny_models import topics

TASKS = tuple(SHIPPED)

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

RETRIEVAL = ("tatoeba", "mewslix", "lareqa", "bucc")
OTHERS = tuple(name for name in TASKS if name not in RETRIEVAL)
# Questions as in tydiqa, entities as in wikiann.
ALIKE = ("xquad", "mlqa", "conll")
LEARNT, ENOUGH = 16, 0.95
# Among fewer, an untrained encoder finds most by chance.
SEARCHED = 32
# Rate, batch and updates that suffice for a tiny model.
ENCODER: dict[str, Any] = {"learning_rate": 2e-3, "batch": 8, "epochs": 45, "max_length": 128}
# A query that sees the whole batch memorises it in few updates.
DUAL: dict[str, Any] = {
    "learning_rate": 2e-3,
    "batch": 64,
    "candidates": 0,
    "steps": 25,
    "max_length": 40,
    "query_length": 24,
}
WRITER: dict[str, Any] = {"learning_rate": 2e-2, "batch": 8, "warmup": 5, "schedule": "linear", "dropout": 0.0}
# Each kind with a model that has segments, one without, or one with language ids.
ENCODERS = [
    ("xnli", "tiny_bert"),
    ("pawsx", "tiny_xlm"),
    ("mldoc", "tiny_xlmr"),
    ("xcopa", "tiny_bert"),
    ("xcopa", "tiny_xlm"),
    ("udpos", "tiny_bert"),
    ("udpos", "tiny_xlm"),
    ("wikiann", "tiny_xlmr"),
    ("wikiann", "tiny_bert#raw"),
    ("wikiann", "tiny_xlmr#raw"),
    ("xquad", "tiny_bert"),
    ("mlqa", "tiny_xlmr"),
    ("tydiqa", "tiny_xlm"),
]
DUAL_ENCODERS = [
    ("lareqa", "tiny_bert"),
    ("tatoeba", "tiny_xlmr#pooling=mean,both,micro=16"),
    ("mewslix", "tiny_bert#pooling=cls"),
    ("bucc", "tiny_bert#pooling=mean"),
]
UPDATES = {"mldoc": 60, "xcopa": 80, "udpos": 150}


@pytest.fixture(autouse=True)
def one_core(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path_factory.getbasetemp() / "tokens-of-every-pair")))
    torch.set_num_threads(1)


def made(name: str, **settings: Any) -> NeuralSystem:
    found = system(name, quiet=True, stages=(), checkpoints=100, **settings)
    assert isinstance(found, NeuralSystem)
    return found


def writer(folder: Path, name: str) -> NeuralSystem:
    return made(f"text2text:{folder}", steps=UPDATES.get(name, 80), **WRITER)


def effects() -> Examples:
    choices = ("it was wet", "it was dry")
    columns = {
        "premise": [f"the {'rain' if row % 3 else 'sun'} came on day {row}" for row in range(LEARNT)],
        "question": ["effect"] * LEARNT,
        "choices": [choices[:: 1 if row % 2 else -1] for row in range(LEARNT)],
        "label": [int((row % 2 == 0) == (row % 3 != 0)) for row in range(LEARNT)],
    }
    return Examples("xcopa", "en", "train", list(map(str, range(LEARNT))), dict(columns), "label")


def paraphrases() -> Examples:
    found = load("mini-xnli", "en", "train")
    labels = {"entailment": "1", "contradiction": "0"}
    found = found.keep([row for row, label in enumerate(found["label"]) if label in labels])
    found.columns["label"] = [labels[label] for label in found["label"]]
    return replace(found, task="pawsx")


def questions() -> Examples:
    """Questions about different passages, without duplicates: each has one right answer."""
    found = load("mini-xquad", "en", "train")
    asked = {question: row for row, question in reversed(list(enumerate(found["question"])))}
    about = {found["context"][row]: row for row in sorted(asked.values(), reverse=True)}
    return found.keep(sorted(about.values())[:SEARCHED])


def training_set(name: str) -> Examples:
    """16 examples of a task, the shortest in its mini suite if it has one."""
    own = {"mldoc": topics, "xcopa": effects, "pawsx": paraphrases}
    found = own[name]() if name in own else replace(load(f"mini-{name}", "en", "train"), task=name)
    longest = next(column for column in ("tokens", "text", "text_a", "context", "premise") if column in found.columns)
    return found.keep(sorted(range(len(found)), key=lambda row: len(found[longest][row]))[:LEARNT])


def as_search(name: str, queries: Sequence[str], answers: Sequence[str], targets: Sequence[int]) -> Examples:
    """Return the same pairs as a retrieval task, as a dev set because mining tunes its threshold there."""
    ids = [f"c{row}" for row in range(len(answers))]
    pool = Pool(lambda: dict.fromkeys(ids, "en"), lambda: answers)
    columns: dict[str, Any] = {"text": list(queries), "targets": [[ids[row]] for row in targets]}
    return Examples(name, "en", "dev", [f"q{row}" for row in range(len(queries))], columns, "targets", pool=pool)


def pairs_as_search(name: str, train: Examples) -> Examples:
    pairs = training_pairs(train)
    assert (len(pairs.queries), len(pairs.answers)) == (SEARCHED, SEARCHED)
    return as_search(name, pairs.queries, pairs.answers, pairs.numbers[:, 1].tolist())


def score(examples: Examples, answers: Sequence[Any]) -> float:
    """Return the mean of the task's main metrics."""
    found = task(examples.task)
    asked = kind_of(found)
    normal = [asked.normalize(answer) for answer in answers]
    assert not list(asked.errors(found, examples, normal))
    metrics = asked.judge(found, examples, normal).metrics
    return sum(metrics[main].score for main in found.main) / len(found.main)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), ENCODERS)
def test_encoder(name: str, model: str, request: pytest.FixtureRequest) -> None:
    fixture, mark, written = model.partition("#")
    train = training_set(name)
    learnt = made(f"encoder:{request.getfixturevalue(fixture)}{mark}{written}", **ENCODER).fit(task(name), train, 0)
    assert score(train, learnt.predict(train)) >= ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize(("name", "model"), DUAL_ENCODERS)
def test_dual_encoder(name: str, model: str, request: pytest.FixtureRequest) -> None:
    fixture, mark, written = model.partition("#")
    read = questions()
    asked = pairs_as_search(name, read)
    found = made(f"dual-encoder:{request.getfixturevalue(fixture)}{mark}{written}", **DUAL)
    # Mewsli-X learns from mentions and their entities, the others from questions and their answers.
    train = replace(asked, split="train") if name == "mewslix" else read
    assert found.learns_from(task(name)).id == ("mewslix" if name == "mewslix" else "xquad")
    unlearnt = made(f"dual-encoder:{request.getfixturevalue(fixture)}{mark}{written}", **{**DUAL, "steps": 1})
    assert score(asked, unlearnt.fit(task(name), train, 0).predict(asked)) < 0.8
    assert score(asked, found.fit(task(name), train, 0).predict(asked)) >= ENOUGH


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OTHERS if name not in ALIKE])
def test_text2text(name: str, tiny_mt5: Path) -> None:
    train = training_set(name)
    assert score(train, writer(tiny_mt5, name).fit(task(name), train, 0).predict(train)) >= ENOUGH


@pytest.mark.slow
def test_text2text_trains_on_questions_before_retrieval(tiny_mt5: Path) -> None:
    reads_before_it_retrieves(writer(tiny_mt5, "xquad"), *RETRIEVAL)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny_bert", "tiny_xlmr"])
def test_encoder_trains_on_questions_before_retrieval(model: str, request: pytest.FixtureRequest) -> None:
    reads_before_it_retrieves(made(f"encoder:{request.getfixturevalue(model)}", **ENCODER), "tatoeba")


def reads_before_it_retrieves(found: NeuralSystem, *names: str) -> None:
    """One model learns to read for the first task and serves all, because their training is the same."""
    from isogloss.training.loop import train as learn

    train = training_set("xquad")
    assert {found.learns_from(task(name)).id for name in names} == {"xquad"}
    assert len({found.training_key(task(name)) for name in names}) == 1
    adapter = found.adapter(task(names[0]))
    model = adapter.load_model(0)
    learn(model, adapter.objective(train), adapter.recipe)
    assert score(train, found.adapter(task("xquad")).predict(model, train)) >= ENOUGH
    texts = questions()["question"]
    for name in names:
        asked = as_search(name, texts[::-1], texts, range(SEARCHED)[::-1])
        assert score(asked, found.adapter(task(name)).predict(model, asked)) >= ENOUGH, name


@pytest.mark.parametrize(
    ("family", "learnt", "refused", "reason"),
    [
        (
            "encoder",
            {*dict(ENCODERS), "conll", "tatoeba", "bucc"},
            ("mewslix", "lareqa"),
            "use dual-encoder or embedder",
        ),
        ("dual-encoder", dict(DUAL_ENCODERS), OTHERS, "supports only retrieval"),
        ("text2text", TASKS, (), ""),
    ],
)
def test_every_other_pair_is_refused(family: str, learnt: Iterable[str], refused: Sequence[str], reason: str) -> None:
    found = system(f"{family}:a/model")
    reasons = {name: found.refusal(task(name)) for name in TASKS}
    assert {name for name, said in reasons.items() if said} == set(refused) == set(TASKS) - set(learnt)
    for name in refused:
        assert reason in reasons[name]
        with pytest.raises(SystemFailureError, match=rf"{name}: {family}"):
            found.fit(task(name), None, 0)
