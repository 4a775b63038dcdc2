"""The dual-encoder system: retrieval by vectors trained for it, on queries with the texts that answer them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from isogloss.errors import unknown
from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.neural.system import NeuralSystem, flag
from isogloss.systems.neural.task_adapter import RetrievalAdapter
from isogloss.systems.pretrained import Model
from isogloss.systems.retrieval import retrieval_refusal
from isogloss.systems.targets import left_out_notes
from isogloss.systems.tokens.inputs import check_length
from isogloss.systems.tokens.subwords import unique
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.training.objective import Encoded, Ints, TrainingObjective

# Ways to pool the states of a text into its vector, see `PooledEncoder`.
_POOLINGS = ("pooled", "mean", "cls")


@dataclass
class DualEncoderAdapter(RetrievalAdapter):
    """Trained on questions with passages, or mentions with entities; with `both`, answers choose queries too."""

    name: ClassVar[str] = "dual encoder"
    pooling: str = "pooled"
    both: bool = False

    def load_model(self, seed: int) -> Model:
        """Load the pretrained model with a trainable scale."""
        from isogloss.systems.dual.contrastive import DualEncoder

        if self.source.config.is_encoder_decoder:
            what, fix = "expected an encoder, got a text-to-text model", "Use an encoder such as mBERT or XLM-R"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        self.refuse_language_ids()
        encoder = self.source.load_model("AutoModel", seed)
        if self.pooling == "pooled" and getattr(encoder, "pooler", None) is None:
            what, fix = "the architecture has no pooler over the first token", "Set pooling to mean or cls"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return DualEncoder(encoder, self.pooling)

    def _objective(self, train: Examples) -> TrainingObjective:
        from isogloss.systems.dual.contrastive import ContrastiveObjective

        pairs, recipe = training_pairs(train), self.recipe
        queries = self._encoded(pairs.queries, recipe.query_length)
        answers = self._encoded(pairs.answers, recipe.max_length)
        settings: dict[str, Any] = {"chunk": recipe.micro, "candidates": recipe.candidates, "both": self.both}
        settings["hide_duplicates"] = recipe.hide_duplicates
        objective = ContrastiveObjective(queries, answers, pairs.numbers, pad=self.inputs.padding, **settings)
        objective.notes = pairs.notes
        return objective

    def _encoded(self, texts: Sequence[str], longest: int) -> Encoded:
        check_length(self.source, longest)
        return self._tokenised(texts, (longest,), lambda: self.inputs.encode([texts], longest))


class DualEncoderSystem(NeuralSystem):
    """One transformer for queries and candidates, trained to place a query nearest to its answer.

    LAReQA learns from SQuAD (a question with the sentence that answers it, and its paragraph), Mewsli-X from its own
    pairs of mention and entity, as in XTREME-R. Tatoeba and BUCC, which have another baseline (`encoder`), may learn
    from SQuAD too. Each query chooses from the recipe's `candidates` answers, or from its `batch` if that is 0, over
    all processes; `micro` limits memory without changing either.

    Args:
        model: see `NeuralSystem`.
        pooling: `pooled` as in XTREME-R's baseline, `mean` or `cls`; see `DualEncoder`.
        both: True to let answers choose among queries too; the baseline has one direction.
        settings: see `NeuralSystem`.

    Raises:
        UnknownNameError: unknown pooling.
    """

    family = "dual-encoder"

    def __init__(self, model: str = "", *, pooling: str = "pooled", both: bool = False, **settings: Any) -> None:
        if pooling not in _POOLINGS:
            raise unknown("pooling", str(pooling), _POOLINGS)
        self.pooling, self.both = pooling, flag("both", both)
        self._changed = [pooling] * (pooling != "pooled") + ["both"] * self.both
        super().__init__(model, **settings)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of every fine-tuned model, with pooling and directions."""
        return {**super().metadata, "pooling": self.pooling, "directions": 1 + self.both}

    def refusal(self, task: Task) -> str:
        """Refuse everything except retrieval: a text vector cannot tag, read or choose."""
        return retrieval_refusal(self.family, task)

    def learns_from(self, task: Task) -> Task:
        """Return the recipe's choice, or XQuAD if that has no training set (BUCC, and Mewsli-X in the mini suite)."""
        source = super().learns_from(task)
        has_training_set = any(layout.train for layout in source.layouts)
        return source if has_training_set else find_task(source.in_same_edition("xquad"))

    def adapter(self, task: Task) -> DualEncoderAdapter:
        """Return the retrieval adapter."""
        return DualEncoderAdapter(task, self.recipe_for(task), self.source, self.pooling, self.both)


