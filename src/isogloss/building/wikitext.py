"""Plain text of wikitext, with the exact positions of its links.

Templates, tables, references, lists, headings, files and categories are left out, as in Mewsli-X: the text consists of
the paragraphs. Every step takes linear time, whatever the markup; malformed markup is counted, and costs only itself.
"""

import re
from collections import Counter
from typing import NamedTuple

from isogloss.building.characters import decode_references
from isogloss.building.link_trails import trail_of
from isogloss.building.titles import LinkResolver, LinkTarget

# Elements without running text, removed with their content.
_DROPPED = (
    "ref|references|gallery|math|chem|ce|timeline|score|syntaxhighlight|source|pre|code|hiero|imagemap|templatedata|"
    "graph|mapframe|maplink|inputbox|templatestyles|poem|table|noinclude|dynamicpagelist"
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NOWIKI = re.compile(r"<nowiki\s*/>|<nowiki\s*>(.*?)(?:</nowiki\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_ELEMENT = re.compile(rf"<(/?)({_DROPPED})\b[^<>]*?(/?)>", re.IGNORECASE)
_BRACES = re.compile(r"\{\{|\}\}|^[ \t:]*+\{\||^[ \t]*+\|\}(?!\})", re.MULTILINE)
_BRACKETS = re.compile(r"\[\[|\]\]")
_LINK = re.compile(r"\[\[([^\[\]|\n]{1,500}+)(?:\|([^\[\]\n]*+))?\]\]")
_LEFT_SIDE = re.compile(r"\[\[([^\[\]|{}<>\n]{1,500}+)(?=\||\]\])")
_EMPTY_BRACKETS = re.compile(r" ?(?:\(\s*+(?:[,;:،、/–—-]\s*+)*+\)|（\s*+(?:[,;:，；、]\s*+)*+）)")
_OPENED_BY_COMMA = re.compile(r"([(（])(?:\s*+[,;،、，；])++\s*+")
_CLOSED_BY_COMMA = re.compile(r"(?<![,;:،、，；\s])[,;:،、，；](?:\s*+[,;:،、，；])*+\s*+(?=[)）])")
_EXTERNAL = re.compile(r"\[(?:https?:|ftp:|mailto:|//)[^\s\[\]]*+[ \t]*+([^\[\]\n]*+)\]", re.IGNORECASE)
_QUOTES = re.compile(r"'{5}|'{2,3}")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}+>")
_MAGIC = re.compile(r"__[A-Z]{3,30}__")
_STRAY = re.compile(r"\[\[|\]\]|\{\{+|\}\}+")
_BLANKS = re.compile(r"[ \t\xa0\u3000]+")
_HEADING = re.compile(r"=+[^=].*=\s*$")
_W_TEMPLATE = re.compile(r"\{\{\s*+w\s*+\|([^{}\[\]\n]*+)\}\}", re.IGNORECASE)
_INLINE_TEMPLATE = re.compile(
    r"\{\{\s*+(?:(?:nowrap|nobr|small|big)|(lang)\s*+\|[^{}|]*+)\s*+\|([^{}|=]*+)\}\}", re.IGNORECASE
)
_LITERAL = {ord(mark): f"&#{ord(mark)};" for mark in "[]{}'<>=*#:;|"}
# Letters of a first paragraph; shorter lines are remains of markup.
LEAST_LETTERS = 5
# First characters of lines that are not running text: lists, indents, rests of tables and templates.
_NOT_PROSE = tuple("*#;:|!{}")


class Link(NamedTuple):
    """A link to an article: its text's start and end, in code points, and its target."""

    start: int
    end: int
    target: LinkTarget


class Prose(NamedTuple):
    """Running text and its links, in order."""

    text: str
    links: list[Link]


def linked_titles(wikitext: str) -> list[str]:
    """Return the left side of every link, including those in templates, tables, lists and captions."""
    if "<!--" in wikitext:
        wikitext = _COMMENT.sub("", wikitext)
    if "<nowiki" in wikitext:
        wikitext = _NOWIKI.sub("", wikitext)
    titles: list[str] = _LEFT_SIDE.findall(wikitext)
    return titles


def prose_of(wikitext: str, resolver: LinkResolver, counts: Counter[str], *, only_opening: bool = False) -> Prose:
    """Return the running text of a page, or only its first paragraph before any heading."""
    text = _COMMENT.sub("", wikitext) if "<!--" in wikitext else wikitext
    if only_opening:
        heading = re.search(r"^==", text, re.MULTILINE)
        text = text[: heading.start()] if heading else text
    if "<" in text:
        text = _NOWIKI.sub(lambda match: (match[1] or "").translate(_LITERAL), text)
        text = _without_elements(text, counts)
    text = _visible_templates(text, resolver)
    text = _without(text, _brace_spans(text, counts))
    text = _CLOSED_BY_COMMA.sub("", _OPENED_BY_COMMA.sub(r"\1", _EMPTY_BRACKETS.sub("", text)))
    text = _without(text, _hidden_link_spans(text, resolver, counts))
    prose = _ProseBuilder(resolver, counts)
    for line in text.split("\n"):
        if prose.add_line(line.strip()) >= LEAST_LETTERS and only_opening:
            break
    return prose.finish()


def _without_elements(text: str, counts: Counter[str]) -> str:
    """Remove elements without running text; of an unclosed one, only the tag."""
    tags = list(_ELEMENT.finditer(text))
    last_close = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    spans: list[tuple[int, int]] = []
    inside, start = "", 0
    for tag in tags:
        name = tag[2].lower()
        if inside:
            if tag[1] and name == inside:
                spans.append((start, tag.end()))
                inside = ""
        elif tag[1] or tag[3] or last_close.get(name, -1) < tag.end():
            counts["unbalanced elements"] += not tag[3]
            spans.append(tag.span())
        else:
            inside, start = name, tag.start()
    return _without(text, spans)


def _visible_templates(text: str, resolver: LinkResolver) -> str:
    """Replace templates by their text where it is part of a sentence; on Wikinews, {{w|Title|text}} is a link."""

    def link(match: re.Match[str]) -> str:
        fields = [field.strip() for field in match[1].split("|")]
        named = dict(field.split("=", 1) for field in fields if "=" in field)
        plain = [field for field in fields if "=" not in field]
        title = named.get("1", plain[0] if plain else "")
        label = named.get("2", plain[1] if len(plain) > 1 else "") or title
        language = named.get("lang", named.get("3", plain[2] if len(plain) > 2 else ""))
        return f"[[:w:{language}{':' if language else ''}{title}|{label}]]" if title else ""

    if "{{" not in text:
        return text
    if resolver.wiki.project == "wikinews":
        text = _W_TEMPLATE.sub(link, text)
    return _INLINE_TEMPLATE.sub(r"\2", text)


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    pieces, position = [], 0
    for start, end in spans:
        pieces.append(text[position:start])
        position = end
    pieces.append(text[position:])
    return "".join(pieces)


def _add_outer(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a span that contains the last ones or follows them."""
    while spans and spans[-1][0] >= start:
        spans.pop()
    spans.append((start, end))


def _brace_spans(text: str, counts: Counter[str]) -> list[tuple[int, int]]:
    """Return the outermost templates and tables that are closed."""
    spans: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    depth: Counter[str] = Counter()
    for match in _BRACES.finditer(text):
        mark = match[0].strip(" \t:")
        if mark in ("{{", "{|"):
            opened.append((mark, match.start()))
            depth[mark] += 1
            continue
        opener = "{{" if mark == "}}" else "{|"
        if not depth[opener]:
            counts["unbalanced braces"] += 1
            continue
        while True:
            other, start = opened.pop()
            depth[other] -= 1
            if other == opener:
                break
            counts["unbalanced braces"] += 1
        _add_outer(spans, start, match.end())
    counts["unbalanced braces"] += len(opened)
    return spans


def _hidden_link_spans(text: str, resolver: LinkResolver, counts: Counter[str]) -> list[tuple[int, int]]:
    """Return links to files, categories and other languages, with all that they contain."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for match in _BRACKETS.finditer(text):
        if match[0] == "[[":
            opened.append(match.start())
        elif not opened:
            counts["unbalanced links"] += 1
        else:
            start = opened.pop()
            left = text[start + 2 : min(match.start(), start + 502)].partition("|")[0]
            if ":" in left and resolver.resolve(left).kind in ("file", "category", "interlanguage"):
                _add_outer(spans, start, match.end())
    counts["unbalanced links"] += len(opened)
    return spans


class _ProseBuilder:
    """Collects the lines of a text, and its links with their positions."""

    def __init__(self, resolver: LinkResolver, counts: Counter[str]) -> None:
        self._resolver = resolver
        self._counts = counts
        self._trail = trail_of(resolver.wiki.code)
        self._pieces: list[str] = []
        self._length = 0
        self._links: list[Link] = []
        self._separator = ""

    def add_line(self, line: str) -> int:
        """Add a line if it is running text; return the number of its letters."""
        if not line or line.startswith(_NOT_PROSE) or line.startswith("----") or _HEADING.match(line):
            self._separator = "\n\n" if self._length else ""
            return 0
        before = (len(self._pieces), self._length, len(self._links))
        self._append(self._separator)
        self._fresh = True
        position = 0
        for match in _LINK.finditer(line):
            self._append_clean(line[position : match.start()])
            position = self._add_link(line, match)
        self._append_clean(line[position:])
        letters = sum(map(_letters, self._pieces[before[0] :]))
        if letters:
            self._separator = "\n"
        else:
            del self._pieces[before[0] :], self._links[before[2] :]
            self._length = before[1]
        return letters

    def _add_link(self, line: str, match: re.Match[str]) -> int:
        """Add a link, with the letters that follow it; return the position after them."""
        trail = self._trail.match(line, match.end())
        after = trail.end() if trail else match.end()
        label = match[2] if match[2] and match[2].strip() else match[1].strip().removeprefix(":")
        target = self._resolver.resolve(match[1])
        self._counts[f"{target.kind} links"] += 1
        shown = self._clean(label) + line[match.end() : after]
        if not shown.strip():
            return after
        self._append_spaced(shown[: len(shown) - len(shown.lstrip())])
        start = self._length
        self._append(shown.strip())
        self._fresh = False
        if target.kind == "article":
            self._links.append(Link(start, self._length, target))
        self._append(shown[len(shown.rstrip()) :])
        return after

    def _append(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)

    def _append_spaced(self, piece: str) -> None:
        """Append without a second space, and without one at the beginning of a line."""
        if piece and (self._fresh or (self._pieces and self._pieces[-1].endswith(" "))):
            piece = piece.lstrip(" ")
        if piece:
            self._append(piece)
            self._fresh = False

    def _append_clean(self, piece: str) -> None:
        self._append_spaced(self._clean(piece))

    def _clean(self, piece: str) -> str:
        """Return a piece of text without links as it is shown."""
        if "[" in piece:
            piece = _EXTERNAL.sub(r"\1", piece)
        if "''" in piece:
            piece = _QUOTES.sub("", piece)
        if "<" in piece:
            piece = _TAG.sub("", _BREAK.sub(" ", piece))
        if "__" in piece:
            piece = _MAGIC.sub("", piece)
        piece = _STRAY.sub("", piece)
        return _BLANKS.sub(" ", decode_references(piece).replace("\r", " ").replace("\n", " "))

    def finish(self) -> Prose:
        """Return the text and its links."""
        return Prose("".join(self._pieces).rstrip(), self._links)


def _letters(piece: str) -> int:
    return sum(map(str.isalpha, piece))
