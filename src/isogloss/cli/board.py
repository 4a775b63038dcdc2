"""isogloss board: a leaderboard that anyone can host, as files or served; its keeper's verbs are below `admin`."""

import typer

from isogloss.cli.board_admin import app as admin
from isogloss.cli.board_build import build
from isogloss.cli.board_server import serve, submit, work

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="The leaderboard: build it, serve it, submit to it, keep it."
)
app.command()(build)
app.command()(serve)
app.command()(work)
app.command()(submit)
app.add_typer(admin, name="admin")
