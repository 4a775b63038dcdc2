"""Transfer gap: English minus the mean of the other languages, by task (XTREME, Table 3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import NamedTuple

from isogloss.analysis.finding import AnalysisError, Finding, TidyTable, Value, columns, figure, require
from isogloss.analysis.language_means import mean_score
from isogloss.figures import counted, p_equation, rounded
from isogloss.languages.published import table
from isogloss.metrics.language_sample import NO_INTERVAL_REASON
from isogloss.metrics.student import ALPHA
from isogloss.metrics.unpaired import difference_p
from isogloss.results.averages import transfer_gap as english_minus_others
from isogloss.results.published_scores import human_score, in_language_score, published_average
from isogloss.results.views import ScoreView, standard_error
from isogloss.scoring.averages import PIVOT
from isogloss.scoring.main_score import lower_is_better
from isogloss.tasks.suites import SUITES

# Tolerance: printed figures and the scores behind them have one decimal.
EQUAL = 0.11
# System and regime of the rows of Table 3.
_PRINTED = {
    "mBERT": ("mBERT", "zero-shot"),
    "XLM-R Large": ("XLM-R Large", "zero-shot"),
    "Translate-train": ("mBERT", "translate-train"),
}


def gap(scores: Mapping[str, float]) -> float:
    """Return English minus the mean of the other languages; 0 is perfect transfer."""
    difference = english_minus_others(scores)
    if difference is None:
        raise AnalysisError("a transfer gap needs English and another language", fix="Leave the task out")
    return difference


def transfer_gap(scores: ScoreView, *, shared: bool = True) -> Finding:
    """Measure the loss from English to other languages: absolute, relative, and compared with upper bounds.

    Systems are compared over the languages they share on a task; `shared=False` uses all languages of each system.
    """
    require(scores, languages=2, what="a transfer gap")
    everything = scores
    scores, restricted = _over_shared_languages(scores) if shared else (scores, [])
    cells = [(task, system) for task in scores.tasks for system in scores.systems]
    whole = [(task, system) for task, system in cells if english_minus_others(scores.values(system, task)) is not None]
    if not whole:
        raise AnalysisError("no task has English and another language", fix=f"Add scores in {PIVOT}")
    without = sorted({*scores.tasks} - {task for task, _ in whole})
    rows = [_row(scores, task, system) for task, system in whole]
    intervals = [
        "95 % intervals: for 'others', over language families, for other languages like these; for 'gap', over test "
        "examples scored here, with translations of an example clustered",
        f"for 'others', {NO_INTERVAL_REASON}",
    ]
    gaps = TidyTable("gaps", "Transfer gap and upper bounds", _COLUMNS, rows, intervals)
    printed = TidyTable("printed", "Comparison with XTREME's Table 3", _PRINTED_COLUMNS, [*_printed(everything)])
    errors = "the gap is the others minus English, and the share is relative to 100 minus the English rate"
    notes = [
        "English minus the unweighted mean of the other languages, as in XTREME's Table 3; if test sets differ between "
        "languages (POS, NER, MLQA, TyDiQA), the gap also reflects the difficulty of each test",
        "'to human' and 'to in-language' are the published upper bound minus the mean of the others; human performance "
        "is an average or measured in English, not in each language",
        *([f"for error rates, {errors}"] if any(map(lower_is_better, scores.tasks)) else []),
        *(f"{task}: no gap, English is missing" for task in without),
        *restricted,
        *scores.notes,
    ]
    about = f"English minus the mean of the others, {len(rows)} gaps of {len(scores.systems)} systems."
    return Finding(
        analysis="transfer-gap",
        title="Transfer gap",
        reading=_reading(gaps),
        tables=[gaps, *([printed] if printed.rows else [])],
        figures=[figure("bars", "gaps: gap, task, system", "Transfer gap by task", about)],
        notes=notes,
    )


def _over_shared_languages(scores: ScoreView) -> tuple[ScoreView, list[str]]:
    """Restrict every task to the languages shared by the systems that have a gap; also return a note per task."""
    kept = {system: dict(tasks) for system, tasks in scores.scores.items()}
    gaps, notes = dict(scores.gaps), []
    for task in scores.tasks:
        codes = {system: set(scores.values(system, task)) for system in scores.systems}
        codes = {system: own for system, own in codes.items() if PIVOT in own and len(own) > 1}
        common = set.intersection(*codes.values()) if codes else set()
        longer = [system for system, own in codes.items() if own != common]
        if longer and common == {PIVOT}:
            notes.append(f"{task}: not comparable, since the systems share no language except English")
        elif longer:
            what = counted(len(common) - 1, "other language")
            notes.append(f"{task}: over the {what} that all systems have; --set shared=false uses all")
            for system in longer:
                kept[system][task] = {code: score for code, score in kept[system][task].items() if code in common}
                gaps.pop((system, task), None)  # recorded over all languages of the system
    return replace(scores, scores=kept, gaps=gaps), notes


_COLUMNS = columns(
    "task system metric; languages:count = other languages; english:score = English; others±:score; gap±:difference; "
    "relative:share = share of English lost; human:score; to_human:difference = to human; "
    "in_language:score = in-language; to_in_language:difference = to in-language"
)
_PRINTED_COLUMNS = columns(
    "row = row of Table 3; task system source metric; gap printed:difference; printed_metric = printed in; "
    "difference:difference; verdict"
)


def _row(scores: ScoreView, task: str, system: str) -> list[Value]:
    values, metric = scores.values(system, task), scores.metrics[task]
    english = values[PIVOT]
    others = {code: value for code, value in values.items() if code != PIVOT}
    # Error rates increase with the loss.
    errors = lower_is_better(task)
    sign = -1 if errors else 1
    mean, lost = mean_score(others), sign * gap(values)
    whole = 100 - english if errors else english
    test = scores.gaps.get((system, task))
    ends = [end for end in (test.low, test.high) if end is not None] if test else []
    low, high = sorted(sign * end for end in ends) if len(ends) > 1 else (None, None)
    gaps = [lost, low, high, lost / whole if whole else None]
    bounds: list[Value] = []
    for bound in (human_score(task, metric), _in_language(scores, system, task, metric)):
        bounds += [bound, None if bound is None else sign * (bound - mean.value)]
    return [task, system, metric, len(others), english, *mean, *gaps, *bounds]


def _in_language(scores: ScoreView, system: str, task: str, metric: str) -> float | None:
    """Return the model's in-language score in the same languages, or the published average."""
    base = base_name(scores, system)
    codes = set(scores.values(system, task)) - {PIVOT}
    for other in scores.systems:
        values = scores.values(other, task)
        if scores.results[other].regime == "in-language" and base_name(scores, other) == base and codes <= set(values):
            return fmean(values[code] for code in codes)
    return in_language_score(base, task, metric)


