"""Where does it fail: attributes of examples, buckets of them, and what a system is worth in each.

`isogloss.explain("my-predictions", data="data", tasks=["xquad"])` scores every bucket of every attribute;
`isogloss.explain.dataset_bias(data="data", tasks=["xquad"])` tells what the examples are like before any system has
seen them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isogloss.lazy import callable_package

__all__ = ["attributes", "dataset_bias"]

callable_package(__name__, "analysis.explain")

if TYPE_CHECKING:
    from isogloss.explain import attributes
    from isogloss.explain.bias import dataset_bias
else:

    def __getattr__(name: str) -> Any:
        """Everything loads when it is first used."""
        if name == "dataset_bias":
            return import_module(f"{__name__}.bias").dataset_bias
        if name == "attributes":
            return import_module(f"{__name__}.attributes")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
