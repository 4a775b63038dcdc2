"""Language models behind OpenAI-compatible endpoints."""

from isogloss.systems.llm.system import LlmSystem

__all__ = ["LlmSystem"]
