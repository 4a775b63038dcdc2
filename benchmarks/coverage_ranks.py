"""Cases of the coverage simulation: rank sets and letters of systems that are equal, partly tied or all different."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import coverage_package as package
import numpy as np
from coverage_outcomes import Case, Outcome
from coverage_simulator import ACCURACY, ALONE, Design, FloatArray, sizes_of

from isogloss.analysis.ranking_views import RankingPanel, ranked_view, views
from isogloss.metrics.ordering import Ordering, ordering
from isogloss.results.published_scores import speakers
from isogloss.scoring.names import known_language
from isogloss.tasks.suites import suite

HELD = "all true ranks within the rank sets"
SPLIT = "equal systems told apart"
OUTSIDE = "a system that was not told apart from a member stands outside its group"
FOUND = "systems with different true scores told apart, of pairs"
WIDE = "mean size of a rank set"
PAGES = "equal systems told apart on the compare page of any two"

SUITE = suite("xtreme-r")
CODES = sorted({code for name in SUITE.tasks for code in SUITE.languages_of(name)})
# Points: spread of languages, of a system over languages, and of a task in them; the error of 200 examples.
LANGUAGE_SPREAD, SYSTEM_SPREAD, TASK_SPREAD, NOISE = 8.0, 3.0, 2.0, 3.2


@dataclass(frozen=True)
class World:
    """Systems in languages of which families share what a system is good at.

    Attributes:
        true: true figure of each system.
        correlation: correlation of a system's strengths within a family.
        tail: degrees of freedom of Student's t for all effects; infinite for normal ones.
        alike: share of the variance of strengths that the systems have in common in pairs, as models of one kind do.
        mixed: True if families matter only to the first half of the systems, and the others vary three times as much.
    """

    true: Sequence[float]
    languages: int = 50
    tasks: int = 1
    correlation: float = 0.3
    tail: float = np.inf
    alike: float = 0.0
    mixed: bool = False

    def draw(self, rng: np.random.Generator) -> RankingPanel:
        """Return the scores of all systems."""
        codes = self.codes
        families = [entry.family for code in codes if (entry := known_language(code)) is not None]
        number = np.array([families.index(family) for family in families])
        count = len(self.true)

        def effects(*shape: int) -> FloatArray:
            own: FloatArray = self._draw(rng, (count, *shape))
            shared = np.repeat(self._draw(rng, ((count + 1) // 2, *shape)), 2, axis=0)[:count]
            return np.sqrt(1 - self.alike) * own + np.sqrt(self.alike) * shared

        of_families, of_languages = effects(len(codes))[:, number], effects(len(codes))
        second_half = (np.arange(count) >= count // 2)[:, None] & self.mixed
        correlation = np.where(second_half, 0.0, self.correlation)
        strengths = np.sqrt(correlation) * of_families + np.sqrt(1 - correlation) * of_languages
        strengths *= np.where(second_half, 3.0, 1.0)
        names = SUITE.tasks[: self.tasks] if self.tasks > 1 else ("wikiann",)
        present = np.array([[self.tasks == 1 or code in SUITE.languages_of(name) for code in codes] for name in names])
        shape = count, len(names), len(codes)
        scores = np.array(self.true)[:, None, None] + rng.normal(0, LANGUAGE_SPREAD, len(codes))
        scores = scores + SYSTEM_SPREAD * strengths[:, None] + NOISE * rng.standard_normal(shape)
        if self.tasks > 1:
            scores += TASK_SPREAD * self._draw(rng, shape)
        return RankingPanel(
            name="simulated",
            systems=[str(place) for place in range(count)],
            tasks=[name for name, used in zip(names, present.any(axis=1), strict=True) if used],
            languages=codes,
            scores=(scores * present)[:, present.any(axis=1)],
            present=present[present.any(axis=1)],
        )

    @property
    def codes(self) -> list[str]:
        """Languages, spread evenly over those of XTREME-R."""
        return [CODES[round(place)] for place in np.linspace(0, len(CODES) - 1, self.languages)]

    def _draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        if np.isinf(self.tail):
            return rng.standard_normal(shape)
        drawn: FloatArray = rng.standard_t(self.tail, shape) * np.sqrt((self.tail - 2) / self.tail)
        return drawn


def rank_cases() -> Iterator[Case]:
    """Rank sets of systems that are known by their scores in languages."""
    equal = {count: World([60.0] * count) for count in (2, 4, 10, 30)}
    partly = World([70.0] + [66.0] * 4 + [60.0] * 3 + [50.0, 40.0])
    spread = World(list(range(40, 70, 3)))
    for count, world in equal.items():
        for correlation in (0.0, 0.3, 0.6):
            yield _case(f"{count} equal systems", replace(world, correlation=correlation))
        yield _case(f"{count} equal systems, t₃", replace(world, tail=3.0, correlation=0.6))
        yield _case(f"{count} equal systems, mixed", replace(world, mixed=True, correlation=0.6))
        for languages in (1, 2, 3, 5, 10, 30):
            yield _case(f"{count} equal systems", replace(world, languages=languages))
    for world, what in ((partly, "10 systems in 5 groups"), (spread, "10 systems, 3 points apart")):
        for languages in (5, 10, 30, 50):
            for correlation in (0.0, 0.3, 0.6):
                yield _case(what, replace(world, languages=languages, correlation=correlation))
        yield _case(f"{what}, t₃", replace(world, tail=3.0))
        yield _case(f"{what}, 10 tasks", replace(world, tasks=10))
        yield _case(f"{what}, alike in pairs", replace(world, alike=0.7))
    for view in ("category", "family", "speakers", "worst", "gini"):
        yield _case(f"4 equal systems, 10 tasks, {view}", replace(equal[4], tasks=10, correlation=0.6), view)


def _case(what: str, world: World, view: str = "flat") -> Case:
    families = f"correlation {world.correlation:g} in families"
    languages = f"{world.languages} language{'s' * (world.languages > 1)}"
    is_heavy = len(world.true) >= 30 or world.tasks > 1
    return Case(what, families, languages, 200, partial(_ranked, world, view), heavy=is_heavy)


def _ranked(world: World, view: str, rng: np.random.Generator) -> Outcome:
    panel = world.draw(rng)
    found = ranked_view(panel, views(panel, speakers())[view]).order
    return _counts(found, np.zeros(len(world.true)) if view == "gini" else np.array(world.true))


def _counts(found: Ordering, true: FloatArray) -> Outcome:
    """Return what a ranking gets right, with all ranks that equal systems can claim as true ranks."""
    ahead = true[:, None] > true
    first, last = 1 + ahead.sum(axis=0), len(true) - ahead.sum(axis=1)
    apart = [bool(found.better[one, other]) for one, other in zip(*np.nonzero(ahead), strict=True)]
    equal = [(one, other) for one, other in combinations(range(len(true)), 2) if true[one] == true[other]]
    return {
        HELD: [bool(((found.low <= first) & (found.high >= last)).all())],
        **({FOUND: apart} if apart else {}),
        **({SPLIT: [any(found.better[pair] or found.better[pair[::-1]] for pair in equal)]} if equal else {}),
        WIDE: (found.high - found.low + 1).tolist(),
    }


def letter_cases() -> Iterator[Case]:
    """Rank sets and letters of equal systems with predictions, from paired tests of 200 examples."""
    for count in (4, 10):
        simulate = partial(_lettered, Design(200, ALONE, systems=count))
        yield Case(f"{count} equal systems with predictions", "0.8", ALONE.name, 200, simulate, heavy=True)
    for lacking, cells in ((0, "the same cells"), (1, "one without a task"), (2, "two without a task")):
        paged = partial(_compared_on_pages, Design(200, ALONE, systems=5), lacking)
        yield Case(f"5 equal systems with predictions, {cells}", "0.8", ALONE.name, 200, paged, heavy=True)


def _compared_on_pages(design: Design, lacking: int, rng: np.random.Generator) -> Outcome:
    """Compare every two of some systems on two tasks, of which the last systems have one only."""
    systems: list[list[package.Cell]] = [[] for _ in range(design.systems)]
    for task in ("xnli", "pawsx"):
        latent, _ = design.draw(rng)
        sizes = sizes_of(design.n, rng)
        for cells, each in zip(systems[: len(systems) - lacking * (task == "pawsx")], latent, strict=False):
            cells.append(package.cell(task, "en", ACCURACY.judged(each[0], 0.8, sizes, rng), None))
    pairs = package.compared_on_a_board(systems)
    return {PAGES: [any(contrast.p < 0.05 for contrasts in pairs for contrast in contrasts)]}


def _lettered(design: Design, rng: np.random.Generator) -> Outcome:
    latent, _ = design.draw(rng)
    sizes = sizes_of(design.n, rng)
    cells = [package.cell(ACCURACY.task, "en", ACCURACY.judged(each[0], 0.8, sizes, rng), None) for each in latent]
    scores, p = np.zeros(len(cells)), np.ones((len(cells), len(cells)))
    for one, other in combinations(range(len(cells)), 2):
        contrast = package.compared([cells[one]], [cells[other]]).cells[0]
        scores[[one, other]], p[one, other], p[other, one] = (contrast.first, contrast.second), contrast.p, contrast.p
    found = ordering(scores, p)
    letters = found.letters
    outside = any(
        (found.p[one, other] >= 0.05) != bool(set(letters[one]) & set(letters[other]))
        for one, other in combinations(range(len(cells)), 2)
    )
    return {**_counts(found, np.zeros(len(cells))), OUTSIDE: [outside]}
