"""Write a board: a folder that works from disk or any web host, replaced as a whole."""

import ctypes
import glob
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from isogloss.board.build import Board, make_board
from isogloss.board.cards import CARDS, card_files
from isogloss.board.example_tables import ExampleTables, example_tables
from isogloss.board.ranking import paired_tests
from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.results.readers import FIX, listed_sources, read_results
from isogloss.results.system import SystemResult
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.site.page_parts import WEB, bundle, script_json
from isogloss.tables.explain_io import read_explain_records
from isogloss.tasks.suites import Suite
from isogloss.tasks.suites import suite as find_suite

PAGE, DATA, SCRIPT, SYSTEMS, BIAS, EXAMPLES = "index.html", "data.js", "app.js", "systems", "bias.js", "examples"
STYLE = "pages.css"
# Start of `data.js`, which identifies a board folder.
_BEGIN = "globalThis.isoglossBoardData = "
NO_EXAMPLES = "it was built without single examples"
_NOT_SITE = "Pass a new or empty folder, or a board folder"


def build_board(
    sources: Path | str | Results | Sequence[Path | str | Results],
    out: str | os.PathLike[str],
    *,
    suite: str = "xtreme-r",
    title: str = "",
    data: str | os.PathLike[str] | None = None,
    explain: Sequence[Path | str] = (),
    examples: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Build a board: a site that needs no server.

    Args:
        sources: result records, or their files or run folders; folders of seeds; prediction folders, which are scored;
            folders of these; CSV files of scores; "published", "published:all" or "published:NAME".
        out: folder of the site. An older site is replaced as a whole, or stays unchanged on errors.
        suite: suite that defines tasks, languages and the overall rule.
        title: heading; the suite's title by default.
        data: data folder; its gold labels serve paired tests, and its URIEL distances find related languages. Results
            per example are published for tasks with public labels.
        explain: files of `isogloss explain`.
        examples: True to publish results per example; False if the data folder has private labels.
        progress: called with the name of each part before it is built.

    Returns:
        Path of the page.

    Raises:
        DataError: an input is invalid, or the folder is not a board or cannot be written.
        PredictionError: a prediction folder cannot be scored.
        UnknownNameError: unknown suite or published system.

    Example:
        isogloss.build_board(["my-predictions", "published"], "site", data="data")
    """
    report_step = progress or (lambda step: None)
    folder, data = Path(out), None if data is None else Path(data)
    check_is_site(folder)
    chosen = find_suite(suite)
    report_step("reading")
    entries = read_systems(
        listed_sources(sources), chosen, Request(suite=chosen, tasks=chosen.tasks, data=data, pseudo=True)
    )
    explained = read_explain_records(explain) if explain else None
    if explained is not None and not examples:
        explained = replace(explained, cases={})
    tests = paired_tests(entries, chosen, data, report_step)
    tables = ExampleTables(why_none=NO_EXAMPLES)
    if examples:
        tables = example_tables(entries, chosen, data, () if explained is None else explained.cases, report_step)
    report_step("ranking")
    board = make_board(entries, chosen, title=title, data=data, paired=tests, explained=explained, examples=tables)
    report_step("writing")
    write_site(board, folder)
    return folder / PAGE


def read_systems(
    sources: Iterable[Path | str | Results], suite: Suite, request: Request | None = None
) -> list[SystemResult]:
    """Read the systems of a board, in the order of their sources; raise DataError for mixed splits or no scores.

    With a request, prediction folders without a record are scored.
    A checklist record is attached to the system with the same name and regime, if there is exactly one.
    """
    read = read_results(sources, suite, request)
    systems = [system for system in read if system.cells or system.averages]
    if not systems:
        raise DataError(f"no scores of {suite.id}", fix=FIX)
    for other in read:
        owners = [row for row, owner in enumerate(systems) if (owner.name, owner.regime) == (other.name, other.regime)]
        if other.checklist and not other.cells and len(owners) == 1:
            systems[owners[0]] = replace(systems[owners[0]], checklist=other.checklist)
    splits = {system.scorer.split or "test": system.source for system in systems}
    if len(splits) > 1:
        what = f"cannot compare scores from different splits: {', '.join(splits)}"
        raise DataError(what, where=list(splits.values())[-1], fix="Build a board for each split")
    return systems


def check_is_site(folder: Path) -> None:
    """Raise DataError if a path is not a folder, or has files that a board did not write."""
    if folder.exists() and not folder.is_dir():
        raise DataError("not a folder", where=str(folder), fix=_NOT_SITE)
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not names:
        return
    if DATA not in names or not read_bytes(folder / DATA, most=len(_BEGIN)).startswith(_BEGIN.encode()):
        raise DataError("not a board folder", where=str(folder), fix=_NOT_SITE)
    known = {PAGE, DATA, SCRIPT, SYSTEMS, BIAS, EXAMPLES, CARDS, *(path.name for path in static_files())}
    if others := sorted(name for name in names - known if not name.endswith((".css", ".svg"))):
        what = f"has files that are not the board's and would be lost: {', '.join(others[:3])}"
        raise DataError(what, where=str(folder), fix="Move them, or pass another folder")


def static_files() -> Iterator[Path]:
    """Yield the files that are copied unchanged: the page, its styles and its pictures."""
    yield from (path for path in sorted(WEB.iterdir()) if path.is_file() and path.suffix in (".html", ".css", ".svg"))


def page_styles() -> bytes:
    """Return the styles of all kinds of pages: the style sheet of each folder of the front end."""
    sheets = sorted(path for path in WEB.glob("*/*.css") if path.parent.name != "inlined")
    return b"".join(path.read_bytes() for path in sheets)


def site_files(board: Board) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a site with its path."""
    for path in static_files():
        yield path.name, path.read_bytes()
    yield STYLE, page_styles()
    yield SCRIPT, bundle(WEB).encode()
    yield DATA, f"{_BEGIN}{script_json(board.data)};\n".encode()
    if board.bias is not None:
        yield BIAS, f"globalThis.isoglossBias = {script_json(board.bias)};\n".encode()
    for detail in board.details:
        yield f"{SYSTEMS}/{detail.id}.js", _call("isoglossSystem", detail.id, detail)
    yield from card_files(board.data)
    # The examples of each task and language, and the results of each system on them.
    for (name, code), cell in board.examples.cells.items():
        yield f"{EXAMPLES}/{name}/{code}.js", _call("isoglossExamples", f"{name}/{code}", cell)
    for index, cells in board.examples.systems.items():
        system = board.details[index].id
        for (name, code), statistics in cells.items():
            key = f"{name}/{code}/{system}"
            yield f"{EXAMPLES}/{key}.js", _call("isoglossStatistics", key, statistics)


def _call(function: str, key: str, value: Any) -> bytes:
    return f"globalThis.{function}({script_json(key)}, {script_json(value)});\n".encode()


def write_site(board: Board, folder: Path) -> None:
    """Write a site next to the folder and replace the folder in one step; raise DataError if that fails."""
    target = folder.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Folders of killed processes, which are older than an hour.
        for abandoned in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
            with suppress(OSError):
                if time.time() - abandoned.stat().st_mtime > 3600:
                    shutil.rmtree(abandoned)
        # Not by mkdtemp: the umask decides who can read the site.
        temporary = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
        temporary.mkdir()
        try:
            for name, content in site_files(board):
                path = temporary / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            if target.exists():
                temporary.chmod(target.stat().st_mode)
            check_is_site(target)
            _put_in_place(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(folder)) from error


def _put_in_place(new: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        with suppress(FileNotFoundError):
            target.rmdir()
        new.rename(target)
    elif not _exchanged(new, target):
        old = new.with_suffix(".old")
        target.rename(old)
        new.rename(target)
        shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; return False if the system cannot."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0
