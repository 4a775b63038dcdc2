"""isogloss board: a leaderboard that anyone can host."""

import typer

from isogloss.cli.board_build import build

app = typer.Typer(add_completion=False, no_args_is_help=True, help="The leaderboard: build it, and host it anywhere.")
app.command()(build)


@app.callback()
def board() -> None:
    """Have verbs below this one, even while there is but one."""
