"""Requests of a grid without sending them: estimates of its cost, and folders for batch interfaces.

A folder of requests has the files `requests-001.jsonl`, …, in OpenAI's batch format, and `requests.toml`, from which
the same requests can be made again. The files are all that a server, a batch interface or another team needs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write, read_text, remove_file
from isogloss.decoding import convert_value, decode_toml
from isogloss.endpoints.prices import estimate_usage
from isogloss.endpoints.requests import ApiRequest, read_requests, write_requests
from isogloss.errors import IsoglossError, MissingDataError, unknown
from isogloss.prompts.recipes import SHIPPED, wording_names
from isogloss.reply_outcomes import Usage
from isogloss.runs.drawn_cells import drawn_examples
from isogloss.runs.fit import FitJob, NotAvailableError, fit_system
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.toml import to_toml
from isogloss.scoring.request import Request
from isogloss.systems.llm import LlmSystem
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import given_task, task
from isogloss.training.regimes import regime as find_regime
from isogloss.version import __version__

MANIFEST = "requests.toml"
RESPONSES = "responses"
_FILES = "requests-*.jsonl"
# Limits of a batch file at OpenAI: lines, and bytes with room to spare.
_MOST_LINES, _MOST_BYTES = 50_000, 180_000_000


@dataclass(frozen=True)
class PromptedCell:
    """The requests of a cell, and the number of its examples that they are for; a reason if there are none."""

    cell: CellKey
    requests: Sequence[ApiRequest] = ()
    total: int = 0  # examples of the whole cell
    stored: frozenset[str] = frozenset()  # ids of requests with a response
    skipped: str = ""


def language_model(plan: Plan) -> LlmSystem:
    """Return the plan's system; raise an IsoglossError unless it is a language model."""
    system = plan.build_system()
    if not isinstance(system, LlmSystem):
        raise IsoglossError(f"{system.name} sends no requests", fix="Use a language model: llm:MODEL")
    return system


def prompted_cells(plan: Plan, system: LlmSystem) -> Iterator[PromptedCell]:
    """Yield the requests of every cell; cells that are skipped or answered by embeddings have a reason instead."""
    for group in plan.groups:
        job = FitJob.of(plan, group)
        try:
            if kind_of(job.task).retrieval:
                raise NotAvailableError("answered by embeddings")
            fit_system(system, job)
        except NotAvailableError as error:
            yield from (PromptedCell(cell, skipped=str(error)) for cell in group.cells)
            continue
        for cell in group.cells:
            try:
                everything = job.read(cell.language, plan.request.split).examples
            except NotAvailableError as error:
                yield PromptedCell(cell, skipped=str(error))
                continue
            yield _prompted(plan, cell, system, everything)


def _prompted(plan: Plan, cell: CellKey, system: LlmSystem, everything: Examples) -> PromptedCell:
    drawn = drawn_examples(plan, task(cell.task), everything)
    requests = system.requests(everything if drawn is None else drawn.kept(everything))
    stored = system.store(cell.language).has([request.custom_id for request in requests])
    return PromptedCell(cell, requests, len(everything), frozenset(stored))


@dataclass
class TaskEstimate:
    """Requests of one task that have no response yet, and their estimated tokens and cost."""

    cells: int = 0
    examples: int = 0  # to be prompted
    total: int = 0  # of all cells
    stored: int = 0  # answered before
    requests: int = 0
    usage: Usage = field(default_factory=Usage)  # output: at most


def sum_of_estimates(estimates: Sequence[TaskEstimate]) -> TaskEstimate:
    """Return the sum over tasks."""
    return TaskEstimate(
        cells=sum(each.cells for each in estimates),
        examples=sum(each.examples for each in estimates),
        total=sum(each.total for each in estimates),
        stored=sum(each.stored for each in estimates),
        requests=sum(each.requests for each in estimates),
        usage=Usage.total(each.usage for each in estimates),
    )


def estimate(plan: Plan) -> tuple[dict[str, TaskEstimate], dict[str, str]]:
    """Return what a grid would send, by task, and why cells are skipped.

    Equal requests are sent once. Input tokens are estimated from the scripts of the texts; output tokens are the limit.
    """
    system = language_model(plan)
    tasks: dict[str, TaskEstimate] = {}
    skipped: dict[str, str] = {}
    seen: set[str] = set()
    for each in prompted_cells(plan, system):
        if each.skipped:
            skipped[str(each.cell)] = each.skipped
            continue
        unsent = (one for one in each.requests if one.custom_id not in each.stored)
        fresh = {one.custom_id: one for one in unsent if one.custom_id not in seen}
        seen |= fresh.keys()
        entry = tasks.setdefault(each.cell.task, TaskEstimate())
        entry.cells += 1
        entry.examples += len(each.requests)
        entry.total += each.total
        entry.stored += len(each.stored)
        entry.requests += len(fresh)
        usages = (estimate_usage(one.body) for one in fresh.values())
        entry.usage = Usage.total([entry.usage, *map(system.priced, usages)])
    return tasks, skipped


class RequestsManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Everything that the requests of a folder were made from, besides the data."""

    system: str
    settings: dict[str, Any]
    suite: str
    tasks: list[str]
    languages: list[str] = []
    split: str
    regime: str
    seeds: int
    subset: int = 0
    prompt: str = ""
    isogloss: str

    @classmethod
    def read(cls, folder: Path) -> "RequestsManifest":
        """Read the manifest of a folder."""
        path = folder / MANIFEST
        manifest: RequestsManifest = convert_value(
            decode_toml(read_text(path), str(path)), cls, str(path), what="a manifest of requests"
        )
        return manifest

    def plan(self, out: Path, data: Path | None, **settings: Any) -> Plan:
        """Return the plan of the requests, for an output and a data folder."""
        request = Request.of(
            self.suite, tasks=self.tasks, languages=self.languages or None, split=self.split, data=data
        )
        return Plan.of(
            self.system,
            out,
            request,
            seeds=self.seeds,
            regime=self.regime,
            settings={**self.settings, **settings},
            subset=self.subset,
            prompt=self.prompt,
        )


@dataclass(frozen=True)
class WrittenRequests:
    """Numbers of written requests and files, and the reasons why cells have none."""

    requests: int
    files: int
    skipped: Mapping[str, str]


def write_request_files(
    plan: Plan, folder: Path, settings: Mapping[str, Any], *, prompt: str = "", suite: str = ""
) -> WrittenRequests:
    """Write the requests of a grid and their manifest; those of an earlier grid are removed.

    `settings` and `suite` are those the plan was made with; formats that a probe chose are written down.

    Raises:
        IsoglossError: the grid has no requests; the system is not a language model.
    """
    system = language_model(plan)
    formats = {name: getattr(system.settings, name) for name in ("labels", "tags", "token_limit")}
    request = plan.request
    manifest = RequestsManifest(
        system=plan.system,
        settings={**settings, **_absolute(settings), **formats},
        suite=str(Path(suite).absolute()) if suite.endswith(".toml") else request.suite.id,
        tasks=list(request.tasks),
        languages=list(request.languages or ()),
        split=request.split,
        regime=plan.regime.name,
        seeds=plan.seeds,
        subset=plan.subset,
        prompt=prompt,
        isogloss=__version__,
    )
    remove_file(folder / MANIFEST)  # the files belong to no manifest until all are written
    skipped: dict[str, str] = {}
    sizes = {name: write_requests(folder / name, part) for name, part in _parts(_requests(plan, system, skipped))}
    for path in folder.glob(_FILES):
        if path.name not in sizes:
            remove_file(path)
    if not sizes:
        reasons = "; ".join(dict.fromkeys(skipped.values()))
        raise IsoglossError(f"the grid has no requests: {reasons}", fix="Choose other tasks, languages or regimes")
    with atomic_write(folder / MANIFEST) as stream:
        stream.write(to_toml(msgspec.to_builtins(manifest)))
    return WrittenRequests(sum(sizes.values()), len(sizes), skipped)


def _requests(plan: Plan, system: LlmSystem, skipped: dict[str, str]) -> Iterator[ApiRequest]:
    """Yield the requests of all cells, and note why cells have none."""
    for each in prompted_cells(plan, system):
        if each.skipped:
            skipped[str(each.cell)] = each.skipped
        yield from each.requests


def _absolute(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that name files or folders, so that they are found from any folder."""
    named = {name: str(settings.get(name) or "") for name in ("recipe", "prices", "store")}
    return {name: str(Path(path).absolute()) for name, path in named.items() if path and path not in SHIPPED}


def stored_requests(folder: Path) -> Iterator[ApiRequest]:
    """Return the requests of a folder or file, which are read one by one; raise a MissingDataError without any."""
    paths = [folder] if folder.is_file() else sorted(folder.glob(_FILES))
    if not paths:
        what = f"no files {_FILES}" if folder.is_dir() else "no such file or folder"
        raise MissingDataError(what, where=str(folder), fix="Write them with isogloss llm requests")
    return (request for path in paths for request in read_requests(path))


def shown_prompts(
    name: str,
    language: str,
    split: str,
    data: Path | None,
    *,
    example: str = "",
    regime: str = "none",
    seed: int = 0,
    **choices: Any,
) -> Iterator[tuple[str, str]]:
    """Yield the prompt of an example in each wording, with a title, and the right answer.

    `choices` are settings of prompts; without a wording, all of the recipe are shown.
    """
    target, learning = given_task(name), find_regime(regime)
    [fit] = learning.fits([language])
    wording = choices.pop("wording", "")
    for each in [wording] if wording else wording_names(choices.get("recipe", "isogloss")):
        system = LlmSystem("MODEL", wording=each, **learning.settings, **choices)
        job = FitJob(regime=learning, task=target, fit=fit, seed=seed, data=data, folder=Path())
        fit_system(system, job)
        examples = job.read(language, split).examples
        if example and example not in examples.ids:
            raise unknown(f"example of {target.id}/{language}", example, examples.ids)
        one = examples.keep([examples.ids.index(example) if example else 0])
        [request] = system.requests(one)
        yield f"{target.id}/{language}, {each}", "\n\n".join(_spoken(request))
        if one.has_gold:
            prompts = system.prompts(language)
            yield "right answer", prompts.format.write(prompts.rows(one)[0], one[one.gold][0])


def _spoken(request: ApiRequest) -> Iterator[str]:
    """Yield the parts of a request's text."""
    if "prompt" in request.body:
        yield str(request.body["prompt"])
    for message in request.body.get("messages", ()):
        yield f"[{message['role']}]\n{message['content']}"


def _parts(requests: Iterable[ApiRequest]) -> Iterator[tuple[str, list[ApiRequest]]]:
    """Yield distinct requests in parts that a batch interface accepts, with the names of their files."""
    part: list[ApiRequest] = []
    seen: set[str] = set()
    number, size = 1, 0
    for request in requests:
        if request.custom_id in seen:
            continue
        seen.add(request.custom_id)
        length = len(msgspec.json.encode(request))
        if part and (len(part) == _MOST_LINES or size + length > _MOST_BYTES):
            yield f"requests-{number:03}.jsonl", part
            part, number, size = [], number + 1, 0
        part.append(request)
        size += length
    if part:
        yield f"requests-{number:03}.jsonl", part
