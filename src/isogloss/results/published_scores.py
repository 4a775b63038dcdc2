"""Published scores by language: the papers' tables, further systems from their own papers, embedders from MTEB."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import fmean
from typing import Any

from isogloss.errors import unknown
from isogloss.languages import known_language
from isogloss.languages.published import SUITES, PublishedResult, checklist, checklist_task, overall, table
from isogloss.results.published_footnotes import MAIN_TABLES, published_footnotes
from isogloss.results.system import OVERALL, CellResult, SystemErrorRate, SystemResult
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

# Only XTREME-R prints scores by language; XTREME's systems were other runs, some of which another paper quotes.
_BY_LANGUAGE = "xtreme-r"
_QUOTED_RUNS = {"xtreme": " [XTREME in ERNIE-M]"}
_KINDS = {"prompted": "llm", "embedding": "retrieval"}
_RANDOM = "baseline-random"
_REVISION = re.compile(r"MTEB, revision [0-9a-f]{12}")
# System and regime, or task and language.
_Key = tuple[str, str]
WORD = "published"
_IN_TABLE_13 = {
    "mT5-XXL": "mT5",
    "ERNIE-M Large": "ERNIE-M",
    "VECO Large": "VECO",
    "T-URLv2": "T-URLv2 + StableTune",
}
# Groups of systems.
PAPERS, FURTHER, EMBEDDERS, REPEATED, ALL = "papers", "further", "mteb", "keung", "all"
# Error rates on MultiCheckList; of all tests, and of those that can be passed.
CHECKLIST, PASSABLE = "checklist", "checklist-passable"
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
    """Return the scores of `published` (the papers' tables), of a group such as `published:further`, or of a system.

    Raises:
        UnknownNameError: unknown system or group.
    """
    name = source.partition(":")[2] or PAPERS
    if name.lower() in _GROUPS:
        return list(_GROUPS[name.lower()]())
    # A model without scores by language in the papers may have some in other sources, such as XLM [ERNIE-M].
    scores = _named(name, lambda score: score.system) or _named(name, lambda score: score.system.partition(" [")[0])
    if not scores:
        raise unknown("published system", name, {*_GROUPS, *(score.system.lower() for score in _all())})
    return scores


def _named(name: str, name_of: Callable[[PublishedScore], str]) -> list[PublishedScore]:
    """Return the scores of a system, in all regimes unless the name ends in one."""
    wanted = name.casefold()
    return [one for one in _all() if wanted in (name_of(one).casefold(), f"{name_of(one)}, {one.regime}".casefold())]


@cache
def _all() -> tuple[PublishedScore, ...]:
    return (*_papers(), *_further(), *_embedders())


def _papers() -> Iterator[PublishedScore]:
    for row in table("per_language"):
        yield _score(row, row["source_table"])


def _further() -> Iterator[PublishedScore]:
    # Names in the papers' tables belong to the papers, also those without scores by language.
    names = [row["system"] for row in table("per_language")]
    owner = dict.fromkeys([*names, *(row.system for suite in SUITES for row in overall(suite))], "")
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


def _checklist() -> Iterator[PublishedScore]:
    """Yield the published error rates, as scores of the released tests."""
    for row in checklist():
        yield PublishedScore(
            system=row.system,
            regime="zero-shot",
            task=checklist_task(row.test),
            language=row.language,
            metric="error_paper",
            value=row.error_rate,
            source=row.source,
            parameters=parameters_of(row.system),
        )


def _passable() -> Iterator[PublishedScore]:
    return (score for score, row in zip(_checklist(), checklist(), strict=True) if not row.defect)


def _repeated() -> Iterator[PublishedScore]:
    """Yield the results that several papers report for one model, as collected by Keung et al.; not in `all`."""
    for row in table("keung"):
        # Table 1 is a part of Table 5, and Tables 2 to 4 are of other runs.
        if row["source_table"].endswith(("Table 5", "Table 6", "Table 7", "Table 8")) and row["row"] != "Δ":
            yield _score({**row, "regime": "zero-shot"}, row["source_table"], f"{row['system']} [{row['row']}]")


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
    REPEATED: _repeated,
    ALL: _all,
    CHECKLIST: _checklist,
    PASSABLE: _passable,
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
def human_overall(suite_id: str) -> float | None:
    """Return an overall human score of our own: the mean over categories of a suite's human scores, or None.

    The papers print human scores by task only. Tasks and categories without one are left out, and a task with one of
    two metrics counts with that.
    """
    by_category: dict[str, list[float]] = defaultdict(list)
    for row in overall(suite_id) if suite_id in SUITES else ():
        for name, figures in row.metrics.items() if row.regime == "human" else ():
            by_category[task(name).category].append(fmean(figures.values()))
    return fmean(map(fmean, by_category.values())) if by_category else None


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


def speakers_in_millions(codes: Iterable[str]) -> dict[str, float]:
    """Return millions of speakers of languages: those of `speakers`, or the registry's for languages it lacks."""
    published = speakers()
    numbers = {}
    for code in codes:
        entry = known_language(code)
        millions = entry.speakers / 1e6 if entry and entry.speakers else None
        if number := published.get(code, millions):
            numbers[code] = number
    return numbers


def read_published(source: str, suite: Suite | None = None) -> list[SystemResult]:
    """Read the systems of `published`, `published:all`, `published:NAME`, … .

    With a suite, scores are restricted to it, and averages, footnotes and further systems come from its paper's main
    table. An unknown name raises UnknownNameError.
    """
    scores = _own_runs(published_scores(source), suite)
    is_group = source.partition(":")[2].lower() in ("", PAPERS, ALL)
    if suite is not None and is_group:  # which restricts the tasks
        scores += _checklist()
    plain = _by_language(scores, suite)
    if suite is None:
        return list(plain.values())
    names = {(score.system, score.regime) for score in scores}
    main_table = {
        (row.system, row.regime): row
        for row in (overall(suite.id) if suite.id in SUITES else ())
        if row.regime != "human" and (is_group or (row.system, row.regime) in names)
    }
    systems = plain | {
        (name, regime): SystemResult(name=name, regime=regime, reported=True, source=MAIN_TABLES[suite.id])
        for name, regime in main_table
        if (name, regime) not in plain
    }
    metadata = {key: _metadata(*key, system.source) for key, system in systems.items()}
    for key, system in plain.items():
        if system.parameters is not None:
            metadata[key]["parameters"] = system.parameters
    # A model has the same size in all regimes.
    sizes = {name: facts["parameters"] for (name, _), facts in metadata.items() if "parameters" in facts}
    for (name, _), facts in metadata.items():
        if name in sizes:
            facts.setdefault("parameters", sizes[name])
    error_rates: dict[_Key, list[SystemErrorRate]] = defaultdict(list)
    for row in checklist():
        rate = SystemErrorRate(test=row.test, language=row.language, value=row.error_rate)
        error_rates[row.system, "zero-shot"].append(rate)
    return [
        replace(
            system,
            metadata=metadata[key],
            averages=_averages(main_table[key], suite) if key in main_table else {},
            checklist=tuple(error_rates.get(key, ())),
            footnotes=tuple(published_footnotes(key, system.cells, main_table.get(key), suite)),
        )
        for key, system in systems.items()
    ]


def _own_runs(scores: Sequence[PublishedScore], suite: Suite | None) -> list[PublishedScore]:
    """Return the scores with quoted runs under the names that they have in the suite's main table."""
    quoted = _QUOTED_RUNS.get(suite.id, "") if suite else ""
    return [replace(score, system=score.system.removesuffix(quoted)) if quoted else score for score in scores]


def _by_language(scores: Sequence[PublishedScore], suite: Suite | None) -> dict[_Key, SystemResult]:
    """Return the systems with scores by language that are comparable with the suite."""
    by_system: dict[_Key, dict[_Key, list[PublishedScore]]] = defaultdict(lambda: defaultdict(list))
    for score in scores:
        is_other_run = score.source.startswith("XTREME-R ") and not score.task.startswith(CHECKLIST)
        is_comparable = suite is None or not is_other_run or suite.id == _BY_LANGUAGE
        if is_comparable and (suite is None or score.task in suite.tasks):
            by_system[score.system, score.regime][score.task, score.language].append(score)
    systems = {}
    for (name, regime), rows_by_cell in by_system.items():
        first = next(iter(rows_by_cell.values()))[0]
        cells = {}
        for (task_id, code), rows in rows_by_cell.items():
            scored, entry, source = task(task_id), known_language(code), rows[0].source
            n = scored.expected(code, "test") or 0
            metrics = {row.metric: Number(row.value, None, None, n) for row in rows}
            cells[task_id, code] = CellResult(task=scored, code=code, language=entry, metrics=metrics, source=source)
        source = re.sub(r"^(XTREME-R) Table (1[5-9]|2\d)", r"\1 Tables 4, 15–24", first.source)
        source = re.sub(r"^XTREME in (.*)", r"XTREME Table 2; by language as quoted in \1", source)
        systems[name, regime] = SystemResult(
            name=name, regime=regime, cells=cells, parameters=first.parameters, reported=True, source=source
        )
    return systems


def _metadata(system: str, regime: str, source: str) -> dict[str, Any]:
    name = system.partition(" [")[0]
    row = in_table_13(name)
    facts = _paper(name)
    printed = {
        "kind": "floor" if _RANDOM in system else _KINDS.get(regime) or facts.get("kind", "encoder"),
        "pretraining_data": row.get("monolingual_data"),
        "parallel_data": row.get("parallel_data"),
        "translated_data": {"zero-shot": False}.get(regime, True if regime.startswith("translate") else None),
    }
    facts |= {key: value for key, value in printed.items() if value not in (None, "")}
    if _REVISION.match(source):  # a commit on the model hub, so the weights are there
        facts.setdefault("url", f"https://huggingface.co/{system}")
        if _RANDOM not in system:
            facts.setdefault("open_weights", True)
    return facts


def _paper(name: str) -> dict[str, Any]:
    """Return the paper, size, data and licence of the model with the longest name that `name` starts with."""
    rows = [row for row in table("model_papers") if re.match(rf"{re.escape(row['model'])}(?![A-Za-z])", name)]
    if not rows:
        return {}
    row = max(rows, key=lambda row: len(row["model"]))
    words = ("paper", "url", "pretraining_data", "parallel_data", "licence", "kind")
    facts: dict[str, Any] = {key: row[key] for key in words}
    facts["year"] = int(row["year"])
    facts["open_weights"] = {"yes": True, "no": False}.get(row["open_weights"])
    if row["parameters_millions"]:
        facts["parameters"] = float(row["parameters_millions"])
    return {key: value for key, value in facts.items() if value not in (None, "")}


def _averages(row: PublishedResult, suite: Suite) -> dict[str, Number]:
    averages = {}
    for name, member in suite.members.items():
        figures = row.metrics.get(name, {})
        if figures and set(member.main) <= set(figures):
            value = sum(figures[metric] for metric in member.main) / len(member.main)
            count = sum(member.expected(code, "test") or 0 for code in suite.languages_of(name))
            averages[name] = Number(value, None, None, count)
    if row.average is not None:
        averages[OVERALL] = Number(row.average, None, None, 0)
    return averages
