"""Chunk F1 of 10,000 sentences of 20 tokens, against seqeval.

Run it: `python benchmarks/bench_chunks.py`. Each figure is the best of several runs in one process, CPU time
first, then wall time. Both sides start from lists of lists of strings, except in the row of integer
tags, and both must give the same score.
"""

import random
import warnings
from collections.abc import Callable
from time import perf_counter, process_time
from typing import Any

import numpy as np

from isogloss.metrics import chunks

SENTENCES, TOKENS = 10_000, 20
KINDS = ("PER", "ORG", "LOC")
UPOS = ("NOUN", "VERB", "ADJ", "ADP", "DET", "PRON", "PUNCT", "PROPN", "AUX", "CCONJ", "SCONJ", "NUM", "ADV")

Row = dict[str, Any]
Corpus = list[list[str]]


def best(function: Callable[[], object], repetitions: int = 7) -> tuple[float, float]:
    """Return the shortest CPU time and the shortest wall time of several runs, in seconds."""
    cpu, wall = [], []
    for _ in range(repetitions):
        cpu_start, wall_start = process_time(), perf_counter()
        function()
        cpu.append(process_time() - cpu_start)
        wall.append(perf_counter() - wall_start)
    return min(cpu), min(wall)


def compare(what: str, peer: str, ours: Callable[[], object], theirs: Callable[[], object]) -> Row:
    """Time both sides, ours more often because it is short, and return one row."""
    ours_s, ours_wall_s = best(ours, 15)
    peer_s, peer_wall_s = best(theirs, 3)
    return {
        "what": what,
        "peer": peer,
        "ours_s": ours_s,
        "peer_s": peer_s,
        "ratio": peer_s / ours_s,
        "ours_wall_s": ours_wall_s,
        "peer_wall_s": peer_wall_s,
    }


def show(rows: list[Row]) -> None:
    """Print rows as an aligned table: CPU seconds, their ratio, wall seconds."""
    print(f"{'what':36}{'peer':32}{'ours s':>9}{'peer s':>9}{'ratio':>8}{'ours wall':>11}{'peer wall':>11}")
    for row in rows:
        times = "{ours_s:9.4f}{peer_s:9.4f}{ratio:7.1f}x{ours_wall_s:11.4f}{peer_wall_s:11.4f}".format(**row)
        print(f"{row['what']:36}{row['peer']:32}{times}")


def noisy(gold: Corpus, tags: tuple[str, ...], draw: random.Random) -> Corpus:
    """Return the gold tags with one in ten replaced by a random one."""
    return [[draw.choice(tags) if draw.random() < 0.1 else tag for tag in sentence] for sentence in gold]


def entities(draw: random.Random) -> tuple[Corpus, Corpus]:
    """IOB2 sentences: an entity of one to three tokens starts at a free token with probability 0.12."""
    gold = []
    for _ in range(SENTENCES):
        sentence: list[str] = []
        while len(sentence) < TOKENS:
            kind = draw.choice(KINDS)
            entity = [f"B-{kind}", *[f"I-{kind}"] * draw.randint(0, 2)]
            sentence += entity if draw.random() < 0.12 else ["O"]
        gold.append(sentence[:TOKENS])
    return gold, noisy(gold, ("O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in KINDS)), draw)


def parts_of_speech(draw: random.Random) -> tuple[Corpus, Corpus]:
    """Sentences of random UPOS tags."""
    gold = [draw.choices(UPOS, k=TOKENS) for _ in range(SENTENCES)]
    return gold, noisy(gold, UPOS, draw)


def run() -> list[Row]:
    """Time every pair, after checking that the two sides agree; no rows without seqeval."""
    try:
        from seqeval.metrics import f1_score
        from seqeval.scheme import IOB2
    except ImportError:
        return []
    warnings.simplefilter("ignore")  # it warns about each tag that is not IOB
    draw = random.Random(0)
    ner, pos = entities(draw), parts_of_speech(draw)
    tags = sorted({tag for side in ner for sentence in side for tag in sentence})
    gold, predicted = (np.array([tags.index(tag) for sentence in side for tag in sentence]) for side in ner)
    lengths = np.full(SENTENCES, TOKENS)

    def default() -> float:
        return float(f1_score(*ner))

    def strict() -> float:
        return float(f1_score(*ner, mode="strict", scheme=IOB2))

    def default_pos() -> float:
        return float(f1_score(*pos))

    cases: list[tuple[str, str, Callable[[], float], Callable[[], float]]] = [
        ("NER F1, conll", "seqeval default", lambda: chunks.f1(*ner), default),
        ("NER F1, iob2-strict", "seqeval strict", lambda: chunks.f1(*ner, dialect="iob2-strict"), strict),
        (
            "NER F1, conll, integer tags",
            "seqeval default",
            lambda: chunks.coded_statistics(gold, predicted, lengths, tags).score,
            default,
        ),
        (
            "POS F1, seqeval-1.2.2",
            "seqeval default",
            lambda: chunks.f1(*pos, dialect="seqeval-1.2.2"),
            default_pos,
        ),
    ]
    for what, _, ours, theirs in cases:
        if abs(ours() - theirs()) > 1e-12:
            raise SystemExit(f"{what}: {ours()} here, {theirs()} there")
    return [compare(*case) for case in cases]


if __name__ == "__main__":
    show(run())
