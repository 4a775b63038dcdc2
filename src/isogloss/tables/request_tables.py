"""Tables about requests to language models: what a run would send, and what a server can do."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from isogloss.endpoints.probe import Capabilities
from isogloss.figures import cost_text, counted
from isogloss.runs.prompted_cells import TaskEstimate, sum_of_estimates
from isogloss.tables.table import Table

if TYPE_CHECKING:
    from isogloss.runs.plan import Plan

_LISTED = 5
_MEANING = {
    "chat": "chat completions",
    "completions": "plain completions, for base models",
    "logprobs": "log probabilities of labels are returned",
    "json_schema": "JSON schemas are enforced",
    "echo": "echo returns the prompt's log probabilities",
    "seed": "a seed is accepted",
    "reproducible": "equal requests with a seed have equal replies",
    "usage": "tokens are counted",
}


def estimate_table(plan: "Plan", tasks: Mapping[str, TaskEstimate], skipped: Mapping[str, str]) -> Table:
    """Return requests, tokens and price by task."""
    wording, prices = (str(plan.settings.get(name, "")) for name in ("wording", "prices"))
    title = f"{', '.join(filter(None, (plan.folder_name, plan.regime.name, wording)))}: what a run would send"
    every = list(tasks.values())
    columns = [name for name in _ESTIMATES if name not in _IF_ANY or any(map(_IF_ANY[name], every))]
    table = Table(title, ("task", *columns))
    for name, each in tasks.items():
        table.add(name, *(_ESTIMATES[column](each) for column in columns))
    if len(tasks) > 1:
        total = sum_of_estimates(every)
        table.add("total", *(_ESTIMATES[column](total) for column in columns), strong=True)
    table.notes = [
        "tokens in: estimated from the scripts of the texts; out, cost: at most, by the limit of each answer"
    ]
    if any(each.usage.cost is None and each.requests for each in every):
        missing = f"no price of the model in {prices}" if prices else "no prices: name a file of prices in --config"
        table.notes.append(missing)
    for cell, reason in list(skipped.items())[:_LISTED]:
        table.notes.append(f"{cell}: {reason}")
    if len(skipped) > _LISTED:
        table.notes.append(f"and {counted(len(skipped) - _LISTED, 'more cell')} without requests")
    return table


def _examples(each: TaskEstimate) -> str:
    return f"{each.examples:,}" if each.examples == each.total else f"{each.examples:,} of {each.total:,}"


# Columns of an estimate, and the condition of those that are left out if no task has a value.
_ESTIMATES: Mapping[str, Callable[[TaskEstimate], str]] = {
    "cells": lambda each: f"{each.cells:,}",
    "examples": _examples,
    "stored": lambda each: f"{each.stored:,}",
    "to send": lambda each: f"{each.requests:,}",
    "tokens in": lambda each: f"{each.usage.input:,}",
    "out ≤": lambda each: f"{each.usage.output:,}",
    "cost ≤": lambda each: "" if each.usage.cost is None else cost_text(each.usage.cost),
}
_IF_ANY: Mapping[str, Callable[[TaskEstimate], bool]] = {
    "stored": lambda each: each.stored > 0,
    "cost ≤": lambda each: each.usage.cost is not None,
}


def estimate_text(total: TaskEstimate) -> str:
    """Return an estimate in a line."""
    usage = total.usage
    cost = "" if usage.cost is None else f", at most {cost_text(usage.cost)}"
    return f"{total.requests:,} requests, {usage.input:,} tokens in, at most {usage.output:,} out{cost}"


def capabilities_table(model: str, capabilities: Capabilities, dimension: int = 0) -> Table:
    """Return what a probe found; `dimension` is that of the model's embeddings, 0 for none."""
    table = Table(
        f"{model} at {capabilities.server or 'an unnamed server'}", ("capability", "found", "meaning"), words=3
    )
    for name, meaning in _MEANING.items():
        table.add(name, "yes" if getattr(capabilities, name) else "no", meaning)
    table.add(
        "context",
        f"{capabilities.context_length:,}" if capabilities.context_length else "unknown",
        "tokens of a request",
    )
    table.add("embeddings", f"{dimension:,}" if dimension else "no", "dimensions, for retrieval")
    return table
