"""Published scores by language: the papers' tables, further systems from their own papers, embedders from MTEB."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from isogloss.errors import unknown
from isogloss.languages.published import overall, table

WORD = "published"
# Groups of systems.
_IN_TABLE_13 = {"mT5-XXL": "mT5", "ERNIE-M Large": "ERNIE-M", "VECO Large": "VECO"}
PAPERS, FURTHER, EMBEDDERS, ALL = "papers", "further", "mteb", "all"
# Model size in a name: 560M, 7.5B, 7b1 (7.1 billion).
_SIZE = re.compile(r"(?:^|[-_/ ])(\d+(?:\.\d+)?)([bm])(\d?)(?![a-z0-9])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class PublishedScore:
    """A published score, 0..100.

    Attributes:
        system: name, followed by the source in brackets if the papers or an earlier source have the same name.
        regime: training regime. Besides the usual ones: "prompted" (no fine-tuning), "embedding" (distances of
            sentence vectors, no fine-tuning), and names of other training data.
        source: table or repository.
        parameters: millions of parameters, if known from the papers or the name.
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
    """Return True for `published` and `published:NAME`."""
    return source.partition(":")[0] == WORD


def published_scores(source: str) -> list[PublishedScore]:
    """Return the scores of `published` (the papers' tables), of a group, or of a system in all regimes.

    Args:
        source: "published", "published:further", "published:mteb", "published:all" or "published:NAME".

    Raises:
        UnknownNameError: unknown system or group.
    """
    name = source.partition(":")[2] or PAPERS
    if name.lower() in _GROUPS:
        return list(_GROUPS[name.lower()]())
    scores = [
        score
        for score in _all()
        if name.casefold() in (score.system.casefold(), f"{score.system}, {score.regime}".casefold())
    ]
    if not scores:
        raise unknown("published system", name, {*_GROUPS, *(score.system.lower() for score in _all())})
    return scores


@cache
def _all() -> tuple[PublishedScore, ...]:
    return (*_papers(), *_further(), *_embedders())


def _papers() -> Iterator[PublishedScore]:
    for row in table("per_language"):
        yield _score(row, row["source_table"])


def _further() -> Iterator[PublishedScore]:
    owner = dict.fromkeys((row["system"] for row in table("per_language")), "")
    for row in table("further_systems"):
        system, source = row["system"], row["source"]
        shown = system if owner.setdefault(system, source) == source else f"{system} [{source}]"
        yield _score(row, source, shown)


def _embedders() -> Iterator[PublishedScore]:
    for row in table("mteb_tatoeba"):
        shared = {"system": row.pop("model"), "regime": "embedding", "task": "tatoeba", "metric": "accuracy"}
        source = f"MTEB, revision {row.pop('revision')[:12]}"
        for code, value in row.items():
            if value:
                yield _score({**shared, "language": code, "value": value}, source)


def _score(row: Mapping[str, str], source: str, shown: str = "") -> PublishedScore:
    return PublishedScore(
        system=shown or row["system"],
        value=float(row["value"]),
        source=source,
        parameters=parameters_of(row["system"]),
        **{key: row[key] for key in ("regime", "task", "language", "metric")},
    )


_GROUPS: Mapping[str, Callable[[], Iterable[PublishedScore]]] = {
    PAPERS: _papers,
    FURTHER: _further,
    EMBEDDERS: _embedders,
    ALL: _all,
}


def in_table_13(system: str) -> dict[str, str]:
    """Return a system's size and training data from XTREME-R's Table 13; empty if not listed."""
    # The table lists the largest models, some without a size in their name.
    name = _IN_TABLE_13.get(system, system)
    return next((row for row in table("systems") if row["system"] == name), {})


@cache
def parameters_of(system: str) -> float | None:
    """Return millions of parameters from XTREME-R's Table 13 or the name, or None."""
    if row := in_table_13(system):
        return float(row["parameters_millions"])
    size = _SIZE.search(system)
    if size is None:
        return None
    millions = float(f"{size[1]}.{size[3]}" if size[3] else size[1])
    return millions * (1000 if size[2].lower() == "b" else 1)


@cache
def human_score(task: str, metric: str) -> float | None:
    """Return the published estimate of human performance on a task, the same for all languages, or None.

    For XNLI, XQuAD, MLQA and PAWS-X it is an English figure, as in both papers' main tables.
    """
    return published_average("Human", "human", task, metric)


@cache
def in_language_score(system: str, task: str, metric: str) -> float | None:
    """Return the published in-language average of a system (XTREME, Table 2)."""
    return published_average(system, "in-language", task, metric)


def published_average(
    system: str, regime: str, task: str, metric: str, suites: tuple[str, ...] = ("xtreme-r", "xtreme")
) -> float | None:
    """Return a task's average in the first main table that has it; "score" is the mean of F1 and exact match."""
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
    """Return millions of first- and second-language speakers per language, as estimated in 2012."""
    return {row["language"]: float(row["speakers_millions"]) for row in table("speakers")}
