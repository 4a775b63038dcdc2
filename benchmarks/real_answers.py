"""Real answers of systems to whole test sets, in pairs of a system and its guide, for measuring subsets."""

import csv
import lzma
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from coverage_real import answer_sets, questions_of, read_json

from isogloss.metrics import chunks, qa
from isogloss.metrics.control import Draw, extrapolated
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.strata import drawing_order, expected_movements, movements, rates_of, strata_of
from isogloss.tasks.kinds.replies import Reply, label_readings

TOPICS = ("science/technology", "travel", "politics", "sports", "health", "entertainment", "geography")
ENCODERS = ("afroxlmr", "mdeberta", "xlmrbase")
NER_LANGUAGES = ("bbj", "ewe", "ibo", "kin", "mos", "nya", "pcm")


@dataclass(frozen=True)
class Pair:
    """Answers of a system to all examples, and those of its guide."""

    system: Statistics
    guide: Statistics
    skipped: Statistics  # without answers
    clusters: np.ndarray | None = None

    def design(self) -> tuple[np.ndarray, np.ndarray]:
        """Return strata and rates of the examples."""
        rates = rates_of(expected_movements(self.guide, self.skipped, len(self.guide)))
        return strata_of(rates), rates

    def subset(self, size: int, strata: np.ndarray, rates: np.ndarray, rng: np.random.Generator) -> Statistics:
        """Return statistics estimated from a random subset."""
        n = len(self.system)
        drawn = np.zeros(n, bool)
        drawn[drawing_order(strata, rates, rng.random(n))[:size]] = True
        whole = extrapolated(self.system.select(drawn), self.guide, np.arange(n), Draw(strata, drawn))
        if whole is None:
            raise ValueError("a stratum is empty")
        return whole

    def estimate(self, statistics: Statistics, space: str = "") -> Estimate:
        """Return the estimate for new examples, or for new articles; languages with the same ones share a space."""
        n = len(statistics)
        return estimate(statistics, np.arange(n) if self.clusters is None else self.clusters, n, space)

    @property
    def influences(self) -> np.ndarray:
        """Influence of every example on the score, times their number; the score is their mean, to first order."""
        return movements(self.system.rows, self.system) * len(self.system)

    @property
    def guide_influences(self) -> np.ndarray:
        """The guide's influences, likewise."""
        return movements(self.guide.rows, self.guide) * len(self.guide)


def marks(right: Sequence[bool]) -> Statistics:
    """Return the statistics of right and wrong answers."""
    return Statistics(np.array(right, dtype=float)[:, None], MEAN)


def nothing(statistics: Statistics) -> Statistics:
    """Return the statistics of a system without answers; the last column of F1 counts gold items."""
    rows = np.zeros_like(statistics.rows)
    if rows.shape[1] == 3:
        rows[:, 2] = statistics.rows[:, 2]
    return Statistics(rows, statistics.value)


def topics(data: Path) -> list[Pair]:
    """Return GPT-4's answers to SIB-200 in every language, guided by those of GPT-3.5."""
    known = {topic: topic for topic in TOPICS}

    def right(model: str, name: str) -> tuple[list[str], Statistics]:
        with (data / "sib200/llm" / model / name).open(encoding="utf-8") as stream:
            rows = sorted(list(csv.reader(stream, delimiter="\t"))[1:], key=lambda row: int(row[1]))
        readings = label_readings([Reply(row[-1]) for row in rows], "en", known)
        return [row[1] for row in rows], marks(
            [each.answer == row[2] for each, row in zip(readings, rows, strict=True)]
        )

    pairs = []
    for path in sorted((data / "sib200/llm/gpt4").glob("*.tsv")):
        (ids, system), (others, guide) = right("gpt4", path.name), right("gpt3.5", path.name)
        if ids == others:
            pairs.append(Pair(system, guide, nothing(system)))
    return pairs


def tagged(path: Path) -> list[list[str]]:
    """Return the tags of every sentence."""
    content = path.read_bytes()
    blocks = (lzma.decompress(content) if path.suffix == ".xz" else content).decode().split("\n\n")
    return [[line.split()[-1] for line in block.splitlines() if line.strip()] for block in blocks if block.strip()]


