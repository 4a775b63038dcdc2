"""isogloss board build."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Suite, progress, say


def build(
    results: Annotated[
        list[str] | None,
        typer.Argument(
            help="results.json records, run folders, folders of seeds, CSVs of scores; published (the papers' "
            "systems), published:all or published:NAME.",
            show_default="published:all",
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the site.")] = Path("site"),
    suite: Suite = "xtreme-r",
    title: Annotated[str, typer.Option(help="The heading.", show_default="the suite's title")] = "",
    explain: Annotated[
        list[Path] | None, typer.Option(help="JSON of isogloss explain, --bias or not; repeatable.")
    ] = None,
    examples: Annotated[
        bool,
        typer.Option(
            "--examples/--no-examples",
            help="Tell of single examples whose labels anyone can have; or of none, nor of those in --explain.",
        ),
    ] = True,
    data: Data = None,
) -> None:
    """Make a board of systems: a site that opens from disk or from any web host.

    An older site in the folder is replaced as a whole; a folder with anything
    else in it is refused. Systems whose answers are here are told apart by
    paired tests, which need the gold of the data folder; where anyone can have
    that gold, the site has how they did on single examples and some of the
    texts: --no-examples leaves both out, for gold of your own that lies in the
    place of a public task's.

    \b
    Examples:
      isogloss board build --out site
      isogloss board build runs/xlmr/zero-shot results.json published -o site
      isogloss board build runs/*/* --explain explain.json --data data -o site
    """
    from isogloss.board.site import build_board

    with progress("making the board:") as step:
        page = build_board(
            results or ["published:all"],
            out,
            suite=suite,
            title=title,
            data=data,
            explain=explain or (),
            examples=examples,
            progress=step,
        )
    weight = sum(path.stat().st_size for path in page.parent.iterdir() if path.is_file())
    say(f"{page} ({weight / 1e6:.1f} MB)")
