"""Tables of a comparison: pairs with differences, intervals and p-values; several systems with letters and a matrix."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from isogloss.escaping import latex_text
from isogloss.figures import MISSING, counted, difference_text, score_text
from isogloss.scoring.comparison import Comparison, ScoreContrast, SystemOrder, SystemsComparison, averages_first
from isogloss.scoring.designs import levels_text
from isogloss.tables.formatting import interval_notes, left_out_notes
from isogloss.tables.reply_tables import unparsed_text
from isogloss.tables.score_tables import direction_notes
from isogloss.tables.table import Table
from isogloss.tasks.registry import task

# Limits of the tests, below the tables.
LEVELS = (
    "cells, tasks and overall are corrected separately: of equally good systems, about 1 in 10 comparisons shows a "
    "significant difference somewhere"
)
EXCHANGE = (
    "p is exact if the answers of equally good systems are exchangeable; a rare but large loss that no example shows "
    "stays unseen"
)


@dataclass
class LetterTable(Table):
    """A table with letters after some numbers: superscripts in LaTeX."""

    _: KW_ONLY
    letters: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict)  # cell -> number, letters

    def add_lettered(self, name: str, cells: Sequence[str | tuple[str, str]], *, strong: bool = False) -> None:
        """Add a row; a cell is a text, or a number with its letters."""
        for column, cell in enumerate(cells, 1):
            if not isinstance(cell, str):
                self.letters[len(self.rows), column] = cell
        self.add(name, *(cell if isinstance(cell, str) else " ".join(cell) for cell in cells), strong=strong)

    def styled(self, row: int, column: int, escape: Callable[[str], str], styles: Mapping[str, str]) -> str:
        """Return a cell; letters follow the number, raised in LaTeX."""
        if escape is not latex_text or (row, column) not in self.letters:
            return super().styled(row, column, escape, styles)
        number, letters = self.letters[row, column]
        shown = styles["strong"].format(number) if row in self.strong else number
        return rf"{shown}\textsuperscript{{{latex_text(letters)}}}"


def systems_tables(comparison: SystemsComparison) -> list[Table]:
    """Return the tables of a comparison: of the pair, or of several systems with letters, all pairs and cells."""
    if not comparison.orders:
        return comparison_tables(comparison.pairs[0])
    cells = _cell_letters(comparison)
    averages = averages_first(comparison.orders)
    if not averages:  # partial gold, or languages outside the suite
        cells.notes.insert(0, comparison.verdict())
        return [cells]
    matrices = [_matrix(comparison, order, row) for row, order in enumerate(comparison.top_orders)]
    return [_letter_table(comparison, averages), *matrices, _pair_table(comparison), cells]


def _letter_table(comparison: SystemsComparison, orders: Sequence[SystemOrder]) -> Table:
    """Return a row per system: scores with letters overall and on every task, ranks overall, or on tasks without it."""
    ranked = [order.label for order in comparison.top_orders]
    header = [head for order in orders for head in ([order.label, "rank"] if order.label in ranked else [order.label])]
    title = f"{counted(len(comparison.systems), 'system')} on the cells that all of them have"
    table = LetterTable(title, ("", *header))
    columns = [(_lettered(order), order.ranks() if order.label in ranked else {}) for order in orders]
    for name in orders[0].systems:
        row: list[str | tuple[str, str]] = []
        for lettered, ranks in columns:
            row += [lettered[name], *([ranks[name]] if ranks else [])]
        table.add_lettered(name, row)
    pair = comparison.pairs[0]
    pairs = counted(len(comparison.pairs), "pair")
    table.notes = [
        comparison.verdict(),
        "systems that share a letter are not significantly different, which does not mean that they are equal",
        f"ranks and letters follow from the same tests, corrected (Holm) over {pairs}, and for tasks over all tasks",
        LEVELS,
        *direction_notes(contrast.name for contrast in pair.tasks),
    ]
    if any(contrast.partial for contrast in pair.averages()):
        table.notes.append("* partial: over the languages or tasks that all systems have")
    if pair.skipped:
        table.notes.append(f"left out, since some systems lack them: {' '.join(pair.skipped)}")
    left_out = list(dict.fromkeys(one for each in comparison.pairs for one in each.left_out))
    table.notes += left_out_notes(left_out)
    table.notes += _reading_notes(comparison.pairs)
    return table


def _reading_notes(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the shares of replies without an answer if they differ: reading explains a part of the differences."""
    shares: dict[str, str] = {}
    for one in comparisons:
        shares |= dict(zip((one.first, one.second), map(unparsed_text, one.replies), strict=False))
    if len(set(shares.values())) < 2:
        return []
    listed = ", ".join(f"{name} {'unknown' if share == MISSING else share}" for name, share in shares.items())
    return [f"replies without an answer: {listed}; a part of the differences may come from how replies are read"]


def _lettered(order: SystemOrder) -> dict[str, tuple[str, str]]:
    rows = zip(order.systems, order.scores, order.letters, strict=True)
    return {name: (score_text(score), letters) for name, score, letters in rows}


def _matrix(comparison: SystemsComparison, top: SystemOrder, row_number: int) -> Table:
    """Return the difference of every row's system from every column's, with its verdict."""
    table = Table(f"Row minus column, {top.label}", ("", *top.systems))
    differences = {}
    for pair in comparison.pairs:
        contrast = pair.top_rows[row_number]
        differences[pair.first, pair.second] = f"{difference_text(contrast.difference)} {_mark(contrast)}".strip()
        differences[pair.second, pair.first] = f"{difference_text(-contrast.difference)} {_mark(contrast)}".strip()
    for row in top.systems:
        table.add(row, *(differences.get((row, column), "") for column in top.systems))
    table.notes = [_marks(comparison.pairs[0]), _compared_population(comparison.pairs[0])]
    return table


