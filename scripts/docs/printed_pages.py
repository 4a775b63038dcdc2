"""Pages of the papers' printed figures: those that contradict each other, and averages and gaps beside ours."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from statistics import mean

from isogloss.languages import published
from isogloss.tasks.suites import SUITES

# Printed to one decimal, so half of it; floating-point sums add a little.
ROUNDING = 0.05 + 1e-9
_DOUBTS = """\
# Printed figures that contradict each other

Figures of the papers that disagree with each other, or with the data. Isogloss keeps them as printed wherever it shows
or uses them. `isogloss list doubts` prints the same list. *Shown with* names the system, task or attribute that has the
doubt as a footnote: on boards, in `isogloss list TASK`, or below `isogloss explain --convention paper`.

| figure | printed | elsewhere | shown with |
|---|---|---|---|
"""
_AVERAGES = """\
# Printed averages and transfer gaps

The averages of XTREME-R's Tables 15–24 and the transfer gaps of XTREME's Table 3, recomputed from published scores by
language. [Printed figures](../analysis-printed.md) sums them up.

## Averages of XTREME-R's tables

Means over languages beside the average that the same table prints and the one in Table 4. Inconsistent ones are in the
[list of doubts](doubts.md).

| task | system | regime | mean of the rows | printed there | Table 4 | equal |
|---|---|---|---:|---:|---:|---|
"""
_GAPS = """
## Transfer gaps of XTREME's Table 3

English minus the mean of the other languages, over XTREME's languages. XTREME does not print its scores by language, so
they come from other tables. *Other runs*: the mean over all languages also differs from XTREME's Table 2.

| system | task | metric | printed | recomputed | from | verdict |
|---|---|---|---:|---:|---|---|
"""
# Regimes of the rows of Table 3 that are not zero-shot, and the system that they train.
_TRAINED = {"Translate-train": ("mBERT", "translate-train"), "Translate-test": ("BERT-large", "translate-test")}


def doubts() -> str:
    """Return the page of contradictory figures."""
    rows = (
        (doubt.about, doubt.printed, doubt.elsewhere, doubt.system or doubt.task or doubt.attribute or "·")
        for doubt in published.doubts()
    )
    return _DOUBTS + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def averages() -> str:
    """Return the page of recomputed averages and gaps."""
    return _AVERAGES + "".join(_average_rows()) + _GAPS + "".join(_gap_rows())


def _average_rows() -> Iterator[str]:
    values = defaultdict(list)
    for row in published.table("per_language"):
        values[row["source_table"], row["task"], row["metric"], row["system"], row["regime"]].append(
            float(row["value"])
        )
    overall = {(row.system, row.regime): row.metrics for row in published.overall("xtreme-r")}
    for row in published.table("printed_averages"):
        task, metric, system, regime = row["task"], row["metric"], row["system"], row["regime"]
        ours, there = mean(values[row["source_table"], task, metric, system, regime]), float(row["value"])
        table_4 = overall[system, regime][task][metric]
        # Some averages are cut, not rounded: 40.755 is printed as 40.7.
        wrong = [name for name, value in (("the table", there), ("Table 4", table_4)) if abs(ours - value) > 0.06]
        verdict = f"not in {' and '.join(wrong)}" if wrong else "yes"
        yield f"| {task} | {system} | {regime} | {ours:.2f} | {there:.1f} | {table_4:.1f} | {verdict} |\n"


def _by_language() -> Mapping[tuple[str, str, str], dict[tuple[str, str], dict[str, float]]]:
    """Return scores by task, system and regime, then by metric and source."""
    scores: dict[tuple[str, str, str], dict[tuple[str, str], dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for name in ("per_language", "further_systems"):
        for row in published.table(name):
            source = row.get("source_table") or row["source"]
            cell = scores[row["task"], row["system"], row["regime"]][row["metric"], source]
            cell[row["language"]] = float(row["value"])
    return scores


def _gap_rows() -> Iterator[str]:
    scores = _by_language()
    overall = {(row.system, row.regime): row.metrics for row in published.overall("xtreme")}
    for row in published.table("transfer_gap"):
        system, regime = _TRAINED.get(row["system"], (row["system"], "zero-shot"))
        for column in (name for name in row if ":" in name and row[name]):
            task, _, printed_metric = column.partition(":")
            printed, languages = float(row[column]), SUITES["xtreme"].languages_of(task)
            start = f"| {row['system']} | {task} | {printed_metric} | {printed:.1f} |"
            sources = scores.get((task, system, regime), {})
            if not sources:
                yield f"{start} · | · | no scores by language |\n"
            # Sources with the printed metric make others superfluous.
            same = {key: cell for key, cell in sources.items() if key[0] == printed_metric} or sources
            for (metric, source), cell in same.items():
                chosen = {code: value for code, value in cell.items() if code in languages}
                gap = chosen["en"] - mean(value for code, value in chosen.items() if code != "en")
                table_2 = overall[system, regime][task][printed_metric]
                shift = mean(chosen.values()) - table_2
                verdict = _verdict(gap - printed, shift) if metric == printed_metric else f"{metric}: another metric"
                yield f"{start} {gap:.1f} | {source} | {verdict} |\n"


def _verdict(difference: float, shift: float) -> str:
    """Judge a recomputed gap from its difference to the printed one and that of the means over all languages."""
    # Scores and printed figures are both rounded.
    other_runs = abs(shift) > 2 * ROUNDING
    if abs(difference) <= 2 * ROUNDING:
        return "**equal**" + (", though from other runs" if other_runs else "")
    return "other runs" if other_runs else "the mean equals Table 2's, the gap does not"
