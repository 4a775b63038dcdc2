"""A custom suite, from its TOML file to the report: tasks, languages, rule and weights."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.command import isogloss, refused, scored, write, write_answers
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task

LANGUAGES = {"mini-xnli": ("de", "sw"), "mini-xcopa": ("th",), "mini-xquad": ("de", "sw")}
OWN = """
title = "What we ship"
tasks = ["mini-xnli", "mini-xcopa", "mini-xquad"]
rule = "{rule}"
[languages]
mini-xnli = ["de", "sw"]
mini-xcopa = ["th"]
mini-xquad = ["de", "sw"]
[weights]
mini-xnli = 3
mini-xquad = 0.5
"""


@pytest.fixture(params=["flat", "category"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path / "ours.toml", OWN.format(rule=request.param))


def answers(root: Path, wrong: int) -> Path:
    """Write predictions for the whole suite, with the first few of each cell wrong."""
    for name, codes in LANGUAGES.items():
        of = task(name)
        for code in codes:
            gold = load_gold(of, code, "test", None)
            right = [one[0] if isinstance(one, list) else one for one in gold[gold.gold]]
            given = [_other(of.labels, one) if row < wrong else one for row, one in enumerate(right)]
            write_answers(root, name, code, dict(zip(gold.ids, given, strict=True)))
    return root


def _other(labels: tuple[str, ...], answer: Any) -> Any:
    if labels:
        return next(label for label in labels if label != answer)
    return 1 - answer if isinstance(answer, int) else "qqq"


def by_hand(rule: str, scores: dict[str, float]) -> float:
    """Return the expected overall score: weights 3 for XNLI, 1 for XCOPA, 0.5 for XQuAD, its own category."""
    xnli, xcopa, xquad = (scores[name] for name in LANGUAGES)
    if rule == "flat":
        return (3 * xnli + xcopa + 0.5 * xquad) / 4.5
    return ((3 * xnli + xcopa) / 4 + xquad) / 2


def rule_of(own: Path) -> str:
    return "flat" if 'rule = "flat"' in own.read_text(encoding="utf-8") else "category"


def test_weights_and_rule_make_the_overall(own: Path, tmp_path: Path) -> None:
    record = scored(answers(tmp_path / "a", 20), "--suite", own)
    assert record["suite"] == "ours"
    assert {(cell["task"], cell["language"]) for cell in record["cells"]} == {
        (name, code) for name, codes in LANGUAGES.items() for code in codes
    }
    scores = {average["name"]: average["score"]["value"] for average in record["tasks"]}
    assert scores == pytest.approx(dict.fromkeys(LANGUAGES, 100 * 40 / 60))
    assert record["overall"]["missing"] == []

    (tmp_path / "a" / "mini-xcopa" / "th.jsonl").write_text(
        (answers(tmp_path / "b", 50) / "mini-xcopa" / "th.jsonl").read_text(encoding="utf-8"), encoding="utf-8"
    )
    (tmp_path / "a" / "mini-xquad" / "sw.jsonl").write_text(
        (tmp_path / "b" / "mini-xquad" / "sw.jsonl").read_text(encoding="utf-8"), encoding="utf-8"
    )
    record = scored(tmp_path / "a", "--suite", own)
    scores = {"mini-xnli": 100 * 40 / 60, "mini-xcopa": 100 * 10 / 60, "mini-xquad": 100 * 25 / 60}
    assert {average["name"]: average["score"]["value"] for average in record["tasks"]} == pytest.approx(scores)
    assert record["overall"]["rule"] == rule_of(own)
    assert record["overall"]["score"]["value"] == pytest.approx(by_hand(rule_of(own), scores))


def test_compare_uses_the_weights(own: Path, tmp_path: Path) -> None:
    first, second = answers(tmp_path / "a", 6), answers(tmp_path / "b", 30)
    target = tmp_path / "compared.json"
    done = isogloss("compare", first, second, "--suite", own, "--json", target)
    assert done.code == 0, done.err
    (compared,) = json.loads(target.read_text(encoding="utf-8"))
    differences = {average["name"]: average["difference"] for average in compared["tasks"]}
    assert differences == pytest.approx(dict.fromkeys(LANGUAGES, 100 * 24 / 60))
    assert compared["overall"]["difference"] == pytest.approx(by_hand(rule_of(own), differences))


@pytest.mark.slow
def test_run_can_be_reported_after_suite_file_is_removed(tmp_path: Path) -> None:
    own = write(tmp_path / "ours.toml", OWN.format(rule="flat"))
    runs = tmp_path / "runs"
    done = isogloss("run", "ngram", "--suite", own, "--seeds", 1, "--jobs", 2, "--out", runs)
    assert done.code == 0, done.err
    folder = runs / "ngram" / "zero-shot" / "seed-0"
    record = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert record["suite"] == "ours"
    scores = {average["name"]: average["score"]["value"] for average in record["tasks"]}
    assert record["overall"]["score"]["value"] == pytest.approx(by_hand("flat", scores))
    own.unlink()
    done = isogloss("report", folder, "--no-pictures", "--out", tmp_path / "report")
    assert done.code == 0, done.err
    assert "ours" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_invalid_suite_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    own = write(tmp_path / "ours.toml", 'tasks = ["mini-xqad"]')
    assert "unknown task 'mini-xqad'" in refused(tmp_path / "a", "--suite", own, code=2)
    taken = write(tmp_path / "xtreme.toml", 'tasks = ["mini-xnli"]')
    assert "suite 'xtreme' already exists" in refused(tmp_path / "a", "--suite", taken)
