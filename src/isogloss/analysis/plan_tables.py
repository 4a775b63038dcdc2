"""Tables, curve and words of a planned comparison."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil, sqrt

from isogloss.analysis.finding import TidyTable, Value, columns
from isogloss.figures import MISSING, counted, score_text
from isogloss.scoring.pilots import PlannedScore
from isogloss.scoring.planning import (
    CONFIDENCE,
    EXAMPLE,
    LANGUAGE,
    TEST_SET,
    Numbers,
    PilotStudy,
    StudyGoal,
    at_best,
    combinations,
    detectable,
    needed,
    reached,
)

# Multiples of the pilot's numbers on the curve.
_MULTIPLES = (0.25, 0.5, 1, 2, 4, 8, 16, 32)
# Examples per source, on average, from which sources are counted, too.
_GROUPED = 1.05
# Tasks described in the paragraph; the tables have all.
_DESCRIBED = 3
# Designs named in the paragraph if no factor alone is enough.
_NAMED = 2
# Words for a factor that reaches the goal, with more levels or at all.
ENOUGH_NOW, MORE, NEVER = "enough now", "more", "never"

Planned = Sequence[tuple[PlannedScore, PilotStudy]]


def label(score: PlannedScore) -> str:
    """Return the name of a score in tables."""
    return "overall" if score.level == "overall" else score.name


def plural(factor: str) -> str:
    """Return the plural of a factor."""
    return f"{factor}s"


def points_text(difference: float) -> str:
    """Return a number of points in words."""
    return f"{difference:g} point{'s' * (difference != 1)}"


def points(difference: float | None) -> float | None:
    """Return a difference in points."""
    return None if difference is None else 100 * difference


def needed_table(planned: Planned, goal: StudyGoal) -> TidyTable:
    """Return, for each score and factor, the number that the goal needs with the others as in the pilot."""
    heads = columns(
        "score factor; share:share = share of variance; now:count; needed:count; sources:count = in sources; "
        "cautious:count = needed, cautious; "
        "best:score = detectable at best; answer = more of it"
    )
    title = f"Needed for {points_text(100 * goal.difference)}, one factor at a time"
    table = TidyTable("needed", title, heads)
    for score, pilot in planned:
        shares, cautious = pilot.shares(pilot.numbers), pilot.cautious()
        for factor in pilot.factors:
            now, number = min(pilot.numbers[factor]), needed(pilot, factor, pilot.numbers, goal)
            answer = NEVER if number is None else ENOUGH_NOW if reached(pilot, pilot.numbers, goal) else MORE
            careful = needed(cautious, factor, pilot.numbers, goal) if number is not None and pilot.measured else None
            grouped = number is not None and factor == EXAMPLE and score.source_size > _GROUPED
            sources = ceil((number or 0) / score.source_size) if grouped else None
            best = points(at_best(pilot, factor, pilot.numbers, goal))
            share = shares.get(factor, 0.0 if factor != LANGUAGE else None)
            table.add(label(score), plural(factor), share, round(now), number, sources, careful, best, answer)
    rows = table.records()
    if any(row["cautious"] is not None for row in rows):
        table.notes.append(
            f"needed, cautious: the number if every variance is at its upper limit ({100 * CONFIDENCE:g} % "
            "confidence); a small pilot leaves a wide range"
        )
    if any(row["share"] is None for row in rows):
        table.notes.append(f"share {MISSING}: the study is about these languages, so they are not a source of variance")
    return table


def designs_table(planned: Planned, goal: StudyGoal, budgets: Sequence[Mapping[str, int]]) -> TidyTable:
    """Return what the pilot's design, the budgets and some combinations can detect."""
    factors = list(dict.fromkeys(factor for _, pilot in planned for factor in pilot.factors))
    heads = columns(
        f"score design; {' '.join(map(plural, factors))}:count; detectable:score = detectable, points; "
        f"power:share = power for {100 * goal.difference:g}"
    )
    table = TidyTable("designs", "What a study can detect", heads, notes=["detectable: empty if none within the scale"])
    for score, pilot in planned:
        for name, numbers in _designs(pilot, goal, budgets):
            test = pilot.test(numbers, goal.alpha)
            smallest = points(detectable(pilot, numbers, goal))
            counts = [round(min(numbers[factor])) if factor in pilot.factors else None for factor in factors]
            table.add(label(score), name, *counts, smallest, test.power(goal.difference))
    return table


def _designs(pilot: PilotStudy, goal: StudyGoal, budgets: Sequence[Mapping[str, int]]) -> Iterator[tuple[str, Numbers]]:
    yield "now", pilot.numbers
    for budget in budgets:
        if all(factor in pilot.factors for factor in budget):
            yield "budget", pilot.with_levels(pilot.numbers, **budget)
    for numbers in combinations(pilot, goal):
        yield "enough", numbers


def components_table(planned: Planned, systems: Sequence[str]) -> TidyTable:
    """Return the standard deviation of every variance component."""
    heads = columns("score component system; deviation:score = standard deviation, points; share:share")
    notes = ["standard deviation between single examples, languages, seeds, …; share: of the pilot's variance"]
    table = TidyTable("components", "Sources of variance", heads, notes=notes)
    for score, pilot in planned:
        total = sum(component.within(pilot.numbers) for component in pilot.components)
        for component in pilot.components:
            if not systems and component.side == 1:
                continue  # both systems are assumed to be alike
            name = " × ".join(plural(factor) for factor in pilot.numbers if factor in component.factors)
            owner = "both" if component.side is None else systems[component.side] if systems else "each"
            share = component.within(pilot.numbers) / total
            table.add(label(score), name, owner, 100 * sqrt(component.variance), share)
    return table


