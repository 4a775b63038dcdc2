"""Prices of models from a user's dated file, and estimates of tokens before anything is sent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import msgspec

from isogloss.checked_settings import Limits, checked_setting, checked_settings
from isogloss.data.files import read_toml
from isogloss.errors import DataError
from isogloss.reply_outcomes import Usage

_MILLION = 1_000_000
# Tokens of a reply, for estimates, if the request sets no limit.
DEFAULT_OUTPUT = 512

_FROM_ZERO = Limits("from 0 to 1,000,000", lambda number: 0 <= number <= _MILLION)
_Price = Annotated[float, _FROM_ZERO]
_OptionalPrice = Annotated[float | None, _FROM_ZERO]
_Factor = Annotated[float, Limits("above 0 and at most 1", lambda number: 0 < number <= 1)]


class ModelPrice(msgspec.Struct, frozen=True, kw_only=True):
    """Prices per million tokens; `cached` defaults to `input` and `reasoning` to `output`.

    `batch` is the factor for batches.
    """

    input: _Price
    output: _Price
    cached: _OptionalPrice = None
    reasoning: _OptionalPrice = None
    batch: _Factor = 1.0


@dataclass(frozen=True)
class Prices:
    """Prices of models by name or pattern, at a date.

    A model has the price of its own name, or else of the longest pattern that matches: "gpt-4o-*" before "gpt-*".
    """

    date: str
    currency: str
    models: Mapping[str, ModelPrice]

    @classmethod
    def read(cls, path: Path) -> "Prices":
        """Read a TOML file with `date`, `currency` and a table per model.

        Raises:
            DataError: the file cannot be read, or lacks a date, a currency or a price.
            UnknownNameError: it has a key that is not known.
        """
        table, where = read_toml(path), str(path)
        day = table.pop("date", None)
        if not isinstance(day, date):
            fix = "Write e.g. date = 2026-11-01, without quotes"
            raise DataError("no date of the prices" if day is None else f"{day!r} is not a date", where=where, fix=fix)
        settings = checked_settings(table, {"currency": str, "models": dict}, "key of prices", where, error=DataError)
        if settings.get("currency") != "USD":
            # One currency for all, so that tables and boards can compare costs.
            what = f"prices in {settings['currency']!r}" if settings.get("currency") else "no currency"
            raise DataError(what, where=where, fix='Convert the prices to US dollars, and write currency = "USD"')
        models = {name: _price(name, each, where) for name, each in settings.get("models", {}).items()}
        if not models:
            raise DataError("no prices", where=where, fix='Add a table such as [models."my-model"]')
        return cls(day.isoformat()[:10], settings["currency"], models)

    def of(self, model: str) -> ModelPrice | None:
        """Return the prices of a model, or None."""
        if model in self.models:
            return self.models[model]
        patterns = [each for each in self.models if fnmatchcase(model, each)]
        return self.models[max(patterns, key=lambda each: (len(each), each))] if patterns else None

    def cost(self, model: str, usage: Usage, *, batch: bool = False) -> float | None:
        """Return the cost of some tokens, or None if the model has no price."""
        price = self.of(model)
        if price is None:
            return None
        cached = price.input if price.cached is None else price.cached
        reasoning = price.output if price.reasoning is None else price.reasoning
        total = (
            (usage.input - usage.cached) * price.input
            + usage.cached * cached
            + (usage.output - usage.reasoning) * price.output
            + usage.reasoning * reasoning
        )
        return total / _MILLION * (price.batch if batch else 1.0)


def _price(name: str, table: Any, where: str) -> ModelPrice:
    where = f'{where} [models."{name}"]'
    checked_setting(name, table, dict, where, error=DataError)
    settings = checked_settings(table, ModelPrice, "key of a price", where, error=DataError)
    for key in ("input", "output"):
        if key not in settings:
            raise DataError(f"no price for {key} tokens", where=where, fix=f"Add {key} = … (per million tokens)")
    return ModelPrice(**settings)


# Characters per token, by script: rounded values that are typical of tokenizers with 100,000 to 250,000 tokens. They
# serve estimates before a run; the costs of a run are computed from the tokens that the server states.
_LATIN = 4.0
_CHARACTERS = {
    "CJK": (1.1, r"\u2e80-\u2fff\u3100-\u312f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f"),
    "kana": (1.1, r"\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"),
    "Hangul": (1.3, r"\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"),
    "Cyrillic and Greek": (2.6, r"\u0370-\u052f\u1f00-\u1fff"),
    "Arabic and Hebrew": (2.4, r"\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"),
    "Devanagari and Bengali": (2.0, r"\u0900-\u09ff"),
    "other Indic scripts": (1.4, r"\u0a00-\u0dff"),
    "Thai and Lao": (1.6, r"\u0e00-\u0eff"),
    "Myanmar, Georgian, Ethiopic, Khmer": (1.1, r"\u0f00-\u10ff\u1200-\u139f\u1780-\u17ff"),
    "pictographs": (0.7, r"\U0001f000-\U0001faff"),
}
_SCRIPTS = [(rate, re.compile(f"[{ranges}]+")) for rate, ranges in _CHARACTERS.values()]
# Longer whitespace is one token, and digits come in groups of up to three.
_SPACES = re.compile(r"[ \t\n\r]{2,}")
_DIGITS = re.compile(r"[0-9]+")


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a text from its characters: by script, without a tokenizer.

    Letters of Latin and all other scripts not listed count a quarter of a token.
    """
    if not text:
        return 0
    tokens, rest = 0.0, len(text)
    if not text.isascii():
        for rate, pattern in _SCRIPTS:
            characters = sum(map(len, pattern.findall(text)))
            tokens += characters / rate
            rest -= characters
    for run in _SPACES.findall(text):
        tokens += 1 - len(run) / _LATIN
    digits = sum(map(len, _DIGITS.findall(text)))
    return max(1, round(tokens + rest / _LATIN + digits * (1 / 2.5 - 1 / _LATIN)))


def estimate_usage(body: Mapping[str, Any]) -> Usage:
    """Estimate the tokens of a request before it is sent: all its texts, and as many as it allows in return."""
    texts = [
        text for key in ("messages", "prompt", "input", "response_format", "tools") for text in _texts(body.get(key))
    ]
    messages = body.get("messages")
    frames = 4 * len(messages) if isinstance(messages, list) else 0  # role and separators
    limits = [body.get(key) for key in ("max_completion_tokens", "max_tokens")]
    limit = next((each for each in limits if type(each) is int), DEFAULT_OUTPUT)
    output = 0 if "input" in body else max(0, limit)
    return Usage(input=frames + sum(map(estimate_tokens, texts)), output=output)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    return [text for each in value for text in _texts(each)] if isinstance(value, list | tuple) else []
