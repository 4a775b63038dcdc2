"""Question answering by match: a case fails if any of its examples fails; the rows of its metrics are cases."""

import re

import numpy as np

from isogloss.checklist.fair_answers import LONGEST, RightAnswer, fair_rule
from isogloss.checklist.matching import matches
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Values
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.tasks.task import Task

# What the error rate by each rule is called.
METRICS = {"error": "fair", "error_paper": "paper"}

# What is said of a cell.
UNREVIEWED = "unreviewed by a native speaker"
UNANSWERED = "examples without an answer, each of which fails its case"


def case_of(example: str) -> str:
    """The case of an example's id: `comparisons-0007` of `comparisons-0007-01`."""
    return "-".join(example.split("-")[:2])


class Match(QuestionAnswering):
    """Question answering whose answer is right or wrong, by the fair rule and by the paper's."""

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Error rates over cases."""
        cases: dict[str, int] = {}
        case_rows = np.array([cases.setdefault(case_of(example), len(cases)) for example in examples.ids], np.int64)
        _, firsts = np.unique(case_rows, return_index=True)
        metrics: dict[str, Statistics] = {}
        for metric, mode in METRICS.items():
            failed = np.zeros((len(cases), 1))
            failed[case_rows[self.failures(examples, values, mode)]] = 1
            metrics[metric] = Statistics(failed, MEAN, firsts)
        notes = [UNANSWERED] if None in values else []
        return Judgement(metrics, notes=notes, row_example=firsts)

    def failures(self, examples: Examples, values: Values, mode: str) -> list[int]:
        """The rows of the examples whose answer is none of the right ones; by the paper's rule there is but one."""
        if mode == "paper":
            gold = zip(values, examples["answers"], strict=True)
            right = (matches(said or "", answers[0], language=examples.language, mode=mode) for said, answers in gold)
        else:
            rule = fair_rule(examples.language)
            rows = zip(*(examples[name] for name in RightAnswer._fields), strict=True)
            right = (rule.is_right(said or "", RightAnswer(*row)) for said, row in zip(values, rows, strict=True))
        return [row for row, is_so in enumerate(right) if not is_so]


class Invariance(Match):
    """Invariance tests: an answer may be wrong, but it must not change with what has nothing to do with it."""

    def failures(self, examples: Examples, values: Values, mode: str) -> list[int]:
        """The rows of the changed examples whose answer is not that to the plain one, names apart."""
        said = dict(zip(examples.ids, values, strict=True))
        failed: list[int] = []
        for row, (example, after) in enumerate(said.items()):
            plain = "-".join(example.split("-")[:3])
            if plain == example:
                continue
            before = said.get(plain)
            if after is None or before is None or not self._is_same(before, after, examples, row, mode):
                failed.append(row)
        return failed

    def _is_same(self, before: str, after: str, examples: Examples, row: int, mode: str) -> bool:
        if len(before) <= LONGEST:  # in what is longer, names are not looked for
            before = _renamed(before, examples["renamed"][row], examples.language)
        return before == after or matches(after, before, language=examples.language, mode=mode)


def _renamed(text: str, names: tuple[tuple[str, str], ...], language: str) -> str:
    """A text with the old names replaced by the new ones, all at once, a name before one that is part of it."""
    if not names:
        return text
    new, text_of = dict(names), fair_rule(language).text
    longest_first = sorted(map(re.escape, new), key=len, reverse=True)

    def exchanged(found: re.Match[str]) -> str:
        return new[found.group()] if text_of.begins_word(text, found.start()) else found.group()

    return re.sub("|".join(longest_first), exchanged, text)
