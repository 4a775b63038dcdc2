"""Error rates: a case fails if any of its examples fails; by the paper's rule and by the fair one, side by side."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isogloss.checklist.build import Variant, swapped, variants
from isogloss.checklist.matching import MODES, matches
from isogloss.checklist.shipped import CASES
from isogloss.errors import PredictionError, unknown
from isogloss.grammar.cases import fillers
from isogloss.grammar.file import CODES, grammar
from isogloss.grammar.schema import TESTS
from isogloss.metrics.intervals import wilson
from isogloss.metrics.significance import holm, mcnemar
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.predictions.align import first_rows
from isogloss.predictions.formats import json_lines
from isogloss.tasks.kinds import KINDS


@dataclass(frozen=True)
class Rate:
    """An error rate in per cent with its 95 % interval, over cases."""

    value: float
    low: float
    high: float
    n: int


@dataclass(frozen=True)
class CellRate:
    """One test in one language: the rate by each rule, which cases failed, and how many examples had no answer."""

    language: str
    test: str
    review: str
    rates: Mapping[str, Rate]
    failed: Mapping[str, tuple[bool, ...]]
    unanswered: int = 0


@dataclass(frozen=True)
class Failure:
    """An example that was answered wrongly."""

    language: str
    test: str
    id: str
    context: str
    question: str
    gold: str
    prediction: str | None


def _answers(root: Path, code: str) -> dict[str, str] | None:
    path = root / f"{code}.jsonl"
    if not path.is_file():
        return None
    answers = json_lines(path, KINDS["qa"])
    rows, twice = first_rows(answers)
    wrong = [*answers.problems, *twice]
    if wrong:
        raise PredictionError(wrong[0].what, where=wrong[0].where, fix=wrong[0].fix)
    return {identifier: answers.values[row] for identifier, row in rows.items()}


def score(
    root: Path, languages: Sequence[str] | None = None, *, kind: str = "mft", count: int = CASES, seed: int = 0
) -> list[CellRate]:
    """Rates of every test in every language the folder has answers for: `<root>/<language>.jsonl`."""
    chosen = [code for code in languages or CODES if (root / f"{code}.jsonl").is_file()]
    if not chosen:
        raise PredictionError(
            "no answers", where=str(root), fix="Expected <language>.jsonl with ids of checklist build"
        )
    return [cell for code in chosen for cell in _language(root, code, kind, count, seed)]


def _language(root: Path, code: str, kind: str, count: int, seed: int) -> list[CellRate]:
    answers = _answers(root, code) or {}
    asked = list(variants(code, kind, count=count, seed=seed))
    known = {variant.id for variant in asked} | {variant.example.id for variant in asked}
    if not known & answers.keys():
        fix = "Answer the ids of isogloss checklist build with the same --cases and --seed"
        raise PredictionError("none of the ids is of this suite", where=str(root / f"{code}.jsonl"), fix=fix)
    failed: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
    unanswered = Counter(v.example.case.test for v in asked if answers.get(v.id) is None)
    for variant in asked:
        for mode in MODES:
            cases = failed[variant.example.case.test, mode]
            wrong = not _holds(variant, answers, code, mode)
            cases[variant.example.case.id] = cases.get(variant.example.case.id, False) or wrong
    review = grammar(code).file.review
    cells: list[CellRate] = []
    for test in dict.fromkeys(test for test, _ in failed):
        outcomes = {mode: tuple(failed[test, mode].values()) for mode in MODES}
        rates = {mode: _rate(outcome) for mode, outcome in outcomes.items()}
        cells.append(CellRate(code, test, review[test], rates, outcomes, unanswered[test]))
    return cells


def _holds(variant: Variant, answers: Mapping[str, str | None], code: str, mode: str) -> bool:
    """MFT: the answer is right. INV: it is the same as the answer to the unchanged example, names apart."""
    said = answers.get(variant.id)
    if said is None:
        return False
    if variant.kind == "mft":
        return matches(said, variant.answer, language=code, mode=mode)
    before = answers.get(variant.example.id)
    if before is None:
        return False
    if variant.kind == "inv-names":
        before = _renamed(before, variant, code)
    return matches(said, before, language=code, mode=mode)


def _renamed(text: str, variant: Variant, code: str) -> str:
    """An answer with the old names replaced by the new ones."""
    speaker = grammar(code)
    old, new = (fillers(case, speaker) for case in (variant.example.case, swapped(variant.example.case)))
    for slot in ("a", "b"):
        if slot in old:
            text = text.replace(old[slot].base, f"\0{slot}")
    for slot in ("a", "b"):
        if slot in new:
            text = text.replace(f"\0{slot}", new[slot].base)
    return text


def _rate(failed: Sequence[bool]) -> Rate:
    share = sum(failed) / len(failed)
    low, high = wilson(share, len(failed))
    return Rate(100 * share, 100 * low, 100 * high, len(failed))


def failures(root: Path, code: str, *, mode: str = "fair", count: int = CASES, seed: int = 0) -> list[Failure]:
    """Every example of a language that was answered wrongly."""
    answers = _answers(root, code) or {}
    return [
        Failure(code, v.example.case.test, v.id, v.context, v.question, v.answer, answers.get(v.id))
        for v in variants(code, count=count, seed=seed)
        if not _holds(v, answers, code, mode)
    ]


def contrast(
    first: Sequence[CellRate], second: Sequence[CellRate], mode: str = "fair"
) -> list[tuple[CellRate, CellRate, float]]:
    """Cells that both systems have, with Holm-corrected p-values of McNemar's test over cases."""
    if mode not in MODES:
        raise unknown("mode", mode, MODES)
    others = {(cell.language, cell.test): cell for cell in second}
    pairs = [(cell, others[cell.language, cell.test]) for cell in first if (cell.language, cell.test) in others]
    p_values = [mcnemar(_statistics(a.failed[mode]), _statistics(b.failed[mode])) for a, b in pairs]
    return [(a, b, float(p)) for (a, b), p in zip(pairs, holm(p_values), strict=True)]


def _statistics(failed: Sequence[bool]) -> Statistics:
    return Statistics(np.asarray(failed, dtype=np.float64)[:, None], MEAN)


def averages(cells: Sequence[CellRate], mode: str) -> dict[str, float]:
    """The mean over languages of each test's rate, and of all of them (`overall`), as the paper has it."""
    by_test = {test: [c.rates[mode].value for c in cells if c.test == test] for test in TESTS}
    means = {test: float(np.mean(values)) for test, values in by_test.items() if values}
    return {**means, "overall": float(np.mean(list(means.values())))}
