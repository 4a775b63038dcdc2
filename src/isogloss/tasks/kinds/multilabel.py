"""Multi-label classification: the answer is a set of labels, possibly empty."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from isogloss.errors import DataError
from isogloss.metrics import label_sets
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.cells import text_cell, texts_cell
from isogloss.tasks.kinds.classification import wrong_labels
from isogloss.tasks.kinds.open_replies import label_set_readings
from isogloss.tasks.kinds.replies import Reading, Reply
from isogloss.tasks.task import Task

# Separators of labels in a cell of a table; the first that occurs is used.
_SEPARATORS = ("|", "\t", ";", ",")


class MultiLabel(Kind):
    """Emotions, topics, hazards: any number of the task's labels per text."""

    form = "labels"
    answer_type = list[str | int]
    answer_help = "a list of labels, empty for none"
    inputs = ("text", "text_a", "text_b")
    gold = "labels"
    label_format = "by-id"
    translatable = ("text", "text_a", "text_b")
    needed = (("text",), ("text_a", "text_b"))
    needs_labels = True
    empty_gold = True
    category = "classification"
    main = ("micro-f1",)

    def normalize(self, value: Any) -> Any:
        """Return distinct labels as strings without surrounding blanks."""
        return list(dict.fromkeys(str(label).strip() for label in value))

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return the text, or the labels: a list, or a text divided at one of `| tab ; ,`; none in an empty cell."""
        return self.normalize(texts_cell(cell, _divided)) if name == self.gold else text_cell(cell)

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the labels that each reply lists; "none of these" is the empty set."""
        synonyms = cast("Mapping[str, str]", task.options.get("synonyms", {}))
        labels = {label: label for label in task.labels} | dict(synonyms) | dict(spellings)
        return label_set_readings(replies, language, {name.casefold(): label for name, label in labels.items()})

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield answers with labels outside the label set, all with the same reason."""
        known = set(task.labels)
        wrong = {row: [label for label in value or () if label not in known] for row, value in enumerate(values)}
        if spelt := list(dict.fromkeys(label for labels in wrong.values() for label in labels)):
            what, fix = wrong_labels(task, spelt)
            yield from ((row, what, fix) for row, labels in wrong.items() if labels)

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return micro, macro and samples F1, and exact match of whole sets."""
        gold, known = examples[examples.gold], set(task.labels)
        for identifier, labels in zip(examples.ids, gold, strict=True):
            if isinstance(labels, str) or not known.issuperset(labels):
                what = f"expected gold labels of {', '.join(task.labels) or 'the task, which declares none'}"
                where = f"{task.id}/{examples.language} {identifier}"
                raise DataError(
                    f"{what}, got {labels!r:.60}", where=where, fix="Correct the gold, or the task's labels"
                )
        return Judgement(label_sets.statistics(gold, values, task.labels))


def _divided(text: str) -> list[str]:
    separator = next((sign for sign in _SEPARATORS if sign in text), _SEPARATORS[0])
    return [part for part in text.split(separator) if part.strip()]
