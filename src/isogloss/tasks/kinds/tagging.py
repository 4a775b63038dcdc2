"""Tagging: the answer is one tag per token, or character spans from systems with their own tokenizer."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from isogloss.data.detokenize import join
from isogloss.metrics import chunks, spans
from isogloss.metrics.spans import Span
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import GoldFault, Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.cells import text_cell, texts_cell
from isogloss.tasks.kinds.replies import Reading, Reply, tags_in
from isogloss.tasks.readers.tagged import overlay
from isogloss.tasks.task import Task

# Dialect of character-span answers.
SPANS = "char-spans"

# Fixes of faulty span answers.
_NO_MIXTURE = "Use either tags or spans throughout"
_COUNT_CODE_POINTS = "Count code points"
_BARE_TYPE = "Write the bare type"


class Tagging(Kind):
    """UD-POS and WikiANN."""

    form = "tags"
    answer_type = list[str | tuple[int, int, str]]
    answer_help = "a list with one tag per token, or a list of [start, end, type] character spans of the text"
    inputs = ("tokens", "text", "offsets")
    gold = "tags"
    rows = "entity"
    label_format = "tags"
    translatable = ("text",)
    moves_with_text = ("tokens", "offsets", "tags")
    needed = (("tokens",),)
    needs_labels = True
    category = "structured"
    main = ("f1",)
    dialect = "conll"
    no_translated_gold = "XTREME reports no translate-test for tagging: use translate-test, which projects tags back"

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return a text, or a list of words or tags, which a text separates by blanks."""
        if name == "offsets":
            return cell
        return text_cell(cell) if name == "text" else texts_cell(cell, str.split)

    def complete_columns(self, language: str, columns: dict[str, Column]) -> dict[str, Column]:
        """Add text and offsets, which only systems with tokens of their own need: they are computed on first use."""
        if {"text", "offsets"} <= columns.keys() or callable(columns["tokens"]):
            return columns
        tokens = columns["tokens"]
        joined = cache(lambda: [join(sentence, language) for sentence in tokens])
        return {
            **columns,
            "text": lambda: [text for text, _ in joined()],
            "offsets": lambda: [offsets for _, offsets in joined()],
        }

    def normalize(self, value: Any) -> Any:
        """Strip blanks around tags; keep spans unchanged."""
        try:
            return list(map(str.strip, value))
        except TypeError:  # some items are spans
            return [item.strip() if isinstance(item, str) else item for item in value]

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the tags that each reply lists, if there is one per token."""
        labels, known = {*task.labels, "O"}, (reply.inputs.get("tokens") for reply in replies)
        pairs = zip(replies, known, strict=True)
        return [tags_in(reply, language, labels, len(tokens) if tokens else None) for reply, tokens in pairs]

    def gold_faults(self, examples: Examples) -> Iterator[GoldFault]:
        """Yield tags that do not fit their tokens, empty tokens, and entities that begin with I-."""
        for row, (tokens, tags) in enumerate(zip(examples["tokens"], examples[self.gold], strict=True)):
            if len(tokens) != len(tags):
                yield GoldFault(row, "tag-count", error=True)
            if not all(map(str.strip, tokens)):
                yield GoldFault(row, "empty-token")
            pairs = zip(["O", *tags], tags, strict=False)
            if any(tag[:2] == "I-" and last not in (f"B-{tag[2:]}", tag) for last, tag in pairs):
                yield GoldFault(row, "invalid-iob")

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield wrong tag counts, unknown tags and spans outside the text."""
        if _are_spans(examples, values):
            yield from _span_errors(task, examples, values)
            return
        # XTREME's taggers also emit O for parts of speech; it is not a chunk, so it counts as wrong.
        labels = {*task.labels, "O"}
        for row, (tags, tokens) in enumerate(zip(values, examples["tokens"], strict=True)):
            if tags is None:
                continue
            if len(tags) != len(tokens):
                yield row, f"{len(tags)} tags for {len(tokens)} tokens", "Give one tag per token"
            elif not labels.issuperset(tags):
                wrong = next(tag for tag in tags if tag not in labels)
                yield row, f"tag {wrong!r} is not one of {', '.join(task.labels)}", f"See isogloss list {task.id}"

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the tags, which also replace the unknown tokens."""
        return ids, {"tokens": values, "tags": values}

    def overlay(self, full: Examples, part: Examples) -> Examples:
        """Return the full word-only split with the tags of a partial gold set."""
        return overlay(full, part)

    def main_text(self, examples: Examples) -> list[str]:
        """Return the tokens joined by blanks."""
        return [" ".join(words) for words in examples["tokens"]]

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return chunk F1 and token accuracy, or character-span F1 if the answers are spans."""
        if _are_spans(examples, values):
            spans_of = gold_spans(task, examples), predicted_spans(examples, values)
            boundaries = spans.statistics(*spans_of, boundaries_only=True)
            note = "character-span F1 is not comparable with published scores, which are token-based"
            metrics = {"f1": spans.statistics(*spans_of), "boundary_f1": boundaries}
            return Judgement(metrics, dialect=SPANS, notes=[note])
        gold = examples["tags"]
        predicted = [["O"] * len(tags) if value is None else value for value, tags in zip(values, gold, strict=True)]
        f1 = chunks.statistics(gold, predicted, dialect=task.dialect)
        return Judgement({"f1": f1, "accuracy": chunks.token_accuracy(gold, predicted)}, dialect=task.dialect)


