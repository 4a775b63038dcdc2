"""A report on disk: the page, every table in three forms, every chart in two."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss.analysis.finding import Finding
from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.escaping import csv_text
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.report.charts import Chart, chart_library, png, svg
from isogloss.report.explain_io import ExplainRecords, explain_records
from isogloss.report.finding_section import finding_section
from isogloss.report.finding_tables import tidy_csv
from isogloss.report.flat_rows import Systems
from isogloss.report.html import html_page
from isogloss.report.inputs import ReportInputs, read_inputs
from isogloss.report.section import Section
from isogloss.report.sections import analysis_sections, bias_sections, report_sections
from isogloss.scoring.names import known_language
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

    The same inputs give the same bytes. Everything is drawn before anything is written.

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
    files: dict[str, bytes] = {}
    for part in parts:
        tell(part.title)
        files |= {f"tables/{name}": text.encode() for name, text in _table_files(part)}
        if pictures:
            files |= {f"charts/{name}": picture for name, picture in _chart_files(part.charts)}
    files["scores.csv"] = _all_scores(inputs.systems).encode()
    tell("page")
    files["index.html"] = html_page(inputs, parts, title).encode()
    _write_all(files, folder)
    return folder / "index.html"


def _write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Put files into a folder, all of them or, where one cannot be written, none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".part-", dir=folder) as beside:
            for name, content in files.items():
                path = Path(beside, name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            for name in files:
                (folder / name).parent.mkdir(exist_ok=True)
                Path(beside, name).replace(folder / name)
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()  # which only an empty one lets happen
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(folder)) from error


def write_analysis(analysis: Analysis, path: Path, *, title: str = "Isogloss explain") -> None:
    """Write an analysis as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(html_page(ReportInputs(explained=explain_records(analysis)), analysis_sections(analysis), title))


def write_bias(bias: DatasetBias, path: Path, *, title: str = "Isogloss explain: the data") -> None:
    """Write a survey of the data as one page that needs nothing but itself."""
    with atomic_write(path) as stream:
        stream.write(html_page(ReportInputs(explained=ExplainRecords(bias=bias)), bias_sections(bias), title))


def write_finding(finding: Finding, path: Path) -> None:
    """Write what an analysis found as one page that needs nothing but itself."""
    codes = {str(row["language"]) for table in finding.tables for row in table.records() if row.get("language")}
    known = {entry.code for code in codes if (entry := known_language(code))}
    inputs = ReportInputs(subtitle=finding.asked, languages=tuple(sorted(known)))
    with atomic_write(path) as stream:
        stream.write(html_page(inputs, [finding_section(finding, files=False)], f"Isogloss: {finding.title}"))


def write_tidy_tables(finding: Finding, path: Path) -> None:
    """Write the tables of a finding as CSV: all into a folder, or the first alone under a name that ends in .csv."""
    if path.suffix.lower() == ".csv":
        with atomic_write(path) as stream:
            stream.write(tidy_csv(finding.tables[0]))
    else:
        _write_all({f"{table.name}.csv": tidy_csv(table).encode() for table in finding.tables}, path)


def _table_files(section: Section) -> Iterator[tuple[str, str]]:
    for name, table in section.tables.items():
        yield f"{name}.csv", table.csv()
        yield f"{name}.md", table.markdown() + "\n"
        yield f"{name}.tex", table.latex() + "\n"


def _chart_files(charts: Sequence[Chart]) -> Iterator[tuple[str, bytes]]:
    for chart in charts:
        drawing = svg(chart)
        yield f"{chart.name}.svg", drawing.encode()
        yield f"{chart.name}.png", png(drawing)


def _all_scores(systems: Systems) -> str:
    """Every number of every system, tidy."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("system", *ScoreRow.__struct_fields__))
    for name, results in systems.items():
        writer.writerows((csv_text(name), *row.as_csv()) for row in results.rows())
    return stream.getvalue()
