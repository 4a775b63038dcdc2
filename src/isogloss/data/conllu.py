"""CoNLL-U treebanks as sentences of words with one tag each, prepared as XTREME prepares them.

- A fused token (`3-4`) replaces its parts and takes the UPOS of the part closest to the root: the one with
  fewest ancestors in the graph of basic heads and enhanced dependencies together. Of several equally close,
  the tag earliest in the language's precedence list wins. A tag outside that list ranks after it, by the
  default list; a tag outside both ranks last; what is still a tie goes to the first part. (At a tie that
  involves a tag outside its list the reference preparation stops with an error; everywhere else the two
  agree.)
- Empty nodes (`8.1`) and comments are dropped. So are sentences whose forms are all `_`, or all but one: they
  come from treebanks published without their text.
- Spaces and zero-width non-joiners inside a form are removed from the word.

The raw text of a sentence, and where each word stands in it, are worked out only when asked for.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NoReturn

from isogloss.errors import DataError

Fields = list[str]  # the ten columns of one word
Offsets = tuple[int, int]

ID, FORM, UPOS, HEAD, DEPS, MISC, COLUMNS = 0, 1, 3, 6, 8, 9, 10

_PRECEDENCE = {
    "es": "VERB AUX PRON ADP DET",
    "fr": "VERB AUX PRON NOUN ADJ ADV ADP DET PART SCONJ CONJ",
    "it": "VERB AUX ADV PRON ADP DET INTJ",
}
_DEFAULT_PRECEDENCE = "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT"

# Most sentences number their rows 1, 2, 3, …: one comparison with this list proves it.
_PLAIN_IDS = [str(number) for number in range(1, 513)]
_ID = re.compile(r"([0-9]+)(?:([-.])([0-9]+))?")
_REMOVED = str.maketrans("", "", " \u200c")


@dataclass(frozen=True)
class Sentence:
    """One sentence: `words` and their `tags` as scored, and its surface as the treebank gives it."""

    words: list[str]
    tags: list[str]
    forms: list[str]
    """The words as written, before spaces and zero-width non-joiners are removed."""
    misc: list[str]
    """The tenth column of each word; it says where no space follows."""
    comments: list[str]

    @property
    def sent_id(self) -> str:
        """The treebank's own id of the sentence; empty where it has none."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """The raw sentence: the `# text` comment or, where that does not hold the forms, made from them."""
        return self._located[0]

    @property
    def offsets(self) -> list[Offsets]:
        """Half-open code-point offsets of each form in `text`: `text[start:end]` is the form."""
        return self._located[1]

    @property
    def rebuilt(self) -> bool:
        """Whether `text` had to be put together from the forms."""
        return self._located[2]

    @cached_property
    def _located(self) -> tuple[str, list[Offsets], bool]:
        text = self._comment("text")
        offsets = _locate(self.forms, text)
        if offsets is not None:
            return text, offsets, False
        return *_rebuild(self.forms, self.misc), True

    def _comment(self, key: str) -> str:
        for comment in self.comments:
            name, equals, value = comment.removeprefix("#").partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return ""


def tagged_words(lines: Iterable[str], language: str, source: str = "") -> list[list[tuple[str, str]]]:
    """Sentences of (word, UPOS), as XTREME prepares them."""
    return [list(zip(s.words, s.tags, strict=True)) for s in sentences(lines, language, source)]


def sentences(lines: Iterable[str], language: str, source: str = "") -> Iterator[Sentence]:
    """Read CoNLL-U lines, one sentence at a time.

    Args:
        lines: The lines of a file, with or without their line ends; the last blank line may be missing.
        language: Two-letter code; it chooses the precedence list for the tags of fused tokens.
        source: A file name, for error messages.

    Raises:
        DataError: At a line without ten columns, an id out of turn, a range without its words, an empty form.
    """
    precedence = f"{_PRECEDENCE.get(language, '')} {_DEFAULT_PRECEDENCE}".split()
    ranking = {tag: rank for rank, tag in enumerate(dict.fromkeys(precedence))}
    rows: list[Fields] = []
    numbers: list[int] = []
    comments: list[str] = []
    for number, ended in enumerate(chain(lines, ("",)), 1):
        line = ended.rstrip("\r\n")
        if line.startswith("#"):
            comments.append(line)
        elif line and not line.isspace():
            row = line.split("\t")
            if len(row) != COLUMNS:
                _fail(f"{len(row)} columns instead of {COLUMNS}", source, number)
            rows.append(row)
            numbers.append(number)
        else:
            if [row[ID] for row in rows] != _PLAIN_IDS[: len(rows)]:
                rows, numbers = _surface(rows, numbers, ranking, source)
            forms = [row[FORM] for row in rows]
            blanks = forms.count("_")
            if forms and not (blanks and blanks >= len(forms) - 1):
                words = _cleaned(forms)
                if "" in words:
                    _fail("a word without a form", source, numbers[words.index("")])
                tags = [row[UPOS] for row in rows]
                yield Sentence(words, tags, forms, [row[MISC] for row in rows], comments)
            rows, numbers, comments = [], [], []


