"""Pages of a wiki's XML dump, streamed.

Pages are cut out by their tags, several times as fast as an XML parser, which also stops at the first fault: a broken
page costs only itself here. The text of a page is escaped, so a tag inside it cannot be mistaken for one.
"""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from isogloss.building.characters import decode_references, decode_xml
from isogloss.building.dumps import DumpStream, FilePart

# Maximum bytes of a page; MediaWiki's own limit for its text is 2 MB.
LONGEST_PAGE = 64 << 20
_OPEN, _CLOSE = b"<page>", b"</page>"
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NUMBER = re.compile(rb"<id>(\d{1,18})</id>")
_NAMESPACE = re.compile(rb"<ns>(-?\d{1,9})</ns>")
_REDIRECT = re.compile(rb'<redirect(?: title="([^"<]*)")?')
# Dumps of MediaWiki before 1.19 mark redirects, but name no targets.
_FIRST_LINK = re.compile(r"\[\[([^\[\]|\n]{1,500})")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TEXT = re.compile(rb"<text(?: [^<>]*)?>")
_TEXT_END = b"</text>"
_LISTED_NAMESPACE = re.compile(rb'<namespace key="(-?\d{1,9})"[^<>]*>([^<]+)</namespace>')
_HEADER_BYTES = 1 << 20


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a wiki; `redirect` is the title that it leads to, or ""."""

    title: str
    namespace: int
    number: int
    revision: int
    redirect: str
    text: str


def namespaces_of(part: FilePart) -> dict[str, int]:
    """Return the numbers of the namespaces in the header of a dump, by their names in lower case."""
    head = b""
    for chunk in DumpStream(FilePart(part.path), Counter()):
        head += chunk
        if b"</siteinfo>" in head or len(head) > _HEADER_BYTES:
            break
    head = head.partition(b"</siteinfo>")[0]
    return {_decoded(name).lower(): int(key) for key, name in _LISTED_NAMESPACE.findall(head)}


def pages_of(stream: DumpStream) -> Iterator[Page]:
    """Yield the pages that begin in a part of a dump and have wikitext; count the others."""
    for raw in _raw_pages(stream):
        page = _parse(raw, stream.counts)
        if page is not None:
            yield page


def _raw_pages(stream: DumpStream) -> Iterator[bytes]:
    """Yield what is between the tags of pages."""
    counts = stream.counts
    buffer, is_open = bytearray(), False  # a page may take many chunks: bytes would be copied for each
    own = -1  # after the end of the part: bytes of the buffer that belong to it
    for chunk in stream:
        if stream.is_past_end and own < 0:
            own = len(buffer)
        searched = max(0, len(buffer) - len(_CLOSE))
        buffer += chunk
        position = 0
        while True:
            if not is_open:
                start = buffer.find(_OPEN, position)
                if start < 0:
                    start = _cut_tag(buffer, position)
                    if 0 <= own <= start:
                        return
                    position = start
                    break
                if 0 <= own <= start:
                    return
                position, is_open = start + len(_OPEN), True
            end = buffer.find(_CLOSE, max(position, searched))
            if end < 0:
                break
            raw = bytes(buffer[position:end])
            if _OPEN in raw:  # the page before has no end
                counts["broken pages"] += raw.count(_OPEN)
                raw = raw.rpartition(_OPEN)[2]
            yield raw
            position, is_open = end + len(_CLOSE), False
        del buffer[:position]
        own = max(0, own - position) if own >= 0 else own
        if is_open and len(buffer) > LONGEST_PAGE:
            counts["overlong pages"] += 1
            buffer, is_open = bytearray(), False
    if is_open:
        counts["truncated pages"] += 1


def _cut_tag(buffer: bytearray, start: int) -> int:
    """Return the position of a page's tag that is cut at the end of the buffer, or the end."""
    places = range(max(start, len(buffer) - len(_OPEN) + 1), len(buffer))
    return next((place for place in places if _OPEN.startswith(bytes(buffer[place:]))), len(buffer))


def _parse(raw: bytes, counts: Counter[str]) -> Page | None:
    head_end, last = raw.find(b"<revision>"), raw.rfind(b"<revision>")
    title, number = _TITLE.search(raw, 0, head_end), _NUMBER.search(raw, 0, head_end)
    opening = _TEXT.search(raw, last)
    text = _text(raw, opening.end()) if opening else None
    if last < 0 or title is None or number is None or opening is None or text is None:
        counts["broken pages"] += 1
        return None
    counts["pages"] += 1
    model, revision = _MODEL.search(raw, last), _NUMBER.search(raw, last)
    if model is not None and model[1] != b"wikitext":
        counts["pages without wikitext"] += 1
        return None
    if b"<" in text:
        counts["pages with unescaped markup"] += 1
    redirect, namespace = _REDIRECT.search(raw, 0, head_end), _NAMESPACE.search(raw, 0, head_end)
    try:
        content = text.decode()
    except UnicodeDecodeError:
        counts["pages with invalid UTF-8"] += 1
        content = text.decode("utf-8", "replace")
    content = decode_xml(content)
    return Page(
        title=_decoded(title[1]),
        namespace=int(namespace[1]) if namespace else 0,
        number=int(number[1]),
        revision=int(revision[1]) if revision else 0,
        redirect=_target(redirect, content) if redirect else "",
        text=content,
    )


def _target(redirect: re.Match[bytes], content: str) -> str:
    if redirect[1]:
        return _decoded(redirect[1])
    link = _FIRST_LINK.search(content)
    return link[1] if link else ""


def _text(raw: bytes, start: int) -> bytes | None:
    """Return a page's text after its opening tag, which may be empty; None if it does not end."""
    if raw[start - 2] == ord("/"):
        return b""
    end = raw.rfind(_TEXT_END, start)
    return raw[start:end] if end >= 0 else None


def _decoded(raw: bytes) -> str:
    return decode_references(raw.decode("utf-8", "replace"))
