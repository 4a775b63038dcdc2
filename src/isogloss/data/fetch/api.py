"""`isogloss.fetch`: download datasets by name."""

import os
from collections.abc import Iterable
from pathlib import Path

from isogloss.data.fetch import datasets as download
from isogloss.data.fetch.catalog import Dataset, dataset, datasets
from isogloss.data.fetch.datasets import FetchOutcome
from isogloss.data.fetch.downloaders import RetryPolicy
from isogloss.data.location import default_data_dir
from isogloss.errors import DataError
from isogloss.figures import counted


def fetch(
    *names: str,
    data: str | os.PathLike[str] | None = None,
    mirror: str = "",
    force: bool = False,
    retry: RetryPolicy | None = None,
) -> list[FetchOutcome]:
    """Download datasets into the data folder and verify them.

    Skips intact files and resumes interrupted downloads: after any failure, call it again.

    Args:
        *names: tasks and other datasets, such as "xquad" or "uriel"; "all" for all except models and translations.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        mirror: folder or address with `<task>/<file name>`, used instead of the web.
        force: True to download intact files again.
        retry: patience with slow or broken servers.

    Returns:
        The outcome of each download.

    Raises:
        UnknownNameError: unknown dataset.
        DataError: downloads failed, datasets have to be downloaded by hand, or the folder cannot be written.

    Example:
        isogloss.fetch("xquad", "tatoeba", data="data")
    """
    folder = Path(data) if data else default_data_dir()
    chosen = chosen_datasets(names)
    outcomes = download.fetch(chosen, folder, mirror=mirror, force=force, retry=retry)
    failed = {f"{each.source.dataset}: {each.problem}": None for each in outcomes if each.problem}
    by_hand = [f"{each.name}: {each.note}" for each in chosen if each.note and not each.sources]
    missing = [each for each in by_hand if download.status(dataset(each.partition(":")[0]), folder).state != "present"]
    if problems := [*failed, *missing]:
        what = f"{counted(len(problems), 'problem')}: {'; '.join(problems)}"
        raise DataError(what, where=str(folder), fix="Call it again to resume")
    return outcomes


def chosen_datasets(names: Iterable[str]) -> list[Dataset]:
    """Return datasets by name, without repetition; "all" are those to download except models and translations."""
    if "all" in (names := list(names)):
        return [each for each in datasets().values() if each.sources and not each.model and not each.translated]
    return list(dict.fromkeys(map(dataset, names)))
