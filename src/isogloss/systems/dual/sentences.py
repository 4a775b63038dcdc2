"""Where sentences begin and end: enough of a splitter for the paragraphs of question answering sets.

A sentence ends at `.`, `!`, `?` or `…` with the quotes and brackets that follow, before white space and something that
can begin a sentence. A full stop after an initial, an abbreviation or inside one ("U.S. Army") ends nothing. Arabic,
Urdu and Indic marks do as the Latin ones; the full-width ones of Chinese and Japanese need no white space. Languages
without marks (Thai) are one sentence a line.
"""

import re
from bisect import bisect_right

_CLOSING = "\"'”’»)\\]}"
_END = re.compile(rf"(?:[.!?…؟۔।॥]+[{_CLOSING}]*(?:\[\d+\])*(?=\s)|[。！？｡]+[」』）”’]*)\s*|\s*\n\s*")
# What stands before a full stop that ends no sentence: one letter, letters with full stops between, or one of these.
_INSIDE = re.compile(
    r"(?:\b[^\W\d_]|(?:\b[^\W\d_]\.)+[^\W\d_]|\b(?:[MD]rs?|Ms|St|Mt|Ft|Prof|Rev|Hon|Gen|Col|Capt|Cmdr|Lt|Maj|Sgt|Adm|Gov|"
    r"Sen|Rep|Pres|Sr|vs|cf|ca|al|approx|est|no|No|Nos|vol|Vol|pp|fig|Fig|Op|op|Bros|"
    r"Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec))$"
)
# What goes on: nothing begins with a small letter or a comma, and a line that begins with a number may be a formula's.
_LOWER = re.compile(r"[\"'“‘«(\[]*[a-z,;:]")


def sentences(text: str) -> list[tuple[int, int]]:
    """The [start, end) of every sentence, in order, without the white space around it."""
    found: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    for mark in _END.finditer(text):
        if mark.start() >= start and _ends(text, start, mark):
            found.append((start, mark.start() + len(mark.group().rstrip())))
            start = mark.end()
    end = len(text.rstrip())
    return [*found, (start, end)] if start < end else found


def sentence_at(spans: list[tuple[int, int]], place: int) -> int:
    """Which sentence a character is in, -1 where it is in none."""
    number = bisect_right(spans, place, key=lambda span: span[0]) - 1
    return number if number >= 0 and place < spans[number][1] else -1


def _ends(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a mark ends its sentence."""
    said = mark.group()
    if _LOWER.match(text, mark.end()):
        return False
    if "\n" in said:
        return not text[mark.end() : mark.end() + 1].isdigit()
    return not (said.rstrip() == "." and _INSIDE.search(text[max(start, mark.start() - 16) : mark.start()]))
