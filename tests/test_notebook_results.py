"""Results in notebooks and other formats: the figures of the command line, escaped, with colours by score."""

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.analysis.finding import Finding
from isogloss.cli.main import main
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.scoring.results import Results
from isogloss.site.notebook_views import html_of_table
from isogloss.tables.table import Table

ASKED: dict[str, Any] = {"suite": "mini", "tasks": ["mini-xnli", "mini-tatoeba"], "languages": ["en", "sw", "de"]}
OPTIONS = ["--suite", "mini", "--tasks", "mini-xnli,mini-tatoeba", "--languages", "en,sw,de"]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("runs")
    isogloss.run("ngram", out=folder, seeds=2, **ASKED)
    return [folder / f"ngram/zero-shot/seed-{seed}" for seed in (0, 1)]


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """Return what a command prints."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    assert ended.value.code == 0
    return capsys.readouterr().out


def texts(page: str) -> list[str]:
    """Return the texts of all cells, captions, notes and verdicts of a page."""
    unfolded = re.sub(r"…</summary>|</?(?:details|summary)>", "", page)
    return [unescape(text) for text in re.findall(r"<(?:td|th|caption|li|b)[^>]*>([^<]*)<", unfolded)]


def figures(text: str) -> list[str]:
    return re.findall(r"\d+\.\d", text)


def test_scores_are_those_that_the_command_prints(seeds: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "score", seeds[0], *OPTIONS)
    results = isogloss.score(seeds[0], **ASKED)
    found = texts(results._repr_html_())
    assert [text for text in found if text not in shown] == []
    assert sorted(figures(shown)) == sorted(figures("\n".join(found)))
    assert any(text.startswith("* partial, missing: ") for text in found)
    assert "overall" in found


def test_differences_are_those_that_the_command_prints(seeds: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "compare", *seeds, *OPTIONS)
    comparison = isogloss.compare(*seeds, **ASKED)
    page = comparison._repr_html_()
    found = texts(page)
    assert page.startswith(f"<p><b>{comparison.verdict()}</b></p><table")
    assert found.count(comparison.verdict()) == 1
    assert [text for text in found if text not in shown] == []
    assert sorted(figures(shown)) == sorted(figures("\n".join(found)))
    several = isogloss.compare(*seeds, {"mini-xnli": {"en": {}, "sw": {}}} | one_label(), **ASKED)
    assert len(several) == 3
    assert {row["first_system"] for row in several.to_arrow().to_pylist()} == {pair.first for pair in several}


def one_label() -> dict[str, Any]:
    """Return the answer "neutral" to every example of mini-xnli."""
    cells = {code: isogloss.load("mini-xnli", code).ids for code in ASKED["languages"]}
    return {"mini-xnli": {code: dict.fromkeys(ids, "neutral") for code, ids in cells.items()}}


def test_buckets_are_those_that_the_command_prints(seeds: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "explain", seeds[0], *OPTIONS)
    analysis = isogloss.explain(seeds[0], **ASKED)
    found = texts(analysis._repr_html_())
    assert len(found) > 50
    assert [text for text in found if text not in shown and "more rows" not in text] == []
    rows = analysis.to_arrow().to_pylist()
    assert {row["attribute"] for row in rows} == set(analysis.to_pandas()["attribute"])


def test_scores_by_language_are_a_heat_map(seeds: list[Path]) -> None:
    results = isogloss.score(seeds[0], **ASKED)
    page = results._repr_html_()
    by_language = page[page.index(">By language<") :]
    coloured = re.findall(r'<td style="background:rgb\([^)]*\);color:#(?:000|fff)">(\d+\.\d)<', by_language)
    assert "darker cells are worse" in by_language
    assert sorted(map(float, coloured)) == sorted(round(cell.score, 1) for cell in results.cells)
    assert "background" not in page[: page.index("</table>")]


def test_colours_follow_the_scores_and_texts_are_escaped() -> None:
    table = Table("<b>", ("language", "mini-xnli", "checklist-comparisons", "other"), words=1, notes=["<i>"])
    table.add("<script>", "0.0", "0.0", "50.0")
    table.add("b", "100.0†", "100.0", "—")
    table.add("c", "·", "50.0 (3)", "x", strong=True)
    page = html_of_table(table)
    assert "<script>" not in page
    assert ">&lt;b&gt;</caption>" in page
    assert "<li>&lt;i&gt;</li>" in page
    dark, light = "background:rgb(68,1,84);color:#fff", "background:rgb(253,231,37);color:#000"
    assert f'<td style="{dark}">0.0</td><td style="{light}">0.0</td><td>50.0</td>' in page  # errors: lower is better
    assert f'<td style="{light}">100.0†</td><td style="{dark}">100.0</td><td>—</td>' in page
    words = '<tr style="font-weight:bold"><td style="text-align:left">c</td>'
    assert f'{words}<td>·</td><td style="background:rgb(33,145,140)' in page


def test_a_long_table_is_cut() -> None:
    table = Table("long", ("row",))
    for row in range(130):
        table.add(str(row))
    page = html_of_table(table)
    assert page.count("<tr>") == 121
    assert "<li>10 more rows: use to_pandas for all</li>" in page


def test_json_reads_back_and_latex_has_the_tables(seeds: list[Path], tmp_path: Path) -> None:
    results = isogloss.score(seeds[0], **ASKED)
    text = results.to_json(tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text(encoding="utf-8") == text + "\n"
    assert Results.from_json(tmp_path / "results.json") == results
    latex = results.to_latex()
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") > 1
    assert all(f"{average.score.value:.1f}" in latex for average in results.tasks)
    comparison, analysis = isogloss.compare(*seeds, **ASKED), isogloss.explain(*seeds, **ASKED)
    finding = isogloss.analyze("families", results)
    bias = isogloss.explain.dataset_bias(suite="mini", tasks=["mini-xnli"], languages=["en", "sw"])
    assert "mini-xnli: mean distance from the other languages" in texts(bias._repr_html_())
    for record in (comparison, analysis, finding, bias):
        assert json.loads(record.to_json(tmp_path / "record.json"))
        assert r"\toprule" in record.to_latex()
        assert record.to_arrow().num_rows == len(record.to_pandas())
    report = isogloss.validate({"mini-xnli": {"en": {"x": "neutral"}}})
    assert report.to_arrow().num_rows == len(json.loads(report.to_json())) == len(report.everything()) > 0


def drawn(chart: Any) -> list[dict[str, Any]]:
    """Return the records of an Altair chart with one data set."""
    [records] = chart.to_dict()["datasets"].values()
    return records


def test_plots_are_altair_charts(seeds: list[Path]) -> None:
    pytest.importorskip("altair")
    results = isogloss.score(seeds[0], **ASKED)
    values = drawn(results.plot())
    assert {(row["task"], row["language"], row["score"]) for row in values} == {
        (cell.task, cell.language, round(cell.score, 1)) for cell in results.cells
    }
    assert results.plot("overview").to_dict() != results.plot().to_dict()
    assert drawn(isogloss.explain(*seeds, **ASKED).plot())
    comparison = isogloss.compare(*seeds, **ASKED)
    assert drawn(comparison.plot())[0]["name"] == "overall*"
    differences = {row["name"]: row["difference"] for row in drawn(comparison.plot("cells"))}
    assert differences == {cell.name: pytest.approx(cell.difference, abs=0.06) for cell in comparison.cells}
    assert drawn(isogloss.analyze("families", results).plot())
    title = results.plot().to_dict()["title"]["text"]
    assert title == "ngram: Task by language"


def test_plots_of_one_explained_and_of_several_compared_systems(seeds: list[Path]) -> None:
    pytest.importorskip("altair")
    analysis = isogloss.explain(seeds[0], **ASKED)
    chart = analysis.plot("explain-mini-xnli-accuracy-label")
    facets = [facet for facet in analysis.explanations[0].facets if facet.attribute == "label"]
    scores = {(facet.language, score.bucket.name): round(score.value, 1) for facet in facets for score in facet.buckets}
    assert {(row["language"], row["bucket"]): row["score"] for row in drawn(chart)} == scores
    assert chart.to_dict()["title"]["text"] == "ngram: mini-xnli, accuracy by label: gold label"
    several = isogloss.compare(*seeds, one_label(), **ASKED)
    shown = drawn(several.plot("mini-xnli"))
    differences = {(row["row"], row["column"]): row["difference"] for row in shown}
    assert len(differences) == 6
    for pair in several:
        [task] = pair.tasks
        assert differences[pair.first, pair.second] == pytest.approx(task.difference, abs=0.06)
        assert differences[pair.second, pair.first] == -differences[pair.first, pair.second]
    assert {row["label"].endswith("●") for row in shown} == {pair.tasks[0].significant for pair in several}


def test_reports_without_problems(tmp_path: Path) -> None:
    report = isogloss.validate(one_label())
    assert report._repr_html_() == f"<p>{report!r}</p>"
    assert report.to_arrow().column_names == [*report.to_pandas()] == ["severity", "where", "what", "fix"]
    assert report.to_json(tmp_path / "problems.json") == "[]"
    assert json.loads((tmp_path / "problems.json").read_text(encoding="utf-8")) == []
    checked = isogloss.check_task("mini-xnli", languages=["sw"])
    assert checked.to_arrow().column_names == [*checked.to_pandas()]
    assert isogloss.list("tasks").to_arrow().num_rows == len(isogloss.list("tasks"))


def test_plot_names_the_extra_and_the_charts(seeds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    results = isogloss.score(seeds[0], **ASKED)
    with pytest.raises(UnknownNameError, match="languages"):
        results.plot("language")
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(IsoglossError, match=r"altair is not installed.*\[notebooks\]"):
        results.plot()
    with pytest.raises(IsoglossError, match="there is no chart"):
        Finding(analysis="own", title="Own", reading="", tables=[]).plot()


def test_examples_become_tables() -> None:
    examples = isogloss.load("mini-udpos", "sw")
    rows = list(examples)
    assert examples.to_pandas().to_dict("records")[0]["id"] == rows[0]["id"]
    assert [row["id"] for row in rows if row["id"] in texts(examples._repr_html_())] == examples.ids[:5]
    assert json.dumps(examples.to_arrow().to_pylist()) == json.dumps(rows)
    pytest.importorskip("datasets")
    assert json.dumps(examples.to_datasets().to_list()) == json.dumps(rows)


def test_datasets_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(IsoglossError, match=r"datasets is not installed.*hub"):
        isogloss.load("mini-udpos", "sw").to_datasets()
