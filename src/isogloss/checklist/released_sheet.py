"""The released MultiCheckList sheet: one wide table, read cell by cell with its quirks.

| quirk | is read as |
|---|---|
| a language's code is over several columns | variants of one translation, kept by position |
| `<code>-placeholders` right of a column | the condition of that variant: English values it is for, blank for all |
| a condition over several fill-ins (`age, a sofa, …`) | one value of each fill-in must be drawn |
| a condition that lists English contexts | the variant is for these contexts |
| an answer's condition that is a template itself | the answer in every context except the first |
| a test without its own fill-in rows | those of the nearest test before it |
| `{obj[1]}` in a context, where sentences begin with a capital | `{c:obj[1]}`, capitalised as in the paper's examples |
| a blank row, or one with a blank field | the end of a test |
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from isogloss.data.files import lines
from isogloss.errors import DataError, near_names, unknown
from isogloss.grammar.schema import CASED_SCRIPTS
from isogloss.grouping import group_by
from isogloss.languages import CODES
from isogloss.languages import language as find_language

ENGLISH = "en"
PEOPLE = "first_name"
PROPERTY = "property"
CONTEXT = "context"
TITLES = {
    "A is COMP than B. Who is more / less COMP?": "comparisons",
    "Intensifiers (very, super, extremely) and reducers (somewhat, kinda, etc)?": "intensifiers",
    "size, shape, age, color": "properties",
    "Profession vs nationality": "job_vs_nationality",
    "Animal vs Vehicle": "animal_vs_vehicle",
    "Animal vs Vehicle v2": "animal_vs_vehicle_2",
}
_TEMPLATES = ("Context", "Question", "Answer")
_CONDITIONS = "-placeholders"
_MARKS = re.compile(r"(?:\s*[,،၊，]\s*)+")
_ARTICLE = re.compile(r"^(?:an?|the) ")
SLOT = re.compile(
    r"\{(?:(?P<options>\w*):)?(?P<name>[a-z_]+)(?P<copy>\d*)(?:\[(?P<index>\d+)\])?(?:\.(?P<part>\w+))?\}"
)


@dataclass(frozen=True)
class Condition:
    """Condition of a variant: one of these English values for every fill-in named."""

    wanted: Mapping[str, frozenset[str]]
    unknown: tuple[str, ...] = ()  # not in the sheet
    repeated: frozenset[str] = frozenset()  # named twice

    def holds(self, facts: Mapping[str, str]) -> bool:
        """Return True if the variant fits the draw; a condition with only unknown values never holds."""
        fits = all(facts.get(name) in values for name, values in self.wanted.items())
        return fits and bool(self.wanted or not self.unknown)


@dataclass(frozen=True)
class SheetCell:
    """One variant of a translation."""

    text: str
    condition: Condition


@dataclass(frozen=True)
class SheetRow:
    """One row in one language: English text, line, and variants."""

    english: str
    line: int
    cells: tuple[SheetCell, ...]

    def fitting(self, facts: Mapping[str, str]) -> list[SheetCell]:
        """Return the variants that fit the draw: those with a condition that holds, or else those without one."""
        holding = [cell for cell in self.cells if cell.condition.holds(facts)]
        return [cell for cell in holding if cell.condition.wanted] or holding


@dataclass(frozen=True, kw_only=True)
class SheetTranslation:
    """A test in one language; answer i belongs to question i."""

    test: str
    contexts: tuple[SheetRow, ...]
    questions: tuple[SheetRow, ...]
    answers: tuple[SheetRow, ...]
    lexicons: Mapping[str, tuple[SheetRow, ...]]

    @property
    def templates(self) -> tuple[SheetRow, ...]:
        """All rows with slots."""
        return self.contexts + self.questions + self.answers


class _Line(NamedTuple):
    number: int
    field: str
    english: str
    cells: Sequence[str]


class _Block(NamedTuple):
    title: str
    line: int
    rows: dict[str, list[_Line]]  # by field: templates and fill-ins


class _Column(NamedTuple):
    language: str
    text: int
    condition: int | None = None


def slots(template: str) -> set[tuple[str, str]]:
    """Return the slots of a template: name with number, and the requested part (`p`, `v1`)."""
    return {(match["name"] + match["copy"], match["part"] or "") for match in SLOT.finditer(template)}


def lexicon_of(slot: str) -> str:
    """Return the fill-in rows of a slot."""
    name = slot.rstrip("0123456789")
    return {"s": "state", "p": PROPERTY}.get(name, name)


@lru_cache(maxsize=8192)
def parts(text: str) -> tuple[str, ...]:
    """Split a list cell at the commas of any script, or at blanks if it has none (Thai)."""
    values = tuple(part for part in _MARKS.split(text) if part)
    return values if len(values) > 1 else tuple(text.split())


def read(path: Path) -> dict[str, dict[str, SheetTranslation]]:
    """Read the sheet as translations by language and test, in column and row order."""
    rows = ([cell.strip() for cell in line.split("\t")] for line in lines(path))
    header = next(rows, None)
    if header is None:
        raise DataError("empty file", where=str(path), fix="Use a table with one column per language")
    columns = _columns(header, f"{path}:1")
    if ENGLISH not in header:
        raise DataError("missing column en", where=f"{path}:1", fix="Add it: conditions and fill-ins refer to English")
    blocks = _blocks(rows, header, path)
    if not blocks:
        raise DataError("no tests", where=str(path), fix="Write a row Name, followed by the rows of the test")
    conditions = _ConditionParser(blocks)
    by_language = group_by(columns, attrgetter("language"))
    return {
        language: {TITLES[block.title]: _translation(block, own, conditions, path) for block in blocks}
        for language, own in by_language.items()
    }


def _columns(header: Sequence[str], where: str) -> list[_Column]:
    columns: list[_Column] = []
    for index, name in enumerate(header[1:], 1):
        code = name.removesuffix(_CONDITIONS)
        if code not in CODES:
            raise unknown("language", code, CODES, where=where)
        if not name.endswith(_CONDITIONS):
            columns.append(_Column(code, index))
        elif columns and columns[-1] == _Column(code, index - 1):
            columns[-1] = _Column(code, index - 1, index)
        else:
            what = f"column {index + 1} ({name}) does not follow a column {code}"
            raise DataError(what, where=where, fix="Put conditions to the right of their translation")
    return columns


def _blocks(rows: Iterable[Sequence[str]], header: Sequence[str], path: Path) -> list[_Block]:
    blocks: list[_Block] = []
    current: _Block | None = None
    for number, cells in enumerate(rows, 2):
        where = f"{path}:{number}"
        if not any(cells):
            current = None
            continue
        if len(cells) != len(header):
            raise DataError(f"expected {len(header)} cells as in the header, got {len(cells)}", where=where)
        row = _Line(number, cells[0], cells[header.index(ENGLISH)], cells)
        if not row.field:
            raise DataError("missing field", where=where, fix="Name the fill-in, or clear the row")
        if not row.english:
            raise DataError(f"missing English text of {row.field}", where=where)
        if row.field == "Name":
            if row.english not in TITLES:
                raise unknown("test of the sheet", row.english, TITLES, where=where)
            if any(other.title == row.english for other in blocks):
                raise DataError(f"duplicate test {row.english!r}", where=where)
            current = _Block(row.english, number, {name: [] for name in _TEMPLATES})
            blocks.append(current)
        elif current is None:
            raise DataError(f"missing row Name before {row.field}", where=where)
        elif row.field != "Capability":
            current.rows.setdefault(row.field, []).append(row)
    for index, block in enumerate(blocks):
        _complete(block, blocks[:index], path)
    return blocks


def _complete(block: _Block, before: Sequence[_Block], path: Path) -> None:
    """Give the test the fill-ins of its slots, from the nearest test that has them; raise an error if it lacks rows."""
    counts = {name: len(block.rows[name]) for name in _TEMPLATES}
    if not counts["Context"] or not counts["Question"] or counts["Question"] != counts["Answer"]:
        counted = ", ".join(f"{count} {name}" for name, count in counts.items())
        fix = "Every test needs contexts, and an Answer row for each Question"
        raise DataError(f"{counted} rows", where=f"{path}:{block.line}", fix=fix)
    needed: dict[str, int] = {}
    for row in (row for name in _TEMPLATES for row in block.rows[name]):
        for slot, _ in slots(row.english):
            needed.setdefault(lexicon_of(slot), row.number)
    for row in block.rows.get(PROPERTY, []):
        needed.setdefault(row.english, row.number)
    needed.pop(PEOPLE, None)
    for name, rows in block.rows.items():
        if name not in (*needed, *_TEMPLATES):
            close = near_names(name, [*needed, "Name", "Capability", *_TEMPLATES], 1)
            fix = f"Did you mean {close[0]}?" if close else ""
            raise DataError(f"no template uses {name!r}", where=f"{path}:{rows[0].number}", fix=fix)
    for name, line in needed.items():
        shared = next((other.rows[name] for other in (block, *before[::-1]) if name in other.rows), None)
        if shared is None:
            raise DataError(f"no fill-in for {name!r}", where=f"{path}:{line}", fix=f"Add rows {name}")
        block.rows[name] = shared


class _ConditionParser:
    """Parser of conditions, which refer to English fill-ins of a test or English contexts of any test."""

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._contexts = {row.english for block in blocks for row in block.rows["Context"]}
        self._answers = {row.english for block in blocks for row in block.rows["Answer"]}
        self._values: dict[str, dict[str, tuple[str, str]]] = {}
        for block in blocks:
            values = self._values[block.title] = {}
            for row in (row for name, rows in block.rows.items() if name not in _TEMPLATES for row in rows):
                for value in (row.english, *_MARKS.split(row.english)):
                    values.setdefault(_plain(value), (row.field, row.english))

    def parse(self, text: str, title: str) -> Condition:
        """Parse a condition leniently: `a sofa`, `the sofa` and `sofa` are the same."""
        wanted: dict[str, set[str]] = {}
        unknown_values: list[str] = []
        repeated: set[str] = set()
        for token, times in Counter(filter(None, re.split(r"\s*,\s*", text))).items():
            if token in self._contexts:
                wanted.setdefault(CONTEXT, set()).add(token)
            elif token in self._answers:
                continue  # the answer uses the variant of its context
            elif _plain(token) in self._values[title]:
                name, value = self._values[title][_plain(token)]
                wanted.setdefault(name, set()).add(value)
                repeated |= {value} if times > 1 else set()
            else:
                unknown_values.append(token)
        conditions = {name: frozenset(values) for name, values in wanted.items()}
        return Condition(conditions, tuple(unknown_values), frozenset(repeated))


def _plain(value: str) -> str:
    return _ARTICLE.sub("", value.casefold())


def _translation(
    block: _Block, columns: Sequence[_Column], conditions: _ConditionParser, path: Path
) -> SheetTranslation:
    english = [row.english for row in block.rows["Context"]]
    cased = find_language(columns[0].language).script in CASED_SCRIPTS

    def row(line: _Line) -> SheetRow:
        cells: list[SheetCell] = []
        for column in columns:
            text = line.cells[column.text]
            if cased and line.field == "Context":
                text = text.replace("{obj[1]}", "{c:obj[1]}")
            condition = line.cells[column.condition] if column.condition is not None else ""
            if text and line.field == "Answer" and "{" in condition:
                cells.append(SheetCell(text, Condition({CONTEXT: frozenset(english[:1])})))
                cells.append(SheetCell(condition, Condition({CONTEXT: frozenset(english[1:])})))
            elif text:
                cells.append(SheetCell(text, conditions.parse(condition, block.title)))
        if not cells:
            raise DataError(f"{columns[0].language} has no {line.field}", where=f"{path}:{line.number}")
        return SheetRow(line.english, line.number, tuple(cells))

    rows = {name: tuple(map(row, lines)) for name, lines in block.rows.items()}
    contexts, questions, answers = (rows.pop(name) for name in _TEMPLATES)
    test = TITLES[block.title]
    return SheetTranslation(test=test, contexts=contexts, questions=questions, answers=answers, lexicons=rows)
