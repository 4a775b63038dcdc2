"""Question answering by matching: a case fails if any of its examples fails; metric rows are cases.

The examples are built in memory from the frozen cases and the language file.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.checklist.matching import LONGEST, RightAnswer, fair_rule, matches
from isogloss.checklist.review_marks import example_text, review_status
from isogloss.checklist.shipped import language_examples
from isogloss.grammar.cases import opposites
from isogloss.grammar.file import grammar, grammar_path
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Values
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.task import Task

# Name of the error rate by rule.
METRICS = {"error": "fair", "error_paper": "paper"}

# Notes on a cell.
UNREVIEWED = "unreviewed by a native speaker"
UNANSWERED = "examples without an answer, each of which fails its case"


def case_of(example: str) -> str:
    """Return the case of an example id: `comparisons-0007` of `comparisons-0007-01`."""
    return "-".join(example.split("-")[:2])


class Match(QuestionAnswering):
    """Question answering with correct or wrong answers, by the fair rule and by the paper's."""

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return error rates over cases."""
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
        """Return the rows of examples answered wrongly; the paper's rule accepts only one answer."""
        if mode == "paper":
            pairs = zip(values, examples["answers"], strict=True)
            right = (matches(answer or "", gold[0], language=examples.language, mode=mode) for answer, gold in pairs)
        else:
            rule = fair_rule(examples.language)
            rows = zip(*(examples[name] for name in RightAnswer._fields), strict=True)
            right = (rule.is_right(answer or "", RightAnswer(*row)) for answer, row in zip(values, rows, strict=True))
        return [row for row, is_so in enumerate(right) if not is_so]


class Invariance(Match):
    """Invariance tests: an answer may be wrong but must not depend on irrelevant changes."""

    def failures(self, examples: Examples, values: Values, mode: str) -> list[int]:
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


def read(split: SplitFiles) -> Examples:
    """Return the examples of a task; invariance tasks have each example plain and changed."""
    test, variant = str(split.task.options["test"]), str(split.task.options["variant"])
    variants = dict.fromkeys(("mft", variant))
    drawn = [example for name in variants for example in language_examples(split.language, name, (test,))]
    for example in drawn:
        split.digest.update(example_text(example))
    split.read += [grammar_path(split.language), Path(__file__).with_name("cases.tsv")]
    cases = [example.case.id for example in drawn]
    # Sentences that answer the opposite question, for each question of a case.
    by_case = {example.case.id: example.case for example in drawn}
    opposite = {name: opposites(case, grammar(split.language)) for name, case in by_case.items()}
    columns: dict[str, Any] = {
        "question": [example.question for example in drawn],
        "context": [example.context for example in drawn],
        "answers": [[example.answer] for example in drawn],
        "answer_starts": [[example.context.find(example.answer)] for example in drawn],
        "accepted": [example.accepted for example in drawn],
        "wrong": [example.wrong for example in drawn],
        "sentence": [example.sentence for example in drawn],
        "opposite": [opposite[example.case.id][example.place % len(opposite[example.case.id])] for example in drawn],
        "renamed": [example.renamed for example in drawn],
    }
    examples = split.examples([example.id for example in drawn], columns, "answers", units=cases, clusters=cases)
    status = review_status(grammar(split.language), test)
    examples.notes += [] if status.reviewed else [UNREVIEWED]
    examples.notes += [status.text] if status.reviewed or status.withdrawn else []
    return examples
