"""Labels and choices: asked for by name or letter, read from log probabilities, JSON or text."""

import json
import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any

from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, decoded_object, json_schema, with_kind
from isogloss.prompts.literals import Literals
from isogloss.prompts.recipes import PromptRecipeError
from isogloss.prompts.settings import LabelFormat
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading
from isogloss.tasks.task import Task

# Most probable tokens to ask for: the maximum that common servers return.
_TOP = 20
# Tokens for a label of several words in scripts with many tokens per letter, and for JSON around it.
_ANSWER_TOKENS, _JSON_TOKENS = 24, 24


class NamedAnswers(AnswerFormat):
    """Answers from a closed list, each with a word of its own; base class of labels and choices."""

    says_all = True

    def __init__(self, task: Task, language: str, words: Literals, style: LabelFormat) -> None:
        self.task, self.language, self.literals, self.style = task, language, words, style
        self.schema = style == "schema"

    @abstractmethod
    def names(self, row: Row) -> Mapping[str, Any]:
        """Return the answers by the word that the prompt offers."""

    def write(self, row: Row, gold: Any) -> str:
        """Return the word of an answer, in JSON for a schema."""
        word = next(word for word, answer in self.names(row).items() if answer == gold)
        return json.dumps({"answer": word}, ensure_ascii=False) if self.schema else word

    def tokens(self, row: Row) -> int:
        """Return enough for the longest word."""
        return _ANSWER_TOKENS + self.schema * _JSON_TOKENS

    def parameters(self, row: Row) -> dict[str, Any]:
        """Ask for log probabilities, or for one of the words by a schema."""
        if self.style == "logprobs":
            return {"logprobs": True, "top_logprobs": _TOP}
        if self.schema:
            return json_schema("answer", {"answer": {"type": "string", "enum": list(self.names(row))}})
        return {}

    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Read log probabilities that separate the answers, JSON, or else the text."""
        direct = [self._direct(row, reply) for row, reply in zip(rows, replies, strict=True)]
        spellings = {word: answer for row in rows for word, answer in self.names(row).items()}
        return with_kind(self.task, self.language, rows, replies, direct, spellings)

    def _direct(self, row: Row, reply: PromptReply) -> Reading | None:
        names = {word.casefold(): answer for word, answer in self.names(row).items()}
        if reply.filtered:
            return Reading(None, Outcome.FILTERED)
        if self.style == "logprobs" and (word := separated(list(names), reply.first_tokens)) is not None:
            return Reading(names[word], Outcome.LOGPROBS)
        if self.schema and isinstance(given := decoded_object(reply.text, "answer"), str):
            answer = names.get(given.strip().casefold())
            return None if answer is None else Reading(answer, Outcome.SCHEMA)
        answer = names.get(reply.text.strip().rstrip(".").strip().casefold())
        return None if answer is None else Reading(answer, Outcome.STRICT)


class Labels(NamedAnswers):
    """Labels of a task, in words of the prompt's language."""

    sentence = "formats.label"

    def __init__(
        self, task: Task, language: str, words: Literals, style: LabelFormat, label_words: Mapping[str, str]
    ) -> None:
        super().__init__(task, language, words, style)
        self._labels = {word: label for label, word in label_words.items()}

    def names(self, row: Row) -> Mapping[str, Any]:
        """Return the labels by their words."""
        return self._labels

    def options(self, row: Row) -> str:
        """Return the words in one line."""
        return self.literals.field("options", self.literals.word("punctuation.comma").join(self._labels))


class Choices(NamedAnswers):
    """Choices of an example, named by letters."""

    sentence = "formats.letter"

    def __init__(
        self, task: Task, language: str, words: Literals, style: LabelFormat, letters: Sequence[str] = ()
    ) -> None:
        super().__init__(task, language, words, style)
        self._own, self._letters = bool(letters), list(letters) or words.letters
        self._mark = ". " if not letters else ": "

    def names(self, row: Row) -> Mapping[str, Any]:
        """Return the indices of the choices by their letters; raise a PromptRecipeError if there are too few."""
        count, letters = len(row["choices"]), self._letters
        if count > len(letters) and not self._own:
            letters = list(ascii_uppercase)  # languages name the first few
        if count > len(letters):
            what = f"{count} choices, but {len(letters)} letters to name them"
            raise PromptRecipeError(what, where=self.task.id, fix="Use a recipe with more `letters`")
        return {letter: index for index, letter in enumerate(letters[:count])}

    def options(self, row: Row) -> str:
        """Return one line per choice."""
        names = self.names(row).items()
        return "\n".join(f"{letter}{self._mark}{row['choices'][index]}" for letter, index in names)


def separated(words: Sequence[str], tokens: Sequence[tuple[str, float]]) -> str | None:
    """Return the word that the first tokens favour, or None if they do not separate the words.

    A token counts for the word that it begins, or that begins it; one that fits several words counts against all of
    them, so that a shared first letter never decides.
    """
    shares = dict.fromkeys(words, 0.0)
    shared = 0.0
    for token, logprob in tokens:
        text = token.strip().casefold()
        fitting = [word for word in words if text and (word.startswith(text) or text.startswith(word))]
        share = math.exp(min(logprob, 0.0))
        if len(fitting) == 1:
            shares[fitting[0]] += share
        elif fitting:
            shared += share
    best, *others = sorted(words, key=lambda word: -shares[word])
    is_clear = shares[best] > shared + max((shares[word] for word in others), default=0.0)
    return best if is_clear else None
