"""`isogloss.plan`: how many examples, languages, seeds and prompts a comparison needs, from a pilot."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import msgspec

from isogloss.analysis import plan_tables as tables
from isogloss.analysis.api import command_line
from isogloss.analysis.finding import AnalysisError, Finding, figure
from isogloss.analysis.score_pilots import pilots_of_scores
from isogloss.analysis.study_question import FIXED, AssumedSpread, StudyQuestion
from isogloss.figures import counted
from isogloss.metrics.estimate import POWER
from isogloss.predictions.memory import Predictions
from isogloss.predictions.problems import LeftOut
from isogloss.results.published_scores import is_published
from isogloss.results.readers import read_results
from isogloss.results.views import score_view
from isogloss.scoring.cells import Progress
from isogloss.scoring.compare import SystemRuns
from isogloss.scoring.pilots import PlannedScore, planned_scores
from isogloss.scoring.planning import LANGUAGE, TEST_SET, PilotStudy
from isogloss.scoring.request import Request, ScoreOptions, lists_options, request_options
from isogloss.scoring.score import judge_systems
from isogloss.scoring.shared_levels import with_shared_levels
from isogloss.workers import Workers, local_workers


@lists_options(ScoreOptions)
def plan(  # noqa: PLR0913 - the options of the command
    *pilots: "Predictions",
    difference: float = 1.0,
    power: float = POWER,
    comparisons: int = 1,
    languages_as: str = FIXED,
    correlation: float = 0.0,
    budgets: Sequence[Mapping[str, int]] = (),
    score: float | None = None,
    examples: int | None = None,
    seed_sd: float = 0.0,
    prompt_sd: float = 0.0,
    jobs: int = 1,
    **options: "Unpack[ScoreOptions]",
) -> Finding:
    """Plan a comparison of two systems: the numbers it needs to see a difference, and what a budget can see.

    Args:
        *pilots: predictions of two systems (or of one, for two systems like it): folders, folders of runs (`seed-0`, …)
            or predictions in memory, as in `score`. Or scores: "published:keung", results.json or CSV files; several
            results of one model are its seeds. Or nothing, with a score.
        difference: true difference to see, in points.
        power: chance of seeing it.
        comparisons: number of tests that are corrected together (Bonferroni).
        languages_as: "fixed" for these languages, "sample" for languages like these.
        correlation: correlation of two systems on an example, if the pilot has one system; 0 is an upper bound.
        budgets: designs to evaluate, such as [{"seeds": 5, "examples": 500}].
        score: score in place of a pilot, 0..100, with the variance of a share of right answers.
        examples: number of examples for it.
        seed_sd: standard deviation between seeds for it, in points.
        prompt_sd: standard deviation between prompts for it, in points.
        jobs: number of processes; more than one requires `if __name__ == "__main__":` in a script.
        suite: suite, which sets tasks, languages and averages.
        data: data folder with gold; default ISOGLOSS_DATA or the user's cache.
        gold: label folder in XTREME's layout, used instead of the data folder.
        split: "test", "dev", "best" (test if it has gold, else dev), "pseudo" or "pseudo-dev".
        tasks: tasks to include; default all tasks of the suite.
        languages: languages to include; default all languages of the suite.
        allow_partial: True to also score cells with incomplete gold; no average includes them.
        resample: "source" for new articles, premises …, "example" for new examples from the same sources.
        strict: True to raise an error for answers without gold or with unknown names instead of skipping them.
        subset: subset file of `export`, or its folder, if only the drawn examples are answered.
        guide: predictions of a cheap system for all examples, as control variate for the subset.

    Returns:
        Numbers needed, designs, sources of variance and a curve as tables, and the plan in words.

    Raises:
        AnalysisError: too few examples, no difference between the pilots, or an invalid goal.
        PredictionError: pilots without a common cell, or with invalid answers.
        UnknownNameError: unknown suite, task, language or factor of a budget.

    Example:
        isogloss.plan("mine", "theirs", difference=0.5, data="data")
        isogloss.plan(score=70.0, examples=500, budgets=[{"seeds": 5}])
    """
    question = StudyQuestion(
        difference=difference,
        power=power,
        comparisons=comparisons,
        languages_as=languages_as,
        correlation=correlation,
        budgets=budgets,
    )
    spread = AssumedSpread.of(score, examples, seed_sd, prompt_sd)
    with local_workers(jobs) as workers:
        return plan_request(pilots, question, spread=spread, workers=workers, **options)


def plan_request(
    pilots: Sequence[Predictions],
    question: StudyQuestion,
    *,
    spread: AssumedSpread | None = None,
    progress: Progress = None,
    workers: Workers | None = None,
    **options: Unpack[ScoreOptions],
) -> Finding:
    """Return the plan for a question, from pilots or an assumed spread; `workers`, if given, share cells."""
    of_scores = [_holds_scores(pilot) for pilot in pilots]
    too_many = len(pilots) > 2 and not all(of_scores)
    if bool(pilots) == (spread is not None) or too_many or len(set(of_scores)) > 1:
        fix = "Pass one or two prediction folders, or scores (published:NAME, results.json), or --score and --examples"
        raise AnalysisError(f"expected one or two pilots of one kind, got {len(pilots)}", fix=fix)
    if spread is not None:
        evidence = _Evidence([spread.planned(question.correlation)], from_scores=True)
    elif all(of_scores):
        paths = [pilot for pilot in pilots if isinstance(pilot, str | os.PathLike)]
        sources = [path if isinstance(path, str) else Path(path) for path in paths]
        view = score_view(read_results(sources), tasks=options.get("tasks"), languages=options.get("languages"))
        evidence = _Evidence(pilots_of_scores(view, question.correlation), from_scores=True)
    else:
        evidence = _judged(pilots, question, Request.of(**options), progress, workers)
    if question.assumptions.sampled and len(evidence.systems) < 2:
        what = "the variance of a difference between languages needs pilots of both systems"
        raise AnalysisError(what, fix="Pass two prediction folders")
    finding = _finding(evidence, question)
    return msgspec.structs.replace(finding, command=_command(pilots, question, spread, options))


@dataclass(frozen=True)
class _Evidence:
    """The scores to plan for; `systems` is empty if both systems are assumed to be alike."""

    scores: Sequence[PlannedScore]
    systems: Sequence[str] = ()
    left_out: Sequence[LeftOut] = ()
    from_scores: bool = False

    @property
    def usable(self) -> tables.Planned:
        return [(score, score.pilot) for score in self.scores if score.pilot is not None]


def _judged(
    pilots: Sequence[Predictions],
    question: StudyQuestion,
    request: Request,
    progress: Progress,
    workers: Workers | None,
) -> _Evidence:
    if request.subset is not None:
        raise AnalysisError("cannot plan with answers to a subset", fix="Pass pilots that answer all examples")
    judged = judge_systems(pilots, request, progress, workers)
    runs = with_shared_levels(
        [SystemRuns.of(name, one.runs, one.left_out, names=one.names) for name, one in judged.items()]
    )
    left_out = list(dict.fromkeys(each for system in runs for each in system.left_out))
    names = [system.name for system in runs] if len(runs) > 1 else []
    return _Evidence(list(planned_scores(runs, request, question.assumptions)), names, left_out)


def _holds_scores(source: Predictions) -> bool:
    """Return True for sources of scores: published ones and files."""
    if isinstance(source, str) and is_published(source):
        return True
    return isinstance(source, str | os.PathLike) and Path(source).is_file()


def _command(
    pilots: Sequence[Predictions], question: StudyQuestion, spread: AssumedSpread | None, options: Mapping[str, Any]
) -> str:
    """Return the command with all options that differ from their defaults."""
    usual: dict[str, Any] = {**StudyQuestion.__dataclass_fields__, **request_options()}
    given = {**vars(question), **(vars(spread) if spread else {}), **options}
    changed = {name: value for name, value in given.items() if name not in usual or value != usual[name].default}
    budgets = [",".join(f"{name}={count}" for name, count in budget.items()) for budget in changed.pop("budgets", ())]
    flags: dict[str, Any] = {name: changed.pop(name) for name in ("allow_partial", "strict") if name in changed}
    sources = [pilot if isinstance(pilot, str | os.PathLike) else "<predictions>" for pilot in pilots]
    command = command_line("plan", sources, changed, flags)
    return " ".join([command, *(f"--budget {budget}" for budget in budgets)])


def _finding(evidence: _Evidence, question: StudyQuestion) -> Finding:
    usable, goal = evidence.usable, question.goal
    cells = [(score, pilot) for score, pilot in usable if score.level == "cell"]
    averages = [(score, pilot) for score, pilot in usable if score.level != "cell"]
    if all(score.level == "cell" for score in evidence.scores):
        averages = cells  # languages outside the suite have no average
    if not averages:
        raise _no_pilot(evidence.scores)
    _check_budgets(question.numbers, [pilot for _, pilot in averages])
    needs = tables.needed_table(averages, goal)
    return Finding(
        analysis="plan",
        title="Plan of a comparison",
        reading=tables.reading(averages, goal, needs),
        tables=[
            needs,
            tables.designs_table(averages, goal, question.numbers),
            tables.components_table(averages, evidence.systems),
            tables.curve_table(averages, goal),
            *([tables.cells_table(cells, goal)] if len(cells) > 1 else []),
        ],
        figures=[
            figure(
                "lines",
                "curve: times, detectable, factor, score",
                "Minimum detectable difference",
                "Minimum detectable difference in points by multiples of the present examples, languages and runs.",
                log_x=True,
                marks=[("goal", question.difference)],
            )
        ],
        notes=_notes(evidence, question),
    )


def _no_pilot(scores: Sequence[PlannedScore]) -> AnalysisError:
    """Return the reason why nothing can be planned, with the bound that equal scores allow."""
    top = scores[0]
    bound = ""
    if top.bound is not None and top.difference is not None:
        bound = f", so how much they vary is unknown; they differ by less than {100 * top.bound:.1f} points (95 %)"
    fix = "Use a larger pilot, or plan with a score and a number of examples"
    return AnalysisError(f"{top.reason}{bound}", where=tables.label(top), fix=fix)


def _check_budgets(budgets: Sequence[Mapping[str, int]], pilots: Sequence[PilotStudy]) -> None:
    known = {factor for pilot in pilots for factor in pilot.factors}
    for factor in (factor for budget in budgets for factor in budget):
        if factor not in known:
            fix = f"Run the pilot with at least two {factor}s, or leave {factor}s out of the budget"
            raise AnalysisError(f"the pilot does not show the variance between {factor}s", fix=fix)


def _notes(evidence: _Evidence, question: StudyQuestion) -> list[str]:
    pilots = [pilot for _, pilot in evidence.usable]
    runs = [counts for pilot in pilots for factor, counts in pilot.numbers.items() if factor not in TEST_SET]
    notes = [
        f"power: the share of such studies that find the difference at the {question.goal.alpha:.2g} level"
        + (f", 0.05 corrected for {question.comparisons} comparisons (Bonferroni)" if question.comparisons > 1 else ""),
        "further examples are assumed to come in sources (articles, premises, …) of the same size, and further "
        "languages, seeds and prompts to vary like the present ones",
    ]
    if not runs:
        notes.append(
            "one run each: the variance between seeds is unknown and not included. The plan is for two checkpoints; a "
            "claim about methods needs a pilot with several seeds"
        )
    elif any(1 in counts for counts in runs):
        notes.append("a system with a single seed or prompt is taken as it is: its variance between runs is unknown")
    if names := sorted({factor for pilot in pilots for factor in pilot.shared}):
        how = "what they change in both alike cancels" if evidence.systems else "their effects are assumed to differ"
        notes.append(f"both systems have the same {' and '.join(f'{name}s' for name in names)}: {how}")
    if not evidence.systems:
        bound = "" if question.correlation else ", an upper bound, since systems mostly fail on the same examples"
        notes.append(
            "both systems are assumed to vary alike, with a correlation of "
            f"{question.correlation:g} on an example{bound}; set it with --correlation"
        )
    if evidence.from_scores:
        notes.append("scores count as shares of right answers; several results of one model count as its seeds")
    notes += _language_notes(question, pilots)
    if question.comparisons == 1 and sum(score.level == "task" for score in evidence.scores) > 1:
        notes.append("each score is planned as the only test; isogloss compare corrects over tasks: see --comparisons")
    return [*notes, *_omissions(evidence)]


def _language_notes(question: StudyQuestion, pilots: Sequence[PilotStudy]) -> list[str]:
    if not any(pilot.numbers[LANGUAGE][0] > 1 for pilot in pilots):
        return []
    if question.languages_as == FIXED:
        return ["the result holds for the languages at hand; --languages-as sample plans for languages like these"]
    return [
        "the languages are a sample: differences between them count as an error, and languages of a family as alike. "
        "isogloss compare tests the languages at hand; a claim about further ones needs a test over languages"
    ]


def _omissions(evidence: _Evidence) -> list[str]:
    without = [score for score in evidence.scores if score.pilot is None]
    notes = [f"{tables.label(score)} is not planned: {score.reason}" for score in without if score.level != "cell"]
    if cells := [score for score in without if score.level == "cell"]:
        notes.append(f"{counted(len(cells), 'cell')} not planned, such as {cells[0].name}: {cells[0].reason}")
    if left_out := [each for each in evidence.left_out if each.task]:
        notes.append(f"{counted(len(left_out), 'cell')} left out, such as {left_out[0].task}: {left_out[0].reason}")
    return [*notes, *(str(each) for each in evidence.left_out if not each.task)]
