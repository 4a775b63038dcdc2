"""Locations of data and caches: by environment variables, or in the user's cache folder."""

from pathlib import Path

from isogloss.data.location import cache_dir, default_data_dir
from isogloss.systems.embedder.encoders import default_cache_dir
from isogloss.systems.neural.task_adapter import tokens_dir


def test_one_variable_moves_all_caches_and_another_the_data(monkeypatch, tmp_path):
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "caches"))
    monkeypatch.setenv("ISOGLOSS_DATA", "~/corpora")
    assert cache_dir() == tmp_path / "caches"
    assert default_cache_dir() == tmp_path / "caches" / "vectors"
    assert tokens_dir() == tmp_path / "caches" / "tokens"
    assert default_data_dir() == Path.home() / "corpora"


def test_without_them_both_are_in_the_users_cache_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("ISOGLOSS_CACHE", raising=False)
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_data_dir() == cache_dir() / "data"
    assert cache_dir().name == "isogloss"
