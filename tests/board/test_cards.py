"""Test the cards of systems and languages: valid, self-contained, with the board's own figures; and the data hash."""

import re
from base64 import b64decode
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import pytest

import hostile
from board.made_systems import XTREME_R, record, small_web  # noqa: F401  # a fixture
from board.test_site import read_data
from board.unpacking import unpacked
from isogloss.board.build import Board, data_hash, make_board
from isogloss.board.cards import STYLE_HASH, card_files
from isogloss.board.site import build_board, read_systems, site_files
from isogloss.figures import score_text
from isogloss.results.published_scores import read_published

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 6_000


@pytest.fixture(scope="module")
def published() -> Board:
    return make_board(read_published("published:all", XTREME_R), XTREME_R)


def parsed(content: bytes) -> Any:
    return ET.fromstring(content)  # noqa: S314 - our own file


def texts(content: bytes) -> list[str]:
    return [node.text or "" for node in parsed(content).iter(f"{SVG}text")]


def made(*records: object) -> Board:
    return make_board(read_systems(records, XTREME_R), XTREME_R)


def test_every_system_and_tested_language_has_a_small_card_on_its_own(published: Board) -> None:
    cards = dict(card_files(published.data))
    scored = {language.code for language in published.data.languages}
    assert set(cards) == {
        *(f"cards/system/{system.id}.svg" for system in published.data.systems),
        *(f"cards/language/{code}.svg" for code in scored),
    }
    for path, content in cards.items():
        root = parsed(content)
        assert root.tag == f"{SVG}svg", path
        assert len(content) <= MOST_BYTES, path
        text = content.decode().replace('xmlns="http://www.w3.org/2000/svg"', "")
        # No scripts, links, images or fonts from elsewhere.
        assert not re.search(r"<(script|image|use|a|foreignObject|link)\b|href|url\(|http|@import| on\w+=", text), path


def test_a_card_shows_the_figures_of_the_board(published: Board) -> None:
    data, cards = published.data, dict(card_files(published.data))
    columns = ["overall", *(category.name for category in data.categories)]
    for at, system in enumerate(data.systems):
        if not system.complete:
            continue
        shown = texts(cards[f"cards/system/{system.id}.svg"])
        for name in columns:
            assert score_text(unpacked(data.averages[name].value)[at] / 100) in shown, (system.id, name)
    xlmr = " ".join(texts(cards["cards/system/xlm-r-large.svg"]))
    assert "202 of 202 cells" in xlmr and "Reported scores" in xlmr
    assert data.data_hash[:12] in xlmr and data.made[:10] in xlmr


def test_a_language_card_compares_the_best_score_of_each_task_with_english(published: Board) -> None:
    data = published.data
    shown = texts(dict(card_files(data))["cards/language/sw.svg"])
    xnli = next(task for task in data.tasks if task.id == "xnli")
    cells = unpacked(data.cells["xnli"]).reshape(len(data.systems), -1)
    best = {code: cells[cells[:, at] < 16383, at].max() for at, code in enumerate(xnli.languages)}
    at = shown.index("XNLI")
    assert shown[at + 1 : at + 3] == [score_text(best["sw"] / 100), f"{100 * best['sw'] / best['en']:.0f} %"]
    assert shown[:2] == ["Swahili", "Kiswahili"]
    assert re.fullmatch(r"served at 80 % of English: \d+\.\d % over 3 tasks", shown[2])
    # Question answering by language is reported in F1.
    assert "TyDiQA-GoldP F1" in shown
    # English is the reference, and Wolof has one task.
    assert "the language that others are compared with" in texts(dict(card_files(data))["cards/language/en.svg"])


def test_intervals_are_lines_and_ranks_are_sets() -> None:
    board = made(record("one", 60.0), record("two", 60.5), record("partial", 70.0, without=("xnli",)))
    cards = dict(card_files(board.data))
    root = parsed(cards["cards/system/one.svg"])
    assert len(root.findall(f"{SVG}path[@class='whisker']")) == len(root.findall(f"{SVG}circle")) == 5
    low, high = (float(end) for end in re.findall(r"[MH]([\d.]+)", root.find(f"{SVG}path[@class='whisker']").get("d")))
    # 59 to 61 on an axis from 210 (0) to 440 (100).
    assert (low, high) == pytest.approx((210 + 2.3 * 59, 210 + 2.3 * 61), abs=0.1)
    # Every language favours the second: the test over languages leaves each one rank.
    assert "rank 2 of 2" in texts(cards["cards/system/one.svg"])[1]
    published = make_board(read_published("published", XTREME_R), XTREME_R)
    xlmr = texts(dict(card_files(published.data))["cards/system/xlm-r-large.svg"])
    at = next(at for at, system in enumerate(published.data.systems) if system.id == "xlm-r-large")
    ranks = published.data.ranks["category"]
    assert ranks.low[at] < ranks.high[at]
    assert f"rank {ranks.low[at]}–{ranks.high[at]} of " in xlmr[1]
    partial = texts(cards["cards/system/partial.svg"])
    assert "partial results, not ranked" in partial[1] and "Overall" not in partial
    assert f"{202 - 15} of 202 cells" in partial[1]