def base_name(scores: ScoreView, system: str) -> str:
    """Return the name of the model, without regime and source."""
    return scores.results[system].name.partition(" [")[0]


def _printed(scores: ScoreView) -> Iterator[list[Value]]:
    """Yield our gaps and those of XTREME's Table 3, over XTREME's languages, with reasons for differences."""
    for row in table("transfer_gap"):
        model = _PRINTED.get(row["system"])
        models = {system: (base_name(scores, system), scores.results[system].regime) for system in scores.systems}
        for column, cell in row.items():
            task, _, metric = column.partition(":")
            if cell and task in scores.tasks:
                for system in (system for system in models if models[system] == model):
                    yield from _compared(scores, row["system"], system, task, metric, float(cell))


def _compared(
    scores: ScoreView, row: str, system: str, task: str, metric: str, printed: float
) -> Iterator[list[Value]]:
    """Yield our gap and the printed one, in the printed metric if available; nothing without a gap."""
    inside = SUITES["xtreme"].languages_of(task)
    in_metric = scores.metric_values(system, task, metric)
    ours = metric if in_metric else scores.metrics[task]
    values = {code: value for code, value in (in_metric or scores.values(system, task)).items() if code in inside}
    if english_minus_others(values) is not None and task in scores.scores[system]:
        average = published_average(*_PRINTED[row], task, metric, suites=("xtreme",))
        same_mean = average is not None and abs(average - fmean(values.values())) <= EQUAL
        difference = gap(values) - printed
        why = _why(difference, ours == metric, len(inside) - len(values), same_mean)
        sources = {scores.scores[system][task][code].cell.source for code in values}
        yield [row, task, system, ", ".join(sorted(sources)), ours, gap(values), printed, metric, difference, why]


