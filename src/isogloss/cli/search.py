"""isogloss search: exact nearest neighbours among as many vectors as a disk holds."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import ClusterJobs, On, progress_bar, say

app = typer.Typer(add_completion=False)


@app.command()
def search(
    queries: Annotated[Path, typer.Argument(help="A .npy file: one vector a row.")],
    candidates: Annotated[Path, typer.Argument(help="Another one, of the same dimension.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the results.")],
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Candidates wanted for each query.")] = 20,
    jobs: ClusterJobs = None,
    memory: Annotated[str, typer.Option(help="Memory of each worker; blocks and shards are made to fit.")] = "2GB",
    on: On = None,
    force: Annotated[bool, typer.Option("--force", help="Forget what another search left in the folder.")] = False,
) -> None:
    """Find the K candidates with the largest inner product for each query, best first, ties by the lower row.

    Exact: rows and scores are the same to the last bit for any number of
    workers, any memory, with a GPU (used where there is one) or without. For
    cosines give vectors of unit length.

    The candidates are searched in shards, and finished ones are kept: the same
    command goes on after a kill. Files are read where they are, in blocks: all
    workers must see them, and the folder, under the same paths.

    It ends with rows.npy and scores.npy. Where ids lie beside both sides (one
    a line, NAME.ids.txt beside NAME.npy), the rankings are written as a
    prediction file too, sw.jsonl for queries-sw.npy.

    \b
    Examples:
      isogloss search queries-sw.npy candidates.npy --out found --jobs 4
      isogloss search queries-sw.npy candidates.npy --out /shared/found \\
          --on slurm:cpu --jobs 50 --memory 8GB
    """
    from isogloss.runs.sharded_search import search as search_files

    with progress_bar("searched shards") as progress:
        found = search_files(
            queries, candidates, out=out, k=k, on=on, jobs=jobs or 0, memory=memory, force=force, progress=progress
        )
    count, width = found.rows.shape
    also = "" if found.predictions is None else f" and {found.predictions.name}"
    say(f"the best {width:,} candidates of {count:,} queries: rows.npy, scores.npy{also} in {out}")
