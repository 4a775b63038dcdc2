"""Limit of the costs of requests, shared by processes through a ledger."""

import math
import os
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from isogloss.checked_settings import Positive, checked_setting
from isogloss.errors import DataError


@dataclass
class Budget:
    """Maximum cost, in the currency of the prices.

    Processes with the same `ledger`, a file, share the budget; it counts what earlier commands spent, too. Without a
    ledger, the calls that use this object share it. `spent` is the cost so far.
    """

    max_cost: float
    ledger: Path | None = None
    spent: float = 0.0

    def __post_init__(self) -> None:
        self.max_cost = checked_setting("max_cost", self.max_cost, Positive, "budget")


class SpendingAccount:
    """Spending within a budget: an estimate is reserved before a request is sent, and settled by its real cost.

    The ledger holds a number per line, reservations and corrections, so its sum includes the requests in flight of all
    processes. The reservations of a killed process remain: its requests may have been charged.
    """

    def __init__(self, max_cost: float, ledger: Path | None, spent: float) -> None:
        self._max_cost, self._ledger = max_cost, ledger
        self._total = spent if ledger is None else 0.0  # the ledger holds it all
        self._read = 0

    def reserve(self, cost: float) -> bool:
        """Reserve an amount, and return True, if it is within the budget."""
        with self._locked():
            self._refresh()
            if self._total + cost > self._max_cost:
                return False
            self._add(cost)
        return True

    def settle(self, reserved: float, cost: float) -> None:
        """Replace a reservation by the real cost."""
        self._add(cost - reserved)

    def _locked(self) -> AbstractContextManager[object]:
        if self._ledger is None:
            return nullcontext()
        from filelock import FileLock

        self._ledger.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self._ledger.with_name(f".{self._ledger.name}.lock"))

    def _add(self, amount: float) -> None:
        if self._ledger is None:
            self._total += amount
            return
        try:
            descriptor = os.open(self._ledger, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
            try:
                os.write(descriptor, f"{amount!r}\n".encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(self._ledger)) from None

    def _refresh(self) -> None:
        if self._ledger is None:
            return
        with suppress(FileNotFoundError), self._ledger.open("rb") as stream:
            stream.seek(self._read)
            for line in stream:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                with suppress(ValueError):
                    amount = float(line)
                    self._total += amount if math.isfinite(amount) else 0.0  # else nothing would exceed the budget
