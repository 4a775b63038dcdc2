"""A full-size XTREME-R submission scored with intervals, compared with merely parsing its files.

Run it: `python benchmarks/bench_submission.py [FOLDER]`; an existing folder from `synthetic.py` is reused.
Ten tasks, fifty languages, 609,160 examples, predictions and gold labels: 0.6 GB. Every figure is the
best CPU time of several fresh processes, including the start of Python and all imports, and the peak resident
memory of that process. Ours is `isogloss score` over everything, as a user calls it: it reads, checks ids, labels and
counts, computes checksums, scores and intervals, and prints its tables.

The lower bounds read each of the same files once, and do nothing with them:

- parsed: JSON decoded into plain Python objects (by msgspec, which we use too, or by the standard library), every
  other file decoded as UTF-8, split into lines and these at tabs. The content of a file is held until the next file
  is read, as any use of it requires; except for the million candidates of Mewsli-X, which are decoded one by one.
- collector off: the same with Python's cyclic garbage collector off, the minimum cost of holding the parsed
  files. (`isogloss score` pauses it too.)
- dropped: each line is discarded after parsing. Nothing could be scored this way; it is the bare cost of
  tokenising.
"""

import gc
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench_startup import Command, Cost, Row, measured

CANDIDATES = "candidate_set_entities.jsonl"
# A quarter of the languages, including the largest test sets of UD.
QUARTER = "ar,de,et,fr,ht,ja,ko,ms,pl,ru,th,ur,zh"
RUNS = 2


def parsed(path: Path, loads: Callable[[bytes], Any]) -> Iterator[object]:
    """Yield the lines of a file, parsed one at a time, or its one JSON value."""
    if path.suffix == ".json":
        yield loads(path.read_bytes())
    elif path.suffix == ".jsonl":
        with path.open("rb") as stream:
            for raw in stream:
                yield loads(raw)
    else:
        with path.open(encoding="utf-8", newline="\n") as text:
            for line in text:
                yield line.split("\t")


# Lower bounds by name: JSON library; True if parsed content is held; True if the garbage collector runs.
FLOORS = {
    "parsed, msgspec": ("msgspec", True, True),
    "parsed, json": ("json", True, True),
    "parsed, msgspec, collector off": ("msgspec", True, False),
    "parsed, msgspec, dropped": ("msgspec", False, False),
}


def parse_everything(folder: Path, library: str, keep: bool, collect: bool) -> None:
    """Run a lower bound: read every file of a folder once."""
    if not collect:
        gc.disable()
    if library == "msgspec":
        import msgspec

        loads: Callable[[bytes], Any] = msgspec.json.Decoder().decode
    else:
        import json

        loads = json.loads
    content: list[object] = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content.clear()
        if keep and path.name != CANDIDATES:
            content.extend(parsed(path, loads))
        else:
            for _ in parsed(path, loads):
                pass


def best(command: Command, runs: int = RUNS) -> Cost:
    """Return the cheapest of several runs."""
    return min(measured(command) for _ in range(runs))


def run(folder: Path | None = None) -> list[Row]:
    """Compare scoring with each lower bound, then all languages with a quarter of them."""
    if folder is None:
        with tempfile.TemporaryDirectory() as name:
            return run(Path(name))
    if not (folder / "predictions").is_dir():
        measured([sys.executable, Path(__file__).with_name("synthetic.py"), folder])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e9
    command = [sys.executable, "-c", "from isogloss.cli.main import main; main()", "score", folder / "predictions"]
    command += ["--data", folder / "data"]
    ours = best(command)
    what = f"XTREME-R submission, {size:.1f} GB"
    floors = {name: best([sys.executable, __file__, "--floor", name, folder]) for name in FLOORS}
    quarter = best([*command, "--languages", QUARTER], 1)
    return [_row(what, name, ours, cost) for name, cost in {**floors, "a quarter of its languages": quarter}.items()]


def _row(what: str, peer: str, ours: Cost, theirs: Cost) -> Row:
    return {
        "what": what,
        "peer": peer,
        "ours_s": ours.cpu,
        "peer_s": theirs.cpu,
        "ratio": theirs.cpu / ours.cpu,
        "ours_wall_s": ours.wall,
        "peer_wall_s": theirs.wall,
        "ours_mb": ours.megabytes,
        "peer_mb": theirs.megabytes,
        "note": f"{ours.cpu / theirs.cpu:.1f} times the peer",
    }


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--floor"]:
        parse_everything(Path(arguments[2]), *FLOORS[arguments[1]])
        return
    print(f"{'what':32}{'peer':32}{'ours s':>8}{'peer s':>8}{'ours/peer':>10}{'ours MB':>9}{'peer MB':>9}")
    for row in run(Path(arguments[0]) if arguments else None):
        figures = "{ours_s:8.2f}{peer_s:8.2f}{inverse:9.2f}x{ours_mb:9.0f}{peer_mb:9.0f}"
        print(f"{row['what']:32}{row['peer']:32}" + figures.format(inverse=1 / row["ratio"], **row))


if __name__ == "__main__":
    main(sys.argv[1:])
