"""Replies of language models: shares without an answer and their reasons, other languages, tokens and cost."""

from collections.abc import Iterable, Mapping, Sequence

from isogloss.figures import MISSING, cost_text, counted, score_text
from isogloss.grouping import group_by
from isogloss.languages import known_language
from isogloss.predictions.reply_files import ReplyCell
from isogloss.reply_outcomes import Outcome, ReplyCounts
from isogloss.results.averages import Systems, tasks_of
from isogloss.scoring.names import language_name
from isogloss.scoring.results import UNREADABLE, Results
from isogloss.tables.table import Table
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task

UNPARSED = "unparsed"
UNPARSED_NOTE = "unparsed: share of replies without an answer, which count as wrong"
# Languages listed per task.
LISTED = 5
# Headers of the reasons, in their order; the class without a reason needs another name than the total.
_REASONS = {outcome: outcome.value for outcome in Outcome if not outcome.is_answer} | {Outcome.UNPARSED: UNREADABLE}
_MEANINGS = {
    Outcome.REFUSAL: "the model says that it cannot answer",
    Outcome.NONE: "it says that no option fits",
    Outcome.SEVERAL: "several answers",
    Outcome.EMPTY: "no text",
    Outcome.CUT: "ended at the token limit",
    Outcome.FILTERED: "withheld by the server",
    Outcome.UNPARSED: "no answer was found",
}
# Scripts written with the same characters: a short reply in Japanese may have only Han.
_ALIKE = {"Hani": "Hans", "Hant": "Hans", "Jpan": "Hans", "Hira": "Hans", "Kana": "Hans", "Hang": "Kore"}


def unparsed_text(counts: ReplyCounts | None) -> str:
    """Return the share of replies without an answer in percent, or a dot without facts about replies."""
    if counts is None or not counts.replies:
        return MISSING
    percent = 100 * counts.unparsed
    return "<0.1 %" if 0 < percent < 0.05 else f"{score_text(percent)} %"


def replied_cells(results: Results) -> dict[tuple[str, str], ReplyCounts]:
    """Return the counts of the cells with facts about replies, by task and language."""
    return {(cell.task, cell.language): cell.replies for cell in results.cells if cell.replies}


def has_replies(systems: Systems) -> bool:
    """Return True if any system has facts about replies."""
    return any(replied_cells(system.record) for system in systems.values())


def failure_table(systems: Systems) -> Table | None:
    """Return the replies without an answer by reason: every task, and its languages with the largest shares.

    None if all replies have an answer.
    """
    by_system = {name: replied_cells(system.record) for name, system in systems.items()}
    every = [counts for cells in by_system.values() for counts in cells.values()]
    reasons = [outcome for outcome in _REASONS if any(outcome in counts.failures for counts in every)]
    if not reasons:
        return None
    words = ("task", *(["system"] if len(systems) > 1 else []), "language")
    head = (*words, "replies", UNPARSED, *map(_REASONS.__getitem__, reasons))
    table = Table("Replies without an answer", head, words=len(words))
    table.notes = _meanings(reasons)
    unlisted = 0
    for name in tasks_of(systems):
        for system, cells in by_system.items():
            failed = {
                code: counts for (cell_task, code), counts in cells.items() if cell_task == name and counts.failures
            }
            if not failed:
                continue
            labels = [name, *([system] if len(systems) > 1 else [])]
            if total := ReplyCounts.total(counts for (cell_task, _), counts in cells.items() if cell_task == name):
                table.add(*labels, "all", *_failure_texts(total, reasons), strong=True)
            worst = sorted(failed, key=lambda code: (-failed[code].unparsed, code))
            for code in worst[:LISTED]:
                table.add(*labels, language_name(code), *_failure_texts(failed[code], reasons))
            unlisted += len(worst[LISTED:])
    if unlisted:
        table.notes.append(f"{counted(unlisted, 'more language')} with fewer such replies in the result record")
    return table


