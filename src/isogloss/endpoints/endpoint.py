"""Address and limits of an OpenAI-compatible endpoint; its key stays in the environment."""

import os
import re
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from isogloss.checked_settings import Positive, PositiveInt, checked_settings
from isogloss.endpoints.errors import EndpointError

URL_VARIABLES = ("ISOGLOSS_ENDPOINT", "OPENAI_BASE_URL")
KEY_VARIABLE = "OPENAI_API_KEY"
HEADERS_VARIABLE = "ISOGLOSS_ENDPOINT_HEADERS"

# Shorter values are placeholders, such as "none", which may well occur in an answer.
_SHORTEST_SECRET = 12
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _url_from_environment() -> str:
    return next((value for name in URL_VARIABLES if (value := os.environ.get(name))), "")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Address and limits of an endpoint.

    Attributes:
        url: base URL, by default ISOGLOSS_ENDPOINT or OPENAI_BASE_URL. Without a path, /v1 is added; with one, it is
            what precedes /chat/completions, as in OpenAI's own client.
        key_variable: environment variable with the key. It is read when requests are sent, and never stored.
        timeout: seconds until a request without an answer is repeated.
        concurrency: maximum number of requests at a time.
        start_concurrency: number at the beginning; it grows by one per round and halves when the server says so (429).
        max_attempts: attempts per request; answers of status 429 do not count.
        first_wait: longest wait before the second attempt, in seconds; it doubles with every further attempt.
        longest_wait: longest wait between attempts. If the server asks for more, sending stops.
        max_failures: failures without a success after which sending stops; at least six per request at a time.
    """

    url: str = field(default_factory=_url_from_environment)
    key_variable: str = KEY_VARIABLE
    timeout: Positive = 120.0
    concurrency: PositiveInt = 64
    start_concurrency: PositiveInt = 8
    max_attempts: PositiveInt = 8
    first_wait: Positive = 1.0
    longest_wait: Positive = 120.0
    max_failures: PositiveInt = 30

    def __post_init__(self) -> None:
        checked_settings(asdict(self), Endpoint, "setting of an endpoint", "endpoint", error=EndpointError)
        if not self.url:
            fix = f"Give it, or set {URL_VARIABLES[0]}, e.g. to http://localhost:8000/v1"
            raise EndpointError("the endpoint has no URL", fix=fix)
        if "@" in self.url:
            what = "the URL of the endpoint contains a user name or password"  # not quoted: it is a secret
            raise EndpointError(what, fix=f"Put the key into the environment variable {self.key_variable}")
        try:
            parts = urlsplit(self.url)
            _ = parts.port
        except ValueError:
            raise EndpointError("the URL of the endpoint is invalid", fix="Write http(s)://host:port/path") from None
        if set(parse_qs(parts.query, keep_blank_values=True)) - {"api-version"} or parts.fragment:
            what = "the URL of the endpoint has a query"  # not quoted: some servers take the key there
            raise EndpointError(what, fix=f"Remove it; put a key into the environment variable {self.key_variable}")
        if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[\s\x00-\x1f\x7f]", self.url):
            what = f"{self.url!r} is not an http or https URL"
            raise EndpointError(what, fix="Write e.g. http://localhost:8000/v1")
        if not _VARIABLE.fullmatch(self.key_variable):
            # Not quoted: it may be a key.
            raise EndpointError(
                "key_variable is not the name of an environment variable", fix="Write its name, not the key"
            )

    @classmethod
    def of(cls, table: dict[str, Any], where: str = "endpoint") -> "Endpoint":
        """Return the endpoint that a table of settings describes."""
        return cls(**checked_settings(table, cls, "setting of an endpoint", where, error=EndpointError))

    def target(self, url: str) -> str:
        """Return the path and query for a URL of a request such as "/v1/chat/completions"."""
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        target = path + url.removeprefix("/v1") if path else url
        return f"{target}?{parts.query}" if parts.query else target

    @property
    def address(self) -> str:
        """The URL without its path."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Credentials:
    """Headers for a server, read from the environment; they appear in no representation and no text."""

    headers: dict[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, endpoint: Endpoint) -> "Credentials":
        """Read the key and further headers of an endpoint."""
        headers = _extra_headers()
        secrets = [value for value in headers.values() if len(value) >= _SHORTEST_SECRET]
        if key := os.environ.get(endpoint.key_variable, "").strip():
            if not key.isascii() or not key.isprintable():
                what = f"{endpoint.key_variable} contains characters that a key cannot have"
                raise EndpointError(what, fix="Set it again")
            headers.setdefault("authorization", f"Bearer {key}")
            secrets += [key] if len(key) >= _SHORTEST_SECRET else []
        escaped = [each.replace(sign, f"\\{sign}") for each in secrets for sign in '/"']  # as JSON may write them
        return cls(headers, tuple(sorted({*secrets, *escaped}, key=len, reverse=True)))

    def scrub(self, text: str) -> str:
        """Return the text without secrets."""
        for secret in self.secrets:
            text = text.replace(secret, "[key]")
        return text

    def scrub_bytes(self, content: bytes) -> bytes:
        """Return the bytes without secrets."""
        for secret in self.secrets:
            content = content.replace(secret.encode(), b"[key]")
        return content


def _extra_headers() -> dict[str, str]:
    """Return the headers in the environment, a JSON object of strings."""
    import msgspec

    if not (text := os.environ.get(HEADERS_VARIABLE)):
        return {}
    fix = """Write a JSON object, e.g. {"api-key": "…"}"""
    try:
        headers = msgspec.json.decode(text.encode(), type=dict[str, str])
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise EndpointError(f"{HEADERS_VARIABLE} is not a JSON object of strings", fix=fix) from None
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not value.isascii() or not value.isprintable():
            raise EndpointError(f"{HEADERS_VARIABLE} contains an invalid header", fix=fix)
    return {name.lower(): value for name, value in headers.items()}
