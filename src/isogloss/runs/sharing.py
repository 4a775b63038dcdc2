"""Groups of a grid that learn the same: one training serves them, and each is then filled in its own turn."""

from contextlib import ExitStack

from isogloss.runs.fit import FitJob, read_ahead
from isogloss.runs.locks import acquire
from isogloss.runs.plan import FitGroup, Plan
from isogloss.systems.base import FurtherFit, System
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task

# What groups have in common that may share a training: the seed, the fit's language, and a task for all that learn so.
TrainingId = tuple[int, str, str]


class SharedTrainings:
    """Which groups of a plan learn the same, as far as can be told without reading their training sets."""

    def __init__(self, plan: Plan, system: System) -> None:
        first: dict[object, str] = {}
        self._first = {name: first.setdefault(_training_key(system, name), name) for name in plan.request.tasks}

    def of(self, group: FitGroup) -> TrainingId:
        """The training of a group."""
        return group.seed, group.target, self._first[group.task]


def _training_key(system: System, task_id: str) -> object:
    try:
        key = system.training_key(task(task_id))
        hash(key)  # one that has none is no key
        return task_id if key is None else key
    except Exception:  # a system may fail in any way whatever, and says so when it is to learn
        return task_id


def further_fits(plan: Plan, group: FitGroup, system: System, locks: ExitStack, train: Examples) -> list[FurtherFit]:
    """The fits of other groups that a training serves as well.

    They have missing cells, the same training set, and a folder where nobody else learns.

    Args:
        plan: the grid.
        group: whose training it is.
        system: what learns.
        locks: gets the locks of their folders, to be held while something is written there.
        train: the training set.
    """
    trainings = SharedTrainings(plan, system)
    wanted = trainings.of(group)
    same = [one for one in plan.missing_groups() if one.task != group.task and trainings.of(one) == wanted]
    return [fit for one in same if (fit := _further_fit(plan, one, system, locks, train)) is not None]


def _further_fit(plan: Plan, group: FitGroup, system: System, locks: ExitStack, train: Examples) -> FurtherFit | None:
    job = FitJob.of(plan, group)
    try:
        own, (inputs, _) = job.training(system), read_ahead(plan, group)
    except Exception:  # a damaged file, say: the cells of this group say so
        return None
    if own is None or not inputs or _identity(own) != _identity(train):
        return None
    lock = acquire(plan.fit_lock_path(group))
    if lock is None:
        return None
    locks.enter_context(lock)
    return FurtherFit(job.task, own, job.context(system))


def _identity(examples: Examples) -> tuple[str, str, list[str]]:
    """What makes two training sets one; a part of a set has the checksum of the whole."""
    return examples.language, examples.checksum, examples.ids
