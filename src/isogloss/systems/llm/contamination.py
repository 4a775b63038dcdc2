"""Contamination probe: show a model the beginnings of examples, and compare its continuations with the true ones.

The control compares the same continuations with the rests of other examples, so that the language, the style and the
topics of a dataset do not count as memory. Each rest is the truth of one continuation and the control of another.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.store import ResponseStore
from isogloss.errors import IsoglossError, MissingDataError
from isogloss.metrics.completions import (
    continuation_overlap,
    gram_size,
    is_continued,
    shared_length,
    without_beginning,
)
from isogloss.metrics.estimate import Interval
from isogloss.metrics.exchange import exchange
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.prompts.halves import INSTRUCTION, DrawnHalves, continuation_request, drawn_halves
from isogloss.reply_outcomes import Usage
from isogloss.results.contamination import MARGIN, ContaminationFinding, ContaminationRecord, Verdict
from isogloss.scoring.request import Request
from isogloss.systems.base import SystemName
from isogloss.systems.base import system as make_system
from isogloss.systems.llm.system import LlmSystem
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task

# Folder of the responses, beside those of the model's tasks.
_FOLDER = "contamination"


def contamination(
    system: LlmSystem, task: Task, examples: Examples, *, count: int = 100, seed: int = 0
) -> ContaminationFinding:
    """Probe whether a model continues the examples of a dataset from memory.

    Responses are stored as those of a run: they are requested once, and an interrupted probe resumes.

    Args:
        system: language model; settings of its answers do not matter.
        task: task of the examples.
        examples: examples of one language and split.
        count: number of examples to draw; those that are too short are passed over.
        seed: seed of the draw.

    Returns:
        Overlaps with the true continuations and with those of other examples, their difference, and a verdict.

    Raises:
        SystemFailureError: some requests have no response yet; all others are stored.
        IsoglossError: the endpoint refuses the requests.
    """
    drawn = drawn_halves(task, examples, count, seed)
    requests = [continuation_request(task, examples, half, system.settings) for half in drawn.halves]
    store = ResponseStore(system.store_root / _FOLDER / task.id / examples.language)
    replies = system.replies(examples, requests, store)
    usages = [system.priced(reply.usage) for reply in replies if reply.usage is not None]
    return finding_of(drawn, replies, Usage.total(usages) if usages else None)


def finding_of(drawn: DrawnHalves, replies: Sequence[ModelReply], usage: Usage | None = None) -> ContaminationFinding:
    """Return the finding from the replies to drawn examples."""
    rows = [row for row, reply in enumerate(replies) if reply.text.strip() and not reply.filtered]
    pairs = [
        (
            half := drawn.halves[row],
            drawn.halves[drawn.others[row]],
            without_beginning(replies[row].text, half.beginning),
        )
        for row in rows
    ]
    own, control = np.zeros((len(rows), 1)), np.zeros((len(rows), 1))
    for row, (half, other, text) in enumerate(pairs):
        length, size = shared_length(half.rest, other.rest), gram_size(half.rest)
        own[row] = continuation_overlap(text, half.rest, half.shown, length, size)
        control[row] = continuation_overlap(text, other.rest, half.shown, length, size)
    clusters = drawn.examples.clusters or drawn.examples.ids
    names = [clusters[row] for row in rows]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    units = np.array([numbers[name] for name in names], dtype=np.int64)
    interval = _interval(Statistics(own, MEAN, units), Statistics(control, MEAN, units))
    low, high = interval or (None, None)
    return ContaminationFinding(
        task=drawn.examples.task,
        language=drawn.examples.language,
        split=drawn.examples.split,
        n=len(rows),
        sources=len(numbers),
        skipped=drawn.skipped,
        withheld=len(replies) - len(rows),
        exact=sum(is_continued(text, half.rest) for half, _, text in pairs),
        exact_control=sum(is_continued(text, other.rest) for _, other, text in pairs),
        overlap=float(own.mean()) if rows else 0.0,
        control=float(control.mean()) if rows else 0.0,
        difference=float((own - control).mean()) if rows else 0.0,
        low=low,
        high=high,
        verdict=verdict_of(interval),
        usage=usage,
    )


def _interval(own: Statistics, control: Statistics) -> Interval | None:
    """Return the interval of the paired difference, with clusters as sources.

    A rest that is easy to match raises the overlap of one example and the control of another, so differences are
    negatively correlated, and intervals as if they were independent are on the safe side.
    """
    return exchange(own, control).interval() if len(own) else None


def verdict_of(interval: Interval | None, margin: float = MARGIN) -> Verdict:
    """Return the verdict of an interval of differences."""
    if interval is None or interval[0] <= margin < interval[1]:
        return "undecided"
    return "memorised" if interval[0] > margin else "no sign"


def probed_model(name: str, **settings: Any) -> LlmSystem:
    """Return a language model by name; the formats of its answers do not matter, so its endpoint is not asked for them.

    Raises:
        IsoglossError: an unknown setting, or a system of another family.
    """
    named = SystemName.of(name)
    if not (isinstance(named.factory, type) and issubclass(named.factory, LlmSystem)):
        raise IsoglossError(f"{named.base} is not a language model", fix="Use a language model: llm:MODEL")
    formats = {"labels": "text", "tags": "lines"}
    return cast("LlmSystem", make_system(name, **{**formats, **named.settings, **settings}))


def contamination_record(
    system: LlmSystem, request: Request, *, count: int = 100, seed: int = 0
) -> tuple[ContaminationRecord, dict[str, str]]:
    """Probe the tasks and languages of a request, and return the findings and the reasons for missing ones.

    Raises:
        MissingDataError: there are no data of any of them.
        SystemFailureError: some requests have no response yet; all others are stored.
    """
    findings: list[ContaminationFinding] = []
    missing: dict[str, MissingDataError] = {}
    for task in map(request.task, request.tasks):
        for language in request.languages_of(task):
            try:
                examples = load(task, language, request.split, request.data, allow_partial=True)
            except MissingDataError as error:
                missing[f"{task.id}/{language}"] = error
            else:
                findings.append(contamination(system, task, examples, count=count, seed=seed))
    if missing and not findings:
        raise next(iter(missing.values()))
    prompt = system.settings
    settings = {
        "revision": prompt.revision,
        "api": prompt.api,
        "thoughts": prompt.thoughts,
        "body": prompt.body,
        "instruction": INSTRUCTION if prompt.api == "chat" else "",
        "examples": count,
        "seed": seed,
    }
    record = ContaminationRecord(model=system.model, settings=settings, findings=findings)
    return record, {name: error.cause for name, error in missing.items()}
