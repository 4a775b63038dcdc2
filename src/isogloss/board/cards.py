"""Cards of systems and languages: self-contained SVG pictures to embed in other pages.

They show the figures of `data.js` and no others, so that scores rounded to protect hidden labels stay rounded.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple
from unicodedata import east_asian_width

import numpy as np

from isogloss.board.model import BoardData, BoardSystem, BoardTask
from isogloss.board.packing import unpacked
from isogloss.escaping import html_text
from isogloss.figures import counted, rank_text, score_text
from isogloss.metrics.statistics import FloatArray
from isogloss.results.system import OVERALL
from isogloss.scoring.averages import PIVOT

CARDS = "cards"
# Share of the best score in English from which a language counts as served, as on pages (relative.js).
SERVED_SHARE = 0.8
_WIDTH, _EDGE, _ROW = 460, 20, 26
# The shared axis of a card, from 0 to 100, and the right edge of the scores next to it.
_AXIS, _SCORE = (210.0, 440.0), 200
_NOTE_ROOM = 70
_TICKS = (0, 50, 100)
_SHOWN_HASH = 12
# Light colours are attributes, which need no style sheet; dark ones follow the reader's setting.
_DARK = (
    "@media(prefers-color-scheme:dark){.paper{fill:#12161b;stroke:#2d3640}.ink{fill:#e6eaef}.soft{fill:#a7b2be}"
    ".grid{stroke:#2d3640}.whisker{stroke:#8ec2f5}.dot{fill:#56b4e9}.bar{stroke:#e6eaef}}"
)
# Source of the style sheet in a content security policy.
STYLE_HASH = f"sha256-{b64encode(sha256(_DARK.encode()).digest()).decode()}"
_CATEGORIES = {
    "classification": "Classification",
    "structured": "Structured prediction",
    "qa": "Question answering",
    "retrieval": "Retrieval",
}


class _CardLine(NamedTuple):
    """A row of a card: a score with its interval, a reference score, and words behind the score."""

    label: str
    value: float
    low: float = np.nan
    high: float = np.nan
    reference: float = np.nan
    note: str = ""


def card_files(data: BoardData) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of each card: of every system, and of every language with a score."""
    source = _CardSource(data.title, f"{data.made[:10]} · data {data.data_hash[:_SHOWN_HASH]}")
    averages = {
        name: [
            unpacked(part) if part else np.full(len(data.systems), np.nan) for part in (ends.value, ends.low, ends.high)
        ]
        for name, ends in data.averages.items()
    }
    cells = {task.id: _cells(data, task) for task in data.tasks}
    covered = sum((~np.isnan(scores)).sum(axis=1) for scores, _ in cells.values())
    total = sum(len(task.languages) for task in data.tasks)
    for at, system in enumerate(data.systems):
        content = _system_card(data, at, averages, f"{int(covered[at])} of {counted(total, 'cell')}", source)
        yield f"{CARDS}/system/{system.id}.svg", content
    best = {task.id: _best(task, cells[task.id][0]) for task in data.tasks}
    for language in data.languages:
        lines = [
            line
            for task in data.tasks
            for line in _language_lines(task, cells[task.id][1], best[task.id], language.code)
        ]
        if lines:
            autonym = "" if language.autonym == language.name else language.autonym
            heading = _CardHeading(language.name, autonym, _service(data.tasks, best, language.code))
            content = _card(
                heading,
                lines,
                f"Best of {counted(len(data.systems), 'system')}; tick and share: best in English",
                source,
            )
            yield f"{CARDS}/language/{language.code}.svg", content


class _CardHeading(NamedTuple):
    name: str
    aside: str
    under: str


class _CardSource(NamedTuple):
    title: str
    version: str


def _cells(data: BoardData, task: BoardTask) -> tuple[FloatArray, str]:
    """Return the scores of a task, systems by languages, and their name.

    Per-language pages show the metric that most cells have (decode.js); the name has it if it is not the task's score.
    """
    shape, name = (len(data.systems), len(task.languages)), task.name.split(":")[0]
    metrics = {name: task.id, **{f"{name} {metric.upper()}": f"{task.id}:{metric}" for metric in task.metrics[:-1]}}
    tables = {title: unpacked(data.cells[key]).reshape(shape) for title, key in metrics.items() if key in data.cells}
    title = max(tables, key=lambda title: int((~np.isnan(tables[title])).sum()))
    return tables[title], title


