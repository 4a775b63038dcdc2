"""Offline runs of Weights & Biases, written by its own client; `wandb sync` uploads them."""

from collections.abc import Sequence
from pathlib import Path

from isogloss.results.interchange.reported import client, flat_scores, settings_of, system_name
from isogloss.scoring.results import Results, ScoreRow


def write(records: Sequence[Results], out: Path) -> Path:
    """Write one offline run per system below a folder: numbers in its summary, and all rows as a table."""
    wandb = client("wandb")
    out.mkdir(parents=True, exist_ok=True)
    for record in records:
        run = wandb.init(
            project="isogloss",
            name=system_name(record),
            config=settings_of(record),
            dir=str(out.resolve()),
            mode="offline",
            reinit="finish_previous",
            settings=wandb.Settings(console="off", silent=True),
        )
        run.summary.update(flat_scores(record))
        columns = list(ScoreRow.__struct_fields__)
        rows = [[getattr(row, name) for name in columns] for row in record.rows()]
        run.log({"scores": wandb.Table(columns=columns, data=rows)})
        run.finish()
    return out
