"""Systems of installed packages: all their settings are recorded, and their errors are reported clearly."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from e2e.command import isogloss
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.scoring.request import Request
from isogloss.systems import System, base
from isogloss.tasks import Examples, Task

WORDS = ("--suite", "mini", "--tasks", "mini-xquad", "--languages", "en", "--seeds", 1)


class Longest(System):
    """A minimal system with one setting."""

    name = "longest"

    def __init__(self, place: str = "end", *, top: int = 1, **more: Any) -> None:
        self.top = top

    def needs_training(self, task: Task) -> bool:
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> System:
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        return [" ".join(sorted(text.split(), key=len)[-self.top :]) for text in examples["context"]]


class Nameless(Longest):
    name = None  # type: ignore[assignment]


class Unnamed(System):
    fit, predict = Longest.fit, Longest.predict  # type: ignore[assignment]


class Few(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return super().predict(examples)[:-1]


class Many(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return [*super().predict(examples), "one more"]


class Silent(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return None  # type: ignore[return-value]


class Lazy(Longest):
    def predict(self, examples: Examples) -> Iterator[Any]:  # type: ignore[override]
        yield from super().predict(examples)


class Text(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return "x" * len(examples)


class Table(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return dict.fromkeys(examples.ids, "x")  # type: ignore[return-value]


class Numbers(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return [*super().predict(examples)[:-1], 3]


class Objects(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        return [self] * len(examples)


class Raising(Longest):
    def predict(self, examples: Examples) -> Sequence[Any]:
        raise KeyError("no such column")


class Untaught(Longest):
    def fit(self, task: Task, train: Examples | None, seed: int) -> System:
        raise ZeroDivisionError


class Forgetful(Longest):
    def fit(self, task: Task, train: Examples | None, seed: int) -> System:
        return None  # type: ignore[return-value]


class Unsure(Longest):
    def refusal(self, task: Task) -> str:
        raise RuntimeError("do not ask")


class Unmade(Longest):
    def __init__(self) -> None:
        raise ValueError("no key")


class Abstract(System):
    name = "abstract"


class Unknown(Longest):
    @property
    def metadata(self) -> Mapping[str, Any]:
        raise RuntimeError("do not ask")


class Undescribed(Longest):
    @property
    def metadata(self) -> Mapping[str, Any]:
        return {1: "one"}  # type: ignore[dict-item]


class Described(Longest):
    """A system with its own metadata, without the setting."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        return {"name": self.name, "version": "1", "more": None}


def installed(monkeypatch: pytest.MonkeyPatch, made: type[Any]) -> str:
    name = made.__name__.lower()
    monkeypatch.setitem(base._SHIPPED, name, f"{__name__}:{made.__name__}")
    return name


@pytest.mark.parametrize("made", [Longest, Described])
def test_another_setting_is_another_configuration(
    made: type[Longest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = installed(monkeypatch, made)
    words = (*WORDS, "--out", tmp_path)
    answers = tmp_path / "longest/zero-shot/seed-0/mini-xquad/en.jsonl"
    assert isogloss("run", f"{name}#top=1", *words).code == 0
    first = answers.read_bytes()
    refused = isogloss("run", f"{name}#top=3", *words)
    assert refused.code == 1
    assert "cells of another configuration: settings.top was 1, is 3. Choose another --out" in refused.err
    refused = isogloss("run", f"{name}:middle#top=1,depth=2", *words)
    changes = "settings.depth was None, is 2, settings.place was 'end', is 'middle'"
    assert f"another configuration: {changes}" in refused.err
    # An explicit default is the same setting.
    for same in (name, f"{name}:end", f"{name}#top=1"):
        assert isogloss("run", same, *words).code == 0
    assert answers.read_bytes() == first
    assert isogloss("run", f"{name}#top=3", *WORDS, "--out", tmp_path / "other").code == 0
    assert (tmp_path / "other/longest/zero-shot/seed-0/mini-xquad/en.jsonl").read_bytes() != first


def test_settings_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = installed(monkeypatch, Described)
    assert isogloss("run", f"{name}#top=2,raw", *WORDS, "--out", tmp_path).code == 0
    plan = Plan.of(f"{name}#top=2", tmp_path, Request.of("mini", tasks=["mini-xquad"], languages=["en"]), seeds=1)
    recorded = {"name": "longest", "version": "1", "settings": {"place": "end", "top": 2, "raw": True}}
    described = tomllib.loads((plan.seed_folder(0) / "system.toml").read_text(encoding="utf-8"))
    assert described == {**recorded, "regime": "zero-shot", "seed": 0}
    cell = read_record(plan.record_path(CellKey(0, "mini-xquad", "en")))
    assert cell is not None
    assert cell.provenance.config == recorded


ANSWERS = [
    (Few, "system 'longest' returned 59 predictions for 60 examples"),
    (Many, "system 'longest' returned 61 predictions for 60 examples"),
    (Silent, "system 'longest' returned a NoneType, expected a list of predictions. Return a list"),
    (Lazy, "system 'longest' returned a generator, expected a list of predictions"),
    (Text, "system 'longest' returned a str, expected a list of predictions"),
    (Table, "system 'longest' returned a dict, expected a list of predictions"),
    (Numbers, "system 'longest' predicts 3 (int) for 'xquad-test-59'. Each prediction must be the answer string"),
    (Objects, "(Objects) for 'xquad-test-0'. Each prediction must be the answer string"),
    (Raising, "system 'longest' cannot predict: KeyError: 'no such column'"),
    (Untaught, "system 'longest' cannot learn mini-xquad: ZeroDivisionError"),
    (
        Forgetful,
        "the fit of system 'longest' for mini-xquad returned a NoneType, not a system. End its fit with: return self",
    ),
    (Unsure, "system 'longest' cannot learn mini-xquad: RuntimeError: do not ask"),
]


@pytest.mark.parametrize(("made", "message"), ANSWERS)
def test_wrong_answer_fails_the_cell_with_a_sentence(
    made: type[Longest], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = installed(monkeypatch, made)
    done = isogloss("run", name, *WORDS, "--out", tmp_path)
    assert done.code == 1
    [line] = [line for line in done.out.splitlines() if line.startswith("failed: ")]
    assert message in line
    predicted = isogloss("predict", name, "--task", "mini-xquad", "--language", "en", "--out", tmp_path / "answers")
    assert predicted.code == 1
    assert predicted.err.startswith("error: ")
    assert message in predicted.err
    assert not list((tmp_path / "answers").rglob("*.jsonl"))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (Nameless, """system 'nameless' has no name. Write name = "nameless" in its class"""),
        (Unnamed, """system 'unnamed' has no name. Write name = "unnamed" in its class"""),
        (Unmade, "system 'unmade' cannot be created: ValueError: no key"),
        (Abstract, "system 'abstract' cannot be created: TypeError: Can't instantiate abstract class"),
        (Unknown, "system 'longest' cannot describe itself: RuntimeError: do not ask"),
        (Undescribed, "system 'longest' cannot describe itself: TypeError: metadata keys must be strings"),
    ],
)
def test_system_that_cannot_be_had_is_refused_with_a_sentence(
    made: type[Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = isogloss("run", installed(monkeypatch, made), *WORDS, "--out", tmp_path)
    assert done.code == 1
    assert done.err.startswith("error: ")
    assert message in done.err
    assert not list(tmp_path.iterdir())
