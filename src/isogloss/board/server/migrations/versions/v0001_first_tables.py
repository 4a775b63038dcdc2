"""The first tables."""

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TEXT, _INTEGER = sa.Text(), sa.Integer()


def upgrade() -> None:
    """Create all tables."""
    _create("audit", {"at": 20, "actor": 200, "action": 40, "subject": 200, "detail": _TEXT})
    teams = {"name": 120, "contact": 320, "monthly_submissions": _INTEGER, "created_at": 20}
    _create("teams", teams, optional=("monthly_submissions",), unique=(["name"],))
    submissions = {"key": 16, "team_id": _INTEGER, "digest": 64, "month": 7, "state": 12, "system_id": 80}
    submissions |= {"system": _TEXT, "archive": 64, "archive_bytes": sa.BigInteger()}
    submissions |= {"publish_when_scored": sa.Boolean(), "problems": _TEXT}
    submissions |= {"created_at": 20, "changed_at": 20, "published_at": 20}
    submission_keys = ["key"], ["system_id"], ["team_id", "digest"]
    _create("submissions", submissions, optional=("published_at",), unique=submission_keys, foreign="teams")
    op.create_index("ix_submissions_state", "submissions", ["state"])
    op.create_index("ix_submissions_team_id_month", "submissions", ["team_id", "month"])
    tokens = {"public_id": 16, "team_id": _INTEGER, "salt": 64, "digest": 64, "scopes": 120}
    tokens |= {"created_at": 20, "revoked_at": 20}
    _create("tokens", tokens, optional=("revoked_at",), unique=(["public_id"],), foreign="teams")
    op.create_index("ix_tokens_team_id", "tokens", ["team_id"])
    jobs = {"kind": 8, "submission_id": _INTEGER, "state": 8, "attempts": _INTEGER, "owner": 40, "beats": _INTEGER}
    _create("jobs", jobs | {"created_at": 20}, optional=("submission_id",), foreign="submissions")
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index("ix_jobs_submission_id", "jobs", ["submission_id"])
    scores = {"submission_id": _INTEGER, "scorer": 40, "overall": sa.Float(), "record": _TEXT, "created_at": 20}
    _create("scores", scores, optional=("overall",), unique=(["submission_id", "scorer"],), foreign="submissions")


def _create(
    table: str,
    columns: Mapping[str, Any],
    *,
    optional: Sequence[str] = (),
    unique: Sequence[Sequence[str]] = (),
    foreign: str = "",
) -> None:
    """Create a table with an id; the type of a column is a SQL type, or the length of a string."""
    typed = {name: sa.String(length=kind) if isinstance(kind, int) else kind for name, kind in columns.items()}
    parts = [sa.Column(name, kind, nullable=name in optional) for name, kind in {"id": _INTEGER, **typed}.items()]
    key = f"{foreign.removesuffix('s')}_id"
    references = [sa.ForeignKeyConstraint([key], [f"{foreign}.id"], name=f"fk_{table}_{key}")] if foreign else []
    constraints = [sa.UniqueConstraint(*names, name=f"uq_{table}_{'_'.join(names)}") for names in unique]
    op.create_table(table, *parts, *references, sa.PrimaryKeyConstraint("id", name=f"pk_{table}"), *constraints)
