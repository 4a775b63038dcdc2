"""Published systems as entries of a board: their figures as printed, what is known of them, and what does not agree."""

import re
from collections.abc import Collection, Mapping

from isogloss.analysis.published_scores import PAPERS, PublishedScore, in_table_13, published_scores
from isogloss.board.entries import BoardEntry, EntryCell
from isogloss.board.model import OVERALL, SystemErrorRate
from isogloss.languages.published import SUITES, PublishedResult, checklist, overall, table
from isogloss.metrics.aggregate import weighted_mean
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

# The papers print one decimal; a mean of rounded rows may be off by a little more than half of it.
_PRINTED = 0.06
_MAIN_TABLES = {"xtreme-r": "XTREME-R Table 4", "xtreme": "XTREME Table 2"}
# The table by language is XTREME-R's alone: XTREME's systems were other runs.
_BY_LANGUAGE = "xtreme-r"
_KINDS = {"prompted": "llm", "embedding": "retrieval"}
_RANDOM = "baseline-random"
_REVISION = re.compile(r"MTEB, revision [0-9a-f]{12}")


def published_entries(source: str, suite: Suite) -> list[BoardEntry]:
    """The systems of `published`, `published:all`, `published:NAME` … that have figures of a suite's tasks.

    Raises:
        UnknownNameError: no system and no group has that name.
    """
    found: dict[tuple[str, str], BoardEntry] = {}
    scores = published_scores(source)
    for score in scores:
        of_paper = score.source.startswith("XTREME-R ")
        if score.task in suite.tasks and (not of_paper or suite.id == _BY_LANGUAGE):
            place = score.system, score.regime
            if place not in found:
                found[place] = _entry(score)
            _add_score(found[place], score)
    wanted = {(score.system, score.regime) for score in scores}
    whole_group = source.partition(":")[2].lower() in ("", PAPERS, "all")
    for row in overall(suite.id) if suite.id in SUITES else ():
        if row.regime != "human" and (whole_group or (row.system, row.regime) in wanted):
            place = row.system, row.regime
            entry = found.setdefault(place, _named(*place, _MAIN_TABLES[suite.id]))
            _add_averages(entry, row, suite)
    _share_sizes(found.values())
    _add_checklists(found)
    _add_doubts(found, suite)
    return list(found.values())


def _named(system: str, regime: str, source: str) -> BoardEntry:
    """A published system without figures, with all that is known of it."""
    name = system.partition(" [")[0]
    row = in_table_13(name)
    printed: dict[str, object] = {
        "kind": "floor" if _RANDOM in system else _KINDS.get(regime, "encoder"),
        "pretraining_data": row.get("monolingual_data"),
        "parallel_data": row.get("parallel_data"),
        "translated_data": {"zero-shot": False}.get(regime, True if regime.startswith("translate") else None),
    }
    metadata = _known(_paper(name)) | _known(printed)
    if _REVISION.match(source):  # a commit of the model hub: the weights are there
        metadata.setdefault("url", f"https://huggingface.co/{system}")
        if _RANDOM not in system:
            metadata.setdefault("open_weights", True)
    return BoardEntry(system, regime, metadata, reported=True, source=source)


def _known(facts: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in facts.items() if value not in (None, "")}


def _entry(score: PublishedScore) -> BoardEntry:
    source = re.sub(r"^(XTREME-R) Table \d+", r"\1 Tables 4, 15–24", score.source)
    entry = _named(score.system, score.regime, source)
    if score.parameters is not None:
        entry.metadata["parameters"] = score.parameters
    return entry


def _share_sizes(entries: Collection[BoardEntry]) -> None:
    """A model has one size in all regimes, also where a table printed it for one of them alone."""
    sizes = {entry.name: entry.metadata["parameters"] for entry in entries if "parameters" in entry.metadata}
    for entry in entries:
        if entry.name in sizes:
            entry.metadata.setdefault("parameters", sizes[entry.name])


def _paper(name: str) -> dict[str, object]:
    """What is known of the model that a name begins with, of several the longest: its paper, size, data and licence."""
    rows = [row for row in table("model_papers") if re.match(rf"{re.escape(row['model'])}(?![A-Za-z])", name)]
    if not rows:
        return {}
    row = max(rows, key=lambda row: len(row["model"]))
    found: dict[str, object] = {
        key: row[key] for key in ("paper", "url", "pretraining_data", "parallel_data", "licence")
    }
    found["year"] = int(row["year"])
    found["open_weights"] = {"yes": True, "no": False}.get(row["open_weights"])
    if row["parameters_millions"]:
        found["parameters"] = float(row["parameters_millions"])
    return found


def _add_score(entry: BoardEntry, score: PublishedScore) -> None:
    cell = entry.cells.setdefault((score.task, score.language), EntryCell({}))
    count = task(score.task).expected(score.language, "test") or 0
    cell.metrics[score.metric] = Number(score.value, None, None, count)


def _add_averages(entry: BoardEntry, row: PublishedResult, suite: Suite) -> None:
    """The figures of the paper's main table, and a note where those by language do not give them."""
    main_table = _MAIN_TABLES[suite.id]
    for name, figures in row.metrics.items():
        main = task(name).main
        if name not in suite.tasks:
            continue
        if set(main) <= set(figures):
            value = sum(figures[metric] for metric in main) / len(main)
            entry.averages[name] = Number(value, None, None, _examples(name, suite))
        for metric, printed in figures.items():
            of_rows = _mean_of_rows(entry, name, metric, suite)
            if of_rows is not None and abs(of_rows - printed) > _PRINTED:
                entry.footnotes.append(
                    (name, f"{main_table} prints {metric} {printed}; the scores by language give {of_rows:.1f}")
                )
    if row.average is not None:
        entry.averages[OVERALL] = Number(row.average, None, None, 0)


def _examples(name: str, suite: Suite) -> int:
    return sum(task(name).expected(code, "test") or 0 for code in suite.languages_of(name))


def _mean_of_rows(entry: BoardEntry, name: str, metric: str, suite: Suite) -> float | None:
    numbers = [entry.metric(name, code, metric) for code in suite.languages_of(name)]
    values = [number.value for number in numbers if number is not None]
    return weighted_mean(values, [1.0] * len(values)) if len(values) == len(numbers) else None


def _add_checklists(entries: Mapping[tuple[str, str], BoardEntry]) -> None:
    for row in checklist():
        if (entry := entries.get((row.system, "zero-shot"))) is not None:
            entry.checklist.append(SystemErrorRate(row.test, row.language, row.error_rate))


def _add_doubts(entries: Mapping[tuple[str, str], BoardEntry], suite: Suite) -> None:
    """Averages that a table prints and its own rows do not give; and what looks wrong, but was kept."""
    for row in table("printed_averages"):
        entry = entries.get((row["system"], row["regime"]))
        mean = None if entry is None else _mean_of_rows(entry, row["task"], row["metric"], suite)
        if entry is not None and mean is not None and abs(mean - float(row["value"])) > _PRINTED:
            text = f"{row['source_table']} prints an average of {row['value']}; its rows give {mean:.1f}"
            entry.footnotes.append((row["task"], text))
    for row in table("doubts"):
        if (entry := entries.get((row["system"], row["regime"]))) is not None:
            entry.footnotes.append((row["task"], row["text"]))
