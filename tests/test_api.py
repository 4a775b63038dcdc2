"""The Python API: every public name, and predictions in memory instead of files."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import isogloss
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.gold import gold_examples
from sample import write_gold, write_system


@pytest.mark.parametrize(
    "verb", ["load", "score", "compare", "validate", "export", "explain", "analyze", "select", "report", "run", "train"]
)
def test_every_verb_can_be_called(verb: str) -> None:
    assert callable(getattr(isogloss, verb))


def test_packages_named_after_a_verb_stay_importable() -> None:
    program = "import isogloss.explain.bias, isogloss.tables.table, isogloss; assert callable(isogloss.explain)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_public_name_exists() -> None:
    assert sorted(isogloss.__all__) == dir(isogloss)
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
    assert list(summary.to_pandas()["task"]) == ["mini-xnli", "overall"]
    assert summary.to_pandas()["mean"][0] == summary.tasks["mini-xnli"].mean
    assert summary._repr_html_().count("<tr>") == 3


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
