"""isogloss plan: how many examples, languages, seeds and prompts a comparison needs."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o
from isogloss.cli.analyze import write_finding_files

if TYPE_CHECKING:
    from isogloss.analysis.finding import Finding

app = typer.Typer(add_completion=False)

Figures = partial(typer.Option, rich_help_panel="Figures in place of a pilot")


@app.command()
@o.expand_bundles
def plan(
    pilots: Annotated[
        list[str] | None,
        typer.Argument(
            help="Two prediction folders or folders of runs; one, for two systems like it; or scores: published:NAME, "
            "results.json, CSV."
        ),
    ] = None,
    *,
    difference: Annotated[float, o.Statistics(help="True difference to see, in points.")] = 1.0,
    power: Annotated[float, o.Statistics(help="Chance of seeing it.")] = 0.8,
    comparisons: Annotated[int, o.Statistics(help="Number of tests corrected together (Bonferroni).")] = 1,
    languages_as: Annotated[
        str, o.Statistics(help="fixed: a result for these languages; sample: for languages like these.")
    ] = "fixed",
    correlation: Annotated[
        float, o.Statistics(help="Correlation of two systems on an example, for a single pilot; 0 is an upper bound.")
    ] = 0.0,
    budget: Annotated[
        list[str] | None,
        o.Statistics("--budget", "-b", help="Design to evaluate, e.g. seeds=5,examples=500; repeatable."),
    ] = None,
    cells: o.GoldOptions,
    score: Annotated[float | None, Figures(help="Score, 0–100, with the variance of a share of right answers.")] = None,
    examples: Annotated[int | None, Figures("--examples", "--n", help="Number of examples, at least 20.")] = None,
    seed_sd: Annotated[float, Figures(help="Standard deviation between seeds, in points.")] = 0.0,
    prompt_sd: Annotated[float, Figures(help="Standard deviation between prompts, in points.")] = 0.0,
    json: o.Json = None,
    csv: o.Csv = None,
    html: o.Html = None,
    form: o.Format = "table",
    jobs: o.Jobs = 1,
) -> None:
    """Plan a comparison of two systems: the numbers it needs to see a difference, and what a budget can see.

    A pilot shows how much the difference varies between examples, languages,
    seeds and prompts. From that follow the minimum detectable difference of its
    design, the number of each that the wanted difference needs with the others
    as they are, and designs that are enough. The tests are those of isogloss
    compare; see docs/planning.md for assumptions and accuracy.

    \b
    Examples:
      isogloss plan pilot/mine pilot/theirs --data data --difference 0.5
      isogloss plan pilot/mine pilot/theirs --tasks xquad \\
          --budget seeds=5,examples=500 --html plan.html
      isogloss plan pilot/mine --data data --correlation 0.5
      isogloss plan published:keung --tasks xnli
      isogloss plan --score 80 --examples 1000 --seed-sd 1.2
    """
    from isogloss.analysis.study_plan import plan_request
    from isogloss.analysis.study_question import AssumedSpread, StudyQuestion
    from isogloss.workers import local_workers

    question = StudyQuestion(
        difference=difference,
        power=power,
        comparisons=comparisons,
        languages_as=languages_as,
        correlation=correlation,
        budgets=[_budget(text) for text in budget or []],
    )
    spread = AssumedSpread.of(score, examples, seed_sd, prompt_sd)
    with o.progress("planning") as step, local_workers(jobs) as workers:
        options = cells.selection()
        finding = plan_request(pilots or (), question, spread=spread, progress=step, workers=workers, **options)
    write_finding_files(finding, json, csv, html)
    _show(finding, form, difference)


def _budget(text: str) -> dict[str, int]:
    numbers = {}
    for word in text.split(","):
        name, equals, number = word.strip().partition("=")
        if not equals or not number.strip().isdecimal():
            what = f"expected numbers such as seeds=5,examples=500, got {text!r}"
            raise typer.BadParameter(what, param_hint="--budget")
        numbers[name.strip()] = int(number)
    return numbers


def _show(finding: "Finding", form: str, goal: float) -> None:
    """Print the plan in words, its tables, and the curve of the first score as bars."""
    from isogloss.tables.findings import finding_tables
    from isogloss.tables.table import show
    from isogloss.tables.text_curve import text_curve

    if form != "table":
        show(finding_tables(finding), form)
        return
    o.say_prose(finding.reading)
    o.say("")
    show(finding_tables(finding), form)
    curve = finding.table("curve")
    name = str(curve.rows[0][0]) if curve.rows else ""
    o.say(f"{curve.title}: {name}, in points (* at most {goal:g})\n")
    rows = [row for row in curve.records() if row["score"] == name]
    o.say(text_curve(rows, group="factor", at="number", value="detectable", goal=goal) + "\n")
    for note in finding.notes:
        o.say_prose(note, bullet="- ")
