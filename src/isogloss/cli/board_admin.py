"""isogloss board admin: manage a board's teams, tokens, submissions, archives and backups."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from isogloss.board.server.board import OpenBoard
    from isogloss.board.server.database import Submission, Team

_HELP = "Manage a board: teams, tokens, submissions, backups."
admin = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)

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


@admin.callback()
def prepare() -> None:
    """Manage a board: teams, tokens, submissions, backups."""
    require_server()
    from isogloss.data.files import keep_files_private

    keep_files_private()


@contextmanager
def _transaction(folder: Path) -> Iterator[tuple["OpenBoard", "Session", str]]:
    """Yield an open board, a transaction on it, and the acting user."""
    from isogloss.board.server.board import open_board
    from isogloss.board.server.database import administrator, clear_errors, writing

    board = open_board(folder)
    with clear_errors(board.engine), writing(board.engine) as session:
        yield board, session, administrator()


@admin.command()
def create(
    folder: Annotated[Path, typer.Argument(help="Folder for the new board.")],
    data: Annotated[str, o.Input(help="Data folder with the labels; empty for ISOGLOSS_DATA.")] = "",
    gold: Annotated[str, o.Input(help="Label folder in XTREME's layout, instead of --data.")] = "",
    suite: o.Suite = "xtreme-r",
    title: Annotated[str, o.Output(help="Board title.")] = "Isogloss board",
    database: Annotated[str, o.Output(help="PostgreSQL URL; empty for SQLite in the folder.")] = "",
    database_file: Annotated[str, o.Output(help="Private file with that URL, which keeps it out of board.toml.")] = "",
) -> None:
    """Create a board; its settings are in board.toml.

    \b
    Examples:
      isogloss board admin create my-board --suite mini --title "My board"
    """
    from isogloss.board.server.board import BoardSettings, open_board, write_settings

    folder.mkdir(parents=True, exist_ok=True)
    data, gold, database_file = (str(Path(path).resolve()) if path else "" for path in (data, gold, database_file))
    suite = str(Path(suite).resolve()) if suite.endswith(".toml") else suite
    settings = BoardSettings(
        title=title, suite=suite, database=database, database_file=database_file, data=data, gold=gold
    )
    write_settings(folder, settings)
    open_board(folder)
    o.say(f"created {folder}; start it with isogloss board serve {folder}")


@admin.command()
def team(
    folder: Folder,
    name: Annotated[str, typer.Argument(help="Team name; omit it to list all teams.")] = "",
    contact: Annotated[str | None, o.Input(help="Contact address.")] = None,
    monthly: Annotated[int | None, o.Input(min=0, help="Scored submissions per month.")] = None,
    yearly: Annotated[int | None, o.Input(min=0, help="Scored submissions per year.")] = None,
    publications: Annotated[int | None, o.Input(min=0, help="Publications per year.")] = None,
    board_limits: Annotated[bool, o.Input("--board-limits", help="Use the board's limits again.")] = False,
    disable: Annotated[
        bool | None,
        o.Input("--disable/--enable", help="Stop or allow access by the team's tokens.", show_default=False),
    ] = None,
) -> None:
    """Add a team, change the limits of one, disable or enable it; or list all teams.

    \b
    Examples:
      isogloss board admin team my-board "Team A" --contact a@example.org
      isogloss board admin team my-board "Team A" --monthly 10 --yearly 40
      isogloss board admin team my-board "Team A" --disable
    """
    with _transaction(folder) as (_, session, actor):
        from sqlalchemy import select

        from isogloss.board.server.board import change_team
        from isogloss.board.server.database import Team

        if not name:
            for entry in session.scalars(select(Team).order_by(Team.name)):
                o.say(_team_line(entry))
            return
        limits: dict[str, int | None] = {"monthly": monthly, "yearly": yearly, "publications": publications}
        chosen = {key: value for key, value in limits.items() if board_limits or value is not None}
        if change_team(session, name, actor, contact=contact, limits=chosen, disable=disable):
            o.say(f"added team {name}; create its token with isogloss board admin token {folder} --team {name!r}")
        else:
            o.say(f"changed team {name}")


def _team_line(entry: "Team") -> str:
    limits = {
        "monthly": entry.monthly_submissions,
        "yearly": entry.yearly_submissions,
        "publications": entry.yearly_publications,
    }
    own = ", ".join(f"{name} {limit}" for name, limit in limits.items() if limit is not None)
    state = f"disabled {entry.disabled_at}" if entry.disabled_at else f"since {entry.created_at}"
    return f"{entry.name}\t{entry.contact}\t{state}\t{own or 'limits of the board'}"


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
        from isogloss.board.server.retention import not_rescorable
        from isogloss.board.server.scoring import rescore, retry

        if key:
            retry(session, _submission(session, key), actor)
            o.say(f"queued {key}")
            return
        o.say(f"submissions queued: {len(rescore(session, actor))}")
        if skipped := not_rescorable(session):
            o.say(f"not rescored, because their archives were removed: {', '.join(skipped)}")


@admin.command()
def submissions(
    folder: Folder,
    team: Annotated[str, o.Selection(help="Only this team.")] = "",
    state: Annotated[str, o.Selection(help="Only this state, e.g. rejected.")] = "",
    last: Annotated[int, o.Output(min=1, help="Number of submissions to show.")] = 50,
) -> None:
    """List submissions, newest last: key, state, team, system, time, flags and size.

    Flags are reasons to suspect that a submission probes the labels.
    """
    with _transaction(folder) as (_, session, _actor):
        from sqlalchemy import select

        from isogloss.board.server.board import find_team
        from isogloss.board.server.database import STATES, Submission
        from isogloss.errors import unknown
        from isogloss.tables.table import Table, show

        query = select(Submission).order_by(Submission.id.desc()).limit(last)
        if team:
            query = query.where(Submission.team_id == find_team(session, team).id)
        if state and state not in STATES:
            raise unknown("state", state, STATES)
        if state:
            query = query.where(Submission.state == state)
        header = ("key", "state", "team", "system", "submitted", "flags", "bytes")
        table = Table("Submissions", header, words=6)
        for entry in reversed(session.scalars(query).all()):
            table.add(*_submission_cells(entry))
        show([table], "table")


def _submission_cells(entry: "Submission") -> tuple[str, ...]:
    from isogloss.decoding import decode_json

    system = decode_json(entry.system.encode(), "system", dict[str, object])
    flags = decode_json(entry.flags.encode(), "flags", list[dict[str, str]])
    size = "removed" if entry.archive_removed_at else f"{entry.archive_bytes:,}"
    reasons = "; ".join(f"{flag.get('code', '')}: {flag.get('detail', '')}" for flag in flags)
    return entry.key, entry.state, entry.team.name, str(system.get("name", "")), entry.created_at, reasons, size


@admin.command()
def delete(folder: Folder, key: Key) -> None:
    """Delete a submission: its archive, scores, problems and metadata.

    An entry in the audit log remains, and it still counts against the team's quotas.
    """
    with _transaction(folder) as (board, session, actor):
        from isogloss.board.server.retention import delete_submission

        delete_submission(session, _submission(session, key), actor)
    from isogloss.board.server.retention import remove_orphans

    remove_orphans(board)
    o.say(f"deleted {key}")


@admin.command()
def purge(
    folder: Folder,
    rejected_before: Annotated[
        int | None,
        o.Selection(min=0, help="Age in days of rejected submissions.", show_default="keep_rejected_days of the board"),
    ] = None,
    withdrawn_before: Annotated[
        int | None,
        o.Selection(
            min=0, help="Age in days of withdrawn submissions.", show_default="keep_withdrawn_days of the board"
        ),
    ] = None,
    dry_run: Annotated[bool, o.Execution("--dry-run", help="Only list what would be removed.")] = False,
) -> None:
    """Remove the archives of old rejected and withdrawn submissions; their records are kept.

    The server does so every hour with the board's settings. Archives that other submissions share are kept.

    \b
    Examples:
      isogloss board admin purge my-board --rejected-before 7 --dry-run
    """
    from isogloss.board.server.board import open_board
    from isogloss.board.server.database import administrator, clear_errors
    from isogloss.board.server.retention import purge

    board = open_board(folder)
    rejected, withdrawn = board.settings.keep_rejected_days or None, board.settings.keep_withdrawn_days or None
    with clear_errors(board.engine):
        report = purge(
            board,
            administrator(),
            rejected_days=rejected if rejected_before is None else rejected_before,
            withdrawn_days=withdrawn if withdrawn_before is None else withdrawn_before,
            dry_run=dry_run,
        )
    for key in report.keys:
        o.say(key)
    verb = "would remove" if dry_run else "removed"
    o.say(f"{verb} {report.files} archives ({report.size:,} bytes) of {len(report.keys)} submissions")


@admin.command()
def new_pepper(folder: Folder) -> None:
    """Replace a lost or leaked pepper.key, and revoke all tokens, which only the old one can verify.

    Restart the server afterwards and create new tokens with isogloss board admin token.
    """
    from isogloss.board.server.board import connect, read_settings
    from isogloss.board.server.database import administrator, check_version, clear_errors
    from isogloss.board.server.pepper import replace_pepper

    engine = connect(folder.resolve(), read_settings(folder))
    check_version(engine, folder)
    with clear_errors(engine):
        count = replace_pepper(engine, folder, administrator())
    o.say(f"wrote a new pepper.key and revoked {count} tokens; restart the server and create new tokens")


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
    from isogloss.board.server.backup import restore as restore_backup

    o.say(f"{restore_backup(backup, folder, database)} submissions in {folder}")


@admin.command()
def migrate(folder: Folder) -> None:
    """Upgrade the database to this version of isogloss; back up first."""
    from isogloss.board.server import database
    from isogloss.board.server.board import connect, read_settings

    database.migrate(connect(folder.resolve(), read_settings(folder)), folder)
    o.say("the database is up to date")
