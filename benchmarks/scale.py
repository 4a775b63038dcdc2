"""Mewsli-X at its real size: 15,000 queries, 1,000,000 candidates, 512 dimensions, exact top 20, vectors memory-mapped.

Run it: `python benchmarks/scale.py [--queries N] [--candidates N]`. It writes 2 GB of random unit vectors to a scratch
folder and takes several minutes, so it is not part of `make bench`. The lower bound is the bare matrix product, in
the same blocks; each runs in its own process, for separate memory figures.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

DIMENSION = 512
QUERY_BLOCK, CANDIDATE_BLOCK = 512, 16_384


def vectors(path: Path, rows: int, seed: int) -> None:
    """Random unit vectors, written block by block."""
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, DIMENSION))
    rng = np.random.default_rng(seed)
    for start in range(0, rows, 65_536):
        block = rng.standard_normal((min(65_536, rows - start), DIMENSION), dtype=np.float32)
        table[start : start + len(block)] = block / np.linalg.norm(block, axis=1, keepdims=True)
    table.flush()


def private_megabytes() -> float:
    """Return the anonymous memory of this process: memory beyond the mapped vectors."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssAnon:")[2].split()[0]) / 1024


def floor(queries: np.ndarray, candidates: np.ndarray) -> None:
    scores = np.empty((QUERY_BLOCK, CANDIDATE_BLOCK), np.float32)
    for j in range(0, len(candidates), CANDIDATE_BLOCK):
        block = np.ascontiguousarray(candidates[j : j + CANDIDATE_BLOCK])
        for i in range(0, len(queries), QUERY_BLOCK):
            batch = np.asarray(queries[i : i + QUERY_BLOCK])
            np.matmul(batch, block.T, out=scores[: len(batch), : len(block)])


def measure(what: str, folder: Path) -> None:
    """Time one of the two, and print seconds, private and peak megabytes."""
    queries = np.load(folder / "queries.npy", mmap_mode="r")
    candidates = np.load(folder / "candidates.npy", mmap_mode="r")
    peak = 0.0
    if what == "floor":
        start = time.perf_counter()
        floor(queries, candidates)
    else:
        from isogloss.metrics.search import search

        def watch(*_: object) -> None:
            nonlocal peak
            peak = max(peak, private_megabytes())

        start = time.perf_counter()
        search(queries, candidates, k=20, progress=watch)
    seconds = time.perf_counter() - start
    peak = max(peak, private_megabytes())
    print(
        f"{what} {seconds:.1f} {peak:.0f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--queries", type=int, default=15_000)
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--measure", nargs=2, metavar=("WHAT", "FOLDER"))
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], Path(options.measure[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        vectors(Path(folder) / "queries.npy", options.queries, 1)
        vectors(Path(folder) / "candidates.npy", options.candidates, 2)
        print("what  seconds  private MB  peak MB (with mapped files)", flush=True)
        for what in ("floor", "search", "floor"):
            subprocess.run([sys.executable, __file__, "--measure", what, folder], check=True)


if __name__ == "__main__":
    main()
