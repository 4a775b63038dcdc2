"""What intervals and p-values speak of, in words: of which population, of methods or of checkpoints, and how finely."""

from collections import defaultdict
from collections.abc import Iterable

from isogloss.figures import score_text
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.results import Results
from isogloss.tasks.registry import task


def population_notes(results: Results) -> list[str]:
    """Of what the intervals of a result record speak, with the design effect of every task."""
    tasks = [average.name for average in results.tasks]
    if results.resample == "example":
        words = dict.fromkeys(word for name in tasks if (word := task(name).cluster))
        same = f" from the same {' and '.join(map(_plural, words))}" if words else ""
        return [f"95 % intervals are for new examples{same}", *_seeds(results)]
    effects = {average.name: average.design_effect for average in results.tasks}
    by_word: dict[str, list[str]] = defaultdict(list)
    for name in results.clustered:
        effect = effects.get(name)
        by_word[task(name).cluster or "source"].append(name if effect is None else f"{name} {score_text(effect)}")
    if not by_word:
        return _seeds(results)
    parts = [f"{_plural(word)} ({', '.join(names)})" for word, names in by_word.items()]
    rest = "" if set(tasks) <= set(results.clustered) else "; elsewhere for new examples"
    return [f"95 % intervals are for new {', new '.join(parts)}: design effects in brackets{rest}", *_seeds(results)]


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
        top = comparison.overall or comparison.tasks[0]
        split = f", {top.seed_share:.0%} of the variance is due to seeds" if top.seed_share is not None else ""
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
