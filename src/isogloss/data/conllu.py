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

# Most sentences number their rows 1, 2, 3, …: one comparison with this list proves it.
_PLAIN_IDS = [str(number) for number in range(1, 513)]
_ID = re.compile(r"([0-9]{1,9})(?:([-.])([0-9]{1,9}))?")
# Beyond this a file is no treebank, and the ancestors of its words would fill the memory.
MAX_WORDS = 20_000
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
        if len(parts) > MAX_WORDS:
            _fail(f"a sentence of more than {MAX_WORDS:,} words", source, numbers[0])
        heads = [[], *(_heads(part, len(parts)) for part in parts)]
        spans = [range(first, last + 1) for _, first, last in fused]
        depths = _ancestors(heads, chain.from_iterable(spans))
        for (row, _, _), span in zip(fused, spans, strict=True):
            row[UPOS] = _fused_tag(span, parts, depths, ranking)
    return [row for row, _ in surface], [number for _, number in surface]


def _heads(row: Fields, words: int) -> list[int]:
    """Basic and enhanced heads of a word; those that are not words or the root, such as empty nodes, are left out."""
    edges = [row[HEAD]] if row[DEPS] == "_" else [row[HEAD], *row[DEPS].split("|")]
    numbers = (whole_number(edge.partition(":")[0]) for edge in edges)
    return [number for number in numbers if number is not None and number <= words]


def _fused_tag(positions: Sequence[int], parts: list[Fields], depths: list[int], ranking: dict[str, int]) -> str:
    """The tag of the part closest to the root; the ranking decides between equals."""
    nearest = min(depths[position] for position in positions)
    tags = [parts[position - 1][UPOS] for position in positions if depths[position] == nearest]
    return min(tags, key=lambda tag: ranking.get(tag, len(ranking)))


def _ancestors(heads: list[list[int]], wanted: Iterable[int]) -> list[int]:
    """From how many other nodes, the root (0) included, each wanted one can be reached; a cycle counts each once.

    Tarjan's search for cycles finishes the heads of a node before it, so that the node takes over their sets whole.
    A set is the bits of one number: walking up from every word takes the square of a sentence's length.
    """
    found = [0] * len(heads)  # when a node was met, from 1
    oldest = [0] * len(heads)  # the first met of those on a cycle with it
    reached = [0] * len(heads)  # itself and its ancestors, once it is finished
    open_nodes: list[int] = []
    met = 0
    for start in wanted:
        path = [] if found[start] else [(start, iter(heads[start]))]
        while path:
            node, edges = path[-1]
            if not found[node]:
                met += 1
                found[node] = oldest[node] = met
                open_nodes.append(node)
            head = next((each for each in edges if not reached[each]), None)
            if head is None:
                path.pop()
                if path:
                    below = path[-1][0]
                    oldest[below] = min(oldest[below], oldest[node])
                if oldest[node] == found[node]:
                    _finish(node, heads, open_nodes, reached)
            elif found[head]:
                oldest[node] = min(oldest[node], found[head])
            else:
                path.append((head, iter(heads[head])))
    return [nodes.bit_count() - 1 for nodes in reached]


def _finish(node: int, heads: list[list[int]], open_nodes: list[int], reached: list[int]) -> None:
    """Give all nodes of a cycle (mostly one alone) what any of them can be reached from, and themselves."""
    place = len(open_nodes) - 1
    while open_nodes[place] != node:
        place -= 1
    cycle = open_nodes[place:]
    del open_nodes[place:]
    nodes = 0
    for each in cycle:
        nodes |= 1 << each
        for head in heads[each]:
            nodes |= reached[head]
    for each in cycle:
        reached[each] = nodes


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
