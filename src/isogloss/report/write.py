"""A report on disk: the page, every table in three forms, every chart in two."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from isogloss.data.files import atomic_write
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.report.charts import Chart, chart_library, png, svg
from isogloss.report.explain_io import ExplainRecords, explain_records
from isogloss.report.flat_rows import Systems
from isogloss.report.html import html_page
from isogloss.report.inputs import ReportInputs, read_inputs
from isogloss.report.section import Section
from isogloss.report.sections import analysis_sections, bias_sections, report_sections
from isogloss.scoring.results import Results, ScoreRow


def report(
    results: Path | str | Results | Sequence[Path | str | Results],
    out: Path | str,
    *,
    explain: Sequence[Path | str | Analysis | DatasetBias] = (),
    title: str = "Isogloss report",
    pictures: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write a report of one or more systems: a page that works offline, and every table and chart as a file.

    The same inputs give the same bytes.

    Args:
        results: result records, or files or run folders of them; one or several.
        out: folder for `index.html`, `scores.csv`, `tables/` (csv, md, tex) and `charts/` (svg, png).
        explain: what `isogloss explain` found out about systems or data, or files of it.
        title: the heading.
        pictures: whether charts are also written as files.
        progress: told each part before it is written.

    Returns:
        The path of the page.

    Raises:
        DataError: an input is not what it should be, or the folder cannot be written.
        IsoglossError: the library that draws charts is not installed.
    """
    chart_library()  # before anything is written
    inputs = read_inputs([results] if isinstance(results, Path | str | Results) else results, explain)
    folder, tell = Path(out), progress or (lambda step: None)
    parts = [replace(part, pictures=pictures) for part in report_sections(inputs)]
    for part in parts:
        tell(part.title)
        _write_tables(part, folder / "tables")
        if pictures:
            _write_charts(part.charts, folder / "charts")
    _write_scores(inputs.systems, folder / "scores.csv")
    tell("page")
    target = folder / "index.html"
    with atomic_write(target) as stream:
        stream.write(html_page(inputs, parts, title))
    return target


def write_analysis(analysis: Analysis, path: Path, *, title: str = "Isogloss explain") -> None:
    """Write an analysis as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(html_page(ReportInputs(explained=explain_records(analysis)), analysis_sections(analysis), title))


def write_bias(bias: DatasetBias, path: Path, *, title: str = "Isogloss explain: the data") -> None:
    """Write a survey of the data as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(html_page(ReportInputs(explained=ExplainRecords(bias=bias)), bias_sections(bias), title))


def _write_tables(section: Section, folder: Path) -> None:
    for name, table in section.tables.items():
        for suffix, text in (("csv", table.csv()), ("md", table.markdown() + "\n"), ("tex", table.latex() + "\n")):
            with atomic_write(folder / f"{name}.{suffix}") as stream:
                stream.write(text)


def _write_charts(charts: Sequence[Chart], folder: Path) -> None:
    for chart in charts:
        drawing = svg(chart)
        with atomic_write(folder / f"{chart.name}.svg") as stream:
            stream.write(drawing)
        with atomic_write(folder / f"{chart.name}.png") as stream:
            stream.buffer.write(png(drawing))


def _write_scores(systems: Systems, path: Path) -> None:
    """Every number of every system, tidy."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("system", *ScoreRow.__struct_fields__))
        for name, results in systems.items():
            writer.writerows((name, *msgspec.structs.astuple(row)) for row in results.rows())
