"""URIEL: typology, phonology, genealogy and geography of languages (Littell et al. 2017).

`isogloss fetch uriel` gets the features of lang2vec 1.1.2, which lacks the precomputed distances: `Uriel.distance`
computes all six. A `lang2vec/` folder with the package's files works too, without coordinates if they are missing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from isogloss.data.arrays import read_arrays
from isogloss.errors import DataError
from isogloss.languages import listed_language
from isogloss.metrics.statistics import FloatArray

Distance = Literal["syntactic", "phonological", "inventory", "featural", "genetic", "geographic"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
# Prefixes of the feature names by kind.
PREFIXES: Mapping[str, tuple[str, ...]] = {
    "syntactic": ("S_",),
    "phonological": ("P_",),
    "inventory": ("INV_",),
    "featural": ("S_", "P_", "INV_"),
}
# Folder written by `isogloss fetch uriel`, and the package's folder.
FOLDERS = ("uriel", "lang2vec")
PLACES = "geocoord_features"
_FETCH = "Run `isogloss fetch uriel`"
_FIX = "Run `isogloss fetch uriel --force`"
# The family table of 7,970 languages is mostly zeros and compresses 500-fold: 118 MB from 0.2.
MOST_BYTES = 256 << 20


@dataclass(frozen=True, eq=False)
class LanguageFeatures:
    """URIEL's data of one language.

    Attributes:
        values: (features,) 0 or 1; missing values are predicted from the nearest languages (lang2vec's `knn` sets).
        attested: (features,) True for values from a source.
        ancestors: its families in Glottolog's tree, widest first; empty for an isolate.
        place: (3,) coordinates on the unit sphere; None if the files have none.
    """

    values: FloatArray
    attested: npt.NDArray[np.bool_]
    ancestors: tuple[str, ...]
    place: FloatArray | None


@dataclass(frozen=True, eq=False)
class Uriel:
    """The features of some languages by code; feature names begin with S_ (syntax), P_ (phonology) or INV_ (sounds)."""

    names: tuple[str, ...]
    languages: Mapping[str, LanguageFeatures]

    @property
    def distances(self) -> tuple[Distance, ...]:
        """Available distances: geographic ones need coordinates."""
        placed = all(entry.place is not None for entry in self.languages.values())
        return tuple(kind for kind in DISTANCES if placed or kind != "geographic")

    def of_kind(self, kind: str) -> npt.NDArray[np.bool_]:
        """Return a mask of the features of a kind: syntactic, phonological, inventory, or featural for all."""
        return _mask(self.names, PREFIXES[kind])

    def distance(self, kind: Distance, one: str, other: str) -> float:
        """Return the distance between two languages, 0 (identical) to 1.

        Geographic distance is the great-circle distance as a share of the maximum. All others are the angle
        between the two lists of features, or of families, as a share of a right angle, which is the scale of the
        distances that lang2vec publishes. The genetic distance of an isolate to all other languages is 1.
        """
        first, second = self.languages[one], self.languages[other]
        if one == other:
            return 0.0
        if kind == "geographic":
            if first.place is None or second.place is None:
                raise DataError("missing coordinates", where=f"{PLACES}.npz", fix=_FETCH)
            return float(np.arccos(np.clip(first.place @ second.place, -1, 1)) / np.pi)
        if kind == "genetic":
            shared = float(len(set(first.ancestors) & set(second.ancestors)))
            sizes = float(len(first.ancestors) * len(second.ancestors))
        else:
            chosen = self.of_kind(kind)
            shared = float(first.values[chosen] @ second.values[chosen])
            sizes = float(first.values[chosen].sum() * second.values[chosen].sum())
        return float(np.arccos(np.clip(shared / np.sqrt(sizes), -1, 1)) * 2 / np.pi) if sizes else 1.0


@lru_cache
def _mask(names: tuple[str, ...], prefixes: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    mask = np.array([name.startswith(prefixes) for name in names])
    mask.flags.writeable = False
    return mask


def uriel_folder(data: Path) -> Path | None:
    """Return the folder of URIEL's files in a data folder, or None."""
    return next((data / name for name in FOLDERS if (data / name).is_dir()), None)


def read_uriel(data: Path, codes: Iterable[str], *, varieties: bool = False, skip_missing: bool = False) -> Uriel:
    """Return the features of some languages.

    Sources describe macrolanguages (Arabic, not its standard variety), so features are those of `Language.iso3`; trees
    and maps have the varieties, so genealogy and coordinates are those of `Language.individual`. With `varieties`, so
    are the features, which are sparser then. Codes are registered languages, or ISO 639-3 codes of others; those that
    URIEL lacks raise DataError, or with `skip_missing` are left out.
    """
    folder = uriel_folder(data) or data / FOLDERS[0]
    stats = [(path.name, path.stat()) for path in sorted(folder.glob("*.npz"))]
    stamps = tuple((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    wanted = tuple(codes)
    if skip_missing:
        has = _described(folder, stamps)
        wanted = tuple(code for code in wanted if has.issuperset(_iso3(code)))
    return _read(folder, wanted, varieties, stamps)


@lru_cache(maxsize=4)
def _described(folder: Path, stamps: object) -> frozenset[str]:
    """Return the languages that all tables have."""
    names = ("feature_predictions", "feature_averages", "family_features")
    tables = (_languages(folder / f"{name}.npz") for name in names)
    return frozenset.intersection(*map(frozenset, tables))


def _languages(path: Path) -> list[str]:
    if not path.is_file():
        raise DataError("no such file", where=str(path), fix=_FETCH)
    with read_arrays(path, MOST_BYTES) as arrays:
        return [str(code) for code in arrays["langs"].tolist()]


@lru_cache(maxsize=4)
def _read(folder: Path, wanted: tuple[str, ...], varieties: bool, stamps: object) -> Uriel:
    """Read the files again only if they changed: a board rebuilds its pages after every publication."""
    individual = [_iso3(code)[1] for code in wanted]
    described = individual if varieties else [_iso3(code)[0] for code in wanted]
    names, values = _rows(folder, "feature_predictions", described)
    attested_names, averages = _rows(folder, "feature_averages", described)
    if names != attested_names:
        raise DataError("the predicted features do not match the attested ones", where=str(folder), fix=_FIX)
    families, member = _rows(folder, "family_features", individual)
    placed = (folder / f"{PLACES}.npz").is_file()
    coordinates = _places(*_rows(folder, PLACES, individual)) if placed else None
    languages = {}
    for row, code in enumerate(wanted):
        ancestors = tuple(families[column].removeprefix("F_") for column in np.flatnonzero(member[row] > 0))
        place = None if coordinates is None else coordinates[row]
        attested = averages[row] >= 0  # -1 if unknown
        languages[code] = LanguageFeatures(values[row], attested, ancestors, place)
    return Uriel(names, languages)


def _iso3(code: str) -> tuple[str, str]:
    """Return the ISO 639-3 codes of the macrolanguage and of the variety."""
    entry = listed_language(code) or listed_language(code.partition("-")[0])
    return (entry.iso3, entry.individual) if entry else (code, code)


def _rows(folder: Path, name: str, codes: list[str]) -> tuple[tuple[str, ...], FloatArray]:
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise DataError("no such file", where=str(path), fix=_FETCH)
    with read_arrays(path, MOST_BYTES) as arrays:
        columns, languages = (tuple(map(str, arrays[key].tolist())) for key in ("feats", "langs"))
        table = arrays["data"]
        if table.shape != (len(languages), len(columns), 1) or table.dtype.kind != "f":
            what = f"expected one row of numbers per language ({len(languages)}), got shape {table.shape}"
            raise DataError(what, where=str(path), fix=_FIX)
        row_of = {code: row for row, code in enumerate(languages)}
        if lacking := sorted(set(codes) - set(row_of)):
            raise DataError(f"unknown language {', '.join(lacking)}", where=str(path), fix="Use ISO 639-3 codes")
        rows = table[[row_of[code] for code in codes], :, 0].astype(np.float64)
    if not np.isfinite(rows).all():
        raise DataError("the table has values that are not finite", where=str(path), fix=_FIX)
    return columns, rows


def _places(names: tuple[str, ...], distances: FloatArray) -> FloatArray:
    """Estimate coordinates by trilateration from distances to 299 reference points."""
    # The cosine of a distance is the dot product of the unit vectors of its ends.
    degrees = np.array([[float(part) for part in name.removeprefix("GC_").split("_")] for name in names])
    latitude, longitude = np.radians(degrees).T
    across = np.cos(latitude)
    points = np.stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)], axis=1)
    solution = np.linalg.lstsq(points, np.cos(np.pi * distances).T, rcond=None)[0].T
    unit: FloatArray = solution / np.linalg.norm(solution, axis=1, keepdims=True)
    return unit
