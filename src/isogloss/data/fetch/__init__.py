"""Fetching datasets: what is missing is downloaded, verified, unpacked and put in its place.

`fetch(datasets, folder)` does it, `status(dataset, folder)` counts what is there; which datasets there are says
`isogloss.data.fetch.catalog`.
"""

from isogloss.data.fetch.datasets import DatasetStatus, FetchOutcome, fetch, status
from isogloss.data.fetch.downloaders import RetryPolicy

__all__ = ["DatasetStatus", "FetchOutcome", "RetryPolicy", "fetch", "status"]
