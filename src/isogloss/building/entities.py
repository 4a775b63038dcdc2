"""Wikidata items: their Wikipedia pages and classes, from the JSON dump, one item per line."""

from collections.abc import Iterator
from typing import Any

import msgspec

from isogloss.building.dumps import DumpStream, lines_of
from isogloss.building.titles import WIKIPEDIA_CODES

# Pages that XTREME-R leaves out: lists, and disambiguation pages of people and others.
XTREME_R_CLASSES = ("Q13406463", "Q22808320", "Q4167410")
# Pages that Mewsli-9 leaves out (Botha et al. 2020): Wikimedia's categories, templates, project pages, modules, …
MEWSLI_9_CLASSES = (
    "Q4167836", "Q24046192", "Q20010800", "Q11266439", "Q11753321", "Q19842659", "Q21528878", "Q17362920", "Q14204246",
    "Q21025364", "Q17442446", "Q26267864", "Q4663903", "Q15184295",
)  # fmt: skip
EXCLUDED_CLASSES = (*XTREME_R_CLASSES, *MEWSLI_9_CLASSES)
# Years, calendar years and years before Christ.
YEAR_CLASSES = frozenset(["Q577", "Q3186692", "Q29964144"])
# Numbers of items fit into 32 bits.
_MAX_ITEM = 2**32 - 1


class _Sitelink(msgspec.Struct, gc=False):
    title: str


class _Item(msgspec.Struct):
    id: str = ""
    type: str = "item"
    # Empty tables are written as lists in old dumps.
    sitelinks: dict[str, _Sitelink] | list[Any] = {}
    claims: dict[str, msgspec.Raw] | list[Any] = {}


class _Value(msgspec.Struct, gc=False, frozen=True):
    id: str = ""
    number: int = msgspec.field(name="numeric-id", default=0)


class _DataValue(msgspec.Struct, gc=False, frozen=True):
    value: _Value = _Value()


class _Snak(msgspec.Struct, gc=False, frozen=True):
    datavalue: _DataValue = _DataValue()


class _Claim(msgspec.Struct, gc=False, frozen=True):
    mainsnak: _Snak = _Snak()
    rank: str = "normal"


class Item(msgspec.Struct, frozen=True):
    """A Wikidata item: its number, titles by Wikipedia code, and classes."""

    number: int
    titles: dict[str, str]
    classes: frozenset[str]


def items_of(stream: DumpStream) -> Iterator[Item]:
    """Yield the items with a page in any Wikipedia; count the others and damaged lines."""
    decoder = msgspec.json.Decoder(_Item)
    claim_decoder = msgspec.json.Decoder(list[_Claim])
    counts = stream.counts
    for line in lines_of(stream):
        text = line.strip().removesuffix(b",")
        if len(text) <= 2:  # the brackets of the array
            continue
        try:
            record = decoder.decode(text)
            number = item_number(record.id)
            if record.type != "item" or number is None:
                counts["entities other than items"] += 1
                continue
            counts["items"] += 1
            titles = _titles(record)
            if titles:
                yield Item(number, titles, _classes(record, claim_decoder))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            counts["damaged entities"] += 1


def item_number(text: str) -> int | None:
    """Return the number of an item's id, such as 64 for Q64, or None."""
    digits = text[1:]
    if not text.startswith("Q") or not (digits.isascii() and digits.isdecimal()) or len(digits) > 10:
        return None
    number = int(digits)
    return number if 0 < number <= _MAX_ITEM else None


def _titles(record: _Item) -> dict[str, str]:
    if isinstance(record.sitelinks, list):
        return {}
    codes = {site: site[:-4].replace("_", "-") for site in record.sitelinks if site.endswith("wiki")}
    return {code: record.sitelinks[site].title for site, code in codes.items() if code in WIKIPEDIA_CODES}


def _classes(record: _Item, decoder: msgspec.json.Decoder[list[_Claim]]) -> frozenset[str]:
    """Return the classes that the item is an instance (P31) or subclass (P279) of."""
    if isinstance(record.claims, list):
        return frozenset()
    classes = set()
    for name in ("P31", "P279"):
        for claim in decoder.decode(record.claims[name]) if name in record.claims else ():
            value = claim.mainsnak.datavalue.value
            if claim.rank != "deprecated":
                classes.add(value.id or f"Q{value.number}")
    return frozenset(classes)
