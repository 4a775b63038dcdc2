"""Tables of contamination probes: continuations of examples beside those of other examples."""

from collections.abc import Mapping, Sequence

from isogloss.figures import cost_text, difference_interval_text, difference_text, score_text
from isogloss.reply_outcomes import Usage
from isogloss.results.contamination import LIMITS, MARGIN, ContaminationFinding
from isogloss.scoring.names import language_name
from isogloss.tables.table import INTERVAL, Table


def contamination_table(findings: Mapping[str, Sequence[ContaminationFinding]], margin: float = MARGIN) -> Table:
    """Return the findings of one or more models: one row per task and language."""
    several = len(findings) > 1
    words = (*(["system"] if several else []), "task", "language", "verdict")
    numbers = ("n", "exact", "exact (control)", "overlap", "control", "difference", INTERVAL)
    title = "Continuations of examples" + ("" if several else f" by {''.join(findings)}")
    table = Table(title, (*words, *numbers), words=len(words))
    for name, rows in findings.items():
        for row in rows:
            ends = (None, None) if row.low is None or row.high is None else (100 * row.low, 100 * row.high)
            table.add(
                *([name] if several else []),
                row.task,
                language_name(row.language),
                row.verdict,
                f"{row.n:,}",
                f"{row.exact:,}",
                f"{row.exact_control:,}",
                score_text(100 * row.overlap),
                score_text(100 * row.control),
                difference_text(100 * row.difference),
                difference_interval_text(*ends),
                strong=row.verdict == "memorised",
            )
    table.notes = list(_notes([row for rows in findings.values() for row in rows], margin))
    return table


def _notes(rows: Sequence[ContaminationFinding], margin: float) -> list[str]:
    notes = [
        "overlap: share of the n-grams of an example's rest in the model's continuation, in percent; n-grams of its "
        "beginning do not count; control: the same with the rest of another example",
        f"memorised: the interval of the difference lies above {100 * margin:g} points; no sign: below",
        *LIMITS,
    ]
    if skipped := sum(row.skipped for row in rows):
        notes.append(f"{skipped:,} examples passed over: too short, or too many of one source")
    if withheld := sum(row.withheld for row in rows):
        notes.append(
            f"{withheld:,} without a continuation, which may hide memory: empty, or stopped by a content filter"
        )
    usages = [row.usage for row in rows if row.usage is not None]
    if usages:
        usage = Usage.total(usages)
        cost = "" if usage.cost is None else f"; cost {cost_text(usage.cost)}"
        notes.append(f"tokens: {usage.input:,} in, {usage.output:,} out{cost}")
    return notes