@pytest.mark.parametrize("name", hostile.NAMES.values(), ids=hostile.NAMES)
def test_names_are_text(name: str) -> None:
    board = made(record(name, regime=name))
    (path, content) = next(iter(card_files(board.data)))
    root = parsed(content)
    assert {node.tag.removeprefix(SVG) for node in root.iter()} == {
        "svg",
        "title",
        "style",
        "rect",
        "text",
        "path",
        "circle",
    }
    assert path == f"cards/system/{board.data.systems[0].id}.svg"
    assert len(content) <= MOST_BYTES


def test_the_hash_of_the_style_sheet_allows_it(published: Board) -> None:
    content = next(iter(card_files(published.data)))[1]
    style = re.search(rb"<style>(.*?)</style>", content).group(1)
    assert STYLE_HASH.startswith("sha256-")
    assert b64decode(STYLE_HASH.removeprefix("sha256-")) == sha256(style).digest()


def test_the_data_hash_identifies_the_data() -> None:
    def hash_of(*records: object) -> str:
        return made(*records).data.data_hash

    board = made(record("one"), record("two", 61.0))
    own = board.data.data_hash
    assert re.fullmatch(r"[0-9a-f]{64}", own)
    # Time, version and heading do not matter; every score, interval and fact does.
    later = {"made": "2030-01-01T00:00:00Z", "isogloss": "9.9", "title": "Another heading", "submit": "submit.html"}
    assert data_hash(msgspec.structs.replace(board.data, **later), board.details) == own
    others = [
        hash_of(record("one"), record("two", 61.2)),
        hash_of(record("one"), record("two", 61.0, half=1.5)),
        hash_of(record("one"), record("two", 61.0, year=2020)),
        hash_of(record("two", 61.0), record("one")),
        hash_of(record("one")),
    ]
    assert len({own, *others}) == 1 + len(others)


def test_cell_intervals_are_part_of_the_data_hash() -> None:
    plain = record("one")
    cell = plain.cells[0]
    metric, number = next(iter(cell.metrics.items()))
    wider = msgspec.structs.replace(number, high=number.high + 0.5)
    cells = [msgspec.structs.replace(cell, metrics={**cell.metrics, metric: wider}), *plain.cells[1:]]
    changed = msgspec.structs.replace(plain, cells=cells)
    assert made(plain).data.data_hash != made(changed).data.data_hash


@pytest.mark.usefixtures("small_web")
def test_a_site_has_its_cards_and_is_replaced_with_them(tmp_path: Path) -> None:
    out = tmp_path / "site"
    build_board([record("one"), record("two")], out)
    assert sorted(path.name for path in (out / "cards/system").iterdir()) == ["one.svg", "two.svg"]
    first = {path.name: path.read_bytes() for path in (out / "cards/language").iterdir()}
    build_board([record("one")], out)
    assert [path.name for path in (out / "cards/system").iterdir()] == ["one.svg"]
    assert {path.name for path in (out / "cards/language").iterdir()} == set(first)
    (shown,) = (
        line.split("data ")[1] for line in texts((out / "cards/system/one.svg").read_bytes()) if "data " in line
    )
    assert read_data(out)["data_hash"][:12] == shown


def test_site_files_hold_every_card_once(published: Board) -> None:
    paths = [path for path, _ in site_files(published) if path.startswith("cards/")]
    assert len(paths) == len(set(paths)) == len(published.data.systems) + len(published.data.languages)


def test_a_card_without_averages_says_so() -> None:
    board = made(record("little", without=tuple(name for name in XTREME_R.tasks if name != "xnli")))
    shown = texts(next(iter(card_files(board.data)))[1])
    assert "XNLI" in shown and "60.0" in shown
    few = made(record("few", without=(*(name for name in XTREME_R.tasks if name != "xnli"), "xnli/sw")))
    assert "No complete average" in texts(next(iter(card_files(few.data)))[1])
