"""Error analysis: attributes of examples, buckets, and a system's score in each bucket.

`isogloss.explain("my-predictions", data="data", tasks=["xquad"])` scores every bucket of every attribute;
`isogloss.explain.dataset_bias(data="data", tasks=["xquad"])` describes the examples without any system.
"""

from typing import TYPE_CHECKING, Any

from isogloss.lazy import submodules

__all__ = ["attributes", "dataset_bias"]

if TYPE_CHECKING:
    from isogloss.explain import attributes
    from isogloss.explain.bias import dataset_bias
else:
    _submodule = submodules(__name__, ["attributes", "bias"])

    def __getattr__(name: str) -> Any:
        """Import submodules on first use."""
        value = _submodule("bias").dataset_bias if name == "dataset_bias" else _submodule(name)
        globals()[name] = value
        return value
