"""Words for the tests of an order of systems: every output names a test and its population alike.

site/web/board/tested_on.js has the same words for pages.
"""

EXAMPLES, LANGUAGES = "examples", "languages"
# Population that a verdict is about, and the test.
_WORDS = {
    EXAMPLES: ("on new examples in these languages", "all pairs tested on the same examples"),
    LANGUAGES: ("in similar languages", "all pairs tested over languages"),
}


def population(test: str) -> str:
    """Return the population that the verdicts of a test are about, as in "in similar languages"."""
    return _WORDS[test][0]


def tested_on(test: str) -> str:
    """Return the population of a test, and in brackets the test with its correction."""
    return f"{_WORDS[test][0]} ({_WORDS[test][1]}, Holm's correction)"


def first_place(names: str, number: int, test: str) -> str:
    """Return the verdict on the systems that no other beats, from their names in words and their number."""
    verdict = "significant" if number == 1 else f"{names} are not significantly different"
    return f"{verdict} {tested_on(test)}"
