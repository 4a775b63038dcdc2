"""The released MultiCheckList sheet: one wide table, read cell by cell with its quirks.

| quirk | is read as |
|---|---|
| a language's code is over several columns | variants of one translation, kept by position |
| `<code>-placeholders` right of a column | the condition of that variant: English values it is for, blank for all |
| a condition over several fill-ins (`age, a sofa, …`) | one value of each fill-in must be drawn |
| a condition that lists English contexts | the variant is for these contexts |
| an answer's condition that is a template itself | the answer in every context but the first |
| a test without its own fill-in rows | those of the nearest test before it |
| a blank row, or one whose field is only blanks | the end of a test |
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from isogloss.data.files import lines
from isogloss.errors import DataError, near_names, unknown
from isogloss.languages import CODES

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
    """What must be drawn for a variant to be the right one: of every fill-in named, one of these English values.

    `unknown` holds what the condition names and the sheet does not have, `repeated` the values it names twice.
    """

    wanted: Mapping[str, frozenset[str]]
    unknown: tuple[str, ...] = ()
    repeated: frozenset[str] = frozenset()

    def holds(self, facts: Mapping[str, str]) -> bool:
        """Whether the variant is for what was drawn; a condition of unknown values alone never holds."""
        if not self.wanted:
            return not self.unknown
        return all(facts.get(name) in values for name, values in self.wanted.items())


@dataclass(frozen=True)
class SheetCell:
    """One variant of a translation."""

    text: str
    condition: Condition


@dataclass(frozen=True)
class SheetRow:
    """One row in one language: what it says in English, its line, its variants."""

    english: str
    line: int
    cells: tuple[SheetCell, ...]

    def fitting(self, facts: Mapping[str, str]) -> list[SheetCell]:
        """The variants for what was drawn: those whose condition holds, or else those without one."""
        holding = [cell for cell in self.cells if cell.condition.holds(facts)]
        return [cell for cell in holding if cell.condition.wanted] or holding


@dataclass(frozen=True)
class SheetTranslation:
    """A test in one language; answer i is that of question i."""

    test: str
    contexts: tuple[SheetRow, ...]
    questions: tuple[SheetRow, ...]
    answers: tuple[SheetRow, ...]
    lexicons: Mapping[str, tuple[SheetRow, ...]]

    @property
    def templates(self) -> tuple[SheetRow, ...]:
        """All rows with slots."""
        return self.contexts + self.questions + self.answers


@dataclass(frozen=True)
class _Line:
    number: int
    english: str
    cells: Sequence[str]

    @property
    def field(self) -> str:
        """What the row holds."""
        return self.cells[0]


@dataclass
class _Block:
    """The rows of one test, in all languages."""

    title: str
    line: int
    templates: dict[str, list[_Line]] = field(default_factory=lambda: {name: [] for name in _TEMPLATES})
    lexicons: dict[str, list[_Line]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Column:
    language: str
    text: int
    condition: int | None


def slots(template: str) -> set[tuple[str, str]]:
    """The slots of a template: name with number, and the part of it that is asked for (`p`, `v1`)."""
    return {(found["name"] + found["copy"], found["part"] or "") for found in SLOT.finditer(template)}


def lexicon_of(slot: str) -> str:
    """The fill-in rows a slot is filled from."""
    name = slot.rstrip("0123456789")
    return {"s": "state", "p": PROPERTY}.get(name, name)


@lru_cache(maxsize=8192)
def parts(text: str) -> tuple[str, ...]:
    """The values of a list cell: split at the commas of any script, or where it has none (Thai) at blanks."""
    found = tuple(part for part in _MARKS.split(text) if part)
    return found if len(found) > 1 else tuple(text.split())


def read(path: Path) -> dict[str, dict[str, SheetTranslation]]:
    """The sheet as translations by language and test, in the order of the columns and rows."""
    rows = ([cell.strip() for cell in line.split("\t")] for line in lines(path))
    header = next(rows, None)
    if header is None:
        raise DataError("empty", where=str(path), fix="Expected a table with a column for each language")
    columns = _columns(header, f"{path}:1")
    if ENGLISH not in header:
        raise DataError("no column en", where=f"{path}:1", fix="Conditions and fill-ins are known by their English")
    blocks = _blocks(rows, header, path)
    if not blocks:
        raise DataError("no test", where=str(path), fix="Expected a row Name, and those of the test below it")
    conditions = _ConditionParser(blocks)
    found: dict[str, dict[str, SheetTranslation]] = {}
    for language in dict.fromkeys(column.language for column in columns):
        own = [column for column in columns if column.language == language]
        tests = (_translation(block, own, conditions, path) for block in blocks)
        found[language] = {translation.test: translation for translation in tests}
    return found


def _columns(header: Sequence[str], where: str) -> list[_Column]:
    columns: list[_Column] = []
    for place, name in enumerate(header[1:], 1):
        code = name.removesuffix(_CONDITIONS)
        if code not in CODES:
            raise unknown("language", code, CODES, where=where)
        if not name.endswith(_CONDITIONS):
            columns.append(_Column(code, place, None))
        elif not columns or columns[-1] != _Column(code, place - 1, None):
            raise DataError(
                f"column {place + 1} ({name}) is not right of a column {code}",
                where=where,
                fix="Conditions belong to the translation at their left",
            )
        else:
            columns[-1] = _Column(code, place - 1, place)
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
            raise DataError(f"{len(cells)} cells where the header has {len(header)}", where=where)
        row = _Line(number, cells[header.index(ENGLISH)], cells)
        if not row.field:
            raise DataError("a row with text and no field", where=where, fix="Name the fill-in, or empty the row")
        if not row.english:
            raise DataError(f"{row.field} without English", where=where)
        if row.field == "Name":
            current = _Block(row.english, number)
            _check_title(current, blocks, where)
            blocks.append(current)
        elif current is None:
            raise DataError(f"{row.field} before the Name of a test", where=where)
        elif row.field == "Capability":
            continue
        elif row.field in _TEMPLATES:
            current.templates[row.field].append(row)
        else:
            current.lexicons.setdefault(row.field, []).append(row)
    for place, block in enumerate(blocks):
        _check_templates(block, path)
        _share_lexicons(block, blocks[:place], path)
    return blocks


def _check_title(block: _Block, before: Iterable[_Block], where: str) -> None:
    if block.title not in TITLES:
        raise unknown("test of the sheet", block.title, TITLES, where=where)
    if any(other.title == block.title for other in before):
        raise DataError(f"a second test {block.title!r}", where=where)


def _check_templates(block: _Block, path: Path) -> None:
    counts = {name: len(rows) for name, rows in block.templates.items()}
    if not counts["Context"] or not counts["Question"] or counts["Question"] != counts["Answer"]:
        counted = ", ".join(f"{count} {name}" for name, count in counts.items())
        fix = "Every test has contexts, and an Answer row for each Question"
        raise DataError(f"{counted} rows", where=f"{path}:{block.line}", fix=fix)


def _share_lexicons(block: _Block, before: Sequence[_Block], path: Path) -> None:
    """Give the test the fill-ins of its slots, from the nearest test that has them; others are a mistake."""
    needed: dict[str, int] = {}
    for row in (row for rows in block.templates.values() for row in rows):
        for slot, _ in slots(row.english):
            needed.setdefault(lexicon_of(slot), row.number)
    for row in block.lexicons.get(PROPERTY, []):
        needed.setdefault(row.english, row.number)
    needed.pop(PEOPLE, None)
    for name, rows in block.lexicons.items():
        if name not in needed:
            close = near_names(name, [*needed, "Name", "Capability", *_TEMPLATES], 1)
            fix = f"Did you mean {close[0]}?" if close else ""
            raise DataError(f"no template asks for {name!r}", where=f"{path}:{rows[0].number}", fix=fix)
    for name, line in needed.items():
        shared = next((other.lexicons[name] for other in (block, *before[::-1]) if name in other.lexicons), None)
        if shared is None:
            raise DataError(f"nothing to fill {name!r} with", where=f"{path}:{line}", fix=f"Add rows {name}")
        block.lexicons[name] = shared


class _ConditionParser:
    """What conditions may name: English values of each test's fill-ins, and English contexts of any test."""

    def __init__(self, blocks: Sequence[_Block]) -> None:
        self._contexts = {row.english for block in blocks for row in block.templates["Context"]}
        self._answers = {row.english for block in blocks for row in block.templates["Answer"]}
        self._values: dict[str, dict[str, tuple[str, str]]] = {}
        for block in blocks:
            values = self._values.setdefault(block.title, {})
            for name, rows in block.lexicons.items():
                for row in rows:
                    for value in (row.english, *_MARKS.split(row.english)):
                        values.setdefault(_plain(value), (name, row.english))

    def parse(self, text: str, title: str) -> Condition:
        """A condition as it was meant: `a sofa`, `the sofa` and `sofa` name one thing."""
        wanted: dict[str, set[str]] = {}
        unknown_values: list[str] = []
        repeated: set[str] = set()
        for token, times in Counter(filter(None, re.split(r"\s*,\s*", text))).items():
            if token in self._contexts:
                wanted.setdefault(CONTEXT, set()).add(token)
            elif token in self._answers:
                continue  # the answer takes the variant of its context
            elif _plain(token) in self._values[title]:
                name, value = self._values[title][_plain(token)]
                wanted.setdefault(name, set()).add(value)
                repeated |= {value} if times > 1 else set()
            else:
                unknown_values.append(token)
        return Condition(
            {name: frozenset(values) for name, values in wanted.items()}, tuple(unknown_values), frozenset(repeated)
        )


