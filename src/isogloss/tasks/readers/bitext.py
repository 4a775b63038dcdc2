"""Readers of Tatoeba and BUCC: two sides of sentences to match."""

from isogloss.data.files import lines
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.readers.split_files import SplitFiles, corpus_iso3


def tatoeba(files: SplitFiles) -> Examples | None:
    """Read LASER's files: line i of both sides is a translation pair; queries are English."""
    sides = _both_sides(files, ".eng", f".{corpus_iso3(files.language)}")
    if sides is None:
        return None
    english, other = sides
    if len(english) != len(other):
        raise DataError(f"{len(english)} English lines but {len(other)} in the other language", where=files.where())
    ids = [str(row) for row in range(len(english))]
    columns: dict[str, Column] = {"text": english, "targets": [[identifier] for identifier in ids]}
    pool = Pool(lambda: dict.fromkeys(ids, files.language), lambda: other)
    # The same English sentences are translated into several languages.
    return files.examples(ids, columns, "targets", clusters=english, pool=pool)


def tatoeba_prepared(files: SplitFiles) -> Examples | None:
    """Read XTREME's input-only files with English sorted to hide the alignment; ids are sorted positions."""
    sides = _both_sides(files, ".en", f".{files.language}")
    if sides is None:
        return None
    english, other = sides
    ids = [f"sorted-{row}" for row in range(len(english))]
    pool = Pool(lambda: {str(row): files.language for row in range(len(other))}, lambda: other)
    return files.examples(ids, {"text": english}, "targets", clusters=english, pool=pool)


def _both_sides(files: SplitFiles, *suffixes: str) -> list[list[str]] | None:
    paths = [files.path(suffix) for suffix in suffixes]
    return None if None in paths else [[line.strip() for line in lines(path, files.digest)] for path in paths if path]


def bucc(files: SplitFiles) -> Examples | None:
    """Read `id<TAB>sentence` files of both sides and, if published, `source id<TAB>English id` gold."""
    own_path, english_path = files.path(f".{files.language}"), files.path(".en")
    if own_path is None or english_path is None:
        return None
    own = list(rows(own_path, 2, files.digest))
    english = list(rows(english_path, 2, files.digest))
    ids = [row[0] for row in own]
    columns: dict[str, Column] = {"text": [row[1] for row in own]}
    gold_path = files.path(".gold")
    if gold_path is not None:
        targets: dict[str, list[str]] = {identifier: [] for identifier in ids}
        for number, (first, second) in enumerate(rows(gold_path, 2, files.digest), 1):
            if first not in targets:
                raise DataError(f"unknown sentence {first!r} in gold", where=f"{gold_path}:{number}")
            targets[first].append(second)
        columns["targets"] = list(targets.values())
    english_ids = [row[0] for row in english]
    if len(set(english_ids)) != len(english_ids):
        raise DataError("duplicate English id", where=str(english_path))
    pool = Pool(lambda: dict.fromkeys(english_ids, "en"), lambda: [row[1] for row in english])
    return files.examples(ids, columns, "targets", pool=pool)
