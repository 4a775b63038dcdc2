"""Add shared rate counts; convert metadata to `system.toml` units: sizes in millions, data in words."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_UNKNOWN = "not disclosed"


def upgrade() -> None:
    """Add the table of counts and convert submission metadata."""
    op.create_table(
        "rate_counts",
        sa.Column("asker", sa.String(length=200), nullable=False),
        sa.Column("started", sa.BigInteger(), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("asker", name="pk_rate_counts"),
    )
    op.create_index("ix_rate_counts_started", "rate_counts", ["started"])
    _convert("submissions", "system", _converted)
    _convert("scores", "record", lambda record: {**record, "system": _converted(record["system"])})


def _convert(table: str, column: str, change: Any) -> None:
    connection = op.get_bind()
    rows = sa.table(table, sa.column("id"), sa.column(column))
    for number in connection.scalars(sa.select(rows.c.id)).all():
        text = connection.scalars(sa.select(rows.c[column]).where(rows.c.id == number)).one()
        changed = json.dumps(change(json.loads(text)), ensure_ascii=False, separators=(",", ":"))
        connection.execute(rows.update().where(rows.c.id == number).values({column: changed}))


def _converted(before: dict[str, Any]) -> dict[str, Any]:
    after = {key: value for key, value in before.items() if not key.endswith(("_reported", "_source"))}
    for name in ("parameters", "parameters_active"):
        if isinstance(after.get(name), int):
            after[name] /= 1_000_000
    for name in ("pretraining", "parallel"):
        if f"{name}_data" in before:
            after[f"{name}_tokens"] = before[f"{name}_data"]
            after[f"{name}_data"] = before.get(f"{name}_data_reported", _UNKNOWN)
    if before.get("parallel_data") == 0:
        after["parallel_data"] = False
    if "translated_data" in before:
        after["translated_data"] = _translated(before)
    return after


def _translated(before: dict[str, Any]) -> str | bool:
    used, source = before["translated_data"], before.get("translated_data_source", _UNKNOWN)
    if used == "none":
        return False
    return str(used) if source == _UNKNOWN else f"{used}; {source}"
