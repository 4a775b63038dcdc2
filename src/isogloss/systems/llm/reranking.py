"""Reranking: the model puts the first candidates of a search into order."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from isogloss.prompts.formats.base import Row
from isogloss.prompts.render import Prompts
from isogloss.systems.base import RepliedPredictions
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.task import Task

if TYPE_CHECKING:
    from isogloss.systems.llm.system import LlmSystem

# Characters of a candidate that a prompt shows.
_SHOWN = 500


def reranked(
    system: "LlmSystem", task: Task, examples: Examples, ranked: Sequence[Sequence[str]], first: int = 20
) -> RepliedPredictions:
    """Return rankings with the first candidates in the model's order; without one in the reply, the order found stays.

    Args:
        system: system fitted to the task.
        task: retrieval task.
        examples: queries, with a pool of candidates.
        ranked: ids of the candidates that a search found for each query, best first.
        first: number of candidates to put into order.

    Returns:
        The rankings, with facts about each reply. Outcomes such as `unparsed` are those of replies without an order.

    Raises:
        PromptRecipeError: the recipe of the system has no prompts for rankings.
        SystemFailureError: some requests have no response yet; all others are stored.
    """
    prompts = Prompts(task, examples.language, system.settings, reranking=True)
    rows = _rows(prompts, examples, ranked, first)
    requests, store = [prompts.request(row) for row in rows], system.store(examples.language)
    replies = system.replies(examples, requests, store)
    readings = prompts.read_rows(rows, replies)
    orders = [reading.answer or () for reading in readings]
    values = [[*(ids[index] for index in order), *ids[len(order) :]] for ids, order in zip(ranked, orders, strict=True)]
    return RepliedPredictions(values, system.facts(readings, replies))


def _rows(prompts: Prompts, examples: Examples, ranked: Sequence[Sequence[str]], first: int) -> list[Row]:
    """Return the queries with the texts of their first candidates."""
    pool = pool_of(examples)
    place = {identifier: number for number, identifier in enumerate(pool.ids)}
    return [
        {**row, "candidates": [_shown(pool.text[place[identifier]]) for identifier in ids[:first]]}
        for row, ids in zip(prompts.rows(examples), ranked, strict=True)
    ]


def _shown(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"
