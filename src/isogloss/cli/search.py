"""isogloss search: exact nearest neighbours among vectors stored on disk."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import ClusterJobs, Execution, On, Output, Selection, progress_bar, say

app = typer.Typer(add_completion=False)


@app.command()
def search(
    queries: Annotated[Path, typer.Argument(help=".npy file with one vector per row.")],
    candidates: Annotated[Path, typer.Argument(help=".npy file of the same dimension.")],
    *,
    k: Annotated[int, Selection("--k", "-k", min=1, help="Candidates to return per query.")] = 20,
    out: Annotated[Path, Output("--out", "-o", help="Output folder.")],
    on: On = None,
    jobs: ClusterJobs = None,
    memory: Annotated[str, Execution(help="Memory per worker; sets the block and shard sizes.")] = "2GB",
    force: Annotated[bool, Execution("--force", help="Discard another search's files in the folder.")] = False,
) -> None:
    """Find the K candidates with the largest inner product per query, best first; ties go to the lower row.

    The search is exact: rows and scores are bit-identical for any number of
    workers, any memory limit, and with or without a GPU (used if available).
    For cosine similarity, pass unit vectors.

    Candidates are searched in shards and finished shards are kept: run the same
    command to resume. Files are read in blocks; all workers must see them, and
    the output folder, under the same paths.

    Writes rows.npy and scores.npy. If both files have ids (NAME.ids.txt next to
    NAME.npy, one id per line), also writes the rankings as a prediction file,
    e.g. sw.jsonl for queries-sw.npy.

    \b
    Examples:
      isogloss search queries-sw.npy candidates.npy --out found --jobs 4
      isogloss search queries-sw.npy candidates.npy --out /shared/found \\
          --on slurm:cpu --jobs 50 --memory 8GB
    """
    from isogloss.runs.sharded_search import search as search_files

    with progress_bar("searched shards") as progress:
        result = search_files(
            queries, candidates, out=out, k=k, on=on, jobs=jobs or 0, memory=memory, force=force, progress=progress
        )
    count, width = result.rows.shape
    predictions = "" if result.predictions is None else f" and {result.predictions.name}"
    say(f"top {width:,} candidates of {count:,} queries: rows.npy, scores.npy{predictions} in {out}")
