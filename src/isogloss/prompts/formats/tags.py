"""Tags of numbered words: a JSON list of exactly one tag per word, numbered lines, names in order, or joined words.

Tags are aligned by number, never by guessing: a missing line is one untagged word, and does not shift the others.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.answer_shapes import without_thoughts
from isogloss.languages import known_language
from isogloss.metrics import chunks
from isogloss.prompts.formats.base import AnswerFormat, PromptReply, Row, json_schema, with_kind
from isogloss.prompts.literals import Literals
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds import Reading
from isogloss.tasks.task import Task

# Tag of words that a reply does not tag: outside of every name; for parts of speech it counts as wrong.
OUTSIDE = "O"
# "3<TAB>NOUN", "3. word NOUN", "(3) word: NOUN"
_LINE = re.compile(r"[\s(*\-•|]*([0-9]{1,6})[\s.:)\]|,\-]+(?:\S.*[\s:|(/_])?([^\s:|()/]+?)[\s.,;|)*`]*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_JSON_TAGS = re.compile(r'"tags"\s*:\s*\[')


class TagSequence(AnswerFormat):
    """Base class of the formats of tags."""

    def __init__(self, task: Task, language: str, words: Literals, question: str) -> None:
        self.task, self.language, self.literals, self.question = task, language, words, question
        self.labels = tuple(dict.fromkeys(task.labels))
        self._by_name = {label.casefold(): label for label in (*self.labels, OUTSIDE)}

    def options(self, row: Row) -> str:
        """Return the tags with their names."""
        described, seen = [], set[str]()
        for label in (label for label in self.labels if label != "_"):
            kind = label.partition("-")[2] or label
            last = [other for other in self.labels if (other.partition("-")[2] or other) == kind][-1] == label
            name = f"labels.{self.question}.{kind}"
            is_named = last and kind not in seen and self.literals.has(name)
            seen.update({kind} if last else ())
            described.append(f"{label} ({self.literals.word(name)})" if is_named else label)
        return self.literals.field("tags", self.literals.word("punctuation.comma").join(described))

    def tag(self, text: str) -> str | None:
        """Return the tag that a text names, or None."""
        return self._by_name.get(text.strip().casefold())

    def read(self, rows: Sequence[Row], replies: Sequence[PromptReply]) -> list[Reading]:
        """Read tags by number; replies without any are classified by the task's kind."""
        direct = [self._of_reply(row, reply) for row, reply in zip(rows, replies, strict=True)]
        return with_kind(self.task, self.language, rows, replies, direct, {})

    def _of_reply(self, row: Row, reply: PromptReply) -> Reading | None:
        if reply.filtered:
            return Reading(None, Outcome.FILTERED)
        tokens = row["tokens"]
        if not tokens:
            return Reading([], Outcome.STRICT)
        tags, outcome = self.tags_of(without_thoughts(reply.text), tokens, cut=reply.cut)
        if not any(tags):
            return None
        if not all(tags):
            outcome = Outcome.PARTIAL
        return Reading([tag or OUTSIDE for tag in tags], outcome)

    @abstractmethod
    def tags_of(self, text: str, tokens: Sequence[str], *, cut: bool) -> tuple[list[str | None], Outcome]:
        """Return the tag of each word, None for those without, and the outcome if there are none of these."""

    def _all(self, tags: Sequence[str], count: int) -> list[str | None]:
        known: list[str | None] = [self.tag(tag) for tag in tags]
        return known if len(known) == count else [None] * count


