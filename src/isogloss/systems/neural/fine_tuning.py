"""One fit: stages, training, the record of checkpoints, and the weights of the chosen ones.

Stages are training sets used before a task's own: Social IQa before COPA, as in the XTREME-R baselines.
"""

import hashlib
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from isogloss.data.files import Digest, resolve
from isogloss.data.tables import jsonl
from isogloss.errors import DataError, unknown
from isogloss.systems.base import FitContext, FurtherFit
from isogloss.systems.neural import checkpoint_callback as callbacks
from isogloss.systems.neural.checkpoint_callback import STATE, CheckpointCallback, SharedTraining
from isogloss.systems.neural.fit_log import (
    FIT_LOG,
    LAST,
    WEIGHTS,
    FitLog,
    describe_examples,
    read_fit_log,
    reuse_fit,
    step_name,
    write_fit_log,
)
from isogloss.systems.neural.progress import ProgressDisplay, show_progress
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.pretrained import Model, restore
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import translations_folder
from isogloss.tasks.task import Task
from isogloss.training import processes
from isogloss.training.checkpoint_record import ANSWERS, SCORES, SHARDS
from isogloss.training.recipes import SIQA, Recipe, without_siqa
from isogloss.training.regimes import joined
from isogloss.training.selection import ChosenCheckpoint
from isogloss.version import __version__

if TYPE_CHECKING:
    from isogloss.training.loop import TrainingResult


@dataclass(kw_only=True)
class FineTunedModel:
    """A model with the weights of the checkpoint chosen for each language."""

    model: Model
    weights: Path | None = None  # folder of weights; None if only those of `model` exist
    chosen: dict[str, ChosenCheckpoint] = field(default_factory=dict)  # checkpoint of each language
    updates: int = 0  # the last checkpoint, with weights stored separately
    loaded: str = LAST  # name of the weights that the model has now

    def for_language(self, language: str) -> Model:
        """Return the model with the weights for a language."""
        if self.weights is not None:
            # If one checkpoint serves all languages, it also serves those not in the record.
            choice = self.chosen.get(language) or next(iter(self.chosen.values()))
            wanted = LAST if choice.step == self.updates else step_name(choice.step)
            if wanted != self.loaded:
                restore(self.model, self.weights / wanted)
                self.loaded = wanted
        return self.model


