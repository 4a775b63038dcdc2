"""Limits that all servers of a board keep together: they are counted in its database, by the database's own clock."""

import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BigInteger, Engine, case, cast, delete, extract, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from isogloss.board.server.database import writing
from isogloss.board.server.models import RateCount
from isogloss.board.server.protection import REMEMBERED, too_often

_MINUTE = 60
_LONGEST = 200
_NOW = cast(extract("epoch", func.now()), BigInteger)
# A clock that was set back must not keep anybody out: a minute of another time is over.
_IS_OVER = func.abs(_NOW - RateCount.started) >= _MINUTE
_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


@dataclass
class SharedRateLimit:
    """How often each of many askers may do something in a minute, at whichever server of the board.

    Whoever is over the limit costs the database nothing more until the minute is over.
    """

    engine: Engine
    what: str
    per_minute: int
    _refused_until: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def check(self, asker: str) -> None:
        """Count one request.

        Raises:
            HTTPException: 429, which says how long to wait.
        """
        if seconds := self.wait(asker):
            raise too_often(self.per_minute, self.what, seconds)

    def wait(self, asker: str) -> float:
        """Count one request; gives the seconds to wait before the next, 0 if it is within the limit."""
        left = self._refused_until.get(asker, 0.0) - time.monotonic()
        if left > 0:
            return left
        with writing(self.engine) as session:
            count, left = _count_one(session, f"{self.what}: {asker}"[:_LONGEST])
            if count == 1:
                _forget_old(session)
        if count <= self.per_minute:
            return 0.0
        self._refused_until[asker] = time.monotonic() + left
        if len(self._refused_until) > REMEMBERED:
            self._refused_until.popitem(last=False)
        return left


def _count_one(session: Session, asker: str) -> tuple[int, float]:
    """Add one to a count, in one statement; gives the count and the seconds until it begins anew."""
    insert = _INSERTS[session.get_bind().dialect.name]
    counted = insert(RateCount).values(asker=asker, started=_NOW, count=1)
    counted = counted.on_conflict_do_update(
        index_elements=[RateCount.asker],
        set_={
            "count": case((_IS_OVER, 1), else_=RateCount.count + 1),
            "started": case((_IS_OVER, _NOW), else_=RateCount.started),
        },
    ).returning(RateCount.count, RateCount.started + _MINUTE - _NOW)
    count, left = session.execute(counted).one()
    return int(count), max(1.0, float(left))


def _forget_old(session: Session) -> None:
    """Remove counts of minutes that are over, but for those that another server is just changing."""
    old = select(RateCount.asker).where(_IS_OVER).with_for_update(skip_locked=True)
    session.execute(delete(RateCount).where(RateCount.asker.in_(old)))
