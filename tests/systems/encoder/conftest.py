"""A fresh token cache for every test."""

import pytest

from isogloss.systems.neural import task_adapter


@pytest.fixture(autouse=True)
def _tokenised_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a temporary cache, so that tests read no old tokens and leave none behind."""

    monkeypatch.setattr(task_adapter, "cached", lambda parts, make: make())
