"""Every task with public files, end to end: real gold, corrupted by a rule, scored by the command line.

The expected scores come from code that shares nothing with the package.
"""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from e2e import rawfiles
from e2e.command import cell, scored, values, write, write_answers, write_xtreme
from e2e.corrupted import CASES, Answered, lareqa_files, spoilt_ranking
from e2e.independent import one_target_scores, ranking_scores, span_scores, task_score


@cache
def spoilt(root: Path, task: str, language: str) -> Answered:
    """Return the corrupted answers of one cell, for both layouts."""
    return CASES[task].spoil(root, language)


def bare(answered: Answered) -> dict[str, float]:
    """Return the expected scores without n."""
    return {name: score for name, (score, _) in answered.expected.items()}


def request(root: Path, task: str) -> list[object]:
    """Return the options that select a case's cells."""
    case = CASES[task]
    words = ["--data", root, "--suite", case.suite, "--tasks", task, "--languages", ",".join(case.languages)]
    return words if case.split == "test" else [*words, "--split", case.split]


def assert_as_expected(record: dict[str, Any], root: Path, task: str) -> None:
    case = CASES[task]
    assert {(c["task"], c["language"], c["split"]) for c in record["cells"]} == {
        (task, language, case.split) for language in case.languages
    }
    for language in case.languages:
        expected = spoilt(root, task, language)
        found = cell(record, task, language)
        assert values(found["metrics"]) == pytest.approx(bare(expected), abs=1e-9)
        assert {name: number["n"] for name, number in found["metrics"].items()} == {
            name: n for name, (_, n) in expected.expected.items()
        }
        assert all(number["low"] <= number["value"] <= number["high"] for number in found["metrics"].values())
        signature = dict(part.split(":", 1) for part in found["signature"].split("|"))
        assert (signature["task"], signature["lang"]) == (task, language)
        assert (signature["split"], signature["n"]) == (case.split, str(expected.n))
    (average,) = record["tasks"]
    cells = [bare(spoilt(root, task, language)) for language in case.languages]
    assert average["score"]["value"] == pytest.approx(task_score(task, cells), abs=1e-9)
    assert average["members"] == list(case.languages)


@pytest.mark.parametrize("task", CASES)
def test_our_own_layout(task: str, data_dir: Path, tmp_path: Path) -> None:
    for language in CASES[task].languages:
        answers = spoilt(data_dir, task, language).answers
        # Answers are matched by id, so the order of lines must not matter.
        write_answers(tmp_path / "run", task, language, dict(reversed(list(answers.items()))), CASES[task].split)
    assert_as_expected(scored(tmp_path / "run", *request(data_dir, task)), data_dir, task)


@pytest.mark.parametrize("task", CASES)
def test_xtremes_layout(task: str, data_dir: Path, tmp_path: Path) -> None:
    for language in CASES[task].languages:
        write_xtreme(tmp_path / "run", task, language, spoilt(data_dir, task, language).xtreme, CASES[task].split)
    assert_as_expected(scored(tmp_path / "run", *request(data_dir, task)), data_dir, task)


def test_one_file_per_task(data_dir: Path, tmp_path: Path) -> None:
    answers = {language: spoilt(data_dir, "xquad", language).answers for language in CASES["xquad"].languages}
    write(tmp_path / "run" / "xquad.json", json.dumps(answers, ensure_ascii=False))
    assert_as_expected(scored(tmp_path / "run", *request(data_dir, "xquad")), data_dir, "xquad")


