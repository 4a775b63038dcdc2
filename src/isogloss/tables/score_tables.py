"""Tables of results: averages, languages, families, language pairs, provenance, and comparisons of two systems."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized

from isogloss import figures
from isogloss.figures import MISSING, counted, difference_text, interval_text, score_text
from isogloss.languages.published import overall
from isogloss.reply_outcomes import ReplyCounts
from isogloss.results import averages
from isogloss.results.averages import GroupRow, LanguageGroup, Systems, TransferGapRow, tasks_of
from isogloss.scoring.designs import counted_levels
from isogloss.scoring.main_score import lower_is_better, main_score
from isogloss.scoring.names import language_name
from isogloss.scoring.results import CellScore, PairScores, Results
from isogloss.tables.formatting import interval_notes, left_out_notes
from isogloss.tables.reply_tables import UNPARSED, UNPARSED_NOTE, failure_table, has_replies, reply_notes, unparsed_text
from isogloss.tables.subset_notes import ESTIMATED, ESTIMATED_NOTE, answered_text, subset_notes
from isogloss.tables.table import Table
from isogloss.tasks.registry import task

# Mark of a score on a machine-translated test set, where the others are human.
PSEUDO = "°"
PSEUDO_NOTE = f"{PSEUDO} pseudo test set (machine-translated from English), in no average"
CELL_MARKS = {
    ESTIMATED: ESTIMATED_NOTE,
    "†": "† partial gold, not averaged",
    "‡": "‡ dev split, the others test",
    PSEUDO: PSEUDO_NOTE,
}
# A figure with marks, and optionally its number of languages.
_MARKED = re.compile(r"[+-]?\d+\.\d([~*†‡°]+)(?: \(\d+\))?")
PARTIAL = "* partial: some of its languages or tasks are missing"
PAIR_SUBSETS = ("all", "same language", "different languages")


def score_tables(systems: Systems) -> list[Table]:
    """Return the tables of `isogloss score`, the most important first."""
    tables = [overview_table(systems)]
    failures = failure_table(systems)
    tables += [failures] if failures else []
    tables += [pair_table(systems)] if any(system.record.pairs for system in systems.values()) else []
    cells = [cell for system in systems.values() for cell in system.record.cells]
    if len(cells) > 1 or any(cell.partial for cell in cells):
        tables += [group_table(systems, "family"), language_table(systems)]
    return tables


def only_if_several(shown: Sized, *cells: str) -> tuple[str, ...]:
    """Return cells that name the system, or the pair, if there are several."""
    return cells if len(shown) > 1 else ()


def overview_table(systems: Systems) -> Table:
    """Return task averages, categories and the overall score, with intervals and n; missing cells are noted below."""
    words = ("task", *only_if_several(systems, "system"), "metrics")
    suites = dict.fromkeys(f"{system.record.suite}, {system.record.split}" for system in systems.values())
    who = next(iter(systems)) if len(systems) == 1 else f"{len(systems)} systems"
    title = f"{who} on {'; '.join(suites)}"
    unparsed = [UNPARSED] * has_replies(systems)
    table = Table(title, (*words, "score", "95 %", "n", *unparsed, "languages"), words=len(words))
    for row in averages.average_rows(systems):
        number, is_task = row.score, row.level == "task"
        name = row.name, *only_if_several(systems, row.system), row.detail
        marks = ESTIMATED * (number.on_all is not None) + "*" * row.partial
        score = score_text(number.value) + marks, interval_text(number.low, number.high)
        answered = answered_text(systems[row.system].record, row.name, number.n) if is_task else ""
        share = [unparsed_text(row.replies)] * len(unparsed)
        table.add(*name, *score, answered, *share, row.coverage, strong=not is_task)
    table.notes = [*_by_holders(systems, _notes_of), *direction_notes(tasks_of(systems)), *interval_notes(table)]
    table.notes += [UNPARSED_NOTE] * len(unparsed)
    return table


def _by_holders(systems: Systems, notes_of: Callable[[Results], list[str]]) -> list[str]:
    """Return the notes of all systems; notes that apply to only some systems name them."""
    holders: dict[str, list[str]] = defaultdict(list)
    for name, system in systems.items():
        for note in notes_of(system.record):
            holders[note].append(name)
    return [note if len(names) == len(systems) else f"{', '.join(names)}: {note}" for note, names in holders.items()]


def direction_notes(tasks: Iterable[str]) -> list[str]:
    """Name the tasks in which lower is better."""
    lower = [name for name in tasks if lower_is_better(name)]
    return [f"lower is better: {', '.join(lower)}"] if lower else []


def _notes_of(results: Results) -> list[str]:
    notes: list[str] = []
    if results.overall.note:
        notes.append(results.overall.note)
    elif results.overall.score is not None and results.is_one_cell():
        notes.append(f"no overall score: only one cell of {results.suite} was scored")
    notes += [*_population_notes(results), *_seed_notes(results), *missing_notes(results.overall.missing)]
    notes += [*left_out_notes(results.left_out), *subset_notes(results), *reply_notes(results)]
    partial = [
        f"{cell.task}/{cell.language} (n={max((number.n for number in cell.metrics.values()), default=0)})"
        for cell in results.cells
        if cell.partial
    ]
    notes += [f"partial gold, not averaged: {', '.join(partial)}"] if partial else []
    pseudo: dict[str, list[str]] = defaultdict(list)
    for cell in filter(results.is_apart, results.cells):
        pseudo[cell.task].append(cell.language)
    names = "  ".join(f"{name}/{','.join(codes)}" for name, codes in pseudo.items())
    notes += [f"pseudo test sets (machine-translated from English), not averaged: {names}"] if pseudo else []
    noted: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in results.cells:
        for note in cell.notes:
            noted[cell.task, note].append(cell.language)
    return [*notes, *(f"{name}/{','.join(codes)}: {note}" for (name, note), codes in noted.items())]


def _population_notes(results: Results) -> list[str]:
    """Return the population of a record's intervals, with the design effect of every task."""
    tasks = [average.name for average in results.tasks]
    if results.resample == "example":
        words = dict.fromkeys(f"{word}s" for name in tasks if (word := task(name).cluster))
        same = f" from the same {' and '.join(words)}" if words else ""
        return [f"95 % intervals are for new examples{same}"]
    effects = {average.name: average.design_effect for average in results.tasks}
    by_word: dict[str, list[str]] = defaultdict(list)
    for name in results.clustered:
        effect = effects.get(name)
        by_word[task(name).cluster or "source"].append(name if effect is None else f"{name} {score_text(effect)}")
    if not by_word:
        return []
    parts = [f"{word}s ({', '.join(names)})" for word, names in by_word.items()]
    rest = "" if set(tasks) <= set(results.clustered) else "; elsewhere for new examples"
    notes = [f"95 % intervals are for new {', new '.join(parts)}: design effects in brackets{rest}"]
    if any(cell.task in results.clustered and cell.score in (0, 100) for cell in results.cells):
        either = " or ".join(by_word)
        notes.append(
            f"scores of 0 and 100 count each {either} as one example, since nothing shows how its examples vary"
        )
    return notes


