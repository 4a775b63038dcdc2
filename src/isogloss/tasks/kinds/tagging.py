"""Tagging: the answer is one tag per token, or spans of characters from systems without our tokens."""

from collections.abc import Iterator
from typing import Any

from isogloss.metrics import chunks, spans
from isogloss.metrics.spans import Span
from isogloss.metrics.statistics import Statistics
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.readers.tagged import overlay
from isogloss.tasks.task import Task

# The dialect of answers that are character spans.
SPANS = "char-spans"


class Tagging(Kind):
    """UD-POS and WikiANN."""

    form = "tags"
    answer_type = list[str | tuple[int, int, str]]
    answer_help = "a list with one tag per token, or a list of [start, end, type] character spans of the text"
    inputs = ("tokens", "text", "offsets")
    gold = "tags"
    rows = "entity"
    label_format = "tags"
    moves_with_text = ("tokens", "offsets", "tags")
    no_translated_training = (
        "tags belong to words, and would have to be projected onto translated ones (XTREME does not do it)"
    )
    no_translated_test = "the tags of translated words are not those of the original words"

    def normalize(self, value: Any) -> Any:
        """Tags without surrounding blanks; spans as they are."""
        try:
            return list(map(str.strip, value))
        except TypeError:  # not only tags
            return [item.strip() if isinstance(item, str) else item for item in value]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """A tag count other than the token count, a tag outside the set, a span outside the text."""
        if _are_spans(examples, values):
            yield from _span_errors(task, examples, values)
            return
        known = {*task.labels, "O"}  # taggers made for XTREME know it for parts of speech too: no chunk, so wrong
        for row, (tags, tokens) in enumerate(zip(values, examples["tokens"], strict=True)):
            if tags is None:
                continue
            if len(tags) != len(tokens):
                yield row, f"{len(tags)} tags for {len(tokens)} tokens", "Give one tag per token"
            elif not known.issuperset(tags):
                wrong = next(tag for tag in tags if tag not in known)
                yield row, f"tag {wrong!r} is not one of {', '.join(task.labels)}", f"See isogloss list {task.id}"

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Tags, which say how many tokens there are."""
        return ids, {"tokens": values, "tags": values}

    def overlay(self, full: Examples, part: Examples) -> Examples:
        """The full word-only split with the tags of the sentences that a partial gold set has."""
        return overlay(full, part)

    def main_text(self, examples: Examples) -> list[str]:
        """The tokens with blanks between them."""
        return [" ".join(words) for words in examples["tokens"]]

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Chunk F1 with token accuracy beside it; character-span F1 where the answers are spans."""
        if _are_spans(examples, values):
            return _judge_spans(task, examples, values)
        gold = examples["tags"]
        predicted = [["O"] * len(tags) if value is None else value for value, tags in zip(values, gold, strict=True)]
        metrics: dict[str, Statistics] = {
            "f1": chunks.statistics(gold, predicted, dialect=task.dialect),
            "accuracy": chunks.token_accuracy(gold, predicted),
        }
        return Judgement(metrics, dialect=task.dialect)


def _are_spans(examples: Examples, values: Values) -> bool:
    """Whether the answers are character spans: an empty list for a sentence with words is "no span here"."""
    for value, tokens in zip(values, examples["tokens"], strict=True):
        if value:
            return not isinstance(value[0], str)
        if value is not None and tokens:
            return not any(isinstance(item, str) for other in values if other for item in other)
    return False


def _span_errors(task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
    types = {label.partition("-")[2] or label for label in task.labels if label != "O"}
    for row, (value, text) in enumerate(zip(values, examples["text"], strict=True)):
        for item in value or ():
            if isinstance(item, str):
                yield row, "tags and spans are mixed in one file", "Give either tags or spans everywhere"
            elif not 0 <= item[0] < item[1] <= len(text):
                yield (row, f"span {item[0]}-{item[1]} is outside the text (length {len(text)})", "Count code points")
            elif item[2] not in types:
                yield row, f"type {item[2]!r} is not one of {', '.join(sorted(types))}", "Write the bare type"


def marks_entities(task: Task) -> bool:
    """Whether the tags mark entities (`B-PER`); bare ones, such as parts of speech, name every word by itself."""
    return any("-" in label for label in task.labels)


def gold_spans(task: Task, examples: Examples) -> list[list[Span]]:
    """The character spans of the gold, sentence by sentence."""
    if marks_entities(task):
        return spans.from_sentences(examples["tags"], examples["offsets"], dialect=task.dialect)
    # Every word is a span.
    return [
        [(start, end, tag) for (start, end), tag in zip(offsets, tags, strict=True)]
        for tags, offsets in zip(examples["tags"], examples["offsets"], strict=True)
    ]


def predicted_spans(examples: Examples, values: Values) -> list[list[Span]]:
    """The character spans of the answers without blanks at their ends, sentence by sentence."""
    return [
        [(*spans.trim(text, start, end), kind) for start, end, kind in value or ()]
        for value, text in zip(values, examples["text"], strict=True)
    ]


def _judge_spans(task: Task, examples: Examples, values: Values) -> Judgement:
    gold, predicted = gold_spans(task, examples), predicted_spans(examples, values)
    metrics = {
        "f1": spans.statistics(gold, predicted),
        "boundary_f1": spans.statistics(gold, predicted, boundaries_only=True),
    }
    note = "character-span F1: not comparable with published figures, which are over tokens"
    return Judgement(metrics, dialect=SPANS, notes=[note])
