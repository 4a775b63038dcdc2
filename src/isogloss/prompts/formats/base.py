"""Base class of answer formats: how to ask for an answer, write a right one, and read a reply."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from isogloss.answer_shapes import without_thoughts
from isogloss.prompts.literals import Literals
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading, Reply, kind_of
from isogloss.tasks.task import Task

# Input columns of an example.
Row = Mapping[str, Any]


class PromptReply(NamedTuple):
    """The reply to a prompt: its text, the most probable first tokens with their log probabilities, and its end."""

    text: str
    first_tokens: Sequence[tuple[str, float]] = ()
    cut: bool = False  # True if it ended at the token limit
    filtered: bool = False  # True if the server withheld it


class AnswerFormat(ABC):
    """A format of answers to one task in one language.

    Attributes:
        sentence: path of the sentence that asks for this format.
        schema: True if the server enforces the format.
        says_all: True if the prompt without the sentence says what to answer, such as by a list of options.
    """

    sentence: ClassVar[str]
    schema: bool = False
    says_all: ClassVar[bool] = False

    @abstractmethod
    def options(self, row: Row) -> str:
        """Return the list of possible answers as the prompt shows it, "" if answers are free."""

    @abstractmethod
    def write(self, row: Row, gold: Any) -> str:
        """Return the text of an answer, as in an example or by a perfect model."""

    @abstractmethod
    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Return what each reply answers."""

    @abstractmethod
    def tokens(self, row: Row) -> int:
        """Return the number of tokens to leave for an answer."""

    def parameters(self, row: Row) -> dict[str, Any]:
        """Return further parameters of the request."""
        return {}


def json_schema(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter that makes a server enforce an object with some properties."""
    keys = list(properties)
    schema = {"type": "object", "properties": dict(properties), "required": keys, "additionalProperties": False}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}}


def decoded_object(text: str, key: str) -> Any:
    """Return the value of a key if a reply is one JSON object, without thoughts; None otherwise."""
    try:
        value = json.loads(without_thoughts(text))
    except (ValueError, RecursionError):
        return None
    return value.get(key) if isinstance(value, dict) else None


def as_kind_reply(reply: PromptReply, row: Row) -> Reply:
    """Return a reply as kinds read it."""
    return Reply(reply.text, row, cut=reply.cut, filtered=reply.filtered)


def with_kind(
    task: Task,
    language: str,
    rows: Sequence[Row],
    replies: Sequence[PromptReply],
    direct: Sequence[Reading | None],
    spellings: Mapping[str, Any],
) -> list[Reading]:
    """Complete the readings of a format: a reply without one is read by the task's kind, wherever its answer stands."""
    unread = [number for number, reading in enumerate(direct) if reading is None]
    texts = [as_kind_reply(replies[number], rows[number]) for number in unread]
    readings = map(in_another_format, kind_of(task).read_replies(task, language, texts, spellings))
    by_kind = dict(zip(unread, readings, strict=True))
    return [by_kind[number] if reading is None else reading for number, reading in enumerate(direct)]


def in_another_format(reading: Reading) -> Reading:
    """Return a reading of a reply that a kind understood although it is not in the requested format."""
    return Reading(reading.answer, Outcome.TOLERANT) if reading.outcome is Outcome.STRICT else reading


def format_sentences(words: Literals, form: AnswerFormat) -> str:
    """Return the sentences on a format: for an object with one answer, also or only that on JSON."""
    sentences = [] if form.schema and form.says_all else [words.word(form.sentence)]
    if form.schema and form.sentence != "formats.list":  # a list of tags has a sentence on JSON of its own
        sentences.append(words.word("formats.json"))
    return words.space.join(sentences)
