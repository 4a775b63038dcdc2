"""Synthetic files of the two external tasks: sentences of invented words, the same pairs in every language."""

import random
from itertools import product
from pathlib import Path

_SYLLABLES = {"en": "bal dor fen gil", "de": "schu pfa zwo tze", "sw": "mwa nji kwe zuu"}
_SUBJECTS = "astronomy botany cooking dance economics fishing geology history jazz kites law".split()


def words(language: str) -> list[str]:
    """Return the invented words of a language."""
    parts = _SYLLABLES[language].split()
    return ["".join(pair) for pair in product(parts, parts)]


def likeness(seed: int = 0, count: int = 30) -> list[tuple[list[int], list[int], float]]:
    """Return pairs of sentences as word numbers, with their similarity: roughly the share of common words."""
    rng = random.Random(seed)
    pairs = []
    for _ in range(count):
        first, second = rng.sample(range(16), 5), rng.sample(range(16), 5)
        shared = len({*first} & {*second}) / len({*first} | {*second})
        pairs.append((first, second, round(min(1.0, max(0.0, shared + rng.uniform(-0.15, 0.15))), 2)))
    return pairs


def write_data(root: Path) -> Path:
    """Write a data folder with both tasks."""
    for language in ("en", "de", "sw"):
        spoken = words(language)
        lines = [
            f"{' '.join(spoken[i] for i in first)}\t{' '.join(spoken[i] for i in second)}\t{alike}"
            for first, second, alike in likeness()
        ]
        _write(root / "likeness" / f"{language}.tsv", lines)
    for name, language, count in (("train-en", "en", 120), ("en", "en", 40), ("de", "de", 40)):
        rng = random.Random(name)
        _write(root / "subjects" / f"{name}.tsv", [_text(rng, rng.choice(_SUBJECTS), language) for _ in range(count)])
    return root


def _text(rng: random.Random, subject: str, language: str) -> str:
    """Return a text with words that reveal its subject, with English or German endings."""
    about = [f"{subject}{ending}" for ending in ("", "s" if language == "en" else "en")]
    return f"{subject}\t{' '.join([*rng.sample(words(language), 3), *about])}"


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