@dataclass(frozen=True)
class FineTuning:
    """A model to fine-tune on the examples of a task."""

    adapter: TaskAdapter
    train: Examples | None  # None to use the model without training
    seed: int
    quiet: bool = False

    @property
    def title(self) -> str:
        """Title in progress messages."""
        return f"{self.adapter.task.id} seed {self.seed}"

    def fit(
        self, context: FitContext | None, others: "Callable[[], Sequence[FurtherTuning]]" = tuple
    ) -> FineTunedModel:
        """Train, or continue or reuse an earlier fit, or store nothing; all processes that train together call this.

        `others` finds, in the main process, further fits for this run to serve; the caller holds all their locks.
        """
        if self.train is None:
            return FineTunedModel(model=self._load_model())
        with show_progress(self.title, quiet=self.quiet or not processes.is_main()) as display:
            with processes.in_step():
                sets, notes = with_stages(self.adapter.recipe, self.adapter.task, self.train)
                if remark := self.adapter.recipe.note:
                    notes.append(f"{self.adapter.recipe.name}: {remark}")
                for note in notes:
                    display.say(note)
            if context is None:
                return FineTunedModel(model=self._train(sets, None, None, display)[0])
            log = processes.from_main(lambda: self._begin_or_resume(sets, notes, context))
            if log.finished:
                if log.weights_from:
                    display.say(f"same training as in {log.weights_from}: weights reused")
                model, weights, chosen = self._load_model(), context.folder / WEIGHTS, log.chosen
                return FineTunedModel(model=model, weights=weights, chosen=chosen, updates=log.updates, loaded="")
            shared = None
            with processes.in_step():
                if processes.is_main():
                    shared = SharedTraining(
                        CheckpointCallback(
                            adapter=self.adapter, context=context, train=self.train, log=log, display=display
                        )
                    )
                    self._take_along(shared, others(), display)
            model, trained, notes = self._train(sets, context.folder / STATE, shared, display)
            with processes.in_step():
                if shared is None:
                    return FineTunedModel(model=model)
                chosen = shared.finish(model, trained, notes)
            return FineTunedModel(model=model, weights=context.folder / WEIGHTS, chosen=chosen, updates=trained.steps)

    def _begin_or_resume(self, sets: list[Examples], notes: list[str], context: FitContext) -> FitLog:
        """Return the existing log of this fit, or remove other content and start a new one."""
        adapter, folder = self.adapter, context.folder
        task, (rule, _, language) = adapter.dev_task, adapter.recipe.select.partition(":")
        if language and language not in task.every_language:
            raise unknown(f"language of {task.id} in {rule}:{language}:", language, task.every_language)
        existing, fingerprint = read_fit_log(folder), self._fingerprint(sets)
        if existing is None and not callbacks.has_state(folder):
            existing = reuse_fit(context.same_training, folder, fingerprint, context.languages)
        if existing is not None and existing.fingerprint == fingerprint:
            further = [code for code in context.languages if code not in existing.languages]
            # With one best checkpoint per language, all checkpoints must predict a new language.
            if not further or adapter.recipe.select != "target-dev":
                return _with_languages(existing, further, folder)
        # Remove the log first: after a kill it must not describe missing files.
        for name in (FIT_LOG, SCORES, ANSWERS):
            (folder / name).unlink(missing_ok=True)
        callbacks.remove(folder, STATE, WEIGHTS, SHARDS)
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
        """Return a hash of everything that determines the weights."""
        adapter = self.adapter
        values = {field.name: getattr(adapter, field.name) for field in fields(adapter)}
        settings = {name: value for name, value in values.items() if isinstance(value, str | int)}
        parts = (__version__, adapter.name, settings, adapter.source.identity, adapter.task.id, self.seed)
        digest = hashlib.sha256(repr((*parts, asdict(adapter.recipe))).encode())
        for examples in sets:
            # A subset of a training set has the checksum of the whole.
            digest.update("\n".join([examples.task, examples.language, examples.checksum, *examples.ids]).encode())
        return digest.hexdigest()

    @staticmethod
    def _take_along(shared: SharedTraining, others: "Sequence[FurtherTuning]", display: ProgressDisplay) -> None:
        """Add further fits to a training run, except those that it could not serve from the start."""
        for tuning, further in others:
            folder, own_display = further.context.folder, copy(display)
            own_display.title = tuning.title
            try:
                if callbacks.has_state(folder):  # continues its own training
                    continue
                log = tuning._begin_or_resume([further.train], [], further.context)
                if log.finished:
                    shared.finished += [log.task] * shared.served(log)
                elif shared.served(log) or not callbacks.has_state(shared.first.folder):
                    fit = CheckpointCallback(
                        adapter=tuning.adapter,
                        context=further.context,
                        train=further.train,
                        log=log,
                        display=own_display,
                    )
                    shared.others.append(fit)
            except Exception as error:  # raised again when that fit trains separately
                own_display.say(f"not trained together with {shared.first.log.task}: {error}")
        shared.begin()

    def _load_model(self) -> Model:
        """Load a model for prediction on this process's device."""
        from isogloss.training.attention import use_row_attention

        with processes.in_step():
            model, device = self.adapter.load_model(self.seed), processes.device_of()
            model.to(device).eval()
            use_row_attention(model, device)
        return model

    def _train(
        self, sets: list[Examples], state: Path | None, on_checkpoint: SharedTraining | None, display: ProgressDisplay
    ) -> "tuple[Model, TrainingResult, list[str]]":
        """Train on all stages, or resume; return model, result of the last stage (with the checkpoints), and notes."""
        from isogloss.training import loop

        with processes.in_step():
            model, objectives = self.adapter.load_model(self.seed), [self.adapter.objective(train) for train in sets]
        for number, (examples, objective) in enumerate(zip(sets, objectives, strict=True), 1):
            last = number == len(sets)
            name = f"{examples.task}/{examples.language}" if last else ", ".join(examples.sources)
            display.say(f"{'' if last else f'stage {number}: '}{len(examples):,} examples from {name}")
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
        return model, trained, [note for objective in objectives for note in objective.notes]


