"""The history of XTREME and XTREME-R in a board's data."""

import pytest

from isogloss.board.history import suite_history
from isogloss.figures import score_text
from isogloss.languages.published import overall
from isogloss.tasks.suites import suite


def test_only_boards_of_both_suites_have_a_history():
    assert suite_history(suite("mini")) is None
    assert suite_history(suite("mldoc")) is None
    assert suite_history(suite("xtreme")) == suite_history(suite("xtreme-r"))


def test_suites_are_as_in_table_1_of_xtreme_r():
    """XTREME: 40 languages, 9 tasks; XTREME-R: 50 languages, 9 - 2 + 3 = 10 tasks."""
    old, new = suite_history(suite("xtreme")).suites
    assert [(each.id, each.languages, len(each.tasks)) for each in (old, new)] == [
        ("xtreme", 40, 9),
        ("xtreme-r", 50, 10),
    ]
    names = [{task.id for task in each.tasks} for each in (old, new)]
    assert names[0] - names[1] == {"pawsx", "bucc"}
    assert names[1] - names[0] == {"xcopa", "mewslix", "lareqa"}
    assert {task.id: task.human for task in new.tasks}["xquad"] == (91.2 + 82.3) / 2


def test_every_human_score_says_what_it_is_based_on():
    for own in suite_history(suite("xtreme-r")).suites:
        assert all(task.basis for task in own.tasks if task.human is not None)
        assert {task.id for task in own.tasks if task.basis and task.human is None} == {"tydiqa"}


def test_rows_are_those_of_the_main_tables():
    for own in suite_history(suite("xtreme-r")).suites:
        printed = {(row.system, row.regime): row for row in overall(own.id) if row.regime != "human"}
        assert {(row.system, row.regime) for row in own.rows} == set(printed)
        for row in own.rows:
            assert row.average == printed[row.system, row.regime].average
            if "xquad" in row.scores:
                figures = printed[row.system, row.regime].metrics["xquad"]
                mean = (figures["f1"] + figures["em"]) / 2
                assert row.scores["xquad"] == pytest.approx(mean, abs=0.0151)
                # Not a tie, which pages and commands round differently: 74.05 reads 74.0 on the leaderboard.
                assert f"{row.scores['xquad'] + 1e-6:.1f}" == score_text(mean)


def test_events_have_scores_only_where_a_source_states_them():
    history = suite_history(suite("xtreme"))
    firsts = [event for event in history.events if event.event == "first"]
    assert [(event.date, event.system, event.value) for event in firsts] == [
        ("2020-06", "X-STILTS", None),
        ("2020-09", "FILTER", None),
        ("2020-10-08", "T-URLv2", None),
        ("2021-03", "VECO", None),
    ]
    assert {(event.event, event.value) for event in history.events if event.measure == "gap to humans"} == {
        ("roughly", 25),
        ("below", 12),
    }
    assert all(event.source for event in history.events)
    assert {change.task for change in history.changes} == {"wikiann", "udpos", "tatoeba"}
