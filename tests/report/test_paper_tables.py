"""Tables as papers print them: bold and underlined numbers by hand-made records, and LaTeX that compiles."""

import dataclasses
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from e2e.command import isogloss
from isogloss.errors import UnknownNameError
from isogloss.scoring.compare import compare_request
from isogloss.scoring.main_score import SCORE
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.scoring.score import judge_systems
from isogloss.tables.paper_tables import LAYOUTS, OVERALL, NumberKey, paired_test, paper_tables
from isogloss.tables.table import render
from isogloss.tasks.suites import suite
from report.made_records import results
from sample import write_gold, write_system


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("systems")
    write_gold(root / "gold", suite("xtreme"), 60)
    for name, share in {"good": 0.95, "fair": 0.93, "bad": 0.4}.items():
        write_system(root / name, suite("xtreme"), 60, name, share)
    return root


def record(name: str, shift: float, **changes: object) -> Results:
    """A made record with all metrics of XNLI shifted."""
    made = results(name)
    cells = [
        replace(cell, metrics={key: replace(one, value=one.value + shift) for key, one in cell.metrics.items()})
        for cell in made.cells
    ]
    return replace(made, cells=cells, **changes)


def cells_of(tex: str) -> list[list[str]]:
    return [line.removesuffix(r" \\").split(" & ") for line in tex.splitlines() if line.endswith(r"\\")]


def test_other_gold_is_marked_and_never_best() -> None:
    """Scores on translated gold do not compare with those on the original."""
    higher = record("B", 20)
    other = replace(higher, cells=[replace(cell, partial=True) for cell in higher.cells], tasks=[])
    records = {"A": record("A", 0), "B": other, "C": record("C", -2)}
    tables = paper_tables(records, "systems-by-language", test=lambda *_: False)
    [table] = [each for each in tables if each.label == "tab:xnli"]
    head, *rows = cells_of(table.latex())
    best = float(records["A"]["xnli", "ar"].metrics["accuracy"].value)  # type: ignore[union-attr]
    assert [row[head.index("ar")] for row in rows] == [
        rf"\textbf{{{best:.1f}}}",
        f"{best + 20:.1f}§",
        rf"\underline{{{best - 2:.1f}}}",
    ]
    assert any(note.startswith("§ on partial or translated gold") for note in table.notes)


def test_best_is_bold_and_ties_are_underlined() -> None:
    records = {"A": record("A", 0), "B": record("B", -2), "C": record("C", -9), "D": record("D", 0.01)}

    def test(key: NumberKey, metric: str, first: str, second: str, systems: Sequence[str]) -> bool | None:
        assert first == "D" or key[0] != "xnli"
        return {"B": False, "C": True}[second] if key == ("xnli", "ar") else None

    [table] = [each for each in paper_tables(records, "systems-by-language", test=test) if each.label == "tab:xnli"]
    head, *rows = cells_of(table.latex())
    column = head.index("ar")
    best = float(records["A"]["xnli", "ar"].metrics["accuracy"].value)  # type: ignore[union-attr]
    # D is ahead by less than a printed digit, so both are best.
    assert [row[column] for row in rows] == [
        rf"\textbf{{{best:.1f}}}",
        rf"\underline{{{best - 2:.1f}}}",
        f"{best - 9:.1f}",
        rf"\textbf{{{best:.1f}}}",
    ]
    assert r"\label{tab:xnli}" in table.latex()
    assert f"**{best:.1f}** |" in table.markdown()
    assert f"<u>{best - 2:.1f}</u>" in table.markdown()
    assert f"{best:.1f}▲" in table.plain()
    assert f"{best - 2:.1f}≈" in table.plain()


