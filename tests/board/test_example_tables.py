"""Test single examples on a board: exact, only with public labels, in separate files."""

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from board.answered_systems import SUITE, answered, write_suite
from isogloss.board import example_tables
from isogloss.board.example_tables import has_public_labels
from isogloss.board.site import build_board, check_is_site
from isogloss.cli.main import main
from isogloss.explain.cell_table import cell_tables
from isogloss.scoring.request import Request

TASKS = ("mini-xnli", "mini-wikiann", "mini-xquad")


@pytest.fixture
def answers(tmp_path: Path) -> tuple[Path, list[Path]]:
    suite = write_suite(tmp_path / "suite.toml", SUITE)
    return suite, [
        answered(tmp_path / name, suite, TASKS, name, mistakes) for name, mistakes in (("a", 0.1), ("b", 0.3))
    ]


def read(path: Path) -> Any:
    """Return the data of a file of the site."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text[text.index(", ") + 2 : text.rindex(")")])


def numbers(packed: Any) -> np.ndarray:
    width, text = packed
    return np.frombuffer(base64.b64decode(text), dtype=f"<u{width}")


def unpacked(column: Any, count: int) -> np.ndarray:
    values, places = column
    return np.full(count, values[0]) if places is None else np.array(values)[numbers(places)]


def test_every_row_has_its_values_and_statistics(answers: tuple[Path, list[Path]], tmp_path: Path) -> None:
    suite, folders = answers
    build_board(folders, tmp_path / "site", suite=str(suite))
    check_is_site(tmp_path / "site")
    request = Request.of(str(suite))
    seen = 0
    for table in cell_tables(folders, request):
        place = tmp_path / "site" / "examples" / table.task.id / table.examples.language
        told = read(place.with_suffix(".js"))
        count = len(table.row_example)
        assert told["ids"] == table.examples.ids
        rows = np.arange(count) if told["rows"] is None else numbers(told["rows"])
        assert (rows == table.row_example).all()
        assert (told["counted"] is None) == (table.counted is None)
        if told["sources"] is not None:
            assert (numbers(told["sources"]) == table.example_sources).all()
        for system, name in enumerate("ab"):
            of_system = read(place / f"{name}.js")
            assert [each["name"] for each in of_system["metrics"]] == list(table.metrics[system])
            for each in of_system["metrics"]:
                made = np.stack([unpacked(column, count) for column in each["columns"]], axis=1)
                assert (made == table.metrics[system][each["name"]].rows).all()
                seen += 1
        assert told["texts"] and set(told["texts"]) == set(of_system["answers"])
        apart = np.abs(table.goodness[0] - table.goodness[1])
        assert str(int(apart.argmax())) in told["texts"]
    assert seen == 30


def test_private_labels_are_never_published(
    answers: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, folders = answers
    known = {name: dataset for name, dataset in example_tables.datasets().items() if name != "xquad"}
    monkeypatch.setattr(example_tables, "datasets", lambda: known)
    assert not has_public_labels("mini-xquad")
    out = tmp_path / "site"
    build_board(folders, out, suite=str(suite))
    assert {path.name for path in (out / "examples").iterdir()} == {"mini-xnli", "mini-wikiann"}
    everything = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*") if path.is_file())
    assert "mini-xquad" in everything
    assert not [name for name in isogloss.load("mini-xquad", "sw").ids if f'"{name}"' in everything]
    # Examples listed by isogloss explain are already public.
    explained = tmp_path / "explain.json"
    explained.write_bytes(
        json_of(isogloss.explain(*folders, suite=str(suite), tasks=["mini-xquad"], languages=["sw"], examples=1))
    )
    build_board(folders, out, suite=str(suite), explain=[explained])
    assert [path.name for path in sorted((out / "examples" / "mini-xquad").iterdir())] == ["sw", "sw.js"]


def test_a_board_may_be_built_without_single_examples(
    answers: tuple[Path, list[Path]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite, folders = answers
    explained, out = tmp_path / "explain.json", tmp_path / "site"
    explained.write_bytes(
        json_of(isogloss.explain(*folders, suite=str(suite), tasks=["mini-xnli"], languages=["sw"], examples=3))
    )
    words = ["board", "build", *map(str, folders), "-s", str(suite), "--explain", str(explained), "-o", str(out)]
    for option, told in (("--examples", True), ("--no-examples", False)):
        with pytest.raises(SystemExit) as stop:
            main([*words, option])
        assert not stop.value.code, capsys.readouterr().err
        assert (out / "examples").exists() is told
        everything = "".join(path.read_text(encoding="utf-8") for path in out.rglob("*.js"))
        assert ('"gold":' in everything) is told
    data = (out / "data.js").read_text(encoding="utf-8")
    assert "built without single examples" in data
    # Averages, paired tests and the buckets of explain stay.
    detail = read(out / "systems" / "a.js")
    assert detail["paired"]["b"] and detail["analyses"]["single"] and not detail["analyses"]["examples"]
    # Ids of failed examples are not published either.
    assert not any(bar[-1] for chart in detail["analyses"]["single"] for bar in chart["bars"])


def json_of(analysis: Any) -> bytes:
    import msgspec

    return msgspec.json.encode(analysis)


def test_tasks_with_public_labels() -> None:
    for name in ("xnli", "mini-wikiann", "checklist-comparisons", "lareqa"):
        assert has_public_labels(name), name
    # Reuters' licence does not allow fetching it.
    assert not has_public_labels("mldoc")


def test_a_board_without_gold_gives_the_reason(tmp_path: Path) -> None:
    suite = tmp_path / "suite.toml"
    suite.write_text('title = "One"\ntasks = ["mini-xnli"]\nlanguages = ["sw"]\n', encoding="utf-8")
    folder = answered(tmp_path / "a", write_suite(tmp_path / "three.toml", SUITE), ("mini-xnli",), "a", 0.2)
    suite.write_text('title = "Real"\ntasks = ["xnli"]\nlanguages = ["sw"]\n', encoding="utf-8")
    record = (folder / "results.json").read_text(encoding="utf-8").replace("mini-xnli", "xnli")
    (folder / "results.json").write_text(record, encoding="utf-8")
    (folder / "mini-xnli").rename(folder / "xnli")
    (tmp_path / "data").mkdir()
    build_board([folder], tmp_path / "site", suite=str(suite), data=tmp_path / "data")
    data = (tmp_path / "site" / "data.js").read_text(encoding="utf-8")
    assert '"examples":{}' in data
    assert json.loads(data[data.index("{") : data.rindex(";")])["no_examples"]
