"""Reviews as the page writes them, for tests."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isogloss.checklist.review_items import review_items
from isogloss.checklist.review_marks import content_hash
from isogloss.grammar.file import grammar
from isogloss.grammar.schema import TESTS
from isogloss.version import __version__


def made_review(name: str, said: Mapping[str, Mapping[str, str]] | None = None, **changes: Any) -> dict[str, Any]:
    """Return a review of English that approves every item, except for the given answers."""
    asked = {"language": "en", "cases": 8, "seed": 0} | changes
    items = review_items(asked["language"], asked["cases"], asked["seed"])
    answers = {
        item.key: {"wording": item.wording, "verdict": "right", "better": "", "remark": ""}
        | dict((said or {}).get(item.key, {}))
        for item in items
    }
    return {
        "format": "isogloss-checklist-review",
        "version": 1,
        "isogloss": __version__,
        "content": {test: content_hash(grammar(asked["language"]), test) for test in TESTS},
        "reviewer": {"id": name.encode().hex()[:16].ljust(16, "0"), "name": name},
        "date": "2026-11-16",
        "answers": answers,
    } | asked


def write_review(folder: Path, name: str, *said: Any, **changes: Any) -> Path:
    path = folder / f"{name or 'nobody'}.json"
    path.write_text(json.dumps(made_review(name, *said, **changes)), encoding="utf-8")
    return path
