"""Where the data folder is when nobody says so."""

import os
from pathlib import Path

__all__ = ["default_data_dir"]


def default_data_dir() -> Path:
    """The folder named by ISOGLOSS_DATA, else `isogloss/data` in the user's cache folder."""
    named = os.environ.get("ISOGLOSS_DATA")
    if named:
        return Path(named).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("isogloss", appauthor=False) / "data"
