"""Rows of systems and languages on a board, from their metadata."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from isogloss.board.model import KINDS, BoardLanguage, BoardSystem
from isogloss.data.location import default_data_dir
from isogloss.data.uriel import Uriel, read_uriel, uriel_folder
from isogloss.errors import DataError
from isogloss.escaping import FACT_LENGTH, NAME_LENGTH, printable
from isogloss.languages import UNKNOWN, Language, known_language
from isogloss.reply_outcomes import Usage
from isogloss.results.metadata import known_facts
from isogloss.results.published_scores import speakers_in_millions
from isogloss.results.system import SystemResult

NEAREST = 5
# Degrees between the places of languages that share one, such as two scripts of a language.
_APART = 0.8
# Kind of the system families that run here.
_KIND_OF_SYSTEM = {"ngram": "floor", "encoder": "encoder", "text2text": "encoder-decoder", "llm": "llm"}
_KIND_OF_SYSTEM |= dict.fromkeys(("embedder", "dual-encoder"), "retrieval")
_ID_LENGTH = 60
# Ids are names of files and keys of JavaScript objects: devices of Windows, and a property that every object has.
_RESERVED_IDS = {"con", "prn", "aux", "nul", "constructor"}
_RESERVED_IDS |= {f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)}
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# Names of regimes that say little beside a system's name.
_SHOWN_REGIMES = {
    "none": "no examples",
    "none-native": "no examples, native prompt",
    "none-translate-test": "no examples, translate-test",
    "english": "English examples",
    "english-native": "English examples, native prompt",
    "english-translate-test": "English examples, translate-test",
    "in-language-native": "in-language examples, native prompt",
}


def unique_ids(entries: Sequence[SystemResult]) -> list[str]:
    """Return an id per system from its name and regime, numbered if taken; invalid fixed ids raise DataError."""
    taken = {entry.id for entry in entries if entry.id} | _RESERVED_IDS
    ids: list[str] = []
    for entry in entries:
        if entry.id:
            if not _ID.fullmatch(entry.id) or entry.id in {*ids, *_RESERVED_IDS}:
                raise DataError(f"invalid or duplicate id {printable(entry.id, NAME_LENGTH)!r}")
            ids.append(entry.id)
            continue
        base = slug(entry.name) or "system"
        if base in taken:
            base = slug(f"{entry.name[:_ID_LENGTH]} {entry.regime}") or "system"
        name, count = base, 1
        while name in taken:
            count += 1
            name = f"{base}-{count}"
        taken.add(name)
        ids.append(name)
    return ids


def shown_names(entries: Sequence[SystemResult]) -> list[str]:
    """Return the displayed name of each system, numbered if another system of the same regime has it."""
    seen: Counter[tuple[str, str]] = Counter()
    names = []
    for entry in entries:
        name = printable(entry.name, NAME_LENGTH).strip() or "system"
        seen[name, entry.regime] += 1
        count = seen[name, entry.regime]
        names.append(name if count == 1 else f"{name} ({count})")
    return names


def slug(text: str) -> str:
    """Return a text in letters, digits and hyphens, short enough for a suffix."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:_ID_LENGTH].strip("-")


def system_facts(
    entry: SystemResult, identifier: str, name: str, *, complete: bool, provenance: int | None
) -> BoardSystem:
    """Return the row of a system; metadata in an unknown form are left out."""
    known = known_facts(entry.metadata)
    unparsed = known.get("unparsed", entry.unanswered)
    used = (entry.replies and entry.replies.usage) or Usage()
    thousand = entry.replies and entry.replies.cost_per_thousand
    same = ("year", "date", "paper", "url", "open_weights", "translated_data", "licence")
    return BoardSystem(
        id=identifier,
        name=name,
        kind=system_kind(entry.metadata),
        regime=printable(_SHOWN_REGIMES.get(entry.regime, entry.regime), NAME_LENGTH),
        reported=entry.reported,
        complete=complete,
        has_predictions=bool(entry.predictions),
        **{name: known.get(name) for name in same},
        parameters=_counted(known.get("parameters")),
        parameters_active=_counted(known.get("parameters_active")),
        pretraining_data=_amount(known, "pretraining") or None,
        parallel_data=_amount(known, "parallel"),
        contamination="" if known.get("contamination", "").lower() == "none" else known.get("contamination", ""),
        notes=known.get("notes", []),
        # Do not publish local paths.
        source=printable(entry.source, FACT_LENGTH) if entry.reported else "",
        unparsed=None if unparsed is None else round(unparsed, 5),
        tokens=known.get("tokens", used.input + used.output or None),
        cost=known.get("cost", used.cost),
        provenance=provenance,
        thousand_cost=None if thousand is None else float(f"{thousand:.3g}"),
        prompt_sd=None if entry.prompt_sd is None else round(entry.prompt_sd, 4),
    )


