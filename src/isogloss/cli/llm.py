"""isogloss llm: requests to language models as files, and what their answers say."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli import options as o

if TYPE_CHECKING:
    from isogloss.runs.plan import Plan
    from isogloss.runs.prompted_cells import TaskEstimate

_HELP = (
    "Prompt language models in separate steps: write requests, send them (or upload them as a batch), read answers. "
    "isogloss run llm:MODEL does all of it in one command."
)

app = typer.Typer(add_completion=False, no_args_is_help=True, help=_HELP)

Model = Annotated[str, typer.Argument(help="Language model, e.g. llm:qwen3-32b or llm:gpt-4o-mini#labels=text.")]
RequestsFolder = Annotated[
    Path,
    typer.Argument(help="Folder that isogloss llm requests wrote, or a file of requests in OpenAI's batch format."),
]


@app.command()
def requests(
    system: Model,
    *,
    data: o.Data = None,
    suite: o.Suite = "xtreme-r",
    tasks: o.Tasks = None,
    languages: o.Languages = None,
    split: o.TestOrDev = "test",
    subset: o.SubsetSize = 0,
    regime: o.RunRegime = None,
    seeds: o.RunSeeds = None,
    config: o.Config = None,
    endpoint: o.EndpointUrl = "",
    wording: Annotated[str, o.LanguageModel(help="Wording of the prompts.", show_default="the recipe's first")] = "",
    out: Annotated[Path, o.Output("--out", "-o", help="Folder for requests-001.jsonl, … and requests.toml.")],
) -> None:
    """Write the requests of a grid in OpenAI's batch format.

    The files can be uploaded to a batch interface as they are, or sent by
    isogloss llm send. Formats of answers depend on what the server enforces: with
    an endpoint it is probed; otherwise set labels and tags in the model's name or
    --config, or take the default, plain text that every server answers.

    \b
    Examples:
      isogloss llm requests llm:gpt-4o-mini --tasks xcopa,xnli --subset 200 \\
          --data data --out work
      isogloss llm send work --endpoint https://api.openai.com
      isogloss llm read work --data data --out runs
    """
    from collections import Counter

    from isogloss.cli.run import system_settings
    from isogloss.figures import counted
    from isogloss.runs.plan import Plan
    from isogloss.runs.prompted_cells import write_request_files
    from isogloss.scoring.request import Request
    from isogloss.systems.base import SystemName

    settings = system_settings(config, endpoint=endpoint)
    if not endpoint:
        plain = {"labels": "text", "tags": "lines"}
        named = SystemName.of(system).settings
        settings = {**{name: form for name, form in plain.items() if name not in named}, **settings}
    request = Request.of(suite, tasks=o.words(tasks), languages=o.words(languages), split=split, data=data)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings, subset=subset, prompt=wording)
    with o.progress("writing requests"):
        written = write_request_files(plan, out, settings, prompt=wording, suite=suite)
    o.say(f"{counted(written.requests, 'request')} in {counted(written.files, 'file')}, in {out}")
    for reason, count in Counter(written.skipped.values()).items():
        o.say(f"without requests: {counted(count, 'cell')}: {reason}", err=True)


@app.command()
def send(
    folder: RequestsFolder,
    *,
    config: o.Config = None,
    endpoint: o.EndpointUrl = "",
    max_cost: o.MaxCost = 0.0,
) -> None:
    """Send the requests of a folder and store every response in its folder `responses`.

    A file of requests in OpenAI's batch format works too; its responses are stored
    in a folder beside it.

    Run the same command to resume: stored responses are never requested again.

    Exit codes: 0 all requests have a response; 1 some are open; 130 interrupted.
    """
    from isogloss.cli.run import system_settings
    from isogloss.endpoints.store import ResponseStore
    from isogloss.figures import counted
    from isogloss.interrupts import answering_interrupts
    from isogloss.runs.prompted_cells import RESPONSES, stored_requests
    from isogloss.systems.base import check_settings
    from isogloss.systems.llm.sending import Sender, counted_reasons

    settings = system_settings(config, endpoint=endpoint, max_cost=max_cost)
    check_settings("llm", settings)
    # The responses to a single file of requests lie beside it.
    responses = folder / RESPONSES if folder.is_dir() else folder.with_name(f"{folder.stem}-{RESPONSES}")
    sender, store = Sender.of(settings, responses.parent / "spent.txt"), ResponseStore(responses)
    unsent = stored_requests(folder)
    with answering_interrupts():
        ended = sender.send(unsent, store, folder.absolute().name)
    o.say(f"{ended.answered:,} answered, {ended.already:,} answered before, {len(ended.open):,} open")
    if store.damaged:
        o.say(f"ignored: {counted(store.damaged, 'damaged line')} in {store.folder}", err=True)
    for line in counted_reasons(ended.open):
        o.say(f"open: {line}", err=True)
    raise typer.Exit(1 if ended.open else 0)


@app.command()
def read(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Folder that isogloss llm requests wrote; or tables of replies, one per language."),
    ],
    *,
    data: o.Data = None,
    responses: Annotated[
        list[Path] | None, o.Input("--responses", help="Downloaded output of a batch to add; may be repeated.")
    ] = None,
    column: Annotated[
        str, o.Input("--column", help="Column of the replies in a table, by name or number.", show_default="the last")
    ] = "",
    id_column: Annotated[
        str, o.Input("--id", help="Column of the ids in a table, or position for the order of rows.")
    ] = "position",
    labels: Annotated[str | None, o.Input(help="Further spellings of answers in a table: 0=LABEL,1=LABEL,….")] = None,
    task: Annotated[str, o.Selection("--task", "-t", help="Task of the tables, e.g. xcopa.", show_default=False)] = "",
    split: o.TestOrDev = "test",
    config: o.Config = None,
    examples: Annotated[int, o.Output(min=0, help="Number of replies without an answer to show for each reason.")] = 2,
    out: Annotated[Path, o.Output("--out", "-o", help="Folder for runs, or for the predictions read from tables.")],
    force: o.Force = False,
) -> None:
    """Read the answers in responses, or in tables of replies from any model, and write predictions.

    From a folder of requests, nothing is sent: the requests are made again from
    the data, matched by their ids, read and scored. Tables of free-text replies
    (CSV, TSV, JSON lines, Parquet) are read into a prediction folder.

    Replies without an answer are counted by reason and language, never guessed:
    refusals, "none of these", several answers at once, empty, cut, unparsed.

    Exit codes: 0 success; 1 responses are missing, or tables do not fit the data.

    \b
    Examples:
      isogloss llm read work --data data --out runs
      isogloss llm read work --responses batch_output.jsonl --data data --out runs
      isogloss llm read gpt4/*.tsv --task sib200 --data data --out gpt4
      isogloss score gpt4 --suite living --data data
    """
    if task:
        from rich.console import Console

        from isogloss.predictions.reply_files import check_destinations, read_reply_files, unread_replies
        from isogloss.tables.reply_tables import reply_files_table

        cells = read_reply_files(
            paths, task, column=column, id_column=id_column, labels=o.words(labels) or (), split=split, data=data
        )
        check_destinations(cells, out, force=force)
        for cell in cells:
            cell.write(out, force=force)
        reply_files_table(cells).print(Console())
        for outcome, where, text in unread_replies(cells, examples):
            o.say(f"{outcome}: {where}: {text}")
        return
    from isogloss.cli.run import run_plan_and_report, system_settings
    from isogloss.endpoints.store import ResponseStore
    from isogloss.figures import counted
    from isogloss.runs.place import HERE
    from isogloss.runs.prompted_cells import RESPONSES, RequestsManifest, stored_requests
    from isogloss.tables.run_tables import seeds_table

    if len(paths) != 1 or not paths[0].is_dir():
        raise typer.BadParameter("pass one folder of isogloss llm requests, or tables with --task")
    manifest, store = RequestsManifest.read(paths[0]), paths[0].absolute() / RESPONSES
    known = {request.custom_id for request in stored_requests(paths[0])} if responses else set()
    for path in responses or ():
        with ResponseStore(store) as opened:
            counts = opened.add_batch_output(path, known)
        o.say(f"{path}: {counts.added:,} responses added, {counts.already:,} known, {counts.errors:,} errors")
        if counts.unknown:
            o.say(f"ignored: {counted(counts.unknown, 'response')} to requests of another folder", err=True)
        if counts.damaged:
            o.say(f"ignored: {counted(counts.damaged, 'damaged line')}", err=True)
        for reason, count in counts.reasons.items():
            o.say(f"error: {count:,} × {reason}", err=True)
    plan = manifest.plan(out, data, **system_settings(config), batch=bool(responses), replay=str(store))
    raise typer.Exit(run_plan_and_report(plan, HERE, seeds_table, force=force))


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="Task, e.g. xnli.")],
    language: Annotated[str, typer.Argument(help="Language, e.g. sw.")],
    *,
    data: o.Data = None,
    split: o.TestOrDev = "test",
    example: Annotated[str, o.Selection(help="Id of the example.", show_default="the first")] = "",
    regime: o.RunRegime = None,
    seed: Annotated[int, o.Training(min=0, help="Seed of the examples in the prompt.")] = 0,
    recipe: Annotated[str, o.LanguageModel(help="isogloss, mega, or a folder of recipe files.")] = "isogloss",
    wording: Annotated[str, o.LanguageModel(help="Wording of the prompts.", show_default="all")] = "",
    labels: Annotated[str, o.LanguageModel(help="text, schema or logprobs.")] = "text",
    tags: Annotated[str, o.LanguageModel(help="lines, schema or entities.")] = "lines",
) -> None:
    """Show the prompt of an example, in every wording, with a right answer.

    \b
    Examples:
      isogloss llm show xcopa sw --data data
      isogloss llm show xnli sw --regime none-native --data data
    """
    from isogloss.runs.prompted_cells import shown_prompts

    choices = {"recipe": recipe, "labels": labels, "tags": tags}
    for title, text in shown_prompts(
        task, language, split, data, example=example, regime=regime or "none", seed=seed, wording=wording, **choices
    ):
        o.say(f"── {title} " + "─" * max(0, 70 - len(title)))
        o.say(text.replace("\t", "⇥"))  # a terminal would show a blank


@app.command()
def probe(
    model: Annotated[str, typer.Argument(help="Name of the model at the endpoint.")],
    *,
    endpoint: o.EndpointUrl = "",
    key_variable: Annotated[str, o.LanguageModel(help="Environment variable with the key.")] = "OPENAI_API_KEY",
    json: o.Json = None,
) -> None:
    """Find out what a server really does: log probabilities, JSON schemas, echo, seeds, usage, embeddings, context.

    Some servers accept a parameter and ignore it; the probe compares answers
    instead of trusting status codes. isogloss run probes by itself.
    """
    from contextlib import suppress

    from rich.console import Console

    from isogloss.endpoints.embeddings import embedding_dimension
    from isogloss.endpoints.errors import EndpointError
    from isogloss.endpoints.probe import probe as probe_endpoint
    from isogloss.scoring.results import write_json
    from isogloss.systems.llm.sending import Sender
    from isogloss.tables.request_tables import capabilities_table

    with o.progress("probing"):
        sender = Sender.of({"endpoint": endpoint, "key_variable": key_variable})
        capabilities = probe_endpoint(sender.endpoint, model)
        dimension = 0
        with suppress(EndpointError):  # most chat models have no embeddings
            dimension = embedding_dimension(sender.endpoint, model)
    if json is not None:
        write_json(json, capabilities)
    capabilities_table(model, capabilities, dimension).print(Console())


@app.command()
def contamination(
    system: Model,
    *,
    data: o.Data = None,
    suite: o.Suite = "xtreme-r",
    tasks: o.Tasks = None,
    languages: o.Languages = None,
    split: o.TestOrDev = "test",
    examples: Annotated[int, o.Selection(min=20, help="Number of examples to draw per task and language.")] = 100,
    seed: Annotated[int, o.Selection(min=0, help="Seed of the draw.")] = 0,
    config: o.Config = None,
    endpoint: o.EndpointUrl = "",
    max_cost: o.MaxCost = 0.0,
    out: Annotated[
        Path | None, o.Output("--out", "-o", help="JSON file; in RUNS/<system>/<regime>, reports and boards show it.")
    ] = None,
) -> None:
    """Test whether a model knows the examples of datasets by heart.

    The model gets the first half of an example and has to write the rest. Its
    continuation is compared with the true one and, as a control, with that of
    another example. A task counts as memorised if the 95 % interval of the
    difference lies above 5 points. Scores are never changed.

    Responses are stored: the same command resumes and pays for nothing twice.

    \b
    Examples:
      isogloss llm contamination llm:qwen3-32b --tasks xcopa,xnli \\
          --languages en,sw --endpoint http://localhost:8000 --data data
      isogloss llm contamination llm:gpt-4o-mini --tasks xquad --data data \\
          --out runs/llm-gpt-4o-mini/none/contamination.json
      isogloss llm contamination llm:llama-3-70b#api=completions --data data
    """
    from isogloss.cli.run import system_settings
    from isogloss.interrupts import answering_interrupts
    from isogloss.scoring.request import Request
    from isogloss.scoring.results import write_json
    from isogloss.systems.llm.contamination import contamination_record, probed_model
    from isogloss.tables.contamination_tables import contamination_table
    from isogloss.tables.table import show as show_tables

    request = Request.of(suite, tasks=o.words(tasks), languages=o.words(languages), split=split, data=data)
    model = probed_model(system, **system_settings(config, endpoint=endpoint, max_cost=max_cost))
    with answering_interrupts():
        record, missing = contamination_record(model, request, count=examples, seed=seed)
    if out is not None:
        write_json(out, record)
    table = contamination_table({model.name: record.findings})
    table.notes += [f"{name}: {reason}" for name, reason in missing.items()]
    show_tables([table], "table")


def show_estimate(plans: "list[Plan]") -> None:
    """Print what some grids would send, and their total."""
    from rich.console import Console

    from isogloss.runs.prompted_cells import estimate, sum_of_estimates
    from isogloss.tables.request_tables import estimate_table, estimate_text

    estimates: list[TaskEstimate] = []
    for plan in plans:
        with o.progress("estimating"):
            tasks, skipped = estimate(plan)
        estimates += tasks.values()
        estimate_table(plan, tasks, skipped).print(Console())
    if len(plans) > 1:
        o.say(f"{len(plans)} wordings together: {estimate_text(sum_of_estimates(estimates))}")
