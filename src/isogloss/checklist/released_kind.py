"""Released checklist tests: scored by the paper's rule only, beside the share of defective cases."""

import numpy as np

from isogloss.checklist.kind import METRICS, Match, case_of
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Values
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.tasks.task import Task

# Findings of the audit by which every answer from the context is scored wrong.
IMPOSSIBLE = frozenset({"unreachable", "same-question"})
PAPER_RULE = {"error_paper": METRICS["error_paper"]}


class ReleasedMatch(Match):
    """Released tests. They have one gold answer and no language file, so the fair rule does not apply.

    The defects of a case do not depend on the answers; as statistics over cases they reach every table and record.
    """

    rules = PAPER_RULE
    # The paper's rule does not unwrap answers.
    read_replies = QuestionAnswering.read_replies

    def can_pass(self, examples: Examples) -> bool:
        """Return True: the share of impossible cases says more."""
        return True

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return the error rate over cases, and the shares of impossible and of flawed cases."""
        judgement = super().judge(task, examples, values)
        error = judgement.metrics["error_paper"]
        rows = {case: row for row, case in enumerate(dict.fromkeys(map(case_of, examples.ids)))}
        for metric, kinds in (("impossible", IMPOSSIBLE), ("flawed", None)):
            marked = np.zeros_like(error.rows)
            for example, defects in zip(examples.ids, examples["defects"], strict=True):
                if kinds.intersection(defects) if kinds else defects:
                    marked[rows[case_of(example)]] = 1
            judgement.metrics[metric] = Statistics(marked, MEAN, error.units)
        return judgement
