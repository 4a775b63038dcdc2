"""isogloss demo: the whole path on made-up systems, offline, in seconds."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False)


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path("out/demo"),
    suite: Annotated[str, typer.Option("--suite", "-s", help="xtreme-r or xtreme.")] = "xtreme-r",
    examples: Annotated[int, typer.Option(min=5, help="Examples per task and language.")] = 100,
) -> None:
    """Make up two systems for every task and language of a suite, then score and compare them.

    Everything is offline and takes seconds. The systems and the gold are random: this shows what Isogloss does, it says
    nothing about any model.
    """
    from isogloss.cli.main import main
    from isogloss.predictions.sample import write_gold, write_system
    from isogloss.tasks.registry import suite as find_suite

    chosen = find_suite(suite)
    gold, first, second = out / "gold", out / "careful", out / "hasty"
    write_gold(gold, chosen, examples)
    write_system(first, chosen, examples, "careful", 0.80)
    write_system(second, chosen, examples, "hasty", 0.74)
    compared = [name for name in ("xquad", "lareqa") if name in chosen.tasks] or chosen.tasks[:1]
    for words in (
        ["score", str(first), "--gold", str(gold), "--suite", suite, "--json", str(first / "results.json")],
        ["compare", str(first), str(second), "--gold", str(gold), "--suite", suite, "--tasks", ",".join(compared)],
    ):
        typer.secho(f"\n$ isogloss {' '.join(words)}", bold=True)
        try:
            main(words)
        except SystemExit as stop:
            if stop.code:
                raise
    typer.secho("\nNext:", bold=True)
    typer.echo("  isogloss list tasks                      what there is")
    typer.echo("  isogloss fetch xquad --data data         real data, checked")
    typer.echo("  isogloss export xquad --data data --out inputs   what to answer")
    typer.echo("  isogloss score YOUR-PREDICTIONS --data data")
