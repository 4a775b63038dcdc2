"""Generation: the answer is a text of the system's own, judged by one or several right texts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from isogloss.errors import DataError
from isogloss.metrics import rouge
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.translation_quality import (
    bleu_signature,
    bleu_statistics,
    chrf_signature,
    chrf_statistics,
    tokenizer_for,
)
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.cells import text_cell, texts_cell
from isogloss.tasks.kinds.open_replies import text_in
from isogloss.tasks.kinds.replies import Reading, Reply
from isogloss.tasks.task import Task


class Generation(Kind):
    """Summaries, simplifications, translations, data in words.

    Options of a task: `tokenizer` of BLEU (see `metrics.translation_quality`), by default the language's; `dialect` of
    ROUGE-L (see `metrics.rouge`).
    """

    form = "text"
    answer_type = str
    answer_help = "the text"
    inputs = ("text",)
    gold = "references"
    label_format = "by-id"
    gold_format = "references"
    translatable = ("text",)
    category = "generation"
    main = ("chrf",)
    no_translated_training = "its references stay in the original language"

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return the text, or the references: a list, or a text as the only one."""
        return texts_cell(cell) if name == self.gold else text_cell(cell)

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return what each reply marks as its answer, or the whole of it."""
        return [text_in(reply, language) for reply in replies]

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield empty texts."""
        fix = "Write null if the system has no answer"
        return ((row, "empty text", fix) for row, value in enumerate(values) if value is not None and not value.strip())

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the references; a label folder has no inputs."""
        return ids, {"references": [[value] if isinstance(value, str) else list(value) for value in values]}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return chrF, BLEU, ROUGE-L and exact match; a missing answer is an empty text, never an exact match."""
        references = [_checked_references(examples, row) for row in range(len(examples))]
        tokenizer = str(task.options.get("tokenizer") or tokenizer_for(examples.language))
        dialect = task.dialect or rouge.DIALECTS[0]
        texts = [value or "" for value in values]
        counts = {len(several) for several in references}
        # A repeated reference changes neither score, so that all examples have as many.
        most = max(counts, default=1)
        by_number = [[several[min(number, len(several) - 1)] for several in references] for number in range(most)]
        pairs = zip(values, references, strict=True)
        exact = [value is not None and value.strip() in {text.strip() for text in several} for value, several in pairs]
        metrics = {
            "chrf": chrf_statistics(texts, by_number),
            "bleu": bleu_statistics(texts, by_number, tokenizer),
            "rouge-l": rouge.statistics(values, references, dialect=dialect, language=examples.language),
            "em": Statistics(np.array(exact, dtype=np.float64).reshape(-1, 1), MEAN),
        }
        number = str(most) if len(counts) < 2 else "var"
        # Bars separate the parts of our own signature.
        signatures = {"chrf": chrf_signature(number), "bleu": bleu_signature(number, tokenizer)}
        settings = {name: signature.replace("|", ",") for name, signature in signatures.items()}
        return Judgement(metrics, dialect=task.dialect, settings=settings)


def _checked_references(examples: Examples, row: int) -> Sequence[str]:
    """Return the references of an example, checked to be one text or more."""
    references = examples[examples.gold][row]
    if isinstance(references, list | tuple) and references and all(isinstance(text, str) for text in references):
        return references
    where = f"{examples.task}/{examples.language} {examples.ids[row]}"
    raise DataError("a text without references cannot be scored", where=where, fix="Give a list of right texts")
