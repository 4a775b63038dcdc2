"""History of XTREME and XTREME-R as their papers state it, for boards of either suite."""

from functools import cache
from statistics import fmean

from isogloss.board import model
from isogloss.board.packing import shown_alike
from isogloss.languages.published import SUITES, overall, table
from isogloss.results.published_footnotes import MAIN_TABLES
from isogloss.results.published_scores import human_score
from isogloss.scoring.main_score import SCORE
from isogloss.tasks.suites import Suite, shipped_suite

# Months of the papers' first preprints.
_DATES = {"xtreme": "2020-03", "xtreme-r": "2021-04"}


def suite_history(suite: Suite) -> model.BoardHistory | None:
    """Return the history of both suites if the board's suite is one of them."""
    return _history() if suite.id in SUITES else None


@cache
def _history() -> model.BoardHistory:
    return model.BoardHistory(
        suites=[_suite(shipped_suite(name)) for name in _DATES],
        events=[
            model.HistoryEvent(
                **{key: row[key] for key in ("date", "system", "event", "measure", "source")},
                value=float(row["value"]) if row["value"] else None,
            )
            for row in table("leaderboard_xtreme")
        ],
        changes=[model.TaskChange(**row) for row in table("changed_tasks")],
    )


def _suite(suite: Suite) -> model.HistorySuite:
    basis = {row["task"]: f"{row['basis']} ({row['source']})" for row in table("human_scores")}
    tasks = [
        model.HistoryTask(
            id=name,
            name=member.title,
            category=member.category,
            languages=len(suite.languages_of(name)),
            human=human_score(name, member.main[0] if len(member.main) == 1 else SCORE),
            basis=basis.get(name, ""),
        )
        for name, member in suite.members.items()
    ]
    return model.HistorySuite(
        id=suite.id,
        title=suite.title,
        date=_DATES[suite.id],
        rule=suite.rule,
        source=MAIN_TABLES[suite.id],
        languages=len({code for name in suite.tasks for code in suite.languages_of(name)}),
        tasks=tasks,
        rows=[
            model.HistoryRow(
                system=row.system,
                regime=row.regime,
                average=row.average,
                scores={
                    name: shown_alike(fmean(figures[metric] for metric in member.main))
                    for name, member in suite.members.items()
                    if set(member.main) <= set(figures := row.metrics.get(name, {}))
                },
            )
            for row in overall(suite.id)
            if row.regime != "human"
        ],
    )
