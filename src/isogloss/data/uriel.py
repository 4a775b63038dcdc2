"""URIEL: what is known of the grammar, the sounds, the descent and the place of languages (Littell et al. 2017).

`isogloss fetch uriel` brings the features as lang2vec 1.1.2 has them. Its precomputed distances are in no release of
that package; `Uriel.distance` makes all six from the features, each on a scale of 0 (the same) to 1. A `lang2vec/` in
the data folder, of the same files as they lie in that package, is read too; what it lacks of places is left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from isogloss.data.arrays import read_arrays
from isogloss.errors import DataError, UnknownNameError
from isogloss.languages import language
from isogloss.metrics.statistics import FloatArray

Distance = Literal["syntactic", "phonological", "inventory", "featural", "genetic", "geographic"]
DISTANCES: tuple[Distance, ...] = get_args(Distance)
# How the names of the features of a kind begin.
PREFIXES: Mapping[str, tuple[str, ...]] = {
    "syntactic": ("S_",),
    "phonological": ("P_",),
    "inventory": ("INV_",),
    "featural": ("S_", "P_", "INV_"),
}
# Where `isogloss fetch uriel` puts them, and what the package that has them is called.
FOLDERS = ("uriel", "lang2vec")
PLACES = "geocoord_features"
# The families of 7,970 languages are a table of zeros, which packs to a five-hundredth: 118 MB of 0.2.
MOST_BYTES = 256 << 20


@dataclass(frozen=True, eq=False)
class LanguageFeatures:
    """What URIEL has on one language.

    Attributes:
        values: (features,) 0 or 1; where no source tells, the nearest languages do (lang2vec's `knn` sets).
        attested: (features,) whether a source tells.
        ancestors: the families it is in by Glottolog's tree, the widest first; none for an isolate.
        place: (3,) where it is spoken, a point of the unit sphere; None where the files have no places.
    """

    values: FloatArray
    attested: npt.NDArray[np.bool_]
    ancestors: tuple[str, ...]
    place: FloatArray | None


@dataclass(frozen=True, eq=False)
class Uriel:
    """The features of some languages.

    Attributes:
        names: of the features: S_ syntax, P_ phonology, INV_ inventory of sounds.
        languages: by code.
    """

    names: tuple[str, ...]
    languages: Mapping[str, LanguageFeatures]

    @property
    def distances(self) -> tuple[Distance, ...]:
        """The distances that can be told: geographic ones need places."""
        placed = all(each.place is not None for each in self.languages.values())
        return tuple(kind for kind in DISTANCES if placed or kind != "geographic")

    def of_kind(self, kind: str) -> npt.NDArray[np.bool_]:
        """Which features are of a kind: syntactic, phonological, inventory, or featural for all of them."""
        return np.array([name.startswith(PREFIXES[kind]) for name in self.names])

    def distance(self, kind: Distance, one: str, other: str) -> float:
        """How far two languages are apart, 0..1.

        Geographic is the way over the Earth's surface as a share of the longest there is. All others are the angle
        between the two lists of features, or of families, as a share of a right angle, which is the scale of the
        distances that lang2vec publishes. A language without relatives is at 1 from all others by descent.

        Raises:
            DataError: the way is asked for, and the files have no places.
        """
        first, second = self.languages[one], self.languages[other]
        if one == other:
            return 0.0
        if kind == "geographic":
            if first.place is None or second.place is None:
                raise DataError("places are not known", where=f"{PLACES}.npz", fix=_FETCH)
            return float(np.arccos(np.clip(first.place @ second.place, -1, 1)) / np.pi)
        if kind == "genetic":
            shared = float(len(set(first.ancestors) & set(second.ancestors)))
            sizes = float(len(first.ancestors) * len(second.ancestors))
        else:
            chosen = self.of_kind(kind)
            shared = float(first.values[chosen] @ second.values[chosen])
            sizes = float(first.values[chosen].sum() * second.values[chosen].sum())
        return float(np.arccos(np.clip(shared / np.sqrt(sizes), -1, 1)) * 2 / np.pi) if sizes else 1.0


def uriel_folder(data: Path) -> Path | None:
    """The folder of URIEL's files in a data folder; None where there is none."""
    return next((data / name for name in FOLDERS if (data / name).is_dir()), None)


def read_uriel(data: Path, codes: Iterable[str], *, varieties: bool = False) -> Uriel:
    """The features of some languages.

    Sources describe macrolanguages (Arabic, not its standard variety), so features are those of `Language.iso3`; trees
    and maps have the varieties, so descent and place are those of `Language.individual`.

    Args:
        data: the data folder, which has `uriel/` or `lang2vec/`.
        codes: languages of the registry, or any others by their ISO 639-3 codes.
        varieties: take the features of the varieties too, though less is known of them.

    Raises:
        DataError: the files are not there or not what they should be, or do not have one of the languages.
    """
    folder = uriel_folder(data) or data / FOLDERS[0]
    wanted = list(codes)
    individual = [_iso3(code)[1] for code in wanted]
    described = individual if varieties else [_iso3(code)[0] for code in wanted]
    names, values = _rows(folder, "feature_predictions", described)
    known, averages = _rows(folder, "feature_averages", described)
    if names != known:
        raise DataError("the predicted features are not the known ones", where=str(folder), fix=_FIX)
    families, member = _rows(folder, "family_features", individual)
    placed = (folder / f"{PLACES}.npz").is_file()
    places = _places(*_rows(folder, PLACES, individual)) if placed else None
    return Uriel(
        names,
        {
            code: LanguageFeatures(
                values[row],
                averages[row] >= 0,  # -1 where nothing is known
                tuple(families[column].removeprefix("F_") for column in np.flatnonzero(member[row] > 0)),
                None if places is None else places[row],
            )
            for row, code in enumerate(wanted)
        },
    )


_FETCH = "Run `isogloss fetch uriel`"
_FIX = "Run `isogloss fetch uriel --force`"


def _iso3(code: str) -> tuple[str, str]:
    """The ISO 639-3 codes of the macrolanguage and of the variety."""
    try:
        entry = language(code)
    except UnknownNameError:
        return code, code
    return entry.iso3, entry.individual


def _rows(folder: Path, name: str, codes: list[str]) -> tuple[tuple[str, ...], FloatArray]:
    """The names of the columns of one table, and the rows of some languages."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise DataError("there is no such file", where=str(path), fix=_FETCH)
    with read_arrays(path, MOST_BYTES) as arrays:
        columns, known = _texts(arrays["feats"]), _texts(arrays["langs"])
        table = arrays["data"]
        if table.shape != (len(known), len(columns), 1) or table.dtype.kind != "f":
            raise DataError(f"a table of shape {table.shape} for {len(known)} languages", where=str(path), fix=_FIX)
        places = {code: row for row, code in enumerate(known)}
        if lacking := sorted(set(codes) - set(places)):
            fix = "Give languages by their ISO 639-3 codes"
            raise DataError(f"has no language {', '.join(lacking)}", where=str(path), fix=fix)
        rows = table[[places[code] for code in codes], :, 0].astype(np.float64)
    if not np.isfinite(rows).all():
        raise DataError("has values that are no numbers", where=str(path), fix=_FIX)
    return columns, rows


def _texts(array: npt.NDArray[Any]) -> tuple[str, ...]:
    return tuple(map(str, array.tolist()))


def _places(names: tuple[str, ...], ways: FloatArray) -> FloatArray:
    """Where languages are, from how far they are from 299 points: the cosine of a way is the product of its ends."""
    degrees = np.array([[float(part) for part in name.removeprefix("GC_").split("_")] for name in names])
    latitude, longitude = np.radians(degrees).T
    points = np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )
    found = np.linalg.lstsq(points, np.cos(np.pi * ways).T, rcond=None)[0].T
    unit: FloatArray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit
