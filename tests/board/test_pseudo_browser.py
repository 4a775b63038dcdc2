"""Pages of a board with scores on a pseudo test set, in a browser."""

from pathlib import Path

import pytest

import isogloss
from board.opened_board import Open, settle
from isogloss.board.site import build_board
from isogloss.tasks.loading import load
from predictions.made import write_jsonl
from report.browser import BROWSER


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("board")
    isogloss.translate(
        "mini-xnli", "sv", lambda lines: [line.upper() for line in lines], pseudo=True, limits={}, data=root
    )
    for code, split, name in (("en", "test", "en"), ("de", "test", "de"), ("sv", "pseudo", "pseudo-sv")):
        examples = load("mini-xnli", code, split, root)
        answers = dict(zip(examples.ids, examples["label"], strict=True))
        write_jsonl(root / f"mine/mini-xnli/{name}.jsonl", answers)
    isogloss.score(root / "mine", "mini", root, pseudo=True, tasks=["mini-xnli"]).to_json(root / "mine.json")
    return build_board([root / "mine.json"], root / "site", suite="mini")


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_pseudo_scores_are_hollow_and_explained(open_page: Open, site: Path) -> None:
    tab = open_page("#/task/mini-xnli", index=site)
    section = tab.locator("#pseudo")
    assert "Pseudo test sets: machine-translated from English, in no average or ranking." in section.inner_text()
    assert section.locator(".plot svg .hollow").count() == 1
    assert section.locator(".plot svg .mark").count() == 0
    assert "Swedish °" in section.inner_text()
    tab = open_page("#/system/mine", index=site)
    settle(tab)
    assert tab.locator("#pseudo td").all_inner_texts() == ["mini XNLI", "Swedish", "100.0°"]