def test_untested_numbers_are_marked() -> None:
    records = {"A": record("A", 0), "B": record("B", -2)}
    tables = paper_tables(records, "systems-by-language", test=lambda *_: None)
    [table] = [each for each in tables if each.label == "tab:xnli"]
    assert "† not tested against the best" in table.notes
    worse = cells_of(table.latex())[2][1]
    assert worse.endswith(r"\textsuperscript{†}")
    assert worse.partition("\\")[0] + "†" in table.plain()
    assert "underlined" not in paper_tables(records, "systems-by-task")[0].latex()


def test_all_systems_of_a_table_are_tested_together(folder: Path) -> None:
    """Verdicts are those of `isogloss compare` with all systems, for every metric and number of runs."""
    request = Request.of("xtreme", tasks=["xnli", "wikiann"], gold=folder / "gold")
    systems = [folder / name for name in ("good", "fair", "bad")]
    judged = judge_systems(systems, request)
    test = paired_test(judged, request)
    compared = compare_request(systems, request)
    assert [pair.overall.p for pair in compared] != [
        compare_request([systems[one], systems[other]], request)[0].overall.p for one, other in ((0, 1), (0, 2), (1, 2))
    ]
    for pair in compared:
        for contrast in (*pair.cells, *pair.tasks):
            key = (*contrast.name.split("/"), "")[:2]
            metric = {"xnli": "accuracy", "wikiann": "f1"}[key[0]]
            assert test(key, metric, pair.first, pair.second, list(judged)) == contrast.significant
        assert test(OVERALL, SCORE, pair.first, pair.second, list(judged)) == pair.overall.significant
    # The overall score of a single task is the task's.
    alone = Request.of("xtreme", tasks=["xnli"], gold=folder / "gold")
    test = paired_test(judge_systems(systems, alone), alone)
    assert test(OVERALL, SCORE, "good", "bad", ["good", "fair", "bad"]) is True


def test_prompts_of_a_table_are_not_taken_for_seeds(folder: Path, tmp_path: Path) -> None:
    for system, share in (("one", 0.9), ("other", 0.8)):
        for run in ("prompt-a/seed-0", "prompt-a/seed-1", "prompt-b/seed-0", "prompt-b/seed-1"):
            write_system(
                tmp_path / system / run, dataclasses.replace(suite("xtreme"), tasks=("xnli",)), 60, system, share
            )
    request = Request.of("xtreme", tasks=["xnli"], gold=folder / "gold")
    systems = [tmp_path / "one", tmp_path / "other"]
    judged = judge_systems(systems, request)
    names = list(judged)
    [pair] = compare_request(systems, request)
    assert pair.runs == [{"prompt": 2, "seed": 2}] * 2
    test = paired_test(judged, request)
    for contrast in pair.cells:
        name, code = contrast.name.split("/")
        assert test((name, code), "accuracy", *names, names) == contrast.significant


def test_the_legend_mentions_only_tests_that_were_made() -> None:
    records = {"A": record("A", 0), "B": record("B", -2)}
    tested, *_ = paper_tables(records, "systems-by-language", test=lambda *_: True)
    assert "underlined: not significantly worse" in tested.latex()
    untested, *_ = paper_tables(records, "systems-by-language")
    assert "Bold: best. Without significance tests." in untested.latex()
    for text in (untested.latex(), untested.plain()):
        assert "not significantly worse" not in text


def test_averages_over_other_languages_are_not_compared() -> None:
    whole = results("whole")
    tasks = [replace(each, missing=["de"]) if each.name == "xnli" else each for each in whole.tasks]
    records = {"whole": whole, "some": record("some", 5, tasks=tasks)}
    [table] = [each for each in paper_tables(records, "systems-by-language") if each.label == "tab:xnli"]
    _, first, second = cells_of(table.latex())
    assert not first[-1].startswith("\\")
    assert second[-1].endswith("*")
    assert "partial: some languages or tasks are missing" in table.latex()


def test_one_system_has_no_marks() -> None:
    for layout in LAYOUTS:
        assert not any(table.has_marks for table in paper_tables({"A": results("A")}, layout))


