"""Texts, numbers and sets of labels: asked for in plain text, and read by the task's kind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, as_kind_reply
from isogloss.prompts.literals import Literals
from isogloss.tasks.kinds import Reading, kind_of
from isogloss.tasks.kinds.regression import scale_of
from isogloss.tasks.task import Task

# Written for the empty set of labels.
_NONE = "none"


@dataclass
class OpenAnswers(AnswerFormat):
    """Answers that the task's kind reads from the text of a reply; recipes have their own sentence on the format."""

    sentence: ClassVar[str] = ""
    most_tokens: ClassVar[int]
    task: Task
    language: str

    def options(self, row: Row) -> str:
        """Return "": answers are free."""
        return ""

    def tokens(self, row: Row) -> int:
        """Return the same number for every example."""
        return self.most_tokens

    def spellings(self) -> Mapping[str, Any]:
        """Return further spellings of answers, as the prompt offers them."""
        return {}

    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Return what the task's kind finds in the replies."""
        texts = [as_kind_reply(reply, row) for reply, row in zip(replies, rows, strict=True)]
        return kind_of(self.task).read_replies(self.task, self.language, texts, self.spellings())


@dataclass
class FreeTexts(OpenAnswers):
    """Texts of any length."""

    most_tokens = 512

    def write(self, row: Row, gold: Any) -> str:
        """Return the first reference."""
        return str(gold[0])


@dataclass
class Numbers(OpenAnswers):
    """Numbers, on the scale of the task if it has one."""

    most_tokens = 16

    def options(self, row: Row) -> str:
        """Return the ends of the scale."""
        scale = scale_of(self.task)
        return "" if scale is None else f"Scale: {scale[0]:g} to {scale[1]:g}"

    def write(self, row: Row, gold: Any) -> str:
        """Return the number with a point."""
        return f"{gold:g}"


@dataclass
class LabelSets(OpenAnswers):
    """Sets of labels, in words of the prompt's language, separated by commas."""

    most_tokens = 96
    literals: Literals
    words: Mapping[str, str]  # by label

    def spellings(self) -> Mapping[str, Any]:
        """Return the labels by their words."""
        return {word: label for label, word in self.words.items()}

    def options(self, row: Row) -> str:
        """Return the words in one line."""
        return self.literals.field("options", self.literals.word("punctuation.comma").join(self.words.values()))

    def write(self, row: Row, gold: Any) -> str:
        """Return the words of the labels, in the order of the task."""
        return ", ".join(word for label, word in self.words.items() if label in gold) or _NONE
