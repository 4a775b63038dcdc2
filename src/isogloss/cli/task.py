"""isogloss task: write a task file for a dataset, and check the files of a task."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o
from isogloss.errors import IsoglossError, UnknownNameError

if TYPE_CHECKING:
    from isogloss.tasks.declaring.draft import TaskDraft
    from isogloss.tasks.task import Task

_HELP = "Write a task file for your own data, and check the files of any task. See docs/tasks.md."

app = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)


@app.command()
def new(
    path: Annotated[Path, typer.Argument(help="Folder of the data, or one file.")],
    name: Annotated[str, o.Input(help="Name of the task.", show_default="the folder's")] = "",
    kind: Annotated[
        str,
        o.Input(
            help="classification, multilabel, regression, choice, tagging, qa or generation.", show_default="guessed"
        ),
    ] = "",
    columns: Annotated[
        str,
        o.Input(help="Columns by role, e.g. text=body,label=stars; choices=a+b for several.", show_default="guessed"),
    ] = "",
    out: Annotated[
        Path | None, o.Output("--out", "-o", help="Task file to write.", show_default="PATH/NAME.toml")
    ] = None,
    yes: Annotated[bool, o.Execution("--yes", "-y", help="Accept all guesses without asking.")] = False,
    force: Annotated[bool, o.Execution("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a task file: look at the data, guess what it is, and ask about the rest.

    Finds CSV, TSV, JSON, JSON lines, Parquet, CoNLL, CoNLL-U and SQuAD files,
    plain or packed. The language is a part of the paths (sw/test.csv,
    test-swh_Latn.tsv) or a column. From names and contents it guesses the
    columns, the kind of task, labels, counts, and whether examples with equal
    ids are translations. Shows the file before writing it.

    \b
    Examples:
      isogloss task new feelings
      isogloss task new feelings --yes
      isogloss task new reviews.csv --kind regression --columns score=stars --yes
      isogloss task new feelings --name my-feelings --out tasks/my-feelings.toml
    """
    from isogloss.tasks.declaring.guess import new_task

    if not yes and not sys.stdin.isatty():
        what = "there is no terminal to ask questions on"
        raise UnknownNameError(what, fix="Pass --yes to accept all guesses; --kind and --columns correct them")
    given = _columns(columns)
    with o.progress("reading") as step:
        step(str(path))
        draft = new_task(path, name=name, kind=kind, columns=given)
    if not yes:
        draft = _answered(draft, path, given)
    target = out or (path.parent if path.is_file() else path) / f"{draft.name}.toml"
    if yes and target.exists() and not force:
        raise IsoglossError(
            "the file exists", where=str(target), fix="Replace it with --force, or choose another: --out"
        )
    text = draft.toml(target.absolute().parent)
    o.say(text)
    for note in draft.notes:
        o.say_prose(note, bullet="note: ")
    if not yes:
        existing = " It exists and will be replaced." if target.exists() else ""
        typer.confirm(f"Write this to {target}?{existing}", default=not existing, abort=True)
        force = True
    task = draft.write(target, force=force)
    o.say(f"\nWrote {target}: {len(text.splitlines())} lines, {len(task.languages)} languages. Next:")
    for line in next_commands(task, target):
        o.say(f"  {line}")


def _columns(text: str) -> dict[str, str | int | tuple[str | int, ...]]:
    """Parse `text=body,label=3,choices=a+b`."""
    columns: dict[str, str | int | tuple[str | int, ...]] = {}
    for word in o.words(text) or ():
        role, equals, name = word.partition("=")
        if not equals:
            raise UnknownNameError(f"{word!r} is not ROLE=COLUMN", fix="Write --columns text=body,label=stars")
        names = tuple(int(each) if each.isdecimal() else each for each in name.split("+"))
        columns[role.strip()] = names if len(names) > 1 else names[0]
    return columns


def _answered(draft: "TaskDraft", path: Path, given: Mapping[str, str | int | tuple[str | int, ...]]) -> "TaskDraft":
    """Ask about the draft; every question has the guess as its default."""
    from isogloss.tasks.declaring.path_patterns import near_language, spelt_tag
    from isogloss.tasks.kinds import KINDS
    from isogloss.tasks.task_file import is_task_id

    while not is_task_id(name := _ask("Name", "Names the task in commands and results, and the file.", draft.name)):
        o.say("Use small letters, digits, dots, hyphens and underscores.")
    draft.name = name
    draft = _with_columns(draft, path, given)
    if KINDS[draft.kind].needs_labels and isinstance(draft.labels, list):
        help_text = "Labels in the files. To rename them, write 0=negative,1=positive."
        labels = _ask("Labels", help_text, ",".join(draft.labels))
        pairs = [word.partition("=") for word in o.words(labels) or ()]
        is_map = bool(pairs) and all(equals for _, equals, _ in pairs)
        if labels != ",".join(draft.labels):
            draft.labels = {key: label for key, _, label in pairs} if is_map else [key for key, _, _ in pairs]
    for spelling in [spelling for spelling, tag in draft.languages.items() if not tag]:
        help_text = "Not known as a language. Give its tag (BCP 47, such as bjn), or - to leave it out."
        near = near_language(spelling)
        guess = near.code if near else "-"
        while not (tag := spelt_tag(name := _ask(f"Language of {spelling!r}", help_text, guess))) and name != "-":
            o.say("Not a language; see isogloss list all-languages.")
        draft.languages[spelling] = tag if name != "-" else ""
    if len(draft.languages) > 1:
        help_text = "Are examples with equal ids translations of each other? Then their errors are not independent."
        o.say_prose(help_text)
        draft.parallel = typer.confirm("Parallel", default=draft.parallel)
    draft.licence = _ask("Licence", "Shown with the results, such as CC BY 4.0; empty if you do not know.", "")
    return draft


