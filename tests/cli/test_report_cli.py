"""isogloss report end to end."""

import csv
from pathlib import Path

import msgspec
import pytest

from e2e.command import isogloss
from isogloss.explain.analysis import Analysis
from isogloss.site.write import report
from isogloss.tables import vega
from report.made_records import HOSTILE, bias, explained, explanation, results

pytest.importorskip("vl_convert", reason="reports need vl-convert-python")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Write a run folder with a record."""
    folder = tmp_path / "runs" / "one" / "zero-shot" / "seed-0"
    folder.mkdir(parents=True)
    results("one").to_json(folder / "results.json")
    return folder


@pytest.mark.slow
def test_report_with_all_parts(run: Path, tmp_path: Path) -> None:
    results(HOSTILE, -10).to_json(tmp_path / "two.json")
    (tmp_path / "explain.json").write_bytes(msgspec.json.encode(Analysis(explanations=[explanation("one")], pairs=[])))
    out = tmp_path / "report"
    done = isogloss("report", run, tmp_path / "two.json", "--explain", tmp_path / "explain.json", "--out", out)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"{out}/index.html (0.2 MB)")
    tables = {path.name for path in (out / "tables").iterdir()}
    pictures = {path.name for path in (out / "charts").iterdir()}
    names = "overview languages families scripts gap pairs-lareqa".split()
    assert {f"{name}.{suffix}" for name in names for suffix in ("csv", "md", "tex")} <= tables
    assert {f"explain.{suffix}" for suffix in ("csv", "md", "tex")} <= tables
    assert {f"{name}.{suffix}" for name in names for suffix in ("svg", "png")} <= pictures
    assert {f"explain-xquad-score-qLen.{suffix}" for suffix in ("svg", "png")} <= pictures
    assert r"\toprule" in (out / "tables" / "overview.tex").read_text(encoding="utf-8")
    with (out / "scores.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {row["system"] for row in rows} == {"one", HOSTILE}
    assert {row["value"] for row in rows if (row["task"], row["language"]) == ("xnli", "ar")} == {"70.0", "60.0"}


@pytest.mark.slow
def test_analysis_of_several_systems(run: Path, tmp_path: Path) -> None:
    case = {"id": "en-0", "inputs": {"premise": "so"}, "gold": "neutral"}
    for name in ("one", "two"):
        answers = {"predictions": {name: f"said by {name}"}, "scores": {name: 50.0}}
        cases = {"xnli/en": {"en-0": case | answers}}
        content = {"explanations": [explanation(name)], "pairs": [], "cases": cases}
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(content))
    more = ("--explain", tmp_path / "one.json", "--explain", tmp_path / "two.json", "--no-pictures")
    assert isogloss("report", run, *more, "-o", tmp_path / "r").code == 0
    text = (tmp_path / "r" / "index.html").read_text(encoding="utf-8")
    assert '[[0,"said by one",50],[1,"said by two",50]]' in text


@pytest.mark.slow
def test_pairs_and_a_bias_survey_are_both_shown(run: Path, tmp_path: Path) -> None:
    made = explained()
    analysis = Analysis(
        explanations=list(made.explanations.values()), pairs=made.pairs, edges="language", cases=made.cases
    )
    for name, content in (("pair", analysis), ("data", bias())):
        (tmp_path / f"{name}.json").write_bytes(msgspec.json.encode(content))
    out = tmp_path / "report"
    done = isogloss("report", run, "--explain", tmp_path / "pair.json", "--explain", tmp_path / "data.json", "-o", out)
    assert (done.code, done.err) == (0, "")
    tables = {path.name for path in (out / "tables").iterdir()}
    names = "differences turns differences-by-bucket distributions distances bias-1".split()
    assert {f"{name}.{suffix}" for name in names for suffix in ("csv", "md", "tex")} <= tables
    pictures = {path.name for path in (out / "charts").iterdir()}
    names = "differences bias-xnli-t1Len bias-xnli-label distance-xnli-t1Len".split()
    assert {f"{name}.{suffix}" for name in names for suffix in ("svg", "png")} <= pictures
    text = (out / "index.html").read_text(encoding="utf-8")
    assert all(f'<section id="{part}"' in text for part in ("differences", "explain", "bias"))


def test_python_api_takes_records_and_analyses_in_memory(run: Path, tmp_path: Path) -> None:
    page = report(
        results("one"),
        tmp_path / "r",
        explain=[Analysis(explanations=[explanation("one")], pairs=[]), bias()],
        pictures=False,
    )
    made = isogloss("report", run, "--out", tmp_path / "cli", "--no-pictures")
    assert made.code == 0
    assert page == tmp_path / "r" / "index.html"
    text = page.read_text(encoding="utf-8")
    assert all(f'<section id="{part}"' in text for part in ("overview", "explain", "bias"))
    tables = [
        (folder / "tables" / "overview.md").read_text(encoding="utf-8") for folder in (page.parent, tmp_path / "cli")
    ]
    assert tables[0] == tables[1]


def test_one_system_on_two_suites_gets_two_names(tmp_path: Path) -> None:
    both = [msgspec.structs.replace(results("one"), suite=suite) for suite in ("xtreme-r", "xtreme")]
    page = report(both, tmp_path, pictures=False)
    with (tmp_path / "scores.csv").open(encoding="utf-8", newline="") as stream:
        assert {row["system"] for row in csv.DictReader(stream)} == {"one, xtreme-r", "one, xtreme"}
    assert "2 systems on xtreme-r, test; xtreme, test" in page.read_text(encoding="utf-8")


def test_pictures_can_be_left_out(run: Path, tmp_path: Path) -> None:
    assert isogloss("report", run, "-o", tmp_path / "r", "--no-pictures").code == 0
    assert not (tmp_path / "r" / "charts").exists()


def test_a_folder_without_a_record_is_refused(tmp_path: Path) -> None:
    done = isogloss("report", tmp_path, "-o", tmp_path / "r")
    assert done.code == 1
    assert "missing results.json" in done.err
    assert not (tmp_path / "r").exists()


def test_a_record_without_a_main_metric_is_refused(tmp_path: Path) -> None:
    made = results("one")
    cells = [msgspec.structs.replace(cell, metrics={}) if cell.language == "hi" else cell for cell in made.cells]
    msgspec.structs.replace(made, cells=cells).to_json(tmp_path / "results.json")
    done = isogloss("report", tmp_path, "-o", tmp_path / "r")
    assert done.code == 1
    assert "results.json: xquad/hi has no f1 and no em. Score the predictions again" in done.err
    assert not (tmp_path / "r").exists()


def test_other_files_are_refused(run: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"x": 1}', encoding="utf-8")
    done = isogloss("report", run, "--explain", tmp_path / "other.json", "-o", tmp_path / "r")
    assert done.code == 1
    assert "neither systems nor dataset bias" in done.err


def test_nothing_is_written_without_the_chart_library(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(vega, "import_module", missing)
    done = isogloss("report", run, "-o", tmp_path / "r")
    assert done.code == 1
    assert "[charts]'" in done.err
    assert not (tmp_path / "r").exists()
