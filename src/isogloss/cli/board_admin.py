"""isogloss board admin: what the keeper of a board does on its own machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.board_server import Folder, needs_server
from isogloss.cli.options import say, words

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from isogloss.board.server.board import OpenBoard
    from isogloss.board.server.models import Submission

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Keep a board: teams, tokens, submissions, backups.")

Team = Annotated[str, typer.Option(help="The team's name.")]
Key = Annotated[str, typer.Argument(help="A submission's key.")]
Database = Annotated[str, typer.Option(help="URL of a PostgreSQL database; none for SQLite in the folder.")]


@contextmanager
def _changing(folder: Path) -> Iterator[tuple["OpenBoard", "Session", str]]:
    """An open board, a transaction on it, and who is asking."""
    needs_server()
    from isogloss.board.server.audit import keeper
    from isogloss.board.server.board import open_board
    from isogloss.board.server.database import writing

    board = open_board(folder)
    with writing(board.engine) as session:
        yield board, session, keeper()


@app.command()
def create(
    folder: Annotated[Path, typer.Argument(help="A folder for the new board.")],
    suite: Annotated[str, typer.Option(help="What is scored: a suite, or a .toml file of your own.")] = "xtreme-r",
    title: Annotated[str, typer.Option(help="What the board is called.")] = "Isogloss board",
    data: Annotated[str, typer.Option(help="Data folder with the labels; none for ISOGLOSS_DATA.")] = "",
    gold: Annotated[str, typer.Option(help="Label folder in XTREME's layout, instead of --data.")] = "",
    database: Database = "",
) -> None:
    """Make a new board; its settings are then in board.toml.

    \b
    Example:
      isogloss board admin create my-board --suite mini --title "My board"
    """
    needs_server()
    from isogloss.board.server.board import open_board
    from isogloss.board.server.settings import BoardSettings, write_settings

    folder.mkdir(parents=True, exist_ok=True)
    data, gold = (str(Path(place).resolve()) if place else "" for place in (data, gold))
    write_settings(folder, BoardSettings(title, suite, database, data, gold))
    open_board(folder)
    say(f"{folder} is a board; isogloss board serve {folder} serves it")


@app.command()
def team(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="The new team's name; none to list all.")] = "",
    contact: Annotated[str, typer.Option(help="How to reach the team.")] = "",
    monthly: Annotated[int | None, typer.Option(min=0, help="Its own number of submissions a month.")] = None,
) -> None:
    """Add a team, or list all of them."""
    with _changing(folder) as (_, session, actor):
        from sqlalchemy import select

        from isogloss.board.server import models
        from isogloss.board.server.audit import record
        from isogloss.board.server.tokens import create_team

        if name:
            create_team(session, name, contact, monthly)
            record(session, actor, "add team", name)
            say(f"team {name} added; isogloss board admin token {folder} --team {name!r} makes its token")
            return
        for each in session.scalars(select(models.Team).order_by(models.Team.name)):
            say(f"{each.name}\t{each.contact}\tsince {each.created_at}")


@app.command()
def token(
    folder: Folder,
    team: Team = "",
    scopes: Annotated[str, typer.Option(help="What it is for: read, submit, publish.")] = "read,submit,publish",
    revoke: Annotated[str, typer.Option(help="Make the token of this id worthless.")] = "",
) -> None:
    """Make a token for a team, revoke one, or list all; a token can be seen only when it is made."""
    with _changing(folder) as (board, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.audit import record
        from isogloss.board.server.models import AccessToken
        from isogloss.board.server.tokens import create_token, find_team, revoke_token

        if revoke:
            revoke_token(session, revoke, actor)
            say(f"token {revoke} is worthless now")
        elif team:
            made = create_token(session, find_team(session, team), board.pepper, words(scopes) or [])
            record(session, actor, "make token", made.split("_")[1], f"team {team}, for {scopes}")
            say(made)
        else:
            for each in session.scalars(select(AccessToken).order_by(AccessToken.id)):
                state = f"revoked {each.revoked_at}" if each.revoked_at else f"since {each.created_at}"
                say(f"{each.public_id}\t{each.team.name}\t{each.scopes}\t{state}")


def _submission(session: "Session", key: str) -> "Submission":
    from sqlalchemy import select

    from isogloss.board.server.models import Submission
    from isogloss.errors import unknown

    found = session.scalar(select(Submission).where(Submission.key == key).with_for_update())
    if found is None:
        raise unknown("submission", key, session.scalars(select(Submission.key).limit(1000)))
    return found


@app.command()
def publish(folder: Folder, key: Key) -> None:
    """Put a scored submission on the board."""
    with _changing(folder) as (_, session, actor):
        from isogloss.board.server.scoring import publish

        publish(session, _submission(session, key), actor)
        say(f"{key} is published; the pages follow")


@app.command()
def withdraw(folder: Folder, key: Key) -> None:
    """Take a submission off the board; its scores are kept."""
    with _changing(folder) as (_, session, actor):
        from isogloss.board.server.scoring import withdraw

        withdraw(session, _submission(session, key), actor)
        say(f"{key} is withdrawn; the pages follow")


@app.command()
def rescore(
    folder: Folder,
    key: Annotated[str, typer.Argument(help="A rejected submission to try again; none for all that is due.")] = "",
) -> None:
    """Have everything scored by the present scorer that it has not seen; old values stay beside the new."""
    with _changing(folder) as (_, session, actor):
        from isogloss.board.server.scoring import rescore, retry

        if key:
            retry(session, _submission(session, key), actor)
            say(f"{key} is in the queue again")
        else:
            say(f"{len(rescore(session, actor))} submissions are in the queue again")


@app.command()
def audit(folder: Folder, last: Annotated[int, typer.Option(min=1, help="So many entries.")] = 50) -> None:
    """Show who did what."""
    with _changing(folder) as (_, session, _actor):
        from sqlalchemy import select

        from isogloss.board.server.models import AuditEntry

        newest = session.scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(last)).all()
        for each in reversed(newest):
            say(f"{each.at}\t{each.actor}\t{each.action}\t{each.subject}\t{each.detail}")


@app.command()
def backup(folder: Folder, out: Annotated[Path, typer.Option("--out", "-o", help="The tar file to write.")]) -> None:
    """Write everything that the board is to one file, while it runs; keep it safe: it has the answers of all teams.

    Tables of an older version are backed up as they are, before an upgrade.
    """
    needs_server()
    from isogloss.board.server.backup import back_up
    from isogloss.board.server.board import open_board

    say(f"{back_up(open_board(folder, any_version=True), out)} submissions in {out}")


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="What isogloss board admin backup wrote.")],
    folder: Annotated[Path, typer.Argument(help="A new folder.")],
    database: Annotated[
        str | None, typer.Option(help="Another database than it had; '' for SQLite.", show_default="the one it had")
    ] = None,
) -> None:
    """Make a board of a backup, in a new folder and an empty database."""
    needs_server()
    from isogloss.board.server.backup import restore as make

    say(f"{make(backup, folder, database)} submissions in {folder}")


@app.command()
def migrate(folder: Folder) -> None:
    """Bring the database to this version of isogloss; back up before."""
    needs_server()
    from isogloss.board.server.database import migrate as upgrade
    from isogloss.board.server.database import open_database
    from isogloss.board.server.settings import read_settings

    upgrade(open_database(read_settings(folder).database, folder.resolve()), folder)
    say("the database is up to date")