def test_unknown_layouts_and_metrics() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean systems-by-task"):
        paper_tables({"A": results("A")}, "systems-by-tasks")
    with pytest.raises(UnknownNameError, match="unknown metric 'f2'"):
        paper_tables({"A": results("A")}, "systems-by-task", "f2")


def test_command_marks_by_the_test_of_compare(folder: Path) -> None:
    names = ("good", "fair", "bad")
    words = (*(folder / name for name in names), "--gold", folder / "gold", "--suite", "xtreme")
    done = isogloss("score", *words, "--tasks", "xnli", "--layout", "systems-by-language", "--format", "latex")
    assert done.code == 0, done.err
    head, *rows = cells_of(done.out)
    request = Request.of("xtreme", tasks=["xnli"], gold=folder / "gold")
    contrasts = {
        ({each.first, each.second} - {"good"}).pop(): {one.name: one for one in (*each.cells, *each.tasks)}
        for each in compare_request([folder / name for name in names], request)[:2]
    }
    marks = set()
    for column, code in enumerate(head[1:], 1):
        name = "xnli" if code == "Avg." else f"xnli/{code}"
        values = {row[0]: row[column] for row in rows}
        if not values["good"].startswith(r"\textbf"):
            continue
        for other in ("fair", "bad"):
            tested = contrasts[other][name]
            equal = f"{tested.first:.1f}" == f"{tested.second:.1f}"
            mark = r"\textbf{{{}}}" if equal else "{}" if tested.significant else r"\underline{{{}}}"
            assert values[other] == mark.format(f"{tested.second:.1f}")
            marks.add(mark)
    assert len(marks) > 1


def test_chosen_metrics(folder: Path) -> None:
    words = (folder / "good", folder / "bad", "--gold", folder / "gold", "--suite", "xtreme", "--tasks", "xquad")
    both = isogloss("score", *words, "--layout", "languages-by-system")
    only = isogloss("score", *words, "--layout", "languages-by-system", "--metrics", "em")
    assert "(F1 / EM)" in both.out
    assert both.out.count(" / ") == 1 + 2 * 12  # the title, and two systems in eleven languages and their average
    assert "(EM)" in only.out
    assert " / " not in only.out


needs_latex = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")


def compiled(body: str, folder: Path, *packages: str) -> None:
    """Compile a document and fail with LaTeX's own message."""
    preamble = "".join(rf"\usepackage{{{name}}}" for name in ("booktabs", *packages))
    preamble += r"\sisetup{detect-weight=true}" * ("siunitx" in packages)
    text = (
        rf"\documentclass[twocolumn]{{article}}{preamble}\begin{{document}}{body}See~\ref{{tab:xnli}}.\end{{document}}"
    )
    (folder / "paper.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(
        command, check=False, cwd=folder, capture_output=True, text=True, errors="replace", timeout=60
    )
    assert done.returncode == 0, done.stdout[-2_000:]
    assert (folder / "paper.pdf").stat().st_size > 10_000


@needs_latex
def test_tables_compile(tmp_path: Path) -> None:
    names = ("A_1 & 50% of {it} #$~^", r"\B [x] * …")
    records = {name: record(name, -shift) for shift, name in enumerate(names)}
    tables = [table for layout in LAYOUTS for table in paper_tables(records, layout, test=lambda *_: False)]
    compiled(render(tables, "latex"), tmp_path)


@needs_latex
def test_tables_compile_with_siunitx(tmp_path: Path) -> None:
    if subprocess.run(["kpsewhich", "siunitx.sty"], check=False, capture_output=True).returncode:
        pytest.skip("siunitx is not installed (texlive-science)")
    records = {name: record(name, -shift) for shift, name in enumerate("AB")}
    tables = paper_tables(records, "systems-by-language", test=lambda *_: False)
    compiled(render(tables, "siunitx"), tmp_path, "siunitx")
