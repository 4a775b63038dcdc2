"""Fetch datasets: download, verify, unpack and install missing files.

`fetch(datasets, folder)` downloads, `status(dataset, folder)` counts present files, and
`isogloss.data.fetch.catalog` lists the datasets.
"""

from isogloss.data.fetch.datasets import DatasetStatus, FetchOutcome, fetch, status
from isogloss.data.fetch.downloaders import RetryPolicy

__all__ = ["DatasetStatus", "FetchOutcome", "RetryPolicy", "fetch", "status"]
