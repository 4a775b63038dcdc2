"""The page on which a speaker reviews a language of the checklist: one HTML file that needs nothing but itself."""

from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from isogloss.checklist.review_files import FORMAT, MAX_BYTES, MAX_NAME, MAX_TEXT, VERSION
from isogloss.checklist.review_items import GLOSS_LANGUAGE, ReviewItem, review_items
from isogloss.checklist.review_marks import content_hash
from isogloss.escaping import html_text
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import TESTS
from isogloss.languages import language
from isogloss.report.page_parts import filled_page, packaged_file, page_json, script_hashes, strict_script
from isogloss.version import __version__

# Of each kind of item: what a part of the page with them is called, and what is asked of each.
KINDS = {
    "case": ("cases", "Would you say it so, and is the answer right?"),
    "answers": ("answers", "Is each of these a right answer to the question?"),
    "template": ("sentences", "Is the sentence well made?"),
    "word": ("words", "Is this the right word, in the right form?"),
    "names": ("names", "Are these common first names, rightly spelt?"),
}
_GLOSS_HELP = "The English below it says what it should mean; people keep their names."
_SECONDS_AN_ITEM = 8


def review_page(code: str, cases: int, seed: int) -> str:
    """The page, with so many cases of each test, sampled by the seed.

    Raises:
        UnknownNameError: no such language.
        GrammarError: its file has mistakes.
    """
    items = review_items(code, cases, seed)
    known = language(code)
    parts = {
        "version": html_text(__version__),
        "name": html_text(known.name),
        "autonym": html_text(known.autonym),
        "code": html_text(code),
        "direction": "rtl" if known.rtl else "ltr",
        "gloss_help": "" if code == GLOSS_LANGUAGE else _GLOSS_HELP,
        "count": str(len(items)),
        "minutes": str(round(len(items) * _SECONDS_AN_ITEM / 60)),
        "most_name": str(MAX_NAME),
        "most_text": str(MAX_TEXT),
        "style": packaged_file("review.css"),
        "script": strict_script(packaged_file("elements.js"), packaged_file("review.js")),
    }
    parts["hashes"] = script_hashes(parts["script"])
    parts["data"] = page_json(_data(items, grammar(code), cases, seed) | {"direction": parts["direction"]})
    return filled_page("review.html", parts)


def _data(items: Sequence[ReviewItem], speaker: Grammar, cases: int, seed: int) -> dict[str, Any]:
    """Everything the script shows and writes into the result."""
    groups: dict[tuple[str, str], int] = {}
    shown: list[dict[str, Any]] = []
    for item in items:
        # What belongs to several tests is shown with the first; names and unrelated sentences come last, by themselves.
        test = "" if item.kind == "names" or not item.tests else item.tests[0]
        group = groups.setdefault((test, item.kind), len(groups))
        hidden = {"gloss"} if speaker.code == GLOSS_LANGUAGE else set()
        lines = [
            {name: text for name, text in asdict(line).items() if text and name not in hidden} for line in item.lines
        ]
        shown.append({"key": item.key, "kind": item.kind, "group": group, "wording": item.wording, "lines": lines})
        shown[-1] |= {"meaning": item.meaning} if item.meaning else {}
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
        "groups": [_group(test, kind, speaker) for test, kind in groups],
        "items": shown,
    }


def _group(test: str, kind: str, speaker: Grammar) -> dict[str, str]:
    """The title of a part of the page, and what the language file says of it: doubts of its author, or of speakers."""
    title = f"{test.replace('_', ' ').capitalize() or 'All tests'}: {KINDS[kind][0]}"
    doubt = speaker.file.review[test].partition("unreviewed; ")[2] if test else ""
    return {"title": title, "note": f"A note on this part: {doubt}" if doubt else ""}
