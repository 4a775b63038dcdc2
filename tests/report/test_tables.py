"""Test a table in every format."""

import io

import pytest
from rich.console import Console

from isogloss.errors import UnknownNameError
from isogloss.tables.table import Table, render


@pytest.fixture
def table() -> Table:
    made = Table("T & Co [x]", ("task_a", "score %"), notes=["a note"])
    made.add("x|y", "1.0–2.0")
    made.add("[bold]z", "3", strong=True)
    return made


def test_markdown(table: Table) -> None:
    assert table.markdown().splitlines() == [
        r"**T &amp; Co \[x\]**",
        "",
        "| task_a | score % |",
        "| :-- | --: |",
        r"| x\|y | 1.0–2.0 |",
        r"| **\[bold\]z** | **3** |",
        "",
        "- a note",
    ]


def test_latex_is_escaped_and_booktabs(table: Table) -> None:
    text = table.latex()
    assert r"task\_a & score \% \\" in text
    assert r"x|y & 1.0--2.0 \\" in text
    assert r"\textbf{{}[bold]z} & \textbf{3} \\" in text
    assert r"\caption{T \& Co [x]}" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1


def test_csv(table: Table) -> None:
    assert table.csv() == "task_a,score %\nx|y,1.0–2.0\n[bold]z,3\n"


def printed(table: Table, width: int) -> str:
    stream = io.StringIO()
    table.print(Console(file=stream, width=width))
    return stream.getvalue()


def test_notes_wrap_with_their_margin(table: Table) -> None:
    table.notes = ["one [bold]note", "another note of " + "many words " * 9]
    lines = printed(table, 40).splitlines()
    shown = lines[next(index for index, line in enumerate(lines) if "one [bold]note" in line) :]
    assert len(shown) > 3
    assert all(line.startswith("  ") and line[2] != " " for line in shown)


def test_cells_are_never_markup(table: Table) -> None:
    assert "[bold]z" in printed(table, 80)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_wide_tables_are_split_and_nothing_is_lost(width: int) -> None:
    table = Table("wide", ("name", *(f"column{i}" for i in range(12))))
    table.add("some language", *(f"{i}.25" for i in range(12)))
    text = printed(table, width)
    assert max(map(len, text.splitlines())) <= width
    for i in range(12):
        assert f"column{i}" in text
        assert f" {i}.25" in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_intervals_stay_with_their_values(width: int) -> None:
    table = Table("wide", ("name", *(word for i in range(6) for word in (f"score{i}", "95 %"))))
    table.add("some language", *(cell for i in range(6) for cell in (f"{i}.5", f"{i}.1-{i}.9")))
    lines = [line for line in printed(table, width).splitlines() if "some language" in line]
    for i in range(6):
        assert any(f" {i}.5 " in line and f"{i}.1-{i}.9" in line for line in lines)


def test_unknown_format() -> None:
    with pytest.raises(UnknownNameError, match="unknown format 'mdd'"):
        render([], "mdd")


def test_names_are_not_broken_if_other_text_can_wrap() -> None:
    table = Table("Tasks", ("task", "title", "languages"), words=2)
    table.add("checklist-job-vs-nationality", "profession or nationality, each asked for in turn " * 2, "51")
    text = printed(table, 70)
    assert "checklist-job-vs-nationality" in text
    assert {"nationality,", "profession"} <= {*text.split()}
    assert max(map(len, text.splitlines())) <= 70