def _system_card(
    data: BoardData, at: int, averages: dict[str, list[FloatArray]], coverage: str, source: _CardSource
) -> bytes:
    system = data.systems[at]
    columns = [(OVERALL, "Overall"), *((each.name, _CATEGORIES.get(each.name, each.name)) for each in data.categories)]
    lines = _average_lines(columns, averages, at)
    if not lines:
        lines = _average_lines([(task.id, task.name.split(":")[0]) for task in data.tasks], averages, at)
    under = " · ".join(part for part in (system.regime, _rank(data, at), coverage) if part)
    return _card(_CardHeading(system.name, "", under), lines, _scoring(system), source)


def _scoring(system: BoardSystem) -> str:
    return "Reported scores, without intervals" if system.reported else "Scored on this board; lines are 95 % intervals"


def _average_lines(
    columns: Sequence[tuple[str, str]], averages: dict[str, list[FloatArray]], at: int
) -> list[_CardLine]:
    lines = []
    for name, title in columns:
        if name in averages:
            value, low, high = (float(column[at]) for column in averages[name])
            lines.append(_CardLine(title, value, low, high))
    return [line for line in lines if not np.isnan(line.value)]


def _rank(data: BoardData, at: int) -> str:
    """Return the ranks that the test of the suite's ranking leaves open, or the place if no system is tested."""
    ranks = data.ranks.get(data.rule.name)
    rank = ranks.rank[at] if ranks else None
    if ranks is None or rank is None:
        return "partial results, not ranked"
    low, high = ranks.low[at], ranks.high[at]
    count = sum(each is not None for each in ranks.rank)
    if count > 1 and not ranks.test:
        return f"place {rank} of {count}, order not tested"
    if low is None or high is None:
        return "the only system ranked" if count == 1 else f"rank {rank_text(1, count)} of {count}, not tested"
    return f"rank {rank_text(low, high)} of {count}"


def _best(task: BoardTask, cells: FloatArray) -> dict[str, float]:
    """Return the best score of any system by language, for languages with a score."""
    scored = {code: column[~np.isnan(column)] for code, column in zip(task.languages, cells.T, strict=True)}
    pick = min if task.lower_is_better else max
    return {code: float(pick(column)) for code, column in scored.items() if len(column)}


def _language_lines(task: BoardTask, title: str, best: dict[str, float], code: str) -> list[_CardLine]:
    if code not in best:
        return []
    share = _share(task, best, code)
    note = "" if share is None or code == PIVOT else f"{share:.0%}".replace("%", " %")
    return [_CardLine(title, best[code], reference=best.get(PIVOT, np.nan), note=note)]


def _share(task: BoardTask, best: dict[str, float], code: str) -> float | None:
    """Return the best score as a share of that in English, of what is right if the score is an error rate."""
    if code not in best or PIVOT not in best:
        return None
    own, english = (100 - best[each] if task.lower_is_better else best[each] for each in (code, PIVOT))
    return own / english if english else None


def _service(tasks: Sequence[BoardTask], best: dict[str, dict[str, float]], code: str) -> str:
    """Return whether the mean share over tasks serves the language, as on pages."""
    shares = [share for task in tasks if (share := _share(task, best[task.id], code)) is not None]
    if not shares or code == PIVOT:
        return "the language that others are compared with" if shares else "no task has scores in English"
    mean = float(np.mean(shares))
    word = "served" if mean >= SERVED_SHARE else "not served"
    # With a decimal, so that 79.8 % does not look like 80 %.
    figure = f"{score_text(100 * mean)} % over {counted(len(shares), 'task')}"
    return f"{word} at {100 * SERVED_SHARE:.0f} % of English: {figure}"


