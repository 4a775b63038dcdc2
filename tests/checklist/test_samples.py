"""The samples of the documents are what the checklist says today.

python tests/checklist/test_samples.py > docs/checklist-samples.md
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from isogloss.checklist.shipped import suite_cases
from isogloss.grammar.cases import examples
from isogloss.grammar.file import grammar
from isogloss.grammar.schema import TESTS
from isogloss.languages import language

SAMPLES = Path(__file__).parents[2] / "docs" / "checklist-samples.md"
LANGUAGES = ("en", "de", "ar", "tr", "fi", "zh", "ja", "ta", "sw", "id", "ka")
CASES = 5


def samples() -> Iterator[str]:
    yield "# Five cases of each test in ten languages of ten families\n"
    yield "Made by `python tests/checklist/test_samples.py`; the first context and question of each case. The English"
    yield "line is the gloss: names correspond by their place in each language's list, not in meaning. *Also right*:"
    yield "what else the fair rule takes as it stands."
    for test in TESTS:
        yield f"\n## {test}"
        for case in suite_cases(test, CASES):
            yield f"\n**{case.id}**\n"
            yield "| | context | question | answer | also right |\n|---|---|---|---|---|"
            for code in LANGUAGES:
                first = next(examples(case, grammar(code)))
                where = "gloss" if code == "en" else language(code).family
                said = (first.context, first.question, first.answer, ", ".join(first.accepted[1:]))
                yield f"| {language(code).name} ({where}) | {' | '.join(said)} |"


def test_the_samples_are_up_to_date() -> None:
    made = "\n".join(samples()) + "\n"
    assert SAMPLES.read_text(encoding="utf-8") == made, (
        "python tests/checklist/test_samples.py > docs/checklist-samples.md"
    )


if __name__ == "__main__":
    sys.stdout.write("\n".join(samples()) + "\n")
