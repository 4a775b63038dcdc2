"""Results in the files of other tools: one module per format, and one table of them.

A module that reads has `recognizes(decoded)`, for a decoded JSON file, and `read(path, decoded)`, which returns the
record of the reported scores. A module that writes has `write(records, out)`, which returns the path.
"""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from isogloss.errors import unknown
from isogloss.scoring.results import Results

_MODULES = {
    "model-index": "model_card",
    "every-eval-ever": "every_eval_ever",
    "lm-eval": "lm_eval",
    "mteb": "mteb",
    "inspect": "inspect_ai",
    "wandb": "wandb_run",
    "mlflow": "mlflow_run",
}
READABLE = ("lm-eval", "mteb", "inspect")
WRITABLE = ("model-index", "every-eval-ever", "lm-eval", "mteb", "inspect", "wandb", "mlflow")


def read_reported(path: Path, decoded: Any) -> Results | None:
    """Read the scores that another tool wrote to a JSON file, or return None if no format fits."""
    for name in READABLE:
        if _module(name).recognizes(decoded):
            record: Results = _module(name).read(path, decoded)
            return record
    return None


def write_as(form: str, records: Sequence[Results], out: Path) -> Path:
    """Write result records in a format of `WRITABLE` and return the path.

    Args:
        form: name of the format.
        records: records of one or several systems; some formats hold one.
        out: file, or folder for `mteb`, `inspect`, `wandb` and `mlflow`.

    Raises:
        UnknownNameError: no such format.
        DataError: the format cannot hold the scores.
        IsoglossError: a client is not installed.
    """
    if form not in WRITABLE:
        raise unknown("format of results", form, WRITABLE)
    path: Path = _module(form).write(records, out)
    return path


def _module(name: str) -> Any:
    return import_module(f"isogloss.results.interchange.{_MODULES[name]}")