_CLOSING = "\"'”’»)\\]}"
_END = re.compile(rf"(?:[.!?…؟۔।॥]+[{_CLOSING}]*(?:\[\d+\])*(?=\s)|[。！？｡]+[」』）”’]*)\s*|\s*\n\s*")
# Text before a full stop that does not end a sentence: one letter, letters separated by full stops, or one of these.
_INSIDE = re.compile(
    r"(?:\b[^\W\d_]|(?:\b[^\W\d_]\.)+[^\W\d_]|\b(?:[MD]rs?|Ms|St|Mt|Ft|Prof|Rev|Hon|Gen|Col|Capt|Cmdr|Lt|Maj|Sgt|Adm|Gov|"
    r"Sen|Rep|Pres|Sr|vs|cf|ca|al|approx|est|no|No|Nos|vol|Vol|pp|fig|Fig|Op|op|Bros|"
    r"Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec))$"
)
_LOWER = re.compile(r"[\"'“‘«(\[]*[a-z,;:]")


class TrainingPairs(NamedTuple):
    """Distinct queries and distinct texts that answer them, the indices (pairs, 2) of both, and notes on omissions."""

    queries: list[str]
    answers: list[str]
    numbers: Ints
    notes: Sequence[str]


def training_pairs(train: Examples) -> TrainingPairs:
    """Return the pairs of a training set: questions with passages, or queries with targets in a pool.

    A question's answer is the sentence in which its first answer begins, followed by its whole paragraph, without line
    breaks, like LAReQA's candidates. As in the reference, a question with an answer outside every sentence is skipped.
    """
    pairs = list(_pairs(train))
    if not pairs:
        fix = "Use questions with answers and their offsets, or queries with a pool and targets"
        raise SystemFailureError("no query-answer pairs to learn from", where=dataset_name(train), fix=fix)
    rows, *texts = zip(*pairs, strict=True)
    (queries, query_of), (answers, answer_of) = map(unique, texts)
    notes = left_out_notes(train, len(set(rows)), "the answer is outside every sentence, or not a candidate")
    return TrainingPairs(queries, answers, np.stack([query_of, answer_of], axis=1), notes)


def _pairs(train: Examples) -> Iterator[tuple[int, str, str]]:
    """Yield the row, query and answer of every pair."""
    if {"question", "context", "answer_starts"} <= train.columns.keys():
        split = lru_cache(maxsize=8)(sentences)  # questions about one paragraph follow each other
        questions = zip(train["question"], train["context"], train["answer_starts"], strict=True)
        for row, (question, context, starts) in enumerate(questions):
            spans = split(context)
            if starts and (number := sentence_at(spans, starts[0])) >= 0:
                start, end = spans[number]
                yield row, question, (context[start:end] + context).replace("\n", "")
    elif train.pool is not None and train.has_gold:
        text_of = dict(zip(train.pool.ids, train.pool.text, strict=True))
        for row, (query, targets) in enumerate(zip(train["text"], train[train.gold], strict=True)):
            yield from ((row, query, text_of[target]) for target in targets or () if target in text_of)


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of every sentence, in order, without surrounding whitespace.

    A sentence ends at `.`, `!`, `?` or `…` with any closing quotes and brackets, before whitespace and something that
    can start a sentence. A full stop after an initial, or after or inside an abbreviation ("U.S. Army"), does not end
    it. Arabic, Urdu and Indic marks work like Latin ones; full-width Chinese and Japanese marks need no whitespace.
    Languages without marks (Thai) have one sentence per line.
    """
    spans: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    for mark in _END.finditer(text):
        # A lower-case letter or a comma continues a sentence, and a line starting with a number may be a formula.
        if mark.start() < start or _LOWER.match(text, mark.end()):
            continue
        if "\n" in mark.group():
            ends = not text[mark.end() : mark.end() + 1].isdigit()
        else:
            before = text[max(start, mark.start() - 16) : mark.start()]
            ends = mark.group().rstrip() != "." or not _INSIDE.search(before)
        if ends:
            spans.append((start, mark.start() + len(mark.group().rstrip())))
            start = mark.end()
    end = len(text.rstrip())
    return [*spans, (start, end)] if start < end else spans


def sentence_at(spans: list[tuple[int, int]], character: int) -> int:
    """Return the index of the sentence that contains a character, or -1."""
    number = bisect_right(spans, character, key=lambda span: span[0]) - 1
    return number if number >= 0 and character < spans[number][1] else -1
