"""Isogloss: find out, honestly and fast, where a multilingual model stops working.

import isogloss
isogloss.task("xquad")                                # a task's description
isogloss.load("xquad", "en", data="data")             # its examples
isogloss.score("my-predictions", data="data")         # every number, with intervals
isogloss.compare("mine", "theirs", data="data")       # is the difference real?
isogloss.plan("mine", "theirs", data="data")          # what would it take to see one?
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from isogloss.lazy import name_package_after, submodules
from isogloss.version import __version__

# Packages, the base class of all errors, and the commands as functions.
__all__ = ["IsoglossError", "__version__", "analysis", "checklist", "data", "errors", "languages", "metrics"]
__all__ += ["predictions", "runs"]
__all__ += ["scoring", "systems", "tasks", "training", "translation"]
__all__ += ["analyze", "build_board", "build_checklist", "build_mewslix", "check_lines", "check_task"]
__all__ += ["check_translations", "compare", "explain", "export", "fetch", "import_files", "import_table", "load"]
__all__ += ["new_task", "plan", "predict", "report", "run", "score", "search", "select", "task", "tasks_from", "train"]
__all__ += ["translate", "validate"]  # not `list`: after `from isogloss import *` it would hide the built-in type

if TYPE_CHECKING:
    from isogloss import (
        analysis,
        checklist,
        data,
        errors,
        languages,
        metrics,
        predictions,
        runs,
        scoring,
        systems,
        tasks,
        training,
        translation,
    )
    from isogloss.analysis.api import analyze
    from isogloss.analysis.checkpoint_selection import select
    from isogloss.analysis.study_plan import plan
    from isogloss.board.site import build_board
    from isogloss.building.mewslix import build_mewslix
    from isogloss.checklist.build import build_checklist
    from isogloss.data.fetch.api import fetch
    from isogloss.errors import IsoglossError
    from isogloss.explain.analysis import explain
    from isogloss.predictions.export import export
    from isogloss.predictions.importers import import_files, import_table
    from isogloss.predictions.validate import validate
    from isogloss.runs.api import predict, run, train
    from isogloss.runs.sharded_search import search
    from isogloss.runs.translating import translate
    from isogloss.runs.translation_checks import check_lines, check_translations
    from isogloss.scoring.compare import compare
    from isogloss.scoring.score import score
    from isogloss.site.write import report
    from isogloss.tables.list_verb import list as list  # noqa: A004 - the name of the verb, for `isogloss.list`
    from isogloss.tasks.api import task
    from isogloss.tasks.checking.check import check_task
    from isogloss.tasks.declaring.guess import new_task
    from isogloss.tasks.loading import load
    from isogloss.tasks.task_sources import tasks_from
else:
    _FUNCTIONS = {
        "IsoglossError": "errors",
        "list": "tables.list_verb",
        "fetch": "data.fetch.api",
        "task": "tasks.api",
        "tasks_from": "tasks.task_sources",
        "new_task": "tasks.declaring.guess",
        "check_task": "tasks.checking.check",
        "load": "tasks.loading",
        "score": "scoring.score",
        "compare": "scoring.compare",
        "plan": "analysis.study_plan",
        "validate": "predictions.validate",
        "explain": "explain.analysis",
        "analyze": "analysis.api",
        "select": "analysis.checkpoint_selection",
        "export": "predictions.export",
        "import_files": "predictions.importers",
        "import_table": "predictions.importers",
        "build_board": "board.site",
        "build_checklist": "checklist.build",
        "build_mewslix": "building.mewslix",
        "predict": "runs.api",
        "run": "runs.api",
        "train": "runs.api",
        "search": "runs.sharded_search",
        "report": "site.write",
        "translate": "runs.translating",
        "check_translations": "runs.translation_checks",
        "check_lines": "runs.translation_checks",
    }
    _module = submodules(__name__, [name for name in __all__ if name not in _FUNCTIONS])

    class _Package(ModuleType):
        """Package in which `explain` stays the command after the package of the same name is imported."""

        def __setattr__(self, name: str, value: Any) -> None:
            if not (name in _FUNCTIONS and isinstance(value, ModuleType)):
                super().__setattr__(name, value)

    sys.modules[__name__].__class__ = _Package

    def __getattr__(name: str) -> Any:
        """Import commands and submodules on first use, so that importing isogloss is cheap."""
        if name not in _FUNCTIONS:
            return _module(name)
        function = getattr(import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
        if (package := sys.modules.get(f"{__name__}.{name}")) is not None:
            name_package_after(function, package)
        return function

    def __dir__() -> Any:
        return sorted([*__all__, "list"])
