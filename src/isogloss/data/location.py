"""Where the data folder is when nobody says so."""

import os
from pathlib import Path

from platformdirs import user_cache_path

__all__ = ["default_data_dir"]


def default_data_dir() -> Path:
    """The folder named by ISOGLOSS_DATA, else `isogloss/data` in the user's cache folder."""
    named = os.environ.get("ISOGLOSS_DATA")
    return Path(named).expanduser() if named else user_cache_path("isogloss", appauthor=False) / "data"
