"""Five verbs agree on the cells of a folder that can be scored, and on the reasons for the others."""

import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from e2e.command import isogloss
from predictions.made import wikiann_dev, write_jsonl, xquad

SCORED = [("xquad", "en"), ("xquad", "de")]
# Cells left out for lack of gold, and the reasons.
NO_FILE, DAMAGED, NO_GOLD = "no test file of xquad/th in ", "not a SQuAD-format JSON file", "the test file has no gold"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write two systems with scorable answers, answers without gold, and misnamed files."""
    root = tmp_path_factory.mktemp("agreement")
    data = root / "data"
    answers: dict[str, Any] = {code: questions(data, code) for code in ("en", "de", "el")}
    (data / "xquad/xquad.el.json").write_text("{")
    tags = wikiann_dev(data)
    (data / "panx/test-qu.tsv").write_text("\n".join("w0\nw1\n" if len(row) == 2 else "w0\nw1\nw2\n" for row in tags))
    for name in ("a", "b"):
        system = root / name
        wrong = {"q1": "else"} if name == "a" else {f"q{row}": "else" for row in range(0, 1190, 3)}
        for code in ("en", "de", "el", "th"):
            write_jsonl(system / f"xquad/{code}.jsonl", {**answers.get(code, answers["en"]), **wrong})
        write_jsonl(system / "wikiann/qu.jsonl", {f"test-{row}": ["O"] * len(each) for row, each in enumerate(tags)})
        write_jsonl(system / "XNLI/en.jsonl", {"test-0": "neutral"})
        write_jsonl(system / "squid/en.jsonl", {"q0": "word"})
        write_jsonl(system / "xquad/TH2.jsonl", {"q0": "word"})
        packed = gzip.compress((system / "xquad/en.jsonl").read_bytes())
        (system / "xquad/en.jsonl.gz").write_bytes(packed)
    return root


def questions(data: Path, code: str) -> dict[str, str]:
    """Write XQuAD with questions of different lengths, for `explain`; return the answers by id."""
    answers, path = xquad(data, code), data / f"xquad/xquad.{code}.json"
    file = json.loads(path.read_text())
    for row, paragraph in enumerate(file["data"][0]["paragraphs"]):
        paragraph["qas"][0]["question"] = "What " * (row % 9 + 1)
    path.write_text(json.dumps(file))
    return answers


def said_by_validate(made: Path, name: str = "a") -> list[str]:
    """Return the lines of `isogloss validate` about left-out and misnamed files."""
    done = isogloss("validate", made / name, "--data", made / "data", "--limit", 0)
    lines = done.out.splitlines()
    left_out = [line.removeprefix("warning left out: ") for line in lines if line.startswith("warning left out: ")]
    return [*left_out, *(line.removeprefix("error ") for line in lines if line.startswith("error "))]


def as_lines(left_out: list[dict[str, str]]) -> list[str]:
    """Return the left-out answers of a JSON record, in the words of validate."""
    lines = []
    for each in left_out:
        cell = f"{each['task']}/{each['language']} {each['split']}" if each["task"] else ""
        where = ": ".join(part for part in (cell, each["path"]) if part)
        lines.append(f"{where}: {each['reason']}" + (f". {each['fix']}" if each["fix"] else ""))
    return lines


def recorded(made: Path, verb: str, *systems: str) -> tuple[Any, str]:
    """Return the JSON that a verb writes and its output; it must succeed."""
    target = made / f"{verb}-{'-'.join(systems)}.json"
    done = isogloss(verb, *(made / name for name in systems), "--data", made / "data", "--json", target)
    assert (done.code, done.err) == (0, ""), done.err
    return json.loads(target.read_text(encoding="utf-8")), done.out


def test_scorable_cells_and_reasons(made: Path) -> None:
    said = said_by_validate(made)
    assert len(said) == 6
    for place, reason in (("xquad/th test", NO_FILE), ("xquad/el test", DAMAGED), ("wikiann/qu test", NO_GOLD)):
        assert [place in line and reason in line for line in said].count(True) == 1, (place, reason)
    for name, near in (("XNLI", "Did you mean xnli?"), ("squid", "xquad?"), ("xquad/TH2.jsonl", "th.jsonl?")):
        assert [line.startswith(str(made / "a" / name)) and near in line for line in said].count(True) == 1, name

    results, printed = recorded(made, "score", "a")
    assert [(cell["task"], cell["language"]) for cell in results["cells"]] == SCORED
    assert sorted(as_lines(results["left_out"])) == sorted(said)
    assert all(f"left out: {line}" in printed for line in said)
    assert any("not used: en.jsonl.gz" in note for note in results["cells"][0]["notes"])

    [comparison], printed = recorded(made, "compare", "a", "b")
    assert [cell["name"] for cell in comparison["cells"]] == ["xquad/en", "xquad/de"]
    both = {*said, *said_by_validate(made, "b")}
    assert sorted(as_lines(comparison["left_out"])) == sorted(both)
    assert all(f"left out: {line}" in printed for line in both)

    analysis, printed = recorded(made, "explain", "a")
    facets = {(facet["task"], facet["language"]) for facet in analysis["explanations"][0]["facets"]}
    assert facets == set(SCORED)
    assert sorted(as_lines(analysis["left_out"])) == sorted(said)
    assert all(f"left out: {line}" in printed for line in said)

    done = isogloss("report", made / "score-a.json", "--out", made / "report", "--no-pictures")
    assert (done.code, done.err) == (0, "")
    with (made / "report/tables/left-out.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["reason"], row["what to do"]) for row in rows] == [
        (each["reason"], each["fix"]) for each in results["left_out"]
    ]
    page = (made / "report/index.html").read_text(encoding="utf-8")
    assert all(each["reason"].split(" in /")[0] in page for each in results["left_out"])


@pytest.mark.parametrize("verb", ["score", "compare", "explain"])
def test_strict_refuses_with_all_reasons(verb: str, made: Path) -> None:
    systems = [made / name for name in ("a", "b")[: 2 if verb == "compare" else 1]]
    done = isogloss(verb, *systems, "--data", made / "data", "--strict", "--json", made / "strict.json")
    assert (done.code, done.out) == (1, "")
    assert all(line in done.err for line in said_by_validate(made))
    assert not (made / "strict.json").exists()


@pytest.mark.parametrize("verb", ["validate", "score", "compare", "explain"])
@pytest.mark.parametrize("fault", ["system", "ids", "types"])
def test_fault_of_the_answers_is_refused_by_all_with_gold_or_without(
    verb: str, fault: str, made: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        shutil.copytree(made / name, tmp_path / name)
    if fault == "system":
        (tmp_path / "a/system.toml").write_text("name = [")
        said = "system.toml: not TOML"
    elif fault == "ids":
        write_jsonl(tmp_path / "a/wikiann/qu.jsonl", {"test-0": ["O", "O"], "dev-1": ["O"]})
        said = "1 id is not in wikiann/qu test: 'dev-1'"
    else:
        write_jsonl(tmp_path / "a/xquad/th.jsonl", {"q7": 7})
        said = "th.jsonl:1: answer to 'q7': Expected `str | null`, got `int`"
    systems = [tmp_path / name for name in ("a", "b")[: 2 if verb == "compare" else 1]]
    done = isogloss(verb, *systems, "--data", made / "data")
    assert done.code == 1
    assert said in (done.out if verb == "validate" else done.err)
