"""Task file of a built Mewsli-X: its languages and sizes, so that all commands can use it by name."""

import json
from collections.abc import Mapping
from pathlib import Path

from isogloss.building.datasheet import Datasheet
from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.tasks.registry import TASKS
from isogloss.tasks.task_file import is_task_id


def check_name(name: str) -> None:
    """Raise DataError if a built set cannot have this name."""
    if not is_task_id(name) or name in TASKS.origins:
        what = f"{name!r:.80} cannot be the name of the task: it is taken, or no task can have it"
        raise DataError(what, fix="Use small letters, digits, dots, hyphens and underscores")


def write_edition(data: Path, name: str, datasheet: Datasheet) -> Path:
    """Write the task file of a built set beside its files; return its path."""
    counts = {split: _sizes(table) for split, table in datasheet.splits.items() if any(map(any, table.values()))}
    languages = list(dict.fromkeys(code for sizes in counts.values() for code in sizes))
    pairs = datasheet.pairs.get("pairs", 0)
    lines = [
        'based_on = "mewslix"',
        f"title = {json.dumps(f'{name}: entity linking, built from dumps')}",
        f"languages = {json.dumps(languages)}",
        *(['also = ["en"]'] if pairs and "en" not in languages else []),
        'data = ".."',
        "",
        "[counts]",
        *(f'{split} = "{_written(sizes)}"' for split, sizes in counts.items()),
        *([f'train = "en {pairs}"'] if pairs else []),
    ]
    path = data / "mewslix" / f"{name}.toml"
    with atomic_write(path) as stream:
        stream.write("\n".join(lines) + "\n")
    return path


def _sizes(table: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the number of mentions by language, without languages that have none."""
    sizes = {language: sum(bins.values()) for language, bins in table.items()}
    return {language: size for language, size in sizes.items() if size}


def _written(sizes: Mapping[str, int]) -> str:
    return " ".join(f"{language} {size}" for language, size in sizes.items())
