"""Options shared by several verbs, and functions that print."""

import inspect
import shutil
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.escaping import printable

if TYPE_CHECKING:
    from isogloss.scoring.request import Request

# Options, by the panel of a verb's help that shows them.
Input = partial(typer.Option, rich_help_panel="Input")
Selection = partial(typer.Option, rich_help_panel="Selection")
Training = partial(typer.Option, rich_help_panel="Training")
Statistics = partial(typer.Option, rich_help_panel="Statistics")
Output = partial(typer.Option, rich_help_panel="Output")
Execution = partial(typer.Option, rich_help_panel="Execution")
LanguageModel = partial(typer.Option, rich_help_panel="Language models")

Predictions = Annotated[
    Path, typer.Argument(help="Prediction folder: <task>/<language>.jsonl, XTREME's layout, or embeddings.")
]


def _with_its_tasks(data: Path | None) -> Path | None:
    from isogloss.tasks.task_sources import use_tasks_of

    use_tasks_of(data)
    return data


Data = Annotated[
    Path | None,
    Input(
        "--data",
        "-d",
        help="Data folder.",
        envvar="ISOGLOSS_DATA",
        show_default="the user's cache",
        callback=_with_its_tasks,
    ),
]
Gold = Annotated[Path | None, Input(help="Label folder in XTREME's layout, instead of --data.")]
PartialGold = Annotated[
    bool | None,
    Input(
        "--allow-partial/--strict",
        help="How to treat predictions without complete gold labels. By default they are skipped and listed. "
        "--allow-partial scores incomplete gold, excluded from averages; --strict fails.",
        show_default=False,
    ),
]
AllowPartial = Annotated[
    bool,
    Input(
        "--allow-partial",
        help="Also predict and score test sets with an unexpected number of examples, excluded from averages.",
    ),
]
Subset = Annotated[
    Path | None,
    Input(
        help="File of isogloss export --subset, or its folder: only those examples are answered, the rest is estimated."
    ),
]
Guide = Annotated[
    list[Path] | None,
    Input(help="Predictions of a cheap system for all examples, which sharpen a subset's scores; may be repeated."),
]
Suite = Annotated[str, Selection("--suite", "-s", help="Suite name (see isogloss list suites) or your own .toml file.")]
Tasks = Annotated[str | None, Selection("--tasks", "-t", help="Only these tasks, e.g. xquad,xnli.")]
Languages = Annotated[str | None, Selection("--languages", "-l", help="Only these languages, e.g. en,sw,ta.")]
Split = Annotated[
    str,
    Selection(
        help="test, dev, best (test where predictions and gold exist, else dev; without an overall score), or pseudo "
        "(machine-translated test sets only)."
    ),
]
TestOrDev = Annotated[str, Selection("--split", help="test or dev.")]
Regime = Annotated[
    str,
    Training(
        help="Training data: zero-shot (English), translate-train[-all], translate-test[-xtreme], "
        "in-language[-1000, any number, or -all], or multi-source:en,de."
    ),
]
Seeds = Annotated[int, Training("--seeds", min=1, help="Number of seeds.")]
RunRegime = Annotated[
    str | None,
    Training(
        "--regime",
        help="Training data: zero-shot (English), translate-train[-all], translate-test[-xtreme], "
        "in-language[-1000, any number, or -all], or multi-source:en,de. Examples in prompts: none, english or "
        "in-language, with -native for instructions in the task's language, or -translate-test.",
        show_default="zero-shot; none for language models",
    ),
]
RunSeeds = Annotated[
    int | None, Training("--seeds", min=1, help="Number of seeds.", show_default="5; 1 for language models")
]
SubsetSize = Annotated[
    int,
    Selection(
        "--subset",
        min=0,
        help="Draw this many examples per cell and estimate the score on all of them; a smaller subset is part of a "
        "larger one.",
        show_default="all",
    ),
]
Config = Annotated[
    Path | None,
    LanguageModel("--config", "-c", help="TOML file with settings of the system, such as recipe or prices."),
]
EndpointUrl = Annotated[
    str,
    LanguageModel(
        "--endpoint",
        help="Base URL of an OpenAI-compatible server. Its key comes from the environment, by default OPENAI_API_KEY.",
        show_default="ISOGLOSS_ENDPOINT or OPENAI_BASE_URL",
    ),
]
Prompts = Annotated[
    str,
    LanguageModel(
        "--prompts",
        help="Wordings to cross with the seeds: their number, names, or all. Scores are means over them, with their "
        "variance.",
        show_default="the recipe's first",
    ),
]
MaxCost = Annotated[
    float,
    LanguageModel(
        "--max-cost",
        min=0,
        help="Stop at this cost in US dollars, earlier runs of the model included; needs prices in --config.",
        show_default=False,
    ),
]
Resample = Annotated[
    str, Statistics(help="Sampling unit of the intervals: source (new articles, premises, …) or example.")
]
RunsFolder = Annotated[Path, Output("--out", "-o", help="Output folder; writes <system>/<regime>/seed-<n>.")]
PredictionsOut = Annotated[Path, Output("--out", "-o", help="Prediction folder to write to.")]
Json = Annotated[Path | None, Output("--json", help="Write all results as JSON.")]
Csv = Annotated[
    Path | None, Output("--csv", help="Write every table to this folder; a .csv path gets only the first table.")
]
Html = Annotated[Path | None, Output("--html", help="Write one self-contained HTML page.")]
Format = Annotated[str, Output("--format", "-f", help="table, md, latex or siunitx (LaTeX).")]
On = Annotated[
    str | None,
    Execution(
        "--on",
        help="Where to run: processes on this machine, ray (RAY_ADDRESS, or a local cluster), ray://host:port, "
        "slurm, slurm:PARTITION, or a .toml file (see docs/clusters.md).",
        show_default="processes",
    ),
]
Jobs = Annotated[int, Execution("--jobs", "-j", min=1, help="Number of worker processes.")]
ClusterJobs = Annotated[
    int | None,
    Execution(
        "--jobs",
        "-j",
        min=1,
        help="Number of worker processes; on a cluster, the maximum number of concurrent jobs.",
        show_default="1; on a cluster, as many as fit",
    ),
]
Force = Annotated[bool, Execution("--force", help="Replace existing predictions.")]


