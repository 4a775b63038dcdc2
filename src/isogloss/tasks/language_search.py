"""Files of a task that a file declares, and the languages found by them or in their language column."""

import re
from collections.abc import Mapping
from pathlib import Path
from warnings import warn

from isogloss.data.files import find_all, resolve
from isogloss.data.location import default_data_dir
from isogloss.errors import DataError
from isogloss.languages import known_language
from isogloss.tasks.table_format import TableFormat
from isogloss.tasks.task import Task

_PLACEHOLDER = re.compile(r"\{(?:language|code|lang|iso3|name)\}")


def languages_in_files(
    form: TableFormat, pattern: str, split: str, folder: str, *, codes: Mapping[str, str], where: str
) -> dict[str, str]:
    """Return the languages of a split as files spell them, by tag in order.

    Args:
        form: contents of the files.
        pattern: path pattern of the split.
        split: the split, for files with several.
        folder: the task's own folder, which is searched before the data folder.
        codes: tags of spellings that the registry of languages does not know.
        where: the task file, for messages.
    """
    if form.hub is not None:
        fix = 'List them: languages = ["en", "sw"]'
        raise DataError("the languages of a hub dataset cannot be found by its files", where=where, fix=fix)
    spellings: list[str] = []
    for root in (Path(folder), default_data_dir()):
        spellings = (
            _in_paths(root, pattern) if _PLACEHOLDER.search(pattern) else _in_column(form, root / pattern, split)
        )
        if spellings:
            break
    languages: dict[str, str] = {}
    for spelling in spellings:
        entry = known_language(spelling)
        tag = codes.get(spelling) or (entry.code if entry else "")
        if not tag:
            warn(f"{where}: {spelling!r:.60} is not a language; map it to a tag in [codes]", stacklevel=4)
        elif languages.setdefault(tag, spelling) != spelling:
            warn(f"{where}: {spelling!r:.60} skipped: {languages[tag]!r} is {tag}, too", stacklevel=4)
    return dict(sorted(languages.items()))


def files_of(task: Task) -> list[tuple[str, Path]]:
    """Return the files of all languages in the folder of a task that a file declares, with their paths below it."""
    folder = Path(task.folder)
    patterns = {pattern for one in task.layouts for pattern in (one.test, one.dev, one.train) if pattern}
    inside = (pattern for pattern in sorted(patterns) if not Path(pattern).is_absolute() and ".." not in pattern)
    paths = (path for pattern in inside for path in find_all(folder, _PLACEHOLDER.sub("*", pattern)))
    return [(path.relative_to(folder).as_posix(), path) for path in dict.fromkeys(paths)]


def _in_paths(root: Path, pattern: str) -> list[str]:
    parts = _PLACEHOLDER.split(pattern)
    expression = "(?P<language>[^/]+)".join(_escaped(part) for part in parts[:2])
    expression += "".join(f"(?P=language){_escaped(part)}" for part in parts[2:])
    matcher = re.compile(expression + r"(?:\.(?:xz|gz|zst))?")
    paths = find_all(root, _PLACEHOLDER.sub("*", pattern)) if root.is_dir() else []
    matches = (matcher.fullmatch(path.relative_to(root).as_posix()) for path in paths)
    return list(dict.fromkeys(match["language"] for match in matches if match))


def _escaped(part: str) -> str:
    return "[^/]*".join(map(re.escape, part.split("*")))


def _in_column(form: TableFormat, path: Path, split: str) -> list[str]:
    from isogloss.tasks.readers.table import languages_in  # imports the kinds

    file = resolve(path)
    return [] if file is None else languages_in(file, form, split)
