"""Examples cut in two: a beginning to show, and the rest that only a model that knows the dataset can write."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from isogloss.endpoints.prices import estimate_tokens
from isogloss.endpoints.requests import ApiRequest, make_request
from isogloss.grouping import group_by
from isogloss.languages import known_language
from isogloss.metrics.completions import LONG_GRAM, SHORT_GRAM, gram_size, new_grams
from isogloss.prompts.demonstrations import example_number
from isogloss.prompts.settings import PromptSettings
from isogloss.scoring.names import language_name
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.task import Task

INSTRUCTION = (
    "You are given the beginning of an example of the dataset {title} ({language}, {split} set). "
    "Continue it exactly as in the dataset. Write only the continuation."
)
# A rest with fewer n-grams that its beginning lacks says little: 16 letters, or 8 characters of Han, kana or Hangul.
LEAST = {LONG_GRAM: 12, SHORT_GRAM: 6}
# Characters of the rest that are asked for and compared: a model that knows these knows the text.
MOST = 200
# Tokenizers need more tokens for some languages than estimated; a rest that is cut would look forgotten.
_SPARE_TOKENS = 2.0


@dataclass(frozen=True)
class Halves:
    """A beginning and the rest of an example, and the passage before it, "" if there is none."""

    beginning: str
    rest: str
    context: str = ""

    @property
    def shown(self) -> str:
        """Text that a model continues."""
        return f"{self.context}\n{self.beginning}" if self.context else self.beginning

    @property
    def is_long_enough(self) -> bool:
        """True if the rest is long enough to be compared."""
        size = gram_size(self.rest)
        return new_grams(self.rest, self.shown, size).total() >= LEAST[size]


@dataclass(frozen=True, eq=False, kw_only=True)
class DrawnHalves:
    """Drawn examples in halves.

    Attributes:
        examples: the drawn examples.
        halves: beginning and rest of each.
        others: row of another example for each, from another cluster; every row occurs once.
        skipped: examples passed over because they are too short, or because their cluster has most of the others.
    """

    examples: Examples
    halves: list[Halves]
    others: list[int]
    skipped: int


def drawn_halves(task: Task, examples: Examples, count: int, seed: int) -> DrawnHalves:
    """Draw examples that are long enough, and cut each in two; with the same seed, fewer are the first of more."""
    halves = example_halves(task, examples)
    rows: list[int] = []
    skipped = 0
    for row in sorted(range(len(examples)), key=lambda row: example_number(examples, row, seed)):
        if len(rows) == count:
            break
        if halves[row].is_long_enough:
            rows.append(row)
        else:
            skipped += 1
    clusters = [examples.clusters[row] if examples.clusters else str(row) for row in rows]
    kept = without_surplus(clusters)
    return DrawnHalves(
        examples=examples.keep([rows[each] for each in kept]),
        halves=[halves[rows[each]] for each in kept],
        others=other_rows([clusters[each] for each in kept]),
        skipped=skipped + len(rows) - len(kept),
    )


def without_surplus(clusters: Sequence[str]) -> list[int]:
    """Return the rows to keep so that no cluster has more than half of them: the first ones of a larger cluster."""
    members = group_by(range(len(clusters)), clusters.__getitem__)
    largest = max(members.values(), key=len, default=[])
    surplus = set(largest[len(clusters) - len(largest) :])
    return [row for row in range(len(clusters)) if row not in surplus]


def other_rows(clusters: Sequence[str]) -> list[int]:
    """Return the row of another cluster for every row, each once.

    In the order of clusters, a shift by the size of the largest one leaves every cluster.
    """
    members = list(group_by(range(len(clusters)), clusters.__getitem__).values())
    order = [row for rows in members for row in rows]
    shift = max(map(len, members), default=0)
    others = dict(zip(order, order[shift:] + order[:shift], strict=True))
    return [others[row] for row in range(len(clusters))]


def example_halves(task: Task, examples: Examples) -> list[Halves]:
    """Return beginning and rest of every example.

    The passage of a question is shown whole: it is from Wikipedia, which models know from elsewhere; the question is
    the dataset's own.
    """
    contexts = examples["context"] if "context" in examples.columns else [""] * len(examples)
    pairs = zip(example_texts(task, examples), contexts, strict=True)
    return [replace(halved(text), context=context) for text, context in pairs]


def example_texts(task: Task, examples: Examples) -> Sequence[str]:
    """Return the text of every example, with its choices; words of languages without blanks are joined without."""
    if "choices" in examples.columns:
        choices = map("\n".join, examples["choices"])
        return [f"{text}\n{each}" for text, each in zip(kind_of(task).main_text(examples), choices, strict=True)]
    if "tokens" in examples.columns:
        entry = known_language(examples.language)
        return list(map((" " if entry is None or entry.segmented else "").join, examples["tokens"]))
    return kind_of(task).main_text(examples)


def halved(text: str) -> Halves:
    """Cut a text at the blank nearest to its middle, or between two characters if there is none near it."""
    text = text.strip()
    middle = len(text) // 2
    reach = len(text) // 4
    blanks = [place for place in range(middle - reach, middle + reach + 1) if text[place : place + 1].isspace()]
    cut = min(blanks, key=lambda place: abs(place - middle), default=middle)
    while cut < len(text) and unicodedata.category(text[cut]).startswith("M"):  # a vowel sign or tone of the one before
        cut += 1
    return Halves(text[:cut].rstrip(), text[cut:].strip()[:MOST])


def continuation_request(task: Task, examples: Examples, half: Halves, settings: PromptSettings) -> ApiRequest:
    """Return the request to continue a beginning: with an instruction for chat models, as it is for base models."""
    if settings.api == "chat":
        language = language_name(examples.language)
        instruction = INSTRUCTION.format(title=task.title, language=language, split=examples.split)
        text: dict[str, Any] = {"messages": [{"role": "user", "content": f"{instruction}\n\n{half.shown}"}]}
    else:
        text = {"prompt": half.shown}
    tokens = int(_SPARE_TOKENS * estimate_tokens(half.rest)) + settings.thoughts
    body = {"model": settings.model, **text, "temperature": 0.0, settings.token_limit: tokens, **settings.body}
    return make_request(f"continue-{task.id}-{examples.language}", settings.url, body, settings.revision)
