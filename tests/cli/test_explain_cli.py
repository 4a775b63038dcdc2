"""isogloss explain end to end: on synthetic data and on predictions of real systems."""

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from e2e.command import isogloss, scored
from isogloss.explain.buckets import learn_binning
from isogloss.explain.selection import choose_attributes
from isogloss.predictions.importers import import_files
from isogloss.predictions.write import write_predictions
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task
from predictions.made import write_jsonl, xquad


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write XQuAD in two languages; `long` fails on answers with word0, `short` on every fourth question."""
    root = tmp_path_factory.mktemp("explain")
    for language in ("en", "de"):
        answers = xquad(root / "data", language)
        long = {key: "no" if "word0" in text else text for key, text in answers.items()}
        short = {key: "no" if index % 4 == 0 else text for index, (key, text) in enumerate(answers.items())}
        write_jsonl(root / f"long/xquad/{language}.jsonl", dict(long))
        write_jsonl(root / f"short/xquad/{language}.jsonl", dict(short))
    rows = [{"id": key, "value": "zero" if "word0" in text else "other"} for key, text in answers.items()]
    (root / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    return root


def explained(*words: object, target: Path) -> dict[str, Any]:
    done = isogloss("explain", *words, "--json", target)
    assert (done.code, done.err) == (0, ""), done.err
    return {**json.loads(target.read_text(encoding="utf-8")), "printed": done.out}


def test_one_system(made: Path, tmp_path: Path) -> None:
    own = f"word@{made / 'mine.jsonl'}"
    words = (made / "long", "--data", made / "data", "--tasks", "xquad", "--attributes", own, "--examples", "3")
    result = explained(*words, target=tmp_path / "e.json")
    (system,) = result["explanations"]
    facets = [facet for facet in system["facets"] if facet["language"] == "en"]
    assert [facet["metric"] for facet in facets] == ["score", "f1", "em"]
    assert [(b["bucket"]["name"], b["bucket"]["n"], b["value"]) for b in facets[0]["buckets"]] == [
        ("other", 1020, 100),
        ("zero", 170, 0),
    ]
    assert facets[0]["insight"].startswith("word (from mine.jsonl): best at other (100.0), worst at zero (0.0)")
    assert facets[0]["buckets"][1]["ids"] == ["q0", "q7", "q14"]
    case = result["cases"]["xquad/en"]["q7"]
    assert (case["inputs"]["question"], case["predictions"], case["scores"]) == ("What?", {"long": "no"}, {"long": 0})
    assert "xquad/de: word zero, worst first" in result["printed"]
    assert result["edges"] == "language"
    assert result["pairs"] == []
    # Two languages, three metrics, and of two buckets the difference, the best and the worst.
    assert result["correction"] == {"tests": 18, "cells": 2}
    assert "at most 5 % of all findings are false on average, corrected over 18 tests in 2 cells" in result["printed"]


def test_two_systems(made: Path, tmp_path: Path) -> None:
    own = f"word@{made / 'mine.jsonl'}"
    words = (made / "long", made / "short", "-d", made / "data", "-l", "en", "-a", own, "--examples", "1")
    result = explained(*words, target=tmp_path / "e.json")
    (pair,) = result["pairs"]
    (cell,) = pair["cells"]
    # 1190 answers: 170 have word0, 298 are every fourth question, 43 are both.
    assert (cell["first_right"], cell["second_right"], cell["n"]) == (298 - 43, 170 - 43, 1190)
    assert (cell["first_right_ids"], cell["second_right_ids"]) == (["q4"], ["q7"])
    by_name = {row["bucket"]["name"]: row for row in pair["facets"][0]["buckets"]}
    assert by_name["other"]["difference"] == pytest.approx(100 * 255 / 1020)
    assert by_name["zero"]["difference"] == pytest.approx(-100 * 127 / 170)
    assert (by_name["other"]["flips"], by_name["zero"]["flips"]) == (False, True)
    assert "long right, short wrong" in result["printed"]
    assert "●⇄" in result["printed"]


@pytest.mark.slow
def test_page_shows_both_systems_and_is_self_contained(made: Path, tmp_path: Path) -> None:
    own = f"word@{made / 'mine.jsonl'}"
    page = tmp_path / "page.html"
    words = (made / "long", made / "short", "-d", made / "data", "-l", "en", "-a", own, "--examples", "1")
    done = isogloss("explain", *words, "--html", page)
    assert (done.code, done.err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert "<bdi>long</bdi>, <bdi>short</bdi> on xtreme-r (test)" in text
    assert "Download" not in text
    assert "long right, short wrong" in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    drawn = data["explain"]
    assert drawn["systems"] == ["long", "short"]
    # Of 1020 others, `short` fails on 255; of 170 zeros on 43. Scores are in tenths, with their intervals.
    score = drawn["metrics"].index("score")
    scores = {facet[0]: facet[3][::3] for facet in drawn["facets"] if facet[2] == score}
    assert scores == {0: [1000, 0], 1: [750, 747]}
    assert {(bucket[0], bucket[2]) for cut in drawn["cuts"] for bucket in cut[3]} == {("other", 1020), ("zero", 170)}
    assert "word4 thing4" in text


def test_bias_page_needs_no_system(made: Path, tmp_path: Path) -> None:
    page = tmp_path / "data.html"
    words = ("--bias", "-d", made / "data", "-t", "xquad", "-l", "en,de", "-a", "aLen,qType", "--html", page)
    done = isogloss("explain", *words)
    assert (done.code, done.err) == (0, "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "answer length in tokens" in text


def test_shared_edges_are_the_same_in_all_languages(tmp_path: Path) -> None:
    languages = task("mini-xcopa").languages[:3]
    for language in languages:
        gold = load_gold(task("mini-xcopa"), language, "test", None)
        write_jsonl(tmp_path / f"system/mini-xcopa/{language}.jsonl", dict.fromkeys(gold.ids, 0))
    words = (tmp_path / "system", "-s", "mini", "-t", "mini-xcopa", "-l", ",".join(languages))
    inner = {}
    for edges in ("language", "shared"):
        attributes = f"pLen={edges},punctuation={edges}"
        result = explained(*words, "-a", attributes, target=tmp_path / f"{edges}.json")
        assert result["edges"] == edges
        facets = result["explanations"][0]["facets"]
        inner[edges] = [{b["bucket"]["high"] for b in f["buckets"][:-1]} for f in facets if f["attribute"] == "pLen"]
    assert "bucket edges shared by all languages" in result["printed"]
    assert len(inner["shared"]) == len(languages)
    every = set().union(*inner["shared"])
    assert len(every) <= 3
    assert not all(edges <= every for edges in inner["language"])


def test_lengths_with_the_tokens_and_edges_of_the_paper(tmp_path: Path) -> None:
    gold = load_gold(task("mini-xquad"), "en", "test", None)
    write_jsonl(tmp_path / "system/mini-xquad/en.jsonl", dict.fromkeys(gold.ids, "no"))
    words = (tmp_path / "system", "-s", "mini", "-t", "mini-xquad", "-l", "en", "-a", "qLen,qLen@whitespace=greedy")
    result = explained(*words, target=tmp_path / "e.json")
    facets = {facet["attribute"]: facet for facet in result["explanations"][0]["facets"]}
    assert result["edges"] == "mixed"
    assert facets["qLen@whitespace"]["title"] == "question length in tokens (whitespace)"
    # Both tokenizers agree on English; a greedy bucket has at least a quarter of the examples, except the last.
    sizes = {name: [row["bucket"]["n"] for row in facet["buckets"]] for name, facet in facets.items()}
    assert sum(sizes["qLen"]) == sum(sizes["qLen@whitespace"]) == len(gold)
    assert all(size >= len(gold) / 4 for size in sizes["qLen@whitespace"][:-1])


def test_convention_of_the_paper(tmp_path: Path) -> None:
    gold = load_gold(task("mini-xquad"), "en", "test", None)
    write_jsonl(tmp_path / "system/mini-xquad/en.jsonl", dict.fromkeys(gold.ids, "no"))
    words = (tmp_path / "system", "-s", "mini", "-t", "mini-xquad", "-l", "en", "--convention")
    result = explained(*words, "paper", target=tmp_path / "e.json")
    assert (result["convention"], result["edges"], result["dialect"]) == ("paper", "greedy", "")
    names = {facet["attribute"] for facet in result["explanations"][0]["facets"]}
    assert {"aLen@paper", "qLen@paper", "cLen@paper", "BLEU-QC@paper", "qType@paper"} <= names
    assert not {"aLen", "qLen", "cLen", "BLEU-QC", "qType"} & names
    assert "attributes and buckets as in the XTREME-R paper's Tables 25 and 26" in result["printed"]
    assert "types of qType: what, how, who, when, which in print;" in " ".join(str(result["printed"]).split())
    refused = isogloss("explain", *words, "papers")
    assert refused.code == 2
    assert "Did you mean paper" in refused.err


def test_dialect_changes_answer_normalisation(made: Path, tmp_path: Path) -> None:
    gold = load_gold(task("xquad"), "en", "test", made / "data")
    # A non-ASCII dash is a token to one scorer and removed by the other.
    predictions = {key: f"{answers[0]} –" for key, answers in zip(gold.ids, gold["answers"], strict=True)}
    write_jsonl(tmp_path / "system/xquad/en.jsonl", dict(predictions))
    exact = {}
    for dialect in ("", "squad", "mlqa"):
        words = (tmp_path / "system", "-d", made / "data", "-t", "xquad", "-l", "en", "-a", f"w@{made / 'mine.jsonl'}")
        result = explained(*words, "--dialect", dialect, target=tmp_path / "e.json")
        facet = next(facet for facet in result["explanations"][0]["facets"] if facet["metric"] == "em")
        exact[dialect] = {bucket["value"] for bucket in facet["buckets"]}
        assert result["dialect"] == dialect
        assert (f"as in the {dialect} scorer" in result["printed"]) == bool(dialect)
    assert exact == {"": {0}, "squad": {0}, "mlqa": {100}}
    assert "Did you mean mlqa" in isogloss("explain", *words, "--dialect", "mlq").err


def test_buckets_across_languages_on_request(made: Path) -> None:
    words = ("--data", made / "data", "-t", "xquad", "-a", f"word@{made / 'mine.jsonl'}", "--across")
    one = isogloss("explain", made / "long", *words)
    assert one.code == 0
    assert "long on xquad: score by bucket, over 2 languages" in one.out
    rows = [line.split() for line in one.out.splitlines() if line.split()[-1:] in (["2040"], ["340"])]
    # Two values per language: mean, lowest and highest language, number of languages and of questions.
    assert rows == [
        ["word", "other", "100.0", "100.0", "en", "+1", "100.0", "en", "+1", "2/2", "2040"],
        ["zero", "0.0", "0.0", "en", "+1", "0.0", "en", "+1", "2/2", "340"],
    ]
    two = isogloss("explain", made / "long", made / "short", *words)
    assert "long minus short on xquad: score by bucket, over 2 languages" in two.out
    assert "in which the difference is significant" in two.out


def test_bias_needs_no_system(made: Path, tmp_path: Path) -> None:
    result = explained(
        "--bias", "--data", made / "data", "--tasks", "xquad", "-l", "en,de,ru", target=tmp_path / "b.json"
    )
    assert result["missing"] == ["xquad/ru"]
    lengths = [d for d in result["distributions"] if d["attribute"] == "aLen"]
    assert [(d["language"], d["mean"]) for d in lengths] == [("en", 2), ("de", 2)]
    assert "no gold labels: xquad/ru" in result["printed"]


def test_many_cells_are_summarised(tmp_path: Path) -> None:
    for language in task("mini-xnli").languages[:7]:
        gold = load_gold(task("mini-xnli"), language, "test", None)
        write_jsonl(tmp_path / f"system/mini-xnli/{language}.jsonl", dict.fromkeys(gold.ids, "neutral"))
    codes = ",".join(task("mini-xnli").languages[:7])
    done = isogloss("explain", tmp_path / "system", "--suite", "mini", "-t", "mini-xnli", "-l", codes)
    assert done.code == 0
    assert "mean over up to 7 languages" in done.out
    assert "7/7" in done.out
    assert "label" in done.out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "expected a prediction folder"),
        (("missing",), 1, "no such folder"),
        (("missing", "--attributes", "aLem"), 2, "Did you mean aLen"),
        (("missing", "--attributes", "aLen=both"), 1, "aLen=language, aLen=shared, aLen=greedy"),
    ],
)
def test_errors_are_one_line(words: tuple[str, ...], code: int, message: str) -> None:
    done = isogloss("explain", *words)
    assert done.code == code
    assert message in done.err
    assert "Traceback" not in done.err


# ------------------------------------------------------------------------------------------------------- real systems


def imported(data_dir: Path, root: Path, system: str, language: str) -> None:
    folder = data_dir / f"explainaboard_outputs/multilingual/{system}/xquad"
    files = sorted(folder.glob(f"test-{language}_*.json.xz"))
    if not files:
        pytest.skip(f"{folder} has no {language}")
    result = import_files("explainaboard", files, "xquad", language, data=data_dir)
    write_predictions(root / system, task("xquad"), language, "test", result.ids, result.values)


def test_two_real_systems_in_three_languages(data_dir: Path, tmp_path: Path) -> None:
    for system in ("mt5base", "mlpp"):
        for language in ("en", "es", "zh"):
            imported(data_dir, tmp_path, system, language)
    words = (tmp_path / "mt5base", tmp_path / "mlpp", "--data", data_dir, "--tasks", "xquad")
    result = explained(*words, target=tmp_path / "e.json")
    (pair,) = result["pairs"]
    assert [cell["language"] for cell in pair["cells"]] == ["en", "es", "zh"]
    record = scored(tmp_path / "mlpp", "--data", data_dir, "--tasks", "xquad")
    for facet in result["explanations"][1]["facets"]:
        (cell,) = [c for c in record["cells"] if c["language"] == facet["language"]]
        numbers = {name: number["value"] for name, number in cell["metrics"].items()}
        numbers["score"] = (numbers["f1"] + numbers["em"]) / 2
        # Buckets partition the examples: their mean, weighted by size, is the score.
        total = sum(b["value"] * b["bucket"]["n"] for b in facet["buckets"]) / 1190
        assert sum(b["bucket"]["n"] for b in facet["buckets"]) == 1190
        assert total == pytest.approx(numbers[facet["metric"]], abs=1e-6)
    insights = [f["insight"] for f in result["explanations"][1]["facets"] if f["attribute"] == "aLen" and f["insight"]]
    assert len(insights) == 6
    assert all(" falls with answer length in tokens (trend -" in sentence for sentence in insights)


def test_five_systems_on_english_questions(data_dir: Path, tmp_path: Path) -> None:
    gold = load_gold(task("xquad"), "en", "test", data_dir)
    files = sorted((data_dir / "squad_dev_predictions").glob("*.json.xz"))
    if len(files) != 5:
        pytest.skip("missing predictions of the five systems")
    for path in files:
        answers = json.loads(lzma.decompress(path.read_bytes()))
        in_xquad = {key: answers[key] for key in gold.ids if key in answers}
        write_jsonl(tmp_path / f"{path.name.split('.')[0]}/xquad/en.jsonl", in_xquad)
    folders = sorted(folder for folder in tmp_path.iterdir() if folder.is_dir())
    result = explained(*folders, "-d", data_dir, "-l", "en", "-t", "xquad", "-a", "aLen", target=tmp_path / "e.json")
    assert len(result["pairs"]) == 10
    (versus,) = [p for p in result["pairs"] if (p["first"], p["second"]) == ("bert", "logistic")]
    assert all(row["difference"] > 20 and row["p"] < 0.05 for row in versus["facets"][0]["buckets"])


def test_edges_of_the_paper(data_dir: Path) -> None:
    """Table 25, English: lengths span the same ranges; its inner edges come from filling buckets greedily."""
    gold = load_gold(task("xquad"), "en", "test", data_dir)
    paper = {"qLen": (3, 8, 11, 16, 29), "cLen": (25, 91, 111, 156, 509)}
    for attribute in choose_attributes(list(paper), ["qa"]).of("qa"):
        assert attribute.values is not None
        column = attribute.values(gold).astype(float)
        edges = paper[attribute.name]
        assert (column.min(), column.max()) == (edges[0], edges[-1])
        assert learn_binning(column, False, greedy=True).edges == edges[1:4]
        # Our buckets are closer to equal size.
        ours = [bucket.n for bucket in learn_binning(column, False).apply(column)[0]]
        theirs = np.diff(np.searchsorted(np.sort(column), [*edges[1:4]], side="right"), prepend=0, append=len(column))
        assert np.std(ours) < np.std(theirs)
