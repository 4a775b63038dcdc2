"""isogloss demo: run every part of the package offline, in a minute, and show it on two screens."""

import io
import os
import shlex
import shutil
import sys
from contextlib import nullcontext, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Output, Training, say

if TYPE_CHECKING:
    from isogloss.scoring.results import Results

app = typer.Typer(add_completion=False)

SUITE = "mini"
CHECKLIST_TASKS = "checklist-comparisons,checklist-properties,checklist-animal-vs-vehicle"
LANGUAGES = ("en", "de", "tr", "sw", "ta", "zh")
NEXT = (
    "isogloss list tasks                              available tasks",
    "isogloss fetch xquad tatoeba --data data         download and verify data",
    "isogloss export xquad --data data --out inputs   inputs to answer",
    "isogloss score YOUR-PREDICTIONS --data data      scores with intervals",
    "isogloss import table YOUR.csv --help            predictions in other formats",
    "isogloss board build YOUR-PREDICTIONS published  your leaderboard, next to the papers' systems",
)


@app.command()
def demo(
    seeds: Annotated[int, Training(min=1, help="Number of seeds.")] = 2,
    out: Annotated[Path, Output("--out", "-o", help="Output folder.")] = Path("out/demo"),
) -> None:
    """Train, run and score three small systems on the built-in suite: all ten tasks, 51 languages.

    Downloads nothing. The examples of `mini` are synthetic: the demo shows what
    Isogloss does and how long it takes, not how good any model is. Run the same
    command to resume. Everything that the commands print is in output.txt.
    """
    from isogloss.decoding import decode_json
    from isogloss.scoring.comparison import Comparison
    from isogloss.scoring.results import Results as Record

    jobs, languages = os.cpu_count() or 1, ",".join(LANGUAGES)
    first = out / "ngram" / "zero-shot" / "seed-0"
    record, own = first / "results.json", out / "my_systems.py"
    compared, explained = out / "compare.json", out / "explain.json"
    out.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(Path(__file__).with_name("demo_systems.py"), own)
    call = _Commands(out / "output.txt")
    call("run ngram", suite=SUITE, out=out, seeds=seeds, jobs=jobs)
    for name in ("First", "Chance"):
        call(f"run {own}:{name}", suite=SUITE, out=out, seeds=1, jobs=jobs)
    call("score", first, suite=SUITE, json=record, shows=0)
    _show_scores(Record.from_json(record))
    systems = [out / name / "zero-shot" for name in ("ngram", "first", "chance")]
    call("compare", first, out / "first/zero-shot/seed-0", suite=SUITE, json=compared, shows=0)
    say(f"  {decode_json(compared.read_bytes(), str(compared), list[Comparison])[0].verdict()}")
    call("explain", first, suite=SUITE, tasks="mini-xquad,mini-xnli", languages=languages, json=explained, shows=0)
    _show_findings(explained)
    reader = "run ngram#train_on=mini-xquad"
    call(reader, suite="checklist", tasks=CHECKLIST_TASKS, languages="en,sw", out=out, seeds=1, jobs=1)
    report, board, published = out / "report", out / "board-mini", out / "board"
    call("report --no-pictures", first, explain=explained, out=report, shows=0)
    title = "Three baselines on made-up tasks"
    call("board build", *systems, suite=SUITE, title=title, explain=explained, out=board, shows=0)
    call("board build published:all", out=published, shows=0)
    typer.secho("\nNext:", bold=True)
    for line in NEXT:
        say(f"  {line}")
    say(f"\n{call.log} has the full output, {own} the systems first and chance. Open in any browser, offline:")
    boards = {"board of the three systems": board, "board of the published systems": published}
    for what, folder in {"report on ngram": report, **boards}.items():
        say(f"  {what}: {(folder / 'index.html').absolute().as_uri()}")


class _Commands:
    """Runs commands and shows the last lines of their output; the rest goes to a file."""

    def __init__(self, log: Path) -> None:
        self.log = log
        log.write_text("", encoding="utf-8")

    def __call__(self, verb: str, *paths: Path, shows: int = 1, **options: object) -> None:
        """Print and run a command, and print the last lines of its output."""
        from isogloss.cli.main import main

        named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        words = [*verb.split(), *map(str, paths), *named]
        command = shlex.join(["isogloss", *words])
        typer.secho(f"$ {command}", bold=True)
        output = io.StringIO()
        # A terminal shows progress on stderr.
        errors = nullcontext() if sys.stderr.isatty() else redirect_stderr(output)
        try:
            with redirect_stdout(output), errors:
                main(words)
        except SystemExit as stop:
            text = output.getvalue()
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(f"$ {command}\n{text}\n")
            if stop.code:
                say(text, err=True)
                raise
            for line in text.rstrip().splitlines()[-shows:] if shows else ():
                say(f"  {line}")


def _show_scores(results: "Results") -> None:
    """Print the averages of the tasks and the overall score."""
    from isogloss.figures import interval_text, score_text
    from isogloss.tables.table import Table, show

    table = Table(f"{results.system['name']} on {results.suite}", ("task", "score", "95 %", "languages"))
    for average in results.tasks:
        interval = interval_text(average.score.low, average.score.high)
        table.add(average.name, score_text(average.score.value), interval, str(len(average.members)))
    if (top := results.shown_overall) is not None:
        table.add("overall", score_text(top.value), interval_text(top.low, top.high), "", strong=True)
    show([table], "table")


def _show_findings(path: Path) -> None:
    """Print where the system fails, in the three most important sentences."""
    from isogloss.tables.explain_io import read_explain_records

    for explanation in read_explain_records([path]).explanations.values():
        for cell, finding in explanation.sentences[:3]:
            say(f"  {cell}: {finding}")