def _seed_notes(results: Results) -> list[str]:
    if len(results.runs) < 2:
        return []
    averages = {average.name: average.score for average in results.tasks}
    top = results.overall.score or (next(iter(averages.values())) if len(averages) == 1 else None)
    note = f"means over {counted_levels(results.runs)}"
    if top is not None and top.spread:
        deviations = ", ".join(
            f"{score_text(each.sd)} points" + f" between {factor}s" * (len(top.spread) > 1)
            for factor, each in top.spread.items()
        )
        rest = 1 - sum(each.share for each in top.spread.values())
        shares = ", ".join(f"{each.share:.0%} is due to the {factor}s" for factor, each in top.spread.items())
        note += f": standard deviation {deviations}; of the variance of their mean {shares}, {rest:.0%} to the test set"
    return [note]


def missing_notes(missing: Sequence[str]) -> list[str]:
    """Explain the star next to a figure by the missing tasks and cells, grouped by task."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for name in missing:
        task_name, _, code = name.partition("/")
        by_task[task_name] += [code] if code else []
    names = "  ".join(f"{name}/{','.join(codes)}" if codes else name for name, codes in by_task.items())
    return [f"* partial, missing: {names}"] if missing else []


def partial_notes(systems: Systems) -> list[str]:
    """Explain the star next to a figure, for each incomplete system."""
    return _by_holders(systems, lambda results: missing_notes(results.overall.missing))


def partial_summary(systems: Systems) -> list[str]:
    """Return the notes in short form, one line per system, for charts."""
    lines = []
    for name, system in systems.items():
        missing = system.record.overall.missing
        tasks = sum("/" not in item for item in missing)
        cells = len(missing) - tasks
        counts = [(tasks, "task"), (cells, "other cell" if tasks else "cell")]
        parts = " and ".join(counted(count, what) for count, what in counts if count)
        lines += [f"* {name}: partial: {parts} missing"] if missing else []
    return lines


def language_table(systems: Systems) -> Table:
    """Return one row per language and system, one column per task; cells of another split are marked."""
    tasks, cells = tasks_of(systems), marked_cells(systems)
    texts = {(cell.language, name, cell.task): score_text(cell.score) + marks for name, cell, marks in cells}
    words = ("code", "language", *only_if_several(systems, "system"))
    unparsed = [UNPARSED] * has_replies(systems)
    table = Table("By language", (*words, *tasks, *unparsed), words=len(words))
    keys = dict.fromkeys((cell.language, name) for name, cell, _ in cells)
    for code, name in sorted(keys, key=lambda key: key[0]):
        scores = [texts.get((code, name, task), MISSING) for task in tasks]
        replies = ReplyCounts.total(
            cell.replies for system, cell, _ in cells if (cell.language, system) == (code, name)
        )
        share = [unparsed_text(replies)] * len(unparsed)
        table.add(code, language_name(code), *only_if_several(systems, name), *scores, *share)
    table.notes = mark_notes("".join(marks for *_, marks in cells))
    return table


def marked_cells(systems: Systems) -> list[tuple[str, CellScore, str]]:
    """Return every cell with the name of its system and the marks of its score: incomplete gold, or another split."""
    return [
        (
            name,
            cell,
            ESTIMATED * bool(cell.subset)
            + "†" * cell.partial
            + "‡" * (system.record.split == "best" and cell.split == "dev")
            + PSEUDO * system.record.is_apart(cell),
        )
        for name, system in systems.items()
        for cell in system.record.cells
    ]


def mark_notes(marked: str) -> list[str]:
    """Explain the marks of cells that occur in a text."""
    return [note for mark, note in CELL_MARKS.items() if mark in marked]


def mark_legend(figures: Iterable[str]) -> str:
    """Explain the marks of figures that occur, in one line."""
    marks = {match[1] for figure in figures if (match := _MARKED.fullmatch(figure))}
    return "; ".join(note for mark, note in {"*": PARTIAL, **CELL_MARKS}.items() if mark in "".join(marks))


def group_table(systems: Systems, by: LanguageGroup) -> Table:
    """Return one row per family (or script) and system: the mean over its languages in each task."""
    tasks, rows = tasks_of(systems), averages.group_rows(systems, by)
    by_key = {(row.group, row.system, row.task): row for row in rows}
    words = (by, *only_if_several(systems, "system"))
    table = Table(f"By {by} (mean over its languages)", (*words, "languages", *tasks), words=len(words))
    for group, size in dict.fromkeys((row.group, row.size) for row in rows):
        for name in systems:
            means = [by_key.get((group, name, task)) for task in tasks]
            if any(means):
                fewer = [f" ({row.languages})" if row and row.languages < size else "" for row in means]
                scores = [score_text(row.score) + _row_marks(row) if row else MISSING for row in means]
                texts = map("".join, zip(scores, fewer, strict=True))
                table.add(group, *only_if_several(systems, name), str(size), *texts)
    if any("(" in cell for row in table.rows for cell in row[len(words) :]):
        table.notes = ["brackets: number of languages averaged"]
    table.notes += _row_notes(systems, rows)
    return table


def _row_marks(row: GroupRow | TransferGapRow) -> str:
    return ESTIMATED * row.estimated + "*" * row.partial


def _row_notes(systems: Systems, rows: Sequence[GroupRow | TransferGapRow]) -> list[str]:
    """Explain the marks of rows."""
    partial = partial_notes(systems) if any(row.partial for row in rows) else []
    return [*partial, *([ESTIMATED_NOTE] if any(row.estimated for row in rows) else [])]


def gap_table(systems: Systems) -> Table:
    """Return English against the mean of the other languages, task by task."""
    words = ("task", *only_if_several(systems, "system"))
    table = Table("Transfer gap", (*words, "English", "others", "gap", "95 %", "languages"), words=len(words))
    rows = averages.gap_rows(systems)
    for row in rows:
        star = _row_marks(row)
        scores = score_text(row.english), score_text(row.others) + star, difference_text(row.gap) + star
        interval = figures.difference_interval_text(row.low, row.high)
        table.add(row.task, *only_if_several(systems, row.system), *scores, interval, row.coverage)
    table.notes = ["languages: number of other languages; tasks without English have no gap"]
    table.notes += _row_notes(systems, rows)
    lower = direction_notes(dict.fromkeys(row.task for row in rows))
    table.notes += [f"{note}; there, a gap below zero is a loss" for note in lower]
    if any(row.low is None for row in rows):
        why = "too few examples, no variation, or a record of an earlier version"
        table.notes.append(f"{figures.NO_INTERVAL} no interval: {why}")
    return table


def pair_table(systems: Systems) -> Table:
    """Return retrieval within and across languages, pooled over all queries."""
    words = ("task", *only_if_several(systems, "system"), "metric")
    table = Table("Retrieval by language of query and target (pooled)", (*words, *PAIR_SUBSETS), words=len(words))
    for name, system in systems.items():
        for scores in system.record.pairs:
            numbers = map(scores.subsets.get, PAIR_SUBSETS)
            texts = (f"{score_text(n.value)} [{interval_text(n.low, n.high)}]" if n else MISSING for n in numbers)
            table.add(scores.task, *only_if_several(systems, name), scores.metric, *texts)
    return table


def pair_matrix_table(task: str, by_system: Mapping[str, PairScores]) -> Table:
    """Return one task's scores by language of the query (rows) and of the target (columns)."""
    targets = sorted({target for scores in by_system.values() for row in scores.matrix.values() for target in row})
    words = ("code", "language", *only_if_several(by_system, "system"))
    table = Table(f"{task}: query by target", (*words, *targets), words=len(words))
    for query in sorted({query for scores in by_system.values() for query in scores.matrix}):
        for name, scores in by_system.items():
            numbers = [scores.matrix.get(query, {}).get(target) for target in targets]
            shown = [score_text(number.value if number else None) for number in numbers]
            table.add(query, language_name(query), *only_if_several(by_system, name), *shown)
    if any(scores.metric == "one-target" for scores in by_system.values()):
        table.notes.append("one-target: MRR@20 of each right answer, with the others removed")
    return table


