"""One fit: stages, training, the record of its checkpoints, and the weights of those that answer."""

import dataclasses
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from isogloss.errors import DataError, unknown
from isogloss.systems.base import FitContext, FurtherFit
from isogloss.systems.neural.checkpoint_callback import CheckpointCallback
from isogloss.systems.neural.fit_log import FIT_LOG, FitLog, describe_examples, read_fit_log, write_fit_log
from isogloss.systems.neural.progress import ProgressDisplay, show_progress
from isogloss.systems.neural.recorded_fit import STATE, WEIGHTS, RecordedFit, SharedTraining, has_state, remove
from isogloss.systems.neural.stages import with_stages
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.neural.weights import LAST, restore, step_name
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.training import processes
from isogloss.training.checkpoint_record import ANSWERS, SCORES, SHARDS
from isogloss.training.objective import TrainingObjective
from isogloss.training.selection import ChosenCheckpoint
from isogloss.version import __version__

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import TrainingResult

# A training set, and what a model makes of it.
TrainingStage = tuple[Examples, TrainingObjective]


@dataclass
class FineTunedModel:
    """A model with the weights of the checkpoint that answers in each language.

    Attributes:
        weights: the folder of weights; None where only those of `model` are there.
        chosen: the checkpoint of each language.
        updates: the last checkpoint, whose weights are kept as such.
        loaded: which weights the model has now.
    """

    model: "nn.Module"
    weights: Path | None = None
    chosen: dict[str, ChosenCheckpoint] = field(default_factory=dict)
    updates: int = 0
    loaded: str = LAST

    def for_language(self, language: str) -> "nn.Module":
        """The model as it answers in a language."""
        if self.weights is not None:
            # Where one checkpoint answers all, it answers also in languages that are not in the record.
            choice = self.chosen.get(language) or next(iter(self.chosen.values()))
            wanted = LAST if choice.step == self.updates else step_name(choice.step)
            if wanted != self.loaded:
                restore(self.model, self.weights / wanted)
                self.loaded = wanted
        return self.model