def _with_columns(
    draft: "TaskDraft", path: Path, given: Mapping[str, str | int | tuple[str | int, ...]]
) -> "TaskDraft":
    """Ask for the kind and the columns until the files have them."""
    from isogloss.tasks.declaring.guess import new_task

    about_kind = "The kind decides the columns and metrics: classification, multilabel, regression, choice, tagging, "
    about_columns = f"Columns by role; the files have {', '.join(draft.names)}."
    while True:
        kind = _ask("Kind", f"{about_kind}qa or generation.", draft.kind)
        shown = ",".join(f"{role}={_shown(column)}" for role, column in draft.columns.items())
        columns = _ask("Columns", about_columns, shown)
        if kind == draft.kind and columns == shown:
            return draft
        try:
            changed = {**given, **(_columns(columns) if columns != shown else {})}
            return new_task(path, name=draft.name, kind=kind, columns=changed)
        except IsoglossError as error:
            o.say(str(error))


def _shown(column: str | int | tuple[str | int, ...]) -> str:
    return "+".join(map(str, column)) if isinstance(column, tuple) else str(column)


def _ask(question: str, help_text: str, default: str) -> str:
    o.say_prose(help_text)
    return str(typer.prompt(question, default=default, show_default=bool(default))).strip()


def next_commands(task: "Task", path: Path) -> list[str]:
    """Return the commands that check, run, score and explain a task, as far as it has training files."""
    from isogloss.tasks.language_search import files_of

    name = str(path)
    name = f"'{name}'" if set(name) & set(" ()'&;$*") else name
    check = f"isogloss task check {name}"
    layout = task.layouts[0]
    has_train = bool(layout.train) and "train" in task.counts and bool(files_of(task))
    counts = task.counts.get("train", {})
    in_english = "en" in (task.languages if isinstance(counts, int) else counts)
    if not has_train:
        return [check, f"isogloss export {name} --out inputs"]
    regime = "zero-shot" if in_english else "in-language"
    option = "" if in_english else " --regime in-language"
    run = f"runs/ngram/{regime}/seed-0"
    return [
        check,
        f"isogloss run ngram --suite {name}{option} --seeds 1 --out runs",
        f"isogloss score {run} --suite {name}",
        f"isogloss explain {run} --suite {name}",
        f"isogloss board build runs/ngram/{regime} --suite {name} --out site",
    ]


@app.command()
def check(
    task: Annotated[str, typer.Argument(help="Task file, or name of any task.")],
    data: o.Data = None,
    languages: o.Languages = None,
    limit: Annotated[int, o.Output(min=0, help="Places shown per problem, worst first; 0 shows all.")] = 5,
    json: o.Json = None,
    strict: Annotated[bool, o.Execution("--strict", help="Fail on warnings, too.")] = False,
) -> None:
    """Read every file of a task; report counts, labels, and what is wrong.

    Errors prevent scoring: unreadable files (with their line), other counts than
    declared, tags without tokens. Warnings are for you to judge: duplicates,
    equal inputs with different gold, overlaps between splits, texts that two
    languages share, labels that the training set lacks, empty and very long
    texts, lost or wrongly decoded characters, mixed Unicode normalization, texts
    in another script than the language's, answers that are not in their
    context, invalid IOB tags, parallel examples without counterpart or with
    other gold, placeholders instead of gold.

    Exit codes: 0 no errors (warnings may remain); 1 errors, or warnings with
    --strict; 2 wrong usage.

    \b
    Examples:
      isogloss task check feelings/feelings.toml
      isogloss task check nusax --data data --languages ace,su
      isogloss task check my-task.toml --strict --json report.json
    """
    from textwrap import fill

    from rich.console import Console

    from isogloss.escaping import printable
    from isogloss.tables.task_check import defect_lines, labels_table, sizes_table
    from isogloss.tasks.checking.check import check_task

    with o.progress_bar("reading") as step:
        report = check_task(task, data, languages=o.words(languages), progress=step if sys.stderr.isatty() else None)
    console = Console()
    sizes_table(report, 0 if limit == 0 else 30).print(console)
    if (labels := labels_table(report)) is not None:
        labels.print(console)
    styles = {"error": "bold red", "warning": "bold yellow", "dim": "dim", "": None}
    for style, line in defect_lines(report, limit):
        wrapped = fill(printable(line), console.width, subsequent_indent="    ", break_on_hyphens=False)
        console.print(wrapped, style=styles[style], markup=False, highlight=False, soft_wrap=True)
    console.print(f"\n{fill(report.verdict, console.width)}", style="bold", markup=False, highlight=False)
    if json is not None:
        report.to_json(json)
    raise typer.Exit(1 if report.errors or (strict and report.warnings) else 0)
