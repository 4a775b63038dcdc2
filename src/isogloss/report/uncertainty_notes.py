"""What intervals and p-values speak of, in words: of which population, of methods or of checkpoints, and how finely."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from isogloss.figures import score_text
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.results import Results
from isogloss.tasks.registry import task


def population_notes(results: Results) -> list[str]:
    """Of what the intervals of a result record speak, with the design effect of every task."""
    effects = {average.name: average.design_effect for average in results.tasks}
    return [*_population(effects, results.resample), *_seeds(results)]


def _population(effects: Mapping[str, float | None], resample: str) -> list[str]:
    if not resample:
        return []
    if resample == "example":
        words = {word: None for name in effects if (word := task(name).cluster)}
        same = f" from the same {' and '.join(map(_plural, words))}" if words else ""
        return [f"95 % intervals are for new examples{same}"]
    by_word: dict[str, list[str]] = defaultdict(list)
    for name, effect in effects.items():
        if effect is not None:
            by_word[task(name).cluster or "source"].append(f"{name} {score_text(effect)}")
    if not by_word:
        return []
    parts = [f"{_plural(word)} ({', '.join(names)})" for word, names in by_word.items()]
    rest = "" if all(effect is not None for effect in effects.values()) else "; elsewhere for new examples"
    return [f"95 % intervals are for new {', new '.join(parts)}: design effects in brackets{rest}"]


def _plural(word: str) -> str:
    return f"{word}s"


def _seeds(results: Results) -> list[str]:
    if len(results.seeds) < 2:
        return []
    averages = {average.name: average.score for average in results.tasks}
    top = results.overall.score or (next(iter(averages.values())) if len(averages) == 1 else None)
    note = f"means over {len(results.seeds)} seeds"
    if top is not None and top.seeds is not None:
        note += (
            f": standard deviation {score_text(top.seeds.sd)} points; of the variance of their mean "
            f"{top.seeds.share:.0%} is due to the seeds, {1 - top.seeds.share:.0%} to the test set"
        )
    return [note]


def comparison_notes(comparison: Comparison) -> list[str]:
    """Of what a comparison speaks, and which differences it could have found."""
    first, second = comparison.seeds
    if comparison.of_methods:
        shares = [each.seed_share for each in _averages(comparison) if each.seed_share is not None]
        split = f", {shares[-1]:.0%} of the variance is due to seeds" if shares else ""
        notes = [f"speaks of the methods: {first} and {second} seeds{split}"]
    else:
        notes = ["speaks of these checkpoints: with other seeds the order may differ"]
    words = dict.fromkeys(task(name).cluster or "source" for name in comparison.clustered)
    if words:
        notes.append(f"and of new {' and '.join(map(_plural, words))}, not only of those of the test set")
    averages = _averages(comparison)
    found = _detectable(("overall" if each.level == "overall" else each.name, each.detectable) for each in averages)
    return ["; ".join(notes), *found]


def _averages(comparison: Comparison) -> list[ScoreContrast]:
    return [*comparison.tasks, *([] if comparison.overall is None else [comparison.overall])]


def _detectable(figures: Iterable[tuple[str, float | None]]) -> list[str]:
    parts = [f"{name} {score_text(value)}" for name, value in figures if value is not None]
    return [f"smallest difference found 4 times in 5: {', '.join(parts)} points"] if parts else []