def _with_languages(log: FitLog, further: list[str], folder: Path) -> FitLog:
    """Add languages to a log: to its record, or as a note if the record is already complete."""
    if log.finished:
        callbacks.remove(folder, STATE, SHARDS)  # left over if a kill came just before
        late = [f"{code}: not in the record, which was already complete" for code in further]
        log = replace(log, notes=[*dict.fromkeys((*log.notes, *late))])
    else:
        log = replace(log, languages=[*log.languages, *further])
    if further:
        write_fit_log(folder, log)
    return log


# A fit with the same training as another one.
FurtherTuning = tuple[FineTuning, FurtherFit]


# Paths of the training set, as published and as the XTREME-R scripts store it, and of its translations.
_ENGLISH = ("siqa/socialIQa_v1.4_trn.jsonl", "siqa/socialiqa-train-dev/train.jsonl", "siqa/train.en.jsonl")
_TRANSLATED = ("siqa/train.{language}.jsonl", "siqa_translate_train/socialIQa_v1.4_{language}_translate_train.jsonl")
_CHOICES = "ABC"


class _SocialIqaRecord(msgspec.Struct, rename="camel", kw_only=True):
    context: str
    question: str
    answer_a: str
    answer_b: str
    answer_c: str
    correct: str


def with_stages(recipe: Recipe, task: Task, train: Examples) -> tuple[list[Examples], list[str]]:
    """Return the training sets of all stages, the task's own last, and notes on missing translations.

    A stage is `siqa`, in the languages of the task's set if translations exist, or a file of its format.
    """
    notes: list[str] = []
    stages = []
    for name in recipe.stages:
        if kind_of(task).form != "option":
            raise DataError(f"stage {name} is multiple choice and cannot precede {task.id}", fix="Set stages = []")
        if name == SIQA:
            stages.append(_social_iqa(recipe, task, train, notes))
        elif (examples := _read_first([name], task, "en", train.root)) is not None:
            stages.append(examples)
        else:
            what = f"missing training set {name!r}, a stage before {task.id}"
            raise DataError(what, fix="Put it into the data folder, or remove it from the recipe's stages")
    return [*stages, train], notes


def _social_iqa(recipe: Recipe, task: Task, train: Examples, notes: list[str]) -> Examples:
    """Return Social IQa in the languages of a training set; missing translations are noted."""
    languages = train.language.split("+")
    parts, absent = [], []
    for language in languages:
        if language != "en":
            names = [name.format(language=language) for name in _TRANSLATED]
            roots = translations_folder(train.root), train.root
            translations = (_read_first(names, task, language, root) for root in roots)
            if (examples := next(filter(None, translations), None)) is not None:
                parts.append(examples)
            else:
                absent.append(language)
    if absent:
        paths = ", ".join(_TRANSLATED[0].format(language=language) for language in absent)
        notes.append(f"stage {SIQA}: in English, as translations to {', '.join(absent)} are missing ({paths})")
    if "en" in languages or not parts:
        english = _read_first(_ENGLISH, task, "en", train.root)
        if english is None:
            what, without = f"missing the Social IQa training set, a stage before {task.id}", without_siqa(recipe.name)
            fix = f"Run isogloss fetch {SIQA}, or set {SIQA} = false, which makes it another recipe: {without}"
            raise DataError(what, fix=fix)
        parts.insert(0, english)
    return parts[0] if len(parts) == 1 else joined(parts)


def _read_first(names: Sequence[str], task: Task, language: str, root: Path | None) -> Examples | None:
    """Return the examples of the first existing file in the format of Social IQa, or None."""
    path = next(filter(None, (resolve(root / name) for name in names)), None) if root is not None else None
    if path is None:
        return None
    digest = Digest()
    records = list(jsonl(path, _SocialIqaRecord, digest))
    for number, record in enumerate(records, 1):
        if len(record.correct) != 1 or record.correct not in _CHOICES:
            what = f"correct is {record.correct!r}, expected one of {', '.join(_CHOICES)}"
            raise DataError(what, where=f"{path}:{number}")
    columns: dict[str, Any] = {
        "premise": [record.context for record in records],
        "question": [record.question for record in records],
        "choices": [(record.answer_a, record.answer_b, record.answer_c) for record in records],
        "label": [_CHOICES.index(record.correct) for record in records],
    }
    ids = [f"siqa-{row}" for row in range(len(records))]
    sources = (str(path),)
    return Examples(task.id, language, "train", ids, columns, "label", checksum=digest.hex, sources=sources, root=root)
