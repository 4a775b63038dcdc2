"""The examples of a test in a language, made in memory from the frozen cases and the language's file."""

from pathlib import Path

from isogloss.checklist.kind import UNREVIEWED
from isogloss.checklist.review_marks import example_text, review_status
from isogloss.checklist.shipped import language_examples
from isogloss.grammar.cases import ChecklistExample, opposites
from isogloss.grammar.file import Grammar, grammar, grammar_path
from isogloss.tasks.examples import Examples
from isogloss.tasks.readers.split_files import SplitFiles


def read(split: SplitFiles) -> Examples:
    """The examples of a task; where they are changed ones, each is asked plain and changed."""
    test, variant = str(split.task.options["test"]), str(split.task.options["variant"])
    variants = dict.fromkeys(("mft", variant))
    asked = [each for name in variants for each in language_examples(split.language, name, (test,))]
    for each in asked:
        split.digest.update(example_text(each))
    split.read += [grammar_path(split.language), Path(__file__).with_name("cases.tsv")]
    cases = [each.case.id for each in asked]
    examples = split.examples(
        [each.id for each in asked],
        {
            "question": [each.question for each in asked],
            "context": [each.context for each in asked],
            "answers": [[each.answer] for each in asked],
            "answer_starts": [[each.context.find(each.answer)] for each in asked],
            "accepted": [each.accepted for each in asked],
            "wrong": [each.wrong for each in asked],
            "sentence": [each.sentence for each in asked],
            "opposite": _opposites(asked, grammar(split.language)),
            "renamed": [each.renamed for each in asked],
        },
        "answers",
        units=cases,
        clusters=cases,
    )
    status = review_status(grammar(split.language), test)
    examples.notes += [] if status.reviewed else [UNREVIEWED]
    examples.notes += [status.text] if status.reviewed or status.withdrawn else []
    return examples


def _opposites(asked: list[ChecklistExample], speaker: Grammar) -> list[str]:
    """Of every example the sentence that would answer the opposite question."""
    by_case = {each.case.id: each.case for each in asked}
    found = {name: opposites(case, speaker) for name, case in by_case.items()}
    return [found[each.case.id][each.place % len(found[each.case.id])] for each in asked]
