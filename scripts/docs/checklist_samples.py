"""Page of the reference with cases of the checklist in eleven languages, from the suite itself."""

from collections.abc import Iterator

from isogloss.checklist.shipped import suite_cases
from isogloss.grammar.cases import examples
from isogloss.grammar.file import grammar
from isogloss.grammar.schema import TESTS
from isogloss.languages import language

LANGUAGES = ("en", "de", "ar", "tr", "fi", "zh", "ja", "ta", "sw", "id", "ka")
CASES = 5
_INTRODUCTION = f"""\
# Checklist samples

The first {CASES} cases of each test of the [checklist](../checklist.md) in {len(LANGUAGES)} languages: the first
context and question of each case. *Also right* lists other answers that the fair rule accepts. Names
correspond by position in the language's list, not in meaning. `isogloss checklist show comparisons-0000`
shows a case in all languages, with all its questions."""


def _rows() -> Iterator[str]:
    for test in TESTS:
        yield f"\n## {test}"
        for case in suite_cases(test, CASES):
            yield f"\n**{case.id}**\n"
            yield "| | context | question | answer | also right |\n|---|---|---|---|---|"
            for code in LANGUAGES:
                first = next(examples(case, grammar(code)))
                texts = (first.context, first.question, first.answer, ", ".join(first.accepted[1:]))
                yield f"| {language(code).name} | {' | '.join(texts)} |"


def page() -> str:
    """Return the page: one table per case."""
    return "\n".join([_INTRODUCTION, *_rows()]) + "\n"
