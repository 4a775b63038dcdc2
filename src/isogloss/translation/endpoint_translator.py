"""Translation by a language model behind an OpenAI-compatible endpoint; every response is stored."""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from isogloss.answer_shapes import without_thoughts
from isogloss.checked_settings import Limits, Positive, PositiveInt, checked_settings
from isogloss.endpoints.budget import Budget
from isogloss.endpoints.endpoint import Endpoint
from isogloss.endpoints.prices import Prices
from isogloss.endpoints.probe import probe
from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.requests import CHAT, ApiRequest, make_request
from isogloss.endpoints.send import send
from isogloss.endpoints.store import ResponseStore, default_store_dir
from isogloss.errors import IsoglossError
from isogloss.languages import Language, language
from isogloss.translation.translators import Translator, UntranslatedError

# Texts that are sent and stored before the next ones.
_CHUNK = 512
# Limit of the answer's tokens: more than any translation needs, so that only runaway answers reach it.
_LEAST_TOKENS, _TOKENS_PER_CHARACTER = 256, 3
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "‹": "›", "「": "」", "『": "』", "'": "'", "‘": "’"}
_FENCE = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.S)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
# Changes with the reading of replies, so that earlier readings are not reused.
_READER = "1"


class EndpointSettings:
    """Settings of a translator behind an endpoint.

    Attributes:
        endpoint: base URL; default ISOGLOSS_ENDPOINT or OPENAI_BASE_URL.
        key_variable: environment variable with the key.
        revision: version of the model; answers of another revision are not reused.
        concurrency: maximum number of requests at a time.
        timeout: seconds to wait for a response.
        prices: TOML file with prices, for costs.
        max_cost: cost in US dollars at which to stop.
        token_limit: name of the parameter that limits the answer; default: found out by a probe.
        thoughts: tokens that a reasoning model may spend before its answer.
        store: folder of responses; default `responses` in the cache folder.
        batch: texts that are sent before the next ones.
    """

    endpoint: str
    key_variable: str
    revision: str
    concurrency: PositiveInt
    timeout: Positive
    prices: str
    max_cost: Annotated[float, Limits("of at least 0", lambda number: number >= 0)]
    token_limit: str
    thoughts: Annotated[int, Limits("of at least 0", lambda number: number >= 0)]
    store: str
    batch: PositiveInt


class EndpointTranslator(Translator):
    """A language model, asked for one translation per request, at temperature 0.

    Responses are in the store of language models, and translations are read from them every time.

    Args:
        model: name of the model at the endpoint.
        source: language of the texts.
        target: language of the translations.
        settings: settings by the names of `EndpointSettings`.
    """

    keeps_store = True

    def __init__(self, model: str, source: str, target: str, settings: Mapping[str, Any]) -> None:
        self.name, self.source, self.target, self._model = f"llm:{model}", source, target, model
        if not model:
            raise IsoglossError("no model", where="llm", fix="Name it after the colon: llm:qwen3-32b")
        self._settings = checked_settings(settings, EndpointSettings, "setting of a translator", self.name)
        self._names = language(source), language(target)
        self._revision = str(self._settings.get("revision", ""))
        deciding = "\0".join([self._revision, _texts()["prompt"], _READER])
        self.version = hashlib.sha256(deciding.encode()).hexdigest()[:16]
        versioned = f"{model}@{self._revision}" if self._revision else model
        root = Path(self._settings.get("store") or default_store_dir()).expanduser()
        self._root = root / (re.sub(r"[^\w.@-]+", "-", versioned).strip("-.") or "model")
        self._prices = Prices.read(Path(self._settings["prices"])) if self._settings.get("prices") else None
        if self._settings.get("max_cost") and self._prices is None:
            raise IsoglossError("a maximum cost needs prices", fix='Write prices = "prices.toml" in --config')

    @cached_property
    def _endpoint(self) -> Endpoint:
        names = {"endpoint": "url", "key_variable": "key_variable", "concurrency": "concurrency", "timeout": "timeout"}
        return Endpoint.of({names[key]: value for key, value in self._settings.items() if key in names and value})

    @cached_property
    def _token_limit(self) -> str:
        return self._settings.get("token_limit") or probe(self._endpoint, self._model, self._root).limit

    @property
    def _store(self) -> ResponseStore:
        return ResponseStore(self._root / "translate" / f"{self.source}-{self.target}")

    def find(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the translations in stored responses."""
        if not texts or not self._root.exists():
            return {}
        return self._read(self._store, {text: self._request(text) for text in texts})[0]

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield the translations of a chunk of texts at a time; open requests are reported at the end."""
        store = self._store
        most = self._settings.get("max_cost")
        budget = Budget(most, self._root / "spent.txt") if most else None
        reasons: dict[str, str] = {}
        size = self._settings.get("batch", _CHUNK)
        for start in range(0, len(texts), size):
            requests = {text: self._request(text) for text in texts[start : start + size]}
            ended = send(requests.values(), store, self._endpoint, prices=self._prices, budget=budget)
            translations, failed = self._read(store, requests)
            reasons |= {text: reason or ended.open.get(requests[text].custom_id, "") for text, reason in failed.items()}
            yield translations
        if reasons:
            fix = "Run the same command to ask for these only; all other answers are stored"
            listed = {text: reason or "not answered" for text, reason in reasons.items()}
            raise UntranslatedError(listed, len(texts), where=self.name, fix=fix)

    def _read(self, store: ResponseStore, requests: Mapping[str, ApiRequest]) -> tuple[dict[str, str], dict[str, str]]:
        """Return the translations of texts, and why others have none: "" if there is no response."""
        responses = store.find(request.custom_id for request in requests.values())
        translations: dict[str, str] = {}
        reasons: dict[str, str] = {}
        for text, request in requests.items():
            if (response := responses.get(request.custom_id)) is None:
                reasons[text] = ""
            elif reason := _no_translation(response.reply):
                reasons[text] = reason
            else:
                translations[text] = read_translation(response.reply.text, text, self._names[1])
        return translations, reasons

    def _request(self, text: str) -> ApiRequest:
        content = _filled(_texts()["prompt"], self._names, text=text)
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": content}],
            "temperature": 0,
            self._token_limit: self._settings.get("thoughts", 0) + _LEAST_TOKENS + _TOKENS_PER_CHARACTER * len(text),
        }
        return make_request(f"translate-{self.source}-{self.target}", CHAT, body, self._revision)