def entities(data: Path) -> dict[str, list[Pair]]:
    """Return every run on MasakhaNER, guided by a further seed, another encoder, or all runs of the other encoders."""
    root = data / "masakhaner2"
    pairs: dict[str, list[Pair]] = {
        "a further seed": [],
        "another encoder": [],
        "the mean of 10 runs of the others": [],
    }
    for code in NER_LANGUAGES:
        gold = tagged(next((root / "data" / code).glob("test.txt*")))
        runs = {
            (model, seed): chunks.statistics(
                gold, tagged(root / f"predictions/{model}/{code}/test_predictions{seed}.txt.xz"), dialect="conll"
            )
            for model in ENCODERS
            for seed in range(1, 6)
        }
        for (model, seed), run in runs.items():
            empty = nothing(run)
            other = ENCODERS[(ENCODERS.index(model) + 1) % 3]
            pairs["a further seed"].append(Pair(run, runs[model, seed % 5 + 1], empty))
            pairs["another encoder"].append(Pair(run, runs[other, seed], empty))
            rows = np.mean([each.rows for (name, _), each in runs.items() if name != model], axis=0)
            pairs["the mean of 10 runs of the others"].append(Pair(run, Statistics(rows, run.value), empty))
    return pairs


def labels(data: Path, task: str) -> list[Pair]:
    """Return mT5's answers to a classification task, guided by those of the other multilingual system."""
    root = data / "explainaboard_outputs/multilingual"

    def right(system: str, code: str) -> Statistics:
        path = next((root / system / task).glob(f"test-{code}_*.json*"))
        rows = read_json(path.with_name(path.name.removesuffix(".xz")))["predictions"]
        return marks([row["true_label"] == row["predicted_label"] for row in rows])

    codes = [
        {path.name.removeprefix("test-").partition("_")[0] for path in (root / system / task).iterdir()}
        for system in ("mt5base", "mlpp")
    ]
    pairs = [(right("mt5base", code), right("mlpp", code)) for code in sorted(codes[0] & codes[1])]
    return [Pair(system, guide, nothing(system)) for system, guide in pairs]


def answers(data: Path) -> dict[str, list[Pair]]:
    """Return answers to XQuAD by F1: mT5 guided by the other system, and SQuAD systems guided by others, in English."""
    judged: dict[tuple[str, str], Statistics] = {}
    articles = {}
    for name, code, texts in answer_sets(data):
        questions = questions_of(data, code)
        gold = [each["answers"] for each in questions]
        said = [texts.get(each["id"]) for each in questions]
        judged[name, code] = qa.statistics(said, gold, dialect="squad")["f1"]
        articles[code] = np.array([each["article"] for each in questions])

    def pair(system: Statistics, guide: Statistics, code: str) -> Pair:
        return Pair(system, guide, nothing(system), articles[code])

    good = [name for name, code in judged if code == "en" and name != "logistic"]
    multilingual = [pair(judged["mt5base", code], judged["mlpp", code], code) for code in ("en", "es", "zh")]
    weak = [pair(judged[name, "en"], judged["logistic", "en"], "en") for name in good]
    strong = []
    for name in good:
        rows = np.mean([judged[other, "en"].rows for other in good if other != name], axis=0)
        strong.append(pair(judged[name, "en"], Statistics(rows, MEAN), "en"))
    return {
        "mT5, guided by the other multilingual system": multilingual,
        "SQuAD systems, guided by logistic regression": weak,
        "SQuAD systems, guided by the mean of the 6 others": strong,
    }


def every_set(data: Path) -> Iterator[tuple[str, list[Pair]]]:
    """Yield sets of answers by name."""
    yield "SIB-200, GPT-4, guided by GPT-3.5", topics(data)
    yield "XNLI, mT5, guided by the other multilingual system", labels(data, "xnli")
    yield "MARC, mT5, guided by the other multilingual system", labels(data, "marc")
    for name, pairs in answers(data).items():
        yield f"XQuAD, {name}", pairs
    for name, pairs in entities(data).items():
        yield f"MasakhaNER, an encoder, guided by {name}", pairs
