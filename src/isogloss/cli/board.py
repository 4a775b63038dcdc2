"""isogloss board: build, serve and manage a leaderboard, or submit to one."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.board_admin import Folder, require_server
from isogloss.cli.board_admin import app as admin
from isogloss.cli.options import Data, Suite, execution_option, input_option, output_option, progress, say

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Build, serve and manage a leaderboard.")
app.add_typer(admin, name="admin")


@app.command()
def build(
    results: Annotated[
        list[str] | None,
        typer.Argument(
            help="results.json records, run folders, folders of seeds, CSV scores; published (the papers' "
            "systems), published:all or published:NAME.",
            show_default="published:all",
        ),
    ] = None,
    data: Data = None,
    explain: Annotated[
        list[Path] | None, input_option(help="JSON from isogloss explain, with or without --bias; repeatable.")
    ] = None,
    suite: Suite = "xtreme-r",
    out: Annotated[Path, output_option("--out", "-o", help="Output folder.")] = Path("site"),
    title: Annotated[str, output_option(help="Page heading.", show_default="the suite's title")] = "",
    examples: Annotated[
        bool, output_option("--examples/--no-examples", help="Include per-example results where labels are public.")
    ] = True,
) -> None:
    """Build a leaderboard: a static site that opens from disk or from any web host.

    Replaces an existing site in the output folder; refuses a folder with other
    files. Systems with predictions are compared by paired tests, which need the
    gold labels in the data folder. Where labels are public, the site includes
    per-example results and some texts. Use --no-examples to leave out both, and
    those in --explain, if your data folder holds private gold under the name of
    a public task.

    \b
    Examples:
      isogloss board build --out site
      isogloss board build runs/xlmr/zero-shot results.json published -o site
      isogloss board build runs/*/* --explain explain.json --data data -o site
    """
    from isogloss.board.site import build_board

    with progress("building the board:") as step:
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
    size = sum(path.stat().st_size for path in page.parent.iterdir() if path.is_file())
    say(f"{page} ({size / 1e6:.1f} MB)")


@app.command()
def serve(
    folder: Folder,
    host: Annotated[str, execution_option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, execution_option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, execution_option(min=0, help="Processes that score submissions.")] = 1,
) -> None:
    """Serve a board: its pages, its submission API, and the workers that score submissions.

    Run it behind a TLS proxy; see docs/board-server.md.

    \b
    Example:
      isogloss board admin create my-board --suite mini
      isogloss board serve my-board
    """
    require_server()
    from isogloss.board.server.serve import serve as run

    run(folder, host, port, workers, lambda: say(f"serving {folder} at http://{host}:{port}/"))


@app.command()
def work(folder: Folder) -> None:
    """Score a board's submissions, next to its server or on another machine with the same folder and database."""
    require_server()
    from isogloss.board.server.worker import run_worker

    run_worker(folder)


@app.command()
def submit(
    address: Annotated[str, typer.Argument(help="Board address, e.g. https://board.example.org.")],
    predictions: Annotated[Path, typer.Argument(help="Prediction folder, or an archive of one.")],
    system: Annotated[
        Path | None, input_option(help="TOML file that describes the system.", show_default="system.toml in the folder")
    ] = None,
    token: Annotated[str, input_option(help="Team token.", envvar="ISOGLOSS_BOARD_TOKEN")] = "",
    publish: Annotated[bool, output_option("--publish", help="Publish as soon as it is scored.")] = False,
    wait: Annotated[bool, execution_option(help="Wait for the scores.")] = True,
) -> None:
    """Submit predictions to a board; resubmitting identical predictions creates no duplicate.

    Exit codes: 0 scored (with --no-wait, accepted); 1 rejected.

    \b
    Example:
      isogloss board submit https://board.example.org runs/xlm-r/zero-shot/seed-0 --system xlm-r.toml
    """
    from isogloss.board.client import BoardClient
    from isogloss.data.files import read_toml
    from isogloss.errors import IsoglossError
    from isogloss.results.metadata import FIELDS

    if system is None and predictions.is_file():
        raise IsoglossError(
            "an archive has no system description", where=str(predictions), fix="Add --system FILE.toml"
        )
    metadata = read_toml(system or predictions / "system.toml")
    if system is None and (ignored := sorted(set(metadata) - set(FIELDS))):
        say(f"not sent, unknown to the board: {', '.join(ignored)}")
        metadata = {key: value for key, value in metadata.items() if key in FIELDS}
    client = BoardClient(address, token or None)
    with progress("sending") as step:
        submission = client.submit(predictions, metadata, publish=publish)
        if wait:
            submission = client.wait(submission["key"], step)
    hint = ": only your team can see it; resubmit with --publish" if submission["state"] == "preview" else ""
    say(f"submission {submission['key']}: {submission['state']}{hint}")
    for problem in submission["problems"]:
        severity = "warning" if problem["warning"] else "error"
        say(f"  {severity}: {problem['where']}: {problem['what']}. {problem['fix']}")
    for scores in submission["scores"]:
        missing = "no overall score, missing: " + ", ".join(scores["missing"])
        overall = missing if scores["overall"] is None else scores["overall"]
        say(f"  {scores['scorer']}: {overall} ({scores['rule']})")
    if submission["state"] == "rejected":
        raise typer.Exit(1)
