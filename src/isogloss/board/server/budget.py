"""Budgets of teams: scored and rejected submissions, uploads and publications, per month and year.

Every scored submission reveals something about the labels, so that budgets, not only rates, are limited. Times are
those of the board's records: with a clock set back, the newest record of the team counts as now, so that no quota
comes back.
"""

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import SCORED, Submission, Team, database_time, reading
from isogloss.errors import PredictionError

_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_YEAR = timedelta(days=365)
_EARLIER = "An upload that was interrupted may have been received: see the team's submissions"


class QuotaError(PredictionError):
    """Exhausted quota, or a board that is closed or short of space; `status` is that of the HTTP answer."""

    def __init__(self, what: str, *, fix: str = "", status: int = 429) -> None:
        super().__init__(what, fix=fix)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class TeamBudget:
    """Limits of a team and its use of them in the current month and the last 365 days."""

    month: str
    monthly_submissions: int
    used: int
    monthly_uploads: int
    uploads: int
    monthly_rejections: int
    rejected: int
    yearly_submissions: int
    used_in_year: int
    yearly_publications: int
    published_in_year: int
    scored_in_all: int

    @property
    def left(self) -> int:
        """Number of submissions that can be scored now."""
        return max(0, min(self.monthly_submissions - self.used, self.yearly_submissions - self.used_in_year))

    def check_submission(self) -> None:
        """Raise QuotaError if the team can submit nothing more."""
        if self.used >= self.monthly_submissions:
            what = f"monthly quota exhausted: {self.monthly_submissions} submissions in {self.month}"
            raise QuotaError(what, fix=f"Wait for the next month; rejected submissions do not count. {_EARLIER}")
        if self.used_in_year >= self.yearly_submissions:
            what = f"yearly quota exhausted: {self.yearly_submissions} submissions in 365 days"
            raise QuotaError(what, fix=f"Ask the board's administrator. {_EARLIER}")
        if self.rejected >= self.monthly_rejections:
            what = f"too many rejected uploads: {self.rejected} in {self.month}"
            raise QuotaError(what, fix="Run isogloss validate before uploading, and wait for the next month")
        if self.uploads >= max(self.monthly_uploads, self.monthly_submissions):
            what = f"upload quota exhausted: {self.uploads} uploads in {self.month}, including rejected ones"
            raise QuotaError(what, fix="Run isogloss validate before uploading")

    def check_publication(self) -> None:
        """Raise QuotaError if the team can publish nothing more."""
        if self.published_in_year >= self.yearly_publications:
            what = f"yearly quota exhausted: {self.yearly_publications} publications in 365 days"
            raise QuotaError(what, fix="Ask the board's administrator")


def team_budget(session: Session, board: OpenBoard, team: Team) -> TeamBudget:
    """Return the limits of a team, its own or the board's, and its use of them."""
    settings, own = board.settings, Submission.team_id == team.id
    now = current_time(session, team)
    year_ago = (datetime.strptime(now, _FORMAT) - _YEAR).strftime(_FORMAT)  # noqa: DTZ007 - texts of UTC times
    in_month, counts = Submission.month == now[:7], Submission.state != "rejected"

    def number(*conditions: ColumnElement[bool]) -> int:
        return session.scalar(select(func.count()).where(own, *conditions)) or 0

    def limit(name: str) -> int:
        value = getattr(team, name)
        return int(getattr(settings, name) if value is None else value)

    return TeamBudget(
        month=now[:7],
        monthly_submissions=limit("monthly_submissions"),
        used=number(in_month, counts),
        monthly_uploads=settings.monthly_uploads,
        uploads=number(in_month),
        monthly_rejections=settings.monthly_rejections,
        rejected=number(in_month, ~counts),
        yearly_submissions=limit("yearly_submissions"),
        used_in_year=number(counts, Submission.created_at > year_ago),
        yearly_publications=limit("yearly_publications"),
        published_in_year=number(Submission.published_at > year_ago),
        scored_in_all=number(Submission.state.in_(SCORED)),
    )


def locked_team(session: Session, team_id: int) -> Team:
    """Return a team, locked until the transaction ends, so that its budget is checked and used in one step.

    Lock the team before its submissions: two orders could block each other.
    """
    return session.scalars(select(Team).where(Team.id == team_id).with_for_update()).one()


def current_time(session: Session, team: Team) -> str:
    """Return the later of now, by the database's clock, and the newest record of a team."""
    newest = select(func.max(Submission.created_at), func.max(Submission.published_at), func.max(Submission.month))
    created, published, month = session.execute(newest.where(Submission.team_id == team.id)).one()
    now = max(filter(None, (database_time(session).strftime(_FORMAT), created, published)))
    return now if not month or month <= now[:7] else f"{month}-01T00:00:00Z"


def check_upload(board: OpenBoard, team_id: int, size: int | None) -> None:
    """Raise QuotaError before an upload of `size` bytes (None if undeclared) that could not be accepted."""
    settings = board.settings
    if settings.closed:
        raise QuotaError("the board is closed and takes no submissions", status=403)
    check_space(board, settings.upload_bytes if size is None else size)
    with reading(board.engine) as session:
        team_budget(session, board, session.get_one(Team, team_id)).check_submission()


def check_space(board: OpenBoard, size: int = 0) -> None:
    """Raise QuotaError if `size` more bytes would leave less than the required free space."""
    if shutil.disk_usage(board.incoming).free < board.settings.free_bytes + size:
        raise QuotaError("the board's disk is nearly full", fix="Try again later", status=507)
