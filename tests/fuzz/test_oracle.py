"""The oracle detects each deliberate fault, and the campaign names the case."""

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from fuzz import oracle
from fuzz.campaign import Campaign, Case
from fuzz.mutators import PACKERS, json_text, same_json, same_lines, spoil
from fuzz.oracle import FaultError, attempt, check_scores, check_tidy, command, unfinished
from isogloss.errors import IsoglossError


class EndlessError(IsoglossError):
    """An error with an unbounded quote."""

    def __str__(self) -> str:
        return "x" * 30_000


def raising(error: BaseException) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def hang() -> None:
    while True:
        with suppress(Exception):  # a broad exception handler does not hide a hang
            time.sleep(10)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (raising(KeyError("x")), "crash: KeyError"),
        (raising(RecursionError()), "crash: RecursionError"),
        (raising(SystemExit(3)), "crash: SystemExit"),
        (raising(MemoryError()), "memory: MemoryError"),
        (raising(EndlessError("x")), "length: 30000"),
        (raising(IsoglossError("Traceback (most recent call last)")), "traceback"),
        (hang, "hang: more than 0.2 seconds"),
        (lambda: bytearray(6 << 30), "memory: MemoryError"),
    ],
)
def test_fault_of_a_call_is_found(call: Callable[[], None], found: str) -> None:
    with pytest.raises(FaultError, match=found):
        attempt(call, seconds=0.2 if call is hang else 20)


def test_freed_memory_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "MEMORY", 100 << 20)
    with pytest.raises(FaultError, match=r"memory: 2\d\d MiB"):
        attempt(lambda: len(b"x" * (250 << 20)))


def test_refusal_returns_none() -> None:
    assert attempt(raising(IsoglossError("no", where="file:3", fix="Mend it"))).refused
    assert not attempt(lambda: 3).refused


@pytest.mark.parametrize(
    ("act", "found"),
    [
        (lambda: sys.exit(7), "exit code: 7"),
        (lambda: sys.exit(1), "silence"),
        (lambda: sys.stdout.write("\x1b[31mred"), "control character: U\\+001B"),
        (lambda: sys.stdout.write("\u202edetnirp"), "control character: U\\+202E"),
        (lambda: sys.stderr.write("x" * 30_000), "length"),
        (lambda: 1 / 0, "crash: ZeroDivisionError"),
    ],
)  # fmt: skip
def test_fault_of_a_command_is_found(act: Callable[[], None], found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "main", lambda words: act())
    with pytest.raises(FaultError, match=found):
        command("score")


def test_faults_in_written_files_are_found(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.out.json.17.part").touch()
    assert unfinished(tmp_path) == {"b/.out.json.17.part"}
    with pytest.raises(FaultError, match="leftover"):
        check_tidy(tmp_path, set())
    check_tidy(tmp_path, unfinished(tmp_path))
    for value in (101.0, -1.0, float("nan")):
        cell = {"task": "t", "language": "l", "metrics": {"f1": {"value": value, "low": 0.0, "high": 1.0}}}
        with pytest.raises(FaultError, match="score"):
            check_scores({"cells": [cell]})


def test_campaign_collects_faults_and_prints_how_to_reproduce_them(tmp_path: Path) -> None:
    def fuzzer(case: Case) -> None:
        assert not [*case.folder.iterdir()]
        case.tell("drew")
        if case.rng.random() < 0.5:
            attempt(raising(KeyError(case.rng.random())))

    whole = Campaign("made", seed=3, total=100, only=-1, root=tmp_path)
    with pytest.raises(pytest.fail.Exception, match=r"1 distinct faults in 50 cases:\n\d+ × crash: KeyError") as failed:
        whole.run(fuzzer, share=0.5)
    assert not [*tmp_path.glob("case-*")]
    number = int(str(failed.value).rpartition("--fuzz-case ")[2])
    with pytest.raises(pytest.fail.Exception, match=f"--fuzz-seed 3 --fuzz-case {number}$"):
        Campaign("made", seed=3, total=100, only=number, root=tmp_path).run(fuzzer, share=0.5)


def test_mutators_depend_only_on_the_seed(tmp_path: Path) -> None:
    drawn: list[list[object]] = [[], []]
    content = b'{"id": "a", "prediction": ["b", 1, null]}\n{"id": "c", "prediction": []}\n'

    def collect(into: list[object]) -> Callable[[Case], None]:
        def fuzzer(case: Case) -> None:
            into.append(spoil(case.rng, "x.jsonl", content))
            into.append(same_json(case.rng, content))
            into.append(same_lines(case.rng, content, ordered=False))

        return fuzzer

    for into in drawn:
        Campaign("made", 0, 300, -1, tmp_path).run(collect(into), share=1.0)
    assert drawn[0] == drawn[1]
    assert len({step for _, step in drawn[0]}) > 200  # type: ignore[misc]


def test_json_text_writes_invalid_json() -> None:
    assert json_text({"a": "@digits@"}) == b'{"a": ' + b"9" * 5_000 + b"}"
    assert json_text("\ud800") == b'"\xed\xa0\x80"'
    assert PACKERS[".gz"](b"x") == PACKERS[".gz"](b"x")
    assert os.environ.get("ISOGLOSS_DATA") is None
