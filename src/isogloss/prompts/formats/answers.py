"""Answers to questions: free text, or JSON by a schema, cut to the passage on request."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, as_kind_reply, decoded_object, json_schema
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading, kind_of
from isogloss.tasks.task import Task

# Tokens for an answer: a phrase in any script.
_ANSWER_TOKENS = 96
# Words of an answer that are looked up in the passage.
_MOST_WORDS = 60


@dataclass
class ShortAnswers(AnswerFormat):
    """Short answers in the task's language."""

    sentence = "formats.span"
    task: Task
    language: str
    schema: bool = False
    cut_to_passage: bool = False

    def options(self, row: Row) -> str:
        """Return "": any text may be the answer."""
        return ""

    def write(self, row: Row, gold: Any) -> str:
        """Return the first right answer, in JSON for a schema."""
        answer = gold if isinstance(gold, str) else gold[0] if gold else ""
        return json.dumps({"answer": answer}, ensure_ascii=False) if self.schema else answer

    def tokens(self, row: Row) -> int:
        """Return enough for a phrase."""
        return _ANSWER_TOKENS

    def parameters(self, row: Row) -> dict[str, Any]:
        """Ask for a string by a schema, if the server enforces it."""
        return json_schema("answer", {"answer": {"type": "string"}}) if self.schema else {}

    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Read JSON, or else what the task's kind finds in the text."""
        kind = kind_of(self.task)
        texts = [as_kind_reply(reply, row) for reply, row in zip(replies, rows, strict=True)]
        readings = kind.read_replies(self.task, self.language, texts, {})
        # What stands in the passage needs no reading, even if it begins like a label or a list: "1. FC …".
        readings = [
            Reading(text, Outcome.STRICT)
            if (text := reply.text.strip()) and text in row.get("context", "")
            else reading
            for reply, row, reading in zip(replies, rows, readings, strict=True)
        ]
        if self.schema:
            given = [None if reply.filtered else decoded_object(reply.text, "answer") for reply in replies]
            pairs = zip(given, readings, strict=True)
            readings = [Reading(text, Outcome.SCHEMA) if isinstance(text, str) else read for text, read in pairs]
        if self.cut_to_passage:
            readings = [
                Reading(cut_to(reading.answer, row["context"]), reading.outcome) if reading.answer else reading
                for reading, row in zip(readings, rows, strict=True)
            ]
        return readings


def cut_to(answer: str, passage: str) -> str:
    """Return the longest run of an answer's words that a passage contains, as the passage spells it.

    An answer that shares no word with the passage stays as it is.
    """
    folded = passage.casefold()
    if len(folded) != len(passage):  # case folding changed offsets
        folded = passage
    words = answer.split()[:_MOST_WORDS]
    for size in range(len(words), 0, -1):
        for start in range(len(words) - size + 1):
            part = " ".join(words[start : start + size]).strip(" .,;:!?\"'“”«»()。，！？、")
            at = folded.find(part.casefold()) if part else -1
            if at >= 0:
                return passage[at : at + len(part)]
    return answer
