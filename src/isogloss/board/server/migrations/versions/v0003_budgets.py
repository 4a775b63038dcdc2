"""Add yearly limits, disabled teams, flags, removed archives, scores of a private part, and deferred jobs."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_NONE_YET = {"flags": "[]", "deferrals": "0"}


def upgrade() -> None:
    """Add the columns; existing rows get no limits of their own and no flags."""
    _add("teams", "yearly_submissions", sa.Integer())
    _add("teams", "yearly_publications", sa.Integer())
    _add("teams", "disabled_at", sa.String(length=20))
    _add("submissions", "flags", sa.Text())
    _add("submissions", "archive_removed_at", sa.String(length=20))
    _add("scores", "private_record", sa.Text())
    _add("jobs", "deferrals", sa.Integer())


def _add(table: str, name: str, kind: sa.types.TypeEngine[Any]) -> None:
    default = _NONE_YET.get(name)
    op.add_column(table, sa.Column(name, kind, nullable=default is None, server_default=default))
