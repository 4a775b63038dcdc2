"""Extractive question answering: the answer is a string."""

from isogloss.metrics import qa
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Kind, Values
from isogloss.tasks.task import Task


class QuestionAnswering(Kind):
    """XQuAD, MLQA, TyDiQA."""

    answer = str
    shape = "the answer, a string"
    inputs = ("question", "context")
    lenient = True

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Exact match and F1, each the best over the gold answers."""
        found = qa.statistics(values, examples["answers"], dialect=task.dialect, language=examples.language)
        return Judgement({"f1": found["f1"], "em": found["em"]}, dialect=task.dialect)
