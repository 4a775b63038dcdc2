"""Nothing is tokenised before a test."""

import pytest

from isogloss.systems.neural import task_adapter


@pytest.fixture(autouse=True)
def _tokenised_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read that was written before the code was changed, and hundreds of examples leave nothing behind."""

    monkeypatch.setattr(task_adapter, "cached", lambda parts, make: make())
