"""Running verbs in this process."""

import pytest

from isogloss.cli.main import main


def run(*words: object) -> int:
    """Run a verb and return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return int(ended.value.code or 0)


def admin(*words: object) -> int:
    return run("board", "admin", *words)