def _no_translation(reply: ModelReply) -> str:
    """Return the reason why a reply has no translation, or ""."""
    if reply.filtered:
        return "withheld by the content filter"
    if reply.finish_reason == "length":
        return "cut at the token limit"
    if reply.refusal:
        return "refused"
    return "" if without_thoughts(reply.text).strip() else "an empty reply"


def read_translation(reply: str, text: str, target: Language) -> str:
    """Return the translation in a reply, without thoughts, code fences, labels, quotation marks and remarks.

    What the text has too stays: quotation marks around both belong to the translation.

    Args:
        reply: a model's reply.
        text: the text to translate.
        target: language of the translation.
    """
    answer = without_thoughts(reply).strip()
    if (fenced := _FENCE.match(answer)) and not text.startswith("```"):
        answer = fenced[1].strip()
    answer = _without_label(answer, target) if not _label(text, target) else answer
    if not _PARAGRAPH.search(text):
        answer = _PARAGRAPH.split(answer, 1)[0].strip()  # remarks follow after an empty line
    if "\n" not in text:
        answer = " ".join(answer.split("\n"))
    closing = _QUOTES.get(answer[:1])
    is_quoted = closing is not None and len(answer) > 2 and answer.endswith(closing) and closing not in answer[1:-1]
    if is_quoted and text[:1] not in _QUOTES and text[-1:] not in _QUOTES.values():
        answer = answer[1:-1].strip()
    return answer


def _without_label(answer: str, target: Language) -> str:
    return answer[match.end() :].strip() if (match := _label(answer, target)) else answer


def _label(text: str, target: Language) -> re.Match[str] | None:
    return _labels(target).match(text)


@cache
def _labels(target: Language) -> re.Pattern[str]:
    """Return a pattern of the labels before a translation, in plain or bold type."""
    phrases = {_filled(phrase, (target, target)) for phrase in _texts()["labels"]} - {""}
    listed = "|".join(re.escape(phrase) for phrase in sorted(phrases, key=len, reverse=True))
    return re.compile(rf"[*_#\s]*(?:{listed})[*_]*\s*[:：][*_]*\s*", re.I)


def _filled(pattern: str, names: tuple[Language, Language], text: str = "") -> str:
    values = {"source": names[0].name, "target": names[1].name, "autonym": names[1].autonym, "text": text}
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], pattern)


@cache
def _texts() -> dict[str, Any]:
    return tomllib.loads((files("isogloss.translation") / "endpoint_prompt.toml").read_text(encoding="utf-8"))
