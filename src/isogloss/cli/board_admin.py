"""isogloss board admin: manage a board on its own machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Suite, input_option, output_option, say, selection_option, words

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from isogloss.board.server.board import OpenBoard
    from isogloss.board.server.database import Submission

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Manage a board: teams, tokens, submissions, backups."
)

Folder = Annotated[Path, typer.Argument(help="Board folder created by isogloss board admin create.")]
Team = Annotated[str, selection_option(help="Team name.")]
Key = Annotated[str, typer.Argument(help="Submission key.")]
OtherDatabase = Annotated[
    str | None, output_option("--database", help="Another database; '' for SQLite.", show_default="the original one")
]
Database = Annotated[str, output_option(help="PostgreSQL URL; empty for SQLite in the folder.")]


def require_server() -> None:
    """Raise with an installation hint if the server's packages are missing."""
    from importlib.util import find_spec

    from isogloss.errors import IsoglossError

    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "python_multipart")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise IsoglossError(f"the board server needs {', '.join(missing)}", fix="pip install 'isogloss[board]'")


@contextmanager
def _transaction(folder: Path) -> Iterator[tuple["OpenBoard", "Session", str]]:
    """Yield an open board, a transaction on it, and the acting user."""
    require_server()
    from isogloss.board.server.board import open_board
    from isogloss.board.server.database import administrator, writing

    board = open_board(folder)
    with writing(board.engine) as session:
        yield board, session, administrator()


@app.command()
def create(
    folder: Annotated[Path, typer.Argument(help="Folder for the new board.")],
    data: Annotated[str, input_option(help="Data folder with the labels; empty for ISOGLOSS_DATA.")] = "",
    gold: Annotated[str, input_option(help="Label folder in XTREME's layout, instead of --data.")] = "",
    suite: Suite = "xtreme-r",
    title: Annotated[str, output_option(help="Board title.")] = "Isogloss board",
    database: Database = "",
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
    say(f"created {folder}; start it with isogloss board serve {folder}")


@app.command()
def team(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="Name of the new team; omit it to list all.")] = "",
    contact: Annotated[str, input_option(help="Contact address.")] = "",
    monthly: Annotated[
        int | None, input_option(min=0, help="Submissions per month, instead of the board's limit.")
    ] = None,
) -> None:
    """Add a team, or list all teams."""
    with _transaction(folder) as (_, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.board import create_team
        from isogloss.board.server.database import Team, record

        if name:
            create_team(session, name, contact, monthly)
            record(session, actor, "add team", name)
            say(f"added team {name}; create its token with isogloss board admin token {folder} --team {name!r}")
            return
        for entry in session.scalars(select(Team).order_by(Team.name)):
            say(f"{entry.name}\t{entry.contact}\tsince {entry.created_at}")


@app.command()
def token(
    folder: Folder,
    team: Team = "",
    scopes: Annotated[str, input_option(help="Permissions: read, submit, publish.")] = "read,submit,publish",
    revoke: Annotated[str, selection_option(help="Id of a token to revoke.")] = "",
) -> None:
    """Create a team's token, revoke one, or list all; a token is shown only when it is created."""
    with _transaction(folder) as (board, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.board import create_token, find_team, revoke_token
        from isogloss.board.server.database import AccessToken, record

        if revoke:
            revoke_token(session, revoke, actor)
            say(f"revoked token {revoke}")
        elif team:
            secret = create_token(session, find_team(session, team), board.pepper, words(scopes) or [])
            record(session, actor, "make token", secret.split("_")[1], f"team {team}, for {scopes}")
            say(secret)
        else:
            for entry in session.scalars(select(AccessToken).order_by(AccessToken.id)):
                state = f"revoked {entry.revoked_at}" if entry.revoked_at else f"since {entry.created_at}"
                say(f"{entry.public_id}\t{entry.team.name}\t{entry.scopes}\t{state}")


def _submission(session: "Session", key: str) -> "Submission":
    from sqlalchemy import select

    from isogloss.board.server.database import Submission
    from isogloss.errors import unknown

    submission = session.scalar(select(Submission).where(Submission.key == key).with_for_update())
    if submission is None:
        raise unknown("submission", key, session.scalars(select(Submission.key).limit(1000)))
    return submission


@app.command()
def publish(folder: Folder, key: Key) -> None:
    """Publish a scored submission."""
    with _transaction(folder) as (_, session, actor):
        from isogloss.board.server.scoring import publish

        publish(session, _submission(session, key), actor)
        say(f"published {key}; the pages are being rebuilt")


@app.command()
def withdraw(folder: Folder, key: Key) -> None:
    """Remove a submission from the board; its scores are kept."""
    with _transaction(folder) as (_, session, actor):
        from isogloss.board.server.scoring import withdraw

        withdraw(session, _submission(session, key), actor)
        say(f"withdrew {key}; the pages are being rebuilt")


@app.command()
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
            say(f"queued {key}")
        else:
            say(f"submissions queued: {len(rescore(session, actor))}")


@app.command()
def audit(folder: Folder, last: Annotated[int, output_option(min=1, help="Number of entries to show.")] = 50) -> None:
    """Show the audit log."""
    with _transaction(folder) as (_, session, _actor):
        from sqlalchemy import select

        from isogloss.board.server.database import AuditEntry

        newest = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(last)).all()
        for entry in reversed(newest):
            say(f"{entry.at}\t{entry.actor}\t{entry.action}\t{entry.subject}\t{entry.detail}")


@app.command()
def backup(folder: Folder, out: Annotated[Path, output_option("--out", "-o", help="Tar file to write.")]) -> None:
    """Write the whole board to one file, while it runs. Keep it safe: it contains the predictions of all teams.

    Also backs up tables of an older version, before an upgrade.
    """
    require_server()
    from isogloss.board.server.backup import back_up
    from isogloss.board.server.board import open_board

    say(f"{back_up(open_board(folder, any_version=True), out)} submissions in {out}")


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="File written by isogloss board admin backup.")],
    folder: Annotated[Path, typer.Argument(help="New folder.")],
    database: OtherDatabase = None,
) -> None:
    """Restore a backup into a new folder and an empty database."""
    require_server()
    from isogloss.board.server.backup import restore as restore_backup

    say(f"{restore_backup(backup, folder, database)} submissions in {folder}")


@app.command()
def migrate(folder: Folder) -> None:
    """Upgrade the database to this version of isogloss; back up first."""
    require_server()
    from isogloss.board.server.board import read_settings
    from isogloss.board.server.database import migrate as upgrade
    from isogloss.board.server.database import open_database

    upgrade(open_database(read_settings(folder).database, folder.resolve()), folder)
    say("the database is up to date")
