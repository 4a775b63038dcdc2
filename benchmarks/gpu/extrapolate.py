"""Estimated time for all of XTREME-R: every task's inputs over the rate measured on the nearest shape."""

from collections.abc import Mapping
from dataclasses import dataclass

EPOCHS = 2


@dataclass(frozen=True)
class Work:
    """Inputs of a task: their number, mean length, and the nearest measured shape.

    A choice, a side of a pair and a window count as one input each. The rate in tokens per second is assumed to be that
    of the shape: shorter inputs are a little slower per token, longer ones a little faster.
    """

    task: str
    shape: str
    train: int
    test: int
    tokens: float


# Sizes come from the papers and the released files; lengths were counted with a WordPiece vocabulary on the English
# (for candidates of LAReQA: all) texts, or are the recipe's limit (Mewsli-X: 64). XQuAD, MLQA and Tatoeba share one
# training run on SQuAD, and are predicted at its checkpoints.
WORK = (
    Work("XNLI", "xnli", 392_702, 15 * 5_010, 40),
    Work("XCOPA (SIQa, COPA)", "xnli", 33_410 * 3 + 400 * 2, 11 * 500 * 2, 32),
    Work("UD-POS", "pos", 21_253, 83_500, 23),
    Work("WikiANN", "pos", 20_000, 293_600, 13),
    Work("XQuAD (SQuAD windows)", "squad", 92_100, 11 * 1_251, 194),
    Work("MLQA", "squad", 0, 42_300 + 15_600, 242),
    Work("TyDiQA", "squad", 3_862, 5_300, 158),
    Work("Tatoeba", "pos", 0, 2 * 36_700, 15),
    Work("Mewsli-X, both sides", "xnli", 2 * 116_903, 14_624 + 1_003_893, 64),
    Work("LAReQA, questions", "pos", 87_599, 13_090, 15),
    Work("LAReQA, answers", "squad", 87_599, 13_014, 239),
)


def show(name: str, shapes: Mapping[str, Mapping[str, float]]) -> None:
    """Print the computation and the sum for one size."""
    print(f"\n{name}: {EPOCHS} epochs of every task and all test sets, one device, seconds = inputs x tokens / rate")
    total = 0.0
    for work in WORK:
        rates = shapes[work.shape]
        learning = EPOCHS * work.train * work.tokens / (rates["train"] * rates["tokens"])
        predicting = work.test * work.tokens / (rates["predict"] * rates["tokens"])
        total += learning + predicting
        print(
            f"  {work.task:24} {EPOCHS} x {work.train:7,} x {work.tokens:3.0f} tokens at "
            f"{rates['train'] * rates['tokens'] / 1e3:5.0f} k/s = {learning:5.0f} s; {work.test:9,} predicted at "
            f"{rates['predict'] * rates['tokens'] / 1e3:6.0f} k/s = {predicting:4.0f} s"
        )
    captures = sum(rates["capture"] for rates in shapes.values()) / len(shapes) * 8
    print(f"  captures, 8 trainings: {captures:.0f} s\n  all: {(total + captures) / 60:.1f} min")
