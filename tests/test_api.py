"""The Python API: every public name, and predictions in memory instead of files."""

import inspect
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import isogloss
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.languages import all_languages
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.gold import gold_examples
from isogloss.predictions.memory import open_predictions
from isogloss.results.readers import read_results
from isogloss.results.views import score_view
from isogloss.scoring.cells import answered_cells
from isogloss.scoring.request import Request
from isogloss.tasks.suites import SUITES
from sample import write_gold, write_system


@pytest.mark.parametrize(
    "verb",
    "load score compare validate export explain analyze select report run train translate".split(),
)
def test_every_verb_can_be_called(verb: str) -> None:
    assert callable(getattr(isogloss, verb))


@pytest.mark.parametrize("verb", ["explain", "score", "run", "report", "load"])
def test_help_shows_the_signature_of_a_verb(verb: str) -> None:
    function = getattr(isogloss, verb)
    assert inspect.isfunction(function)
    first = next(iter(inspect.signature(function).parameters))
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"{verb}({'*' * (verb == 'explain')}{first}: " in text
    assert "Args:" in text
    assert "PACKAGE CONTENTS" not in text


def test_package_of_a_verb_stays_importable() -> None:
    program = """
import isogloss.explain.bias, isogloss.tables.table, isogloss
import isogloss.explain.pairwise as pairwise
from isogloss.explain import attributes
from isogloss.explain.bias import dataset_bias
assert isogloss.explain.__name__ == "explain" and isogloss.explain.__module__ == "isogloss.explain.analysis"
assert isogloss.explain.dataset_bias is dataset_bias and isogloss.explain.attributes is attributes
assert isogloss.explain.pairwise is pairwise
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def public_objects(value: object, depth: int = 0) -> Iterator[object]:
    """Yield all records of the package within a value."""
    if type(value).__module__.startswith("isogloss"):
        yield value
        names = getattr(value, "__struct_fields__", None) or getattr(value, "__dataclass_fields__", ())
        value = [getattr(value, name) for name in names if name != "_"]
    if depth < 6 and isinstance(value, dict | list | tuple):
        for part in list(value.values() if isinstance(value, dict) else value)[:100]:
            yield from public_objects(part, depth + 1)


def test_no_representation_is_long(tmp_path: Path) -> None:
    asked = {"suite": "mini", "tasks": ["mini-xquad", "mini-tatoeba"], "languages": ["en", "sw"]}
    summary = isogloss.run("ngram", out=tmp_path, seeds=2, **asked)
    one, two = (tmp_path / f"ngram/zero-shot/seed-{seed}" for seed in (0, 1))
    systems = read_results([one, "published"])
    given: list[object] = [
        *(summary, isogloss.score(one, **asked), isogloss.compare(one, two, **asked), isogloss.validate(one)),
        *(isogloss.explain(one, two, examples=3, **asked), isogloss.explain.dataset_bias(**asked)),
        *(isogloss.load(name, "sw") for name in asked["tasks"]),
        *(isogloss.task(name) for name in ("udpos", "mini-udpos", "checklist-comparisons", "mewslix")),
        *(
            systems,
            score_view(systems),
            isogloss.analyze("families", "published"),
            list(SUITES.loadable().values()),
        ),
        *(list(all_languages()), open_predictions({"xquad": {"en": {str(i): "x" * 50 for i in range(1000)}}})),
        list(answered_cells([one], Request.of(**asked))),
    ]
    lengths = {type(each): len(repr(each)) for each in public_objects(given)}
    assert len(lengths) > 25
    assert {kind: length for kind, length in lengths.items() if length > 2_000} == {}
    assert repr(isogloss.load("mini-xquad", "en")) == (
        "<Examples: mini-xquad/en test, 60 examples: id, question, context, answers (gold), answer_starts>"
    )


def test_every_public_name_exists() -> None:
    assert sorted([*isogloss.__all__, "list"]) == dir(isogloss)
    assert isogloss.list("tasks").to_pandas()["task"][0] == "xnli"
    for name in isogloss.__all__:
        assert getattr(isogloss, name) is not None


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    suite = isogloss.tasks.suite("xtreme")
    write_gold(folder / "gold", suite, 30)
    write_system(folder / "good", suite, 30, "good", 0.8)
    return folder


TASKS = ("xnli", "udpos", "xquad", "tatoeba", "bucc")


def in_memory(made: Path) -> dict[str, dict[str, dict[str, object]]]:
    folder, found = PredictionFolder(made / "good"), {}
    for name in TASKS:
        task = isogloss.task(name)
        for language in task.languages:
            examples = gold_examples(task, language, "test", made / "gold")
            file = folder.find(task, language, "test")
            if examples is not None and file is not None:
                answers = folder.read(task, file, examples)
                found.setdefault(name, {})[language] = dict(zip(answers.ids, answers.values, strict=True))
    return found


def test_answers_in_memory_score_as_those_in_files(made: Path) -> None:
    asked = {"suite": "xtreme", "gold": made / "gold", "tasks": TASKS}
    of_files, of_memory = isogloss.score(made / "good", **asked), isogloss.score(in_memory(made), **asked)
    assert of_memory.cells == of_files.cells
    assert of_memory.tasks == of_files.tasks
    assert of_memory.overall == of_files.overall


def test_answers_in_memory_are_compared(made: Path) -> None:
    answers = {"xnli": in_memory(made)["xnli"]}
    found = isogloss.compare(made / "good", answers, suite="xtreme", gold=made / "gold", tasks=["xnli"])
    assert found.tasks[0].difference == 0


def test_aliases_and_wrong_answers_in_memory(made: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean xnli"):
        isogloss.score({"xnl": {}})
    with pytest.raises(UnknownNameError, match="xnli has no ja"):
        isogloss.score({"xnli": {"ja": {}}})
    wrong = {"xnli": {"en": {"test-0": ["neutral"]}}}
    with pytest.raises(PredictionError, match="answer to 'test-0'"):
        isogloss.score(wrong, suite="xtreme", gold=made / "gold")


def test_results_have_short_reprs_and_long_tables(made: Path, tmp_path: Path) -> None:
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli" / "en.jsonl").write_text('{"id": "test-0", "prediction": "<perhaps>"}\n', encoding="utf-8")
    checked = isogloss.validate(tmp_path, gold=made / "gold")
    assert len(checked.to_pandas()) == len(checked.everything()) > 1
    assert {*checked.to_pandas()["severity"]} == {"error"}
    assert "&lt;perhaps&gt;" in checked._repr_html_()
    asked = {"suite": "mini", "tasks": ["mini-xnli"], "languages": ["sw"], "seeds": 2}
    summary = isogloss.run("ngram", out=tmp_path / "runs", **asked)
    assert repr(summary).startswith("<RunSummary: ngram, zero-shot, on mini (test): ")
    assert repr(summary).endswith("; 2 cells done>")
    assert list(summary.to_pandas()["task"]) == ["mini-xnli"]  # one cell has no overall score
    assert summary.to_pandas()["mean"][0] == summary.tasks["mini-xnli"].mean
    assert summary._repr_html_().count("<tr>") == 2


def test_every_name_and_keyword_of_the_metrics() -> None:
    metrics = isogloss.metrics
    for dialect in ("squad", "mlqa"):
        assert metrics.qa.normalize("The cat!", dialect=dialect, language="en") == "cat"
        assert metrics.qa.pair("a cat", ["dog", "cat"], dialect=dialect, language="en") == (1, 1)
    for dialect, chunks in (
        ("conll", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("seqeval-1.2.2", [("PER", 0, 1), ("LOC", 3, 3)]),
        ("iob2-strict", [("PER", 0, 1)]),
    ):
        assert metrics.chunks.chunks(["B-PER", "I-PER", "O", "I-LOC"], dialect=dialect) == chunks
        assert metrics.chunks.f1(gold=[["B-PER"]], predicted=[["B-PER"]], dialect=dialect) == 1
    assert metrics.ranking.average_precision(ranked=["a", "b"], targets={"b"}, k=20) == 0.5
    assert metrics.ranking.reciprocal_rank(ranked=["a", "b"], target="b", k=20) == 0.5
    rows, scores = metrics.ranking.search(queries=np.eye(2), candidates=np.eye(2)[[1, 0, 1]], k=2)
    assert (rows.dtype, rows.tolist()) == (np.int64, [[1, 0], [0, 2]])
    assert scores.tolist() == [[1, 0], [1, 1]]
    assert metrics.mining.pair_f1(gold=[("a", "b")], predicted=[("a", "b"), ("c", "d")])[1:] == (0.5, 1)
    mined = metrics.mining.mine(source=np.eye(5), target=np.eye(5)[::-1], neighbours=4, margin="ratio")
    assert sorted((i, j) for _, i, j in mined) == [(row, 4 - row) for row in range(5)]
    assert 0.5 <= metrics.mining.threshold(candidates=[("a", "b", 0.9), ("c", "d", 0.5)], gold=[("a", "b")]) <= 0.9
    low, high = metrics.intervals.bootstrap(
        statistics=np.array([[1.0], [0.0]] * 20), value=lambda sums: sums[..., 0] / 40, resamples=1000, seed=0
    )
    assert 0 < low < 0.5 < high < 1
    scores_of = {"panx": 10.0, "udpos": 20.0, "xnli": 45.0}
    assert metrics.aggregate.overall(task_scores=scores_of, rule="flat") == 25
    assert metrics.aggregate.overall(scores_of, "category") == 30


def test_every_other_name_of_the_contract() -> None:
    lines = ["1\tword\t_\tNOUN\t_\t_\t_\t_\t_\t_", ""]
    assert isogloss.data.conllu.tagged_words(lines=lines, language="en") == [[("word", "NOUN")]]
    for mode in ("paper", "fair"):
        assert isogloss.checklist.matches("the cat", "cat", language="en", mode=mode)
    assert callable(isogloss.tasks.lareqa.build)
    assert callable(isogloss.tasks.mewslix.mention_text)
    assert callable(isogloss.tasks.mewslix.entity_text)
    assert [isogloss.task(alias).id for alias in ("panx", "bucc2018")] == ["wikiann", "bucc"]
    for suite in ("xtreme-r", "xtreme", "mldoc", "mini", "checklist"):
        assert isogloss.tasks.suite(suite).id == suite
