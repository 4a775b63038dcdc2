"""Orders of candidates, asked for and read as lists of their numbers."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from isogloss.answer_shapes import without_thoughts
from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, as_kind_reply, decoded_object, json_schema
from isogloss.prompts.literals import Literals
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading
from isogloss.tasks.kinds.replies import settled
from isogloss.tasks.kinds.silence import Silence

# Longer replies are not searched for numbers; those with a single one may be this long.
_LONGEST, _LONGEST_WITH_ONE = 1 << 14, 60
_NUMBER = re.compile(r"\d{1,4}(?!\d)")
_STRICT = re.compile(r"\d{1,4}(?:\s*[,，、،]\s*\d{1,4})*\.?")
# "[3] > [1]", "3; 1", "Candidate 3, Candidate 1", "3 1".
_BETWEEN = r"[\])}\"'*]*(?:[ \t]*[,，、،;>→][ \t]*(?:[^\W\d_]{1,20}[ \t]*)?[\[({#\"'*]*|[ \t]+)"
_RUN = re.compile(rf"(?<!\d)\d{{1,4}}(?:{_BETWEEN}\d{{1,4}}(?!\d))+")
_LINE = re.compile(r"[^\w\n]*(?:[^\W\d_]{1,20}\W{1,3})?(\d{1,4})(?!\d)(.*)")


class Ranking(AnswerFormat):
    """The numbers of the candidates in a row's `candidates`, best first; an answer is the list of their indices.

    Candidates that a reply does not name follow in the order in which they were shown.
    """

    sentence = "formats.ranking"

    def __init__(self, language: str, words: Literals, *, schema: bool = False) -> None:
        self.language, self.literals, self.schema = language, words, schema

    def options(self, row: Row) -> str:
        """Return the numbered candidates."""
        lines = [f"{number}. {text}" for number, text in enumerate(row["candidates"], 1)]
        return "\n".join([self.literals.field("candidates", "").rstrip(), *lines])

    def write(self, row: Row, gold: Any) -> str:
        """Return the numbers of the candidates at some indices, in JSON for a schema."""
        numbers = [index + 1 for index in gold]
        return json.dumps({"answer": numbers}) if self.schema else ", ".join(map(str, numbers))

    def tokens(self, row: Row) -> int:
        """Return enough for every number, also on a line of its own."""
        return 6 * len(row["candidates"]) + 32

    def parameters(self, row: Row) -> dict[str, Any]:
        """Ask for numbers of candidates by a schema, if the server enforces it."""
        items = {"type": "integer", "enum": list(range(1, len(row["candidates"]) + 1))}
        return json_schema("ranking", {"answer": {"type": "array", "items": items}}) if self.schema else {}

    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Read JSON, a list of numbers, or lines with one number each."""
        return [self._read(row, reply) for row, reply in zip(rows, replies, strict=True)]

    def _read(self, row: Row, reply: PromptReply) -> Reading:
        text, count = without_thoughts(reply.text).strip(), len(row["candidates"])
        silence = Silence(text, self.language).outcome
        given, outcome = ([], silence) if reply.filtered else self._numbers(text, silence)
        indices = list(dict.fromkeys(number - 1 for number in given if 0 < number <= count))
        if not indices:
            unread = Reading(None, Outcome.UNPARSED if outcome.is_answer else outcome)
            return settled(as_kind_reply(reply, row), unread)
        if 2 * len(indices) < count:
            outcome = Outcome.PARTIAL
        elif len(indices) < count or len(given) > len(indices):
            outcome = Outcome.TOLERANT
        return Reading([*indices, *sorted(set(range(count)) - set(indices))], outcome)

    def _numbers(self, text: str, silence: Outcome) -> tuple[list[int], Outcome]:
        """Return the numbers that a reply lists, and the outcome if they are all candidates, each once."""
        if isinstance(listed := decoded_object(text, "answer"), list):
            numbers = [number for number in listed if type(number) is int]
            return numbers, Outcome.SCHEMA if self.schema else Outcome.TOLERANT
        if _STRICT.fullmatch(text):
            return _integers(_NUMBER.findall(text)), Outcome.STRICT
        if len(text) > _LONGEST:
            return [], silence
        lines = [_LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
        if len(lines) > 1 and (of_lines := _of_lines(lines)):
            return of_lines, Outcome.TOLERANT
        runs = [_integers(_NUMBER.findall(run[0])) for run in _RUN.finditer(text)]
        if runs:
            # The longest list, and of equally long ones the last: a reply may begin with a first thought.
            return max(reversed(runs), key=len), Outcome.TOLERANT
        single = _integers(_NUMBER.findall(text))
        is_answer = len(single) == 1 and len(text) <= _LONGEST_WITH_ONE and silence is Outcome.UNPARSED
        return (single, Outcome.TOLERANT) if is_answer else ([], silence)


def _integers(digits: Iterable[str]) -> list[int]:
    return [int(number) for number in digits]


def _of_lines(lines: Sequence["re.Match[str] | None"]) -> list[int]:
    """Return the number of each line, or none if a line has none, or several.

    In "1. Candidate 3" the second number is that of the candidate. Lines that are only numbered, from 1, do not say
    whether they count the candidates or name them.
    """
    if not all(lines):
        return []
    pairs = [(int(line[1]), line[2]) for line in lines if line is not None]
    leading = [number for number, _ in pairs]
    if leading != list(range(1, len(pairs) + 1)) or not any(rest.strip(" .,)") for _, rest in pairs):
        has_lists = any(_RUN.match(f"{number}{rest}") for number, rest in pairs)
        return [] if has_lists else leading
    inner = [_NUMBER.findall(rest) for _, rest in pairs]
    return [int(numbers[0]) for numbers in inner] if all(len(numbers) == 1 for numbers in inner) else []