def _are_spans(examples: Examples, values: Values) -> bool:
    """Return True if the answers are character spans. An empty list for a non-empty sentence means "no span"."""
    for value, tokens in zip(values, examples["tokens"], strict=True):
        if value:
            return not isinstance(value[0], str)
        if value is not None and tokens:
            return not any(isinstance(item, str) for other in values if other for item in other)
    return False


def _span_errors(task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
    """Yield the first fault of each sort in every answer; a single answer may have millions."""
    types = {label.partition("-")[2] or label for label in task.labels if label != "O"}
    for row, (value, text) in enumerate(zip(values, examples["text"], strict=True)):
        faulty: dict[str, Any] = {}  # first item by fix
        for item in value or ():
            if isinstance(item, str):
                faulty.setdefault(_NO_MIXTURE, item)
            elif not 0 <= item[0] < item[1] <= len(text):
                faulty.setdefault(_COUNT_CODE_POINTS, item)
            elif item[2] not in types:
                faulty.setdefault(_BARE_TYPE, item)
        for fix, item in faulty.items():
            if fix == _NO_MIXTURE:
                yield row, "one file mixes tags and spans", fix
            elif fix == _COUNT_CODE_POINTS:
                yield row, f"span {item[0]}-{item[1]} is outside the text (length {len(text)})", fix
            else:
                yield row, f"type {item[2]!r} is not one of {', '.join(sorted(types))}", fix


def marks_entities(task: Task) -> bool:
    """Return True if tags mark entities (`B-PER`); bare tags, such as parts of speech, label every word."""
    return any("-" in label for label in task.labels)


def gold_spans(task: Task, examples: Examples) -> list[list[Span]]:
    """Return the gold character spans per sentence."""
    if marks_entities(task):
        return spans.from_sentences(examples["tags"], examples["offsets"], dialect=task.dialect)
    sentences = zip(examples["offsets"], examples["tags"], strict=True)
    # Bare tags: every word is a span.
    return [[(*offset, tag) for offset, tag in zip(*sentence, strict=True)] for sentence in sentences]


def predicted_spans(examples: Examples, values: Values) -> list[list[Span]]:
    """Return the predicted character spans per sentence, without blanks at their ends."""
    return [
        [(*spans.trim(text, start, end), kind) for start, end, kind in value or ()]
        for value, text in zip(values, examples["text"], strict=True)
    ]
