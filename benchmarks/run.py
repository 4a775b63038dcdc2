"""All benchmarks in one run, compared with their peers.

Run it: `make bench`, or `python benchmarks/run.py [--only NAME …] [--markdown]`. Each `bench_NAME.py` runs in its
own process and prints its rows when it has them. Seconds are described in each benchmark, mostly CPU
time, always the best of several runs; ratio = peer / ours, so above 1 we are faster.
"""

import argparse
import ast
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

HERE = Path(__file__).parent
BENCHMARKS = tuple(sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py")))
PEERS = ("seqeval", "pytrec-eval-terrier", "torch", "scipy", "torchmetrics", "evaluate")

Row = dict[str, Any]
COLUMNS: tuple[tuple[str, int, Callable[[Row], str]], ...] = (
    ("what", -38, lambda row: row["what"]),
    ("peer", -36, lambda row: row["peer"]),
    ("ours s", 9, lambda row: _seconds(row["ours_s"])),
    ("peer s", 9, lambda row: _seconds(row["peer_s"])),
    ("ratio", 8, lambda row: f"{row['ratio']:.{2 if row['ratio'] < 10 else 0}f}x"),
    ("ours MB", 9, lambda row: f"{row['ours_mb']:.0f}" if "ours_mb" in row else ""),
    ("peer MB", 9, lambda row: f"{row['peer_mb']:.0f}" if "peer_mb" in row else ""),
    ("", -22, lambda row: f"   {row['note']}" if "note" in row else ""),
)


def _seconds(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:.{4 if value < 0.1 else 3 if value < 1 else 2}f}"


def machine() -> Iterator[str]:
    """Return the hardware and library versions."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if line[:10] == "model name"]
        cpu = names[0] if names else cpu
    yield f"{os.cpu_count()} cores, {cpu}, {platform.system()}; Python {platform.python_version()}"
    installed, missing = [], []
    for name in ("numpy", "msgspec", *PEERS):
        try:
            installed.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    yield ", ".join(installed)
    if missing:
        yield f"not installed, their rows are left out: {', '.join(missing)} (benchmarks/requirements.txt)"


def rows_of(name: str) -> list[Row] | None:
    """Return the rows of a benchmark, run in a fresh process; None if it failed."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "rows.json"
        process = subprocess.run([sys.executable, __file__, "--write", str(output), "--only", name], check=False)
        if process.returncode:
            return None
        rows: list[Row] = json.loads(output.read_text())
        return rows


def title(name: str) -> str:
    """Return the first line of a benchmark's docstring."""
    text = ast.get_docstring(ast.parse((HERE / f"bench_{name}.py").read_text(encoding="utf-8"))) or ""
    return f"{name}: {text.partition(chr(10))[0]}"


def show(rows: list[Row], markdown: bool) -> None:
    """Print one table without empty columns."""
    shown = [column for column in COLUMNS if any(column[2](row) for row in rows)]
    table = [[name for name, _, _ in shown], *([cell(row) for _, _, cell in shown] for row in rows)]
    if markdown:
        table.insert(1, ["---" if width < 0 else "---:" for _, width, _ in shown])
        print("\n".join(f"| {' | '.join(cells)} |" for cells in table))
        return
    for cells in table:
        pairs = zip(cells, shown, strict=True)
        print("".join(text.ljust(-width) if width < 0 else text.rjust(width) for text, (_, width, _) in pairs).rstrip())


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare Isogloss with its peers.")
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME", help=", ".join(BENCHMARKS))
    parser.add_argument("--markdown", action="store_true", help="print Markdown tables")
    parser.add_argument("--write", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = options.only or BENCHMARKS
    if options.write:  # the measuring process
        options.write.write_text(json.dumps(import_module(f"bench_{chosen[0]}").run()))
        return 0
    print("\n".join(machine()), flush=True)
    failed = False
    for name in chosen:
        start = perf_counter()
        print(f"\n### {title(name)}\n" if options.markdown else f"\n{title(name)}", flush=True)
        rows = rows_of(name)
        if rows:
            show(rows, options.markdown)
        else:
            failed |= rows is None
            print("failed; see above" if rows is None else "skipped: its peer is not installed")
        print(f"\n{perf_counter() - start:.0f} s", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
