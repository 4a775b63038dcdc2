"""The tests as tasks: six that ask for right answers, and eleven that ask for answers that do not change.

Listing imports this file, so it stays light; the examples are made when somebody asks for them.
"""

from functools import cache

from isogloss.languages import CODES
from isogloss.tasks.task import Layout, Task

CASES = 200

# What each test asks, and how many examples a case has.
_TESTS = {
    "comparisons": ("who is older, who is less old", 2),
    "intensifiers": ("who is tired most, who least", 12),
    "properties": ("two properties of a thing, each asked for", 2),
    "job_vs_nationality": ("profession or nationality", 8),
    "animal_vs_vehicle": ("which animal, which vehicle", 4),
    "animal_vs_vehicle_2": ("who bought an animal, who a vehicle", 4),
}
# What an id may end in, and how the examples are then changed.
_CHANGES = {
    "names": ("inv-names", "with other names"),
    "unrelated": ("inv-unrelated", "after an unrelated sentence"),
}


def task_id(test: str, change: str = "") -> str:
    """The id of a test's task."""
    return "-".join(("checklist", test.replace("_", "-"), *([change] if change else [])))


@cache
def declared(name: str) -> Task:
    """The task of an id."""
    change = next((change for change in _CHANGES if name.endswith(f"-{change}")), "")
    test = next(test for test in _TESTS if task_id(test, change) == name)
    asks, examples = _TESTS[test]
    variant, changed = _CHANGES.get(change, ("mft", ""))
    title = f"Checklist: {asks}, {changed}" if changed else f"Checklist: {asks}"
    return Task(
        id=name,
        title=title,
        kind="invariance" if changed else "match",
        category="checklist",
        languages=tuple(sorted(CODES)),
        main=("error",),
        layouts=(Layout("isogloss.checklist.reader:read", test="isogloss/grammar/languages/{lang}.toml"),),
        counts={"test": CASES * examples * (2 if changed else 1)},
        parallel=f"checklist-{test}",
        cluster="case",
        options={"test": test, "variant": variant},
        licence="Apache-2.0",
        homepage="",
        citation="made by Isogloss; the six tests are those of Ruder et al. (2021), XTREME-R",
        train_on="xquad",
    )
