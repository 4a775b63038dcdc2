"""Sentence spans of text in any of the languages: script-aware, linear in the length of the text."""

import re
from collections.abc import Iterator

# Parentheses; marks that end a sentence before a space, and marks that end one by themselves. Closing quotes and
# parentheses belong to the sentence.
_TOKEN = re.compile(r"[(（]|[)）]|[.!?…]++[)\]\"'»”’]*+(?=\s)|[。！？｡]++[」』）”’]*+|[।॥۔؟።။៕។։]++[)\]\"»”’]*+")
_SPACED = frozenset(".!?…")
_WORD_BEFORE = re.compile(r"(\w+)$")
_ABBREVIATIONS = frozenset(
    """al bd bl ca cf cm co corp dr eds eg ehem engl etc ev evtl fig ft gen geb gest gov ggf hl hon inc inkl ing jh jhdt
    jr km kl lat ltd mgr mr mrs nr nov okt oz pag prof pp rev sc sen sept sgt skr sog sr st ste str sv tel tys usw vgl
    vol vs zb zool akad inż itp np św tzw wg арх бл вул гр див ім кв млн млрд напр обл просп рр св ст тис тов франц чол
    bkz doç örn vb vd yy yrd jan feb apr jun jul aug oct""".split()
)
# Languages that write ordinal numbers with a full stop.
_ORDINALS = frozenset("az bs cs da de et eu fi hr hu is lt lv nb nn no pl sh sk sl sr tr".split())
# Languages that do not mark the end of a sentence.
_UNMARKED = frozenset(["th", "lo"])
_UNMARKED_LENGTH, _LONGEST_UNMARKED = 120, 400
# A longer parenthesis is an unclosed one.
_LONGEST_PARENTHESIS = 500


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """Return start and end of every sentence, in code points; line ends are sentence ends."""
    spans: list[tuple[int, int]] = []
    position = 0
    for line in text.split("\n"):
        spans += _spans_of_line(text, position, position + len(line), language)
        position += len(line) + 1
    return spans


def _spans_of_line(text: str, start: int, stop: int, language: str) -> Iterator[tuple[int, int]]:
    ends = _ends(text, start, stop, language)
    if language in _UNMARKED:
        ends = _unmarked_ends(text, start, stop, ends)
    for end in (*ends, stop):
        while start < end and text[start].isspace():
            start += 1
        last = end
        while last > start and text[last - 1].isspace():
            last -= 1
        if last > start:
            yield start, last
        start = max(start, end)


def _ends(text: str, start: int, stop: int, language: str) -> Iterator[int]:
    depth, opened_at = 0, start
    for match in _TOKEN.finditer(text, start, stop):
        mark = match[0]
        if mark in "(（":
            depth, opened_at = depth + 1, match.start()
            continue
        depth = max(0, depth - mark.count(")") - mark.count("）"))
        if mark in ")）" or (depth and match.start() - opened_at < _LONGEST_PARENTHESIS):
            continue
        if mark[0] in _SPACED and not _ends_at(text, start, match, stop, language):
            continue
        depth = 0
        yield match.end()


def _ends_at(text: str, start: int, match: re.Match[str], stop: int, language: str) -> bool:
    """Return True if a full stop, exclamation or question mark before a space ends a sentence."""
    following = match.end()
    while following < stop and (text[following].isspace() or text[following] in "\"'«„“‘(¿¡"):
        following += 1
    # Unicode has capitals for Georgian, but sentences do not begin with them.
    if following < stop and text[following].islower() and not "ა" <= text[following] <= "ჿ":
        return False
    if match[0] != ".":
        return True
    word = _WORD_BEFORE.search(text, max(start, match.start() - 24), match.start())
    if word is None:
        return True
    before = word[1]
    if before.isdigit():
        return not (language in _ORDINALS and len(before) <= 3)
    return not ((len(before) == 1 and before.isalpha()) or before.lower() in _ABBREVIATIONS)


def _unmarked_ends(text: str, start: int, stop: int, marked: Iterator[int]) -> Iterator[int]:
    """Cut longer text without marks at a space, which separates clauses."""
    for end in (*marked, stop):
        while end - start > _LONGEST_UNMARKED:
            space = text.find(" ", start + _UNMARKED_LENGTH, end)
            if space < 0:
                break
            yield space
            start = space
        if end < stop:
            yield end
        start = end
