"""Published scores by language: the papers' tables, further systems from their makers' own, embedders from MTEB."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from isogloss.errors import unknown
from isogloss.languages.published import overall, table

WORD = "published"
# Groups of systems beside single ones.
_IN_TABLE_13 = {"mT5-XXL": "mT5", "ERNIE-M Large": "ERNIE-M", "VECO Large": "VECO"}
PAPERS, FURTHER, EMBEDDERS, ALL = "papers", "further", "mteb", "all"
# What a name says of a model's size: 560M, 7.5B, 7b1 (which is 7.1 billion).
_SIZE = re.compile(r"(?:^|[-_/ ])(\d+(?:\.\d+)?)([bm])(\d?)(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True)
class PublishedScore:
    """A published figure, 0..100.

    Attributes:
        system: its name; followed by the source in brackets if the papers, or an earlier source, have the name too.
        regime: what it learnt from. Besides the usual ones: "prompted" (no fine-tuning), "embedding" (distances of
            sentence vectors, no fine-tuning), and such as name data that are not the suite's.
        source: the table, or the repository it was copied from.
        parameters: millions of parameters, where the papers or the name say how many.
    """

    system: str
    regime: str
    task: str
    language: str
    metric: str
    value: float
    source: str
    parameters: float | None = None


def is_published(source: str) -> bool:
    """Whether a source is `published` or `published:NAME`."""
    return source.partition(":")[0] == WORD


def published_scores(source: str) -> list[PublishedScore]:
    """The scores of `published` (the papers' tables), of a group, or of one system in all its regimes.

    Args:
        source: "published", "published:further", "published:mteb", "published:all" or "published:NAME".

    Raises:
        UnknownNameError: no system and no group has that name.
    """
    name = source.partition(":")[2] or PAPERS
    groups: dict[str, Callable[[], Iterable[PublishedScore]]] = {
        PAPERS: _papers,
        FURTHER: _further,
        EMBEDDERS: _embedders,
        ALL: _all,
    }
    if name.lower() in groups:
        return list(groups[name.lower()]())
    found = [score for score in _all() if name.casefold() in (score.system.casefold(), _regime_name(score))]
    if not found:
        raise unknown("published system", name, {*groups, *(score.system.lower() for score in _all())})
    return found


def _regime_name(score: PublishedScore) -> str:
    return f"{score.system}, {score.regime}".casefold()


@cache
def _all() -> tuple[PublishedScore, ...]:
    return (*_papers(), *_further(), *_embedders())


def _papers() -> Iterator[PublishedScore]:
    for row in table("per_language"):
        yield PublishedScore(
            row["system"],
            row["regime"],
            row["task"],
            row["language"],
            row["metric"],
            float(row["value"]),
            row["source_table"],
            parameters_of(row["system"]),
        )


def _further() -> Iterator[PublishedScore]:
    owner = dict.fromkeys((row["system"] for row in table("per_language")), "")
    for row in table("further_systems"):
        system, source = row["system"], row["source"]
        shown = system if owner.setdefault(system, source) == source else f"{system} [{source}]"
        place = row["regime"], row["task"], row["language"], row["metric"]
        yield PublishedScore(shown, *place, float(row["value"]), source, parameters_of(system))


def _embedders() -> Iterator[PublishedScore]:
    for row in table("mteb_tatoeba"):
        model = row.pop("model")
        source = f"MTEB, revision {row.pop('revision')[:12]}"
        for code, value in row.items():
            if value:
                size = parameters_of(model)
                yield PublishedScore(model, "embedding", "tatoeba", code, "accuracy", float(value), source, size)


def in_table_13(system: str) -> dict[str, str]:
    """What XTREME-R's Table 13 has on a system's size and training data; empty where it does not name the system."""
    # That table is of the largest models, and names some without their size.
    name = _IN_TABLE_13.get(system, system)
    return next((row for row in table("systems") if row["system"] == name), {})


@cache
def parameters_of(system: str) -> float | None:
    """Millions of parameters as XTREME-R's Table 13 has them, or as the name itself says; None where neither does."""
    if row := in_table_13(system):
        return float(row["parameters_millions"])
    size = _SIZE.search(system)
    if size is None:
        return None
    millions = float(f"{size[1]}.{size[3]}" if size[3] else size[1])
    return millions * (1000 if size[2].lower() == "b" else 1)


@cache
def human_score(task: str, metric: str) -> float | None:
    """The published estimate of human performance on a task, the same for all its languages; None where none is known.

    It is an English figure for XNLI, XQuAD, MLQA and PAWS-X, as both papers have it in their main tables.
    """
    return published_average("Human", "human", task, metric)


@cache
def in_language_score(system: str, task: str, metric: str) -> float | None:
    """The published average of a system that was trained in each language itself (XTREME, Table 2)."""
    return published_average(system, "in-language", task, metric)


def published_average(
    system: str, regime: str, task: str, metric: str, suites: tuple[str, ...] = ("xtreme-r", "xtreme")
) -> float | None:
    """A task's average in the first of some suites' main tables; "score" is the mean of F1 and exact match."""
    for suite in suites:
        for row in overall(suite):
            if (row.system, row.regime) == (system, regime):
                figures = row.metrics.get(task, {})
                values = list(figures.values()) if metric == "score" else [figures[metric]] if metric in figures else []
                # The mean of F1 and exact match needs both.
                if values and (metric != "score" or len(values) > 1):
                    return sum(values) / len(values)
    return None


@cache
def speakers() -> dict[str, float]:
    """Millions of speakers of each language, first and second language together, as estimated in 2012."""
    return {row["language"]: float(row["speakers_millions"]) for row in table("speakers")}
