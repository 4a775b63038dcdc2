"""The llm system: prompts an endpoint, keeps every response, and reads the answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from msgspec import structs, to_builtins

from isogloss.checked_settings import checked_setting
from isogloss.endpoints.courier import NO_BUDGET
from isogloss.endpoints.endpoint import KEY_VARIABLE
from isogloss.endpoints.prices import Prices
from isogloss.endpoints.probe import Capabilities, probe
from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.requests import ApiRequest
from isogloss.endpoints.store import ResponseStore, default_store_dir
from isogloss.errors import IsoglossError
from isogloss.prompts.demonstrations import chosen_demonstrations
from isogloss.prompts.recipes import recipe_hash
from isogloss.prompts.render import Prompts, not_prompted
from isogloss.prompts.settings import (
    MAX_TOKENS,
    AnswerStyle,
    LabelFormat,
    PromptLanguage,
    PromptSettings,
    TagFormat,
)
from isogloss.reply_language import language_of, script_of
from isogloss.reply_outcomes import ReplyFacts, Usage
from isogloss.systems.base import RepliedPredictions, System, SystemFailureError, dataset_name, system
from isogloss.systems.llm.reranking import reranked
from isogloss.systems.llm.sending import Sender, counted_reasons
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Reading, kind_of
from isogloss.tasks.task import Task
from isogloss.version import __version__

AUTO: Literal["auto"] = "auto"
# Settings of the transport: they do not decide what a model answers.
_TRANSPORT = frozenset(
    "endpoint key_variable timeout concurrency prices batch max_cost store quiet label embedding_model replay".split()
)
# Parts of a configuration that do not decide answers by themselves: the formats that a probe chose do.
_NOT_DECIDING = frozenset(("settings", "version", "name", "probe"))


class LlmSystem(System):
    """A language model behind an OpenAI-compatible endpoint, prompted for every example.

    Retrieval tasks are answered by the endpoint's embeddings, optionally reranked by the model.

    Args:
        model: name of the model at the endpoint.
        endpoint: base URL; default ISOGLOSS_ENDPOINT or OPENAI_BASE_URL.
        key_variable: environment variable with the key.
        label: name in folders and tables; default: derived from the model.
        revision: version of the model; answers of another revision are not reused.
        recipe: `isogloss`, `mega`, or a folder of recipe files.
        wording: wording of the recipe; default its first. `isogloss run --prompts` crosses several.
        prompt_language: `english` or `native`; set by regimes.
        api: `chat`, or `completions` for base models.
        labels: `logprobs`, `schema` or `text`; default: the best that the server supports, by a probe; `text` for base
            models.
        tags: `schema`, `lines` or `entities`; default likewise.
        answers: `text`, or `schema` for JSON.
        shots: number of examples in regimes with examples; default the recipe's.
        system_role: False for models without a system role.
        thoughts: tokens that a reasoning model may spend before its answer; above 0, log probabilities are not used.
        temperature: sampling temperature.
        token_limit: name of the parameter that limits the answer; default: by the probe, or else `max_tokens`.
        cut_to_passage: True to cut answers to what the passage contains.
        body: further parameters of every request.
        embedding_model: model of the embeddings, for retrieval; default the model itself.
        query_prefix: prefix of queries for embeddings ("query: ").
        candidate_prefix: prefix of candidates ("passage: ").
        rerank: number of first candidates that the model orders again; 0 for none.
        concurrency: maximum number of requests at a time.
        timeout: seconds to wait for a response.
        prices: TOML file with prices, for costs.
        batch: True to count the prices of batches.
        max_cost: cost in US dollars at which to stop; what earlier runs of the model spent counts too.
        store: folder of responses; default `isogloss/responses` in the user's cache folder.
        replay: folder of responses to all requests, to be read instead of asking the endpoint.
        quiet: True to hide the progress bar.
    """

    prompted = True
    usual_regime = "none"
    usual_seeds = 1

    def __init__(  # noqa: PLR0913 - the settings of the system
        self,
        model: str = "",
        *,
        endpoint: str = "",
        key_variable: str = KEY_VARIABLE,
        label: str = "",
        revision: str = "",
        recipe: str = "isogloss",
        wording: str = "",
        prompt_language: PromptLanguage = "english",
        api: Literal["chat", "completions"] = "chat",
        labels: LabelFormat | Literal["auto"] = AUTO,
        tags: TagFormat | Literal["auto"] = AUTO,
        answers: AnswerStyle = "text",
        shots: int | None = None,
        system_role: bool = True,
        thoughts: int = 0,
        temperature: float = 0.0,
        token_limit: str = "",
        cut_to_passage: bool = False,
        body: Mapping[str, Any] | None = None,
        embedding_model: str = "",
        query_prefix: str = "",
        candidate_prefix: str = "",
        rerank: int = 0,
        concurrency: int = 64,
        timeout: float = 120.0,
        prices: str | Path = "",
        batch: bool = False,
        max_cost: float = 0.0,
        store: str | Path = "",
        replay: str | Path = "",
        quiet: bool = False,
    ) -> None:
        if not model:
            raise SystemFailureError("no model", where="llm", fix="Name it after the colon: llm:qwen3-32b")
        self.model = model
        self.name = label or f"llm-{_folder_name(model)}"
        transport = (endpoint, key_variable, timeout, concurrency, prices, max_cost)
        self._transport = dict(zip(Sender.SETTINGS, transport, strict=True))
        versioned = f"{model}@{revision}" if revision else model
        self.store_root = (Path(str(store)) if store else default_store_dir()) / _folder_name(versioned)
        # Checked at once, like all settings: a run should not fail in every cell for a missing file.
        self.prices, self._batch = Prices.read(Path(str(prices))) if prices else None, batch
        self._labels, self._tags, self._limit = labels, tags, token_limit
        self._prompt = PromptSettings(
            model=model,
            revision=str(revision),
            recipe=recipe,
            wording=wording,
            prompt_language=prompt_language,
            api=api,
            labels="text" if labels == AUTO else labels,
            tags="lines" if tags == AUTO else tags,
            answers=answers,
            shots=shots,
            system_role=system_role,
            thoughts=thoughts,
            temperature=temperature,
            token_limit=token_limit or MAX_TOKENS,
            cut_to_passage=cut_to_passage,
            body=dict(checked_setting("body", body or {}, dict, "llm")),
        )
        self._embeddings = {"query_prefix": query_prefix, "candidate_prefix": candidate_prefix, "quiet": quiet}
        self._embedding_model = embedding_model or model
        self.rerank = checked_setting("rerank", rerank, int, "llm", least=0)
        self._quiet, self._replay = quiet, Path(str(replay)) if replay else None
        if endpoint and self._replay is None:
            self.sender.check_price(model)
        self._task: Task | None = None
        self._demonstrations: Examples | None = None

    @cached_property
    def sender(self) -> Sender:
        """Endpoint, prices and budget; a replay needs none of them."""
        return Sender.of(self._transport, self.store_root / "spent.txt")

    @cached_property
    def capabilities(self) -> Capabilities:
        """Capabilities of the endpoint, probed once and recorded beside the responses."""
        return probe(self.sender.endpoint, self.model, self.store_root)

    @cached_property
    def settings(self) -> PromptSettings:
        """Settings of the prompts, with the formats that the endpoint supports."""
        labels, tags = self._labels, self._tags
        able = self.capabilities if self._probes else None
        if labels == AUTO:
            labels = "schema" if able and able.json_schema else "text"
            if able and able.logprobs and not self._prompt.thoughts:
                labels = "logprobs"
        if tags == AUTO:
            tags = "schema" if able and able.json_schema else "lines"
        limit = able.limit if able and not self._limit else self._prompt.token_limit
        return replace(self._prompt, labels=labels, tags=tags, token_limit=limit or MAX_TOKENS)

    @property
    def _probes(self) -> bool:
        """True if a format depends on what the server's chat supports; base models answer in text."""
        return AUTO in (self._labels, self._tags) and self._prompt.api == "chat"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, model, and the formats chosen by the probe."""
        settings = self.settings
        return {
            "name": self.name,
            "version": __version__,
            "description": "a language model, prompted",
            "model": self.model,
            "recipe_hash": recipe_hash(settings.recipe),
            "labels": settings.labels,
            "tags": settings.tags,
            "embedding_model": self._embedding_model,
            **({"probe": to_builtins(self.capabilities)} if self._probes else {}),
        }

    def deciding_settings(self, configuration: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        """Return what decides the answers: not the transport, and the embeddings for retrieval only."""
        settings = configuration.get("settings", {})
        deciding = {key: value for key, value in settings.items() if key not in _TRANSPORT}
        known = {key: value for key, value in configuration.items() if key not in _NOT_DECIDING}
        if not kind_of(task).retrieval:
            known.pop("embedding_model", None)
        return {**known, "settings": deciding}

    def refusal(self, task: Task) -> str:
        """Refuse tasks without prompts; retrieval is answered by embeddings, which only an endpoint has."""
        if kind_of(task).retrieval:
            return "" if self._replay is None else "answered by embeddings, which isogloss run requests"
        return not_prompted(task)

    def needs_training(self, task: Task) -> bool:
        """Return True: regimes with examples take them from a training set, except for retrieval."""
        return not kind_of(task).retrieval

    def fit(self, task: Task, train: Examples | None, seed: int) -> "LlmSystem":
        """Choose the examples of the prompts; nothing is trained."""
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        self._task, self._demonstrations = task, None
        if train is not None:
            count = self.prompts(train.language).recipe.shots if self.settings.shots is None else self.settings.shots
            self._demonstrations = chosen_demonstrations(task, train, count, seed)
        return self

    def prompts(self, language: str) -> Prompts:
        """Return the prompts of the fitted task in a language."""
        if self._task is None:
            raise SystemFailureError(f"{self.name} is not fitted", fix="Call fit first")
        return Prompts(self._task, language, self.settings)

    def requests(self, examples: Examples) -> list[ApiRequest]:
        """Return the request of every example."""
        shown = self._demonstrations
        overlap = shown is not None and (shown.language, shown.split) == (examples.language, examples.split)
        if overlap:
            what = f"the examples of the prompts are from {dataset_name(examples)} themselves"
            fix = "Add a training set, predict another split, or prompt without examples (--regime none)"
            raise SystemFailureError(what, where=self.name, fix=fix)
        return self.prompts(examples.language).requests(examples, shown)

    def store(self, language: str) -> ResponseStore:
        """Return the store of the fitted task's responses in a language."""
        if self._replay is not None:
            return ResponseStore(self._replay)
        task = self._task.id if self._task else ""
        return ResponseStore(self.store_root / task / language)

    def predict(self, examples: Examples) -> Sequence[Any]:
        """Return the answers, each with how it was read and what it cost; None for replies without an answer.

        Raises:
            SystemFailureError: some requests have no response yet; all others are stored.
        """
        if self._task is not None and kind_of(self._task).retrieval:
            return self._retrieved(self._task, examples)
        if note := self.prompts(examples.language).note:
            examples.notes.append(note)
        return self.read(examples, self.replies(examples, self.requests(examples), self.store(examples.language)))

    def replies(self, examples: Examples, requests: Sequence[ApiRequest], store: ResponseStore) -> list[ModelReply]:
        """Return the replies to requests about examples, from the store or the endpoint.

        Raises:
            SystemFailureError: some requests have no response yet; all others are stored.
        """
        if self._replay is not None:
            ids = [request.custom_id for request in requests]
            missing = set(ids) - store.has(ids)
            if missing:
                fix = "Send them with isogloss llm send, or add a batch output with --responses"
                reasons = dict.fromkeys(missing, "no response in the folder")
                raise open_requests_error(examples, reasons, len(requests), fix)
            return self.stored_replies(requests, store)
        title = f"{self.name} {dataset_name(examples)}"
        ended = self.sender.send(requests, store, title, quiet=self._quiet)
        if ended.open:
            raise open_requests_error(examples, ended.open, len(requests))
        return self.stored_replies(requests, store)

    @staticmethod
    def stored_replies(requests: Sequence[ApiRequest], store: ResponseStore) -> list[ModelReply]:
        """Return the stored replies to requests."""
        responses = store.find([request.custom_id for request in requests])
        return [responses[request.custom_id].reply for request in requests]

    def read(self, examples: Examples, replies: Sequence[ModelReply]) -> RepliedPredictions:
        """Return the answers that replies give, with facts about each reply."""
        readings = self.prompts(examples.language).read(examples, replies)
        return RepliedPredictions([reading.answer for reading in readings], self.facts(readings, replies))

    def facts(self, readings: Sequence[Reading], replies: Sequence[ModelReply]) -> list[ReplyFacts]:
        """Return how each reply was read, its tokens and cost, and its script and language."""
        in_words = self._task is not None and kind_of(self._task).form in ("answer", "text")
        return [
            ReplyFacts(
                outcome=reading.outcome,
                usage=None if reply.usage is None else self.priced(reply.usage),
                script=script_of(reply.text),
                language=language_of(reply.text) if in_words else "",
            )
            for reading, reply in zip(readings, replies, strict=True)
        ]

    def priced(self, usage: Usage) -> Usage:
        """Return tokens with their cost, if there are prices."""
        cost = None if self.prices is None else self.prices.cost(self.model, usage, batch=self._batch)
        return usage if cost is None else structs.replace(usage, cost=cost)

    @cached_property
    def _embedder(self) -> System:
        """The endpoint's embeddings; one system for all languages, which may share candidates."""
        endpoint = self.sender.endpoint
        place = {"endpoint": endpoint.url, "key_variable": endpoint.key_variable}
        return system("embedder", model=f"endpoint:{self._embedding_model}", **place, **self._embeddings)

    def _retrieved(self, task: Task, examples: Examples) -> Sequence[Any]:
        """Return rankings by the endpoint's embeddings, of which the model may order the first candidates again."""
        ranked = self._embedder.fit(task, None, 0).predict(examples)
        if not self.rerank or kind_of(task).form != "ranking":
            return ranked
        return reranked(self, task, examples, ranked, self.rerank)


def _folder_name(model: str) -> str:
    """Return a model's name without characters unsuitable for folders and tables."""
    return re.sub(r"[^\w.@-]+", "-", model).strip("-.") or "model"


def open_requests_error(examples: Examples, reasons: Mapping[str, str], total: int, fix: str = "") -> IsoglossError:
    """Return the error of a cell with requests that have no response."""
    listed = "; ".join(counted_reasons(reasons))
    what = f"{len(reasons):,} of {total:,} requests have no answer yet: {listed}"
    step = "Raise --max-cost" if NO_BUDGET in reasons.values() else "Run the same command"
    fix = fix or f"{step} to send only these; all other answers are stored"
    return SystemFailureError(what, where=dataset_name(examples), fix=fix, cause=f"open requests: {listed}")
