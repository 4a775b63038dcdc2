"""Tables of two systems compared by `isogloss explain`: cells, buckets, and where the ranking flips."""

from collections import Counter
from collections.abc import Iterator, Sequence

from isogloss.explain.buckets import bucket_text
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import difference_text
from isogloss.grouping import group_by
from isogloss.scoring.names import language_name
from isogloss.tables.formatting import contrast_texts, interval_notes
from isogloss.tables.single_tables import CELLS_SHOWN, bucket_edges
from isogloss.tables.table import Table

MARKS = (
    "● p < 0.05, Holm-corrected over all buckets of a cell; ⇄ order reversed compared with the whole cell; "
    "▲ largest gain, ▼ largest loss of the first system along an attribute, significant or not"
)


def pairwise_tables(pairs: Sequence[PairwiseExplanation]) -> list[Table]:
    """Return cells, then their buckets; for many cells only the buckets in which the ranking flips."""
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
    """Return every cell: its difference, and the examples that only one of the systems gets right."""
    first, second = (pairs[0].first, pairs[0].second) if len(pairs) == 1 else ("first", "second")
    words = ("task", "code", "language", *_pair_columns(pairs, "first", "second"))
    header = (*words, "Δ", "n", f"only {first}", f"only {second}", "turned")
    table = Table(_title(pairs, "against", "examples that only one system gets right"), header, words=len(words))
    for pair in pairs:
        turned = Counter((facet.task, facet.language) for facet, _ in _turned(pair))
        for cell in pair.cells:
            names = _pair_columns(pairs, pair.first, pair.second)
            counts = (cell.n, cell.first_right, cell.second_right, turned[cell.task, cell.language])
            key = cell.task, cell.language, language_name(cell.language)
            table.add(*key, *names, difference_text(cell.difference), *map(str, counts))
    table.notes = [
        "only …: examples that only this system gets right",
        "turned: buckets in which the system that is behind in the cell is significantly ahead (Holm, p < 0.05)",
    ]
    return table


def turned_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Return the buckets in which the system that is behind in the cell is significantly ahead."""
    words = ("task", "code", "language", "attribute", "bucket", *_pair_columns(pairs, "first", "second"))
    table = Table(_title(pairs, "minus", "where the ranking flips"), (*words, *_number_header(pairs)), words=len(words))
    for pair in pairs:
        for facet, row in _turned(pair):
            key = facet.task, facet.language, language_name(facet.language), facet.attribute, bucket_text(row.bucket)
            table.add(*key, *_pair_columns(pairs, pair.first, pair.second), *_numbers(row))
    table.notes = ["p is Holm-corrected over all buckets of a cell"]
    if not table.rows:
        table.notes = ["nowhere: no bucket significantly favours the system that is behind in its cell"]
    return table


def pairwise_bucket_table(pairs: Sequence[PairwiseExplanation]) -> Table:
    """Return every bucket of every attribute of every cell."""
    key = ("task", "code", "language", "attribute", "metric", "bucket", "edges")
    words = (*key, *_pair_columns(pairs, "first", "second"))
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
    """Return every bucket of one cell, formatted for reading."""
    name = f"{facets[0].task}/{facets[0].language}"
    title = f"{pair.first} minus {pair.second} on {name}: {facets[0].metric} by attribute"
    table = Table(title, ("attribute", "bucket", *_number_header([pair]), ""), words=2)
    for facet in facets:
        for index, row in enumerate(facet.buckets):
            attribute = facet.attribute if index == 0 else ""
            table.add(attribute, bucket_text(row.bucket), *_numbers(row), _marks(facet, row))
    table.notes = interval_notes(table)
    return table


def _pair_columns(pairs: Sequence[PairwiseExplanation], first: str, second: str) -> tuple[str, ...]:
    """Return cells that name the two systems unless the title does."""
    return (first, second) if len(pairs) > 1 else ()


def _title(pairs: Sequence[PairwiseExplanation], joint: str, what: str) -> str:
    return f"{pairs[0].first} {joint} {pairs[0].second}: {what}" if len(pairs) == 1 else f"Pairs of systems: {what}"


def _number_header(pairs: Sequence[PairwiseExplanation]) -> tuple[str, ...]:
    sides = (pairs[0].first, pairs[0].second) if len(pairs) == 1 else ("score of first", "score of second")
    return *sides, "Δ", "95 %", "p", "n"


def _numbers(row: BucketContrast) -> tuple[str, ...]:
    """Return the cells below `_number_header`."""
    return (*contrast_texts(row), str(row.bucket.n))


def _marks(facet: AttributeContrasts, row: BucketContrast) -> str:
    extreme = "▲" * (row is facet.largest_gain) + "▼" * (row is facet.largest_loss)
    return extreme + "●" * row.significant + "⇄" * row.flips


def _turned(pair: PairwiseExplanation) -> Iterator[tuple[AttributeContrasts, BucketContrast]]:
    for facet in pair.facets:
        yield from ((facet, row) for row in facet.buckets if row.flips and row.significant)
