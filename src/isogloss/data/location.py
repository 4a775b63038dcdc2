"""Default places of the data folder and the cache."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """The folder named by ISOGLOSS_CACHE, else `isogloss` in the user's cache folder: what can be made again."""
    named = os.environ.get("ISOGLOSS_CACHE")
    return Path(named).expanduser() if named else _users()


def default_data_dir() -> Path:
    """The folder named by ISOGLOSS_DATA, else `isogloss/data` in the user's cache folder."""
    named = os.environ.get("ISOGLOSS_DATA")
    return Path(named).expanduser() if named else _users() / "data"


def _users() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("isogloss", appauthor=False)
