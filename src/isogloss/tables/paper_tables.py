"""Tables as papers print them, by language or task: the best in bold, those not significantly worse underlined."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from isogloss.errors import DataError, unknown
from isogloss.figures import MISSING, score_text
from isogloss.scoring.compare import SystemRuns, compare_systems
from isogloss.scoring.comparison import ScoreContrast
from isogloss.scoring.main_score import SCORE, lower_is_better
from isogloss.scoring.names import language_name
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.scoring.score import JudgedSystem
from isogloss.tables.score_tables import PSEUDO, PSEUDO_NOTE
from isogloss.tables.subset_notes import ESTIMATED, ESTIMATED_NOTE
from isogloss.tables.table import Table
from isogloss.tasks.pseudo_sets import is_pseudo
from isogloss.tasks.registry import task

if TYPE_CHECKING:
    from rich.text import Text

LAYOUTS = ("systems-by-language", "languages-by-system", "systems-by-task")
# Column of averages, and the key of the overall score.
AVERAGE, OVERALL = "Avg.", ("", "")
_NAMES = {"f1": "F1", "em": "EM", "accuracy": "Acc.", "map@20": "mAP@20", SCORE: "score"}
# Marks where there is neither bold nor underlined type.
_PLAIN = {"best": "▲", "tied": "≈", "untested": "†"}
_UNTESTED = "† not tested against the best"
_OTHER_GOLD, _OTHER_GOLD_NOTE = "§", "§ on partial or translated gold: not comparable, in no average"
# More columns than this need both columns of a paper.
_WIDE = 8

# Task and language of a number; no language for a task's average.
NumberKey = tuple[str, str]
# (key, metric, best system, other system, all systems with a number) -> True if significant, None if untested
Test = Callable[[NumberKey, str, str, str, Sequence[str]], bool | None]


class MarkedNumber(NamedTuple):
    """A number in a cell, and its mark.

    "best", "tied" if it is not significantly worse than the best, "untested", or "".
    """

    text: str
    mark: str = ""


@dataclass
class PaperTable(Table):
    """A table with single numbers in bold or underlined, and a LaTeX label; cells are numbers separated by slashes."""

    _: KW_ONLY
    label: str = ""
    is_tested: bool = False  # True if systems were compared by significance tests
    numbers: dict[tuple[int, int], list[MarkedNumber]] = field(default_factory=dict)

    def add_numbers(self, name: str, cells: Sequence[list[MarkedNumber]]) -> None:
        """Add a row of numbers with their marks."""
        for column, numbers in enumerate(cells, 1):
            self.numbers[len(self.rows), column] = numbers
        self.add(name, *(" / ".join(number.text for number in numbers) for numbers in cells))

    def styled(self, row: int, column: int, escape: Callable[[str], str], styles: Mapping[str, str]) -> str:
        """Return a cell with its numbers in the styles of their marks."""
        numbers = self.numbers.get((row, column))
        if numbers is None:
            return super().styled(row, column, escape, styles)
        return " / ".join(styles.get(number.mark, "{}").format(escape(number.text)) for number in numbers)

    @property
    def has_marks(self) -> bool:
        """True if any number is marked as the best."""
        return self._has("best")

    @property
    def has_untested(self) -> bool:
        """True if a number could not be tested against the best."""
        return self._has("untested")

    def _has(self, mark: str) -> bool:
        return any(number.mark == mark for numbers in self.numbers.values() for number in numbers)

    def rich_cell(self, row: int, column: int) -> "Text":
        """Return a cell for the terminal, in bold and underlined type."""
        from rich.text import Text

        styles, parts = {"best": "bold", "tied": "underline"}, Text()
        for index, number in enumerate(self.numbers.get((row, column), [MarkedNumber(self.rows[row][column])])):
            parts.append(" / " * bool(index)).append(number.text, styles.get(number.mark))
            parts.append(_PLAIN["untested"] * (number.mark == "untested"))
        return parts

    def plain(self) -> str:
        """Return plain text with signs instead of bold and underlined type."""
        styles = {mark: f"{{}}{sign}" for mark, sign in _PLAIN.items()}
        rows: list[Sequence[str]] = [
            [self.styled(row, column, str, styles) for column in range(len(cells))]
            for row, cells in enumerate(self.rows)
        ]
        legend = f"{_PLAIN['best']} best" + f"; {_PLAIN['tied']} not significantly worse" * self.is_tested
        notes = [*([legend] if self.has_marks else []), *self.notes]
        return Table(self.title, self.header, rows=rows, words=self.words, notes=notes).plain()

    def latex(self, siunitx: bool = False) -> str:
        """Return a booktabs table with caption and label; `siunitx` aligns single numbers at the decimal point."""
        wide = "*" * (len(self.header) > _WIDE)
        single = [
            all(len(self.numbers.get((row, column), ())) == 1 for row in range(len(self.rows)))
            for column in range(len(self.header))
        ]
        aligned = [siunitx and column >= self.words and single[column] for column in range(len(self.header))]
        kinds = ["l" if column < self.words else "S" if aligned[column] else "r" for column in range(len(self.header))]
        escape = self.latex_escape
        head = [f"{{{escape(cell)}}}" if aligned[at] else escape(cell) for at, cell in enumerate(self.header)]
        lines = [rf"\begin{{table{wide}}}", r"\centering", rf"\begin{{tabular}}{{{''.join(kinds)}}}", r"\toprule"]
        lines += [" & ".join(head) + r" \\", r"\midrule"]
        plain = {"best": r"\textbf{{{}}}", "tied": r"\underline{{{}}}", "untested": r"{}\textsuperscript{{†}}"}
        in_column = {"best": r"\bfseries {}"}
        for row in range(len(self.rows)):
            cells = [
                _decimal(self.numbers[row, column][0], in_column, plain)
                if aligned[column]
                else self.styled(row, column, escape, plain)
                for column in range(len(self.header))
            ]
            lines.append(" & ".join(cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escape(self._caption())}}}"]
        lines += [rf"\label{{{self.label}}}"] * bool(self.label) + [rf"\end{{table{wide}}}"]
        needs = r"% \usepackage{booktabs}" + r" \usepackage{siunitx} \sisetup{detect-weight=true}" * any(aligned)
        return "\n".join([needs, *lines])

    def _caption(self) -> str:
        sentences = [self.title]
        if self.has_marks:
            sentences.append("Bold: best")
        if self.is_tested:
            sentences[-1] += "; underlined: not significantly worse at the 5 % level (tests of all pairs, Holm)"
        return f"{'. '.join([*sentences, *self.notes])}."


def _decimal(number: MarkedNumber, in_column: Mapping[str, str], plain: Mapping[str, str]) -> str:
    """Return a number for a decimal column; what siunitx cannot align is set in braces."""
    is_number = number.text.replace(".", "", 1).isdecimal()
    if is_number and number.mark in ("", "best"):
        return in_column.get(number.mark, "{}").format(number.text)
    return "{" + plain.get(number.mark, "{}").format(Table.latex_escape(number.text)) + "}"


def checked_layout(layout: str) -> str:
    """Return the name of a layout; raise an error with the nearest names if it is unknown."""
    if layout not in LAYOUTS:
        raise unknown("layout", layout, LAYOUTS)
    return layout


def chosen_metrics(tasks: Iterable[str], metrics: str, records: Iterable[Results]) -> dict[str, tuple[str, ...]]:
    """Return the metrics to print for each task: those named as `f1/em`, or else the task's main metrics.

    Raises:
        UnknownNameError: a metric that no task has.
    """
    known = {(cell.task, name) for record in records for cell in record.cells for name in cell.metrics}
    wanted = [word.strip().lower() for word in metrics.replace(",", "/").split("/") if word.strip()]
    for word in wanted:
        if word not in {name for _, name in known}:
            raise unknown("metric", word, {name for _, name in known})
    chosen = {name: tuple(word for word in wanted if (name, word) in known) for name in tasks}
    return {name: words or task(name).main for name, words in chosen.items()}


def paper_tables(
    records: Mapping[str, Results], layout: str, metrics: str = "", test: Test | None = None
) -> list[PaperTable]:
    """Return the tables of a layout: one per task, or one over all tasks.

    Args:
        records: results by the system's name.
        layout: one of `LAYOUTS`.
        metrics: metrics in each cell, such as "f1/em"; by default each task's main metrics.
        test: significance of the difference of two systems; without it, nothing is underlined.

    Raises:
        UnknownNameError: unknown layout or metric.
    """
    checked_layout(layout)
    tasks = list(dict.fromkeys(average.name for record in records.values() for average in record.tasks))
    chosen = chosen_metrics(tasks, metrics, records.values())
    book = _NumberBook(records, chosen, test)
    notes = [] if test is not None or len(records) < 2 else ["Without significance tests"]
    if layout == "systems-by-task":
        return [_by_task(book, tasks, notes)]
    return [_by_language(book, name, layout, notes) for name in tasks]


def _by_task(book: "_NumberBook", tasks: Sequence[str], notes: list[str]) -> PaperTable:
    suite = next(iter(book.records.values())).suite
    has_overall = any(record.shown_overall is not None for record in book.records.values())
    keys = [*((name, "") for name in tasks), *([OVERALL] if has_overall else [])]
    heads = [_title(name, book.metrics[name]) for name in tasks] + [AVERAGE] * has_overall
    table = PaperTable(
        f"Results on {suite}", ("", *heads), label=f"tab:{suite}", notes=[*notes], is_tested=book.is_tested
    )
    for system in book.records:
        table.add_numbers(system, [book.cell(system, key) for key in keys])
    table.notes += [*([_UNTESTED] if table.has_untested else []), *book.mark_notes()]
    return table


def _by_language(book: "_NumberBook", name: str, layout: str, notes: list[str]) -> PaperTable:
    cells = [cell for record in book.records.values() for cell in record.cells if cell.task == name]
    own = task(name).every_language
    codes = [code for code in own if any(cell.language == code for cell in cells)]
    # Pseudo test sets follow the languages of the task.
    codes += sorted({cell.language for cell in cells if cell.language not in own})
    keys = [*((name, code) for code in codes), (name, "")]
    title = f"{_short_title(name)} by language ({' / '.join(map(_metric_name, book.metrics[name]))})"
    if layout == "systems-by-language":
        table = PaperTable(title, ("", *codes, AVERAGE), label=f"tab:{name}", notes=[*notes], is_tested=book.is_tested)
        for system in book.records:
            table.add_numbers(system, [book.cell(system, key) for key in keys])
    else:
        table = PaperTable(title, ("", *book.records), label=f"tab:{name}", notes=[*notes], is_tested=book.is_tested)
        for key, row in zip(keys, [*map(language_name, codes), AVERAGE], strict=True):
            table.add_numbers(row, [book.cell(system, key) for system in book.records])
    table.notes += [*([_UNTESTED] if table.has_untested else []), *book.mark_notes(name)]
    return table


def _short_title(name: str) -> str:
    return task(name).title.partition(":")[0]


def _title(name: str, metrics: Sequence[str]) -> str:
    return _short_title(name) + (f" ({' / '.join(map(_metric_name, metrics))})" if len(metrics) > 1 else "")


def _metric_name(name: str) -> str:
    return _NAMES.get(name, name)


class _NumberBook:
    """Numbers of all systems by key and metric, with their marks."""

    def __init__(
        self, records: Mapping[str, Results], metrics: Mapping[str, tuple[str, ...]], test: Test | None
    ) -> None:
        self.records, self.metrics, self.test = records, metrics, test
        self.values = {system: dict(_values(record)) for system, record in records.items()}

    @property
    def is_tested(self) -> bool:
        """True if several systems are compared by tests."""
        return self.test is not None and len(self.records) > 1

    def cell(self, system: str, key: NumberKey) -> list[MarkedNumber]:
        """Return the numbers of a system for a cell, a task's average or the overall score."""
        return [self._marked(system, key, metric) for metric in self.metrics.get(key[0], (SCORE,))]

    def _marked(self, system: str, key: NumberKey, metric: str) -> MarkedNumber:
        values = {name: value for name in self.records if (value := self.values[name].get((key, metric))) is not None}
        if system not in values:
            return MarkedNumber(MISSING)
        text = score_text(values[system])
        star = ESTIMATED * self._is_estimated(system, key) + "*" * self._is_partial(system, key)
        star += PSEUDO * self._is_pseudo(system, key)
        if self._has_other_gold(system, key):
            return MarkedNumber(text + star + _OTHER_GOLD)
        values = {name: value for name, value in values.items() if not self._has_other_gold(name, key)}
        best = self._best(values, key, metric)
        if len(values) < 2 or best is None:
            return MarkedNumber(text + star)
        if text == score_text(values[best]):
            return MarkedNumber(text + star, "best")
        if self.test is None:
            return MarkedNumber(text + star)
        significant = self.test(key, metric, best, system, list(values))
        return MarkedNumber(text + star, "untested" if significant is None else "" if significant else "tied")

    def _best(self, values: Mapping[str, float], key: NumberKey, metric: str) -> str | None:
        """Return the best of comparable systems, or None: an average over fewer languages is not comparable."""
        sizes = {tuple(self._missing(name, key)) for name in values}
        if len(sizes) > 1:
            return None
        name = key[0] or next(iter(self.metrics))
        try:
            lower = lower_is_better(name, metric)
        except DataError:
            return None
        return (min if lower else max)(values, key=lambda system: values[system])

    def _missing(self, system: str, key: NumberKey) -> Sequence[str]:
        record = self.records[system]
        if key == OVERALL:
            return record.overall.missing
        return next((each.missing for each in record.tasks if each.name == key[0] and not key[1]), ())

    def _is_partial(self, system: str, key: NumberKey) -> bool:
        return bool(self._missing(system, key))

    def _has_other_gold(self, system: str, key: NumberKey) -> bool:
        """Return True if a cell was scored on other gold than those of other systems."""
        return any(cell.partial and (cell.task, cell.language) == key for cell in self.records[system].cells)

    def _is_estimated(self, system: str, key: NumberKey) -> bool:
        """Return True if a number rests on answers to a subset of the examples."""
        cells = self.records[system].cells
        return any(cell.subset and key[0] in ("", cell.task) and key[1] in ("", cell.language) for cell in cells)

    def _is_pseudo(self, system: str, key: NumberKey) -> bool:
        record = self.records[system]
        return any(key == (cell.task, cell.language) and record.is_apart(cell) for cell in record.cells)

    def mark_notes(self, name: str = "") -> list[str]:
        """Explain the marks next to numbers."""
        keys = [(name, "")] if name else [OVERALL, *((each, "") for each in self.metrics)]
        numbers = [(system, key) for system in self.records for key in keys]
        estimated = any(self._is_estimated(*number) for number in numbers)
        partial = any(self._is_partial(*number) for number in numbers)
        notes = [ESTIMATED_NOTE] * estimated + ["* partial: some languages or tasks are missing"] * partial
        cells = [(record, cell) for record in self.records.values() for cell in record.cells if cell.task == name]
        other = any(cell.partial for _, cell in cells)
        pseudo = any(record.is_apart(cell) for record, cell in cells)
        return notes + [_OTHER_GOLD_NOTE] * other + [PSEUDO_NOTE] * pseudo