def test_installed_command(data_dir: Path, tmp_path: Path) -> None:
    """In its own process: exit code, tables on stdout, empty stderr, both records."""
    write_answers(tmp_path / "run", "tydiqa", "bn", spoilt(data_dir, "tydiqa", "bn").answers)
    words = ["score", "run", "--tasks", "tydiqa", "--languages", "bn", "--json", "out.json", "--csv", "out.csv"]
    done = subprocess.run(
        [sys.executable, "-c", "from isogloss.cli.main import main; main()", *words],
        cwd=tmp_path,
        env={**os.environ, "ISOGLOSS_DATA": str(data_dir)},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    f1, em = (spoilt(data_dir, "tydiqa", "bn").expected[name][0] for name in ("f1", "em"))
    assert f"f1 {f1:.1f}  em {em:.1f}" in done.stdout
    found = values(cell(json.loads((tmp_path / "out.json").read_text()), "tydiqa", "bn")["metrics"])
    assert found == pytest.approx({"f1": f1, "em": em}, abs=1e-9)
    header, *rows = (tmp_path / "out.csv").read_text().splitlines()
    table = [dict(zip(header.split(","), row.split(","), strict=True)) for row in rows if row.startswith("cell,")]
    assert {row["metric"]: float(row["value"]) for row in table} == found


def test_shallow_rankings_have_no_one_target_scores(data_dir: Path, tmp_path: Path) -> None:
    built = lareqa_files(data_dir)
    names = built.questions["th"]
    rankings = [spoilt_ranking(built, number, name, 20) for number, name in enumerate(names)]
    write_answers(tmp_path / "run", "lareqa", "th", dict(zip(names, rankings, strict=True)))
    found = cell(scored(tmp_path / "run", *request(data_dir, "lareqa")), "lareqa", "th")
    expected = ranking_scores(rankings, [built.targets[name] for name in names])
    assert values(found["metrics"]) == pytest.approx(expected, abs=1e-9)
    (note,) = found["notes"]
    assert "one-target" in note
    assert "30" in note
    assert "20" in note


def test_unanswered_question_scores_zero_in_every_lareqa_metric(data_dir: Path, tmp_path: Path) -> None:
    built = lareqa_files(data_dir)
    names = built.questions["th"]
    rankings = [spoilt_ranking(built, number, name, 30) if number % 13 else [] for number, name in enumerate(names)]
    answers = {name: ranking for name, ranking in zip(names, rankings, strict=True) if ranking}
    write_answers(tmp_path / "run", "lareqa", "th", answers)
    found = cell(scored(tmp_path / "run", *request(data_dir, "lareqa")), "lareqa", "th")
    targets = [built.targets[name] for name in names]
    one_target = {name: score for name, (score, _) in one_target_scores(rankings, targets, "th").items()}
    assert values(found["metrics"]) == pytest.approx({**ranking_scores(rankings, targets), **one_target}, abs=1e-9)


def test_language_pairs_of_lareqa(data_dir: Path, tmp_path: Path) -> None:
    """The pooled subsets and the matrix cover (question, target) pairs of both languages."""
    for language in ("de", "th"):
        write_answers(tmp_path / "run", "lareqa", language, spoilt(data_dir, "lareqa", language).answers)
    (pairs,) = scored(tmp_path / "run", *request(data_dir, "lareqa"))["pairs"]
    built = lareqa_files(data_dir)
    for query in ("de", "th"):
        for target_language in rawfiles.LAREQA_LANGUAGES:
            names = built.questions[query]
            rankings = [spoilt_ranking(built, number, name, 30) for number, name in enumerate(names)]
            by_language = one_target_scores(rankings, [built.targets[n] for n in names], target_language)
            value, n = by_language["one-target-same"]
            number = pairs["matrix"][query][target_language]
            assert (number["value"], number["n"]) == (pytest.approx(value, abs=1e-9), n)
    for subset, metric in (("same language", "one-target-same"), ("different languages", "one-target-different")):
        both = [spoilt(data_dir, "lareqa", language).expected[metric] for language in ("de", "th")]
        assert pairs["subsets"][subset]["value"] == pytest.approx(fmean(value for value, _ in both), abs=1e-9)
        assert pairs["subsets"][subset]["n"] == sum(n for _, n in both)


def test_character_spans_work_without_tokens(data_dir: Path, tmp_path: Path) -> None:
    """Part-of-speech spans of Telugu, every 5th off by its last letter or its tag."""
    gold, given = [], []
    for sentence in rawfiles.treebanks(data_dir, "te"):
        spans, end = [], 0
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            start = sentence.text.index(word, end)
            end = start + len(word)
            spans.append((start, end, tag))
        gold.append(spans)
        given.append([_moved(place, span) for place, span in enumerate(spans)])
    answers = {f"test-{row}": [list(span) for span in spans] for row, spans in enumerate(given)}
    write_answers(tmp_path / "run", "udpos", "te", answers)
    record = scored(tmp_path / "run", "--data", data_dir, "--tasks", "udpos", "--languages", "te")
    found = cell(record, "udpos", "te")
    assert values(found["metrics"]) == pytest.approx(span_scores(gold, given), abs=1e-9)
    assert "dialect:char-spans" in found["signature"]
    assert any("not comparable" in note for note in found["notes"])


def _moved(place: int, span: tuple[int, int, str]) -> tuple[int, int, str]:
    start, end, tag = span
    if place % 5:
        return span
    return (start, end, "X") if place % 10 or end - start == 1 else (start, end - 1, tag)


@pytest.mark.parametrize("name", ["independent", "rawfiles", "corrupted"])
def test_independent_scorer_does_not_import_the_package(name: str) -> None:
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any(module.startswith("isogloss") for module in imported)
