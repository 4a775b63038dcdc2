"""The self-contained page on which a speaker reviews a checklist language."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from isogloss.checklist.review_files import FORMAT, MAX_BYTES, MAX_NAME, MAX_TEXT, VERSION
from isogloss.checklist.review_items import GLOSS_LANGUAGE, ReviewItem, review_items
from isogloss.checklist.review_marks import content_hash
from isogloss.escaping import html_text
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import TESTS
from isogloss.languages import language
from isogloss.site.page_parts import inlined_page
from isogloss.version import __version__

# Title of the part and question, by kind of item.
KINDS = {
    "case": ("cases", "Would you say it this way, and is the answer right?"),
    "answers": ("answers", "Is each of these a right answer to the question?"),
    "template": ("sentences", "Is the sentence well formed?"),
    "word": ("words", "Is this the right word, in the right form?"),
    "names": ("names", "Are these common first names, spelt correctly?"),
}
_GLOSS_HELP = "The English text below it gives the intended meaning; names of people stay the same."
_SECONDS_PER_ITEM = 8


def review_page(code: str, cases: int, seed: int) -> str:
    """Return the page with a sample of `cases` cases of each test of a language."""
    items = review_items(code, cases, seed)
    entry = language(code)
    direction = "rtl" if entry.rtl else "ltr"
    parts = {
        "name": html_text(entry.name),
        "autonym": html_text(entry.autonym),
        "code": html_text(code),
        "direction": direction,
        "gloss_help": "" if code == GLOSS_LANGUAGE else _GLOSS_HELP,
        "count": str(len(items)),
        "minutes": str(round(len(items) * _SECONDS_PER_ITEM / 60)),
        "most_name": str(MAX_NAME),
        "most_text": str(MAX_TEXT),
    }
    data = _data(items, grammar(code), cases, seed) | {"direction": direction}
    return inlined_page("review", f"Review of {html_text(entry.name)} – Isogloss", parts, lambda _: data)


def _data(items: Sequence[ReviewItem], speaker: Grammar, cases: int, seed: int) -> dict[str, Any]:
    """Return the script's data: items, groups and the header of the result."""
    groups: dict[tuple[str, str], int] = {}
    shown: list[dict[str, Any]] = []
    for item in items:
        # Items of several tests are shown with the first; names and unrelated sentences come last.
        test = "" if item.kind == "names" or not item.tests else item.tests[0]
        group = groups.setdefault((test, item.kind), len(groups))
        hidden = {"gloss"} if speaker.code == GLOSS_LANGUAGE else set()
        lines = [
            {name: text for name, text in line._asdict().items() if text and name not in hidden} for line in item.lines
        ]
        shown.append({"key": item.key, "kind": item.kind, "group": group, "wording": item.wording, "lines": lines})
        shown[-1] |= {"meaning": item.meaning} if item.meaning else {}
    titles = []
    for test, kind in groups:
        title = f"{test.replace('_', ' ').capitalize() or 'All tests'}: {KINDS[kind][0]}"
        doubt = speaker.file.review[test].partition("unreviewed; ")[2] if test else ""
        titles.append({"title": title, "note": f"A note on this part: {doubt}" if doubt else ""})
    content = {test: content_hash(speaker, test) for test in TESTS}
    judged = "\n".join([*content.values(), *(f"{item.key}\t{item.wording}" for item in items)])
    return {
        "format": FORMAT,
        "version": VERSION,
        "isogloss": __version__,
        "language": speaker.code,
        "content": content,
        "store": sha256(judged.encode()).hexdigest()[:12],
        "cases": cases,
        "seed": seed,
        "limits": {"name": MAX_NAME, "text": MAX_TEXT, "bytes": MAX_BYTES},
        "kinds": {kind: {"ask": ask} for kind, (_, ask) in KINDS.items()},
        "groups": titles,
        "items": shown,
    }
