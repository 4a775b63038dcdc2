"""Runs of MLflow in a local database, written by its own client; `mlflow ui` shows them.

A database, because current versions refuse to write folders of files.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from isogloss.errors import IsoglossError
from isogloss.results.interchange.reported import client, flat_scores, settings_of, system_name
from isogloss.scoring.results import Results

_EXPERIMENT = "isogloss"
_DATABASE = "mlflow.db"
# The most metrics and parameters that the client takes at once.
_METRICS_AT_ONCE, _PARAMETERS_AT_ONCE = 1000, 100
# The longest value of a parameter.
_LONGEST = 6000
_LONGEST_NAME = 250


def write(records: Sequence[Results], out: Path) -> Path:
    """Write one finished run per system to the database `mlflow.db` in a folder."""
    mlflow = client("mlflow")
    out.mkdir(parents=True, exist_ok=True)
    folder = out.resolve()
    try:
        store = mlflow.MlflowClient(tracking_uri=f"sqlite:///{folder / _DATABASE}")
        experiment = store.get_experiment_by_name(_EXPERIMENT)
    except ImportError as error:  # mlflow-skinny comes without the database
        from isogloss.installation import package_command

        fix = f"Run {package_command('mlflow')}"
        raise IsoglossError(f"mlflow has no database: {error}", fix=fix) from None
    artifacts = (folder / "artifacts").as_uri()
    number = experiment.experiment_id if experiment else store.create_experiment(_EXPERIMENT, artifacts)
    for record in records:
        run = store.create_run(number, run_name=system_name(record))
        at = run.info.start_time
        entities = mlflow.entities
        metrics = [entities.Metric(_allowed(name), value, at, 0) for name, value in flat_scores(record).items()]
        facts = [entities.Param(_allowed(name), str(value)[:_LONGEST]) for name, value in settings_of(record).items()]
        for start in range(0, len(metrics), _METRICS_AT_ONCE):
            store.log_batch(run.info.run_id, metrics=metrics[start : start + _METRICS_AT_ONCE])
        for start in range(0, len(facts), _PARAMETERS_AT_ONCE):
            store.log_batch(run.info.run_id, params=facts[start : start + _PARAMETERS_AT_ONCE])
        store.set_terminated(run.info.run_id)
    return out


def _allowed(name: str) -> str:
    """Return a name with the punctuation that MLflow allows: map_at_20 for map@20."""
    return re.sub(r"[^\w./: -]", "_", name.replace("@", "_at_"))[:_LONGEST_NAME]