def _plain(value: str) -> str:
    return _ARTICLE.sub("", value.casefold())


def _translation(
    block: _Block, columns: Sequence[_Column], conditions: _ConditionParser, path: Path
) -> SheetTranslation:
    english = [row.english for row in block.templates["Context"]]

    def row(line: _Line) -> SheetRow:
        cells = tuple(_cells(line, columns, block.title, conditions, english))
        if not cells:
            raise DataError(f"{columns[0].language} has no {line.field}", where=f"{path}:{line.number}")
        return SheetRow(line.english, line.number, cells)

    made = {name: tuple(map(row, rows)) for name, rows in (block.templates | block.lexicons).items()}
    contexts, questions, answers = (made.pop(name) for name in _TEMPLATES)
    return SheetTranslation(TITLES[block.title], contexts, questions, answers, made)


def _cells(
    line: _Line, columns: Sequence[_Column], title: str, conditions: _ConditionParser, contexts: Sequence[str]
) -> Iterator[SheetCell]:
    for column in columns:
        text = line.cells[column.text]
        condition = line.cells[column.condition] if column.condition is not None else ""
        if not text:
            continue
        if line.field == "Answer" and "{" in condition:
            yield SheetCell(text, Condition({CONTEXT: frozenset(contexts[:1])}))
            yield SheetCell(condition, Condition({CONTEXT: frozenset(contexts[1:])}))
        else:
            yield SheetCell(text, conditions.parse(condition, title))
