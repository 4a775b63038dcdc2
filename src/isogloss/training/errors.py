"""What goes wrong while a model is trained."""

from isogloss.errors import IsoglossError

__all__ = ["TrainingError"]


class TrainingError(IsoglossError):
    """Training cannot begin or cannot go on; what was learnt before is kept."""
