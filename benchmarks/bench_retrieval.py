"""Retrieval at the size of LAReQA: search and score 13,090 queries in 13,014 candidates of 768 dimensions.

Run it: `python benchmarks/bench_retrieval.py`. Seconds are the best wall time of several runs in one process, ours and
the peers' in turn; ratio = peer / ours. Megabytes are the peak resident memory over that with the inputs loaded,
each in a fresh process. Peers: pytrec_eval for AP@20, torch for the search (both if installed), and
numpy's bare matrix product, a lower bound for exact search.
"""

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from isogloss.metrics.ranking import average_precisions
from isogloss.metrics.search import normalize_rows, search

QUERIES, CANDIDATES, DIMENSION, TARGETS, K, BLOCK = 13_090, 13_014, 768, 11, 20, 1024

Row = dict[str, Any]
Run = Callable[[], object]


def inputs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return unit queries and candidates, and the targets of each query, which is their mean plus noise."""
    rng = np.random.default_rng(0)
    candidates = normalize_rows(rng.standard_normal((CANDIDATES, DIMENSION), np.float32))
    targets = rng.integers(0, CANDIDATES // TARGETS, (QUERIES, TARGETS)) * TARGETS + np.arange(TARGETS)
    queries = 0.05 * rng.standard_normal((QUERIES, DIMENSION), np.float32)
    for column in targets.T:
        queries += candidates[column] / TARGETS
    return normalize_rows(queries), candidates, targets


def ours(queries: np.ndarray, candidates: np.ndarray, targets: np.ndarray) -> float:
    rows, _ = search(queries, candidates, K)
    return float(average_precisions(rows, targets, K).mean())


def numpy_floor(queries: np.ndarray, candidates: np.ndarray, _: np.ndarray) -> None:
    scores = np.empty((BLOCK, len(candidates)), np.float32)
    for start in range(0, len(queries), BLOCK):
        part = queries[start : start + BLOCK]
        np.matmul(part, candidates.T, out=scores[: len(part)])


def torch_full(queries: np.ndarray, candidates: np.ndarray, _: np.ndarray) -> None:
    import torch

    torch.topk(torch.from_numpy(queries) @ torch.from_numpy(candidates).T, K)


def torch_blocks(queries: np.ndarray, candidates: np.ndarray, _: np.ndarray) -> None:
    import torch

    pool = torch.from_numpy(candidates).T
    for part in torch.from_numpy(queries).split(BLOCK):
        torch.topk(part @ pool, K)


SEARCHES = {
    "torch matmul + topk, full": torch_full,
    f"torch matmul + topk, blocks of {BLOCK:,}": torch_blocks,
    f"numpy matmul only, blocks of {BLOCK:,}": numpy_floor,
}


def alternate(*runs: Run, repetitions: int) -> list[float]:
    """Return the shortest wall time of each, run in turn so that load on the machine affects all equally."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repetitions):
        for run, taken in zip(runs, times, strict=True):
            start = perf_counter()
            run()
            taken.append(perf_counter() - start)
    return [min(taken) for taken in times]


def megabytes_over_inputs(name: str, folder: Path) -> float:
    """Return the peak resident memory of one search in a fresh process, over that with its inputs loaded."""
    command = [sys.executable, __file__, "--child", name, str(folder)]
    return float(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def child(name: str, folder: Path) -> None:
    """Run one search in this process and print its memory in megabytes."""
    if name.startswith("torch"):
        import torch  # noqa: F401 (its own memory does not count)
    arrays = [np.load(folder / f"{side}.npy") for side in ("queries", "candidates", "targets")]
    before = peak_kilobytes()
    SEARCHES.get(name, ours)(*arrays)
    print(json.dumps((peak_kilobytes() - before) / 1024))


def peak_kilobytes() -> int:
    """Return the peak resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss is inherited from the parent, which may have a higher peak
        return int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def compare_scores(targets: np.ndarray, rows: np.ndarray) -> Row:
    """AP@20 of the ranked lists: arrays of ids against pytrec_eval's dictionaries."""
    import pytrec_eval

    relevant = {str(q): {str(t): 1 for t in row} for q, row in enumerate(targets.tolist())}
    ranked = {str(q): {str(c): -float(p) for p, c in enumerate(row)} for q, row in enumerate(rows.tolist())}

    def theirs() -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(relevant, {f"map_cut.{K}"}).evaluate(ranked)

    reference = theirs()
    values = [reference[str(query)][f"map_cut_{K}"] for query in range(len(targets))]
    assert np.allclose(average_precisions(rows, targets, K), values, atol=1e-12)
    ours_s, peer_s = alternate(lambda: average_precisions(rows, targets, K), theirs, repetitions=7)
    return row(f"AP@{K} of {len(rows):,} rankings", f"pytrec_eval map_cut.{K}", ours_s, peer_s)


def row(what: str, peer: str, ours_s: float, peer_s: float, **more: float) -> Row:
    return {"what": what, "peer": peer, "ours_s": ours_s, "peer_s": peer_s, "ratio": peer_s / ours_s, **more}


def run() -> list[Row]:
    """Run all comparisons with installed peers."""
    queries, candidates, targets = arrays = inputs()
    rows = [compare_scores(targets, search(queries, candidates, K)[0])] if find_spec("pytrec_eval") else []
    peers = {name: peer for name, peer in SEARCHES.items() if find_spec(name.split()[0])}
    runs = [lambda peer=peer: peer(*arrays) for peer in (ours, *peers.values())]
    ours_s, *times = alternate(*runs, repetitions=5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side, array in zip(("queries", "candidates", "targets"), arrays, strict=True):
            np.save(folder / f"{side}.npy", array)
        memory = {peer: megabytes_over_inputs(peer, folder) for peer in ("ours", *peers)}
    for peer, seconds in zip(peers, times, strict=True):
        megabytes = {"ours_mb": memory["ours"], "peer_mb": memory[peer]}
        rows.append(row("LAReQA search + AP@20", peer, ours_s, seconds, **megabytes))
    return rows


def main() -> None:
    for name in ("pytrec_eval", "torch"):
        if not find_spec(name):
            print(f"{name} not installed: skipping its rows")
    print(f"{'what':28}{'peer':40}{'ours s':>9}{'peer s':>9}{'ratio':>8}{'ours MB':>9}{'peer MB':>9}")
    for line in run():
        times = "{ours_s:9.4f}{peer_s:9.4f}{ratio:7.2f}x".format(**line)
        memory = "{ours_mb:9.0f}{peer_mb:9.0f}".format(**line) if "ours_mb" in line else ""
        print(f"{line['what']:28}{line['peer']:40}{times}{memory}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
