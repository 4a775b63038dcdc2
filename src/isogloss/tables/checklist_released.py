"""Tables of the released checklist, in the layout of XTREME-R's Tables 5, 10 and 11, with the published systems."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean

from isogloss.checklist.reference import RELEASED_TESTS, UNANSWERABLE, UNPASSABLE, published_rates
from isogloss.checklist.tasks import CASES
from isogloss.errors import DataError, unknown
from isogloss.figures import MISSING, score_text
from isogloss.results.readers import system_of_record
from isogloss.results.system import SystemResult
from isogloss.scoring.names import distinct_names
from isogloss.scoring.results import Results
from isogloss.tables.table import Table

# Tests in the paper's order, with its headers.
HEADERS = {
    "comparisons": "Comparisons",
    "intensifiers": "Intensifiers",
    "properties": "Properties",
    "job_vs_nationality": "Job vs Nationality",
    "animal_vs_vehicle": "Animal vs Vehicles",
    "animal_vs_vehicle_2": "Animal vs Vehicles 2",
}
# Orders of the languages: of Tables 10 and 11, and of Table 5.
ORDERS = ("language", "average")
_TABLES = {"XLM-R Large": "XTREME-R, Tables 5 and 10", "mBERT": "XTREME-R, Table 11"}
_ALL, _SOME = "†", "‡"
_MARKS = {
    _ALL: "no extractive system can pass any case: no span of the context is scored as right, or one question has two "
    "different gold answers",
    _SOME: "no extractive system can pass some of the cases",
}

_PARTIAL = "* fewer tests or languages than elsewhere in the table"

# A language and a test.
_Place = tuple[str, str]


@dataclass(frozen=True)
class ReleasedRates:
    """Error rates of a system on the released tests, with marks of cells that are impossible to pass."""

    system: str
    title: str
    rates: Mapping[_Place, float]
    marks: Mapping[_Place, str] = field(default_factory=dict)

    @property
    def languages(self) -> list[str]:
        """Languages in alphabetical order."""
        return sorted({code for code, _ in self.rates})

    def average(self, code: str) -> tuple[float | None, bool]:
        """Return the mean over the tests of a language, and True if all tests are present."""
        rates = [self.rates[code, test] for test in HEADERS if (code, test) in self.rates]
        return (fmean(rates) if rates else None), len(rates) == len(HEADERS)

    def within(self, places: Collection[_Place]) -> "ReleasedRates":
        """Return the rates of some cells."""
        rates = {place: rate for place, rate in self.rates.items() if place in places}
        return ReleasedRates(self.system, self.title, rates, self.marks)


def published_systems() -> list[ReleasedRates]:
    """Return the systems of the paper; cells in which every case is impossible are marked."""
    marks = dict.fromkeys(UNANSWERABLE | UNPASSABLE, _ALL)
    return [
        ReleasedRates(name, f"{name}: published error rate ({_TABLES[name]})", rates, marks)
        for name, rates in published_rates().items()
    ]


def _rates_of(system: SystemResult, name: str) -> ReleasedRates:
    rates: dict[_Place, float] = {}
    marks: dict[_Place, str] = {}
    for (task, code), cell in system.cells.items():
        if task in RELEASED_TESTS and cell.score is not None:
            place = code, RELEASED_TESTS[task]
            rates[place] = cell.score.value
            impossible = cell.metrics["impossible"].value if "impossible" in cell.metrics else 0.0
            if impossible:
                marks[place] = _ALL if impossible >= 100 else _SOME
    return ReleasedRates(name, f"{name}: error rate on the released suite", rates, marks)


def released_tables(results: Results) -> list[Table]:
    """Return a record's error rates beside the published systems, in the paper's layout, and the audit's findings.

    Nothing is returned if the record has none of the tests.
    """
    system = system_of_record(results, "")
    own = _rates_of(system, str(results.system["name"]))
    if not own.rates:
        return []
    return [*_beside([own]), _paper_table(own, "average"), _audit_table(system)]


def reference_tables(systems: Sequence[SystemResult] = (), order: str = "language") -> list[Table]:
    """Return the published systems in the paper's layout, after some systems of one's own and a comparison.

    Args:
        systems: results on the suite `checklist-released`.
        order: order of languages, one of `ORDERS`.

    Raises:
        UnknownNameError: unknown order.
        DataError: a system has no result on the suite.
    """
    if order not in ORDERS:
        raise unknown("order", order, ORDERS)
    names = distinct_names([system.name for system in systems])
    own = [_rates_of(system, name) for system, name in zip(systems, names, strict=True)]
    for system, rates in zip(systems, own, strict=True):
        if not rates.rates:
            fix = "Score the predictions with --suite checklist-released"
            raise DataError("no score on the suite checklist-released", where=system.source, fix=fix)
    published = [_paper_table(rates, order) for rates in published_systems()]
    for table in published:
        table.notes.append(
            "averages are means of the printed rates, so they may differ by 0.1 from the printed averages"
        )
    return [*(_beside(own) if own else []), *(_paper_table(rates, order) for rates in own), *published]


def _paper_table(system: ReleasedRates, order: str) -> Table:
    """Return languages by tests with averages of both, as printed in the paper."""
    table = Table(system.title, ("Lang.", *HEADERS.values(), "Avg"))
    codes = system.languages
    if order == "average":
        codes.sort(key=lambda code: system.average(code)[0] or 0.0)
    for code in codes:
        mean, complete = system.average(code)
        cells = (score_text(system.rates.get((code, test))) + system.marks.get((code, test), "") for test in HEADERS)
        table.add(code, *cells, score_text(mean) + "*" * (not complete))
    table.add("Avg", *_means(system, len(system.languages)), strong=True)
    shown = {system.marks.get(place, "") for place in system.rates}
    table.notes = [f"{mark} {text}" for mark, text in _MARKS.items() if mark in shown]
    table.notes += [_PARTIAL] if any(cell.endswith("*") for row in table.rows for cell in row) else []
    return table


def _means(system: ReleasedRates, languages: int) -> list[str]:
    """Return the mean over languages of each test, and their mean; a star marks tests with fewer languages."""
    by_test = [[rate for (_, name), rate in system.rates.items() if name == test] for test in HEADERS]
    texts = [score_text(fmean(rates) if rates else None) + "*" * (0 < len(rates) < languages) for rates in by_test]
    complete = all(len(rates) == languages for rates in by_test)
    return [*texts, score_text(fmean(fmean(rates) for rates in by_test if rates)) + "*" * (not complete)]


def _beside(own: Sequence[ReleasedRates]) -> list[Table]:
    """Return means over languages and over tests of some systems and the published ones, over the cells of all."""
    places = set.intersection(*(set(system.rates) for system in own))
    if not places:
        return []
    systems = [system.within(places) for system in (*own, *published_systems())]
    codes = systems[0].languages
    scope = f"{len(codes)} language{'s' * (len(codes) > 1)}"
    tests = Table(f"Error rate per test, mean over {scope}", ("", *HEADERS.values(), "Avg"))
    languages = Table("Error rate per language, mean over the tests", ("Lang.", *(each.system for each in systems)))
    for system in systems:
        tests.add(system.system, *_means(system, len(codes)), strong=system.system in {each.system for each in own})
    for code in codes:
        means = [system.average(code) for system in systems]
        languages.add(code, *(score_text(mean) + "*" * (not complete) for mean, complete in means))
    spread = score_text(100 * 1.96 * sqrt(2 * 0.25 / CASES))
    tests.notes = [
        "published systems: XTREME-R, Tables 10 and 11, over the same languages and tests",
        f"their {CASES} cases per cell come from the same sheet and names, but are not in the paper's repository: with "
        f"new cases, the rates of a cell differ by up to {spread} points by chance (95 %)",
        *([_PARTIAL] if any(cell.endswith("*") for row in tests.rows + languages.rows for cell in row) else []),
    ]
    return [tests, languages]


def _audit_table(system: SystemResult) -> Table:
    """Return the shares of flawed and impossible cases of each cell."""
    table = Table(
        "Released cases with a finding of the audit (of them, impossible to pass), %", ("Lang.", *HEADERS.values())
    )
    places = {
        (code, RELEASED_TESTS[task]): cell for (task, code), cell in system.cells.items() if task in RELEASED_TESTS
    }
    for code in sorted({code for code, _ in places}):
        texts = []
        for test in HEADERS:
            cell = places.get((code, test))
            flawed, impossible = (cell.metrics.get(name) if cell else None for name in ("flawed", "impossible"))
            both = f"{score_text(flawed.value)} ({score_text(impossible.value)})" if flawed and impossible else MISSING
            texts.append(both)
        table.add(code, *texts)
    table.notes = ["isogloss checklist audit --suite checklist_templates.tsv lists the findings by kind"]
    return table
