"""Attributes of what a system said: examples alone do not tell them, so only the analysis of one system has them."""

from isogloss.explain.model import Attribute

RANK = Attribute("rank", "rank of the first hit among 20", ("targets", "ranking"), discrete=True, level="answer")
ERROR_TYPE = Attribute(
    "errorType", "how the answer is wrong", ("question", "context", "answers"), discrete=True, level="answer"
)
CONFIDENCE = Attribute("confidence", "how sure the system was, 0 to 1", ("main-text",), level="answer")