@dataclass(frozen=True)
class FineTuning:
    """A model to be fine-tuned on the examples of a task.

    Attributes:
        adapter: how the task is put to the model.
        train: the examples; None leaves the model as it is.
    """

    adapter: TaskAdapter
    train: Examples | None
    seed: int
    quiet: bool = False

    @property
    def title(self) -> str:
        """What it is called where it is shown."""
        return f"{self.adapter.task.id} seed {self.seed}"

    def fit(
        self, context: FitContext | None, others: "Callable[[], Sequence[FurtherTuning]]" = tuple
    ) -> FineTunedModel:
        """Train, or take up what was begun or finished; processes that train together all call this.

        Nobody else may fit in the same context meanwhile, nor in those of the others.

        Args:
            context: where it learns; None where nothing is kept.
            others: further fits that learn the very same, which this training serves as well where it can; asked for
                in the main process, if it comes to training.

        Raises:
            IsoglossError: there is nothing to learn from, a rule's language is not the task's, training fails, …
        """
        if self.train is None:
            return FineTunedModel(self._load_model())
        with show_progress(self.title, quiet=self.quiet or not processes.is_main()) as display:
            with processes.in_step():
                sets, notes = with_stages(self.adapter.recipe, self.adapter.task, self.train)
            if context is None:
                model, stages = self._prepare(sets)
                self._train(model, stages, None, None, display)
                return FineTunedModel(model)
            self._check_rule()
            log = processes.from_main(lambda: self._begin_or_resume(sets, notes, context))
            if log.finished:
                weights = context.folder / WEIGHTS
                return FineTunedModel(self._load_model(), weights, log.chosen, log.updates, loaded="")
            return self._train_with_log(sets, context, log, others, display)

    def _check_rule(self) -> None:
        task, (rule, _, language) = self.adapter.dev_task, self.adapter.recipe.select.partition(":")
        if language and language not in task.every_language:
            raise unknown(f"language of {task.id} in {rule}:{language}:", language, task.every_language)

    def _begin_or_resume(self, sets: list[Examples], notes: list[str], context: FitContext) -> FitLog:
        """The log of this very fit that is there, or a new one after whatever is there was removed."""
        adapter, folder = self.adapter, context.folder
        found, fingerprint = read_fit_log(folder), self._fingerprint(sets)
        if found is not None and found.fingerprint == fingerprint:
            further = [code for code in context.languages if code not in found.languages]
            # Where each language has its own best checkpoint, all checkpoints must predict a further one.
            if not further or adapter.recipe.select != "target-dev":
                return _with_languages(found, further, folder)
        # The log first: what it tells of must be there, also after a kill.
        for name in (FIT_LOG, SCORES, ANSWERS):
            (folder / name).unlink(missing_ok=True)
        remove(folder, STATE, WEIGHTS, SHARDS)
        *stages, train = map(describe_examples, sets)
        log = FitLog(
            fingerprint=fingerprint,
            task=adapter.task.id,
            seed=self.seed,
            model=adapter.source.name,
            recipe=asdict(adapter.recipe),
            learnt_from=train,
            languages=list(context.languages),
            stages=stages,
            notes=notes,
        )
        write_fit_log(folder, log)
        return log

    def _fingerprint(self, sets: list[Examples]) -> str:
        """A hash over everything that decides the weights."""
        adapter = self.adapter
        settings = {
            at.name: value for at in fields(adapter) if isinstance(value := getattr(adapter, at.name), str | int)
        }
        parts = (__version__, adapter.name, settings, adapter.source.identity, adapter.task.id, self.seed)
        digest = hashlib.sha256(repr((*parts, asdict(adapter.recipe))).encode())
        for examples in sets:
            # A part of a training set has the checksum of the whole.
            digest.update("\n".join([examples.task, examples.language, examples.checksum, *examples.ids]).encode())
        return digest.hexdigest()

    def _train_with_log(
        self,
        sets: list[Examples],
        context: FitContext,
        log: FitLog,
        others: "Callable[[], Sequence[FurtherTuning]]",
        display: ProgressDisplay,
    ) -> FineTunedModel:
        """Train with a record of checkpoints, and keep what answers."""
        shared = None
        with processes.in_step():
            if processes.is_main():
                shared = SharedTraining(self._recorded(sets, context, log, display))
                self._take_along(shared, others(), display)
        model, stages = self._prepare(sets)
        trained = self._train(model, stages, context.folder / STATE, shared, display)
        with processes.in_step():
            if shared is None:
                return FineTunedModel(model)
            chosen = shared.finish(model, trained, [note for _, objective in stages for note in objective.notes])
        return FineTunedModel(model, context.folder / WEIGHTS, chosen, trained.steps)

    def _recorded(
        self, sets: list[Examples], context: FitContext, log: FitLog, display: ProgressDisplay
    ) -> RecordedFit:
        """The fit as it is recorded at checkpoints."""
        trained_on = context.dev_languages or tuple(sets[-1].language.split("+"))
        weights = context.folder / WEIGHTS
        asked = self._with_dev_sets(context)
        callback = CheckpointCallback(self.adapter, asked, log.languages, trained_on, self.seed, weights, display)
        return RecordedFit(context.folder, log, callback)

    @staticmethod
    def _take_along(shared: SharedTraining, others: "Sequence[FurtherTuning]", display: ProgressDisplay) -> None:
        """Have a training serve further fits as well, but for those that it would not serve from their beginning on."""
        for tuning, further in others:
            folder, said = further.context.folder, display.titled(tuning.title)
            try:
                if has_state(folder):  # it was begun by itself, and goes on so
                    continue
                tuning._check_rule()
                log = tuning._begin_or_resume([further.train], [], further.context)
                if log.finished:
                    shared.finished += [log.task] * shared.served(log)
                elif shared.served(log) or not has_state(shared.first.folder):
                    shared.others.append(tuning._recorded([further.train], further.context, log, said))
            except Exception as error:  # which it meets again when it learns by itself, and not this fit
                said.say(f"is not learnt with {shared.first.log.task}: {error}")
        shared.begin()

    def _with_dev_sets(self, context: FitContext) -> FitContext:
        """The context with the dev sets of the task that is learnt, where it is not the one that is asked."""
        dev_task, root = self.adapter.dev_task, self.train.root if self.train else None
        if dev_task is self.adapter.task:
            return context

        def examples(language: str, split: str) -> Examples:
            if split != "dev":
                return context.examples(language, split)
            if root is None:
                raise DataError(f"the training set of {dev_task.id} is in no data folder that could have a dev set")
            return load(dev_task, language, split, root)

        return dataclasses.replace(context, examples=examples)

    def _load_model(self) -> "nn.Module":
        """A model that only predicts, where this process computes."""
        with processes.in_step():
            model = self.adapter.load_model(self.seed)
            model.to(processes.device_of()).eval()
        return model

    def _prepare(self, sets: list[Examples]) -> "tuple[nn.Module, list[TrainingStage]]":
        """The model before training, and the objectives of its stages."""
        with processes.in_step():
            return self.adapter.load_model(self.seed), [(each, self.adapter.objective(each)) for each in sets]

    def _train(
        self,
        model: "nn.Module",
        stages: list[TrainingStage],
        state: Path | None,
        on_checkpoint: SharedTraining | None,
        display: ProgressDisplay,
    ) -> "TrainingResult":
        """Train on all stages, and say how the last one went, which has the checkpoints; goes on after a kill."""
        from isogloss.training import loop

        for number, (examples, objective) in enumerate(stages, 1):
            last = number == len(stages)
            name = f"{examples.task}/{examples.language}" if last else ", ".join(examples.sources)
            display.say(f"{'' if last else f'stage {number}: '}{len(examples):,} examples of {name}")
            trained = loop.train(
                model,
                objective,
                self.adapter.recipe,
                seed=self.seed,
                state=None if state is None else state / f"{number}.pt",
                on_checkpoint=on_checkpoint if last else None,
                progress=display,
                keep_float32=not last,
            )
        return trained


def _with_languages(log: FitLog, further: list[str], folder: Path) -> FitLog:
    """A log with further languages: the record has them from now on, or has ended without them."""
    if log.finished:
        remove(folder, STATE, SHARDS)  # where a kill came just before that
        late = [f"{code}: not in the record, which was complete when it was first asked for" for code in further]
        log = replace(log, notes=[*dict.fromkeys((*log.notes, *late))])
    else:
        log = replace(log, languages=[*log.languages, *further])
    if further:
        write_fit_log(folder, log)
    return log


# A fit that learns the very same as another one.
FurtherTuning = tuple[FineTuning, FurtherFit]
