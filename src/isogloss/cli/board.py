"""isogloss board: build, serve and manage a leaderboard, or submit to one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from isogloss.board.server.board import OpenBoard
    from isogloss.board.server.database import Submission

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Build, serve and manage a leaderboard.")
_HELP = "Manage a board: teams, tokens, submissions, backups."
admin = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)
app.add_typer(admin, name="admin")

Folder = Annotated[Path, typer.Argument(help="Board folder created by isogloss board admin create.")]
Key = Annotated[str, typer.Argument(help="Submission key.")]


def require_server() -> None:
    """Raise with an installation hint if the server's packages are missing."""
    from importlib.util import find_spec

    from isogloss.errors import IsoglossError

    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "python_multipart")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        from isogloss.installation import install_command

        raise IsoglossError(f"the board server needs {', '.join(missing)}", fix=f"Run {install_command('board')}")


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
    Example:
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
    Example:
      isogloss board submit https://board.example.org runs/xlm-r/zero-shot/seed-0 --system xlm-r.toml
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
        missing = "no overall score, missing: " + ", ".join(scores["missing"])
        overall = missing if scores["overall"] is None else scores["overall"]
        o.say(f"  {scores['scorer']}: {overall} ({scores['rule']})")
    if submission["state"] == "rejected":
        raise typer.Exit(1)


@contextmanager
def _transaction(folder: Path) -> Iterator[tuple["OpenBoard", "Session", str]]:
    """Yield an open board, a transaction on it, and the acting user."""
    require_server()
    from isogloss.board.server.board import open_board
    from isogloss.board.server.database import administrator, writing

    board = open_board(folder)
    with writing(board.engine) as session:
        yield board, session, administrator()


@admin.command()
def create(
    folder: Annotated[Path, typer.Argument(help="Folder for the new board.")],
    data: Annotated[str, o.Input(help="Data folder with the labels; empty for ISOGLOSS_DATA.")] = "",
    gold: Annotated[str, o.Input(help="Label folder in XTREME's layout, instead of --data.")] = "",
    suite: o.Suite = "xtreme-r",
    title: Annotated[str, o.Output(help="Board title.")] = "Isogloss board",
    database: Annotated[str, o.Output(help="PostgreSQL URL; empty for SQLite in the folder.")] = "",
) -> None:
    """Create a board; its settings are in board.toml.

    \b
    Example:
      isogloss board admin create my-board --suite mini --title "My board"
    """
    require_server()
    from isogloss.board.server.board import BoardSettings, open_board, write_settings

    folder.mkdir(parents=True, exist_ok=True)
    data, gold = (str(Path(path).resolve()) if path else "" for path in (data, gold))
    write_settings(folder, BoardSettings(title=title, suite=suite, database=database, data=data, gold=gold))
    open_board(folder)
    o.say(f"created {folder}; start it with isogloss board serve {folder}")


