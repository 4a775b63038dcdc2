"""A board's pepper: the secret for hashing tokens, in a file outside the database.

Tokens can be checked only with the pepper that they were created with. The audit log therefore has a check value of the
pepper, so that a lost or replaced file is noticed and never replaced in silence.
"""

import hashlib
import hmac
import secrets
from pathlib import Path

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from isogloss.board.server.database import AccessToken, AuditEntry, board_lock, reading, record, timestamp, writing
from isogloss.data.files import atomic_write
from isogloss.errors import DataError

FILE = "pepper.key"
_ACTION = "pepper"
_BYTES = 32


class PepperError(DataError):
    """A pepper that is missing, invalid, or not the one of the board's tokens."""


def read_pepper(folder: Path) -> bytes:
    """Return the pepper; raise PepperError if it is missing or invalid."""
    path = folder / FILE
    try:
        pepper = bytes.fromhex(path.read_text(encoding="ascii").strip())
    except FileNotFoundError:
        raise _lost(folder, "missing pepper") from None
    except ValueError:
        pepper = b""
    except OSError as error:
        raise PepperError(f"cannot be read ({error.strerror})", where=str(path)) from error
    if len(pepper) != _BYTES:
        raise _lost(folder, "invalid pepper")
    return pepper


def check_value(pepper: bytes) -> str:
    """Return a value that identifies a pepper without revealing it."""
    return hmac.new(pepper, b"isogloss board pepper", hashlib.sha256).hexdigest()[:16]


def verify_pepper(session: Session, folder: Path) -> bytes:
    """Return the pepper; raise PepperError if it is missing or differs from the recorded one."""
    pepper, recorded = read_pepper(folder), _recorded(session)
    if recorded is not None and recorded != check_value(pepper):
        raise _lost(folder, "not the pepper that this board's tokens were created with")
    return pepper


def open_pepper(engine: Engine, folder: Path) -> bytes:
    """Return a board's pepper; create that of a new board, and record its check value."""
    with reading(engine) as session:
        if _recorded(session) is not None:
            return verify_pepper(session, folder)
    with board_lock(folder), writing(engine) as session:
        is_new = _recorded(session) is None
        if is_new and not (folder / FILE).exists() and session.scalar(select(AccessToken.id).limit(1)) is None:
            _write(folder, secrets.token_bytes(_BYTES))
        pepper = verify_pepper(session, folder)
        if is_new:
            record(session, "server", _ACTION, check_value(pepper), "check value of the pepper")
        return pepper


def replace_pepper(engine: Engine, folder: Path, actor: str) -> int:
    """Write a new pepper and revoke all tokens, which it invalidates; return their number."""
    pepper = secrets.token_bytes(_BYTES)
    with board_lock(folder), writing(engine) as session:
        valid = update(AccessToken).where(AccessToken.revoked_at.is_(None)).values(revoked_at=timestamp())
        count = len(session.execute(valid.returning(AccessToken.id)).all())
        record(session, actor, _ACTION, check_value(pepper), f"new pepper, {count} tokens revoked")
        # If the transaction fails after this, the check value differs and the verb can be run again.
        _write(folder, pepper)
    return count


def _write(folder: Path, pepper: bytes) -> None:
    with atomic_write(folder / FILE, private=True) as stream:
        stream.write(pepper.hex() + "\n")


def _recorded(session: Session) -> str | None:
    newest = select(AuditEntry.subject).where(AuditEntry.action == _ACTION).order_by(AuditEntry.id.desc()).limit(1)
    return session.scalar(newest)


def _lost(folder: Path, what: str) -> PepperError:
    fix = (
        f"Restore it with tar -xf BACKUP -C {folder} {FILE}, or revoke all tokens with "
        f"isogloss board admin new-pepper {folder}"
    )
    return PepperError(what, where=str(folder / FILE), fix=fix)
