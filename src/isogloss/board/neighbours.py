"""Which languages are most like another."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from isogloss.data.location import default_data_dir
from isogloss.data.uriel import read_uriel, uriel_folder
from isogloss.languages import Language
from isogloss.scoring.names import known_language

NEAREST = 5


def nearest_languages(codes: Sequence[str], data: Path | None = None) -> dict[str, list[str]]:
    """The languages that are most like each of some, the nearest first.

    By URIEL's features of grammar and sounds and by descent, where the data folder has URIEL; else by family, branch
    and script, which leaves languages without relatives and with a script of their own without any.

    Raises:
        DataError: the files of URIEL are not what they should be.
    """
    known = {code: entry for code in codes if (entry := known_language(code)) is not None}
    folder = data or default_data_dir()
    distances = _by_typology(folder, list(known)) if uriel_folder(folder) else _by_registry(known)
    found: dict[str, list[str]] = {code: [] for code in codes}
    for code, of_code in distances.items():
        found[code] = sorted(of_code, key=lambda other: (of_code[other], other))[:NEAREST]
    return found


def _by_typology(folder: Path, codes: Sequence[str]) -> dict[str, dict[str, float]]:
    uriel = read_uriel(folder, codes)
    return {
        code: {
            other: uriel.distance("featural", code, other) + uriel.distance("genetic", code, other)
            for other in codes
            if other != code
        }
        for code in codes
    }


def _by_registry(entries: Mapping[str, Language]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for code, entry in entries.items():
        apart = {other: _steps(entry, relative) for other, relative in entries.items() if other != code}
        found[code] = {other: steps for other, steps in apart.items() if steps is not None}
    return found


def _steps(one: Language, other: Language) -> float | None:
    """A rough distance by descent and script; None for languages that share neither, or but the Latin script."""
    same_script = one.script == other.script
    if one.family == other.family:
        return (0 if one.branch == other.branch else 2) + (0 if same_script else 1)
    return 4 if same_script and one.script != "Latn" else None
