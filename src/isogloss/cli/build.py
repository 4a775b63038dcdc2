"""isogloss build: datasets from public dumps."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import ClusterJobs, Execution, On, Output, Selection, progress_bar, say, words

app = typer.Typer(add_completion=False)


@app.callback()
def build() -> None:
    """Build datasets from public dumps."""


@app.command()
def mewslix(
    dumps: Annotated[
        list[str], typer.Argument(help="Dump files and folders; WIKI=FILE for a file without Wikimedia's name.")
    ],
    *,
    languages: Annotated[
        str | None, Selection("--languages", "-l", help="Languages of mentions.", show_default="the paper's 11")
    ] = None,
    description_languages: Annotated[
        str | None, Selection(help="Languages of descriptions and frequencies.", show_default="XTREME-R's 50")
    ] = None,
    test: Annotated[int, Selection(min=1, help="Test mentions.")] = 15_000,
    dev: Annotated[int, Selection(min=0, help="Development mentions.")] = 3_000,
    candidates: Annotated[int, Selection(min=1, help="Candidates, gold entities included.")] = 1_000_000,
    pairs: Annotated[int, Selection(min=0, help="English training pairs.")] = 115_000,
    pair_pages: Annotated[
        float, Selection(min=0, max=1, help="Share of English Wikipedia's pages to take pairs from.")
    ] = 0.02,
    sentences: Annotated[int, Selection(min=1, max=3, help="Sentences per description.")] = 1,
    natural_frequencies: Annotated[
        bool, Selection("--natural-frequencies", help="Draw candidates in proportion to the frequency bins.")
    ] = False,
    mentions_from: Annotated[str, Selection(help="Source of mentions: wikinews or wikipedia.")] = "wikinews",
    seed: Annotated[int, Selection(help="Seed of all samples.")] = 0,
    out: Annotated[Path, Output("--out", "-o", help="Data folder; writes mewslix/ in it.")],
    name: Annotated[str, Output(help="Name of the task with these languages and sizes.")] = "mewslix-built",
    work: Annotated[Path | None, Output(help="Folder for scanned parts.", show_default="<out>/mewslix-work")] = None,
    on: On = None,
    jobs: ClusterJobs = None,
    part_size: Annotated[str, Execution(help="Packed size of the parts of a multistream dump.")] = "64MB",
) -> None:
    """Build a Mewsli-X: entity mentions in news, and candidate entities with descriptions in many languages.

    Reads dumps of Wikinews (mentions), Wikipedia (descriptions, frequencies,
    training pairs) and Wikidata (entities), packed as Wikimedia publishes them.
    Optional page_props, redirect, langlinks and page tables (.sql.gz) add what
    the other dumps lack. See docs/mewslix.md for the recipe.

    Finished parts are kept: run the same command to resume, or with another seed
    or size to draw again without reading the dumps. The files are byte-identical
    for any number of jobs. All workers must see the dumps and the work folder
    under the same paths.

    \b
    Examples:
      isogloss build mewslix dumps/ --out data --jobs 16
      isogloss build mewslix dumps/ --out small --test 1100 --dev 220 \\
          --candidates 20000 --pairs 5000
      isogloss build mewslix de=wiki.xml.bz2 items.json.xz --out data \\
          --languages de --description-languages de --mentions-from wikipedia
    """
    from isogloss.building.mewslix import MewslixSettings, build_mewslix
    from isogloss.errors import IsoglossError
    from isogloss.runs.place import Place, byte_count

    place = Place.of(on)
    if place.files == "ship":
        fix = 'Set files = "folder", and use paths that all nodes see'
        raise IsoglossError('build does not support files = "ship"', where=place.address, fix=fix)
    settings = MewslixSettings(
        **({"languages": tuple(codes)} if (codes := words(languages)) else {}),
        description_languages=tuple(words(description_languages) or ()),
        test=test,
        dev=dev,
        candidates=candidates,
        pairs=pairs,
        pair_pages=pair_pages,
        sentences=sentences,
        natural_frequencies=natural_frequencies,
        mentions_from=mentions_from,
        seed=seed,
        part_bytes=byte_count(part_size, "--part-size"),
    )
    is_alone = place.is_here and (jobs or place.jobs or 1) == 1
    with progress_bar("scanned parts") as progress, nullcontext() if is_alone else place.workers(jobs or 0) as workers:
        result = build_mewslix(
            dumps, out=out, settings=settings, workers=workers, work=work, task=name, progress=progress
        )
    for split, table in result.datasheet.splits.items():
        mentions = sum(sum(row.values()) for row in table.values())
        say(f"{split}: {mentions:,} mentions of {result.datasheet.entities[split]:,} entities")
    total = sum(result.datasheet.candidates["bins"].values())
    say(f"{total:,} candidates, {result.datasheet.pairs['pairs']:,} training pairs")
    for warning in result.datasheet.warnings:
        say(f"warning: {warning}", err=True)
    say(f"wrote {', '.join(path.name for path in result.files)} in {out / 'mewslix'}")
    say(f"try isogloss run ngram --suite {result.files[-1]} --data {out} --out runs")
