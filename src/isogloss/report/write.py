"""A report on disk: the page, every table in three forms, every chart in two."""

import csv
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.report.charts import Chart, converter, png, svg
from isogloss.report.document import analysis_sections, bias_sections, sections
from isogloss.report.explain_io import Explained, explained
from isogloss.report.html import page
from isogloss.report.inputs import Inputs
from isogloss.report.section import Section
from isogloss.scoring.results import ScoreRow


def write_report(
    inputs: Inputs,
    out: Path,
    *,
    title: str = "Isogloss report",
    pictures: bool = True,
    progress: Callable[[str], None] = lambda step: None,
) -> Path:
    """Write `index.html`, `scores.csv`, `tables/` (csv, md, tex) and `charts/` (svg, png); the page's path.

    The same inputs give the same bytes.
    """
    converter()  # before anything is written
    parts = [replace(part, pictures=pictures) for part in sections(inputs)]
    for part in parts:
        progress(part.title)
        _write_tables(part, out / "tables")
        if pictures:
            _write_charts(part.charts, out / "charts")
    _write_scores(inputs, out / "scores.csv")
    progress("page")
    target = out / "index.html"
    with atomic_write(target) as stream:
        stream.write(page(inputs, parts, title))
    return target


def write_analysis(analysis: Analysis, path: Path, *, title: str = "Isogloss explain") -> None:
    """Write an analysis as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(page(Inputs(explained=explained(analysis)), analysis_sections(analysis), title))


def write_bias(survey: DatasetBias, path: Path, *, title: str = "Isogloss explain: the data") -> None:
    """Write a survey of the data as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(page(Inputs(explained=Explained(survey=survey)), bias_sections(survey), title))


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
        target = folder / f"{chart.name}.png"
        part = target.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(png(drawing))
            part.replace(target)
        except OSError as error:
            raise DataError(f"cannot be written ({error.strerror or error})", where=str(target)) from error


def _write_scores(inputs: Inputs, path: Path) -> None:
    """Every number of every system, tidy."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("system", *ScoreRow.__struct_fields__))
        for name, results in inputs.systems.items():
            writer.writerows((name, *msgspec.structs.astuple(row)) for row in results.rows())
