"""Read, check, write and import the predictions of systems; `Embeddings` are predictions of retrieval in memory."""

from typing import TYPE_CHECKING, Any

__all__ = ["Embeddings"]

if TYPE_CHECKING:
    from isogloss.predictions.on_demand import Embeddings
else:

    def __getattr__(name: str) -> Any:
        """Import the public class on first use."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from isogloss.predictions.on_demand import Embeddings

        return Embeddings
