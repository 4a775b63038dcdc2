"""Data: fetching with checksums, and one reader per file format."""

from typing import TYPE_CHECKING

from isogloss.lazy import submodules

__all__ = ["conllu", "detokenize", "fetch", "files", "squad", "tables"]

if TYPE_CHECKING:
    from isogloss.data import conllu, detokenize, fetch, files, squad, tables
else:
    __getattr__ = submodules(__name__, __all__)
