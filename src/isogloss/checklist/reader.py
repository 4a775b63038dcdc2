"""Reader of checklist examples, built in memory from the frozen cases and the language file."""

from pathlib import Path
from typing import Any

from isogloss.checklist.kind import UNREVIEWED
from isogloss.checklist.review_marks import example_text, review_status
from isogloss.checklist.shipped import language_examples
from isogloss.grammar.cases import Statements, opposites, statements
from isogloss.grammar.file import grammar, grammar_path
from isogloss.tasks.examples import Examples
from isogloss.tasks.readers.split_files import SplitFiles


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
    about_case = {name: statements(case, grammar(split.language)) for name, case in by_case.items()}
    about = [about_case[example.case.id][example.place % len(about_case[example.case.id])] for example in drawn]
    columns: dict[str, Any] = {
        "question": [example.question for example in drawn],
        "context": [example.context for example in drawn],
        "answers": [[example.answer] for example in drawn],
        "answer_starts": [[example.context.find(example.answer)] for example in drawn],
        "accepted": [example.accepted for example in drawn],
        "wrong": [example.wrong for example in drawn],
        "sentence": [example.sentence for example in drawn],
        "opposite": [opposite[example.case.id][example.place % len(opposite[example.case.id])] for example in drawn],
        **{name: [getattr(each, name) for each in about] for name in Statements._fields},
        "renamed": [example.renamed for example in drawn],
    }
    examples = split.examples([example.id for example in drawn], columns, "answers", units=cases, clusters=cases)
    status = review_status(grammar(split.language), test)
    examples.notes += [] if status.reviewed else [UNREVIEWED]
    examples.notes += [status.text] if status.reviewed or status.withdrawn else []
    return examples