def _card(heading: _CardHeading, lines: Sequence[_CardLine], note: str, source: _CardSource) -> bytes:
    """Draw a card: a heading, a dot per score on one axis from 0 to 100, and the source."""
    top = 92
    bottom = top + _ROW * max(1, len(lines))
    height = bottom + 58
    room = _WIDTH - 2 * _EDGE
    end = _AXIS[1] - (_NOTE_ROOM if any(line.note for line in lines) else 0)
    name = _fitted(heading.name, room - 10 - (_wide(heading.aside, 14) if heading.aside else 0), 19)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}" '
        'role="img" font-family="system-ui,\'Noto Sans\',sans-serif" font-size="13">',
        f"<title>{html_text(f'{heading.name}: {heading.under}')}</title><style>{_DARK}</style>",
        f'<rect class="paper" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="12" fill="#fff" '
        'stroke="#dde2e8"/>',
        _text(_EDGE, 36, name, "ink", 'font-size="19" font-weight="700"'),
        _text(_WIDTH - _EDGE, 36, _fitted(heading.aside, room / 2, 14), "soft", 'font-size="14" text-anchor="end"'),
        _text(_EDGE, 58, _fitted(heading.under, room, 13), "soft"),
    ]
    for tick in _TICKS if lines else ():
        x = _x(tick, end)
        parts.append(f'<path class="grid" d="M{x:g} {top - 6}V{bottom - 4}" stroke="#dde2e8"/>')
        parts.append(_text(x, top - 11, str(tick), "soft", 'font-size="11" text-anchor="middle"'))
    parts += [part for at, line in enumerate(lines) for part in _drawn(line, top + _ROW * (at + 0.5) - 3, end)]
    if not lines:
        parts.append(_text(_EDGE, top + 12, "No complete average", "soft"))
    parts += [
        _text(_EDGE, bottom + 20, note, "soft", 'font-size="11"'),
        _text(_EDGE, bottom + 38, _fitted(source.title, room - 190, 11), "soft", 'font-size="11"'),
        _text(_WIDTH - _EDGE, bottom + 38, source.version, "soft", 'font-size="11" text-anchor="end"'),
        "</svg>\n",
    ]
    return "".join(parts).encode()


def _drawn(line: _CardLine, y: float, end: float) -> Iterator[str]:
    """Yield a row: its label, its score, and a dot on the line of its interval."""
    yield _text(_EDGE, y + 4, _fitted(line.label, 152, 13), "ink")
    yield _text(_SCORE, y + 4, score_text(line.value), "ink", 'font-weight="600" text-anchor="end"')
    if not np.isnan(line.low) and not np.isnan(line.high):
        path = f"M{_x(line.low, end):g} {y:g}H{_x(line.high, end):g}"
        yield f'<path class="whisker" d="{path}" stroke="#0b5394" stroke-width="2"/>'
    if not np.isnan(line.reference):
        yield f'<path class="bar" d="M{_x(line.reference, end):g} {y - 8:g}v16" stroke="#1d232b" stroke-width="2"/>'
    yield f'<circle class="dot" cx="{_x(line.value, end):g}" cy="{y:g}" r="4.5" fill="#0072b2"/>'
    if line.note:
        yield _text(_AXIS[1], y + 4, line.note, "soft", 'font-size="11" text-anchor="end"')


def _x(value: float, end: float) -> float:
    return round(_AXIS[0] + (end - _AXIS[0]) * min(100.0, max(0.0, value)) / 100, 1)


def _text(x: float, y: float, text: str, colour: str, more: str = "") -> str:
    fill = "#1d232b" if colour == "ink" else "#55606d"
    return f'<text class="{colour}" x="{x:g}" y="{y:g}" fill="{fill}" {more}>{html_text(text)}</text>' if text else ""


def _wide(text: str, size: float) -> float:
    """Estimate the width of a text; no font is at hand."""
    return size * sum(1.05 if east_asian_width(sign) in "WF" else 0.55 for sign in text)


def _fitted(text: str, room: float, size: float) -> str:
    """Return a text that fits, shortened by an ellipsis."""
    if _wide(text, size) <= room:
        return text
    while text and _wide(f"{text}…", size) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"
