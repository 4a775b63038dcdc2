"""A reader that gets some cases right and some wrong for known reasons, scored end to end."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from isogloss.checklist.build import build
from isogloss.checklist.reference import UNANSWERABLE, UNPASSABLE, published_averages, published_rates
from isogloss.checklist.scoring import averages, contrast, failures, score
from isogloss.cli.main import main
from isogloss.errors import PredictionError
from isogloss.metrics.intervals import wilson
from isogloss.report.checklist import rate_tables

Row = dict[str, str]


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def answer_with(reader: Callable[[Row], str], suite: Path, out: Path) -> Path:
    out.mkdir(parents=True, exist_ok=True)
    for path in suite.glob("*.jsonl"):
        lines = [json.dumps({"id": row["id"], "prediction": reader(row)}) for row in rows(path)]
        with (out / path.name).open("a", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
    return out


def first_word(row: Row) -> str:
    """A rule-based reader: the first word of the context, whatever is asked."""
    return row["context"].split()[0]


def gold(row: Row) -> str:
    return row["answer"]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    build(folder, ["en"], count=30, squad=True)
    return folder


def rates(root: Path, mode: str = "fair") -> dict[str, float]:
    return {cell.test: cell.rates[mode].value for cell in score(root, count=30)}


def test_gold_has_no_errors_and_silence_only_errors(suite: Path, tmp_path: Path) -> None:
    assert set(rates(answer_with(gold, suite, tmp_path / "gold")).values()) == {0.0}
    assert set(rates(answer_with(lambda row: "", suite, tmp_path / "mute")).values()) == {100.0}


def test_a_case_fails_if_any_of_its_examples_fails(suite: Path, tmp_path: Path) -> None:
    # The first word answers "who is more?" and never "who is less?": every comparison fails, by one of two examples.
    found = rates(answer_with(first_word, suite, tmp_path / "first"))
    assert found["comparisons"] == 100.0
    wrong = failures(tmp_path / "first", "en", count=30)
    assert sum(failure.test == "comparisons" for failure in wrong) == 30
    one = next(failure for failure in wrong if failure.test == "comparisons")
    assert one.prediction == one.context.split()[0] != one.gold


def test_the_two_rules_stand_side_by_side(suite: Path, tmp_path: Path) -> None:
    root = answer_with(lambda row: row["answer"].upper(), suite, tmp_path / "loud")
    assert set(rates(root, "fair").values()) == {0.0}
    assert set(rates(root, "paper").values()) == {100.0}
    [cell] = [cell for cell in score(root, count=30) if cell.test == "comparisons"]
    low, high = wilson(1.0, 30)
    assert (cell.rates["paper"].low, cell.rates["paper"].high) == (100 * low, 100 * high)
    assert averages(score(root, count=30), "paper")["overall"] == 100


def test_invariance_forgives_wrong_but_steady_answers(suite: Path, tmp_path: Path) -> None:
    changed = tmp_path / "inv"
    build(changed, ["en"], kind="inv-names", count=30)
    # The last word before the full stop: often wrong, but it moves with the names.
    last = answer_with(lambda row: row["context"].rstrip(".").split()[-1], suite, tmp_path / "last")
    answer_with(lambda row: row["context"].rstrip(".").split()[-1], changed, last)
    steady = {cell.test: cell.rates["fair"].value for cell in score(last, kind="inv-names", count=30)}
    assert "properties" not in steady
    assert set(steady.values()) == {0.0}
    unrelated = tmp_path / "unrelated"
    build(unrelated, ["en"], kind="inv-unrelated", count=30)
    hasty = answer_with(first_word, suite, tmp_path / "hasty")
    answer_with(first_word, unrelated, hasty)
    shaken = {cell.test: cell.rates["fair"].value for cell in score(hasty, kind="inv-unrelated", count=30)}
    # "The box …" and "The river is long. The box …" begin alike.
    assert {rate for test, rate in shaken.items() if test != "properties"} == {100.0}


def test_two_systems_are_told_apart(suite: Path, tmp_path: Path) -> None:
    good = score(answer_with(gold, suite, tmp_path / "gold"), count=30)
    bad = score(answer_with(first_word, suite, tmp_path / "bad"), count=30)
    assert all(p < 0.05 for _, _, p in contrast(good, bad))
    assert all(p == 1 for _, _, p in contrast(good, good))


def test_wrong_files_are_refused(suite: Path, tmp_path: Path) -> None:
    with pytest.raises(PredictionError, match="no answers"):
        score(tmp_path)
    (tmp_path / "en.jsonl").write_text('{"id": "nobody", "prediction": "x"}\n')
    with pytest.raises(PredictionError, match="none of the ids is of this suite"):
        score(tmp_path, count=30)
    (tmp_path / "en.jsonl").write_text('{"id": "a", "prediction": "x"}\n' * 2)
    with pytest.raises(PredictionError, match=r"en\.jsonl:2: id 'a' occurs twice"):
        score(tmp_path, count=30)


def test_what_has_no_answer_is_counted(suite: Path, tmp_path: Path) -> None:
    root = answer_with(gold, suite, tmp_path / "part")
    lines = (root / "en.jsonl").read_text().splitlines()
    (root / "en.jsonl").write_text("\n".join(lines[2:]) + "\n")  # the two examples of the first comparison
    [cell] = [cell for cell in score(root, count=30) if cell.test == "comparisons"]
    assert (cell.unanswered, sum(cell.failed["fair"])) == (2, 1)
    notes = rate_tables([cell], {}, "part")[0].notes
    assert "2 examples have no answer; each fails its case" in notes


@pytest.mark.parametrize(
    "words",
    [["compare", "A", "A", "--cases", "30", "--mode", "fairr"], ["score", "A", "--cases", "30", "--kind", "mtf"]],
)
def test_misspelt_rules_and_kinds(
    words: list[str], suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(answer_with(gold, suite, tmp_path / "gold"))
    with pytest.raises(SystemExit) as stop:
        main(["checklist", *(root if word == "A" else word for word in words)])
    assert stop.value.code == 2
    assert "Did you mean" in capsys.readouterr().err


def test_rows_carry_everything(suite: Path) -> None:
    row = rows(suite / "en.jsonl")[0]
    assert row["id"] == "comparisons-0000-00"
    assert set(row) == {"id", "case", "test", "kind", "language", "context", "question", "answer", "review", "slots"}
    squad = json.loads((suite / "en.squad.json").read_text(encoding="utf-8"))
    for paragraph in squad["data"][0]["paragraphs"]:
        for question in paragraph["qas"]:
            [found] = question["answers"]
            start = found["answer_start"]
            assert paragraph["context"][start : start + len(found["text"])] == found["text"]


@pytest.mark.slow
def test_the_same_bytes_on_any_hash_seed(tmp_path: Path) -> None:
    contents = set()
    for seed in ("1", "2"):
        call = [sys.executable, "-c", "from isogloss.cli.main import main; main()", "checklist", "build"]
        call += ["--out", str(tmp_path / seed), "--languages", "en", "--cases", "20"]
        subprocess.run(call, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)
        contents.add((tmp_path / seed / "en.jsonl").read_bytes())
    assert len(contents) == 1


def test_the_published_systems_are_built_in() -> None:
    rates = published_rates()
    assert set(rates) == {"XLM-R Large", "mBERT"}
    assert (len(UNANSWERABLE), len(UNPASSABLE)) == (14, 4)
    assert all(rates["XLM-R Large"][cell] == rates["mBERT"][cell] == 100.0 for cell in UNANSWERABLE)
    assert all(rates["XLM-R Large"][cell] == 100.0 for cell in UNPASSABLE)
    assert round(published_averages()["XLM-R Large"]["comparisons"], 1) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["show", "comparisons-0003", "--languages", "en"], ["reference"], ["audit", "--languages", "en"]]
)
def test_the_verb(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["checklist", *words])
    assert stop.value.code == 0
    assert capsys.readouterr().out


def test_score_and_compare_by_command(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = answer_with(gold, suite, tmp_path / "a")
    b = answer_with(first_word, suite, tmp_path / "b")
    for words in (
        ["score", str(b), "--cases", "30", "--failures", "2", "--json", str(tmp_path / "r.json")],
        ["compare", str(a), str(b), "--cases", "30"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(["checklist", *words])
        assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "rule: fair" in text
    assert "a against b" in text
    assert len(json.loads((tmp_path / "r.json").read_text())) == 6
