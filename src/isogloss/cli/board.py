"""isogloss board: build, serve and manage a leaderboard, or submit to one."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o
from isogloss.cli.board_admin import Folder, admin, require_server

FEW = 8  # missing cells to name

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Build, serve and manage a leaderboard.")
app.add_typer(admin, name="admin")


@app.command()
def build(
    results: Annotated[
        list[str] | None,
        typer.Argument(
            help="results.json records, run folders, folders of seeds, prediction folders (which are scored), CSV "
            "scores; published (the papers' systems), published:all or published:NAME.",
            show_default="published:all",
        ),
    ] = None,
    data: o.Data = None,
    explain: Annotated[
        list[Path] | None, o.Input(help="JSON from isogloss explain, with or without --bias; repeatable.")
    ] = None,
    suite: o.Suite = "xtreme-r",
    out: Annotated[Path, o.Output("--out", "-o", help="Output folder.")] = Path("site"),
    title: Annotated[str, o.Output(help="Page heading.", show_default="the suite's title")] = "",
    examples: Annotated[
        bool, o.Output("--examples/--no-examples", help="Include per-example results where labels are public.")
    ] = True,
) -> None:
    """Build a leaderboard: a static site that opens from disk or from any web host.

    Replaces an existing site in the output folder; refuses a folder with other
    files. Your systems come first, before published ones. Systems with
    predictions are compared by paired tests, which need the gold labels in the
    data folder. Where labels are public, the site includes
    per-example results and some texts. Use --no-examples to leave out both, and
    those in --explain, if your data folder holds private gold under the name of
    a public task.

    \b
    Examples:
      isogloss board build --out site
      isogloss board build my-predictions published --data data -o site
      isogloss board build runs/xlmr/zero-shot results.json published -o site
      isogloss board build runs/*/* --explain explain.json --data data -o site
    """
    from isogloss.board.site import build_board

    systems = results or ["published:all"]
    with o.progress("building the board:") as step:
        page = build_board(
            systems, out, suite=suite, title=title, data=data, explain=explain or (), examples=examples, progress=step
        )
    size = sum(path.stat().st_size for path in page.parent.iterdir() if path.is_file())
    o.say(f"{page} ({size / 1e6:.1f} MB)")


@app.command()
def serve(
    folder: Folder,
    host: Annotated[str, o.Execution(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, o.Execution(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, o.Execution(min=0, help="Processes that score submissions.")] = 1,
) -> None:
    """Serve a board: its pages, its submission API, and the workers that score submissions.

    Run it behind a TLS proxy; see docs/board-server.md.

    \b
    Examples:
      isogloss board admin create my-board --suite mini
      isogloss board serve my-board
    """
    require_server()
    from isogloss.board.server.serve import serve as run

    run(folder, host, port, workers, lambda: o.say(f"serving {folder} at http://{host}:{port}/"))


@app.command()
def work(folder: Folder) -> None:
    """Score a board's submissions, next to its server or on another machine with the same folder and database."""
    require_server()
    from isogloss.board.server.worker import run_worker

    run_worker(folder)


@app.command()
def doctor(
    folder: Folder,
    deep: Annotated[bool, o.Execution("--deep", help="Also compare the checksums of all archives.")] = False,
    json: Annotated[bool, o.Output("--json", help="Print JSON.")] = False,
) -> None:
    """Check that a board is safe to put online: files, secrets, database, settings, workers and disk.

    Changes nothing. Run it as the board's user. Exit codes: 0 all is well; 1 something is wrong.

    \b
    Examples:
      isogloss board doctor my-board
    """
    require_server()
    from isogloss.board.server.doctor import examine, finding_lines, findings_json

    findings = examine(folder, deep=deep)
    o.say(findings_json(findings) if json else "\n".join(finding_lines(findings)))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@app.command()
def submit(
    address: Annotated[str, typer.Argument(help="Board address, e.g. https://board.example.org.")],
    predictions: Annotated[Path, typer.Argument(help="Prediction folder, or an archive of one.")],
    system: Annotated[
        Path | None, o.Input(help="TOML file that describes the system.", show_default="system.toml in the folder")
    ] = None,
    token: Annotated[str, o.Input(help="Team token.", envvar="ISOGLOSS_BOARD_TOKEN")] = "",
    publish: Annotated[bool, o.Output("--publish", help="Publish as soon as it is scored.")] = False,
    wait: Annotated[bool, o.Execution(help="Wait for the scores.")] = True,
) -> None:
    """Submit predictions to a board; resubmitting identical predictions creates no duplicate.

    Exit codes: 0 scored (with --no-wait, accepted); 1 rejected.

    \b
    Examples:
      isogloss board submit https://board.example.org \\
        runs/xlm-r/zero-shot/seed-0 --system xlm-r.toml
    """
    from isogloss.board.client import BoardClient
    from isogloss.data.files import read_toml
    from isogloss.errors import IsoglossError
    from isogloss.results.metadata import FIELDS

    if system is None and predictions.is_file():
        what = "an archive has no system description"
        raise IsoglossError(what, where=str(predictions), fix="Add --system FILE.toml")
    metadata = read_toml(system or predictions / "system.toml")
    if system is None and (ignored := sorted(set(metadata) - set(FIELDS))):
        o.say(f"not sent, unknown to the board: {', '.join(ignored)}")
        metadata = {key: value for key, value in metadata.items() if key in FIELDS}
    client = BoardClient(address, token or None)
    with o.progress("sending") as step:
        submission = client.submit(predictions, metadata, publish=publish)
        if wait:
            submission = client.wait(submission["key"], step)
    hint = ": only your team can see it; resubmit with --publish" if submission["state"] == "preview" else ""
    o.say(f"submission {submission['key']}: {submission['state']}{hint}")
    for problem in submission["problems"]:
        severity = "warning" if problem["warning"] else "error"
        o.say(f"  {severity}: {problem['where']}: {problem['what']}. {problem['fix']}")
    for scores in submission["scores"]:
        named, more = ", ".join(scores["missing"][:FEW]), len(scores["missing"]) - FEW
        missing = f"no overall score, missing: {named}{f' and {more:,} more' if more > 0 else ''}"
        overall = missing if scores["overall"] is None else scores["overall"]
        o.say(f"  {scores['scorer']}: {overall} ({scores['rule']})")
    if submission["state"] == "rejected":
        raise typer.Exit(1)
