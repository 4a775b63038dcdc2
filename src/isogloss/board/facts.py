"""What is known of a system, from whatever its makers wrote, in the fields of the board."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.board.entries import BoardEntry
from isogloss.board.metadata import known_facts
from isogloss.board.model import KINDS, BoardSystem
from isogloss.errors import DataError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable

_KIND_OF_SYSTEM = {
    "ngram": "floor",
    "embedder": "retrieval",
    "dual-encoder": "retrieval",
    "encoder": "encoder",
    "text2text": "encoder",
    "llm": "llm",
}
_ID_LENGTH = 60
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def unique_ids(entries: Sequence[BoardEntry]) -> list[str]:
    """An id for each system: its name and regime in letters, digits and hyphens, with a number where that is taken.

    Raises:
        DataError: an id that was given has other letters, or was given twice.
    """
    taken = {entry.id for entry in entries if entry.id}
    found = []
    for entry in entries:
        if entry.id:
            if not _ID.fullmatch(entry.id) or entry.id in found:
                raise DataError(f"the id {printable(entry.id, NAME_LENGTH)!r} is taken, or no id")
            found.append(entry.id)
            continue
        base = slug(entry.name) or "system"
        if base in taken:
            base = slug(f"{entry.name[:_ID_LENGTH]} {entry.regime}") or "system"
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


def slug(text: str) -> str:
    """A text in letters, digits and hyphens, of so many characters at most that more can be put behind it."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_ID_LENGTH].strip("-")


def system_facts(
    entry: BoardEntry, identifier: str, name: str, *, complete: bool, provenance: int | None
) -> BoardSystem:
    """The row of a system; what its metadata do not say in a form that is known is left out."""
    known = known_facts(entry.metadata)
    return BoardSystem(
        identifier,
        name,
        system_kind(entry.metadata),
        printable(entry.regime, NAME_LENGTH),
        reported=entry.reported,
        complete=complete,
        has_predictions=bool(entry.predictions),
        year=known.get("year"),
        date=known.get("date"),
        paper=known.get("paper"),
        url=known.get("url"),
        parameters=_counted(known.get("parameters")),
        parameters_active=_counted(known.get("parameters_active")),
        open_weights=known.get("open_weights"),
        pretraining_data=_amount(known, "pretraining") or None,
        parallel_data=_amount(known, "parallel"),
        translated_data=known.get("translated_data"),
        licence=known.get("licence"),
        contamination="" if known.get("contamination", "").lower() == "none" else known.get("contamination", ""),
        notes=known.get("notes", []),
        # Where a record lies on somebody's disk is nobody else's business.
        source=printable(entry.source, FACT_LENGTH) if entry.reported else "",
        unparsed=_rounded(known.get("unparsed", entry.unparsed)),
        tokens=known.get("tokens"),
        cost=known.get("cost"),
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
    share = given.get(f"{name}/{code}", given.get(name)) if isinstance(given, Mapping) else None
    known: float | None = known_facts({"unparsed": share}).get("unparsed")
    return known


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 5)


def _counted(millions: float | None) -> float | None:
    return None if millions is None else round(1e6 * millions)


def _amount(known: Mapping[str, Any], name: str) -> Any:
    """How much data of a sort there was: in tokens, in words, or both; False for none, None where nobody says."""
    tokens, said = known.get(f"{name}_tokens"), known.get(f"{name}_data")
    if tokens == 0 or said is False:
        return False
    parts = [f"{tokens:,} tokens"] if tokens else []
    parts += [said] if isinstance(said, str) else []
    return "; ".join(parts) or said