def _meanings(reasons: Sequence[Outcome]) -> list[str]:
    """Return a note that explains the reasons of a table, if it has any."""
    return ["; ".join(f"{_REASONS[reason]}: {_MEANINGS[reason]}" for reason in reasons)] if reasons else []


def _failure_texts(counts: ReplyCounts, reasons: Iterable[Outcome]) -> list[str]:
    numbers = [counts.failures.get(reason, 0) for reason in reasons]
    return [f"{counts.replies:,}", unparsed_text(counts), *(f"{number:,}" if number else "–" for number in numbers)]


def reply_notes(results: Results) -> list[str]:
    """Return tokens and cost of a record's replies, and the shares of replies in another language or script."""
    cells = replied_cells(results)
    total = ReplyCounts.total(cells.values())
    if total is None:
        return []
    notes = []
    if usage := total.usage:
        cached = f" ({usage.cached:,} cached)" if usage.cached else ""
        thoughts = f" ({usage.reasoning:,} of thoughts)" if usage.reasoning else ""
        note = f"tokens: {usage.input:,} in{cached}, {usage.output:,} out{thoughts}"
        if usage.cost is not None:
            note += f"; cost {cost_text(usage.cost)}, {cost_text(total.cost_per_thousand or 0)} per 1,000 examples"
        notes.append(note)
    free = {key: counts for key, counts in cells.items() if kind_of(task(key[0])).form == "answer"}
    return [*notes, *_foreign_notes(free, "language"), *_foreign_notes(free, "script")]


def _foreign(counts: ReplyCounts, code: str, what: str) -> tuple[int, int]:
    """Return the number of replies in another language or script than a language's own, and of those that tell."""
    if what == "language":
        numbers, own = counts.languages, code
    else:
        language = known_language(code)
        numbers, own = counts.scripts, language.script if language else ""
    other = sum(number for each, number in numbers.items() if _plain(each) != _plain(own))
    return (other, sum(numbers.values())) if own else (0, 0)


def _plain(code: str) -> str:
    """Return a script, or a language without its region and script, in a form that compares."""
    return _ALIKE.get(code, code.partition("-")[0])


def _foreign_notes(cells: Mapping[tuple[str, str], ReplyCounts], what: str) -> list[str]:
    """Return the tasks with replies in another language or script, with the languages of the largest shares."""
    parts = []
    for name, members in group_by(cells.items(), lambda item: item[0][0]).items():
        numbers = {code: _foreign(counts, code, what) for (_, code), counts in members}
        shares = {code: other / known for code, (other, known) in numbers.items() if other}
        if shares:
            others, known = map(sum, zip(*numbers.values(), strict=True))
            worst = sorted(shares, key=lambda code: (-shares[code], code))[:LISTED]
            listed = ", ".join(f"{code} {score_text(100 * shares[code])} %" for code in worst)
            parts.append(f"{name} {score_text(100 * others / known)} % ({listed})")
    return [f"answers in another {what} than the examples: {'; '.join(parts)}"] if parts else []


def reply_files_table(cells: Sequence[ReplyCell]) -> Table:
    """Return how the replies of each language were read: answers, and replies without one by reason."""
    counts = {cell.language: ReplyCounts.of(cell.facts) for cell in cells}
    reasons = [outcome for outcome in _REASONS if any(outcome in each.failures for each in counts.values())]
    table = Table(
        f"Replies to {cells[0].task.id}, {cells[0].split}",
        ("language", "replies", UNPARSED, *map(_REASONS.__getitem__, reasons)),
    )
    if (total := ReplyCounts.total(counts.values())) and len(cells) > 1:
        table.add("all", *_failure_texts(total, reasons), strong=True)
    for code in sorted(counts, key=lambda code: (-counts[code].unparsed, code)):
        table.add(language_name(code), *_failure_texts(counts[code], reasons))
    table.notes = _meanings(reasons)
    return table
