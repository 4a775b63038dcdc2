"""Checkpoint callbacks: predict all languages, and save weights that may be chosen; one run may serve several fits."""

import dataclasses
import math
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.systems.base import FitContext
from isogloss.systems.neural.fit_log import LAST, WEIGHTS, FitLog, finish_log, step_name, write_fit_log
from isogloss.systems.neural.progress import ProgressDisplay
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.pretrained import Model, save
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task
from isogloss.training.checkpoint_record import SHARDS, CheckpointRecord, is_damaged, probe_sets, subset
from isogloss.training.objective import TrainingObjective
from isogloss.training.selection import ChosenCheckpoint, choose, dev_scores, selecting_languages

if TYPE_CHECKING:
    from isogloss.training.loop import CheckpointInfo, TrainingResult

STATE = "state"
_SHOWN = 3  # notes of a kind
_PATIENCE_RULE = "training-dev"  # decides convergence


@dataclass(eq=False, kw_only=True)
class CheckpointCallback:
    """A fit in its folder, with its log: records checkpoints, saves the best weights, and detects convergence."""

    adapter: TaskAdapter
    context: FitContext
    train: Examples
    log: FitLog
    display: ProgressDisplay
    failure: Exception | None = field(default=None, init=False)  # ends the run in every process; raised afterwards

    def __post_init__(self) -> None:
        self.folder, languages = self.context.folder, self.log.languages
        self.trained_on = self.context.dev_languages or tuple(self.train.language.split("+"))
        adapter, recipe = self.adapter, self.adapter.recipe
        selecting = selecting_languages(recipe.select, languages, self.trained_on)
        patient = selecting_languages(_PATIENCE_RULE, languages, self.trained_on)
        by_loss = recipe.select == "dev-loss"
        scored = {*(() if by_loss else selecting), *(patient if recipe.patience else ())}
        wanted = {
            (code, split): limit
            for code in languages
            for split, limit in (("dev", recipe.dev_examples), ("test", recipe.test_examples))
        } | {(code, "dev"): recipe.selecting_examples for code in sorted(scored)}

        def find(language: str, split: str) -> Examples:
            examples = self._examples(language, split)
            adapter.check(examples)
            return examples

        probes, unpredicted = probe_sets(find, wanted)
        self._losses: dict[str, TrainingObjective] = {}
        missing_losses = self._find_dev_objectives(selecting) if by_loss else {}
        self.notes = [*unpredicted.values(), *missing_losses.values()]  # sets that could not be predicted, and why
        self.record = CheckpointRecord(
            self.folder,
            adapter.task,
            self.log.seed,
            probes,
            selecting_languages=scored,
            loss_languages=self._losses.keys(),
            dev_task=adapter.dev_task,
        )
        left_out = {code: note for (code, split), note in unpredicted.items() if split == "dev"}
        left_out = missing_losses if by_loss else left_out
        missing = [note for code, note in left_out.items() if code in {*scored, *selecting}]
        for note in missing[:_SHOWN]:
            self.display.say(f"{note}; using the last checkpoint instead")
        if more := len(missing[_SHOWN:]):
            self.display.say(f"the same for {more} more language{'' if more == 1 else 's'}")

    def _examples(self, language: str, split: str) -> Examples:
        """Return examples of the task, or the dev sets of the training task if that is different."""
        dev_task, root = self.adapter.dev_task, self.train.root
        if split == "dev" and dev_task.id == self.train.task:
            self._check_held_out()
        if split != "dev" or dev_task is self.adapter.task:
            return self.context.examples(language, split)
        if root is None:
            raise DataError(f"no data folder with dev sets for the training set of {dev_task.id}")
        return load(dev_task, language, split, root)

    def _check_held_out(self) -> None:
        """Raise a MissingDataError if the dev split of the training task is part of the training set."""
        if find_task(self.train.task).dev_from_train and not self.adapter.recipe.hold_out:
            raise MissingDataError("it is part of the training set", fix="Set hold_out = true")

    def _find_dev_objectives(self, languages: tuple[str, ...]) -> dict[str, str]:
        """Find the training tasks' dev sets as objectives, and return a note for each language without one."""
        missing: dict[str, str] = {}
        context = dataclasses.replace(self.context, examples=self._examples)
        for language in languages:
            try:
                self._check_held_out()
                examples = subset(context.training_dev(language), self.adapter.recipe.selecting_examples)
                self._losses[language] = self.adapter.objective(examples)
            except IsoglossError as error:
                if is_damaged(error):
                    raise
                missing[language] = f"{language} dev loss: {error.what}"
        return missing

    def __call__(self, checkpoint: "CheckpointInfo", model: Model) -> bool:
        """Predict and record a checkpoint; return True if the run has converged."""
        try:
            self._record(checkpoint, model)
        except Exception as error:  # raising here, in one process of many, would leave the others waiting
            self.failure = error
            return True
        patience = self.adapter.recipe.patience
        best = self._best_for_patience() if patience else None
        return (
            best is not None and best.by != "last" and sum(step > best.step for step in self.record.steps) >= patience
        )

    def _record(self, checkpoint: "CheckpointInfo", model: Model) -> None:
        """Predict and record a checkpoint; save its weights if they are the best so far, and remove superseded ones."""
        from isogloss.training.inference import mean_loss

        step, recipe = checkpoint.step, self.adapter.recipe
        losses = {code: (mean_loss(model, items, recipe), len(items)) for code, items in self._losses.items()}
        self.record.add(step, lambda examples: self.adapter.predict(model, examples), losses)
        rows = [row for row in self.record.rows if row.step == step]
        languages = dict.fromkeys((*self.log.languages, "en"))
        scores = {code: dev_scores(rows, code, self.adapter.dev_task.main) for code in languages}
        dev = {code: by_step[step] for code, by_step in scores.items() if by_step}
        self.display.checkpoint(step, checkpoint.steps, checkpoint.loss, dev)
        # The best weights as of the last state stay: a killed run resumes there and could not recreate them.
        wanted = self._steps_to_keep(step) | self._steps_to_keep(checkpoint.kept)
        if step_name(step) in wanted:
            save(model, self.folder / WEIGHTS / step_name(step), self.adapter.source.tokenizer)
        self._remove_weights(but=wanted)

    def _steps_to_keep(self, until: int) -> set[str]:
        """Return the checkpoints that would be kept if the run ended at an update, besides the last."""
        rules = (self.adapter.recipe.select, *(("target-dev",) if self.adapter.recipe.keep_weights == "oracle" else ()))
        choices = [choice for rule in rules for choice in self._choices(until, rule).values()]
        return {step_name(choice.step) for choice in choices if choice.by != "last"}

    def _choices(self, until: int, rule: str = "") -> dict[str, ChosenCheckpoint]:
        """Return the checkpoints chosen by a rule, the recipe's by default, if the run ended at an update."""
        steps = [step for step in self.record.steps if step <= until]
        rows = [row for row in self.record.rows if row.step <= until]
        rule, main = rule or self.adapter.recipe.select, self.adapter.dev_task.main
        return {code: choose(rows, steps, rule, code, main, self.trained_on) for code in self.log.languages if steps}

    def _remove_weights(self, but: set[str]) -> None:
        # Including unfinished ones, with names that start with a dot.
        for folder in (self.folder / WEIGHTS).glob(f"*{step_name('*')}"):
            if folder.name not in but:
                shutil.rmtree(folder)

    def _best_for_patience(self) -> ChosenCheckpoint:
        """Return the best checkpoint by the dev sets that decide convergence, or `last` if there are none."""
        rows, steps, main = self.record.rows, self.record.steps, self.adapter.dev_task.main
        return choose(rows, steps, _PATIENCE_RULE, "", main, self.trained_on)

    def finish(
        self, model: Model, trained: "TrainingResult", notes: list[str], tasks: list[str]
    ) -> dict[str, ChosenCheckpoint]:
        """Save the last weights, complete record and log, and return the chosen checkpoint of each language."""
        if self.failure is not None:
            raise self.failure
        save(model, self.folder / WEIGHTS / LAST, self.adapter.source.tokenizer)
        last, chosen = trained.steps, self._choices(trained.steps)
        self.record.finish()
        # The last weights are stored separately.
        self._remove_weights(but=self._steps_to_keep(last) - {step_name(last)})
        self.notes += self.record.notes
        if self.adapter.recipe.patience and self._best_for_patience().by == "last":
            self.notes.append("no dev set to detect convergence")
        log = finish_log(self.log, trained, self.record.steps, chosen, [*self.notes, *notes])
        seconds = log.seconds if not tasks or tasks[0] == log.task else 0.0
        write_fit_log(self.folder, replace(log, shared_training=tasks, seconds=seconds))
        remove(self.folder, STATE, SHARDS)
        return chosen


