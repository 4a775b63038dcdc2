"""LAReQA: retrieve the sentences that answer a question, one in each of eleven languages, from all of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from isogloss.tasks.task import Layout, Task, counted

if TYPE_CHECKING:
    from isogloss.tasks.readers.lareqa import RetrievalTexts

TASK = Task(
    id="lareqa",
    title="LAReQA: answer retrieval from a multilingual pool",
    kind="pool",
    category="retrieval",
    languages=("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"),
    main=("map@20",),
    layouts=(Layout("lareqa.lareqa", test="lareqa/xquad-r/{lang}.json"),),
    counts={
        "test": 1190,
        "candidates": counted("ar 1222 de 1276 el 1234 en 1180 es 1215 hi 1244 ru 1219 th 852 tr 1167 vi 1209 zh 1196"),
    },
    # The questions are XQuAD's, so the two tasks' intervals move together.
    parallel="xquad",
    cluster="article",
    licence="CC BY-SA 4.0",
    homepage="https://github.com/google-research-datasets/lareqa",
    citation="Roy et al. (2020), LAReQA: Language-Agnostic Answer Retrieval from a Multilingual Pool",
)


def build(files: Mapping[str, Any]) -> "RetrievalTexts":
    """Questions, candidates and targets from {language: XQuAD-R file}; see `isogloss.tasks.readers.lareqa`."""
    from isogloss.tasks.readers import lareqa

    return lareqa.build(files)
