"""What happens at a checkpoint: all languages are predicted, and the weights that a rule may choose are kept."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.errors import DataError, IsoglossError
from isogloss.systems.base import FitContext
from isogloss.systems.neural.progress import ProgressDisplay
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.neural.weights import save, step_name
from isogloss.tasks.examples import Examples
from isogloss.training.checkpoint_record import CheckpointRecord, ProbeSet, subset
from isogloss.training.objective import TrainingObjective
from isogloss.training.selection import ChosenCheckpoint, choose, dev_scores, selecting_languages

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import CheckpointInfo

_SHOWN = 3  # of many notes of a kind
_PATIENCE_RULE = "training-dev"  # by which it is seen that training has converged


class CheckpointCallback:
    """Called at checkpoints: records them, keeps the best weights, and says when training has converged.

    Attributes:
        notes: what could not be predicted, and why.
        failure: what went wrong, where something did: the run ends then, in every process, and it is raised after.
    """

    def __init__(
        self,
        adapter: TaskAdapter,
        context: FitContext,
        languages: list[str],
        trained_on: tuple[str, ...],
        seed: int,
        weights: Path,
        display: ProgressDisplay,
    ) -> None:
        recipe = adapter.recipe
        self.adapter, self.languages, self.trained_on = adapter, languages, trained_on
        self.weights, self.display = weights, display
        looked_at = selecting_languages(recipe.select, languages, trained_on)
        patient = selecting_languages(_PATIENCE_RULE, languages, trained_on)
        by_loss = recipe.select == "dev-loss"
        selecting = {*(() if by_loss else looked_at), *(patient if recipe.patience else ())}
        wanted = {
            (code, split): limit
            for code in languages
            for split, limit in (("dev", recipe.dev_examples), ("test", recipe.test_examples))
        } | {(code, "dev"): recipe.selecting_examples for code in sorted(selecting)}

        def find(language: str, split: str) -> Examples:
            examples = context.examples(language, split)
            adapter.check(examples)
            return examples

        probes = ProbeSet.of(find, wanted)
        self.notes = list(probes.notes)
        self._losses = self._dev_objectives(context, looked_at) if by_loss else {}
        self.record = CheckpointRecord(
            context.folder,
            adapter.task,
            seed,
            probes.examples,
            selecting,
            self._losses.keys(),
            dev_task=adapter.dev_task,
        )
        deciding = tuple(f"{code} dev{' loss' if by_loss else ''}: " for code in {*selecting, *looked_at})
        self._warn([note for note in self.notes if note.startswith(deciding)])
        self.failure: Exception | None = None

    def _dev_objectives(self, context: FitContext, languages: tuple[str, ...]) -> dict[str, TrainingObjective]:
        """The dev sets of what it learns from as objectives; a note on those that are not there."""
        found = {}
        for language in languages:
            try:
                examples = subset(context.training_dev(language), self.adapter.recipe.selecting_examples)
                found[language] = self.adapter.objective(examples)
            except IsoglossError as error:
                if isinstance(error, DataError) and error.where:  # a damaged file
                    raise
                self.notes.append(f"{language} dev loss: {error.what}")
        return found

    def _warn(self, missing: list[str]) -> None:
        """Say before training that a dev set which should choose is not there."""
        for note in missing[:_SHOWN]:
            self.display.say(f"{note}; the last checkpoint answers where it should have chosen")
        if len(missing) > _SHOWN:
            self.display.say(f"and so with {len(missing) - _SHOWN} further languages")

    def __call__(self, checkpoint: "CheckpointInfo", model: "nn.Module") -> bool:
        """Predict and record; True where the run has converged."""
        try:
            self._record(checkpoint, model)
        except Exception as error:  # in one process of many: raised here, it would leave the others waiting
            self.failure = error
            return True
        return self._converged()

    def _record(self, checkpoint: "CheckpointInfo", model: "nn.Module") -> None:
        from isogloss.training.dev_loss import mean_loss

        step = checkpoint.step
        losses = {
            language: (mean_loss(model, objective, self.adapter.recipe), len(objective))
            for language, objective in self._losses.items()
        }
        self.record.add(step, lambda examples: self.adapter.predict(model, examples), losses)
        rows = [row for row in self.record.rows if row.step == step]
        scores = {
            code: dev_scores(rows, code, self.adapter.dev_task.main) for code in dict.fromkeys((*self.languages, "en"))
        }
        dev = {code: by_step[step] for code, by_step in scores.items() if by_step}
        self.display.checkpoint(step, checkpoint.steps, checkpoint.loss, dev)
        self._save_if_chosen(checkpoint, model)

    def _choices(self, until: int) -> dict[str, ChosenCheckpoint]:
        """What would answer if the run had ended at an update; nothing before the first checkpoint."""
        steps = [step for step in self.record.steps if step <= until]
        rows = [row for row in self.record.rows if row.step <= until]
        rule, main = self.adapter.recipe.select, self.adapter.dev_task.main
        return {code: choose(rows, steps, rule, code, main, self.trained_on) for code in self.languages if steps}

    def _save_if_chosen(self, checkpoint: "CheckpointInfo", model: "nn.Module") -> None:
        """Save these weights where they are the best so far, and remove those that are no longer.

        Those that were the best at the last state stay: a kill leads back there, and they could not be made again.
        """
        choices = [*self._choices(checkpoint.step).values(), *self._choices(checkpoint.kept).values()]
        wanted = {step_name(choice.step) for choice in choices if choice.by != "last"}
        now = self.weights / step_name(checkpoint.step)
        if now.name in wanted:
            save(model, now, self.adapter.source.tokenizer)
        self._remove_weights(but=wanted)

    def _remove_weights(self, but: set[str]) -> None:
        # Unfinished ones as well, whose names have a dot before.
        for folder in self.weights.glob(f"*{step_name('*')}"):
            if folder.name not in but:
                shutil.rmtree(folder)

    def _converged(self) -> bool:
        patience, steps = self.adapter.recipe.patience, self.record.steps
        if not patience:
            return False
        best = self._best_for_patience(steps)
        return best.by != "last" and sum(step > best.step for step in steps) >= patience

    def _best_for_patience(self, steps: list[int]) -> ChosenCheckpoint:
        """The best so far by the dev sets that tell when training has converged; `last` where there are none."""
        return choose(self.record.rows, steps, _PATIENCE_RULE, "", self.adapter.dev_task.main, self.trained_on)

    def finish(self, last: int) -> dict[str, ChosenCheckpoint]:
        """Complete the record; gives the checkpoint that answers in each language."""
        chosen = self._choices(last)
        self.record.finish()
        # The last weights are kept as such.
        self._remove_weights(but={step_name(choice.step) for choice in chosen.values() if choice.step != last})
        self.notes += self.record.notes
        if self.adapter.recipe.patience and self._best_for_patience(self.record.steps).by == "last":
            self.notes.append("there is no dev set to see convergence by")
        return chosen
