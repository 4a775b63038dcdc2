"""A board of 1,000 systems with all 202 cells of XTREME-R, intervals and metadata: its build time and size.

Run it: `python benchmarks/board_pages.py [SYSTEMS] [FOLDER]`. Scores are random; every figure has an
interval, so that the page is as large as possible. The site is kept in FOLDER. No peer builds a static site.
If Playwright and Chromium are installed, the page is opened five times: the first paint, and the time of each filter
and page from the change of the address to the end of the layout. The least time of five is that of an idle machine.
"""

import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random

from isogloss.board.build import make_board
from isogloss.board.site import PAGE, SYSTEMS, write_site
from isogloss.results.averages import completed_averages
from isogloss.results.system import CellResult, Scorer, SystemResult
from isogloss.scoring.names import known_language
from isogloss.scoring.results import Number
from isogloss.tasks.suites import suite
from isogloss.version import __version__

KINDS = ("encoder", "encoder", "llm", "retrieval")
REGIMES = ("zero-shot", "translate-train", "prompted", "in-language")
HALF = 1.2


def synthetic_entries(count: int, seed: int = 0) -> list[SystemResult]:
    """Systems that differ in skill and size, each with all cells."""
    draw = Random(seed)
    xtreme_r = suite("xtreme-r")
    ease = {code: draw.gauss(0, 9) for name in xtreme_r.tasks for code in xtreme_r.languages_of(name)}
    return [_entry(place, count, draw, ease) for place in range(count)]


def _entry(place: int, count: int, draw: Random, ease: dict[str, float]) -> SystemResult:
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
    xtreme_r = suite("xtreme-r")
    cells = {}
    for name, task in xtreme_r.members.items():
        for code in xtreme_r.languages_of(name):
            n = task.expected(code, "test") or 500
            cells[name, code] = CellResult(
                task=task,
                code=code,
                language=known_language(code),
                metrics={metric: _number(skill + ease[code] + draw.gauss(0, 4), n) for metric in task.main},
                signature=f"task:{name}|lang:{code}|split:test|n:{n}|data:0123456789ab|version:{__version__}",
            )
    system = SystemResult(
        name=f"organisation/model-{place}",
        regime=REGIMES[place % 4],
        metadata=metadata,
        cells=cells,
        source=f"runs/model-{place}",
        scorer=Scorer(version=__version__, split="test", resample="source"),
    )
    averages = completed_averages(system, xtreme_r)
    return replace(system, averages={column: _number(each.value, each.n) for column, each in averages.items()})


def _number(value: float, n: int) -> Number:
    value = min(99.9, max(1.5, value))
    return Number(value, value - HALF, min(100.0, value + HALF), n)


FILTERS = (
    *("kind=llm", "q=model-1", "language=sw", "family=Turkic", "metric=f1", "pmin=100", "complete=1", "hide=xnli"),
    *("sort=xnli", "page=5", "ranking=flat", "ranking=family", "ranking=speakers", "ranking=worst", "ranking=gini"),
    *("ranking=weights&w=xnli%3A3", "segment=qa", "segment=xnli", "partial=1", "all=1", ""),
)
PAGES = (
    *(
        "languages",
        "languages?share=90",
        "languages?view=heat",
        "language/sw",
        "family/Turkic",
        "task/xnli",
        "task/xnli/sw",
    ),
    *("find?task=qa&language=sw", "compare", "progress", "progress?view=humans", "progress?view=size"),
)
OPENINGS = 5
OPENED = """[performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
  performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd]"""
TIMED = """hashes => hashes.map((hash) => {
  const before = performance.now();
  history.pushState(null, "", hash);
  dispatchEvent(new PopStateEvent("popstate"));
  document.body.offsetHeight;
  return performance.now() - before; })"""


def in_browser(page: Path) -> None:
    """Open the page and print its timings, or a note without a browser."""
    chromium = next(
        filter(None, map(shutil.which, ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome"))),
        None,
    )
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("not opened: Playwright or Chromium is missing")
        return
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        addresses = [*(f"#/?{query}" for query in FILTERS), *(f"#/{page}" for page in PAGES)]
        opened, runs = [], []
        for _ in range(OPENINGS):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            tab.goto(page.resolve().as_uri())
            tab.wait_for_selector("html[data-ready]")
            opened.append(tab.evaluate(OPENED))
            runs.append(tab.evaluate(TIMED, addresses))
            tab.close()
        browser.close()
    print("in ms: least and median")
    measured = [[*own, *times] for own, times in zip(opened, runs, strict=True)]
    for place, name in enumerate(("first paint", "ready", *addresses)):
        times = [run[place] for run in measured]
        print(f"  {name:34} {min(times):5.0f} {statistics.median(times):5.0f}")


def main(count: int, folder: Path) -> None:
    entries = synthetic_entries(count)
    start, used = time.perf_counter(), time.process_time()
    board = make_board(entries, suite("xtreme-r"))
    made, used = time.perf_counter(), time.process_time() - used
    write_site(board, folder)
    written = time.perf_counter()
    files = {path.name: path.stat().st_size for path in folder.iterdir() if path.is_file()}
    details = [path.stat().st_size for path in (folder / SYSTEMS).iterdir()]
    print(f"{count:,} systems: averages, ranks and ties in {made - start:.1f} s (processor {used:.1f} s)")
    parts = ", ".join(f"{name} {size / 1e3:,.0f} kB" for name, size in files.items())
    print(f"the page: {sum(files.values()) / 1e6:.2f} MB ({parts}), written in {written - made:.1f} s")
    print(f"a system's own file: {sum(details) / len(details) / 1e3:.0f} kB; open {folder / PAGE}")
    in_browser(folder / PAGE)


if __name__ == "__main__":
    systems = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    if len(sys.argv) > 2:
        main(systems, Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(systems, Path(temporary, "site"))
