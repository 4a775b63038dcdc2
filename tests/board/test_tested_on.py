"""Test that pages and other outputs name tests and populations in the same words."""

import json
import shutil
import subprocess

import pytest

from isogloss.board.site import WEB
from isogloss.scoring import tested_on as words
from isogloss.scoring.tested_on import EXAMPLES, LANGUAGES, first_place, population

SCRIPT = """
import { population, testedOn } from "%(web)s/board/tested_on.js";
const wording = Object.fromEntries(["examples", "languages"].map((test) => [
  test, [population(test), testedOn(test)],
]));
console.log(JSON.stringify(wording));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_pages_use_the_same_words() -> None:
    command = ["node", "--input-type=module", "-e", SCRIPT % {"web": WEB.as_uri()}]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {
        test: [population(test), words.tested_on(test)] for test in (EXAMPLES, LANGUAGES)
    }


def test_words() -> None:
    assert first_place("A", 1, EXAMPLES) == (
        "significant on new examples in these languages (all pairs tested on the same examples, Holm's correction)"
    )
    assert first_place("A and B", 2, LANGUAGES) == (
        "A and B are not significantly different in similar languages "
        "(all pairs tested over languages, Holm's correction)"
    )
