"""What a study of all of XTREME-R costs in GPU-hours, and in hours on 1, 8 and 64 devices, by measured rates.

    python benchmarks/capacity.py          # the tables of docs/capacity.md

Every line is inputs x tokens / rate, with the inputs of gpu/extrapolate.py and the rates in the table of README.md. A
training and what its model is asked are one job, which runs on one device. Jobs are placed longest first on the device
that is free first, as an engine that takes them in that order does.
"""

import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "gpu"))

from extrapolate import EPOCHS, WORK

# The mean tokens of an input of the measured shapes.
TOKENS = {"xnli": 40.0, "squad": 193.6, "pos": 24.4}

# Tasks whose model is another's: they are asked of it, in its job.
SQUAD = "XQuAD (SQuAD windows)"
TRAINED_WITH = {"MLQA": SQUAD, "Tatoeba": SQUAD, "LAReQA, questions": "LAReQA, answers"}

# How many times the English training set `translate-train-all` learns from: English and each language it is made for.
TRANSLATED = {"XNLI": 15, "XCOPA (SIQa, COPA)": 12, SQUAD: 11, "TyDiQA": 9}


@dataclass(frozen=True)
class MeasuredRates:
    """Examples a second on one H200, trained and asked, by shape; seconds a job needs before its first update."""

    name: str
    train: dict[str, float]
    predict: dict[str, float]
    capture: float


MBERT = MeasuredRates(
    "mBERT", {"xnli": 5681, "squad": 1989, "pos": 6359}, {"xnli": 41463, "squad": 8889, "pos": 62214}, 63 / 8
)
# The training rates of squad and pos are those of a slower training step: what is computed from them is an upper bound.
LARGE = MeasuredRates(
    "XLM-R Large", {"xnli": 1379, "squad": 600, "pos": 1163}, {"xnli": 16501, "squad": 3099, "pos": 25152}, 163 / 8
)
SIZES = (MBERT, LARGE)
# A study has three models of the one size and two of the other, five seeds each.
MODELS = (3, 2)
SEEDS = 5
DEVICES = (1, 8, 64)
# Importing the libraries, loading the weights and reading the files, in each job. An assumption, and a careful one.
START = 30.0


def job_seconds(size: MeasuredRates, copies: Mapping[str, int]) -> dict[str, float]:
    """The seconds of each job of a model and seed: a training, on so many copies of its set, and all it is asked."""
    seconds: dict[str, float] = {}
    for work in WORK:
        job = TRAINED_WITH.get(work.task, work.task)
        tokens = TOKENS[work.shape]
        inputs = work.train * copies.get(work.task, 1)
        learning = EPOCHS * inputs * work.tokens / (size.train[work.shape] * tokens)
        asking = work.test * work.tokens / (size.predict[work.shape] * tokens)
        seconds[job] = seconds.get(job, START + size.capture) + learning + asking
    return seconds


def hours_on(devices: int, jobs: Sequence[float]) -> float:
    """How long so many devices need for jobs that are placed longest first."""
    free = [0.0] * devices
    for job in sorted(jobs, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + job)
    return max(free) / 3600


def tables() -> Iterator[str]:
    """The tables, line by line, in Markdown."""
    english, translated = ([job_seconds(size, copies) for size in SIZES] for copies in ({}, TRANSLATED))
    yield "| one model, one seed, seconds | " + " | ".join(size.name for size in SIZES) + " |"
    yield "|---|" + "--:|" * len(SIZES)
    for job in english[0]:
        yield f"| {job} | " + " | ".join(f"{seconds[job]:,.0f}" for seconds in english) + " |"
    yield "| **all** | " + " | ".join(f"**{sum(seconds.values()):,.0f}**" for seconds in english) + " |"
    yield ""
    yield "| study, 5 seeds | regime | jobs | GPU-hours | " + " | ".join(f"hours on {n}" for n in DEVICES) + " |"
    yield "|---|---|--:|--:|" + "--:|" * len(DEVICES)
    for regime, seconds in (("zero-shot", english), ("translate-train-all", translated)):
        jobs = [[*of_size.values()] * SEEDS for of_size in seconds]
        five = [job for of_size, models in zip(jobs, MODELS, strict=True) for job in of_size * models]
        for name, study in ((SIZES[0].name, jobs[0]), (SIZES[1].name, jobs[1]), ("all five models", five)):
            hours = " | ".join(f"{hours_on(devices, study):.1f}" for devices in DEVICES)
            yield f"| {name} | {regime} | {len(study)} | {sum(study) / 3600:.1f} | {hours} |"


if __name__ == "__main__":
    print("\n".join(tables()))
