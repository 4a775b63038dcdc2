"""The transfer gap: English minus the mean of the other languages, task by task (XTREME, Table 3)."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value
from isogloss.analysis.language_bootstrap import interval_over_languages
from isogloss.analysis.published_scores import human_score, in_language_score, published_average
from isogloss.analysis.score_table import ScoreTable
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.figures import rounded
from isogloss.languages.published import table
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.tasks.suites import SUITES

# Printed figures have one decimal, as have the scores they were made from.
EQUAL = 0.11
# The rows of Table 3 under our names: system and regime.
_PRINTED = {
    "mBERT": ("mBERT", "zero-shot"),
    "XLM-R Large": ("XLM-R Large", "zero-shot"),
    "Translate-train": ("mBERT", "translate-train"),
}


def gap(scores: Mapping[str, float]) -> float:
    """English minus the mean of the other languages: 0 is perfect transfer.

    Raises:
        AnalysisError: there is no English, or nothing else.
    """
    others = [value for code, value in scores.items() if code != PIVOT]
    if PIVOT not in scores or not others:
        raise AnalysisError("a transfer gap needs English and another language", fix="Leave the task out")
    return scores[PIVOT] - fmean(others)


def transfer_gap(scores: ScoreTable) -> Finding:
    """What is lost between English and the other languages, absolute, relative, and against what could be reached."""
    scores.need(languages=2, what="a transfer gap")
    places = [(task, system) for task in scores.tasks for system in scores.systems if scores.values(system, task)]
    whole = [(task, system) for task, system in places if _has_gap(scores.values(system, task))]
    if not whole:
        raise AnalysisError("no task has English and another language", fix=f"Give scores in {PIVOT} too")
    without = sorted({task for task in scores.tasks if not any(task == name for name, _ in whole)})
    rows = [_row(scores, task, system) for task, system in whole]
    gaps = TidyTable(
        "gaps",
        "Transfer gap, and what could be reached",
        _COLUMNS,
        rows,
        notes=[
            "95 % behind 'others': other languages drawn with replacement, for languages like these; behind 'gap': new "
            "test examples, where they were scored here, translations of an example drawn together",
        ],
    )
    printed = list(_printed(scores))
    tables = [gaps, *([_printed_table(printed)] if printed else [])]
    notes = [
        "English minus the plain mean of the other languages, as XTREME's Table 3 has it; where test sets differ "
        "between languages (POS, NER, MLQA, TyDiQA) the gap also holds how hard each test is",
        "'to human' and 'to in-language' are the published ceiling minus the mean of the others; the human figures are "
        "averages, or English ones, not measured in each language",
        *(
            ["of error rates the gap is the others minus English, and the share is of what is right in English"]
            if any(map(lower_is_better, scores.tasks))
            else []
        ),
        *(f"{task} has no English, and no gap" for task in without),
        *scores.notes,
    ]
    figure = Figure(
        "gaps",
        "bars",
        "Transfer gap by task",
        f"English minus the mean of the others, {len(rows)} gaps of {len(scores.systems)} systems.",
        x="gap",
        y="task",
        colour="system",
    )
    return Finding("transfer-gap", "Transfer gap", _reading(scores, gaps), tables, [figure], notes)


def _has_gap(values: Mapping[str, float]) -> bool:
    return PIVOT in values and len(values) > 1


_COLUMNS = [
    *text_columns("task", "system", "metric"),
    Column("languages", "count", "other languages"),
    Column("english", "score", "English"),
    *interval_columns("others", "score"),
    *interval_columns("gap", "difference"),
    Column("relative", "share", "share of English lost"),
    Column("human", "score"),
    Column("to_human", "difference", "to human"),
    Column("in_language", "score", "in-language"),
    Column("to_in_language", "difference", "to in-language"),
]


def _row(scores: ScoreTable, task: str, system: str) -> list[Value]:
    values, metric = scores.values(system, task), scores.metrics[task]
    english = values[PIVOT]
    others = [value for code, value in values.items() if code != PIVOT]
    # Where less is better, the others lose by having more.
    errors = lower_is_better(task)
    sign = -1 if errors else 1
    mean, lost = fmean(others), sign * gap(values)
    whole = 100 - english if errors else english
    test = scores.gaps.get((system, task))
    ends = [end for end in (test.low, test.high) if end is not None] if test else []
    low, high = sorted(sign * end for end in ends) if len(ends) > 1 else (None, None)
    human, in_language = human_score(task, metric), _in_language(scores, system, task, metric)
    return [
        task,
        system,
        metric,
        len(others),
        english,
        mean,
        *interval_over_languages(others),
        lost,
        low,
        high,
        lost / whole if whole else None,
        human,
        None if human is None else sign * (human - mean),
        in_language,
        None if in_language is None else sign * (in_language - mean),
    ]


def _in_language(scores: ScoreTable, system: str, task: str, metric: str) -> float | None:
    """What the model reaches in the same languages when it is trained in each of them, or the published average."""
    base = base_name(scores, system)
    codes = set(scores.values(system, task)) - {PIVOT}
    for other in scores.systems:
        values = scores.values(other, task)
        if scores.regime(other) == "in-language" and base_name(scores, other) == base and codes <= set(values):
            return fmean(values[code] for code in codes)
    return in_language_score(base, task, metric)


def base_name(scores: ScoreTable, system: str) -> str:
    """The name of the model, without regime and source."""
    return scores.base_names.get(system, system).partition(" [")[0]


def _printed(scores: ScoreTable) -> Iterator[list[Value]]:
    """Our gaps beside those of XTREME's Table 3, over XTREME's languages, and what makes them differ."""
    for row in table("transfer_gap"):
        place = _PRINTED.get(row["system"])
        systems = [each for each in scores.systems if (base_name(scores, each), scores.regime(each)) == place]
        for column, cell in row.items():
            task, _, metric = column.partition(":")
            if cell and task in scores.tasks:
                for system in systems:
                    yield from _beside_print(scores, row["system"], system, task, metric, float(cell))


def _beside_print(
    scores: ScoreTable, row: str, system: str, task: str, metric: str, printed: float
) -> Iterator[list[Value]]:
    """Our gap beside a printed one, in the printed metric where the source has it; nothing where there is no gap."""
    inside = SUITES["xtreme"].languages_of(task)
    known = scores.in_metrics.get((system, task), {}).get(metric)
    ours = metric if known else scores.metrics[task]
    values = {code: value for code, value in (known or scores.values(system, task)).items() if code in inside}
    if _has_gap(values) and task in scores.by_cell[system]:
        average = published_average(*_PRINTED[row], task, metric, suites=("xtreme",))
        same_mean = average is not None and abs(average - fmean(values.values())) <= EQUAL
        difference = gap(values) - printed
        why = _why(difference, ours == metric, len(inside) - len(values), same_mean)
        sources = {scores.by_cell[system][task][code].source for code in values}
        yield [row, task, system, ", ".join(sorted(sources)), ours, gap(values), printed, metric, difference, why]


def _why(difference: float, same_metric: bool, missing: int, same_mean: bool) -> str:
    """Whether a figure is the printed one, and if not, what is known of why."""
    if not same_metric:
        return "another metric"
    if abs(difference) <= EQUAL:
        return "equal" if same_mean else "equal, though of other runs: the mean is not that of XTREME's Table 2"
    if missing:
        return f"{missing} of XTREME's languages are not there"
    if same_mean:
        return "the mean over languages is that of XTREME's Table 2, the gap is not that of its Table 3"
    return "other runs: the mean over languages is not that of XTREME's Table 2 either"


def _printed_table(rows: list[list[Value]]) -> TidyTable:
    columns = [
        Column("row", label="row of Table 3"),
        *text_columns("task", "system", "source", "metric"),
        Column("gap", "difference"),
        Column("printed", "difference"),
        Column("printed_metric", label="printed in"),
        Column("difference", "difference"),
        Column("verdict"),
    ]
    return TidyTable("printed", "Against XTREME's Table 3", columns, rows)


def _reading(scores: ScoreTable, gaps: TidyTable) -> str:
    """Which tasks lose most, and whether a system loses least throughout."""
    records = gaps.records()
    by_system: dict[str, dict[str, float]] = {}
    for record in records:
        by_system.setdefault(str(record["system"]), {})[str(record["task"])] = float(record["gap"] or 0)
    sentences = [_of_system(name, lost) for name, lost in list(by_system.items())[:4]]
    shared = [task for task in scores.tasks if all(task in lost for lost in by_system.values())]
    if len(by_system) > 1 and shared:
        least = min(by_system, key=lambda name: fmean(by_system[name][task] for task in shared))
        wins = sum(min(by_system, key=lambda name: by_system[name][task]) == least for task in shared)
        sentences.append(
            f"On the {len(shared)} tasks that all have, {least} loses least on average and in {wins} of them."
            if len(shared) > 1
            else f"On {shared[0]}, which all have, {least} loses least."
        )
    sentences.append(
        "A small gap is no merit by itself: a system that is bad in English has little to lose, so the scores of the "
        "others stand beside it."
    )
    return " ".join(sentences)


def _of_system(name: str, lost: Mapping[str, float]) -> str:
    worst, best = max(lost, key=lambda task: lost[task]), min(lost, key=lambda task: lost[task])
    if len(lost) == 1:
        what = "loses" if lost[worst] > 0 else "gains"
        return f"{name} {what} {rounded(abs(lost[worst])):.1f} points outside English on {worst}."
    share = _counted(sum(value > 0 for value in lost.values()), lost)
    return (
        f"{name} loses {rounded(fmean(lost.values())):.1f} points on average over {len(lost)} tasks, most on {worst} "
        f"({rounded(lost[worst]):.1f}), least on {best} ({rounded(lost[best]):.1f}); {share}."
    )


def _counted(ahead: int, lost: Mapping[str, float] | Sequence[float]) -> str:
    return "English is ahead in all" if ahead == len(lost) else f"English is ahead in {ahead} of {len(lost)}"
