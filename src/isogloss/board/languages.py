"""The languages of a board: facts, locations and most similar languages."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from isogloss.board.model import BoardLanguage
from isogloss.data.location import default_data_dir
from isogloss.data.uriel import Uriel, read_uriel, uriel_folder
from isogloss.languages import Language
from isogloss.results.published_scores import speakers
from isogloss.scoring.names import known_language

NEAREST = 5
# Approximate latitude (north) and longitude (east) of a language's main area or origin, in degrees. Written by hand for
# the board's map; no political statement is intended.
_ROWS = Path(__file__).with_name("places.tsv").read_text(encoding="utf-8").splitlines()[1:]
PLACES = {code: (float(north), float(east)) for code, north, east in (row.split("\t") for row in _ROWS)}


def board_languages(codes: Sequence[str], data: Path | None) -> list[BoardLanguage]:
    """Return the languages of a board by code; unknown languages have only a code.

    Raises:
        DataError: the data folder has invalid URIEL files.
    """
    known = {code: entry for code in sorted(codes) if (entry := known_language(code)) is not None}
    folder = data or default_data_dir()
    near = _nearest(tuple(known.items()), read_uriel(folder, known) if uriel_folder(folder) else None)
    languages = []
    for code in sorted(codes):
        entry, millions = known.get(code), speakers().get(code)
        facts = ("autonym", "family", "branch", "script")
        languages.append(
            BoardLanguage(
                code=code,
                name=entry.name if entry else code,
                **{fact: getattr(entry, fact, "") for fact in facts},
                rtl=entry is not None and entry.rtl,
                articles=entry.wikipedia_articles if entry else None,
                speakers=None if entry is None or millions is None else round(1e6 * millions),
                near=near.get(code, []),
                place=PLACES.get(code) if entry else None,
            )
        )
    return languages


@lru_cache(maxsize=4)  # a server builds its pages after every publication
def _nearest(known: tuple[tuple[str, Language], ...], uriel: Uriel | None) -> dict[str, list[str]]:
    """Return the most similar languages of each language, nearest first.

    Similarity is by URIEL's features and descent if it is given, else by family, branch and script, which leaves
    languages without relatives and with a unique script without neighbours.
    """
    nearest = {}
    for code, entry in known:
        distances = {
            other: _steps(entry, relative)
            if uriel is None
            else uriel.distance("featural", code, other) + uriel.distance("genetic", code, other)
            for other, relative in known
            if other != code
        }
        ordered = sorted((steps, other) for other, steps in distances.items() if steps is not None)
        nearest[code] = [other for _, other in ordered[:NEAREST]]
    return nearest


def _steps(one: Language, other: Language) -> float | None:
    """Return a rough distance by descent and script, or None if they share neither or only the Latin script."""
    same_script = one.script == other.script
    if one.family == other.family:
        return (0 if one.branch == other.branch else 2) + (0 if same_script else 1)
    return 4 if same_script and one.script != "Latn" else None
