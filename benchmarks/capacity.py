"""Cost of a study of all of XTREME-R in GPU-hours, and in hours on 1, 8 and 64 devices, from measured rates.

    python benchmarks/capacity.py          # the tables of the site's page on costs

Every line is inputs x tokens / rate, with the inputs of gpu/extrapolate.py and the rates in the table of README.md. A
training run and the predictions of its model are one job on one device. Jobs are placed longest first on the device
that becomes free first.
"""

import heapq
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "gpu"))

from extrapolate import EPOCHS, WORK

# Mean tokens per input of the measured shapes.
TOKENS = {"xnli": 40.0, "squad": 193.6, "pos": 24.4}

# Tasks that use the model of another task, in its job.
SQUAD = "XQuAD (SQuAD windows)"
TRAINED_WITH = {"MLQA": SQUAD, "Tatoeba": SQUAD, "LAReQA, questions": "LAReQA, answers"}

# Copies of the English training set in `translate-train-all`: English and each translation.
TRANSLATED = {"XNLI": 15, "XCOPA (SIQa, COPA)": 12, SQUAD: 11, "TyDiQA": 9}


@dataclass(frozen=True)
class MeasuredRates:
    """Examples per second on one H200 in training and prediction, by shape; seconds before a job's first update."""

    name: str
    train: dict[str, float]
    predict: dict[str, float]
    capture: float


MBERT = MeasuredRates(
    "mBERT", {"xnli": 5760, "squad": 2213, "pos": 6330}, {"xnli": 51369, "squad": 9911, "pos": 74557}, 37 / 8
)
LARGE = MeasuredRates(
    "XLM-R Large", {"xnli": 1377, "squad": 640, "pos": 1523}, {"xnli": 17417, "squad": 3375, "pos": 25616}, 127 / 8
)
SIZES = (MBERT, LARGE)
# A study has three models of the first size and two of the second, five seeds each.
MODELS = (3, 2)
SEEDS = 5
DEVICES = (1, 8, 64)
# Importing the libraries, loading the weights and reading the files, in each job; a conservative assumption.
START = 30.0


def job_seconds(size: MeasuredRates, copies: Mapping[str, int]) -> dict[str, float]:
    """Return the seconds of each job of a model and seed: training, on some copies of its set, and predictions."""
    seconds: dict[str, float] = {}
    for work in WORK:
        job = TRAINED_WITH.get(work.task, work.task)
        tokens = TOKENS[work.shape]
        inputs = work.train * copies.get(work.task, 1)
        training = EPOCHS * inputs * work.tokens / (size.train[work.shape] * tokens)
        predicting = work.test * work.tokens / (size.predict[work.shape] * tokens)
        seconds[job] = seconds.get(job, START + size.capture) + training + predicting
    return seconds


def hours_on(devices: int, jobs: Sequence[float]) -> float:
    """Return the hours that some devices need for jobs placed longest first."""
    free = [0.0] * devices
    for job in sorted(jobs, reverse=True):
        heapq.heappush(free, heapq.heappop(free) + job)
    return max(free) / 3600


def tables() -> Iterator[str]:
    """Yield the tables in Markdown, line by line."""
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
