"""CoNLL-U treebanks as sentences of words with one tag each, prepared as XTREME prepares them.

- A fused token (`3-4`) replaces its parts and takes the UPOS of the part closest to the root: the one with
  fewest ancestors in the graph of basic heads and enhanced dependencies together. If several are equally close,
  the tag earliest in the language's precedence list wins. A tag outside that list ranks after it, by the
  default list; a tag outside both ranks last; remaining ties go to the first part. (At a tie that
  involves a tag outside its list the reference preparation stops with an error; everywhere else the two
  agree.)
- Empty nodes (`8.1`) and comments are dropped. So are sentences with all forms `_`, or all except one: they
  come from treebanks published without their text.
- Spaces and zero-width non-joiners inside a form are removed from the word.

The raw text of a sentence and the word offsets are computed lazily.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import NoReturn

from isogloss.decoding import whole_number
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

# Most sentences number their rows 1, 2, 3, …: one comparison with this list checks it.
_PLAIN_IDS = [str(number) for number in range(1, 513)]
_ID = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
# Longer sentences are not from a treebank, and the ancestor sets of their words would fill the memory.
MAX_WORDS = 20_000
_REMOVED = str.maketrans("", "", " \u200c")


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """One sentence: `words` and `tags` as scored, and the surface forms of the treebank."""

    words: list[str]
    tags: list[str]
    forms: list[str]  # the words as written, before spaces and zero-width non-joiners are removed
    misc: list[str]  # the tenth column of each word; it marks missing spaces
    comments: list[str]

    @property
    def sent_id(self) -> str:
        """The treebank's sentence id, "" if there is none."""
        return self._comment("sent_id")

    @property
    def text(self) -> str:
        """The raw sentence: the `# text` comment or, if that does not match the forms, rebuilt from them."""
        return self._located[0]

    @property
    def offsets(self) -> list[Offsets]:
        """Half-open code-point offsets of each form in `text`: `text[start:end]` is the form."""
        return self._located[1]

    @property
    def rebuilt(self) -> bool:
        """True if `text` was rebuilt from the forms."""
        return self._located[2]

    @cached_property
    def _located(self) -> tuple[str, list[Offsets], bool]:
        text = self._comment("text")
        offsets = _locate(self.forms, text)
        return (*_rebuild(self.forms, self.misc), True) if offsets is None else (text, offsets, False)

    def _comment(self, key: str) -> str:
        for comment in self.comments:
            name, equals, value = comment.removeprefix("#").partition("=")
            if equals and name.strip() == key:
                return value.strip()
        return ""


def tagged_words(lines: Iterable[str], language: str, source: str = "") -> list[list[tuple[str, str]]]:
    """Return sentences of (word, UPOS), prepared as in XTREME."""
    return [list(zip(s.words, s.tags, strict=True)) for s in sentences(lines, language, source)]


