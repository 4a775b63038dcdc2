"""Write reports: the page, every table as CSV, Markdown and LaTeX, every chart as SVG and PNG."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss.analysis.finding import Finding
from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.escaping import csv_text
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.languages import listed_language
from isogloss.results.interchange import write_as
from isogloss.results.readers import (
    RECORD,
    join_files,
    listed_sources,
    read_records,
    system_of_record,
    with_contamination,
)
from isogloss.results.system import by_shown_name
from isogloss.scoring.results import Results, ScoreRow
from isogloss.site.html import html_page
from isogloss.site.page_parts import ReportInputs, Section
from isogloss.site.sections import analysis_sections, bias_sections, finding_section, report_sections
from isogloss.tables.explain_io import ExplainRecords, explain_records, read_explain_records
from isogloss.tables.findings import tidy_csv
from isogloss.tables.paper_tables import paper_tables
from isogloss.tables.table import Table
from isogloss.tables.vega import chart_library, png, svg
from isogloss.tasks.registry import task

HTML = "html"


def report(
    results: Path | str | Results | Sequence[Path | str | Results],
    out: Path | str,
    *,
    explain: Sequence[Path | str | Analysis | DatasetBias] = (),
    title: str = "Isogloss report",
    pictures: bool | None = None,
    data: Path | str | None = None,
    progress: Callable[[str], None] | None = None,
    form: str = HTML,
) -> Path:
    """Write a report of one or more systems: a page that works offline, and every table and chart as a file.

    The same inputs give the same bytes. Everything is drawn before anything is written.

    Args:
        results: result records, or their files or run folders; one or several.
        out: folder for `index.html`, `scores.csv`, `tables/` (csv, md, tex) and `charts/` (svg, png).
        explain: analyses of `isogloss explain`, or their files.
        title: heading of the page.
        pictures: True to also write charts as files; by default if vl-convert is installed.
        data: data folder; with it, run folders with predictions are tested on examples.
        progress: called with the name of each part before it is written.
        form: "html", or the format of another tool, as in `results.interchange.WRITABLE`: then `out` is its file or
            folder, and nothing else is written.

    Returns:
        Path of the page, file or folder.

    Raises:
        DataError: an input is invalid, the format cannot hold it, or the folder cannot be written.
        IsoglossError: pictures or a client are requested, but not installed.
        UnknownNameError: no such format.

    Example:
        isogloss.report(["runs/mine/zero-shot/seed-0", "theirs.json"], "report", title="My report")
        isogloss.report("results.json", "README.md", form="model-index")
    """
    sources = listed_sources(results)
    if form != HTML:
        return write_as(form, [system.record for system in read_inputs(sources).systems.values()], Path(out))
    if pictures is None:
        pictures = find_spec("vl_convert") is not None
    elif pictures:
        chart_library()  # fail before anything is written
    inputs = read_inputs(sources, explain)
    inputs = replace(inputs, data=None if data is None else Path(data))
    folder, report_step = Path(out), progress or (lambda step: None)
    parts = [replace(part, pictures=pictures) for part in report_sections(inputs)]
    files: dict[str, bytes] = {}
    for part in parts:
        report_step(part.title)
        files |= _table_files(part.tables)
        for chart in part.charts if pictures else ():
            drawing = svg(chart)
            files |= {f"charts/{chart.name}.svg": drawing.encode(), f"charts/{chart.name}.png": png(drawing)}
    records = {name: system.record for name, system in inputs.systems.items()}
    for layout in ("systems-by-task", "systems-by-language"):
        tables = paper_tables(records, layout)
        files |= _table_files({f"paper-{table.label.removeprefix('tab:')}": table for table in tables})
    # Every number of every system as tidy CSV.
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(("system", *ScoreRow.__struct_fields__))
    for name, system in inputs.systems.items():
        writer.writerows((csv_text(name), *row.as_csv()) for row in system.record.rows())
    files["scores.csv"] = stream.getvalue().encode()
    report_step("page")
    files["index.html"] = html_page(inputs, parts, title).encode()
    _write_all(files, folder)
    return folder / "index.html"


def _table_files(tables: Mapping[str, Table]) -> dict[str, bytes]:
    """Return the files of tables by their paths: CSV, Markdown and LaTeX."""
    files: dict[str, bytes] = {}
    for name, table in tables.items():
        formats = {"csv": table.csv(), "md": table.markdown() + "\n", "tex": table.latex() + "\n"}
        files |= {f"tables/{name}.{suffix}": text.encode() for suffix, text in formats.items()}
    return files


def read_inputs(
    results: Sequence[Path | str | Results], explain: Sequence[Path | str | Analysis | DatasetBias] = ()
) -> ReportInputs:
    """Read result records, or folders with a `results.json`, and the output of `isogloss explain`."""
    systems = []
    for source in results:
        if isinstance(source, Results):
            systems.append(system_of_record(source, "results in memory"))
            continue
        folder = Path(source) if Path(source).is_dir() else Path(source).parent
        for record in read_records(Path(source)):
            _check_main_metrics(record, Path(source, RECORD) if Path(source).is_dir() else Path(source))
            systems.append(with_contamination(system_of_record(record, str(source)), folder))
    return ReportInputs(by_shown_name(join_files(systems)), read_explain_records(explain))


def _check_main_metrics(record: Results, path: Path) -> None:
    main = {name: task(name).main for name in {cell.task for cell in record.cells}}
    for cell in record.cells:
        if lacking := [metric for metric in main[cell.task] if metric not in cell.metrics]:
            what = f"{cell.task}/{cell.language} has no {' and no '.join(lacking)}"
            raise DataError(what, where=str(path), fix="Score the predictions again")


def _write_all(files: Mapping[str, bytes], folder: Path) -> None:
    """Write files into a folder: all, or none if one of them fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
            for name, content in files.items():
                path = Path(temporary, name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            for name in files:
                (folder / name).parent.mkdir(exist_ok=True)
                Path(temporary, name).replace(folder / name)
    except OSError as error:
        with suppress(OSError):
            folder.rmdir()  # only if empty
        raise DataError(f"cannot write ({error.strerror or error})", where=str(folder)) from error


def write_analysis(analysis: Analysis, path: Path, *, title: str = "Isogloss explain") -> None:
    """Write an analysis as one self-contained page."""
    _write_page(path, ReportInputs(explained=explain_records(analysis)), analysis_sections(analysis), title)


def write_bias(bias: DatasetBias, path: Path, *, title: str = "Isogloss explain: dataset bias") -> None:
    """Write a dataset bias analysis as one self-contained page."""
    _write_page(path, ReportInputs(explained=ExplainRecords(bias=bias)), bias_sections(bias), title)


def write_finding(finding: Finding, path: Path) -> None:
    """Write a finding as one self-contained page."""
    codes = {str(row["language"]) for table in finding.tables for row in table.records() if row.get("language")}
    known = {entry.code for code in codes if (entry := listed_language(code))}
    inputs = ReportInputs(subtitle=finding.command, languages=tuple(sorted(known)))
    _write_page(path, inputs, [finding_section(finding, files=False)], f"Isogloss: {finding.title}")


def _write_page(path: Path, inputs: ReportInputs, sections: Sequence[Section], title: str) -> None:
    with atomic_write(path) as stream:
        stream.write(html_page(inputs, sections, title))


def write_tidy_tables(finding: Finding, path: Path) -> None:
    """Write the tables of a finding as CSV: all into a folder, or only the first if the path ends in .csv."""
    if path.suffix.lower() == ".csv":
        with atomic_write(path) as stream:
            stream.write(tidy_csv(finding.tables[0]))
    else:
        _write_all({f"{table.name}.csv": tidy_csv(table).encode() for table in finding.tables}, path)
