"""Settings of endpoints, and their keys."""

import subprocess
import sys
from typing import Any

import pytest

from isogloss.endpoints.connections import needs_httpx, open_connections
from isogloss.endpoints.endpoint import Credentials, Endpoint
from isogloss.endpoints.errors import EndpointError
from isogloss.errors import IsoglossError, UnknownNameError

SECRET = "sk-0123456789/abcdef"  # noqa: S105 (no real one)
CHAT = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ISOGLOSS_ENDPOINT", "OPENAI_BASE_URL", "OPENAI_API_KEY", "ISOGLOSS_ENDPOINT_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://localhost:8000", CHAT),
        ("http://localhost:8000/", CHAT),
        ("http://localhost:8000/v1", CHAT),
        ("https://example.org/api/v1/", "/api/v1/chat/completions"),
        ("https://example.org/v1beta/openai", "/v1beta/openai/chat/completions"),
        ("https://example.org/openai/v1?api-version=2", "/openai/v1/chat/completions?api-version=2"),
    ],
)
def test_the_path_of_a_request(url: str, target: str) -> None:
    assert Endpoint(url=url).target(CHAT) == target


def test_the_url_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EndpointError, match="no URL"):
        Endpoint()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://one/v1")
    assert Endpoint().url == "http://one/v1"
    monkeypatch.setenv("ISOGLOSS_ENDPOINT", "http://two/v1")
    assert Endpoint().url == "http://two/v1"


@pytest.mark.parametrize(
    "url",
    [
        f"http://me:{SECRET}@host/v1",
        f"http://{SECRET}@host/v1".replace("/abcdef", ""),
        f"https://host/v1?key={SECRET}",
        f"https://host/v1#{SECRET}",
    ],
)
def test_urls_with_secrets_are_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(EndpointError) as raised:
        Endpoint(url=url)
    assert "sk-" not in str(raised.value)
    assert "OPENAI_API_KEY" in str(raised.value)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://host", "http://", "http://host:port", "http://ho st", "http://h\r\nx: y"]
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(EndpointError):
        Endpoint(url=url)


@pytest.mark.parametrize(
    "settings",
    [{"timeout": 0}, {"concurrency": 0}, {"max_attempts": "many"}, {"timeout": float("inf")}, {"first_wait": -1}],
)
def test_settings_are_checked(settings: dict[str, Any]) -> None:
    with pytest.raises(EndpointError):
        Endpoint(url="http://host", **settings)
    with pytest.raises(EndpointError):
        Endpoint.of({"url": "http://host", **settings})


def test_tables_of_settings() -> None:
    assert Endpoint.of({"url": "http://host", "timeout": 5}) == Endpoint(url="http://host", timeout=5)
    with pytest.raises(UnknownNameError, match="timeouts"):
        Endpoint.of({"url": "http://host", "timeouts": 5})


def test_a_key_in_place_of_its_variable_is_not_quoted() -> None:
    with pytest.raises(EndpointError) as raised:
        Endpoint(url="http://host", key_variable=SECRET)
    assert SECRET not in str(raised.value)


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(url="http://host", key_variable="MY_KEY")
    assert Credentials.of(endpoint).headers == {}
    monkeypatch.setenv("MY_KEY", SECRET)
    monkeypatch.setenv("ISOGLOSS_ENDPOINT_HEADERS", '{"Api-Key": "another-secret-1"}')
    credentials = Credentials.of(endpoint)
    assert credentials.headers == {"authorization": f"Bearer {SECRET}", "api-key": "another-secret-1"}
    assert SECRET not in repr(credentials)
    assert "another" not in repr(credentials)
    assert SECRET not in repr(endpoint)
    assert credentials.scrub(f"a {SECRET} b another-secret-1") == "a [key] b [key]"
    assert credentials.scrub_bytes(rb"sk-0123456789\/abcdef") == b"[key]"


def test_short_keys_are_placeholders_that_answers_may_contain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    credentials = Credentials.of(Endpoint(url="http://host"))
    assert credentials.headers == {"authorization": "Bearer none"}
    assert credentials.scrub_bytes(b"none of these") == b"none of these"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OPENAI_API_KEY", "sk-secret\x01value"),
        ("OPENAI_API_KEY", "sk-secret\nx-header: 1"),
        ("ISOGLOSS_ENDPOINT_HEADERS", "sk-secret"),
        ("ISOGLOSS_ENDPOINT_HEADERS", '{"a": 1, "b": "sk-secret"}'),
        ("ISOGLOSS_ENDPOINT_HEADERS", '{"a": "sk-secret\\r\\nb: c"}'),
        ("ISOGLOSS_ENDPOINT_HEADERS", '{"a b": "sk-secret"}'),
    ],
)
def test_invalid_credentials_are_not_quoted(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EndpointError) as raised:
        Credentials.of(Endpoint(url="http://host"))
    assert name in str(raised.value)
    assert "secret" not in str(raised.value)


def test_httpx_is_needed_for_https_and_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not needs_httpx("http://host:8000")
    assert needs_httpx("https://host")
    monkeypatch.setenv("http_proxy", "http://proxy:3128")
    assert needs_httpx("http://host:8000")
    assert not needs_httpx("http://localhost:8000")
    monkeypatch.setenv("no_proxy", "host")
    assert not needs_httpx("http://host:8000")


def test_a_missing_httpx_is_named_with_the_command_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(IsoglossError, match="httpx is not installed") as raised:
        open_connections("https://host", {})
    assert "[llm]" in str(raised.value)


def test_nothing_heavy_is_imported() -> None:
    code = "import isogloss.endpoints.courier, sys; print([m for m in ('httpx', 'numpy', 'ssl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "httpx" not in done.stdout
    assert "numpy" not in done.stdout
