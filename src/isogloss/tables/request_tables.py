"""Tables about requests to language models: what a run would send, and what a server can do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from isogloss.endpoints.probe import Capabilities
from isogloss.figures import cost_text, counted
from isogloss.reply_outcomes import Usage
from isogloss.tables.table import Table

if TYPE_CHECKING:
    from isogloss.runs.plan import Plan
    from isogloss.runs.prompted_cells import TaskEstimate

_LISTED = 5
_MEANING = {
    "chat": "chat completions",
    "completions": "plain completions, for base models",
    "logprobs": "log probabilities of labels are returned",
    "json_schema": "JSON schemas are enforced",
    "echo": "echo returns the prompt's log probabilities",
    "seed": "a seed is accepted",
    "usage": "tokens are counted",
}


def estimate_table(plan: "Plan", tasks: "Mapping[str, TaskEstimate]", skipped: Mapping[str, str]) -> Table:
    """Return requests, tokens and price by task."""
    wording, prices = (str(plan.settings.get(name, "")) for name in ("wording", "prices"))
    title = f"{', '.join(filter(None, (plan.folder_name, plan.regime.name, wording)))}: what a run would send"
    table = Table(
        title, ("task", "cells", "examples", "stored", "requests", "input tokens", "output at most", "cost at most")
    )
    for name, each in tasks.items():
        _add(table, name, [each])
    if len(tasks) > 1:
        _add(table, "total", list(tasks.values()), strong=True)
    table.notes = ["input tokens are estimated from the scripts of the texts; output is the limit of each answer"]
    if any(each.usage.cost is None and each.requests for each in tasks.values()):
        missing = f"no price of the model in {prices}" if prices else "no prices: name a file of prices in --config"
        table.notes.append(missing)
    for cell, reason in list(skipped.items())[:_LISTED]:
        table.notes.append(f"{cell}: {reason}")
    if len(skipped) > _LISTED:
        table.notes.append(f"and {counted(len(skipped) - _LISTED, 'more cell')} without requests")
    return table


def _add(table: Table, name: str, estimates: "list[TaskEstimate]", *, strong: bool = False) -> None:
    examples, total = sum(each.examples for each in estimates), sum(each.total for each in estimates)
    usage = Usage.total(each.usage for each in estimates)
    table.add(
        name,
        f"{sum(each.cells for each in estimates):,}",
        f"{examples:,}" if examples == total else f"{examples:,} of {total:,}",
        f"{sum(each.stored for each in estimates):,}",
        f"{sum(each.requests for each in estimates):,}",
        f"{usage.input:,}",
        f"{usage.output:,}",
        "" if usage.cost is None else cost_text(usage.cost),
        strong=strong,
    )


def capabilities_table(model: str, found: Capabilities) -> Table:
    """Return what a probe found."""
    table = Table(f"{model} at {found.server or 'an unnamed server'}", ("capability", "found", "meaning"), words=3)
    for name, meaning in _MEANING.items():
        table.add(name, "yes" if getattr(found, name) else "no", meaning)
    table.add("context", f"{found.context_length:,}" if found.context_length else "unknown", "tokens of a request")
    return table
