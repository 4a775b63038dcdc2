"""Tables of what the data are like: distributions of attributes, and distances between languages."""

from collections.abc import Sequence

from isogloss.explain.bias import DatasetBias, Distribution
from isogloss.explain.distances import Distances
from isogloss.report.grouping import group_by
from isogloss.report.tables import Table
from isogloss.scoring.names import language_name

# Before a distance that says nothing.
NOISE = "≈"


def bias_tables(bias: DatasetBias) -> list[Table]:
    """For each task the attributes' means, or most frequent values, language by language; then the distances."""
    tables = []
    for task, distributions in group_by(bias.distributions, lambda each: each.task).items():
        tables.append(_typical_table(task, distributions))
        apart = [table for table in bias.distances if table.task == task]
        if apart:
            tables.append(_mean_distance_table(task, apart))
    if bias.missing and tables:
        tables[-1].notes.append(f"no gold at hand: {' '.join(bias.missing)}")
    return tables


def _typical_table(task: str, distributions: Sequence[Distribution]) -> Table:
    names = list(dict.fromkeys(each.attribute for each in distributions))
    table = Table(f"{task}: what the examples are like (mean, or most frequent value)", ("code", "n", *names))
    by_cell = {(each.language, each.attribute): each for each in distributions}
    for language in dict.fromkeys(each.language for each in distributions):
        cells = [by_cell.get((language, name)) for name in names]
        size = max(each.n for each in cells if each is not None)
        table.add(language, str(size), *map(_typical, cells))
    return table


def _typical(distribution: Distribution | None) -> str:
    if distribution is None:
        return ""
    if distribution.shares:
        value, share = next(iter(distribution.shares.items()))
        return f"{value or 'none'} {100 * share:.0f} %"
    return "" if distribution.mean is None else f"{distribution.mean:.3g}"


def _mean_distance_table(task: str, distances: Sequence[Distances]) -> Table:
    """How far each language is from the others, on average over them."""
    languages = list(dict.fromkeys(code for each in distances for code in each.languages))
    table = Table(f"{task}: mean distance from the other languages", ("code", *(each.attribute for each in distances)))
    for code in languages:
        table.add(code, *(_mean_distance(each, code) for each in distances))
    table.notes.append("Wasserstein-1 in the attribute's unit; total variation (0 to 1) where it has values")
    if any(cell.startswith(NOISE) for row in table.rows for cell in row):
        table.notes.append(f"{NOISE} no more than chance makes where examples are dealt out to the languages at random")
    return table


def _mean_distance(distances: Distances, language: str) -> str:
    if language not in distances.languages:
        return ""
    place = distances.languages.index(language)
    row = distances.table[place]
    is_noise = bool(distances.noise) and sum(row) <= sum(distances.noise[place]) - distances.noise[place][place]
    return f"{NOISE if is_noise else ''}{sum(row) / (len(row) - 1):.3g}"


def distribution_table(bias: DatasetBias) -> Table:
    """Every number of every distribution; a value with its share is a row of its own."""
    header = ("task", "code", "language", "split", "attribute", "value", "n", "share", "mean")
    table = Table("Distributions", (*header, "minimum", "25 %", "median", "75 %", "maximum"), words=6)
    for each in bias.distributions:
        place = each.task, each.language, language_name(each.language), each.split, each.attribute
        for value, share in each.shares.items():
            table.add(*place, value, str(each.n), f"{share:.4f}", *[""] * 6)
        if each.mean is not None:
            table.add(*place, "", str(each.n), "", *(f"{number:.6g}" for number in (each.mean, *each.quartiles)))
    return table


def distance_table(bias: DatasetBias) -> Table:
    """Every pair of languages, with the distance that chance alone would rarely exceed."""
    table = Table("Distances", ("task", "attribute", "measure", "code", "other", "distance", "noise"), words=5)
    for each in bias.distances:
        for place, code in enumerate(each.languages):
            for other in range(place + 1, len(each.languages)):
                where = each.task, each.attribute, each.measure, code, each.languages[other]
                noise = f"{each.noise[place][other]:.4g}" if each.noise else ""
                table.add(*where, f"{each.table[place][other]:.4g}", noise)
    return table
