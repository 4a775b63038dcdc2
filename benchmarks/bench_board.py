"""A board of 1,000 systems with all 202 cells of XTREME-R, intervals and metadata: how long it takes, what it weighs.

Run it: `python benchmarks/bench_board.py [SYSTEMS] [FOLDER]`. Scores are drawn, not measured; every figure has an
interval, so that the page is as heavy as it can be. FOLDER keeps the site. There is no peer that makes a site of files.
"""

import sys
import tempfile
import time
from pathlib import Path
from random import Random

from isogloss.board.build import make_board
from isogloss.board.entries import BoardEntry, EntryCell, completed_averages
from isogloss.board.site import PAGE, SYSTEMS, write_site
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from isogloss.version import __version__

KINDS = ("encoder", "encoder", "llm", "retrieval")
REGIMES = ("zero-shot", "translate-train", "prompted", "in-language")
HALF = 1.2


def synthetic_entries(count: int, seed: int = 0) -> list[BoardEntry]:
    """Systems that differ in skill and size, each with all cells."""
    draw = Random(seed)
    xtreme_r = suite("xtreme-r")
    ease = {code: draw.gauss(0, 9) for name in xtreme_r.tasks for code in xtreme_r.languages_of(name)}
    return [_entry(place, count, draw, ease) for place in range(count)]


def _entry(place: int, count: int, draw: Random, ease: dict[str, float]) -> BoardEntry:
    skill = 45 + 35 * (count - place) / count
    metadata = {
        "kind": KINDS[place % 4],
        "year": 2019 + place % 8,
        "date": f"{2019 + place % 8}-{1 + place % 12:02d}-01",
        "paper": f"Author and Author {2019 + place % 8}",
        "url": f"https://example.org/model-{place}",
        "parameters": round(10 ** draw.uniform(1, 5)),
        "open_weights": place % 3 > 0,
        "pretraining_data": "2.5 TB of filtered text in 100 languages",
        "translated_data": place % 4 == 1,
        "licence": "Apache-2.0",
    }
    entry = BoardEntry(f"organisation/model-{place}", REGIMES[place % 4], metadata, source=f"runs/model-{place}")
    entry.scorer = __version__, "test", "source"
    xtreme_r = suite("xtreme-r")
    for name in xtreme_r.tasks:
        for code in xtreme_r.languages_of(name):
            n = task(name).expected(code, "test") or 500
            metrics = {metric: _number(skill + ease[code] + draw.gauss(0, 4), n) for metric in task(name).main}
            signature = f"task:{name}|lang:{code}|split:test|n:{n}|data:0123456789ab|version:{__version__}"
            entry.cells[name, code] = EntryCell(metrics, signature)
    entry.averages = {
        column: _number(number.value, number.n) for column, number in completed_averages(entry, xtreme_r).items()
    }
    return entry


def _number(value: float, n: int) -> Number:
    value = min(99.9, max(1.5, value))
    return Number(value, value - HALF, min(100.0, value + HALF), n)


def main(count: int, folder: Path) -> None:
    entries = synthetic_entries(count)
    start = time.perf_counter()
    board = make_board(entries, suite("xtreme-r"))
    made = time.perf_counter()
    write_site(board, folder)
    written = time.perf_counter()
    files = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    details = [path.stat().st_size for path in (folder / SYSTEMS).iterdir()]
    print(f"{count:,} systems: averages, ranks and ties in {made - start:.1f} s, written in {written - made:.1f} s")
    parts = ", ".join(f"{name} {size / 1e3:,.0f} kB" for name, size in files.items())
    print(f"the page: {sum(files.values()) / 1e6:.2f} MB ({parts})")
    print(f"a system's own file: {sum(details) / len(details) / 1e3:.0f} kB; open {folder / PAGE}")


if __name__ == "__main__":
    systems = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    if len(sys.argv) > 2:
        main(systems, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(systems, Path(temporary, "site"))
