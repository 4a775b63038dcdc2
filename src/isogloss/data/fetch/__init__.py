"""Fetch datasets: download, verify, unpack and install missing files; `catalog` lists the datasets."""

from isogloss.data.fetch.datasets import DatasetStatus, FetchOutcome, fetch, status
from isogloss.data.fetch.downloaders import RetryPolicy

__all__ = ["DatasetStatus", "FetchOutcome", "RetryPolicy", "fetch", "status"]
