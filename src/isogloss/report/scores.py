"""Tables of a result record: overview, by family, by language, language pairs."""

from collections import defaultdict
from statistics import fmean

from isogloss.languages import language
from isogloss.languages.published import overall
from isogloss.metrics.aggregate import task_score
from isogloss.report.tables import Table
from isogloss.scoring.results import CellScore, Number, Results
from isogloss.tasks.registry import task


def score_tables(results: Results) -> list[Table]:
    """Everything there is to say about a record, the most important first."""
    tables = [overview(results)]
    if results.pairs:
        tables.append(pairs(results))
    if len(results.cells) > 1 or any(cell.partial for cell in results.cells):
        tables += [by_family(results), by_language(results)]
    return tables


def figure(number: Number | None) -> str:
    """A score with one decimal."""
    return "" if number is None else f"{number.value:.1f}"


def span(number: Number) -> str:
    """Its interval."""
    return f"{number.low:.1f}–{number.high:.1f}"


def overview(results: Results) -> Table:
    """Task averages, categories and the overall figure, with n and intervals; what is missing stands below."""
    name = str(results.system.get("name", ""))
    table = Table(
        f"{name} on {results.suite}, {results.split}",
        ("task", "metrics", "score", "95 %", "n", "languages"),
        words=2,
    )
    for average in results.tasks:
        metrics = "  ".join(f"{key} {value.value:.1f}" for key, value in average.metrics.items())
        total = len(average.members) + len(average.missing)
        marked = figure(average.score) + ("*" if average.missing else "")
        languages = f"{len(average.members)}/{total}"
        table.add(average.name, metrics, marked, span(average.score), f"{average.score.n:,}", languages)
    for average in results.categories:
        marked = figure(average.score) + ("*" if average.missing else "")
        table.add(average.name, "", marked, span(average.score), "", "", strong=True)
    if results.overall.score is not None:
        mark = "*" if results.overall.partial else ""
        rule = f"rule: {results.overall.rule}"
        score = results.overall.score
        table.add("overall", rule, figure(score) + mark, span(score), "", "", strong=True)
    table.notes = _notes(results)
    return table


def _notes(results: Results) -> list[str]:
    notes: list[str] = []
    if results.overall.note:
        notes.append(results.overall.note)
    if results.overall.missing:
        notes.append(f"* partial, missing: {_listed(results.overall.missing)}")
    partial = [f"{cell.task}/{cell.language} (n={_n(cell)})" for cell in results.cells if cell.partial]
    if partial:
        notes.append(f"partial gold, in no average: {', '.join(partial)}")
    grouped: dict[tuple[str, str], list[str]] = defaultdict(list)
    for cell in results.cells:
        for note in cell.notes:
            grouped[cell.task, note].append(cell.language)
    notes += [f"{name}/{','.join(codes)}: {note}" for (name, note), codes in grouped.items()]
    return notes


def _n(cell: CellScore) -> int:
    return max((number.n for number in cell.metrics.values()), default=0)


def _listed(missing: list[str]) -> str:
    """Missing cells grouped by task: `xnli/sw,ur  mewslix`."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for name in missing:
        of, _, code = name.partition("/")
        by_task[of] += [code] if code else []
    return "  ".join(f"{of}/{','.join(codes)}" if codes else of for of, codes in by_task.items())


def cell_score(cell: CellScore) -> float:
    """The one figure of a cell: the mean of the metrics the task is known by."""
    return fmean(cell.metrics[name].value for name in task(cell.task).main)


def _tasks(results: Results) -> list[str]:
    return list(dict.fromkeys(cell.task for cell in results.cells))


def by_language(results: Results) -> Table:
    """One row a language, one column a task; cells of another split than asked are marked."""
    tasks = _tasks(results)
    table = Table("By language", ("", "language", *tasks), words=2)
    found = {(cell.language, cell.task): cell for cell in results.cells}
    for code in sorted({cell.language for cell in results.cells}):
        cells = [found.get((code, name)) for name in tasks]
        table.add(code, language(code).name, *(_marked(cell, results.split) for cell in cells))
    if any(cell.partial for cell in results.cells):
        table.notes.append("† partial gold")
    if results.split == "best" and any(cell.split == "dev" for cell in results.cells):
        table.notes.append("‡ dev, the others test")
    return table


def _marked(cell: CellScore | None, split: str) -> str:
    if cell is None:
        return "·"
    mark = ("†" if cell.partial else "") + ("‡" if split == "best" and cell.split == "dev" else "")
    return f"{cell_score(cell):.1f}{mark}"


def by_family(results: Results) -> Table:
    """One row a family: the mean over its languages, which differ in number from task to task."""
    tasks = _tasks(results)
    table = Table("By family (mean over its languages)", ("family", "languages", *tasks), words=1)
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    members: dict[str, set[str]] = defaultdict(set)
    for cell in results.cells:
        if results.in_average(cell):
            family = language(cell.language).family
            members[family].add(cell.language)
            scores[family, cell.task].append(cell_score(cell))
    for family in sorted(members, key=lambda name: (-len(members[name]), name)):
        values = [scores.get((family, name)) for name in tasks]
        table.add(family, str(len(members[family])), *(f"{fmean(v):.1f}" if v else "·" for v in values))
    return table


def beside_published(results: Results) -> Table:
    """Task averages of the suite `mini` beside the papers' systems on the real tasks: a look, not a comparison."""
    published = [row for row in overall("xtreme-r") if row.regime == "zero-shot" and row.average is not None]
    name = str(results.system.get("name", ""))
    table = Table("Beside the published baselines", ("task", f"{name} on mini", *(row.system for row in published)))
    for average in results.tasks:
        real = task(average.name).base_id
        theirs = [f"{task_score(row.metrics[real]):.1f}" for row in published]
        table.add(real, figure(average.score), *theirs)
    if results.overall.score is not None:
        theirs = [f"{row.average:.1f}" for row in published]
        table.add("overall", figure(results.overall.score), *theirs, strong=True)
    table.notes = ["published figures are reported by the XTREME-R paper on the real tasks: not comparable with mini"]
    return table


def pairs(results: Results) -> Table:
    """Retrieval within and across languages, pooled over all queries."""
    names = ("all", "same language", "different languages")
    table = Table("Retrieval by language of query and target (pooled)", ("task", "metric", *names), words=2)
    for scores in results.pairs:
        cells = [scores.subsets.get(name) for name in names]
        table.add(scores.task, scores.metric, *(f"{figure(n)} [{span(n)}]" if n else "·" for n in cells))
    return table