@dataclass(frozen=True, kw_only=True)
class RequestOptions:
    """Options of the verbs over predictions: the cells, and the sampling unit."""

    data: Data = None
    suite: Suite = "xtreme-r"
    tasks: Tasks = None
    languages: Languages = None
    split: Split = "test"
    resample: Resample = "source"

    def selection(self, **further: Any) -> dict[str, Any]:
        """Return the options as `isogloss.score` takes them; `further` are options of the verb."""
        options = {**vars(self), "tasks": words(self.tasks), "languages": words(self.languages), **further}
        partial_gold = options.pop("partial_gold", None)
        if "guide" in options:
            options["guide"] = options["guide"] or ()
        return {**options, "allow_partial": partial_gold is True, "strict": partial_gold is False}

    def request(self, **further: Any) -> "Request":
        """Return the request, with every name checked; `further` are options of the verb."""
        from isogloss.scoring.request import Request

        return Request.of(**self.selection(**further))


@dataclass(frozen=True, kw_only=True)
class GoldOptions(RequestOptions):
    """Options of the verbs that score predictions."""

    gold: Gold = None
    partial_gold: PartialGold = None


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(GoldOptions):
    """Options of `score` and `compare`, which accept answers to a subset of the examples."""

    subset: Subset = None
    guide: Guide = None


def expand_bundles(verb: Callable[..., None]) -> Callable[..., None]:
    """Replace every parameter that is a dataclass of options by these options, which is what Typer understands."""
    declared = inspect.signature(verb).parameters.values()
    bundles: dict[str, Any] = {each.name: each.annotation for each in declared if is_dataclass(each.annotation)}
    parameters = []
    for parameter in declared:
        options = fields(bundles[parameter.name]) if parameter.name in bundles else ()
        parameters += [parameter.replace(name=f.name, default=f.default, annotation=f.type) for f in options]
        parameters += [] if options else [parameter]

    @wraps(verb)
    def command(**values: Any) -> None:
        for name, bundle in bundles.items():
            values[name] = bundle(**{option.name: values.pop(option.name) for option in fields(bundle)})
        verb(**values)

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def add_tasks_option(command: Any) -> None:
    """Add `--tasks-from` to a command, or to its subcommands, if it has tasks or their results."""
    from typer.core import TyperOption

    for subcommand in getattr(command, "commands", {}).values():
        add_tasks_option(subcommand)
    if {parameter.name for parameter in command.params}.isdisjoint(_WITH_TASKS):
        return
    option = TyperOption(
        param_decls=["--tasks-from"],
        help="Folder of task files, or one file; repeatable (see docs/tasks.md).",
        metavar="<path>",
        multiple=True,
        expose_value=False,
        callback=lambda context, parameter, sources: _use_task_files(sources),
        rich_help_panel="Input",
    )
    command.params.append(option)


def join_help_lines(command: Any) -> None:
    r"""Join the lines of each paragraph of the help, so that it fills the terminal; `\b` keeps a paragraph's lines."""
    for subcommand in getattr(command, "commands", {}).values():
        join_help_lines(subcommand)
    paragraphs = (command.help or "").split("\n\n")
    joined = (text.replace("\b\n", "\b") if "\b" in text else " ".join(text.split("\n")) for text in paragraphs)
    command.help = "\n\n".join(joined) or None


# Parameters of the commands that may meet tasks of files.
_WITH_TASKS = frozenset({"tasks", "task", "suite", "what", "results", "predictions", "systems"})


def _use_task_files(sources: Sequence[str]) -> None:
    from isogloss.tasks.task_sources import tasks_from

    for source in sources:
        tasks_from(source)


def words(text: str | None) -> list[str] | None:
    """Split a comma-separated option into a list."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def say(text: str, *, err: bool = False) -> None:
    """Print one or more lines, escaping control characters in names and paths."""
    typer.echo(printable(text, lines=True), err=err)


def say_prose(text: str, *, bullet: str = "") -> None:
    """Print a paragraph, or an item of a list, wrapped between words if standard output is a terminal."""
    if sys.stdout.isatty():
        wrapper = textwrap.TextWrapper(shutil.get_terminal_size().columns, bullet, " " * len(bullet))
        wrapper.break_long_words = wrapper.break_on_hyphens = False
        say(wrapper.fill(printable(text)))
    else:
        say(f"{bullet}{text}")


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """Show a spinner with the current step on stderr if it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        running = bar.add_task(title, total=None)
        yield lambda step: bar.update(running, description=printable(f"{title} {step}"))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Show a progress bar with the remaining time on stderr, or log lines if it is not a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ProgressLog(title)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), TextColumn("to go"), console=console, transient=True) as bar:
        running = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(running, completed=done, total=total)


class _ProgressLog:
    """Progress as log lines, at most one every ten seconds."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = self._last_line = time.monotonic()
        self._done_at_start = -1

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._done_at_start < 0:
            self._done_at_start = done
        elif now - self._last_line < 10 and done < total:
            return
        self._last_line = now
        fresh = done - self._done_at_start
        seconds = round((now - self._started) * (total - done) / fresh) if fresh else 0
        left = f", about {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} to go" if 0 < fresh < total else ""
        say(f"{self._title}: {done:,} of {total:,}{left if done < total else ''}", err=True)
