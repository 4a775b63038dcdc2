"""Teams and their access tokens; only a salted hash of a token is stored."""

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from isogloss.board.server.database import AccessToken, Team, record, timestamp
from isogloss.data.files import atomic_write
from isogloss.errors import DataError, unknown
from isogloss.escaping import NAME_LENGTH, printable

# See the team's submissions; submit; publish and withdraw.
SCOPES = ("read", "submit", "publish")

_TOKEN = re.compile(r"isogloss_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_PEPPER = "pepper.key"


@dataclass(frozen=True)
class Bearer:
    """An authenticated team and the token it used."""

    team_id: int
    team: str
    token: str
    scopes: frozenset[str]

    @property
    def actor(self) -> str:
        """Name in the audit log."""
        return f"team {self.team} (token {self.token})"


def read_pepper(folder: Path) -> bytes:
    """Return the board's secret for hashing tokens, stored outside the database; create it if missing."""
    path = folder / _PEPPER
    if not path.is_file():
        with atomic_write(path) as stream:
            stream.write(secrets.token_hex(32) + "\n")
        path.chmod(0o600)
    return bytes.fromhex(path.read_text(encoding="ascii").strip())


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
    return Bearer(stored.team_id, stored.team.name, stored.public_id, frozenset(stored.scopes.split()))


def _digest(secret: str, salt: str, pepper: bytes) -> str:
    # The secret has 256 random bits, so a slow password hash would add nothing.
    return hmac.new(pepper, f"{salt}/{secret}".encode(), hashlib.sha256).hexdigest()