def curve_table(planned: Planned, goal: StudyGoal) -> TidyTable:
    """Return the minimum detectable difference along each factor, with the others as in the pilot."""
    heads = columns(
        "score factor; times:number = times the present number; number:count; detectable:score = detectable, points"
    )
    table = TidyTable("curve", "Detectable difference with more of one factor", heads, shown=0)
    for score, pilot in planned:
        for factor in pilot.factors:
            now = min(pilot.numbers[factor])
            for count in dict.fromkeys(round(now * times) for times in _MULTIPLES):
                if count >= pilot.least(factor):
                    limit = detectable(pilot, pilot.with_levels(pilot.numbers, **{factor: count}), goal)
                    table.add(label(score), plural(factor), count / now, count, points(limit))
    return table


def cells_table(planned: Planned, goal: StudyGoal) -> TidyTable:
    """Return what the pilot can detect in every language, and the examples that the goal needs."""
    heads = columns(
        "task language; examples:count; sources:count = independent; difference:difference; "
        "detectable:score = detectable, points; needed:count = examples needed"
    )
    table = TidyTable("cells", "Tasks and languages", heads)
    for score, pilot in planned:
        examples = round(pilot.numbers[EXAMPLE][0])
        limit, number = detectable(pilot, pilot.numbers, goal), needed(pilot, EXAMPLE, pilot.numbers, goal)
        known: list[Value] = [examples, score.sources, points(score.difference), points(limit), number]
        table.add(*score.name.split("/"), *known)
    rows = table.records()
    if any(row["detectable"] is None for row in rows):
        table.notes.append(f"detectable {MISSING}: no difference, however large, reaches the power")
    if any(row["needed"] is None for row in rows):
        table.notes.append(f"examples needed {MISSING}: no number of examples alone is enough")
    return table


def reading(planned: Planned, goal: StudyGoal, needs: TidyTable) -> str:
    """Return the plan in words: what the pilot's design can show, and what the goal needs."""
    sentences = [_sentences(score, pilot, goal, needs) for score, pilot in planned[:_DESCRIBED]]
    more = len(planned) - _DESCRIBED
    return " ".join([*sentences, *([f"The tables have {counted(more, 'more score')}."] if more > 0 else [])])


def _sentences(score: PlannedScore, pilot: PilotStudy, goal: StudyGoal, needs: TidyTable) -> str:
    limit, wanted = detectable(pilot, pilot.numbers, goal), points_text(100 * goal.difference)
    name, chance = label(score), f"{100 * goal.power:g} % power"
    design = _design_text(score, pilot, pilot.numbers)
    if limit is None:
        can = f"{name}: {design} cannot show any difference within the scale ({chance})."
    else:
        can = f"{name}: with {design} you can see differences of {score_text(100 * limit)} points ({chance})."
    rows = [row for row in needs.records() if row["score"] == name]
    options = [_count(row["needed"], str(row["factor"])) for row in rows if row["answer"] == MORE]
    words = [can]
    if any(row["answer"] == ENOUGH_NOW for row in rows):
        words.append(f"That is enough for {wanted}.")
    elif options:
        words.append(f"For {wanted}: {', or '.join(options)}.")
    else:
        together = [_design_text(score, pilot, numbers) for numbers in combinations(pilot, goal)[:_NAMED]]
        words.append(
            f"No factor alone reaches {wanted}. "
            + (f"Enough together: {'; or '.join(together)}." if together else "Accept a larger difference.")
        )
    shares = pilot.shares(pilot.numbers)
    largest = max(shares, key=lambda factor: shares[factor])
    never = [str(row["factor"]) for row in rows if row["answer"] == NEVER and row["factor"] != plural(largest)]
    if never and options:
        why = f"{100 * shares[largest]:.0f} % of the variance is between {plural(largest)}"
        words.append(f"More {' or '.join(never)} alone cannot do it: {why}.")
    return " ".join(words)


def _count(number: Value, factor: str) -> str:
    return f"{number:,} {factor}" + (" per language" if factor == plural(EXAMPLE) else "")


def _design_text(score: PlannedScore, pilot: PilotStudy, numbers: Numbers) -> str:
    """Return a design in words, such as "3 seeds each and 1,190 examples in each of 11 languages"."""
    parts = []
    for factor in (factor for factor in pilot.numbers if factor not in TEST_SET):
        first, second = numbers[factor]
        if first != second:
            parts.append(f"{first:g} and {second:g} {plural(factor)}")
        else:
            count = counted(round(first), factor)
            parts.append(f"the same {count}" if factor in pilot.shared else f"{count} each")
    languages, examples = round(numbers[LANGUAGE][0]), f"{round(numbers[EXAMPLE][0]):,} examples"
    where = f" in each of {languages} languages" if languages > 1 else " per language" * (score.level == "overall")
    parts.append(examples + where)
    return " and ".join(parts)
