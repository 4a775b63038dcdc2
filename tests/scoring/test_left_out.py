"""Answers that cannot be scored are left out with a reason and do not affect others."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import isogloss
from isogloss.errors import MissingDataError, PredictionError
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.tables.formatting import left_out_notes
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from predictions.made import tatoeba, wikiann_dev, write_jsonl, xquad
from sample import write_gold, write_system

TASKS = ["xnli", "xcopa", "xquad"]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intact")
    write_gold(folder / "gold", suite("xtreme-r"), 12)
    for name, skill in (("a", 0.9), ("b", 0.5)):
        write_system(folder / name, suite("xtreme-r"), 12, name, skill)
    return folder


@pytest.fixture
def made(intact: Path, tmp_path: Path) -> Path:
    """A copy for one test to spoil."""
    return shutil.copytree(intact, tmp_path, dirs_exist_ok=True)


def spoil(gold: Path) -> dict[tuple[str, str], str]:
    """Write missing, damaged, unknown and placeholder labels; return the reasons."""
    (gold / "xnli/test-sw.tsv").unlink()
    (gold / "xnli/test-ur.tsv").write_text("neutral\nfoo\n")
    for root in (gold, gold.parent / "a", gold.parent / "b"):
        (root / "xcopa/test-et.jsonl").write_text('{"label": 0}\n' * 500)
    (gold / "xquad/test-de.json").write_text("[")
    return {
        ("xnli", "sw"): "no labels for xnli/sw test",
        ("xnli", "ur"): "expected a gold label of entailment, neutral, contradiction, got 'foo'",
        ("xcopa", "et"): "placeholders",
        ("xquad", "de"): "not a SQuAD-format JSON file",
    }


def reasons(results: Any) -> dict[tuple[str, str], str]:
    return {(each.task, each.language): each.reason for each in results.left_out}


def test_other_cells_are_scored_without_the_left_out_cell(made: Path) -> None:
    wanted = spoil(made / "gold")
    results = isogloss.score(made / "a", gold=made / "gold", tasks=TASKS)
    found = reasons(results)
    assert found.keys() == wanted.keys()
    assert all(wanted[cell] in reason for cell, reason in found.items())
    for name, code in wanted:
        for path in (made / "a" / name).glob(f"test-{code}.*"):
            path.unlink()
    without = isogloss.score(made / "a", gold=made / "gold", tasks=TASKS)
    assert without.left_out == []
    assert list(results.rows()) == list(without.rows())
    assert {"xnli/sw", "xcopa/et", "xquad/de"} <= set(results.overall.missing)


def test_the_record_keeps_what_was_left_out(made: Path) -> None:
    spoil(made / "gold")
    results = isogloss.score(made / "a", gold=made / "gold", tasks=TASKS)
    results.to_json(made / "r.json")
    assert Results.from_json(made / "r.json") == results
    record = json.loads((made / "r.json").read_text())
    del record["left_out"]
    (made / "r.json").write_text(json.dumps(record))
    assert Results.from_json(made / "r.json").left_out == []


def test_strict_lists_all_reasons(made: Path) -> None:
    wanted = spoil(made / "gold")
    for verb in (
        lambda: isogloss.score(made / "a", gold=made / "gold", tasks=TASKS, strict=True),
        lambda: isogloss.compare(made / "a", made / "b", gold=made / "gold", tasks=TASKS, strict=True),
    ):
        with pytest.raises(PredictionError, match="4 problems") as error:
            verb()
        assert all(reason in str(error.value) for reason in wanted.values())


def test_comparisons_leave_out_cells_without_gold(made: Path) -> None:
    wanted = spoil(made / "gold")
    comparison = isogloss.compare(made / "a", made / "b", gold=made / "gold", tasks=TASKS)
    assert reasons(comparison).keys() == wanted.keys()
    assert len(comparison.left_out) == len(wanted)
    assert not {"/".join(cell) for cell in wanted} & {contrast.name for contrast in comparison.cells}


def test_leaving_out_everything_raises(made: Path) -> None:
    shutil.rmtree(made / "gold/xcopa")
    with pytest.raises(PredictionError, match=r"11 problems\n  xcopa/et test: .*: no labels for xcopa/et test"):
        isogloss.score(made / "a", gold=made / "gold", tasks=["xcopa"])


def test_cells_are_not_left_out_without_a_list(made: Path) -> None:
    spoil(made / "gold")
    request = Request.of("xtreme-r", tasks=TASKS, gold=made / "gold")
    with pytest.raises(PredictionError, match="4 problems"):
        list(judged_cells(made / "a", request))


def test_answers_in_memory_are_left_out_too(tmp_path: Path) -> None:
    answers = xquad(tmp_path)
    found = isogloss.score({"xquad": {"en": answers, "de": answers}}, data=tmp_path)
    assert reasons(found) == {("xquad", "de"): f"no test file of xquad/de in {tmp_path}"}
    assert [cell.language for cell in found.cells] == ["en"]


def test_run_with_unscorable_test_set_is_scored_on_other_cells(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p/xquad/en.jsonl", dict(xquad(tmp_path)))
    tags = wikiann_dev(tmp_path)
    words = ["".join(f"w{place}\n" for place in range(len(sentence))) for sentence in tags]
    (tmp_path / "panx/test-qu.tsv").write_text("\n".join(words))
    write_jsonl(tmp_path / "p/wikiann/qu.jsonl", {f"test-{row}": ["O"] * len(each) for row, each in enumerate(tags)})
    results = isogloss.score(tmp_path / "p", data=tmp_path)
    assert reasons(results) == {("wikiann", "qu"): "the test file has no gold answers"}
    assert "--split dev" in results.left_out[0].fix
    assert results.left_out[0].path == str(tmp_path / "panx/test-qu.tsv")
    assert results["xquad", "en"].score == 100


@pytest.mark.parametrize("split", ["test", "dev", "best"])
def test_empty_grid_names_expected_files(split: str, tmp_path: Path) -> None:
    (tmp_path / "p/xnli").mkdir(parents=True)
    with pytest.raises(PredictionError) as error:
        isogloss.score(tmp_path / "p", data=tmp_path, split=split)
    assert ("<task>/<language>.jsonl" in str(error.value)) == (split != "dev")
    assert ("<task>/dev-<language>.jsonl" in str(error.value)) == (split != "test")


def test_empty_grid_reports_misnamed_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p/XQUAD/en.jsonl", {"q0": "word"})
    with pytest.raises(PredictionError, match=r"XQUAD: not the name of a task\. Did you mean xquad\?"):
        isogloss.score(tmp_path / "p", data=tmp_path)


def embed(root: Path, zero: slice) -> None:
    root.mkdir(parents=True)
    for side, seed in (("queries", 0), ("candidates", 1)):
        vectors = np.random.default_rng(seed).normal(size=(205, 8)).astype(np.float32)
        if side == "queries":
            vectors[zero] = 0
        np.save(root / f"{side}-jv.npy", vectors)
        (root / f"{side}-jv.ids.txt").write_text("".join(f"{row}\n" for row in range(205)))


@pytest.mark.parametrize(("zero", "count"), [(slice(None), 205), (slice(3, 4), 1), (slice(0, 0), 0)])
def test_zero_vectors_are_reported(zero: slice, count: int, tmp_path: Path) -> None:
    tatoeba(tmp_path)
    embed(tmp_path / "p/tatoeba", zero)
    notes = isogloss.score(tmp_path / "p", data=tmp_path)["tatoeba", "jv"].notes
    warnings = [problem.what for problem in isogloss.validate(tmp_path / "p", tmp_path).everything()]
    said = f"{count} of 205 vectors"
    assert [note.startswith(said) for note in notes] == [warning.startswith(said) for warning in warnings]
    assert len(notes) == (count > 0)


def test_misnamed_file_with_undecodable_name_is_in_the_record(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", suite("xtreme-r"), 12)
    write_system(tmp_path / "a", suite("xtreme-r"), 12, "a", 0.9)
    (tmp_path / "a" / os.fsdecode(b"\xff.jsonl")).write_text("x")
    found = isogloss.score(tmp_path / "a", gold=tmp_path / "gold", tasks=TASKS)
    found.to_json(tmp_path / "results.json")
    [kept] = Results.from_json(tmp_path / "results.json").left_out
    assert kept.path == str(tmp_path / "a/\N{REPLACEMENT CHARACTER}.jsonl")


def test_cells_with_one_cause_share_a_note(tmp_path: Path) -> None:
    gold = GoldSource(labels=tmp_path)
    left_out = []
    for code in ("de", "sw"):
        with pytest.raises(MissingDataError) as raised:
            gold.examples(task("xnli"), code, "test")
        left_out.append(LeftOut.of_error(raised.value, "xnli", code, "test"))
    stored = msgspec.json.decode(msgspec.json.encode(left_out), type=list[LeftOut])
    [note] = left_out_notes(stored)
    assert note == f"left out: xnli/de,sw test: {tmp_path}: no labels for xnli test"
