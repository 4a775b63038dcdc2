"""isogloss board serve, work and submit."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from isogloss.cli.options import progress, say

Folder = Annotated[Path, typer.Argument(help="The board's folder, as isogloss board admin create made it.")]


def needs_server() -> None:
    """Say what to install where the server's packages are missing."""
    from importlib.util import find_spec

    from isogloss.errors import IsoglossError

    needed = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "python_multipart")
    missing = [name for name in needed if find_spec(name) is None]
    if missing:
        raise IsoglossError(f"the board's server needs {', '.join(missing)}", fix="pip install 'isogloss[board]'")


def serve(
    folder: Folder,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=0, help="Processes that score submissions.")] = 1,
) -> None:
    """Serve a board: its pages, submissions, and workers that score them.

    A web server with TLS stands in front of it: docs/board-server.md.

    \b
    Example:
      isogloss board admin create my-board --suite mini
      isogloss board serve my-board
    """
    needs_server()
    from isogloss.board.server.serve import serve as run

    run(folder, host, port, workers, lambda: say(f"http://{host}:{port}/ serves {folder}"))


def work(folder: Folder) -> None:
    """Score submissions of a board, beside its server or on another machine that shares its folder and database."""
    needs_server()
    from isogloss.board.server.worker import run_worker

    run_worker(folder)


def _of_system(found: Mapping[str, Any]) -> dict[str, Any]:
    """What a prediction folder's system.toml says of the system, without what runs and systems say for themselves."""
    from isogloss.board.metadata import FIELDS

    if left := sorted(set(found) - set(FIELDS)):
        say(f"not sent, for a submission has no such fields: {', '.join(left)}")
    return {key: value for key, value in found.items() if key in FIELDS}


def submit(
    address: Annotated[str, typer.Argument(help="Of the board, e.g. https://board.example.org.")],
    predictions: Annotated[Path, typer.Argument(help="Prediction folder, or an archive of one.")],
    system: Annotated[
        Path | None,
        typer.Option(help="TOML file that says what the system is.", show_default="system.toml of the folder"),
    ] = None,
    token: Annotated[str, typer.Option(help="The team's token.", envvar="ISOGLOSS_BOARD_TOKEN")] = "",
    publish: Annotated[bool, typer.Option("--publish", help="Publish as soon as it is scored.")] = False,
    wait: Annotated[bool, typer.Option(help="Wait for the scores.")] = True,
) -> None:
    """Send predictions to a board; sent again, the same are the same submission.

    Exit codes: 0 scored (or, with --no-wait, taken); 1 rejected.

    \b
    Example:
      isogloss board submit https://board.example.org runs/xlm-r/zero-shot/seed-0 --system xlm-r.toml
    """
    from isogloss.board.client import BoardClient
    from isogloss.data.files import read_toml
    from isogloss.errors import IsoglossError

    if system is None and predictions.is_file():
        raise IsoglossError(
            "an archive does not say what its system is", where=str(predictions), fix="Add --system FILE.toml"
        )
    metadata = read_toml(system) if system else _of_system(read_toml(predictions / "system.toml"))
    client = BoardClient(address, token or None)
    with progress("sending") as step:
        found = client.submit(predictions, metadata, publish=publish)
        if wait:
            found = client.wait(found["key"], step)
    hint = ": nobody else sees it; send it again with --publish" if found["state"] == "preview" else ""
    say(f"submission {found['key']}: {found['state']}{hint}")
    for problem in found["problems"]:
        severity = "warning" if problem["warning"] else "error"
        say(f"  {severity}: {problem['where']}: {problem['what']}. {problem['fix']}")
    for scores in found["scores"]:
        lacks = "no overall, missing: " + ", ".join(scores["missing"])
        overall = lacks if scores["overall"] is None else scores["overall"]
        say(f"  {scores['scorer']}: {overall} ({scores['rule']})")
    if found["state"] == "rejected":
        raise typer.Exit(1)
