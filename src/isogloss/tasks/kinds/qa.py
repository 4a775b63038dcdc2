"""Extractive question answering: the answer is a string."""

from typing import Any

from isogloss.metrics import qa
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, Values
from isogloss.tasks.task import Task


class QuestionAnswering(Kind):
    """XQuAD, MLQA, TyDiQA."""

    form = "answer"
    answer_type = str
    answer_help = "the answer, a string"
    inputs = ("question", "context")
    gold = "answers"
    lenient = True
    label_format = "by-id"
    gold_format = "squad"
    one_file_for_all = True
    translatable = ("question", "context")
    moves_with_text = ("answers", "answer_starts")
    no_translated_test = (
        "answers would be spans of the translation, but gold has spans of the original, so nothing can be scored "
        "(XTREME scored them on the translations of the gold, on fewer questions, and calls that not comparable)"
    )
    extra_columns = ("answer_starts",)

    def row_id(self, split: str, row: int) -> None:
        """Questions have ids of their own."""
        return

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Questions, contexts and their answers."""
        questions, contexts, answers = map(list, zip(*values, strict=True))
        return ids, {"question": questions, "context": contexts, "answers": answers}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Exact match and F1, each the best over the gold answers."""
        found = qa.statistics(values, examples["answers"], dialect=task.dialect, language=examples.language)
        return Judgement({"f1": found["f1"], "em": found["em"]}, dialect=task.dialect)
