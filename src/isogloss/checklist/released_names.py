"""Given names of the released checklist: CheckList's lists, which are from Wikidata."""

import io
import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from isogloss.checklist.released_sheet import ENGLISH
from isogloss.data.files import read_bytes, resolve
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.grammar.file import grammar

# Names below the data folder: CheckList's own file, as fetched, or its lists as JSON.
NAMES_FILES = ("multichecklist/wikidata.pkl", "given_names/wikidata_names_places.json")
# The file of CheckList 0.0.9 to 0.0.11. A pickle is opened only if it is this one.
_WIKIDATA = "6cb6e159b0a6cbc5022cdaadb576917b3c9d31dd6efc2b784bb48d4942dd91f9"
# Tests with sentences that agree with the person: the sheet has them for men only.
_MEN_ONLY = ("comparisons", "intensifiers", "job_vs_nationality")


@dataclass(frozen=True)
class ReleasedNames:
    """Given names by language; languages without names borrow the English ones."""

    men: Mapping[str, Sequence[str]]
    women: Mapping[str, Sequence[str]]

    def borrowed(self, language: str) -> bool:
        """Return True if the language borrows its names."""
        return language not in self.men

    def names_for(self, language: str, test: str) -> list[str]:
        """Return the names for a test in a language: of men, or of men and women alternately, without duplicates."""
        code = ENGLISH if self.borrowed(language) else language
        if test in _MEN_ONLY:
            return list(dict.fromkeys(self.men[code]))
        pairs = zip(self.men[code], self.women.get(code, ()), strict=False)
        return list(dict.fromkeys(name for pair in pairs for name in pair))


class _NamesFile(msgspec.Struct):
    mnames: dict[str, list[str]]
    fnames: dict[str, list[str]]


class _Munch(dict[str, Any]):
    """Stand-in for `munch.Munch`, the only class in CheckList's file."""

    __setstate__ = dict.update


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        if (module, name) != ("munch", "Munch"):
            raise pickle.UnpicklingError(f"{module}.{name}")
        return _Munch


def given_names(path: Path) -> ReleasedNames:
    """Read CheckList's name lists: its pickle, or JSON with `mnames` and `fnames` by language; packed or not."""
    raw = read_bytes(resolve(path) or path)
    if path.suffix == ".pkl":
        if sha256(raw).hexdigest() != _WIKIDATA:
            raise DataError("not the file of CheckList", where=str(path), fix="Run isogloss fetch multichecklist")
        file = msgspec.convert(_Unpickler(io.BytesIO(raw)).load(), _NamesFile)
    else:
        file = decode_json(raw, str(path), _NamesFile, what="a list of names")
    if not file.mnames.get(ENGLISH) or not file.fnames.get(ENGLISH):
        raise DataError("no English names", where=str(path), fix="Add them: languages without names use them")
    return ReleasedNames(file.mnames, file.fnames)


def names_in(data: Path) -> Path | None:
    """Return the file with CheckList's names in a data folder, or None."""
    return next((data / name for name in NAMES_FILES if resolve(data / name)), None)


def names_beside(sheet: Path, languages: Iterable[str]) -> ReleasedNames:
    """Return the name lists of the sheet's data folder, or the names of the built-in suite."""
    path = names_in(sheet.resolve().parent.parent)
    if path is not None:
        return given_names(path)
    speakers = {code: grammar(code).names for code in languages}
    return ReleasedNames(*({code: [name.base for name in speakers[code][sex]] for code in speakers} for sex in "mf"))
