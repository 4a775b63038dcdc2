"""Sending requests with the settings of a run: endpoint, prices, budget, progress."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from isogloss.endpoints.budget import Budget
from isogloss.endpoints.endpoint import Endpoint
from isogloss.endpoints.prices import Prices
from isogloss.endpoints.requests import ApiRequest
from isogloss.endpoints.send import SendOutcome, send
from isogloss.endpoints.store import ResponseStore
from isogloss.errors import IsoglossError
from isogloss.systems.llm.progress import SendingBar

# Reasons of open requests to list.
_LISTED = 3


@dataclass(frozen=True)
class Sender:
    """An endpoint with prices and a budget."""

    endpoint: Endpoint
    prices: Prices | None = None
    budget: Budget | None = None

    SETTINGS: ClassVar[tuple[str, ...]] = ("endpoint", "key_variable", "timeout", "concurrency", "prices", "max_cost")

    @classmethod
    def of(cls, settings: Mapping[str, Any], ledger: Path | None = None) -> "Sender":
        """Return the sender for settings by the names in `SETTINGS`; a ledger shares the budget among processes.

        Raises:
            IsoglossError: an invalid setting, or a maximum cost without prices.
        """
        table = {name: value for name, value in settings.items() if name in ("key_variable", "timeout", "concurrency")}
        if url := settings.get("endpoint"):
            table["url"] = str(url)
        prices = Prices.read(Path(str(settings["prices"]))) if settings.get("prices") else None
        most = settings.get("max_cost")
        if most and prices is None:
            raise IsoglossError("a maximum cost needs prices", fix='Write prices = "prices.toml" in --config')
        return cls(Endpoint.of(table), prices, Budget(most, ledger) if most else None)

    def check_price(self, model: str) -> None:
        """Raise an IsoglossError if there is a budget, and the model has no price."""
        if self.budget is not None and self.prices is not None and self.prices.of(model) is None:
            what = f"the model {model!r} has no price, so the budget cannot be kept"
            raise IsoglossError(what, fix="Add it to the file of prices")

    def send(
        self, requests: Iterable[ApiRequest], store: ResponseStore, title: str, *, quiet: bool = False
    ) -> SendOutcome:
        """Send the requests that the store has no response to, with a progress bar."""
        with SendingBar(title, quiet=quiet) as bar:
            return send(
                requests,
                store,
                self.endpoint,
                prices=self.prices,
                budget=self.budget,
                on_progress=bar.show,
                on_waiting=bar.wait,
            )


def counted_reasons(reasons: Mapping[str, str]) -> list[str]:
    """Return why requests are open, most frequent reasons first."""
    counts = Counter(reasons.values()).most_common()
    more = [f"{sum(count for _, count in counts[_LISTED:]):,} for other reasons"] if len(counts) > _LISTED else []
    return [*(f"{count:,} × {reason}" for reason, count in counts[:_LISTED]), *more]