def _cleaned(forms: list[str]) -> list[str]:
    """Forms without spaces and zero-width non-joiners; almost always there are none to remove."""
    joined = "".join(forms)
    if " " in joined or "\u200c" in joined:
        return [form.translate(_REMOVED) for form in forms]
    return forms


def _surface(
    rows: list[Fields], numbers: list[int], ranking: dict[str, int], source: str
) -> tuple[list[Fields], list[int]]:
    """Rows and line numbers of the surface words: fused tokens in place of their parts, no empty nodes."""
    parts: list[Fields] = []  # parts[i] has the id i + 1
    surface: list[tuple[Fields, int]] = []
    fused: list[tuple[Fields, int, int]] = []
    covered = 0  # the last id that belongs to a fused token
    for row, number in zip(rows, numbers, strict=True):
        expected = len(parts) + 1
        if row[ID] == str(expected):
            parts.append(row)
            if expected > covered:
                surface.append((row, number))
            continue
        match = _ID.fullmatch(row[ID])
        if match is None:
            _fail(f"{row[ID]!r} is not a token id", source, number)
        first, kind, last = int(match[1]), match[2], int(match[3] or 0)
        if kind == ".":
            continue
        if kind is None or first != expected:
            _fail(f"token id {row[ID]} where {expected} should come", source, number)
        if first <= covered or last < first:
            _fail(f"the range {row[ID]} is empty or overlaps another", source, number)
        covered = last
        fused.append((row, first, last))
        surface.append((row, number))
    if covered > len(parts):
        row = fused[-1][0]
        _fail(f"the range {row[ID]} goes beyond the last word, {len(parts)}", source, numbers[rows.index(row)])
    if fused:
        heads = {position: _heads(part) for position, part in enumerate(parts, 1)}
        for row, first, last in fused:
            row[UPOS] = _fused_tag(range(first, last + 1), parts, heads, ranking)
    return [row for row, _ in surface], [number for _, number in surface]


def _heads(row: Fields) -> list[int]:
    """Basic and enhanced heads of a word; those that are not words, such as empty nodes, are left out."""
    edges = [row[HEAD]] if row[DEPS] == "_" else [row[HEAD], *row[DEPS].split("|")]
    names = [edge.partition(":")[0] for edge in edges]
    return [int(name) for name in names if name.isdecimal()]


def _fused_tag(
    positions: Sequence[int], parts: list[Fields], heads: dict[int, list[int]], ranking: dict[str, int]
) -> str:
    """The tag of the part closest to the root; the ranking decides between equals."""
    depths = [_ancestors(position, heads) for position in positions]
    nearest = min(depths)
    closest = [position for position, depth in zip(positions, depths, strict=True) if depth == nearest]
    tags = [parts[position - 1][UPOS] for position in closest]
    return min(tags, key=lambda tag: ranking.get(tag, len(ranking)))


def _ancestors(position: int, heads: dict[int, list[int]]) -> int:
    """How many other nodes, the root included, a word can be reached from; a cycle counts each node once."""
    found = {position}
    waiting = [position]
    while waiting:
        for head in heads.get(waiting.pop(), ()):
            if head not in found:
                found.add(head)
                waiting.append(head)
    return len(found) - 1


def _locate(forms: list[str], text: str) -> list[Offsets] | None:
    """Offsets of the forms in a text that holds exactly them, in order, with blanks between; else None."""
    offsets = []
    end = 0
    for form in forms:
        start = text.find(form, end)
        if start < 0 or text[end:start].strip():
            return None
        end = start + len(form)
        offsets.append((start, end))
    return None if text[end:].strip() else offsets


def _rebuild(forms: list[str], misc: list[str]) -> tuple[str, list[Offsets]]:
    """The forms joined by single spaces, but for those marked `SpaceAfter=No`, and their offsets."""
    text = space = ""
    offsets = []
    for form, notes in zip(forms, misc, strict=True):
        start = len(text) + len(space)
        text += space + form
        offsets.append((start, len(text)))
        space = "" if "SpaceAfter=No" in notes.split("|") else " "
    return text, offsets


def _fail(what: str, source: str, number: int) -> NoReturn:
    where = f"{source}:{number}" if source else f"line {number}"
    raise DataError(what, where=where, fix="The file is damaged, or it is not CoNLL-U")