class NumberedLines(TagSequence):
    """One line per word: its number, a tab, and its tag."""

    sentence = "formats.lines"

    def write(self, row: Row, gold: Any) -> str:
        """Return the numbered tags."""
        return "\n".join(f"{number}\t{tag}" for number, tag in enumerate(gold, 1))

    def tokens(self, row: Row) -> int:
        """Return enough for every line."""
        return 8 * len(row["tokens"]) + 32

    def tags_of(self, text: str, tokens: Sequence[str], *, cut: bool) -> tuple[list[str | None], Outcome]:
        """Read the tag of each number; two tags for one word are none."""
        given: dict[int, set[str]] = {}
        strict = True
        for line in filter(str.strip, text.splitlines()):
            number, _, tag = line.partition("\t")
            if not (number.isdecimal() and self.tag(tag)):
                strict = False
                match = _LINE.fullmatch(line)
                number, tag = match.groups() if match else ("", "")
            if (name := self.tag(tag)) and len(number) < 7:
                given.setdefault(int(number), set()).add(name)
        from_zero = 0 in given and len(tokens) not in given
        tags: list[str | None] = [None] * len(tokens)
        for place, names in given.items():
            index = place - (not from_zero)
            if 0 <= index < len(tokens) and len(names) == 1:
                tags[index] = next(iter(names))
        return tags, Outcome.STRICT if strict and not from_zero else Outcome.TOLERANT


class TagList(TagSequence):
    """A JSON object with a list of one tag per word; a schema enforces its length."""

    sentence = "formats.list"

    def __init__(self, task: Task, language: str, words: Literals, question: str, *, schema: bool = True) -> None:
        super().__init__(task, language, words, question)
        self.schema = schema

    def write(self, row: Row, gold: Any) -> str:
        """Return the object."""
        return json.dumps({"tags": list(gold)})

    def tokens(self, row: Row) -> int:
        """Return enough for a server that puts every tag on a line of its own."""
        return 10 * len(row["tokens"]) + 64

    def parameters(self, row: Row) -> dict[str, Any]:
        """Ask for exactly one tag per word."""
        if not self.schema:
            return {}
        count = len(row["tokens"])
        items = {"type": "string", "enum": list(self.labels)}
        return json_schema("tags", {"tags": {"type": "array", "items": items, "minItems": count, "maxItems": count}})

    def tags_of(self, text: str, tokens: Sequence[str], *, cut: bool) -> tuple[list[str | None], Outcome]:
        """Read the list; of one cut at the token limit, its beginning."""
        start = _JSON_TAGS.search(text)
        if start is None:
            return [None] * len(tokens), Outcome.TOLERANT
        inside, closed, after = text[start.end() :].partition("]")
        tags = _QUOTED.findall(inside)
        if not closed and cut and len(tags) < len(tokens):
            beginning = [self.tag(tag) for tag in tags]
            return [*beginning, *[None] * (len(tokens) - len(beginning))], Outcome.PARTIAL
        bare = text[: start.start()].strip() == "{" and after.strip() == "}"
        outcome = Outcome.TOLERANT if not bare else Outcome.SCHEMA if self.schema else Outcome.STRICT
        return self._all(tags, len(tokens)), outcome


class JoinedTags(TagSequence):
    """Every word with its tag, joined by a delimiter: MEGA's format, which is not lossless."""

    sentence = "formats.lines"  # replaced by the recipe's own words

    def __init__(self, task: Task, language: str, words: Literals, question: str, *, delimiter: str = "_") -> None:
        super().__init__(task, language, words, question)
        self._delimiter = delimiter

    def write(self, row: Row, gold: Any) -> str:
        """Return the words with their tags."""
        return " ".join(f"{token}{self._delimiter}{tag}" for token, tag in zip(row["tokens"], gold, strict=True))

    def tokens(self, row: Row) -> int:
        """Return enough for the sentence and its tags."""
        return 12 * len(row["tokens"]) + 32

    def tags_of(self, text: str, tokens: Sequence[str], *, cut: bool) -> tuple[list[str | None], Outcome]:
        """Read the tags by position, up to the first word that differs."""
        tags: list[str | None] = [None] * len(tokens)
        for index, (piece, token) in enumerate(zip(text.split(), tokens, strict=False)):
            word, _, tag = piece.rpartition(self._delimiter)
            if word != token:
                break
            tags[index] = self.tag(tag)
        return tags, Outcome.STRICT


