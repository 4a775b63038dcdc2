"""Counts of released cases that no system can pass."""

from collections.abc import Sequence

from isogloss.checklist.audit import Findings


def unpassable_cases(
    findings: Findings, kinds: Sequence[str] = ("unreachable", "same-question")
) -> dict[tuple[str, str], int]:
    """Return the number of cases with such a defect, by (language, test); a case fails if any of its examples does."""
    cases: dict[tuple[str, str], set[str]] = {}
    for finding in findings.defects:
        if finding.kind in kinds:
            case = finding.example.rpartition("-")[0]
            cases.setdefault((finding.language, finding.test), set()).add(case)
    return {cell: len(found) for cell, found in cases.items()}
