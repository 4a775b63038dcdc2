"""One fit: stages, training, the record of its checkpoints, and the weights of those that answer."""

import hashlib
import shutil
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.errors import unknown
from isogloss.systems.base import Studio, SystemFailureError
from isogloss.systems.neural.account import Account, described, finished, read_account, write_account
from isogloss.systems.neural.observer import Observer
from isogloss.systems.neural.progress import Display, shown
from isogloss.systems.neural.skill import Skill
from isogloss.systems.neural.stages import stage
from isogloss.systems.neural.weights import LAST, restore, save, step_name
from isogloss.tasks.examples import Examples
from isogloss.training import processes
from isogloss.training.record import ANSWERS, SCORES, SHARDS
from isogloss.training.selection import Choice, judges
from isogloss.version import __version__

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import Trained

__all__ = ["Course", "Taught"]

STATE, WEIGHTS = "state", "weights"


@dataclass
class Taught:
    """A model that has learnt, with the weights of the checkpoint that each language is answered by.

    Attributes:
        weights: the folder of weights; None where only those of `model` are there.
        chosen: the checkpoint of each language.
        updates: the last checkpoint, whose weights are kept as such.
        loaded: which weights the model has now.
    """

    model: "nn.Module"
    weights: Path | None = None
    chosen: dict[str, Choice] = field(default_factory=dict)
    updates: int = 0
    loaded: str = LAST

    def of(self, language: str) -> "nn.Module":
        """The model as it answers in a language."""
        if self.weights is not None:
            # Where one checkpoint answers all, it answers also in languages that nobody had asked for.
            choice = self.chosen.get(language) or next(iter(self.chosen.values()))
            wanted = LAST if choice.step == self.updates else step_name(choice.step)
            if wanted != self.loaded:
                restore(self.model, self.weights / wanted)
                self.loaded = wanted
        return self.model


@dataclass(frozen=True)
class Course:
    """A task to be learnt by a model from examples.

    Attributes:
        skill: how the task is put to the model.
        train: the examples; None leaves the model as it is.
        seed: of all that is drawn.
        quiet: show nothing.
    """

    skill: Skill
    train: Examples | None
    seed: int
    quiet: bool = False

    def learn(self, studio: Studio | None) -> Taught:
        """Train, or take up what was begun or finished; processes that train together all call this.

        Nobody else may learn in the same studio meanwhile.

        Raises:
            IsoglossError: there is nothing to learn from, a rule's language is not the task's, training fails, …
        """
        if self.train is None:
            return Taught(_placed(self.skill.open(self.seed)))
        title = f"{self.skill.task.id} seed {self.seed}"
        with shown(title, quiet=self.quiet or not processes.is_main()) as display:
            if studio is None:
                model, _ = self._trained(self.train, None, None, display)
                return Taught(model)
            self._check_rule()
            account = processes.broadcast(self._begun(self.train, studio) if processes.is_main() else None)
            if account.finished:
                model = _placed(self.skill.open(self.seed))
                return Taught(model, studio.folder / WEIGHTS, account.chosen, account.updates, loaded="")
            return self._studied(self.train, studio, account, display)

    def _check_rule(self) -> None:
        of, rule = self.skill.task, self.skill.recipe.select
        known = (*of.languages, *of.also)
        for language in judges(rule, ()):
            if language not in known and rule != "english-dev":
                raise unknown(f"language of {of.id} in {rule}:", language, known)

    def _begun(self, train: Examples, studio: Studio) -> Account:
        """The account of this very fit that is there, or a new one after whatever is there was removed."""
        skill, stages = self.skill, self._stages(train)
        found, fingerprint = read_account(studio.folder), self._fingerprint([train, *stages])
        if found is not None and found.fingerprint == fingerprint:
            one_for_all = found.finished and skill.recipe.select != "target-dev"
            if one_for_all or set(studio.languages) <= set(found.languages):
                return found
        for name in (STATE, WEIGHTS, SHARDS):
            shutil.rmtree(studio.folder / name, ignore_errors=True)
        for name in (SCORES, ANSWERS):
            (studio.folder / name).unlink(missing_ok=True)
        account = Account(
            fingerprint,
            skill.task.id,
            self.seed,
            skill.source.name,
            asdict(skill.recipe),
            described(train),
            list(studio.languages),
            [described(before) for before in stages],
        )
        write_account(studio.folder, account)
        return account

    def _fingerprint(self, sets: list[Examples]) -> str:
        """A hash over everything that decides what is learnt."""
        skill = self.skill
        settings = {at.name: value for at in fields(skill) if isinstance(value := getattr(skill, at.name), str | int)}
        parts = (__version__, type(skill).__name__, settings, skill.source.identity, skill.task.id, self.seed)
        digest = hashlib.sha256(repr((*parts, asdict(skill.recipe))).encode())
        for examples in sets:
            # A part of a training set has the checksum of the whole.
            digest.update("\n".join([examples.task, examples.language, examples.checksum, *examples.ids]).encode())
        return digest.hexdigest()

    def _studied(self, train: Examples, studio: Studio, account: Account, display: Display) -> Taught:
        """Train with a record, and keep what answers."""
        skill, weights = self.skill, studio.folder / WEIGHTS
        observer = None
        if processes.is_main():
            with processes.together():
                observer = Observer(skill, studio, account.languages, self.seed, weights, display)
        model, trained = self._trained(train, studio.folder / STATE, observer, display)
        failure = observer.failure if observer is not None else None
        said = processes.broadcast("" if failure is None else str(failure))
        if failure is not None or said:
            raise failure or SystemFailureError(said)
        if observer is None:
            return Taught(model)
        save(model, weights / LAST, skill.source.tokenizer)
        chosen = observer.conclude(trained.steps)
        absent = [name for name in skill.recipe.stages if stage(name, skill.task, train.root) is None]
        notes = [*observer.notes, *(f"stage {name}: its file is not there, and was left out" for name in absent)]
        steps = [step for step in observer.record.steps if step <= trained.steps]
        write_account(studio.folder, finished(account, trained, steps, chosen, notes))
        observer.record.clear()
        shutil.rmtree(studio.folder / STATE, ignore_errors=True)
        return Taught(model, weights, chosen, trained.steps)

    def _stages(self, train: Examples) -> list[Examples]:
        """The training sets before the last, as far as they are there."""
        found = (stage(name, self.skill.task, train.root) for name in self.skill.recipe.stages)
        return [examples for examples in found if examples is not None]

    def _trained(
        self, train: Examples, state: Path | None, observer: Observer | None, display: Display
    ) -> "tuple[nn.Module, Trained]":
        """The model after all stages, and how the last one went; a run that was killed goes on."""
        from isogloss.training.loop import train as taught

        recipe = self.skill.recipe
        model = self.skill.open(self.seed)
        for number, before in enumerate(self._stages(train)):
            display.say(f"stage {number + 1}: {len(before):,} examples of {', '.join(before.sources)}")
            kept = None if state is None else state / f"stage-{number}.pt"
            taught(model, self.skill.exercise(before), recipe, seed=self.seed, state=kept, report=display, exact=True)
        display.say(f"{len(train):,} examples of {train.task}/{train.language}")
        kept = None if state is None else state / "training.pt"
        watch = observer or (lambda moment, model: False)
        exercise = self.skill.exercise(train)
        return model, taught(model, exercise, recipe, seed=self.seed, state=kept, watch=watch, report=display)


def _placed(model: "nn.Module") -> "nn.Module":
    """A model that is only asked, where this process computes."""
    model.to(processes.device_of()).eval()
    return model