def _values(record: Results) -> Iterator[tuple[tuple[NumberKey, str], float]]:
    """Yield the numbers of a record by (task, language) and metric."""
    for cell in record.cells:
        for metric, number in cell.metrics.items():
            yield ((cell.task, cell.language), metric), number.value
    for average in record.tasks:
        for metric, number in {**average.metrics, SCORE: average.score}.items():
            yield ((average.name, ""), metric), number.value
    if (top := record.shown_overall) is not None:
        yield (OVERALL, SCORE), top.value


def paired_test(judged: Mapping[str, JudgedSystem], request: Request) -> Test:
    """Return the test of `isogloss compare` for the systems and metrics of a table.

    All systems with a number are compared together, once per metric, so that verdicts hold for all pairs. Cells on
    pseudo test sets are not tested: they would weigh on the correction of the others.
    """

    @cache
    def side(name: str, metric: str) -> SystemRuns:
        system = judged[name]
        runs = [[cell for cell in run if is_pseudo(cell.split) == is_pseudo(request.split)] for run in system.runs]
        return SystemRuns.of(name, runs, (), metric, names=system.names)

    @cache
    def contrasts(metric: str, systems: tuple[str, ...]) -> dict[tuple[NumberKey, frozenset[str]], ScoreContrast]:
        sides = [side(name, metric) for name in systems]
        shared = [key for key in sides[0].cells if all(key in one.cells for one in sides)]
        if not shared:
            return {}
        tested: dict[tuple[NumberKey, frozenset[str]], ScoreContrast] = {}
        for pair in compare_systems(sides, request):
            both = frozenset((pair.first, pair.second))
            tested |= {(key, both): row for key, row in zip(shared, pair.cells, strict=True)}
            tested |= {((row.name, ""), both): row for row in pair.tasks}
            # With a single task, its average is the overall score.
            top = pair.overall or (pair.tasks[0] if len(pair.tasks) == 1 else None)
            if top is not None:
                tested[OVERALL, both] = top
        return tested

    def test(key: NumberKey, metric: str, best: str, other: str, systems: Sequence[str]) -> bool | None:
        contrast = contrasts(metric, tuple(systems)).get((key, frozenset((best, other))))
        return None if contrast is None else contrast.significant

    return test
