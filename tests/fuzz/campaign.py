"""Run a fuzzer over many cases, each with its own seed, and collect distinct faults."""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp

import pytest

from fuzz.oracle import FaultError


@dataclass
class Case:
    """One case: its own random generator, an empty folder, and a description of the steps for fault reports."""

    rng: random.Random
    folder: Path
    story: list[str] = field(default_factory=list)

    def tell(self, step: str) -> None:
        """Note a step."""
        self.story.append(step[:200])


@dataclass(frozen=True)
class Campaign:
    """The cases of one fuzzer.

    Attributes:
        total: number of cases of all fuzzers together; each takes its share.
        only: number of the only case to run, -1 for all.
    """

    name: str
    seed: int
    total: int
    only: int
    root: Path

    def run(self, fuzzer: Callable[[Case], None], *, share: float) -> None:
        """Run the cases; fail with every distinct fault and the command that reproduces it."""
        count = max(3, round(self.total * share))
        found: dict[str, list[str]] = {}
        for number in range(count) if self.only < 0 else [self.only]:
            case = Case(
                random.Random(f"{self.name}/{self.seed}/{number}"), Path(mkdtemp(prefix="case-", dir=self.root))
            )
            try:
                fuzzer(case)
            except FaultError as fault:
                found.setdefault(fault.cause, []).append(self._described(number, case, fault))
            finally:
                shutil.rmtree(case.folder, ignore_errors=True)
        if found:
            shown = "\n".join(f"{len(same)} × {same[0]}" for same in found.values())
            pytest.fail(f"{len(found)} distinct faults in {count} cases:\n{shown}", pytrace=False)

    def _described(self, number: int, case: Case, fault: FaultError) -> str:
        again = f"pytest tests/fuzz -k {self.name} --fuzz-seed {self.seed} --fuzz-case {number}"
        told = f"{fault}\n    {'; '.join(case.story)}\n    {again}"
        return "".join(each if each.isprintable() or each == "\n" else ascii(each)[1:-1] for each in told)
