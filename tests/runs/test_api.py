"""Runs from Python: the verbs as functions."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from isogloss.cli.run import run as run_verb
from isogloss.cli.train import train as train_verb
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs.api import recipe_settings, run, train
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]


def test_a_run_is_one_call(tmp_path: Path, mini_data: Path) -> None:
    asked = {"suite": "mini", "tasks": ["mini-xquad"], "languages": ["de", "sw"], "seeds": 2}
    summary = run("fake", out=str(tmp_path), **asked)  # type: ignore[arg-type]
    assert summary.cells == {"done": 4, "failed": 0, "skipped": 0, "missing": 0}
    assert list(summary.tasks["mini-xquad"].seeds) == ["seed-0", "seed-1"]
    mean = f"{summary.tasks['mini-xquad'].mean:.1f}"
    assert summary.overall is not None
    scored = f"fake, zero-shot, on mini (test): {summary.overall.mean:.1f}*; 4 cells done"
    assert repr(summary) == f"<RunSummary: {scored}>"
    assert re.search(rf">mini-xquad</td><td[^>]*>{mean}\*</td>", summary._repr_html_())
    assert run("fake", out=tmp_path, **asked) == summary  # type: ignore[arg-type]
    pytest.importorskip("pandas", reason="data frames need pandas")
    assert summary.to_pandas()["task"].tolist() == ["mini-xquad", "overall"]


# Options of the command for language models; in Python they are settings of the system and calls per wording.
PROMPTING = {"config", "endpoint", "max_cost", "prompts", "dry_run"}


@pytest.mark.parametrize(
    ("function", "verb", "instead", "options_only"),
    [(run, run_verb, {"settings", "prompt"}, PROMPTING), (train, train_verb, set(), set())],
)
def test_functions_have_the_options_of_the_verbs(
    function: object, verb: object, instead: set[str], options_only: set[str]
) -> None:
    options, given = (inspect.signature(each).parameters for each in (verb, function))  # type: ignore[arg-type]
    assert set(given) - instead == set(options) - options_only
    for name, option in options.items():
        if option.default is not inspect.Parameter.empty and name not in options_only:
            assert given[name].default == option.default


def test_names_are_checked(tmp_path: Path, mini_data: Path) -> None:
    with pytest.raises(UnknownNameError, match="suite"):
        run("fake", out=tmp_path, suite="minni")
    with pytest.raises(UnknownNameError, match="task"):
        run("fake", out=tmp_path, suite="mini", tasks=["mini-xquat"])
    with pytest.raises(IsoglossError, match="fake does not use recipes"):
        train("fake", ["mini-xquad"], out=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_train_accepts_one_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mini_data: Path) -> None:
    monkeypatch.setattr("runs.grid_fake.FakeSystem.follows_recipes", True)
    monkeypatch.setattr("runs.grid_fake.FakeSystem.__init__", lambda self, recipe: None)
    monkeypatch.setattr("isogloss.runs.api.run_plan", lambda plan, **_: plan)
    plan: Any = train("fake", "mini-xquad", out=tmp_path)
    assert (plan.request.suite.id, plan.request.tasks, plan.seeds) == ("mini", ("mini-xquad",), 1)
    assert plan.settings == {"recipe": "paper"}
    assert recipe_settings("fake#recipe=keung", None, None) == {}
    assert recipe_settings("fake#recipe=keung", "scripts", None) == {"recipe": "scripts"}
