"""Answer F1 and EM of 12,000 questions with one or three gold answers, against three SQuAD scorers.

Run it: `python benchmarks/bench_qa.py`. Each figure is the best of several runs in one process, CPU time
first, then wall time. Peers:

- a plain script that follows the SQuAD 1.1 rules literally: always;
- torchmetrics, if installed (its F1 differs: two answers that normalise to nothing score 1);
- the squad metric of Hugging Face evaluate, if installed and if its script, which is not part of the
  package, can be loaded: from the hub, or from the folder in ISOGLOSS_BENCH_SQUAD.
"""

import os
import random
import re
import string
from collections import Counter
from collections.abc import Callable

from bench_chunks import Row, compare, show

from isogloss.metrics import qa

QUESTIONS = 12_000
Scores = dict[str, float]
Peer = Callable[[], Scores]


def answers(draw: random.Random) -> tuple[list[str], list[list[str]]]:
    """Answers of 1 to 10 words of 3,000 and articles: half right, three in ten nearly so, the rest random."""
    letters = string.ascii_lowercase
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(3_000)]
    words += ["the", "a", "an"] * 100

    def answer() -> str:
        text = " ".join(draw.choices(words, k=draw.randint(1, 10)))
        return text.capitalize() + draw.choice(["", ".", ", etc."])

    predictions, golds = [], []
    for _ in range(QUESTIONS):
        gold = [answer() for _ in range(draw.choice([1, 3]))]
        prediction, luck = draw.choice(gold), draw.random()
        if luck > 0.8:
            prediction = answer()
        elif luck > 0.5:
            tokens = prediction.split()
            tokens[draw.randrange(len(tokens))] = draw.choice(words)
            prediction = " ".join(tokens)
        predictions.append(prediction)
        golds.append(gold)
    return predictions, golds


def plain_script(predictions: list[str], golds: list[list[str]]) -> Scores:
    """SQuAD 1.1 as published: every answer is normalised at every comparison."""

    def normalized(text: str) -> str:
        kept = "".join(character for character in text.lower() if character not in set(string.punctuation))
        return " ".join(re.sub(r"\b(a|an|the)\b", " ", kept).split())

    def f1(prediction: str, gold: str) -> float:
        given, wanted = normalized(prediction).split(), normalized(gold).split()
        same = sum((Counter(given) & Counter(wanted)).values())
        if not same:
            return 0.0
        precision, recall = same / len(given), same / len(wanted)
        return 2 * precision * recall / (precision + recall)

    pairs = list(zip(predictions, golds, strict=True))
    return {
        "f1": sum(max(f1(given, gold) for gold in wanted) for given, wanted in pairs) / len(pairs),
        "em": sum(max(normalized(given) == normalized(gold) for gold in wanted) for given, wanted in pairs)
        / len(pairs),
    }


def squad_records(predictions: list[str], golds: list[list[str]]) -> tuple[list[Row], list[Row]]:
    """Return the same answers in the format of torchmetrics and evaluate."""
    given = [{"id": str(i), "prediction_text": text} for i, text in enumerate(predictions)]
    wanted = [
        {"id": str(i), "answers": {"text": texts, "answer_start": [0] * len(texts)}} for i, texts in enumerate(golds)
    ]
    return given, wanted


def torchmetrics_squad(given: list[Row], wanted: list[Row]) -> Peer | None:
    """Return the functional metric of torchmetrics, or None."""
    try:
        from torchmetrics.functional.text import squad
    except ImportError:
        return None

    def score() -> Scores:
        scores = squad(given, wanted)
        return {"f1": float(scores["f1"]) / 100, "em": float(scores["exact_match"]) / 100}

    return score


def evaluate_squad(given: list[Row], wanted: list[Row]) -> Peer | None:
    """Return the squad metric of evaluate, or None; it is loaded before timing."""
    try:
        import evaluate

        metric = evaluate.load(os.environ.get("ISOGLOSS_BENCH_SQUAD", "squad"))
    except (ImportError, OSError) as error:
        print(f"skipped evaluate's squad: {error}")
        return None

    def score() -> Scores:
        scores = metric.compute(predictions=given, references=wanted)
        return {"f1": scores["f1"] / 100, "em": scores["exact_match"] / 100}

    return score


def run() -> list[Row]:
    """Time every available peer, after checking that it agrees with us."""
    predictions, golds = answers(random.Random(0))
    given, wanted = squad_records(predictions, golds)
    peers: dict[str, Peer | None] = {
        "plain SQuAD 1.1 script": lambda: plain_script(predictions, golds),
        "torchmetrics functional squad": torchmetrics_squad(given, wanted),
        "Hugging Face evaluate squad": evaluate_squad(given, wanted),
    }

    def ours() -> Scores:
        metrics = qa.statistics(predictions, golds, dialect="squad")
        return {metric: statistics.score for metric, statistics in metrics.items()}

    rows = []
    for name, peer in peers.items():
        if peer is None:
            continue
        expected, actual = peer(), ours()
        # torchmetrics sums in single precision, and differs if both answers normalise to nothing.
        tolerance = {"f1": 0.01, "em": 1e-6} if name.startswith("torchmetrics") else {"f1": 1e-9, "em": 1e-9}
        if any(abs(actual[metric] - expected[metric]) > tolerance[metric] for metric in actual):
            raise SystemExit(f"{name}: {actual} here, {expected} there")
        rows.append(compare(f"F1 and EM, {QUESTIONS:,} questions", name, ours, peer))
    return rows


if __name__ == "__main__":
    show(run())
