"""A board on disk: a folder that opens from disk or from any web host, replaced as a whole."""

import ctypes
import glob
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from isogloss.board.build import Board, make_board
from isogloss.board.bundle import bundle
from isogloss.board.encoding import script_json
from isogloss.board.example_tables import ExampleTables, example_tables
from isogloss.board.paired import paired_tests
from isogloss.board.sources import read_entries
from isogloss.data.files import read_bytes
from isogloss.errors import DataError
from isogloss.report.explain_io import read_explain_records
from isogloss.report.page_parts import packaged_path
from isogloss.scoring.results import Results
from isogloss.tasks.suites import suite as find_suite

WEB = Path(__file__).with_name("web")
PAGE, DATA, SCRIPT, SYSTEMS, BIAS, EXAMPLES = "index.html", "data.js", "app.js", "systems", "bias.js", "examples"
# How `data.js` begins, by which a folder is known for a site.
_BEGIN = "globalThis.isoglossBoardData = "
NO_EXAMPLES = "it was built without single examples"
_NOT_SITE = "Give a folder that is not there yet, an empty one, or a board's own"


def build_board(
    sources: Sequence[Path | str | Results],
    out: Path | str,
    *,
    suite: str = "xtreme-r",
    title: str = "",
    data: Path | None = None,
    explain: Sequence[Path | str] = (),
    examples: bool = True,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Make a board: a site that needs no server.

    Args:
        sources: result records, or files or run folders of them; folders of seeds; CSV files of scores; "published",
            "published:all" or "published:NAME".
        out: the folder of the site. An older site is replaced as a whole, or stays as it is.
        suite: whose tasks, languages and rule the board shows.
        title: the heading; the suite's title by default.
        data: the data folder: its gold is what systems with answers are compared by, example by example, and its URIEL
            tells which languages are near each other. How systems with answers did on single examples is told on the
            site where anyone can have the labels.
        explain: what `isogloss explain` wrote about systems or data.
        examples: whether the site may tell of single examples at all. Say False where the data folder has private
            labels in the place of public ones, which cannot be seen here.
        progress: told each part before it is made.

    Returns:
        The path of the page.

    Raises:
        DataError: an input is not what it should be, or the folder is no site, or cannot be written.
        UnknownNameError: there is no such suite or published system.
    """
    tell = progress or (lambda step: None)
    folder = Path(out)
    check_is_site(folder)
    chosen = find_suite(suite)
    tell("reading")
    entries = read_entries(sources, chosen)
    explained = read_explain_records(explain) if explain else None
    if explained is not None and not examples:
        explained = replace(explained, cases={})
    tests = paired_tests(entries, chosen, data, tell)
    shown = () if explained is None else explained.cases
    told = example_tables(entries, chosen, data, shown, tell) if examples else ExampleTables(why_none=NO_EXAMPLES)
    tell("ranking")
    board = make_board(
        entries,
        chosen,
        title=title,
        data=data,
        paired=tests,
        explained=explained,
        examples=told,
    )
    tell("writing")
    write_site(board, folder)
    return folder / PAGE


def check_is_site(folder: Path) -> None:
    """Refuse a folder with anything in it that a board did not write.

    Raises:
        DataError: it is not a folder, or has other files.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise DataError("is a file, not a folder", where=str(folder), fix=_NOT_SITE)
    names = {path.name for path in folder.iterdir()}
    if not names:
        return
    if DATA not in names or not read_bytes(folder / DATA, most=len(_BEGIN)).startswith(_BEGIN.encode()):
        raise DataError("has files, and is no board", where=str(folder), fix=_NOT_SITE)
    known = {PAGE, DATA, SCRIPT, SYSTEMS, BIAS, EXAMPLES, *(path.name for path in static_files())}
    if others := sorted(name for name in names - known if not name.endswith((".css", ".svg"))):
        what = f"has files that are not the board's, and would be lost: {', '.join(others[:3])}"
        raise DataError(what, where=str(folder), fix="Move them away, or give a folder of its own")


def static_files() -> Iterator[Path]:
    """What a site has as it is: the page, its looks, which are the report's too, and its pictures."""
    yield packaged_path("look.css")
    yield from (path for path in sorted(WEB.iterdir()) if path.is_file() and path.suffix in (".html", ".css", ".svg"))


def site_files(board: Board) -> Iterator[tuple[str, bytes]]:
    """Every file of a site, by its path."""
    for path in static_files():
        yield path.name, path.read_bytes()
    yield SCRIPT, bundle(WEB).encode()
    yield DATA, f"{_BEGIN}{script_json(board.data)};\n".encode()
    if board.bias is not None:
        yield BIAS, f"globalThis.isoglossBias = {script_json(board.bias)};\n".encode()
    for detail in board.details:
        text = f'globalThis.isoglossSystem("{detail.id}", {script_json(detail)});\n'
        yield f"{SYSTEMS}/{detail.id}.js", text.encode()
    yield from _example_files(board)


def _example_files(board: Board) -> Iterator[tuple[str, bytes]]:
    """What examples are like, a file for each task and language; and how a system did on them, one more for each."""
    for (name, code), cell in board.examples.cells.items():
        text = f"globalThis.isoglossExamples({script_json(f'{name}/{code}')}, {script_json(cell)});\n"
        yield f"{EXAMPLES}/{name}/{code}.js", text.encode()
    for place, cells in board.examples.systems.items():
        system = board.details[place].id
        for (name, code), told in cells.items():
            text = f"globalThis.isoglossStatistics({script_json(f'{name}/{code}/{system}')}, {script_json(told)});\n"
            yield f"{EXAMPLES}/{name}/{code}/{system}.js", text.encode()


def write_site(board: Board, folder: Path) -> None:
    """Write a site beside the folder, and put it into its place in one step.

    Raises:
        DataError: the folder is no site, or cannot be written.
    """
    place = folder.resolve()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(place)
        beside = Path(mkdtemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent))
        try:
            for name, content in site_files(board):
                path = beside / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            beside.chmod(place.stat().st_mode if place.exists() else 0o755)
            check_is_site(place)
            _put_in_place(beside, place)
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(folder)) from error


def _remove_abandoned(place: Path) -> None:
    """Remove what was left beside a site by those who were killed; nobody takes an hour to write one."""
    for folder in place.parent.glob(f".{glob.escape(place.name)}.*.part"):
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > 3600:
                shutil.rmtree(folder)


def _put_in_place(new: Path, place: Path) -> None:
    """Exchange two folders; where there is but the new one, or an empty one, it takes the place."""
    if not place.exists() or not any(place.iterdir()):
        with suppress(FileNotFoundError):
            place.rmdir()
        new.rename(place)
    elif not _exchanged(new, place):
        old = new.with_suffix(".old")
        place.rename(old)
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)


def _exchanged(one: Path, other: Path) -> bool:
    """Let two folders change names in one step, which Linux can do; False where it cannot be done."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None) if sys.platform == "linux" else None
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0
