"""A board's folder: its settings in `board.toml`, database and secrets, teams and their access tokens."""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, get_type_hints

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from isogloss.board.server.database import (
    AccessToken,
    Team,
    check_version,
    clear_errors,
    open_database,
    record,
    timestamp,
)
from isogloss.board.server.pepper import open_pepper, read_pepper
from isogloss.checked_settings import Limits, checked_settings
from isogloss.data.files import atomic_write, read_toml
from isogloss.errors import DataError, unknown
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.runs.toml import to_toml
from isogloss.tasks.suites import suite
from isogloss.version import __version__

# See the team's submissions; submit; publish and withdraw.
SCOPES = ("read", "submit", "publish")
# Columns of a team's own limits.
_LIMITS = {
    "monthly": "monthly_submissions",
    "yearly": "yearly_submissions",
    "publications": "yearly_publications",
}
_TOKEN = re.compile(r"isogloss_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
FILE = "board.toml"
# Environment variable with the database URL, so that its password need not be in a file.
DATABASE_VARIABLE = "ISOGLOSS_BOARD_DATABASE"

_HEAD = """\
# Settings of this board, read when `isogloss board serve` starts. The guide lists every key and its default.
"""


@dataclass(frozen=True, kw_only=True)
class BoardSettings:
    """The settings of a board.

    Attributes:
        title: title on the pages.
        suite: suite to score: a name from `isogloss list suites`, or a TOML file.
        database: URL of a PostgreSQL database; "" for a SQLite file in the board's folder.
        database_file: private file with that URL, relative to the board's folder; "" for none.
        data: data folder; "" for ISOGLOSS_DATA or the user's cache.
        gold: label folder in XTREME's layout, used instead of the data folder; "" for none.
        upload_bytes: maximum size of an uploaded archive.
        unpacked_bytes: maximum unpacked size.
        unpacked_ratio: maximum ratio of unpacked to packed size, for more than 64 MiB.
        files: maximum number of files in an archive.
        depth: maximum depth of folders in an archive.
        name_length: maximum number of characters of a path in an archive.
        monthly_submissions: submissions scored per team and calendar month (UTC).
        rescore_on_upgrade: True to rescore published systems after a change of the scorer version.
        monthly_uploads: uploads per team and month, including rejected ones.
        monthly_rejections: rejected uploads per team and month.
        yearly_submissions: submissions scored per team in 365 days.
        yearly_publications: submissions published by a team in 365 days.
        average_step: task averages are rounded at random to steps worth this many examples; 0 for two decimals.
        cell_step: the same for each cell of a task with parallel languages, as they reveal the same labels.
        private_share: share of the examples with scores that stay hidden until the board is closed.
        closed: True to show the scores on the private examples and to refuse submissions.
        free_bytes: space that uploads must leave free on the disk.
        lease_seconds: time without a heartbeat after which another worker takes over a job.
        job_seconds: maximum time to score one submission.
        attempts: times that scoring a submission may exceed its time or kill its worker before it is rejected.
        worker_bytes: memory limit of a worker; 0 for no limit.
        reads_per_minute: API requests per address.
        writes_per_minute: changes per team.
        failures_per_minute: invalid tokens per address.
        silence_seconds: time without data after which an unfinished request is aborted.
        connections_per_address: open connections per IPv4 address or IPv6 /64 network; 0 for no limit.
        trusted_proxies: addresses or networks of proxies with a trusted X-Forwarded-For header.
        keep_rejected_days: time to keep the archives of rejected submissions; 0 to keep them for ever.
        keep_withdrawn_days: time to keep the archives of withdrawn submissions; 0 to keep them for ever.
    """

    title: str = "Isogloss board"
    suite: str = "xtreme-r"
    database: str = field(default="", repr=False)
    database_file: str = ""
    data: str = ""
    gold: str = ""
    upload_bytes: int = 512 << 20
    unpacked_bytes: int = 4 << 30
    unpacked_ratio: int = 100
    files: int = 5_000
    depth: int = 6
    name_length: int = 200
    monthly_submissions: int = 5
    rescore_on_upgrade: bool = True
    monthly_uploads: int = 50
    monthly_rejections: int = 10
    yearly_submissions: int = 12
    yearly_publications: int = 4
    average_step: float = 5.0
    cell_step: float = 15.0
    private_share: Annotated[float, Limits("from 0 to below 1", lambda share: 0 <= share < 1)] = 0.0
    closed: bool = False
    free_bytes: int = 2 << 30
    lease_seconds: float = 20.0
    job_seconds: float = 600.0
    attempts: int = 2
    worker_bytes: int = 8 << 30
    reads_per_minute: int = 600
    writes_per_minute: int = 30
    failures_per_minute: int = 10
    silence_seconds: float = 20.0
    connections_per_address: int = 64
    trusted_proxies: tuple[str, ...] = ()
    keep_rejected_days: int = 30
    keep_withdrawn_days: int = 0


def read_settings(folder: Path) -> BoardSettings:
    """Read a board's settings; raise DataError for another folder, and for invalid or unknown settings."""
    path = folder / FILE
    if not path.is_file():
        fix = f"Create a board with isogloss board admin create {folder}"
        raise DataError("not a board folder: missing board.toml", where=str(folder), fix=fix)
    types = get_type_hints(BoardSettings, include_extras=True)
    values = checked_settings(read_toml(path), types, "board setting", str(path), error=DataError, least=0)
    settings = BoardSettings(**values)
    suite(settings.suite)
    return settings


def database_url(settings: BoardSettings, folder: Path) -> str:
    """Return the URL of the database from the environment, a private file or `board.toml`; "" for SQLite."""
    if url := os.environ.get(DATABASE_VARIABLE):
        return url
    if not settings.database_file:
        return settings.database
    path = folder / settings.database_file
    if settings.database:
        raise DataError("both database and database_file are set", where=str(folder / FILE), fix="Remove one of them")
    try:
        if path.stat().st_mode & 0o007:
            raise DataError("all users can read this secret", where=str(path), fix=f"Run chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        fix = f"Write the database URL to it, or set {DATABASE_VARIABLE}"
        raise DataError(f"cannot be read ({error.strerror})", where=str(path), fix=fix) from error


def connect(folder: Path, settings: BoardSettings) -> Engine:
    """Return an engine for a board's database."""
    return open_database(database_url(settings, folder), folder)


def write_settings(folder: Path, settings: BoardSettings) -> None:
    """Write a new board's own settings, leaving the others at their defaults; an existing board raises DataError."""
    suite(settings.suite)
    if (folder / FILE).exists():
        fix = "Edit its board.toml, or choose another folder"
        raise DataError("already contains a board", where=str(folder), fix=fix)
    own = ("title", "suite", "database", "data", "gold")
    further = {"database_file": settings.database_file} if settings.database_file else {}
    with atomic_write(folder / FILE, private=True) as stream:
        stream.write(_HEAD + to_toml({name: getattr(settings, name) for name in own} | further))


def scorer_version() -> str:
    """Return the scorer's version; other versions may compute other scores."""
    return f"isogloss {__version__}"


@dataclass(frozen=True)
class OpenBoard:
    """An open board: a folder shared by all servers and workers, a database, and a secret for hashing tokens."""

    folder: Path
    settings: BoardSettings
    engine: Engine
    pepper: bytes = field(repr=False)

    @property
    def incoming(self) -> Path:
        """Folder of unfinished uploads."""
        return self.folder / "incoming"

    @property
    def work(self) -> Path:
        """Folder of archives unpacked for scoring."""
        return self.folder / "work"

    @property
    def site(self) -> Path:
        """Folder of the built pages; `current` links to the newest."""
        return self.folder / "site"

    def keyed_digest(self, purpose: str, *parts: str) -> bytes:
        """Return an HMAC of some texts under a key for one purpose, derived from the board's secret."""
        key = hmac.new(self.pepper, f"isogloss {purpose}".encode(), hashlib.sha256).digest()
        return hmac.new(key, "\0".join(parts).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()

    def archive_path(self, sha256: str) -> Path:
        """Return the path of an uploaded archive, by its checksum."""
        return self.folder / "archives" / sha256[:2] / sha256


def open_board(folder: Path, *, any_version: bool = False) -> OpenBoard:
    """Open a board, creating missing tables; `any_version` accepts those of other versions, e.g. for a backup."""
    folder = folder.resolve()
    settings = read_settings(folder)
    engine = connect(folder, settings)
    check_version(engine, folder, any_version=any_version)
    with clear_errors(engine):
        pepper = read_pepper(folder) if any_version else open_pepper(engine, folder)
    board = OpenBoard(folder, settings, engine, pepper)
    for subfolder in (board.incoming, board.work, board.site):
        subfolder.mkdir(exist_ok=True)
    return board


@dataclass(frozen=True, kw_only=True)
class Bearer:
    """An authenticated team and the token it used."""

    team_id: int
    team: str
    token: str
    scopes: frozenset[str]
    is_disabled: bool

    @property
    def actor(self) -> str:
        """Name in the audit log."""
        return f"team {self.team} (token {self.token})"


def create_team(session: Session, name: str, contact: str = "", monthly_submissions: int | None = None) -> Team:
    """Add a team; raise DataError if its name is blank or taken."""
    name = printable(name, NAME_LENGTH).strip()
    if not name:
        raise DataError("empty team name")
    if session.scalar(select(Team).where(Team.name == name)) is not None:
        raise DataError(f"duplicate team {name!r}", fix="Choose another name")
    team = Team(name=name, contact=printable(contact, 320), monthly_submissions=monthly_submissions)
    session.add(team)
    session.flush()
    return team


def change_team(
    session: Session,
    name: str,
    actor: str,
    *,
    contact: str | None = None,
    limits: Mapping[str, int | None] = MappingProxyType({}),
    disable: bool | None = None,
) -> bool:
    """Add a team, or change an existing one; return True if it is new.

    Args:
        session: write transaction.
        name: team name.
        actor: name in the audit log.
        contact: contact address; None to leave it.
        limits: the team's own limits, `monthly`, `yearly` and `publications`; None for the board's limit.
        disable: True to refuse the team's tokens, False to accept them again, None to leave it.

    Raises:
        DataError: an existing team, and nothing to change.
        UnknownNameError: an unknown team cannot be disabled or enabled.
    """
    team = session.scalar(select(Team).where(Team.name == name).with_for_update())
    is_new = team is None and disable is None
    changes = {_LIMITS[key]: limit for key, limit in limits.items()}
    if is_new or (contact is None and not changes and disable is None):
        team = create_team(session, name, contact or "")
    elif team is None:
        team = find_team(session, name)
    for column, limit in changes.items():
        setattr(team, column, limit)
    if contact is not None:
        team.contact = printable(contact, 320)
    if disable is not None:
        team.disabled_at = (team.disabled_at or timestamp()) if disable else None
        record(session, actor, "disable team" if disable else "enable team", name)
    details = ", ".join(f"{key} {'of the board' if limit is None else limit}" for key, limit in limits.items())
    if is_new or details or contact is not None:
        record(session, actor, "add team" if is_new else "change team", name, details)
    return is_new


def find_team(session: Session, name: str) -> Team:
    """Return a team by name; raise UnknownNameError if there is none."""
    team = session.scalar(select(Team).where(Team.name == name))
    if team is None:
        raise unknown("team", name, session.scalars(select(Team.name)))
    return team


def create_token(session: Session, team: Team, pepper: bytes, scopes: Sequence[str] = SCOPES) -> str:
    """Return a new token of a team, which cannot be recovered later; unknown scopes raise UnknownNameError."""
    for scope in scopes:
        if scope not in SCOPES:
            raise unknown("scope", scope, SCOPES)
    public_id, secret, salt = secrets.token_hex(6), secrets.token_urlsafe(32), secrets.token_hex(16)
    stored = AccessToken(
        public_id=public_id, team_id=team.id, salt=salt, digest=_digest(secret, salt, pepper), scopes=" ".join(scopes)
    )
    session.add(stored)
    return f"isogloss_{public_id}_{secret}"


def revoke_token(session: Session, public_id: str, actor: str) -> None:
    """Revoke a token; raise UnknownNameError if its id is unknown."""
    stored = session.scalar(select(AccessToken).where(AccessToken.public_id == public_id))
    if stored is None:
        raise unknown("token", public_id, session.scalars(select(AccessToken.public_id)))
    stored.revoked_at = stored.revoked_at or timestamp()
    record(session, actor, "revoke token", public_id)


def bearer_of(session: Session, token: str, pepper: bytes) -> Bearer | None:
    """Return the token's owner, or None if it is invalid."""
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    stored = session.scalar(select(AccessToken).where(AccessToken.public_id == match[1]))
    if stored is None or stored.revoked_at is not None:
        return None
    if not hmac.compare_digest(stored.digest, _digest(match[2], stored.salt, pepper)):
        return None
    return Bearer(
        team_id=stored.team_id,
        team=stored.team.name,
        token=stored.public_id,
        scopes=frozenset(stored.scopes.split()),
        is_disabled=stored.team.disabled_at is not None,
    )


def public_id(token: str) -> str:
    """Return the public part of a token, for logs; "" if it does not have the form of a token."""
    match = _TOKEN.fullmatch(token)
    return match[1] if match is not None else ""


def _digest(secret: str, salt: str, pepper: bytes) -> str:
    # Only this salted hash is stored. The secret has 256 random bits, so a slow password hash would add nothing.
    return hmac.new(pepper, f"{salt}/{secret}".encode(), hashlib.sha256).hexdigest()
