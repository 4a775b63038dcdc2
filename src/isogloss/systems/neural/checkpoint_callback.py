"""What happens at a checkpoint: all languages are predicted, and the weights that a rule may choose are kept."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.systems.base import FitContext
from isogloss.systems.neural.progress import ProgressDisplay
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.neural.weights import save, step_name
from isogloss.tasks.examples import Examples
from isogloss.training.checkpoint_record import CheckpointRecord, ProbeSet
from isogloss.training.selection import ChosenCheckpoint, choose, dev_scores, selecting_languages

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import CheckpointInfo

_SHOWN = 3  # of many notes of a kind


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
        seed: int,
        weights: Path,
        display: ProgressDisplay,
    ) -> None:
        recipe = adapter.recipe
        self.adapter, self.languages, self.weights, self.display = adapter, languages, weights, display
        selecting = {*selecting_languages(recipe.select, languages), *(("en",) if recipe.patience else ())}
        wanted = [(code, split) for code in languages for split in ("dev", "test")]
        wanted += [(code, "dev") for code in sorted(selecting)]

        def find(language: str, split: str) -> Examples:
            examples = context.examples(language, split)
            adapter.check(examples)
            return examples

        probes = ProbeSet.of(find, wanted, {"dev": recipe.dev_examples, "test": recipe.test_examples})
        self.record = CheckpointRecord(
            context.folder, adapter.task, seed, probes.examples, selecting, dev_task=adapter.dev_task
        )
        self.notes = list(probes.notes)
        self._warn([note for note in self.notes if note.startswith(tuple(f"{code} dev: " for code in selecting))])
        self.failure: Exception | None = None

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
        step = checkpoint.step
        self.record.add(step, lambda examples: self.adapter.predict(model, examples))
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
        return {code: choose(rows, steps, rule, code, main) for code in self.languages if steps}

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
        patience = self.adapter.recipe.patience
        scores = dev_scores(self.record.rows, "en", self.adapter.dev_task.main) if patience else {}
        if not scores:
            return False
        best = max(scores, key=lambda at: (scores[at], -at))
        return sum(at > best for at in scores) >= patience

    def finish(self, last: int) -> dict[str, ChosenCheckpoint]:
        """Complete the record; gives the checkpoint that answers in each language."""
        chosen = self._choices(last)
        self.record.finish()
        # The last weights are kept as such.
        self._remove_weights(but={step_name(choice.step) for choice in chosen.values() if choice.step != last})
        self.notes += self.record.notes
        if self.adapter.recipe.patience and not dev_scores(self.record.rows, "en", self.adapter.dev_task.main):
            self.notes.append("there is no English dev set to see convergence by")
        return chosen
