"""Tatoeba and BUCC: sentences on two sides, to be matched."""

from isogloss.data.files import lines
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.readers.split_files import SplitFiles, corpus_iso3


def tatoeba(files: SplitFiles) -> Examples | None:
    """LASER's files: line i of one side translates line i of the other; English queries, other candidates."""
    sides = _both_sides(files, ".eng", f".{corpus_iso3(files.language)}")
    if sides is None:
        return None
    english, other = sides
    if len(english) != len(other):
        raise DataError(f"{len(english)} English lines but {len(other)} others", where=files.where())
    ids = [str(row) for row in range(len(english))]
    columns: dict[str, Column] = {"text": english, "targets": [[identifier] for identifier in ids]}
    # The same English sentences are translated into several languages.
    return files.examples(ids, columns, "targets", clusters=english, pool=_pool(ids, files.language, other))


def tatoeba_prepared(files: SplitFiles) -> Examples | None:
    """XTREME's files, English sorted to hide the alignment: inputs only, rows named by their sorted place."""
    sides = _both_sides(files, ".en", f".{files.language}")
    if sides is None:
        return None
    english, other = sides
    ids = [f"sorted-{row}" for row in range(len(english))]
    pool = _pool([str(row) for row in range(len(other))], files.language, other)
    return files.examples(ids, {"text": english}, "targets", clusters=english, pool=pool)


def _both_sides(files: SplitFiles, *suffixes: str) -> list[list[str]] | None:
    paths = [files.path(suffix) for suffix in suffixes]
    return None if None in paths else [[line.strip() for line in lines(path, files.digest)] for path in paths if path]


def _pool(ids: list[str], language: str, texts: list[str]) -> Pool:
    return Pool(lambda: dict.fromkeys(ids, language), lambda: texts)


def bucc(files: SplitFiles) -> Examples | None:
    """`id<TAB>sentence` on both sides and, where it is published, `source id<TAB>English id` as gold."""
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
                raise DataError(f"gold names the unknown sentence {first!r}", where=f"{gold_path}:{number}")
            targets[first].append(second)
        columns["targets"] = list(targets.values())
    english_ids = [row[0] for row in english]
    if len(set(english_ids)) != len(english_ids):
        raise DataError("an English id occurs more than once", where=str(english_path))
    pool = _pool(english_ids, "en", [row[1] for row in english])
    return files.examples(ids, columns, "targets", pool=pool)
