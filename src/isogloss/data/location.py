"""Default locations of the data folder and the cache."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return the cache folder for reproducible files: ISOGLOSS_CACHE, or `isogloss` in the user's cache folder."""
    named = os.environ.get("ISOGLOSS_CACHE")
    return Path(named).expanduser() if named else _users()


def default_data_dir() -> Path:
    """Return the data folder: ISOGLOSS_DATA, or `isogloss/data` in the user's cache folder."""
    named = os.environ.get("ISOGLOSS_DATA")
    return Path(named).expanduser() if named else _users() / "data"


def _users() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("isogloss", appauthor=False)
