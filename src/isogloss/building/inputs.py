"""Dump files that a user names: their kind and wiki, from names as Wikimedia gives them."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from isogloss.building.dumps import FilePart
from isogloss.building.sql import table_of
from isogloss.building.titles import Wiki, wiki_in_file_name, wiki_of
from isogloss.errors import DataError
from isogloss.escaping import printable

# Tables that are read: their columns.
TABLES = {
    "page": ("page_id", "page_namespace", "page_title"),
    "page_props": ("pp_page", "pp_propname", "pp_value"),
    "redirect": ("rd_from", "rd_namespace", "rd_title", "rd_interwiki"),
    "langlinks": ("ll_from", "ll_lang", "ll_title"),
}
_PACKED = (".bz2", ".gz", ".xz")
# Parts of the names of other files that Wikimedia publishes beside the dumps.
_OTHER_FILES = ("-stub-", "-abstract", "-pages-logging", "siteinfo", "dumpstatus", "dumpruninfo", "datasheet")


class DumpFile(NamedTuple):
    """A dump: its kind ("pages", "entities" or the name of a table), wiki (None for entities) and columns."""

    path: Path
    kind: str
    wiki: Wiki | None
    columns: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name for people and for results: the wiki's and the file's."""
        name = printable(self.path.name)
        return f"{self.wiki.name}:{name}" if self.wiki else name


def find_dumps(
    sources: Iterable[str | os.PathLike[str]], skipped: Iterable[Path] = ()
) -> tuple[list[DumpFile], list[str]]:
    """Return the dumps among files and folders, sorted by wiki and name, and the names of files that are not read.

    Args:
        sources: files and folders; `WIKI=FILE` names the wiki of a file with another name, e.g. `de=wiki.xml.bz2`.
        skipped: folders inside the others that are not searched, such as that of the results.

    Raises:
        DataError: a missing file, a named file of unknown kind, or one without a known wiki.
    """
    dumps: dict[Path, DumpFile] = {}
    results = {path.resolve() for path in skipped}
    ignored: dict[Path, str] = {}
    for each in sources:
        source = os.fspath(each)
        name, equals, rest = source.partition("=")
        wiki_name, path = (name, Path(rest)) if equals and not Path(source).exists() else ("", Path(source))
        if not path.exists():
            raise DataError("no such file or folder", where=str(path))
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in files:
            if path.is_dir() and results.intersection(file.resolve().parents):
                continue
            dump = _recognised(file, wiki_name, is_named=not path.is_dir())
            if dump is None:
                ignored[file.resolve()] = printable(file.name)
            else:
                dumps.setdefault(file.resolve(), dump)
    names = sorted(name for file, name in ignored.items() if file not in dumps)
    return sorted(dumps.values(), key=lambda dump: (dump.wiki or ("", ""), dump.path.name, dump.path)), names


def _recognised(path: Path, wiki_name: str, *, is_named: bool) -> DumpFile | None:
    """Return a dump, or None for another file; raise a DataError if the user named the file."""
    name = path.name.removesuffix(path.suffix) if path.suffix in _PACKED else path.name
    if not is_named and any(part in name for part in _OTHER_FILES):
        return None
    if name.endswith((".json", ".ndjson")):
        return DumpFile(path, "entities", None)
    is_pages, is_sql = ".xml" in name and path.suffix != ".7z", name.endswith(".sql")
    wiki_name = wiki_name or wiki_in_file_name(path.name)
    if not (is_pages or is_sql) or (not wiki_name and not is_named):
        if is_named:
            fix = "Name .xml (pages), .sql (tables) or .json (Wikidata) files, packed as .bz2, .gz, .xz or not"
            raise DataError("not a dump", where=str(path), fix=fix)
        return None
    if not wiki_name:
        raise DataError("cannot tell the wiki from the name", where=str(path), fix=f"Write WIKI={path}, e.g. de={path}")
    if is_pages:
        return DumpFile(path, "pages", wiki_of(wiki_name, str(path)))
    table, columns = table_of(FilePart(path))
    if table in TABLES and set(TABLES[table]) <= set(columns):
        return DumpFile(path, table, wiki_of(wiki_name, str(path)), tuple(columns))
    if is_named:
        raise DataError(f"expected a table {', '.join(TABLES)}, got {table or 'none'}", where=str(path))
    return None
