"""Tables of two systems compared by `isogloss explain`: cells, buckets, and where the order of the two turns."""

from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.explain.buckets import bucket_text
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import difference_text
from isogloss.report.formatting import contrast_texts, interval_notes
from isogloss.report.grouping import group_by
from isogloss.report.single_tables import CELLS_SHOWN, bucket_edges
from isogloss.report.tables import Table
from isogloss.scoring.names import language_name

MARKS = (
    "● p < 0.05, Holm-corrected over all buckets of a cell; ⇄ the order of the two is not that of the cell; "
    "▲ largest gain, ▼ largest loss of the first system along an attribute, whether sure or not"
)


def pairwise_tables(pairs: Sequence[PairwiseExplanation]) -> list[Table]:
    """What `isogloss explain` prints of two or more systems: cells, then their buckets, or of many cells the turned."""
    tables = [disagreement_table(pairs)]
    by_cell = [
        (pair, facets)
        for pair in pairs
        for facets in group_by(pair.facets, lambda facet: (facet.task, facet.language)).values()
    ]
    if len(by_cell) > CELLS_SHOWN * len(pairs):
        return [*tables, turned_table(pairs)]
    buckets = [_cell_table(pair, facets) for pair, facets in by_cell]
    if buckets:
        buckets[0].notes.append(MARKS)
    return [*tables, *buckets]


def disagreement_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Every cell: its difference, and what only one of the two systems has right."""
    first, second = _names(pairs)
    words = ("task", "code", "language", *_pair_columns(pairs, "first", "second"))
    header = (*words, "Δ", "n", f"only {first}", f"only {second}", "turned")
    table = Table(_title(pairs, "against", "who is right where the other is wrong"), header, words=len(words))
    for pair in pairs:
        turned = Counter((facet.task, facet.language) for facet, _ in _turned(pair))
        for cell in pair.cells:
            names = _pair_columns(pairs, pair.first, pair.second)
            counts = (cell.n, cell.first_right, cell.second_right, turned[cell.task, cell.language])
            place = cell.task, cell.language, language_name(cell.language)
            table.add(*place, *names, difference_text(cell.difference), *map(str, counts))
    table.notes = [
        "only …: examples that this system has right and the other wrong",
        "turned: buckets in which the system that is behind in the cell is significantly ahead (Holm, p < 0.05)",
    ]
    return table


def turned_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """The buckets in which the system that is behind in the cell is significantly ahead."""
    words = ("task", "code", "language", "attribute", "bucket", *_pair_columns(pairs, "first", "second"))
    table = Table(_title(pairs, "minus", "where the order turns"), (*words, *_number_header(pairs)), words=len(words))
    for pair in pairs:
        for facet, row in _turned(pair):
            place = facet.task, facet.language, language_name(facet.language), facet.attribute, bucket_text(row.bucket)
            table.add(*place, *_pair_columns(pairs, pair.first, pair.second), *_numbers(row))
    table.notes = ["p is Holm-corrected over all buckets of a cell"]
    if not table.rows:
        table.notes = ["nowhere: no bucket significantly favours the system that is behind in its cell"]
    return table


def pairwise_bucket_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Every bucket of every attribute of every cell."""
    place = ("task", "code", "language", "attribute", "metric", "bucket", "edges")
    words = (*place, *_pair_columns(pairs, "first", "second"))
    title = _title(pairs, "minus", "differences by bucket")
    table = Table(title, (*words, *_number_header(pairs), ""), words=len(words))
    for pair in pairs:
        for facet in pair.facets:
            where = facet.task, facet.language, language_name(facet.language), facet.attribute, facet.metric
            for row in facet.buckets:
                what = row.bucket.name, bucket_edges(row.bucket), *_pair_columns(pairs, pair.first, pair.second)
                table.add(*where, *what, *_numbers(row), _marks(facet, row))
    table.notes = [MARKS, *interval_notes(table)]
    return table


def _cell_table(pair: PairwiseExplanation, facets: Sequence[AttributeContrasts]) -> Table:
    """Every bucket of one cell, for reading."""
    name = f"{facets[0].task}/{facets[0].language}"
    title = f"{pair.first} minus {pair.second} on {name}: {facets[0].metric} by attribute"
    table = Table(title, ("attribute", "bucket", *_number_header([pair]), ""), words=2)
    for facet in facets:
        for place, row in enumerate(facet.buckets):
            attribute = facet.attribute if place == 0 else ""
            table.add(attribute, bucket_text(row.bucket), *_numbers(row), _marks(facet, row))
    table.notes = interval_notes(table)
    return table


def _names(pairs: Sequence[PairwiseExplanation]) -> tuple[str, str]:
    """What the two sides are called in headings."""
    return (pairs[0].first, pairs[0].second) if len(pairs) == 1 else ("first", "second")


def _pair_columns(pairs: Sequence[PairwiseExplanation], first: str, second: str) -> tuple[str, ...]:
    """Cells that name the two systems, where the title does not."""
    return (first, second) if len(pairs) > 1 else ()


def _title(pairs: Sequence[PairwiseExplanation], joint: str, what: str) -> str:
    return f"{pairs[0].first} {joint} {pairs[0].second}: {what}" if len(pairs) == 1 else f"Pairs of systems: {what}"


def _number_header(pairs: Sequence[PairwiseExplanation]) -> tuple[str, ...]:
    first, second = _names(pairs) if len(pairs) == 1 else ("score of first", "score of second")
    return first, second, "Δ", "95 %", "p", "n"


def _numbers(row: BucketContrast) -> tuple[str, ...]:
    """The cells below `_number_header`."""
    return (*contrast_texts(row), str(row.bucket.n))


def _marks(facet: AttributeContrasts, row: BucketContrast) -> str:
    extreme = "▲" * (row is facet.largest_gain) + "▼" * (row is facet.largest_loss)
    return extreme + "●" * row.significant + "⇄" * row.flips


def _turned(pair: PairwiseExplanation) -> Iterator[tuple[AttributeContrasts, BucketContrast]]:
    for facet in pair.facets:
        yield from ((facet, row) for row in facet.buckets if row.flips and row.significant)
