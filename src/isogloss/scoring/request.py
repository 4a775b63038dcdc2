"""The cells to score, and how."""

import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Never, TypedDict, TypeVar

from isogloss.errors import PredictionError, named, unknown
from isogloss.metrics import qa
from isogloss.notebooks import short_repr
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.guide import Guides, open_guides
from isogloss.predictions.memory import PredictionSource
from isogloss.predictions.subset import Subset, read_subset
from isogloss.tasks.loading import data_folder
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS, PSEUDO_SPLITS, is_pseudo, pseudo_languages
from isogloss.tasks.registry import chosen_tasks, no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import Suite
from isogloss.tasks.suites import suite as find_suite
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import use_tasks_of

# Unit of resampling: sources with all their examples, or single examples with their translations.
Resample = Literal["source", "example"]
RESAMPLES: tuple[Resample, ...] = ("source", "example")


class SelectionOptions(TypedDict, total=False):
    """Options of `score`, `compare` and other commands over predictions; `score` documents them."""

    gold: str | os.PathLike[str] | None
    split: str
    tasks: Sequence[str] | None
    languages: Sequence[str] | None
    allow_partial: bool
    resample: Resample
    strict: bool


class SubsetOptions(TypedDict, total=False):
    """Options of `score` and `compare` for answers to a subset of the examples; `score` documents them."""

    subset: str | os.PathLike[str] | None
    guide: Guides


class ScoreOptions(SelectionOptions, SubsetOptions, total=False):
    """`SelectionOptions` and `SubsetOptions` with suite and data folder."""

    suite: str
    data: str | os.PathLike[str] | None


@dataclass(frozen=True, kw_only=True)
class Request:
    """Selection of cells to score, and how; `dialect` is that of question answering, "" for each task's own.

    With `pseudo`, languages that a task does not have are scored on their pseudo test sets, outside of every average.
    """

    suite: Suite
    tasks: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    split: str = "test"
    data: Path | None = None
    gold: Path | None = None
    allow_partial: bool = False
    resample: Resample = "source"
    strict: bool = False
    dialect: str = ""
    pseudo: bool = False
    subset: Subset | None = None  # cells of which only drawn examples are answered
    guides: tuple[PredictionSource, ...] = ()  # control variates of the subset's cells

    __repr__ = short_repr

    @classmethod
    def of(  # noqa: PLR0913 - the options of the commands
        cls,
        suite: str = "xtreme-r",
        *,
        tasks: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        split: str = "test",
        data: str | os.PathLike[str] | None = None,
        gold: str | os.PathLike[str] | None = None,
        allow_partial: bool = False,
        resample: Resample = "source",
        strict: bool = False,
        dialect: str = "",
        pseudo: bool = False,
        subset: str | os.PathLike[str] | None = None,
        guide: "Guides" = None,
        **misspelt: Never,
    ) -> "Request":
        """Return a request from user input; unknown names raise an error."""
        for name in misspelt:
            raise unknown("option", name, request_options())
        use_tasks_of(data)
        tasks, languages = named("task", tasks), named("language", languages)
        chosen_suite = find_suite(*named("suite", [suite]) or ())
        if split not in _SPLITS:
            raise unknown("split", split, _SPLITS)
        if resample not in RESAMPLES:
            raise unknown("unit to resample", resample, RESAMPLES)
        if dialect and dialect not in qa.DIALECTS:
            raise unknown("dialect of question answering", dialect, qa.DIALECTS)
        guides = open_guides(guide)
        if guides and subset is None:
            raise PredictionError("a guide is for answers to a subset", fix="Pass the subset file, or no guide")
        names = chosen_tasks(tasks, chosen_suite.tasks)
        codes = None
        if languages is not None:
            codes = tuple(code for word in languages for code in word.split(",") if code)
            folder, chosen = data_folder(data), map(find_task, names)
            available = {code for task in chosen for code in _languages(task, split, folder, pseudo=pseudo)}
            for code in codes:
                if code not in available:
                    raise no_language(" or ".join(names) if len(names) < 4 else chosen_suite.id, code, available)
        return cls(
            suite=chosen_suite,
            tasks=names,
            languages=codes,
            split=split,
            data=data_folder(data),
            gold=None if gold is None else Path(gold),
            allow_partial=allow_partial,
            resample=resample,
            strict=strict,
            dialect=dialect,
            pseudo=pseudo,
            subset=None if subset is None else read_subset(subset),
            guides=guides,
        )

    def task(self, name: str) -> Task:
        """Return a task by name; question answering uses the dialect of the request."""
        task = find_task(name)
        in_dialect = self.dialect and task.dialect in qa.DIALECTS
        return replace(task, options={**task.options, "dialect": self.dialect}) if in_dialect else task

    @property
    def gold_source(self) -> GoldSource:
        """Source of the gold."""
        return GoldSource(self.data, self.gold, self.allow_partial, self.subset)

    @property
    def pseudo_split(self) -> str:
        """Split of the requested pseudo test sets, "" if none are requested."""
        if is_pseudo(self.split):
            return self.split
        return PSEUDO_SPLITS[self.split] if self.pseudo else ""

    def splits_of(self, task: Task, language: str) -> tuple[str, ...]:
        """Return the splits of a cell in order of preference; the first one with gold is scored."""
        if self.pseudo_split and (is_pseudo(self.split) or language not in task.every_language):
            return (self.pseudo_split,)
        return ("test", "dev") if self.split == "best" else (self.split,)

    def languages_of(self, task: Task) -> tuple[str, ...]:
        """Return the requested languages of a task."""
        if self.languages is None and not self.pseudo_split:
            return self.suite.languages_of(task.id)
        human = () if is_pseudo(self.split) else self.suite.languages_of(task.id)
        every = _languages(task, self.split, self.data, pseudo=self.pseudo)
        if self.languages is None:
            return (*human, *(code for code in every if code not in task.every_language or is_pseudo(self.split)))
        return tuple(code for code in self.languages if code in every)

    def averaged_languages(self, task: Task) -> tuple[str, ...]:
        """Return the languages in a task's average: those of the suite, or all with a pseudo set in a pseudo split."""
        return _languages(task, self.split, self.data) if is_pseudo(self.split) else self.suite.languages_of(task.id)


def request_options() -> dict[str, inspect.Parameter]:
    """Return the options of `Request.of` by name."""
    parameters = inspect.signature(Request.of).parameters
    return {name: each for name, each in parameters.items() if each.kind is not each.VAR_KEYWORD}


Function = TypeVar("Function", bound=Callable[..., Any])


def lists_options(options: type) -> Callable[[Function], Function]:
    """Return a decorator that lists `**options` by name in a function's signature, for help and notebooks.

    Args:
        options: typed dictionary of options of `Request.of`.
    """

    def listed(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        taken = {each.name for each in own}
        further = [
            each.replace(kind=each.KEYWORD_ONLY)
            for name, each in request_options().items()
            if name in options.__annotations__ and name not in taken
        ]
        function.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        return function

    return listed


_SPLITS = ("test", "dev", "best", *ORIGINAL_SPLITS)


def _languages(task: Task, split: str, data: Path | None, *, pseudo: bool = False) -> tuple[str, ...]:
    """Return all languages of a task in a split; with `pseudo`, also those with a pseudo set only."""
    if is_pseudo(split):
        return pseudo_languages(task, split, data)
    human = task.every_language
    further = pseudo_languages(task, PSEUDO_SPLITS[split], data) if pseudo else ()
    return (*human, *(code for code in further if code not in human))
