"""Extractive question answering: the answer is a string."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from isogloss.errors import DataError
from isogloss.metrics import qa
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import GoldFault, Judgement, Kind, Values
from isogloss.tasks.kinds.cells import text_cell, texts_cell
from isogloss.tasks.kinds.replies import Reading, Reply, answer_in
from isogloss.tasks.task import Task

# Gold answers of one XQuAD language occur in 6 to 33 % of another's passages, and nearly always in their own.
_LEAST_FOUND = 0.4
# Suffix of the dialect of answers that are scored on translated gold.
TRANSLATED_GOLD = "translated-gold"
# Fewer answers are not judged.
_FEWEST = 20


def _folded(text: str) -> str:
    """Return a text without case and blanks, which tools change."""
    return "".join(text.casefold().split())


class QuestionAnswering(Kind):
    """XQuAD, MLQA, TyDiQA."""

    lenient = True
    form = "answer"
    answer_type = str
    answer_help = "the answer string"
    inputs = ("question", "context")
    gold = "answers"
    label_format = "by-id"
    gold_format = "squad"
    one_file_for_all = True
    translatable = ("question", "context")
    moves_with_text = ("answers", "answer_starts")
    no_translated_gold = ""
    extra_columns = ("answer_starts",)
    category = "qa"
    main = ("f1", "em")
    dialect = "squad"

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return a text, or a list of answers or of their offsets; SQuAD's `{"text": […]}` on the hub is one, too."""
        if name == "answer_starts":
            return list(map(int, cell if isinstance(cell, list | tuple) else texts_cell(cell, str.split)))
        if name == self.gold:
            return texts_cell(cell["text"] if isinstance(cell, dict) and "text" in cell else cell)
        return text_cell(cell)

    def complete_columns(self, language: str, columns: dict[str, Column]) -> dict[str, Column]:
        """Add the offset of each answer's first occurrence in its passage, -1 if there is none."""
        answers, contexts = columns.get(self.gold), columns["context"]
        if "answer_starts" in columns or answers is None or callable(answers) or callable(contexts):
            return columns
        pairs = zip(answers, contexts, strict=True)
        starts = [[context.find(answer) for answer in texts or ()] for texts, context in pairs]
        return {**columns, "answer_starts": starts}

    def row_id(self, split: str, row: int) -> None:
        """Return None: questions have their own ids."""
        return

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return what each reply marks as its answer, or its only line."""
        return [answer_in(reply, language) for reply in replies]

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return questions, contexts and their answers."""
        questions, contexts, answers = map(list, zip(*values, strict=True))
        return ids, {"question": questions, "context": contexts, "answers": answers}

    def gold_faults(self, examples: Examples) -> Iterator[GoldFault]:
        """Yield answers that are not in their passage, or not at the offset given."""
        has_offsets = "answer_starts" in examples.columns
        starts = examples["answer_starts"] if has_offsets else [()] * len(examples)
        rows = zip(examples[self.gold], examples["context"], starts, strict=True)
        for row, (answers, context, offsets) in enumerate(rows):
            if any(answer not in context for answer in answers or ()):
                yield GoldFault(row, "answer-not-in-context")
                continue
            pairs = zip(answers or (), offsets, strict=False)
            if any(start >= 0 and not context.startswith(answer, start) for answer, start in pairs):
                yield GoldFault(row, "answer-offset")

    def doubt(self, examples: Examples, values: Values) -> str:
        """Return how few answers occur in their passages: those in another language rarely do."""
        contexts = examples["context"] if "context" in examples.columns else ()
        pairs = [(value, context) for value, context in zip(values, contexts, strict=False) if value]
        folded = cache(_folded)  # questions share passages
        present = sum(value in context or _folded(value) in folded(context) for value, context in pairs)
        if len(pairs) < _FEWEST or present >= _LEAST_FOUND * len(pairs):
            return ""
        return f"only {present:,} of {len(pairs):,} answers occur in their passages"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return exact match and F1, each the maximum over the gold answers."""
        language = "en" if examples.translated_gold else examples.language
        if task.dialect == "mlqa" and language not in qa.MLQA_LANGUAGES:  # of a pseudo test set
            what = f"MLQA's scorer has no rules for answers in {language}"
            raise DataError(what, where=f"{task.id}/{language} {examples.split}")
        statistics = qa.statistics(values, examples["answers"], dialect=task.dialect, language=language)
        metrics = {"f1": statistics["f1"], "em": statistics["em"]}
        if not examples.translated_gold:
            return Judgement(metrics, dialect=task.dialect)
        note = "scored on translated gold, as XTREME's translate-test: not comparable with scores on the original"
        return Judgement(metrics, dialect=f"{task.dialect}-{TRANSLATED_GOLD}", notes=[note])
