"""Default locations of the data folder and the cache."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache folder for reproducible files: ISOGLOSS_CACHE, or `isogloss` in the user's cache folder."""
    return _folder("ISOGLOSS_CACHE", "")


def default_data_dir() -> Path:
    """Return the data folder: ISOGLOSS_DATA, or `isogloss/data` in the user's cache folder."""
    return _folder("ISOGLOSS_DATA", "data")


def _folder(variable: str, below_cache: str) -> Path:
    if named := os.environ.get(variable):
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("isogloss", appauthor=False) / below_cache
