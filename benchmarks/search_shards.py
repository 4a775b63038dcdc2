"""Search over shards compared with search in one process: identical bits, their cost, and an estimate for 10^8.

Run it: `python benchmarks/search_shards.py [--queries N] [--candidates N] [--jobs N]`. At its default size, Mewsli-X's,
it writes 2 GB of random unit vectors to a scratch folder and takes several minutes, so it is not part of `make bench`.
Each variant runs in its own process, with the same number of cores: "one process" is `isogloss.metrics.ranking.search`
with all of them in the matrix product, the others are `isogloss.search`, with start-up, checksums, files and merging.
They alternate, and the best of `--repeats` counts. Peak memory is that of a worker, including mapped files.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scale import DIMENSION, vectors

K = 20
HUGE = 10**8


def peak_megabytes() -> float:
    """Return the peak resident memory of this process, and of its finished children."""
    import resource

    own = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    return max(int(own), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def measure(what: str, folder: Path, memory: str) -> None:
    """Search in one variant, save the result, and print seconds and megabytes."""
    paths = folder / "queries.npy", folder / "candidates.npy"
    start = time.perf_counter()
    if what == "0":
        from isogloss.metrics.search import search

        rows, scores = search(*(np.load(path, mmap_mode="r") for path in paths), K)
    else:
        import isogloss

        with tempfile.TemporaryDirectory(dir=folder) as out:
            rows, scores, _ = isogloss.search(*paths, out=out, k=K, jobs=int(what), memory=memory)
    seconds = time.perf_counter() - start
    np.savez(folder / f"found-{what}.npz", rows=rows, scores=scores)
    print(seconds, peak_megabytes())


def same_bits(first: Path, second: Path) -> bool:
    with np.load(first) as one, np.load(second) as other:
        return all(one[name].tobytes() == other[name].tobytes() for name in ("rows", "scores"))


def arithmetic(folder: Path, queries: int, candidates: int, seconds: float, memory: str) -> None:
    """Print an estimate for 10^8 candidates at the measured rate, with the shards they would have."""
    from isogloss.runs.place import byte_count
    from isogloss.runs.search_plan import SearchFiles, plan_search

    huge = folder / "huge.npy"  # a sparse file, of which only the shape is read
    np.lib.format.open_memmap(huge, mode="w+", dtype=np.float32, shape=(HUGE, DIMENSION))
    plan, _ = plan_search(SearchFiles.of(folder / "queries.npy", huge), K, memory=byte_count(memory, ""), jobs=1)
    shards = len(list(plan.shards))
    rate = queries * candidates * DIMENSION / seconds / (os.cpu_count() or 1)
    core_hours = plan.queries * plan.candidates * plan.dimension / rate / 3600
    print(f"\n{queries:,} x {HUGE:,} at {rate / 1e9:.1f} G multiplications per second and core:")
    print(f"  {core_hours:.1f} core-hours: " + ", ".join(f"{core_hours / n:.2f} h on {n}" for n in (8, 64, 512)))
    print(f"  {HUGE * DIMENSION * 4 / 1e9:.0f} GB of candidates are read twice: for a checksum, and for the search")
    print(f"  {shards:,} shards of {plan.shard_rows:,}; results {shards * queries * K * 12 / 1e9:.2f} GB of disk")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=15_000)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--measure", nargs=2, metavar=("JOBS", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], Path(options.measure[1]), options.memory)
        return
    ways = {"0": "one process", "1": "shards, 1 process", str(options.jobs): f"shards, {options.jobs} processes"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vectors(folder / "queries.npy", options.queries, 1)
        vectors(folder / "candidates.npy", options.candidates, 2)
        best: dict[str, list[float]] = {}
        for _ in range(options.repeats):
            for jobs in ways:
                call = [sys.executable, __file__, "--measure", jobs, name, "--memory", options.memory]
                done = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True)
                now = [float(word) for word in done.stdout.split()]
                best[jobs] = min(best.get(jobs, now), now)
        print(f"{options.queries:,} x {options.candidates:,} x {DIMENSION}, {os.cpu_count()} cores")
        for jobs, label in ways.items():
            seconds, megabytes = best[jobs]
            assert same_bits(folder / "found-0.npz", folder / f"found-{jobs}.npz"), label
            ratio = seconds / best["0"][0]
            print(f"{label:20} {seconds:8.1f} s  {ratio:.2f}x of one process  {megabytes:6.0f} MB  same bits")
        arithmetic(folder, options.queries, options.candidates, best["0"][0], options.memory)


if __name__ == "__main__":
    main()
