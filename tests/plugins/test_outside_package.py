"""An external package adds kinds, tasks, a suite, a metric, an attribute and a system.

Every command supports them like built-in ones.
"""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from plugins.installed import Environment, install
from plugins.made_data import likeness, write_data


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the package of `tests/plugins/package` in its own folder, with data for its tasks."""
    root = tmp_path_factory.mktemp("outside")
    install(root / "site")
    return Environment(root / "site", write_data(root / "data"))


def answers(root: Path, shift: float) -> Path:
    """Write predictions for every language: right numbers, except every third, which is off by `shift`."""
    for language in ("en", "de", "sw"):
        path = root / "likeness" / f"{language}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            json.dumps({"id": f"test-{row}", "prediction": _answer(row, alike, shift)})
            for row, (_, _, alike) in enumerate(likeness())
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def _answer(row: int, alike: float, shift: float) -> float:
    return round(alike + (shift if row % 3 == 0 else 0), 4)


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("systems")
    return answers(root / "good", 0.05), answers(root / "poor", -0.6)


def by_hand(gold: list[float], given: list[float]) -> float:
    """Return Spearman's correlation: Pearson's of the ranks, with mean ranks for equal values."""

    def rank(values: list[float]) -> list[float]:
        return [sum(v < one for v in values) + (sum(v == one for v in values) + 1) / 2 for one in values]

    x, y = rank(gold), rank(given)
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    together = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return together / sqrt(sum((a - mean_x) ** 2 for a in x) * sum((b - mean_y) ** 2 for b in y))


def record(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_list_shows_what_it_brings(outside: Environment) -> None:
    assert "likeness" in outside.isogloss("list", "tasks").out
    assert "outside" in outside.isogloss("list", "suites").out
    assert "mean distance from the right number" in outside.isogloss("list", "metrics").out
    assert "word-overlap" in outside.isogloss("list", "systems").out
    shown = outside.isogloss("list", "likeness").out
    assert "how alike two sentences are" in shown
    assert "likeness/{lang}.tsv" in shown


def test_listing_imports_nothing_heavy(outside: Environment) -> None:
    code = "import sys; import isogloss.cli.listing as cli; cli.listing('tasks', json=True); "
    done = outside.python("-c", code + "sys.exit(bool({'numpy', 'msgspec'} & {*sys.modules}))")
    assert "likeness" in done.out


def test_export_writes_its_inputs_without_gold(outside: Environment, tmp_path: Path) -> None:
    done = outside.isogloss("export", "likeness", "--out", tmp_path / "inputs")
    assert "Each prediction is a number, the higher the more alike" in done.out
    lines = (tmp_path / "inputs" / "likeness" / "sw.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 30
    assert json.loads(lines[0]).keys() == {"id", "language", "text_a", "text_b"}


def test_validate_finds_what_is_wrong(outside: Environment, systems: tuple[Path, Path], tmp_path: Path) -> None:
    assert "3 files, 0 errors, 0 warnings" in outside.isogloss("validate", systems[0]).out
    wrong = tmp_path / "wrong" / "likeness"
    wrong.mkdir(parents=True)
    (wrong / "en.jsonl").write_text('{"id": "test-0", "prediction": "very"}\n', encoding="utf-8")
    output = outside.isogloss("validate", wrong.parent, code=1).out
    assert "a number, the higher the more alike the two sentences are" in output
    assert "no answer for" not in output  # the unreadable line explains it


def test_score_as_by_hand(outside: Environment, systems: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    done = outside.isogloss("score", systems[1], "--suite", "outside", "--tasks", "likeness", "--json", target)
    assert "likeness" in done.out
    gold = [alike for *_, alike in likeness()]
    given = [_answer(row, alike, -0.6) for row, alike in enumerate(gold)]
    expected = 100 * by_hand(gold, given)
    results = record(target)
    for cell in results["cells"]:
        assert cell["metrics"]["spearman"]["value"] == pytest.approx(expected)
        assert cell["metrics"]["spearman"]["low"] < expected < cell["metrics"]["spearman"]["high"]
        apart = 100 * sum(abs(a - b) for a, b in zip(gold, given, strict=True)) / 30
        assert cell["metrics"]["distance"]["value"] == pytest.approx(apart)
        assert "task:likeness|" in cell["signature"]
    assert [average["name"] for average in results["tasks"]] == ["likeness"]
    assert results["tasks"][0]["score"]["value"] == pytest.approx(expected)
    # Translations are resampled together: the average of three equal cells is as uncertain as one.
    cell, average = results["cells"][0]["metrics"]["spearman"], results["tasks"][0]["score"]
    assert (average["low"], average["high"]) == pytest.approx((cell["low"], cell["high"]), abs=0.1)
    assert results["overall"]["missing"] == ["subjects"]


def test_compare_two_systems(outside: Environment, systems: tuple[Path, Path], tmp_path: Path) -> None:
    target = tmp_path / "compared.json"
    done = outside.isogloss("compare", *systems, "--suite", "outside", "--json", target)
    assert "likeness" in done.out
    gold = [alike for *_, alike in likeness()]
    good, poor = (by_hand(gold, [_answer(row, one, shift) for row, one in enumerate(gold)]) for shift in (0.05, -0.6))
    (compared,) = record(target)
    assert [cell["difference"] for cell in compared["cells"]] == pytest.approx([100 * (good - poor)] * 3)
    assert compared["tasks"][0]["low"] > 0


@pytest.mark.slow
def test_explain_by_its_own_attribute_and_by_ours(
    outside: Environment, systems: tuple[Path, Path], tmp_path: Path
) -> None:
    target = tmp_path / "explained.json"
    outside.isogloss("explain", systems[1], "--suite", "outside", "--tasks", "likeness", "--json", target)
    (explained,) = record(target)["explanations"]
    attributes = {facet["attribute"] for facet in explained["facets"]}
    assert {"sharedWords", "overlap"} <= attributes
    both = tmp_path / "both.json"
    outside.isogloss("explain", *systems, "--suite", "outside", "--tasks", "likeness", "--json", both)
    scored = tmp_path / "results.json"
    outside.isogloss("score", systems[1], "--suite", "outside", "--json", scored)
    page = tmp_path / "report"
    outside.isogloss("report", scored, "--explain", target, "--explain", both, "--no-pictures", "--out", page)
    assert "sharedWords" in (page / "index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_run_of_its_system_then_report(outside: Environment, systems: tuple[Path, Path], tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    done = outside.isogloss("run", "word-overlap", "--suite", "outside", "--seeds", 1, "--out", runs)
    assert "word-overlap answers with numbers only" in done.out  # reason for the other task of the suite
    folder = runs / "word-overlap" / "zero-shot" / "seed-0"
    results = record(folder / "results.json")
    assert {cell["language"] for cell in results["cells"]} == {"en", "de", "sw"}
    assert all(cell["metrics"]["spearman"]["value"] > 50 for cell in results["cells"])

    scored = tmp_path / "good.json"
    outside.isogloss("score", systems[0], "--suite", "outside", "--json", scored)
    page = tmp_path / "report"
    outside.isogloss("report", folder, scored, "--no-pictures", "--out", page)
    assert "likeness" in (page / "index.html").read_text(encoding="utf-8")
    assert "distance" in (page / "scores.csv").read_text(encoding="utf-8")


def test_kind_with_labels_is_served_by_the_floor_baseline(outside: Environment, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    outside.isogloss("run", "ngram", "--suite", "outside", "--tasks", "subjects", "--seeds", 1, "--out", runs)
    folder = runs / "ngram" / "zero-shot" / "seed-0"
    (english,) = (cell for cell in record(folder / "results.json")["cells"] if cell["language"] == "en")
    assert english["metrics"]["accuracy"]["value"] > 90
    target = tmp_path / "results.json"
    outside.isogloss("score", folder, "--suite", "outside", "--json", target)
    gold = dict(enumerate(_second_column(outside.data / "subjects" / "en.tsv")))
    lines = (folder / "subjects" / "en.jsonl").read_text(encoding="utf-8").splitlines()
    given = {json.loads(line)["id"]: json.loads(line)["prediction"] for line in lines}
    right = {
        label: [given[f"test-{row}"] == label for row, one in gold.items() if one == label] for label in gold.values()
    }
    balanced = sum(sum(hits) / len(hits) for hits in right.values()) / len(right)
    (english,) = (cell for cell in record(target)["cells"] if cell["language"] == "en")
    assert english["metrics"]["balanced"]["value"] == pytest.approx(100 * balanced)


def _second_column(path: Path) -> list[str]:
    return [line.partition("\t")[0] for line in path.read_text(encoding="utf-8").splitlines()]


def test_label_folder_in_the_format_of_the_kind_it_is_made_from(outside: Environment, tmp_path: Path) -> None:
    gold = tmp_path / "gold" / "subjects"
    gold.mkdir(parents=True)
    (gold / "test-en.tsv").write_text("law\njazz\nlaw\n", encoding="utf-8")
    given = tmp_path / "given" / "subjects"
    given.mkdir(parents=True)
    (given / "test-en.tsv").write_text("law\nlaw\nlaw\n", encoding="utf-8")
    target = tmp_path / "results.json"
    words = ("--suite", "outside", "--tasks", "subjects", "--gold", gold.parent, "--json", target)
    outside.isogloss("score", given.parent, *words)
    metrics = record(target)["cells"][0]["metrics"]
    assert (metrics["accuracy"]["value"], metrics["balanced"]["value"]) == (pytest.approx(200 / 3), 50)


def test_weights_of_its_suite_make_the_overall(
    outside: Environment, systems: tuple[Path, Path], tmp_path: Path
) -> None:
    """Likeness has three times the weight of subjects."""
    folder = answers(tmp_path / "both", -0.6)
    (folder / "subjects").mkdir()
    for language in ("en", "de"):
        gold = _second_column(outside.data / "subjects" / f"{language}.tsv")
        text = "".join(json.dumps({"id": f"test-{row}", "prediction": label}) + "\n" for row, label in enumerate(gold))
        (folder / "subjects" / f"{language}.jsonl").write_text(text, encoding="utf-8")
    target = tmp_path / "results.json"
    outside.isogloss("score", folder, "--suite", "outside", "--json", target)
    results = record(target)
    likeness_score, subjects_score = (average["score"]["value"] for average in results["tasks"])
    assert subjects_score == 100
    assert results["overall"]["score"]["value"] == pytest.approx((3 * likeness_score + 100) / 4)


def test_other_tools_files_are_refused_for_it(outside: Environment, tmp_path: Path) -> None:
    file = tmp_path / "predictions.json"
    file.write_text("[0.5]", encoding="utf-8")
    for tool in ("hf", "lm-eval", "mteb", "explainaboard"):
        words = ("import", tool, file, "--task", "likeness", "--language", "en", "--out", tmp_path / "out")
        error = outside.isogloss(*words, code=1).err
        assert error.startswith("error: ")
        assert "likeness" in error
    assert not (tmp_path / "out").exists()


def test_label_folder_has_no_format_for_a_kind_without_one(
    outside: Environment, systems: tuple[Path, Path], tmp_path: Path
) -> None:
    words = ("--suite", "outside", "--tasks", "likeness", "--gold", tmp_path)
    error = outside.isogloss("score", systems[0], *words, code=1).err
    assert "label folders have no format for likeness" in error
