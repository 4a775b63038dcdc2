"""What happens at a checkpoint: all languages are asked, and the weights that a rule may choose are kept."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.systems.base import Studio
from isogloss.systems.neural.progress import Display
from isogloss.systems.neural.skill import Skill
from isogloss.systems.neural.weights import save, step_name
from isogloss.tasks.examples import Examples
from isogloss.training.record import CheckpointRecord, Questions
from isogloss.training.selection import Choice, Row, choose, dev_scores, judges

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import Moment

__all__ = ["Observer"]


class Observer:
    """Watches a run: records its checkpoints, keeps the best weights, and says when it has converged.

    Args:
        skill: how the model is asked.
        studio: the dev and test sets, and the folder of the record.
        languages: those that are recorded.
        seed: of the run.
        weights: folder of the weights.
        display: is told.

    Attributes:
        notes: what could not be asked, and why.
        failure: what went wrong, where something did: the run ends then, in every process, and it is raised after.
    """

    def __init__(
        self, skill: Skill, studio: Studio, languages: list[str], seed: int, weights: Path, display: Display
    ) -> None:
        recipe = skill.recipe
        self.skill, self.languages, self.weights, self.display = skill, languages, weights, display
        judging = {*judges(recipe.select, languages), *(("en",) if recipe.patience else ())}
        wanted = [(code, split) for code in languages for split in ("dev", "test")]
        wanted += [(code, "dev") for code in sorted(judging)]

        def find(language: str, split: str) -> Examples:
            examples = studio.examples(language, split)
            skill.check(examples)
            return examples

        questions = Questions.of(find, wanted, {"dev": recipe.dev_examples, "test": recipe.test_examples})
        self.record = CheckpointRecord(studio.folder, skill.task, seed, questions.asked)
        self.notes = list(questions.notes)
        self.failure: Exception | None = None

    def __call__(self, moment: "Moment", model: "nn.Module") -> bool:
        """Ask and record; True where the run has converged."""
        try:
            self._observe(moment, model)
        except Exception as error:  # in one process of many: raised here, it would leave the others waiting
            self.failure = error
            return True
        return self._converged(moment.step)

    def _observe(self, moment: "Moment", model: "nn.Module") -> None:
        step = moment.step
        self.record.add(step, lambda examples: self.skill.answers(model, examples))
        rows = [row for row in self.record.rows if row.step == step]
        scores = {code: dev_scores(rows, code, self.skill.task.main) for code in dict.fromkeys((*self.languages, "en"))}
        self.display.checkpoint(step, moment.steps, moment.loss, {code: of[step] for code, of in scores.items() if of})
        self._keep(step, model)

    def _rows(self, until: int) -> list[Row]:
        """The dev scores up to an update: a resumed run has seen later ones in an earlier life."""
        return [row for row in self.record.rows if row.step <= until]

    def _choices(self, until: int) -> dict[str, Choice]:
        rows, steps = self._rows(until), [step for step in self.record.steps if step <= until]
        rule, main = self.skill.recipe.select, self.skill.task.main
        return {code: choose(rows, steps, rule, code, main) for code in self.languages}

    def _keep(self, step: int, model: "nn.Module") -> None:
        """Save these weights where they are the best so far, and remove those that are no longer."""
        wanted = {step_name(choice.step) for choice in self._choices(step).values() if choice.by != "last"}
        now = self.weights / step_name(step)
        if now.name in wanted and not now.exists():
            save(model, now, self.skill.source.tokenizer)
        for folder in self.weights.glob(step_name("*")):
            if folder.name not in wanted:
                shutil.rmtree(folder)

    def _converged(self, step: int) -> bool:
        patience = self.skill.recipe.patience
        scores = dev_scores(self._rows(step), "en", self.skill.task.main) if patience else {}
        if not scores:
            return False
        best = max(scores, key=lambda at: (scores[at], -at))
        return sum(at > best for at in scores) >= patience

    def conclude(self, last: int) -> dict[str, Choice]:
        """Complete the record; gives the checkpoint that answers in each language."""
        chosen = self._choices(last)
        unjudged = [code for code, choice in chosen.items() if choice.by == "last"]
        if unjudged and self.skill.recipe.select != "last":
            self.display.say(f"no dev set to choose by: the last checkpoint answers in {', '.join(unjudged)}")
        self.record.conclude(last)
        # The last weights are kept as such.
        shutil.rmtree(self.weights / step_name(last), ignore_errors=True)
        if self.skill.recipe.patience and not dev_scores(self._rows(last), "en", self.skill.task.main):
            self.notes.append("there is no English dev set to see convergence by")
        return chosen