def _why(difference: float, same_metric: bool, missing: int, same_mean: bool) -> str:
    """Return "equal", or the reason why a figure differs from the printed one."""
    if not same_metric:
        return "another metric"
    if abs(difference) <= EQUAL:
        return "equal" if same_mean else "equal, but from other runs: the mean differs from XTREME's Table 2"
    if missing:
        return f"{missing} of XTREME's languages {'is' if missing == 1 else 'are'} missing"
    if same_mean:
        return "the mean over languages matches XTREME's Table 2, but the gap differs from its Table 3"
    return "other runs: the mean over languages also differs from XTREME's Table 2"


class _Gap(NamedTuple):
    value: float
    error: float | None  # standard error over test examples


def _reading(gaps: TidyTable) -> str:
    """Summarise the losses of each system, and compare the systems."""
    by_system: dict[str, dict[str, _Gap]] = {}
    for record in gaps.records():
        low, high = record["gap_low"], record["gap_high"]
        is_known = isinstance(low, int | float) and isinstance(high, int | float)
        error = standard_error(float(low or 0), float(high or 0)) if is_known else None
        measured = _Gap(float(record["gap"] or 0), error)
        by_system.setdefault(str(record["system"]), {})[str(record["task"])] = measured
    sentences = [_of_system(name, lost) for name, lost in list(by_system.items())[:4]]
    shared = [task for task in next(iter(by_system.values())) if all(task in lost for lost in by_system.values())]
    if len(by_system) > 1 and shared:
        sentences.append(_compared_systems(by_system, shared))
    sentences.append(
        "A small gap does not imply good transfer: a system that is weak in English has little to lose. Compare the "
        "mean of the other languages too."
    )
    return " ".join(sentences)


def _compared_systems(by_system: Mapping[str, Mapping[str, _Gap]], shared: Sequence[str]) -> str:
    """Name the system with the smallest gap on shared tasks, and test its difference to the next one."""
    means = {name: fmean(lost[task].value for task in shared) for name, lost in by_system.items()}
    first, second = sorted(means, key=lambda name: means[name])[:2]
    where = f"On the {len(shared)} shared tasks" if len(shared) > 1 else f"On {shared[0]}, the only shared task"
    if rounded(means[first]) == rounded(means[second]):
        tied = [name for name in means if rounded(means[name]) == rounded(means[first])]
        return f"{where}, {' and '.join(tied)} have the same gap ({rounded(means[first]):.1f})."
    errors = [by_system[name][task].error for name in (first, second) for task in shared]
    verdict = "the order is not tested, since the gaps have no intervals"
    known = [error / len(shared) for error in errors if error is not None]
    if len(known) == len(errors):
        p = difference_p(means[first] - means[second], *known)
        verdict = f"the difference is {'' if p < ALPHA else 'not '}significant ({p_equation(p)}, unpaired test)"
    gaps = f"{rounded(means[first]):.1f}; next is {second} with {rounded(means[second]):.1f}"
    return f"{where}, {first} has the smallest {'mean ' * (len(shared) > 1)}gap ({gaps}); {verdict}."


def _of_system(name: str, lost: Mapping[str, _Gap]) -> str:
    values = {task: gap.value for task, gap in lost.items()}
    worst, best = max(values, key=lambda task: values[task]), min(values, key=lambda task: values[task])
    if len(lost) == 1:
        what = "loses" if values[worst] > 0 else "gains"
        return f"{name} {what} {rounded(abs(values[worst])):.1f} points outside English on {worst}."
    ahead = sum(value > 0 for value in values.values())
    share = "in all" if ahead == len(lost) else f"in {ahead} of {len(lost)}"
    spread = f"between {rounded(values[best]):.1f} ({best}) and {rounded(values[worst]):.1f} ({worst})"
    if rounded(values[best]) == rounded(values[worst]):
        spread = "the same on each"
    return (
        f"{name} loses {rounded(fmean(values.values())):.1f} points on average over {len(lost)} tasks, {spread}; "
        f"English is ahead {share}."
    )
