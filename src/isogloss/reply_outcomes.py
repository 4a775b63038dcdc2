"""Facts about the replies of language models: how each was read, what it cost, and the totals of a cell."""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from math import fsum
from typing import Annotated

import msgspec
from msgspec import Meta

# The facts may come from strangers: impossible numbers and codes are refused.
Tokens = Annotated[int, Meta(ge=0, le=10**12)]
Dollars = Annotated[float, Meta(ge=0, le=10**9)]
ScriptCode = Annotated[str, Meta(pattern=r"^([A-Z][a-z]{3})?$")]
LanguageTag = Annotated[str, Meta(pattern=r"^([a-z]{2,3}(-[A-Za-z0-9]{2,8})*)?$", max_length=35)]
# Scripts and languages counted in a cell: the most frequent ones.
_MOST_CODES = 100


class Outcome(StrEnum):
    """Outcome of reading a reply: the first five gave an answer, the others did not."""

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

    input: Tokens = 0
    cached: Tokens = 0
    output: Tokens = 0
    reasoning: Tokens = 0
    cost: Dollars | None = None

    def __add__(self, other: "Usage") -> "Usage":
        return Usage.total([self, other])

    @classmethod
    def total(cls, usages: "Iterable[Usage]") -> "Usage":
        """Return the sum of some usages; the cost is that of the usages with prices."""
        every = list(usages)
        costs = [each.cost for each in every if each.cost is not None]
        return cls(
            input=sum(each.input for each in every),
            cached=sum(each.cached for each in every),
            output=sum(each.output for each in every),
            reasoning=sum(each.reasoning for each in every),
            cost=fsum(costs) if costs else None,
        )


class ReplyFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Facts about one reply, written beside its prediction as `"reply": {…}`.

    `script` and `language` are those of the reply's own words (ISO 15924, BCP 47), "" if it has too few to tell.
    """

    outcome: Outcome
    usage: Usage | None = None
    script: ScriptCode = ""
    language: LanguageTag = ""


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
            usage=Usage.total(usages) if usages else None,
            counted=len(usages),
            scripts=_counts(Counter(each.script for each in every if each.script)),
            languages=_counts(Counter(each.language for each in every if each.language)),
        )

    @classmethod
    def total(cls, counts: "Iterable[ReplyCounts | msgspec.UnsetType | None]") -> "ReplyCounts | None":
        """Return the sum over cells or runs; None if none of them has counts."""
        every = [each for each in counts if each]
        if not every:
            return None
        usages = [each.usage for each in every if each.usage is not None]
        return cls(
            replies=sum(each.replies for each in every),
            outcomes=dict(sorted(sum((Counter(each.outcomes) for each in every), Counter()).items())),
            usage=Usage.total(usages) if usages else None,
            counted=sum(each.counted for each in every),
            scripts=_counts(sum((Counter(each.scripts) for each in every), Counter())),
            languages=_counts(sum((Counter(each.languages) for each in every), Counter())),
        )

    @property
    def unparsed(self) -> float:
        """Share of replies without an answer, 0..1, whatever the reason."""
        answers = sum(count for outcome, count in self.outcomes.items() if outcome.is_answer)
        return 1 - answers / self.replies if self.replies else 0.0

    @property
    def failures(self) -> dict[Outcome, int]:
        """Numbers of replies without an answer, by reason, in the order of `Outcome`."""
        return {
            outcome: self.outcomes[outcome] for outcome in Outcome if outcome in self.outcomes and not outcome.is_answer
        }

    @property
    def cost_per_thousand(self) -> float | None:
        """Cost of 1,000 replies, or None without prices."""
        return None if self.usage is None or self.usage.cost is None else 1000 * self.usage.cost / max(self.counted, 1)


def _counts(counter: "Counter[str]") -> dict[str, int]:
    return dict(sorted(counter.most_common(_MOST_CODES)))