def sentences(lines: Iterable[str], language: str, source: str = "") -> Iterator[Sentence]:
    """Read CoNLL-U lines, with or without line ends, one sentence at a time; the last blank line may be missing.

    The language selects the precedence list for the tags of fused tokens; `source` is the file name, for messages.
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
                _fail(f"expected {COLUMNS} columns, got {len(row)}", source, number)
            rows.append(row)
            numbers.append(number)
        else:
            if [row[ID] for row in rows] != _PLAIN_IDS[: len(rows)]:
                rows, numbers = _surface(rows, numbers, ranking, source)
            forms = [row[FORM] for row in rows]
            blanks = forms.count("_")
            if forms and not (blanks and blanks >= len(forms) - 1):
                words = forms
                if " " in (joined := "".join(forms)) or "\u200c" in joined:  # rare
                    words = [form.translate(_REMOVED) for form in forms]
                if "" in words:
                    _fail("missing word form", source, numbers[words.index("")])
                tags = [row[UPOS] for row in rows]
                yield Sentence(words=words, tags=tags, forms=forms, misc=[row[MISC] for row in rows], comments=comments)
            rows, numbers, comments = [], [], []


def _surface(
    rows: list[Fields], numbers: list[int], ranking: dict[str, int], source: str
) -> tuple[list[Fields], list[int]]:
    """Return rows and line numbers of the surface words: fused tokens instead of their parts, without empty nodes."""
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
            _fail(f"token id {row[ID]}, expected {expected}", source, number)
        if first <= covered or last < first:
            _fail(f"the range {row[ID]} is empty or overlaps another", source, number)
        covered = last
        fused.append((row, first, last))
        surface.append((row, number))
    if covered > len(parts):
        row = fused[-1][0]
        _fail(f"the range {row[ID]} goes beyond the last word, {len(parts)}", source, numbers[rows.index(row)])
    if fused:
        if len(parts) > MAX_WORDS:
            _fail(f"a sentence of more than {MAX_WORDS:,} words", source, numbers[0])
        heads = [[], *(_heads(part, len(parts)) for part in parts)]
        spans = [range(first, last + 1) for _, first, last in fused]
        depths = _ancestors(heads, chain.from_iterable(spans))
        for (row, _, _), span in zip(fused, spans, strict=True):
            nearest = min(depths[position] for position in span)
            tags = [parts[position - 1][UPOS] for position in span if depths[position] == nearest]
            row[UPOS] = min(tags, key=lambda tag: ranking.get(tag, len(ranking)))
    return [row for row, _ in surface], [number for _, number in surface]


def _heads(row: Fields, words: int) -> list[int]:
    """Return basic and enhanced heads of a word, without heads that are neither words nor the root (empty nodes)."""
    edges = [row[HEAD]] if row[DEPS] == "_" else [row[HEAD], *row[DEPS].split("|")]
    numbers = (whole_number(edge.partition(":")[0]) for edge in edges)
    return [number for number in numbers if number is not None and number <= words]


def _ancestors(heads: list[list[int]], wanted: Iterable[int]) -> list[int]:
    """Return the number of other nodes, including the root (0), from which each wanted node is reachable.

    Each node of a cycle counts once. Tarjan's search finishes the heads of a node first, so the node takes over their
    sets. A set is stored as the bits of one number; walking up from every word would take quadratic time.
    """
    order = [0] * len(heads)  # visiting order of a node, from 1
    oldest = [0] * len(heads)  # the first visited node on a cycle with it
    reached = [0] * len(heads)  # the node and its ancestors, once finished
    open_nodes: list[int] = []
    count = 0
    for start in wanted:
        path = [] if order[start] else [(start, iter(heads[start]))]
        while path:
            node, edges = path[-1]
            if not order[node]:
                count += 1
                order[node] = oldest[node] = count
                open_nodes.append(node)
            head = next((head for head in edges if not reached[head]), None)
            if head is None:
                path.pop()
                if path:
                    below = path[-1][0]
                    oldest[below] = min(oldest[below], oldest[node])
                if oldest[node] == order[node]:
                    _finish(node, heads, open_nodes, reached)
            elif order[head]:
                oldest[node] = min(oldest[node], order[head])
            else:
                path.append((head, iter(heads[head])))
    return [nodes.bit_count() - 1 for nodes in reached]


def _finish(node: int, heads: list[list[int]], open_nodes: list[int], reached: list[int]) -> None:
    """Set the ancestors of all nodes of a cycle (usually a single node)."""
    cycle = [open_nodes.pop()]
    while cycle[-1] != node:
        cycle.append(open_nodes.pop())
    nodes = 0
    for member in cycle:
        nodes |= 1 << member
        for head in heads[member]:
            nodes |= reached[head]
    for member in cycle:
        reached[member] = nodes


def _locate(forms: list[str], text: str) -> list[Offsets] | None:
    """Return offsets of the forms in a text, or None unless it consists of exactly these forms with blanks between."""
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
    """Return the forms joined by single spaces, except those marked `SpaceAfter=No`, and their offsets."""
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
    raise DataError(what, where=where, fix="The file is damaged or not CoNLL-U")
