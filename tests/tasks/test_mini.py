"""The suite that is made: complete, deterministic, in the formats of the real tasks."""

import hashlib
from pathlib import Path

import pytest

import isogloss
from isogloss.languages import language
from isogloss.tasks.mini.make import make, make_mewslix
from isogloss.tasks.registry import MINI_TASKS, task
from isogloss.tasks.suites import suite


@pytest.fixture(scope="module", autouse=True)
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The suite, made once for this file in a folder of its own."""
    from isogloss.tasks.mini import make as module

    home = tmp_path_factory.mktemp("cache")
    patch = pytest.MonkeyPatch()
    patch.setenv("ISOGLOSS_CACHE", str(home))
    yield module.folder()
    patch.undo()


@pytest.mark.parametrize("name", MINI_TASKS)
def test_every_task_is_wide_enough(name: str) -> None:
    of = task(name)
    families = {language(code).family for code in of.languages}
    scripts = {language(code).script for code in of.languages}
    assert (len(of.languages) >= 12, len(families) >= 8, len(scripts) >= 7) == (True, True, True)
    assert of.category == task(name.removeprefix("mini-")).category


@pytest.mark.parametrize("name", MINI_TASKS)
def test_every_split_can_be_read(name: str) -> None:
    of = task(name)
    for code in of.languages:
        examples = isogloss.load(name, code)
        assert len(examples) == 60
        assert examples.has_gold
    if of.kind not in ("bitext", "pool"):
        assert len(isogloss.load(name, "en", split="train")) >= 1000
        assert len(isogloss.load(name, "en", split="dev")) >= 100


def test_answers_are_at_their_offsets() -> None:
    for code in ("en", "zh", "ar", "ko", "fi"):
        examples = isogloss.load("mini-xquad", code)
        for context, answers, starts in zip(examples.context, examples.answers, examples.answer_starts, strict=True):
            assert context[starts[0] :].startswith(answers[0])
            assert context.count(answers[0]) == 1


def test_entities_and_labels_occur() -> None:
    tags = {tag for sentence in isogloss.load("mini-wikiann", "ja").tags for tag in sentence}
    assert tags == {"O", "B-PER", "I-PER"}
    assert set(isogloss.load("mini-xnli", "sw").label) == {"entailment", "neutral", "contradiction"}
    assert set(isogloss.load("mini-xcopa", "ta").label) == {0, 1}


def test_lareqa_has_a_target_in_every_language() -> None:
    examples = isogloss.load("mini-lareqa", "fi")
    for targets in examples.targets:
        assert len({target.partition("_")[0] for target in targets}) == len(task("mini-lareqa").languages)


@pytest.mark.slow
def test_same_bytes_twice(made: Path, tmp_path: Path) -> None:
    make(tmp_path / "again")

    def digest(root: Path) -> dict[str, str]:
        return {
            path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    assert digest(tmp_path / "again") == digest(made)


def test_entity_pool_has_any_size(tmp_path: Path) -> None:
    make_mewslix(tmp_path, pool=5000, mentions=7)
    assert len((tmp_path / "candidate_set_entities.jsonl").read_text(encoding="utf-8").splitlines()) == 5000


def test_suite_is_a_suite() -> None:
    assert suite("mini").tasks == tuple(f"mini-{name}" for name in suite("xtreme-r").tasks)
    assert suite("mini").rule == "category"


def test_another_cache_gets_its_own_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from isogloss.tasks.mini import make as module

    monkeypatch.setattr(module, "make", lambda root: root.mkdir())
    for name in ("first", "second"):
        monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / name))
        assert module.folder().parent == tmp_path / name
