"""What is known of a system, from whatever its makers wrote, in the fields of the board."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.board.entries import BoardEntry
from isogloss.board.model import KINDS, BoardSystem
from isogloss.errors import DataError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable

# Words that say no more than an empty field.
_UNKNOWN = frozenset({"", "unknown", "not disclosed", "undisclosed", "none given", "n/a", "-", "?"})
_KIND_OF_SYSTEM = {
    "ngram": "floor",
    "embedder": "retrieval",
    "dual-encoder": "retrieval",
    "encoder": "encoder",
    "text2text": "encoder",
    "llm": "llm",
}
_ID_LENGTH = 60
_MOST_NOTES = 20


def unique_ids(entries: Sequence[BoardEntry]) -> list[str]:
    """An id for each system: its name and regime in letters, digits and hyphens, with a number where that is taken.

    Raises:
        DataError: an id that was given has other letters, or was given twice.
    """
    taken = {entry.id for entry in entries if entry.id}
    found = []
    for entry in entries:
        if entry.id:
            if _slug(entry.id) != entry.id or entry.id in found:
                raise DataError(f"the id {printable(entry.id, NAME_LENGTH)!r} is taken, or no id")
            found.append(entry.id)
            continue
        base = _slug(entry.name) or "system"
        if base in taken:
            base = _slug(f"{entry.name[:_ID_LENGTH]} {entry.regime}") or "system"
        name, count = base, 1
        while name in taken:
            count += 1
            name = f"{base}-{count}"
        taken.add(name)
        found.append(name)
    return found


def shown_names(entries: Sequence[BoardEntry]) -> list[str]:
    """The name of each system as it is shown, with a number where another of the regime has the name too."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for entry in entries:
        name = printable(entry.name, NAME_LENGTH).strip() or "system"
        seen[name, entry.regime] += 1
        again = seen[name, entry.regime]
        found.append(name if again == 1 else f"{name} ({again})")
    return found


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_ID_LENGTH].strip("-")


def system_facts(
    entry: BoardEntry, identifier: str, name: str, *, complete: bool, provenance: int | None
) -> BoardSystem:
    """The row of a system; what its metadata do not say in a form that is known is left out."""
    known = entry.metadata
    year = _number(known.get("year"))
    return BoardSystem(
        identifier,
        name,
        system_kind(known),
        printable(entry.regime, NAME_LENGTH),
        reported=entry.reported,
        complete=complete,
        has_predictions=bool(entry.predictions),
        year=None if year is None or not 1900 <= year <= 9999 else int(year),
        date=_date(known.get("date")),
        paper=_text(known.get("paper")),
        url=_address(known.get("url")),
        parameters=_from_millions(known.get("parameters")),
        parameters_active=_from_millions(known.get("parameters_active")),
        open_weights=_truth(known.get("open_weights")),
        pretraining_data=_text(known.get("pretraining_data")),
        parallel_data=_text_or_truth(known.get("parallel_data")),
        translated_data=_text_or_truth(known.get("translated_data")),
        licence=_text(known.get("licence") or known.get("license")),
        contamination=_text(known.get("contamination")) or "",
        notes=_notes(known.get("notes")),
        # Where a record lies on somebody's disk is nobody else's business.
        source=printable(entry.source, FACT_LENGTH) if entry.reported else "",
        unparsed=_share(known.get("unparsed"), entry.unparsed),
        tokens=_number(known.get("tokens")),
        cost=_number(known.get("cost")),
        provenance=provenance,
    )


def system_kind(metadata: Mapping[str, Any]) -> str:
    """What kind of system it is: as it says itself, or as the family it was made by."""
    said = str(metadata.get("kind", "")).lower()
    if said in KINDS:
        return said
    made_by = re.split(r"[:#]", str(metadata.get("system") or metadata.get("name") or ""))[0].lower()
    families = [family for family in _KIND_OF_SYSTEM if made_by == family or made_by.startswith(f"{family}-")]
    return _KIND_OF_SYSTEM[max(families, key=len)] if families else "other"


def said_unparsed(metadata: Mapping[str, Any], name: str, code: str) -> float | None:
    """The share of unparsed answers that a system's metadata give for a cell (`task/language`) or its task."""
    given = metadata.get("unparsed")
    if not isinstance(given, Mapping):
        return None
    return _share(given.get(f"{name}/{code}", given.get(name)), None)


def _share(value: object, otherwise: float | None) -> float | None:
    """A share as it is said, rounded; another where none is said."""
    said = _number(value)
    share = otherwise if said is None or said > 1 else said
    return None if share is None else round(share, 5)


def _text(value: object) -> str | None:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    text = printable(str(value), FACT_LENGTH).strip()
    return None if text.lower() in _UNKNOWN else text


def _truth(value: object) -> bool | None:
    words = {"yes": True, "true": True, "no": False, "false": False}
    return value if isinstance(value, bool) else words.get(str(value).strip().lower())


def _text_or_truth(value: object) -> str | bool | None:
    # "0 tokens" is said as a number too.
    truth = False if value in (0, "none") else _truth(value)
    return _text(value) if truth is None else truth


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return None
    return value


def _from_millions(value: object) -> float | None:
    """Metadata count parameters in millions, as papers do."""
    millions = _number(value)
    return None if millions is None or millions > 1e9 else round(1e6 * millions)


def _date(value: object) -> str | None:
    found = re.match(r"\d{4}-\d\d-\d\d", str(value))
    return found[0] if found else None


def _address(value: object) -> str | None:
    """An address that a page may link to: of the web alone, so that a link runs no script."""
    text = _text(value)
    return text if text and re.match(r"https?://[^\s\"'<>\\]+$", text) else None


def _notes(value: object) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return [text for each in given[:_MOST_NOTES] if (text := _text(each))]
