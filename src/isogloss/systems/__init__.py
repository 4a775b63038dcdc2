"""Systems: models that are fitted on examples and predict answers."""

from isogloss.systems.base import System, system, systems

__all__ = ["System", "system", "systems"]
