"""Where does it fail: attributes of examples, buckets of them, and what a system is worth in each.

`explain("my-predictions", data="data", tasks=["xquad"])` scores every bucket of every attribute;
`dataset_bias(data="data", tasks=["xquad"])` tells what the examples are like before any system has seen them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["attributes", "dataset_bias", "explain"]

if TYPE_CHECKING:
    from isogloss.explain import attributes
    from isogloss.explain.analysis import explain
    from isogloss.explain.bias import dataset_bias
else:

    def __getattr__(name: str) -> Any:
        """Everything loads when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if name == "attributes":
            return import_module(f"{__name__}.attributes")
        return getattr(import_module(f"{__name__}.{'analysis' if name == 'explain' else 'bias'}"), name)
