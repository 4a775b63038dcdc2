"""Question answering by matching: a case fails if any of its examples fails; metric rows are cases."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from isogloss.checklist.matching import LONGEST, fair_rule, matches
from isogloss.checklist.paper_rule import can_pass
from isogloss.checklist.right_answer import RightAnswer
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Values
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.tasks.kinds.replies import Reading, Reply, settled
from isogloss.tasks.task import Task

# Name of the error rate by rule.
METRICS = {"error": "fair", "error_paper": "paper"}

# Notes on a cell.
UNREVIEWED = "unreviewed by a native speaker"
UNREACHABLE = "no case can be passed under the paper's rule by spans of the context"
UNANSWERED = "examples without an answer, each of which fails its case"


def case_of(example: str) -> str:
    """Return the case of an example id: `comparisons-0007` of `comparisons-0007-01`."""
    return "-".join(example.split("-")[:2])


class Match(QuestionAnswering):
    """Question answering with correct or wrong answers, by the fair rule and by the paper's."""

    rules = METRICS
    no_translated_test = "its cases are generated in every language, so translating them tests only the translator"

    def doubt(self, examples: Examples, values: Values) -> str:
        """Return "": right answers need not occur in the text."""
        return ""

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the replies themselves: the fair rule reads them with the context."""
        answers = super().read_replies(task, language, replies, spellings)
        outcomes = [Outcome.STRICT if read.outcome is Outcome.STRICT else Outcome.TOLERANT for read in answers]
        texts = [reply.text if reply.text.strip() else None for reply in replies]
        return [settled(*pair) for pair in zip(replies, map(Reading, texts, outcomes), strict=True)]

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return error rates over cases."""
        cases: dict[str, int] = {}
        case_rows = np.array([cases.setdefault(case_of(example), len(cases)) for example in examples.ids], np.int64)
        _, firsts = np.unique(case_rows, return_index=True)
        metrics: dict[str, Statistics] = {}
        spellings: Counter[str] = Counter()
        for metric, mode in self.rules.items():
            failed = np.zeros((len(cases), 1))
            failed[case_rows[self.failures(examples, values, mode, spellings)]] = 1
            metrics[metric] = Statistics(failed, MEAN, firsts)
        notes = [UNANSWERED] if None in values else []
        notes += [] if self.can_pass(examples) else [UNREACHABLE]
        notes += [f"{count} answers accepted in the spelling {name}" for name, count in sorted(spellings.items())]
        return Judgement(metrics, notes=notes, row_example=firsts)

    def can_pass(self, examples: Examples) -> bool:
        """Return True if a system that extracts spans can pass some case by the paper's rule."""
        rows = zip(examples.ids, examples["context"], examples["answers"], strict=True)
        texts = ((case_of(example), context, answers[0]) for example, context, answers in rows)
        return can_pass(texts, examples.language)

    def failures(self, examples: Examples, values: Values, mode: str, spellings: Counter[str]) -> list[int]:
        """Return the rows of examples answered wrongly, and count right answers in other spellings.

        The paper's rule accepts only one answer.
        """
        if mode == "paper":
            pairs = zip(values, examples["answers"], strict=True)
            right = (matches(answer or "", gold[0], language=examples.language, mode=mode) for answer, gold in pairs)
        else:
            rule = fair_rule(examples.language)
            rows = zip(*(examples[name] for name in RightAnswer._fields), strict=True)
            accepted = [
                rule.accepted_as(answer or "", RightAnswer(*row)) for answer, row in zip(values, rows, strict=True)
            ]
            spellings.update(filter(None, accepted))
            right = (spelling is not None for spelling in accepted)
        return [row for row, is_so in enumerate(right) if not is_so]


class Invariance(Match):
    """Invariance tests: an answer may be wrong but must not depend on irrelevant changes."""

    def can_pass(self, examples: Examples) -> bool:
        """Return True: only the answers are compared."""
        return True

    def failures(self, examples: Examples, values: Values, mode: str, spellings: Counter[str]) -> list[int]:
        """Return the rows of changed examples with a different answer than the plain one, apart from names."""
        answer = dict(zip(examples.ids, values, strict=True))
        failed: list[int] = []
        for row, (example, after) in enumerate(answer.items()):
            plain = "-".join(example.split("-")[:3])
            if plain == example:
                continue
            before = answer.get(plain)
            if before is not None and len(before) <= LONGEST:  # names are not searched in longer texts
                before = _renamed(before, examples["renamed"][row], examples.language)
            same = (
                after is not None
                and before is not None
                and (before == after or matches(after, before, language=examples.language, mode=mode))
            )
            if not same:
                failed.append(row)
        return failed


def _renamed(text: str, names: tuple[tuple[str, str], ...], language: str) -> str:
    """Replace old names by new ones simultaneously, longer names first."""
    if not names:
        return text
    new, text_of = dict(names), fair_rule(language).text
    longest_first = sorted(map(re.escape, new), key=len, reverse=True)

    def exchanged(match: re.Match[str]) -> str:
        return new[match.group()] if text_of.begins_word(text, match.start()) else match.group()

    return re.sub("|".join(longest_first), exchanged, text)
