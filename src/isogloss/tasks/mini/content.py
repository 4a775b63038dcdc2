"""What was written by hand for the suite: tagged sentences, and causes with their effects."""

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
    """What a folder has a file for."""
    names = (file.name for file in (files("isogloss.tasks.mini") / folder).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def pos_languages() -> tuple[str, ...]:
    """Languages with hand-tagged sentences."""
    return _written("pos")


def choice_languages() -> tuple[str, ...]:
    """Languages with hand-written causes and effects, English apart, which only trains."""
    return tuple(name for name in _written("choice") if name not in ("items", "en"))


@cache
def tagged_templates(code: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Sentences as (word or slot, UPOS) pairs: `{a}/PROPN is/AUX {adjective}/ADJ ./PUNCT`."""
    sentences = _read(f"pos/{code}.toml")["sentences"]
    return tuple(tuple(_tagged(token) for token in sentence.split()) for sentence in sentences)


def _tagged(token: str) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")
    return word, tag


@dataclass(frozen=True)
class CauseOrEffect:
    """A premise with two choices, one of which is its cause or effect."""

    premise: str
    choice1: str
    choice2: str
    question: str
    label: int


@cache
def causes_and_effects(code: str) -> tuple[CauseOrEffect, ...]:
    """The hand-written items of a language, the same in all."""
    items, words = _read("choice/items.toml"), _read(f"choice/{code}.toml")
    return tuple(
        CauseOrEffect(**words[key], question=item["question"], label=item["label"]) for key, item in items.items()
    )


def effects() -> Iterator[tuple[str, str]]:
    """English causes with their effects, from the hand-written items."""
    for item in causes_and_effects("en"):
        right = (item.choice1, item.choice2)[item.label]
        yield (item.premise, right) if item.question == "effect" else (right, item.premise)
