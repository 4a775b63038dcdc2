"""The log of who changed what, written in the same transaction as the change."""

import getpass

from sqlalchemy.orm import Session

from isogloss.board.server.models import AuditEntry
from isogloss.escaping import printable


def record(session: Session, actor: str, action: str, subject: str = "", detail: str = "") -> None:
    """Add an entry; it is kept if the transaction is."""
    entry = AuditEntry(actor=printable(actor, 200), action=action, subject=printable(subject, 200), detail=detail)
    session.add(entry)


def keeper() -> str:
    """Who works on the board's own machine, as the log names them."""
    try:
        return f"admin {getpass.getuser()}"
    except (OSError, KeyError):  # a container may have no name for its user
        return "admin"
