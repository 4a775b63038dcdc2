"""Mewsli-X: link a mention in the news to its entity among a million descriptions in fifty languages."""

from collections.abc import Mapping
from typing import Any

from isogloss.tasks.task import Layout, Task, counted

TASK = Task(
    id="mewslix",
    title="Mewsli-X: multilingual entity linking",
    kind="pool",
    category="retrieval",
    languages=("ar", "de", "en", "es", "fa", "ja", "pl", "ro", "ta", "tr", "uk"),
    main=("map@20",),
    options={"single_target": True},
    layouts=(
        Layout.by_split("mewslix.mewslix", "mewslix/wikinews_mentions-{split}.jsonl", "test", "dev"),
        # As downloaded: ids and entities are there, the article text has yet to be restored.
        Layout.by_split("mewslix.mewslix", "mewslix/wikinews_mentions_no_text-{split}.jsonl", "test", "dev"),
        # Mentions in English Wikipedia, with their entities; their own dev portion is another task than WikiNews'.
        Layout("mewslix.pairs", train="mewslix/wikipedia_pairs-train.jsonl"),
    ),
    counts={
        "test": counted("ar 1501 de 1551 en 1490 es 1552 fa 458 ja 1519 pl 1562 ro 672 ta 1567 tr 1215 uk 1537"),
        "dev": counted("ar 318 de 326 en 316 es 311 fa 72 ja 310 pl 304 ro 145 ta 312 tr 262 uk 315"),
        "train": counted("en 167719"),
    },
    cluster="document",
    licence="Apache 2.0, text CC BY 2.5",
    homepage="https://github.com/google-research/google-research",
    citation="Ruder et al. (2021), XTREME-R: Towards More Challenging and Nuanced Multilingual Evaluation",
)


def mention_text(record: Mapping[str, Any], index: int = 0) -> str:
    """The baseline's query text of a mention record; see `isogloss.tasks.readers.mewslix`."""
    from isogloss.tasks.readers import mewslix

    return mewslix.mention_text(record, index)


def entity_text(record: Mapping[str, Any]) -> str:
    """The baseline's text of an entity record; see `isogloss.tasks.readers.mewslix`."""
    from isogloss.tasks.readers import mewslix

    return mewslix.entity_text(record)
