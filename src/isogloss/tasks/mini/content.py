"""Hand-written content of the suite: tagged sentences, and causes with their effects."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from isogloss.decoding import decode_toml


def _read(name: str) -> dict[str, Any]:
    return decode_toml((files("isogloss.tasks.mini") / name).read_text(encoding="utf-8"), name)


@cache
def _written(folder: str) -> tuple[str, ...]:
    """List the languages that have a file in a folder."""
    names = (file.name for file in (files("isogloss.tasks.mini") / folder).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def pos_languages() -> tuple[str, ...]:
    """Return the languages with hand-tagged sentences."""
    return _written("pos")


def choice_languages() -> tuple[str, ...]:
    """Return the languages with hand-written causes and effects, except English, which is for training."""
    return tuple(name for name in _written("choice") if name not in ("items", "en"))


@cache
def tagged_templates(code: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Return sentences as (word or slot, UPOS) pairs: `{a}/PROPN is/AUX {adjective}/ADJ ./PUNCT`."""
    sentences = _read(f"pos/{code}.toml")["sentences"]
    tokens = ([token.rpartition("/") for token in sentence.split()] for sentence in sentences)
    return tuple(tuple((word, tag) for word, _, tag in sentence) for sentence in tokens)


@dataclass(frozen=True, kw_only=True)
class CauseOrEffect:
    """Premise with two choices, one of which is its cause or effect."""

    premise: str
    choice1: str
    choice2: str
    question: str
    label: int


@cache
def causes_and_effects(code: str) -> tuple[CauseOrEffect, ...]:
    """Return the hand-written items of a language, parallel across languages."""
    items, words = _read("choice/items.toml"), _read(f"choice/{code}.toml")
    return tuple(
        CauseOrEffect(**words[key], question=item["question"], label=item["label"]) for key, item in items.items()
    )


def effects() -> Iterator[tuple[str, str]]:
    """Yield English causes with their effects from the hand-written items."""
    for item in causes_and_effects("en"):
        right = (item.choice1, item.choice2)[item.label]
        yield (item.premise, right) if item.question == "effect" else (right, item.premise)
