"""A grid that a Ray cluster fills by itself: whoever asked for it may leave, and come back."""

import os
import pickle
import threading
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import ray

from isogloss.errors import IsoglossError
from isogloss.runs.engine import OnProgress
from isogloss.runs.locks import POLL
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.runs.ray_engine import RayWorkers, error_of

# Seconds that an actor waits for further calls before it ends.
LINGER = 60.0


class _GridFiller:
    """An actor that fills grids, one after the other; it belongs to nobody, and ends when nobody asks any more."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._end_later()

    def _end_later(self) -> None:
        self._end = threading.Timer(LINGER, os._exit, [0])
        self._end.start()

    def fill(self, packed: bytes) -> IsoglossError | None:
        """Fill a grid and sum it up; gives the error that ended it, if one did."""
        from isogloss.runs.grid import run_plan

        self._end.cancel()
        try:
            plan, place, jobs = pickle.loads(packed)  # noqa: S301 - our own bytes
            run_plan(plan, jobs=jobs, place=place)
        except IsoglossError as error:
            return error
        finally:
            self._end_later()
        return None


def fill_detached(plan: Plan, place: Place, jobs: int, on_progress: OnProgress) -> None:
    """Have a cluster fill a grid by itself, and watch it; one that is being filled already is watched on.

    Raises:
        IsoglossError: the cluster would end with this process; or what ended the grid.
        KeyboardInterrupt: the user's; the cluster goes on.
    """
    if not (place.address or os.environ.get("RAY_ADDRESS")):
        fix = "Give its address; ray start --head starts one that stays"
        raise IsoglossError('on_interrupt = "detach" needs a Ray cluster that goes on without this command', fix=fix)
    with RayWorkers(place) as workers:
        name = f"grid-{sha256(str(plan.root).encode()).hexdigest()[:16]}"
        options: dict[str, Any] = {"name": name, "lifetime": "detached", "get_if_exists": True, "num_cpus": 0}
        actor = ray.remote(_GridFiller).options(**options).remote(workers.environment)
        asked = plan, replace(place, on_interrupt="stop", address="", toml=""), jobs
        # A call that comes while it is at work waits, and then finds what is left: nothing.
        ref = actor.fill.remote(pickle.dumps(asked))
        while not ray.wait([ref], timeout=POLL)[0]:
            workers.check_head()
            on_progress("")
        try:
            error = ray.get(ref)
        except Exception as problem:
            raise error_of(problem) from problem
        if error is not None:
            raise error
