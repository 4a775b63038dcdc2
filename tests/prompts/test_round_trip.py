"""Perfect answers lose nothing: written in every format and read back, gold scores what gold itself scores.

`pytest --every-case` uses all examples of every file.
"""

from pathlib import Path

import pytest

from isogloss.errors import DataError
from isogloss.prompts.render import not_prompted
from isogloss.reply_outcomes import Outcome
from isogloss.tasks import registry
from isogloss.tasks.examples import Examples
from prompts.round_trips import every_format, gold_examples, gold_score, round_trip

# The split of each task that has gold in the most languages.
SPLITS = {
    "xnli": "dev",
    "pawsx": "dev",
    "xcopa": "test",
    "udpos": "test",
    "wikiann": "dev",
    "xquad": "test",
    "mlqa": "dev",
    "tydiqa": "test",
} | dict.fromkeys(registry.LIVING_TASKS, "test")
MINI = [name for name in registry.MINI_TASKS if not not_prompted(registry.task(name))]
READ_AS_WRITTEN = ({Outcome.STRICT}, {Outcome.SCHEMA})


def losses(examples: Examples) -> list[str]:
    """Return the formats in which answers score something else than gold, or are not read as they were written."""
    expected = gold_score(examples)
    found = []
    for choices in every_format(examples.task):
        score, outcomes = round_trip(examples, **choices)
        if score != expected or set(outcomes) not in READ_AS_WRITTEN:
            found.append(f"{examples.language} {choices}: {score} instead of {expected}, {dict(outcomes)}")
    return found


def losses_in_every_language(name: str, split: str, data: Path | None, most: int) -> tuple[list[str], int]:
    """Return the losses of a task, and the number of languages with gold."""
    found: list[str] = []
    languages = 0
    for language in registry.task(name).languages:
        try:
            examples = gold_examples(name, language, data, split, most)
        except DataError:  # no file, or no gold in it
            continue
        languages += 1
        found += losses(examples)
    return found, languages


@pytest.fixture
def most(request: pytest.FixtureRequest) -> int:
    """Maximum examples per language; 0 for all."""
    return 0 if request.config.getoption("--every-case") else 40


@pytest.mark.slow
@pytest.mark.parametrize("name", SPLITS)
def test_real_files(name: str, data_dir: Path, most: int) -> None:
    found, languages = losses_in_every_language(name, SPLITS[name], data_dir, most)
    if not languages:
        pytest.skip(f"no gold of {name} in {data_dir}")
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.CHECKLIST_TASKS)
def test_checklist(name: str, most: int) -> None:
    assert losses_in_every_language(name, "test", None, most // 4) == ([], 51)


@pytest.mark.parametrize("name", MINI)
def test_embedded_suite(name: str, most: int) -> None:
    found, languages = losses_in_every_language(name, "test", None, most // 4)
    assert found == []
    assert languages == len(registry.task(name).languages)


@pytest.mark.parametrize(
    ("gold", "answer"),
    [
        ("the 1990s", "1990s"),  # normalised to the same
        ("1. FC Köln", "1. FC Köln"),  # begins like a list
        ("Answer: yes", "Answer: yes"),  # begins like a label
    ],
)
def test_answers_that_resemble_phrases_around_answers(gold: str, answer: str) -> None:
    columns = {"context": [f"It says: {gold}"], "question": ["What does it say?"], "answers": [[gold, answer]]}
    examples = Examples(task="xquad", language="en", split="test", ids=["1"], columns=columns, gold="answers")
    assert gold_score(examples) == 1
    assert losses(examples) == []
