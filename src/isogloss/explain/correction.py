"""Correction of all findings of an analysis together, over its systems, cells, attributes and metrics.

Two lists are shown: sentences on single systems, and marked buckets of pairs. The false discovery rate holds for each
list and for both together: with two, each gets half, so that many significant differences between systems
do not make room for false sentences.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from isogloss.explain.claims import sentence
from isogloss.explain.model import AttributeScores, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import counted
from isogloss.metrics.discovery import false_discovery_rates
from isogloss.metrics.student import ALPHA


class Correction(msgspec.Struct, frozen=True):
    """Number of tests over which q is corrected, and of the cells they are from."""

    tests: int
    cells: int

    def __str__(self) -> str:
        return f"corrected over {counted(self.tests, 'test')} in {counted(self.cells, 'cell')}"


class CorrectedFindings(NamedTuple):
    """Explanations and pairs with final q-values, sentences and marks."""

    explanations: list[Explanation]
    pairs: list[PairwiseExplanation]
    correction: Correction | None


def corrected_findings(explanations: Sequence[Explanation], pairs: Sequence[PairwiseExplanation]) -> CorrectedFindings:
    """Correct everything that is shown together; findings of earlier versions, without tests, stay as they are."""
    facets = [facet for each in explanations for facet in each.facets if facet.claims]
    contrasts = [(facet, row) for pair in pairs for facet in pair.facets for row in facet.buckets if row.tests]
    families = [[[claim.p for claim in facet.claims] for facet in facets], [row.tests for _, row in contrasts]]
    lists = sum(map(bool, families))
    claimed, marked = (
        iter([[min(1.0, lists * q) for q in rates] for rates in false_discovery_rates(of_list)]) for of_list in families
    )
    tests = sum(len(family) for of_list in families for family in of_list)
    cells = {(facet.task, facet.language) for facet in (*facets, *(facet for facet, _ in contrasts))}
    return CorrectedFindings(
        [
            msgspec.structs.replace(each, facets=[_stated(facet, claimed) for facet in each.facets])
            for each in explanations
        ],
        [msgspec.structs.replace(pair, facets=[_marked(facet, marked) for facet in pair.facets]) for pair in pairs],
        Correction(tests, len(cells)) if tests else None,
    )


def _stated(facet: AttributeScores, rates: Iterator[list[float]]) -> AttributeScores:
    """Return the attribute with the q-values of its claims, and its sentence."""
    if not facet.claims:
        return facet
    claims = [msgspec.structs.replace(claim, q=q) for claim, q in zip(facet.claims, next(rates), strict=True)]
    tested = msgspec.structs.replace(facet, claims=claims)
    return msgspec.structs.replace(tested, insight=sentence(tested))


def _marked(facet: AttributeContrasts, rates: Iterator[list[float]]) -> AttributeContrasts:
    """Return the attribute with the q-values of its buckets, and their marks."""
    rows = [_tested(row, next(rates)) if row.tests else row for row in facet.buckets]
    return msgspec.structs.replace(facet, buckets=rows)


def _tested(row: BucketContrast, rates: Sequence[float]) -> BucketContrast:
    return msgspec.structs.replace(row, p=rates[0], flips=any(q < ALPHA for q in rates[1:]))
