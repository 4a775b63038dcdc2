"""What was written by hand for the suite: tagged sentences, and causes with their effects."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable


def _folder(name: str) -> Traversable:
    return files("isogloss.tasks.mini") / name


@cache
def pos_languages() -> tuple[str, ...]:
    """Languages with hand-tagged sentences."""
    return tuple(sorted(f.name.removesuffix(".toml") for f in _folder("pos").iterdir() if f.name.endswith(".toml")))


@cache
def choice_languages() -> tuple[str, ...]:
    """Languages with hand-written causes and effects, English apart, which only trains."""
    names = (f.name.removesuffix(".toml") for f in _folder("choice").iterdir() if f.name.endswith(".toml"))
    return tuple(sorted(name for name in names if name not in ("items", "en")))


@cache
def tagged_templates(code: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """Sentences as (word or slot, UPOS) pairs: `{a}/PROPN is/AUX {adjective}/ADJ ./PUNCT`."""
    found = tomllib.loads((_folder("pos") / f"{code}.toml").read_text(encoding="utf-8"))
    return tuple(tuple(_tagged(token) for token in sentence.split()) for sentence in found["sentences"])


def _tagged(token: str) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")
    return word, tag


@dataclass(frozen=True)
class CauseOrEffect:
    """A premise with two choices, one of which is its cause or effect."""

    key: str
    question: str
    label: int
    premise: str
    choice1: str
    choice2: str


@cache
def causes_and_effects(code: str) -> tuple[CauseOrEffect, ...]:
    """The hand-written items of a language, the same in all."""
    items = tomllib.loads((_folder("choice") / "items.toml").read_text(encoding="utf-8"))
    words = tomllib.loads((_folder("choice") / f"{code}.toml").read_text(encoding="utf-8"))
    return tuple(
        CauseOrEffect(
            key, item["question"], item["label"], *(words[key][part] for part in ("premise", "choice1", "choice2"))
        )
        for key, item in items.items()
    )


def effects() -> Iterator[tuple[str, str]]:
    """English causes with their effects, from the hand-written items."""
    for item in causes_and_effects("en"):
        right = (item.choice1, item.choice2)[item.label]
        yield (item.premise, right) if item.question == "effect" else (right, item.premise)
