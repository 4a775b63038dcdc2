"""Failure cases of the checklist as in XTREME-R's Table 12: context (C), question (Q), answer (A), prediction (P)."""

from collections.abc import Sequence
from itertools import zip_longest

from isogloss.checklist.failures import FailureCase
from isogloss.checklist.reference import RELEASED_TESTS
from isogloss.escaping import latex_text
from isogloss.grouping import group_by
from isogloss.tables.checklist import TEST_OF
from isogloss.tables.checklist_released import HEADERS
from isogloss.tables.formatting import shortened
from isogloss.tables.table import Table

_TEST = {**TEST_OF, **RELEASED_TESTS}
_PARTS = {"C": "context", "Q": "question", "A": "answer", "P": "prediction"}
# Maximum length of a prediction; answers of language models may be long.
_LONGEST = 300
_IMPOSSIBLE = "† defect of the test: every answer from the context is scored wrong"


class FailureTable(Table):
    """One row per failure; in LaTeX the paper's layout: languages by tests, with the parts of a failure in a cell."""

    def latex(self, siunitx: bool = False) -> str:
        """Return the paper's layout as LaTeX."""
        tests = [header for header in HEADERS.values() if any(row[1] == header for row in self.rows)]
        width = f"{0.92 / max(len(tests), 1):.2f}"
        lines = [
            "% Needs booktabs; compile with XeLaTeX or LuaLaTeX and fonts for these scripts.",
            r"\begin{table*}",
            r"\centering\small",
            rf"\begin{{tabular}}{{l*{{{max(len(tests), 1)}}}{{p{{{width}\textwidth}}}}}}",
            r"\toprule",
            " & ".join(map(latex_text, ("Lang.", *tests))) + r" \\",
        ]
        for code, rows in group_by(self.rows, lambda row: row[0]).items():
            by_test = group_by(rows, lambda row: row[1])
            for failures in zip_longest(*(by_test.get(test, ()) for test in tests)):
                lines.append(r"\midrule")
                for part, letter in enumerate(_PARTS, -len(_PARTS)):
                    cells = [latex_text(f"{letter}: {row[part]}") if row else "" for row in failures]
                    lines.append(" & ".join([latex_text(code) if letter == "Q" else "", *cells]) + r" \\")
        caption = f"{self.title}: context (C), question (Q), answer (A) and prediction (P)."
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{latex_text(caption)}}}"]
        lines += [f"% {latex_text(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table*}"])


def failure_table(system: str, failures: Sequence[FailureCase]) -> Table:
    """Return the failures of a system, by language and test."""
    header = ("Lang.", "test", "failed", *_PARTS)
    table = FailureTable(f"Example failure cases of {system}", header, words=len(header))
    for failure in sorted(failures, key=lambda each: each.language):
        mark = "†" * failure.impossible
        texts = [shortened(getattr(failure, part), _LONGEST) for part in _PARTS.values()]
        count = f"{failure.failed} of {failure.cases}{mark}"
        table.add(failure.language, HEADERS[_TEST[failure.task]], count, *texts)
    table.notes = ["failed: cases of the test in the language"]
    table.notes += [_IMPOSSIBLE] if any(failure.impossible for failure in failures) else []
    return table
