"""Facts about the replies of language models: how each was read, what it cost, and the totals of a cell."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec


class Outcome(StrEnum):
    """Results of reading a reply: the first five are answers, the others are not."""

    LOGPROBS = "logprobs"  # the probabilities of the first token separate the labels
    SCHEMA = "schema"  # in a format that the server enforced
    STRICT = "strict"  # the answer in the requested format, and nothing else
    TOLERANT = "tolerant"  # the only answer in a longer reply, or in another format
    PARTIAL = "partial"  # a part of the answer: tags of some of the words
    REFUSAL = "refusal"  # the model says that it cannot answer, or does not understand the language
    NONE = "none"  # the model says that none of the options fits
    SEVERAL = "several"  # several answers at once
    EMPTY = "empty"  # no text
    CUT = "cut"  # ended at the token limit before it gave an answer
    FILTERED = "filtered"  # withheld by the server's content filter
    UNPARSED = "unparsed"  # none of these

    @property
    def is_answer(self) -> bool:
        """True if an answer, or a part of one, was read."""
        return self in _ANSWERS


_ANSWERS = frozenset({Outcome.LOGPROBS, Outcome.SCHEMA, Outcome.STRICT, Outcome.TOLERANT, Outcome.PARTIAL})


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of a request or of several, by the classes that providers price differently, and their cost.

    `cached` is the part of `input` read from the provider's cache, `reasoning` the part of `output` spent on thoughts.
    `cost` is None without prices.
    """

    input: int = 0
    cached: int = 0
    output: int = 0
    reasoning: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cost=sum(costs) if costs else None,
        )


class ReplyFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about one reply, written beside its prediction as `"reply": {…}`.

    `script` and `language` are those of the reply's own words (ISO 15924, BCP 47), "" if it has too few to tell.
    """

    outcome: Outcome
    usage: Usage | None = None
    script: str = ""
    language: str = ""


class ReplyCounts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about all replies of a cell.

    `scripts` and `languages` count the replies that are long enough to tell.
    """

    replies: int
    outcomes: dict[Outcome, int]
    usage: Usage | None = None  # None if no reply states its tokens
    counted: int = 0  # replies with known usage
    scripts: dict[str, int] = {}
    languages: dict[str, int] = {}

    @classmethod
    def of(cls, facts: Iterable[ReplyFacts]) -> "ReplyCounts":
        """Return the totals of some replies."""
        every = list(facts)
        usages = [each.usage for each in every if each.usage is not None]
        return cls(
            replies=len(every),
            outcomes=dict(sorted(Counter(each.outcome for each in every).items())),
            usage=sum(usages, Usage()) if usages else None,
            counted=len(usages),
            scripts=dict(sorted(Counter(each.script for each in every if each.script).items())),
            languages=dict(sorted(Counter(each.language for each in every if each.language).items())),
        )

    @property
    def unparsed(self) -> float:
        """Share of replies without an answer, 0..1, whatever the reason."""
        answers = sum(count for outcome, count in self.outcomes.items() if outcome.is_answer)
        return 1 - answers / self.replies if self.replies else 0.0
