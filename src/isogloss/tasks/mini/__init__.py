"""The suite `mini`: all ten XTREME-R tasks in small, made by us, for trying, testing and timing.

Its examples are made from the checklist's words and sentences (and a little written by hand) on first use, in seconds,
in the file formats of the real tasks, and read by the same readers. It is good for trying every verb offline; it is
no evidence about any model.
"""

from dataclasses import replace
from functools import cache

from isogloss.tasks.task import Layout, Task

# Examples of each split: test in every language, dev and train in English.
TEST, DEV, TRAIN = 60, 120, 1200
POOL = 2000

LAREQA = ("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh", "fi", "sw", "ta")
MEWSLIX = ("ar", "de", "en", "es", "fa", "ja", "pl", "ro", "ta", "tr", "uk", "fi", "sw", "ko", "th", "el")

# What differs from the real task's declaration: where the files are.
_LAYOUTS = {
    "xnli": Layout.by_split("pairs.prepared_xnli", "xnli/{split}-{lang}.tsv"),
    "xcopa": Layout(
        "copa.copa",
        "xcopa/data/{lang}/test.{lang}.jsonl",
        "xcopa/data/{lang}/val.{lang}.jsonl",
        "xcopa/data/{lang}/train.{lang}.jsonl",
    ),
    "udpos": Layout.by_split("tagged.words", "udpos/{split}-{lang}.tsv"),
    "wikiann": Layout.by_split("tagged.words", "wikiann/{split}-{lang}.tsv"),
    "xquad": Layout.by_split("questions.one_language", "xquad/{split}.{lang}.json"),
    "mlqa": Layout.by_split("questions.one_language", "mlqa/{split}.{lang}.json"),
    "tydiqa": Layout.by_split("questions.one_language", "tydiqa/{split}.{lang}.json"),
    "tatoeba": Layout("bitext.tatoeba", "tatoeba/tatoeba.{iso3}-eng"),
    "mewslix": Layout("mewslix.mewslix", "mewslix/wikinews_mentions-test.jsonl"),
    "lareqa": Layout("lareqa.lareqa", "lareqa/xquad-r/{lang}.json"),
}


def _languages(name: str) -> tuple[str, ...]:
    from isogloss.grammar.file import CODES
    from isogloss.tasks.mini.content import choice_languages, pos_languages

    everyone = tuple(CODES)
    return {
        "xcopa": choice_languages(),
        "udpos": pos_languages(),
        "tatoeba": tuple(code for code in everyone if code != "en"),
        "mewslix": MEWSLIX,
        "lareqa": LAREQA,
    }.get(name, everyone)


@cache
def declared(task_id: str) -> Task:
    """A task of the suite: the real one's declaration with its own languages, files and counts."""
    from isogloss.tasks.registry import task

    name = task_id.removeprefix("mini-")
    real = task(name)
    counts = {"test": TEST, "dev": DEV, "train": TRAIN}
    # MLQA's own normaliser knows seven languages only.
    options = {**real.options, "dialect": "squad"} if name == "mlqa" else real.options
    return replace(
        real,
        id=task_id,
        title=f"mini {real.title}",
        languages=_languages(name),
        also=("en",) if name == "xcopa" else (),
        layouts=(_LAYOUTS[name],),
        counts=counts,
        parallel=f"mini-{real.parallel or name}",
        options=options,
        edition_of=name,
        english_training=False,
        made_by="isogloss.tasks.mini.make:folder",
        licence="Apache-2.0",
        homepage="",
        citation="made by Isogloss",
    )
