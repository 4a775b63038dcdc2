"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make all of them."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(length=20), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("contact", sa.String(length=320), nullable=False),
        sa.Column("monthly_submissions", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.String(length=20), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
        sa.UniqueConstraint("name", name="uq_teams_name"),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=16), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("month", sa.String(length=7), nullable=False),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("system_id", sa.String(length=80), nullable=False),
        sa.Column("system", sa.Text(), nullable=False),
        sa.Column("archive", sa.String(length=64), nullable=False),
        sa.Column("archive_bytes", sa.BigInteger(), nullable=False),
        sa.Column("publish_when_scored", sa.Boolean(), nullable=False),
        sa.Column("problems", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=20), nullable=False),
        sa.Column("changed_at", sa.String(length=20), nullable=False),
        sa.Column("published_at", sa.String(length=20), nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_submissions_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_submissions"),
        sa.UniqueConstraint("key", name="uq_submissions_key"),
        sa.UniqueConstraint("system_id", name="uq_submissions_system_id"),
        sa.UniqueConstraint("team_id", "digest", name="uq_submissions_team_id_digest"),
    )
    op.create_index("ix_submissions_state", "submissions", ["state"])
    op.create_index("ix_submissions_team_id_month", "submissions", ["team_id", "month"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.String(length=16), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("salt", sa.String(length=64), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.String(length=120), nullable=False),
        sa.Column("created_at", sa.String(length=20), nullable=False),
        sa.Column("revoked_at", sa.String(length=20), nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name="fk_tokens_team_id"),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("public_id", name="uq_tokens_public_id"),
    )
    op.create_index("ix_tokens_team_id", "tokens", ["team_id"])
    op.create_table(
        "jobs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=True),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=40), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_jobs_submission_id"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index("ix_jobs_submission_id", "jobs", ["submission_id"])
    op.create_table(
        "scores",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("scorer", sa.String(length=40), nullable=False),
        sa.Column("overall", sa.Float(), nullable=True),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=20), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name="fk_scores_submission_id"),
        sa.PrimaryKeyConstraint("id", name="pk_scores"),
        sa.UniqueConstraint("submission_id", "scorer", name="uq_scores_submission_id_scorer"),
    )