def provenance_tables(systems: Systems) -> dict[str, Table]:
    """Return metadata, missing cells and the signature of every cell."""
    about = Table("Systems", ("system", "what", "value"), words=3)
    missing = Table("Missing tasks and cells", ("system", "average", "missing"), words=3)
    left_out = Table("Predictions left out", ("system", "answers", "reason", "what to do"), words=4)
    signatures = Table("Signatures", ("system", "task", "code", "language", "signature"), words=5)
    for name, system in systems.items():
        results = system.record
        facts = {**results.system, "suite": results.suite, "split": results.split, "isogloss": results.isogloss}
        for key, value in {**facts, "schema version": results.schema_version}.items():
            about.add(name, key, str(value))
        averages = [(average.name, average.missing) for average in (*results.tasks, *results.categories)]
        for average, parts in (*averages, ("overall", results.overall.missing)):
            if parts:
                missing.add(name, average, " ".join(parts))
        for item in results.left_out:
            where = f"{item.task}/{item.language} {item.split}" if item.task else item.path
            left_out.add(name, where, item.reason, item.fix)
        for cell in results.cells:
            signatures.add(name, cell.task, cell.language, language_name(cell.language), cell.signature)
    tables = {"systems": about, "missing": missing, "left-out": left_out, "signatures": signatures}
    return {name: table for name, table in tables.items() if table.rows or name in ("systems", "signatures")}


def published_table(results: Results) -> Table:
    """Return task averages of the suite `mini` next to the papers' systems on the real tasks, for orientation only."""
    published = [row for row in overall("xtreme-r") if row.regime == "zero-shot" and row.average is not None]
    name = str(results.system.get("name", ""))
    table = Table("Next to the published baselines", ("task", f"{name} on mini", *(row.system for row in published)))
    for average in results.tasks:
        real = task(average.name).base_id
        theirs = [score_text(main_score(real, row.metrics[real])) for row in published]
        table.add(real, score_text(average.score.value) + "*" * bool(average.missing), *theirs)
    if results.overall.score is not None:
        ours = score_text(results.overall.score.value) + "*" * results.overall.partial
        table.add("overall", ours, *(score_text(row.average) for row in published), strong=True)
    about = "published figures are reported by the XTREME-R paper on the real tasks: not comparable with mini"
    table.notes = [*missing_notes(results.overall.missing), about]
    return table