def has_state(folder: Path) -> bool:
    """Return True if the folder holds an interrupted training run."""
    return any((folder / STATE).glob("*.pt"))


def remove(folder: Path, *names: str) -> None:
    """Remove folders of a fit, ignoring missing ones."""
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)


@dataclass
class SharedTraining:
    """A training run with its state in the first fit's folder; others that fail or miss a checkpoint leave it."""

    first: CheckpointCallback
    others: list[CheckpointCallback] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)  # tasks already served before a kill

    @property
    def tasks(self) -> list[str]:
        """The tasks served, if more than one."""
        others = [*self.finished, *(fit.log.task for fit in self.others)]
        return [self.first.log.task, *others] if others else []

    def served(self, log: FitLog) -> bool:
        """Return True if a fit was served up to the state that training resumes from."""
        return has_state(self.first.folder) and log.shared_training == self.first.log.shared_training != []

    def begin(self) -> None:
        """Record the served tasks, unless training resumes: they then have it in their logs."""
        if self.others:
            self.first.display.say(f"training run shared with {', '.join(self.tasks[1:])}")
        for fit in () if has_state(self.first.folder) else (*self.others, self.first):
            if fit.log.shared_training != self.tasks:
                fit.log = replace(fit.log, shared_training=self.tasks)
                write_fit_log(fit.folder, fit.log)

    def __call__(self, checkpoint: "CheckpointInfo", model: Model) -> bool:
        """Record a checkpoint for every fit; return True if the first has failed."""
        self._leave_behind(checkpoint.step)
        if self.first(checkpoint, model):
            return True
        for other in list(self.others):
            if other(checkpoint, model):
                self._leave(other, str(other.failure))
        return False

    def _leave_behind(self, before: float = math.inf) -> None:
        """Drop fits that have not recorded the same checkpoints as the first."""
        for other in list(self.others):
            first, own = ([step for step in fit.record.steps if step < before] for fit in (self.first, other))
            if own != first:
                self._leave(other, "it missed checkpoints")

    def _leave(self, other: CheckpointCallback, why: str) -> None:
        other.display.say(f"no longer trained together with {self.first.log.task}: {why}")
        self.others.remove(other)

    def finish(self, model: Model, trained: "TrainingResult", notes: list[str]) -> dict[str, ChosenCheckpoint]:
        """Finish every fit, and return the result of the first."""
        # The first is finished last: a kill before that leaves its state, from which the others can be finished.
        if self.first.failure is None:
            self._leave_behind()
            tasks = self.tasks
            for other in list(self.others):
                try:
                    other.finish(model, trained, notes, tasks)
                except Exception as error:  # a full disk, say
                    self._leave(other, str(error))
        return self.first.finish(model, trained, notes, self.tasks)