@admin.command()
def team(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="Name of the new team; omit it to list all.")] = "",
    contact: Annotated[str, o.Input(help="Contact address.")] = "",
    monthly: Annotated[int | None, o.Input(min=0, help="Submissions per month, instead of the board's limit.")] = None,
) -> None:
    """Add a team, or list all teams."""
    with _transaction(folder) as (_, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.board import create_team
        from isogloss.board.server.database import Team, record

        if name:
            create_team(session, name, contact, monthly)
            record(session, actor, "add team", name)
            o.say(f"added team {name}; create its token with isogloss board admin token {folder} --team {name!r}")
            return
        for entry in session.scalars(select(Team).order_by(Team.name)):
            o.say(f"{entry.name}\t{entry.contact}\tsince {entry.created_at}")


@admin.command()
def token(
    folder: Folder,
    team: Annotated[str, o.Selection(help="Team name.")] = "",
    scopes: Annotated[str, o.Input(help="Permissions: read, submit, publish.")] = "read,submit,publish",
    revoke: Annotated[str, o.Selection(help="Id of a token to revoke.")] = "",
) -> None:
    """Create a team's token, revoke one, or list all; a token is shown only when it is created."""
    with _transaction(folder) as (board, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.board import create_token, find_team, revoke_token
        from isogloss.board.server.database import AccessToken, record

        if revoke:
            revoke_token(session, revoke, actor)
            o.say(f"revoked token {revoke}")
        elif team:
            secret = create_token(session, find_team(session, team), board.pepper, o.words(scopes) or [])
            record(session, actor, "make token", secret.split("_")[1], f"team {team}, for {scopes}")
            o.say(secret)
        else:
            for entry in session.scalars(select(AccessToken).order_by(AccessToken.id)):
                state = f"revoked {entry.revoked_at}" if entry.revoked_at else f"since {entry.created_at}"
                o.say(f"{entry.public_id}\t{entry.team.name}\t{entry.scopes}\t{state}")


def _submission(session: "Session", key: str) -> "Submission":
    from sqlalchemy import select

    from isogloss.board.server.database import Submission
    from isogloss.errors import unknown

    submission = session.scalar(select(Submission).where(Submission.key == key).with_for_update())
    if submission is None:
        raise unknown("submission", key, session.scalars(select(Submission.key).limit(1000)))
    return submission


@admin.command()
def publish(folder: Folder, key: Key) -> None:
    """Publish a scored submission."""
    with _transaction(folder) as (_, session, actor):
        from isogloss.board.server.scoring import publish

        publish(session, _submission(session, key), actor)
        o.say(f"published {key}; the pages are being rebuilt")


@admin.command()
def withdraw(folder: Folder, key: Key) -> None:
    """Remove a submission from the board; its scores are kept."""
    with _transaction(folder) as (_, session, actor):
        from isogloss.board.server.scoring import withdraw

        withdraw(session, _submission(session, key), actor)
        o.say(f"withdrew {key}; the pages are being rebuilt")


@admin.command()
def rescore(
    folder: Folder,
    key: Annotated[
        str, typer.Argument(help="Rejected submission to retry; omit it to rescore all outdated ones.")
    ] = "",
) -> None:
    """Rescore submissions that the current scorer version has not scored; old scores are kept."""
    with _transaction(folder) as (_, session, actor):
        from isogloss.board.server.scoring import rescore, retry

        if key:
            retry(session, _submission(session, key), actor)
            o.say(f"queued {key}")
        else:
            o.say(f"submissions queued: {len(rescore(session, actor))}")


@admin.command()
def audit(folder: Folder, last: Annotated[int, o.Output(min=1, help="Number of entries to show.")] = 50) -> None:
    """Show the audit log."""
    with _transaction(folder) as (_, session, _actor):
        from sqlalchemy import select

        from isogloss.board.server.database import AuditEntry

        newest = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(last)).all()
        for entry in reversed(newest):
            o.say(f"{entry.at}\t{entry.actor}\t{entry.action}\t{entry.subject}\t{entry.detail}")


@admin.command()
def backup(folder: Folder, out: Annotated[Path, o.Output("--out", "-o", help="Tar file to write.")]) -> None:
    """Write the whole board to one file, while it runs. Keep it safe: it contains the predictions of all teams.

    Also backs up tables of an older version, before an upgrade.
    """
    require_server()
    from isogloss.board.server.backup import back_up
    from isogloss.board.server.board import open_board

    o.say(f"{back_up(open_board(folder, any_version=True), out)} submissions in {out}")


@admin.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="File written by isogloss board admin backup.")],
    folder: Annotated[Path, typer.Argument(help="New folder.")],
    database: Annotated[
        str | None, o.Output("--database", help="Another database; '' for SQLite.", show_default="the original one")
    ] = None,
) -> None:
    """Restore a backup into a new folder and an empty database."""
    require_server()
    from isogloss.board.server.backup import restore as restore_backup

    o.say(f"{restore_backup(backup, folder, database)} submissions in {folder}")


@admin.command()
def migrate(folder: Folder) -> None:
    """Upgrade the database to this version of isogloss; back up first."""
    require_server()
    from isogloss.board.server import database
    from isogloss.board.server.board import read_settings

    database.migrate(database.open_database(read_settings(folder).database, folder.resolve()), folder)
    o.say("the database is up to date")