def system_kind(metadata: Mapping[str, Any]) -> str:
    """Return the kind of a system: as declared, or by its family."""
    kind = str(metadata.get("kind", "")).lower()
    if kind in KINDS:
        return kind
    name = re.split(r"[:#]", str(metadata.get("system") or metadata.get("name") or ""))[0].lower()
    families = [family for family in _KIND_OF_SYSTEM if name == family or name.startswith(f"{family}-")]
    return _KIND_OF_SYSTEM[max(families, key=len)] if families else "other"


def _counted(millions: float | None) -> float | None:
    return None if millions is None else round(1e6 * millions)


def _amount(known: Mapping[str, Any], name: str) -> Any:
    """Return the amount of data in tokens, in words, or both; False for none, None if unknown."""
    tokens, words = known.get(f"{name}_tokens"), known.get(f"{name}_data")
    if tokens == 0 or words is False:
        return False
    parts = [f"{tokens:,} tokens"] if tokens else []
    parts += [words] if isinstance(words, str) else []
    return "; ".join(parts) or words


def board_languages(codes: Collection[str], data: Path | None) -> list[BoardLanguage]:
    """Return the languages of a board by code; invalid URIEL files raise DataError."""
    known, folder = _known(codes), data or default_data_dir()
    return language_facts(
        codes,
        _nearest(tuple(known.items()), read_uriel(folder, known, skip_missing=True) if uriel_folder(folder) else None),
    )


def language_facts(codes: Collection[str], near: Mapping[str, list[str]] = MappingProxyType({})) -> list[BoardLanguage]:
    """Return languages by code, with only a code if unknown; `near` are the most similar ones of each."""
    known = _known(codes)
    located, spoken = places(known), speakers_in_millions(known)
    return [
        BoardLanguage(
            code=code,
            name=entry.name if entry else code,
            autonym=entry.autonym if entry else "",
            **{fact: getattr(entry, fact, UNKNOWN) for fact in ("family", "branch", "script")},
            rtl=entry is not None and entry.rtl,
            articles=entry.wikipedia_articles if entry else None,
            speakers=_counted(spoken.get(code)),
            near=near.get(code, []),
            place=located.get(code),
        )
        for code, entry in ((code, known.get(code)) for code in sorted(codes))
    ]


def _known(codes: Collection[str]) -> dict[str, Language]:
    return {code: entry for code in sorted(codes) if (entry := known_language(code)) is not None}


def places(known: Mapping[str, Language]) -> dict[str, tuple[float, float]]:
    """Return latitude and longitude of languages by code, as far as known, each at a place of its own."""
    located: dict[str, tuple[float, float]] = {}
    for code, entry in known.items():
        north, east = entry.latitude, entry.longitude
        if north is None or east is None:
            continue
        while (north, east) in located.values():
            north, east = round(north - _APART, 1), round(east + _APART, 1)
        located[code] = north, east
    return located


@lru_cache(maxsize=4)  # a server builds its pages after every publication
def _nearest(known: tuple[tuple[str, Language], ...], uriel: Uriel | None) -> dict[str, list[str]]:
    """Return the most similar languages of each language, nearest first, by URIEL's features and descent if given.

    Family, branch and script leave languages without relatives and with a unique script without neighbours.
    """
    nearest = {}
    for code, entry in known:
        distances = {
            other: _steps(entry, relative)
            if uriel is None or not {code, other} <= uriel.languages.keys()
            else uriel.distance("featural", code, other) + uriel.distance("genetic", code, other)
            for other, relative in known
            if other != code
        }
        ordered = sorted((steps, other) for other, steps in distances.items() if steps is not None)
        nearest[code] = [other for _, other in ordered[:NEAREST]]
    return nearest


def _steps(one: Language, other: Language) -> float | None:
    """Return a rough distance by descent and script, or None if they share neither or only the Latin script."""
    same_script = one.script == other.script != UNKNOWN
    if one.family == other.family != UNKNOWN:
        return (0 if one.branch == other.branch else 2) + (0 if same_script else 1)
    return 4 if same_script and one.script != "Latn" else None
