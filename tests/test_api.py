"""The verbs from Python: every name of the package, and answers that are in memory instead of in files."""

import subprocess
import sys
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.gold import gold_examples
from sample import write_gold, write_system


@pytest.mark.parametrize(
    "verb", ["load", "score", "compare", "validate", "export", "explain", "report", "run", "train"]
)
def test_every_verb_can_be_called(verb: str) -> None:
    assert callable(getattr(isogloss, verb))


def test_packages_named_after_a_verb_are_packages_still() -> None:
    program = "import isogloss.explain.bias, isogloss.report.tables, isogloss; assert callable(isogloss.explain)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_every_name_is_there() -> None:
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