def _pair_table(comparison: SystemsComparison) -> Table:
    """Return a row per pair, overall or on every task, with the difference, its interval and p."""
    rows = [(pair, contrast) for pair in comparison.pairs for contrast in pair.top_rows]
    table = Table("Pairs", ("", *([""] if comparison.top_orders[1:] else []), "Δ", "95 %", "p", ""))
    table.words = len(table.header) - 4
    for pair, contrast in rows:
        labels = [f"{pair.first} − {pair.second}", *([contrast.label] if comparison.top_orders[1:] else [])]
        table.add(*labels, *contrast.texts()[2:], _mark(contrast))
    table.notes = [_together(len(rows), "row"), *interval_notes(table)]
    return table


def _cell_letters(comparison: SystemsComparison) -> Table:
    """Return a row per cell, with the letters of every system."""
    cells = [order for order in comparison.orders if order.level == "cell"]
    names = averages_first(comparison.orders)[0].systems if comparison.top_orders else comparison.systems
    table = LetterTable("Cells", ("", *names))
    for order in cells:
        lettered = _lettered(order)
        table.add_lettered(order.label, [lettered[name] for name in names])
    tests = f"{counted(len(comparison.pairs), 'pair')} on {counted(len(cells), 'cell')}"
    table.notes = [f"systems that share a letter are not significantly different (Holm over {tests})"]
    return table


def _mark(contrast: ScoreContrast) -> str:
    marks = "●" * contrast.significant + "≈" * (contrast.verdict == "equivalent")
    return marks or "?" * (contrast.p_equivalent is not None)


def _marks(comparison: Comparison) -> str:
    if comparison.margin is None:
        return "● p < 0.05"
    margin = score_text(comparison.margin)
    equivalent = f"≈ equivalent within ±{margin} points (two one-sided tests)"
    return f"● better or worse (p < 0.05), {equivalent}, ●≈ different, but by less than that, ? cannot tell"


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return overall and tasks first, then every cell; the verdict is below the first table."""
    averages = comparison.averages()
    tasks = _contrast_table(comparison, "tasks", averages)
    rule = f"; overall by rule {comparison.rule}" if comparison.overall else ""
    smallest = [f"{row.label} {_detectable(row)}" for row in averages if row.adjusted_low is not None]
    tasks.notes = [comparison.verdict(), _compared_population(comparison)]
    if smallest:
        tasks.notes.append(f"minimum detectable difference (80 % power): {', '.join(smallest)}")
    tasks.notes.append(f"{_together(len(comparison.tasks), 'task')}{rule}; {_marks(comparison)}")
    if len(comparison.cells) > 1:
        tasks.notes.append(LEVELS)
    if any(contrast.partial for contrast in comparison.tasks):
        tasks.notes.append("* partial: over the languages or tasks that both systems have")
    tasks.notes += direction_notes(contrast.name for contrast in comparison.tasks)
    tasks.notes += interval_notes(tasks)
    if comparison.skipped:
        tasks.notes.append(f"left out, since some systems lack them: {' '.join(comparison.skipped)}")
    tasks.notes += left_out_notes(comparison.left_out)
    tasks.notes += _reading_notes([comparison])
    cells = _contrast_table(comparison, "cells", comparison.cells)
    tests = sorted({contrast.test for contrast in comparison.cells})
    together = f"{_together(len(comparison.cells), 'cell')}; tests: {', '.join(tests)}"
    cells.notes = [
        together,
        *([EXCHANGE] if not comparison.runs and not comparison.estimated else []),
        *interval_notes(cells),
    ]
    return [tasks, cells]


def _detectable(contrast: ScoreContrast) -> str:
    """Return the minimum detectable difference in words; few prompts or seeds may leave none."""
    return "none within the scale" if contrast.detectable is None else f"{score_text(contrast.detectable)} points"


def _contrast_table(comparison: Comparison, what: str, contrasts: Sequence[ScoreContrast]) -> Table:
    systems = comparison.first, comparison.second
    table = Table(f"{' against '.join(systems)}: {what}", ("", *systems, "Δ", "95 %", "p", ""))
    for contrast in contrasts:
        texts = *contrast.texts(), _mark(contrast)
        table.add(contrast.label, *texts, strong=contrast.level == "overall")
    return table


def _together(number: int, what: str) -> str:
    """Return the number of tests that p-values and intervals jointly cover, in words."""
    if number == 1:
        return f"p and interval cover one {what}"
    return f"p (Holm) and intervals (Bonferroni; cut at 0 if p < 0.05) hold jointly for all {number} {what}s"


def _compared_population(comparison: Comparison) -> str:
    """Return the population of p-values and intervals."""
    notes = []
    if comparison.runs:
        top = comparison.overall or (comparison.tasks or comparison.cells)[0]
        shares = [f"{share:.0%} of the variance is due to {factor}s" for factor, share in top.shares.items()]
        both = " and ".join(levels_text(levels) or "1 run" for levels in comparison.runs)
        notes.append(
            ", ".join([f"applies to the {'methods' if comparison.of_methods else 'systems'}: {both}", *shares])
        )
    if not comparison.of_methods:
        only = "a side with one seed: another may reverse it" if comparison.runs else ""
        notes.append(only or "applies to these checkpoints only; other seeds may reverse it")
    words = dict.fromkeys(f"{task(name).cluster or 'source'}s" for name in comparison.clustered)
    if words:
        notes.append(f"covers new {' and '.join(words)}, not only those of the test set")
    if comparison.estimated:
        notes.append(f"{', '.join(comparison.estimated)} estimated from a subset of the examples")
    return "; ".join(notes)