class NameList(TagSequence):
    """A JSON list of the names in order, each with its text and type: the natural form of an answer.

    Names are found in the words from left to right. Where that finds an earlier occurrence, the number of the name's
    first word (`at`) is written too, so that a right answer always reads as it was meant.
    """

    sentence = "formats.entities"

    def __init__(self, task: Task, language: str, words: Literals, question: str) -> None:
        super().__init__(task, language, words, question)
        kinds = (label.partition("-")[2] for label in self.labels if "-" in label)
        self.kinds = tuple(dict.fromkeys(kinds))
        entry = known_language(language)
        self._space = " " if entry is None or entry.segmented else ""

    def options(self, row: Row) -> str:
        """Return the types with their names."""
        names = {kind: f"labels.{self.question}.{kind}" for kind in self.kinds}
        described = [
            f"{kind} ({self.literals.word(name)})" if self.literals.has(name) else kind for kind, name in names.items()
        ]
        return self.literals.field("tags", self.literals.word("punctuation.comma").join(described))

    def write(self, row: Row, gold: Any) -> str:
        """Return the list of names, with numbers where the text alone is ambiguous."""
        tokens, written = row["tokens"], list[dict[str, Any]]()
        for kind, start, end in sorted(
            chunks.chunks(list(gold), dialect=self.task.dialect), key=lambda chunk: chunk[1]
        ):
            name: dict[str, Any] = {"text": self._space.join(tokens[start : end + 1]), "type": kind}
            spans, _ = self._spans([*written, name], tokens)
            if spans[-1:] != [(start, end + 1, kind)] or len(spans) <= len(written):
                name["at"] = start + 1
            written.append(name)
        return json.dumps(written, ensure_ascii=False)

    def tokens(self, row: Row) -> int:
        """Return enough for a sentence that consists of names."""
        return 12 * len(row["tokens"]) + 96

    def tags_of(self, text: str, tokens: Sequence[str], *, cut: bool) -> tuple[list[str | None], Outcome]:
        """Read the list and find its names; names that are not in the sentence make the answer partial."""
        bare = text.strip()
        first, last = bare.find("["), bare.rfind("]")
        try:
            names = json.loads(bare[first : last + 1]) if 0 <= first < last else None
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list):
            return [None] * len(tokens), Outcome.TOLERANT
        spans, complete = self._spans(names, tokens)
        tags: list[str | None] = [OUTSIDE] * len(tokens)
        for start, end, kind in spans:
            tags[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
        if not complete:
            return tags, Outcome.PARTIAL
        return tags, Outcome.STRICT if (first, last) == (0, len(bare) - 1) else Outcome.TOLERANT

    def _spans(self, names: Sequence[Any], tokens: Sequence[str]) -> tuple[list[tuple[int, int, str]], bool]:
        """Return the spans of names as (start, end, type), and False if some are not in the sentence."""
        spans: list[tuple[int, int, str]] = []
        complete, after = True, 0
        for name in names:
            kind = self._kind(name)
            text = name.get("text") if isinstance(name, Mapping) else None
            if kind is None or not isinstance(text, str):
                complete = False
                continue
            at = name.get("at")
            starts = [at - 1] if isinstance(at, int) and 0 < at <= len(tokens) else [*range(after, len(tokens))]
            letters = "".join(text.split())
            span = next(((start, end) for start in starts if (end := _end(tokens, start, letters))), None)
            if span is None:
                complete = False
                continue
            spans.append((*span, kind))
            after = span[1]
        return spans, complete

    def _kind(self, name: Any) -> str | None:
        given = name.get("type") if isinstance(name, Mapping) else None
        return next(
            (kind for kind in self.kinds if isinstance(given, str) and kind.casefold() == given.casefold()), None
        )


def _end(tokens: Sequence[str], start: int, letters: str) -> int:
    """Return the end of the words that spell some letters from a start on, 0 if they do not."""
    rest = letters
    for end in range(start, len(tokens)):
        token = "".join(tokens[end].split())
        if not rest or not token or not rest.startswith(token):
            return 0
        rest = rest[len(token) :]
        if not rest:
            return end + 1
    return 0
