"""Tables of dataset bias: distributions of attributes, and distances between languages."""

from collections.abc import Sequence

from isogloss.explain.bias import DatasetBias, Distances, Distribution
from isogloss.grouping import group_by
from isogloss.scoring.names import language_name
from isogloss.tables.table import Table

# Mark of a distance within chance.
NOISE = "≈"


def bias_tables(bias: DatasetBias) -> list[Table]:
    """Return each task's means or most frequent values by language, then the distances."""
    tables = []
    distances = group_by(bias.distances, lambda table: table.task)
    for task, distributions in group_by(bias.distributions, lambda distribution: distribution.task).items():
        tables.append(_typical_table(task, distributions))
        if task in distances:
            tables.append(_mean_distance_table(task, distances[task]))
    if bias.missing and tables:
        tables[-1].notes.append(f"no gold labels: {' '.join(bias.missing)}")
    return tables


def _typical_table(task: str, distributions: Sequence[Distribution]) -> Table:
    names = list(dict.fromkeys(distribution.attribute for distribution in distributions))
    table = Table(f"{task}: properties of the examples (mean or most frequent value)", ("code", "n", *names))
    by_cell = {(row.language, row.attribute): row for row in distributions}
    for language in dict.fromkeys(row.language for row in distributions):
        cells = [by_cell.get((language, name)) for name in names]
        size = max(cell.n for cell in cells if cell is not None)
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
    """Return the mean distance of each language from the others."""
    languages = list(dict.fromkeys(code for table in distances for code in table.languages))
    header = ("code", *(distance.attribute for distance in distances))
    table = Table(f"{task}: mean distance from the other languages", header)
    for code in languages:
        table.add(code, *(_mean_distance(distance, code) for distance in distances))
    table.notes.append("Wasserstein-1 in the attribute's unit; total variation (0 to 1) for discrete attributes")
    if any(cell.startswith(NOISE) for row in table.rows for cell in row):
        table.notes.append(f"{NOISE} within chance: no larger than if examples were assigned to languages at random")
    return table


def _mean_distance(distances: Distances, language: str) -> str:
    if language not in distances.languages:
        return ""
    index = distances.languages.index(language)
    row = distances.table[index]
    is_noise = bool(distances.noise) and sum(row) <= sum(distances.noise[index]) - distances.noise[index][index]
    return f"{NOISE if is_noise else ''}{sum(row) / (len(row) - 1):.3g}"


def distribution_table(bias: DatasetBias) -> Table:
    """Return every number of every distribution, one row per value with its share."""
    header = ("task", "code", "language", "split", "attribute", "value", "n", "share", "mean")
    table = Table("Distributions", (*header, "minimum", "25 %", "median", "75 %", "maximum"), words=6)
    for row in bias.distributions:
        key = row.task, row.language, language_name(row.language), row.split, row.attribute
        for value, share in row.shares.items():
            table.add(*key, value, str(row.n), f"{share:.4f}", *[""] * 6)
        if row.mean is not None:
            table.add(*key, "", str(row.n), "", *(f"{number:.6g}" for number in (row.mean, *row.quartiles)))
    return table


def distance_table(bias: DatasetBias) -> Table:
    """Return every pair of languages, with the distance that chance rarely exceeds."""
    table = Table("Distances", ("task", "attribute", "measure", "code", "other", "distance", "noise"), words=5)
    for distances in bias.distances:
        for index, code in enumerate(distances.languages):
            for other in range(index + 1, len(distances.languages)):
                key = distances.task, distances.attribute, distances.measure, code, distances.languages[other]
                noise = f"{distances.noise[index][other]:.4g}" if distances.noise else ""
                table.add(*key, f"{distances.table[index][other]:.4g}", noise)
    return table
