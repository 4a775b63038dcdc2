"""Sending: all requests end with an answer or a reason, whatever the server does."""

import os
import shutil
import ssl
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from endpoints.hostile_server import PASSING, answer_to, seeded, serving, text_of
from endpoints.sending import quick, requests
from isogloss.endpoints.budget import Budget
from isogloss.endpoints.courier import NO_BUDGET
from isogloss.endpoints.errors import EndpointError, RequestError
from isogloss.endpoints.prices import ModelPrice, Prices
from isogloss.endpoints.requests import ApiRequest
from isogloss.endpoints.send import SendProgress, send
from isogloss.endpoints.store import ResponseStore
from isogloss.errors import IsoglossError

KEY = "sk-test/0123456789-abcdef"
PRICES = Prices("2026-11-01", "USD", {"small": ModelPrice(input=1e6, output=1e6)})  # 1 per token


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def store(tmp_path: Path) -> ResponseStore:
    return ResponseStore(tmp_path / "store")


def texts(store: ResponseStore, sent: list[ApiRequest]) -> list[str | None]:
    answers = store.find(each.custom_id for each in sent)
    return [answers[each.custom_id].reply.text if each.custom_id in answers else None for each in sent]


def expected(sent: list[ApiRequest]) -> list[str]:
    return [answer_to(text_of(each.body)) for each in sent]


@pytest.mark.parametrize("seed", range(3))
def test_every_request_is_answered_despite_faults(store: ResponseStore, seed: int) -> None:
    sent = requests(150)
    with serving(seeded(seed, 0.5)) as server:
        outcome = send(sent, store, quick(server.url, timeout=0.5, max_failures=10_000))
    assert (outcome.answered, outcome.already, outcome.open, outcome.stopped) == (150, 0, {}, "")
    assert not outcome.open
    assert texts(store, sent) == expected(sent)
    assert set(server.answered) == {text_of(each.body) for each in sent}
    assert server.keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize("fault", PASSING)
def test_each_fault_is_overcome(store: ResponseStore, fault: str) -> None:
    sent = requests(12)
    with serving(lambda content, attempt: fault if attempt == 0 else "") as server:
        timeout = 0.5 if fault == "stall" else 30.0
        outcome = send(sent, store, quick(server.url, timeout=timeout, max_failures=10_000))
    assert (outcome.answered, outcome.open) == (12, {})
    assert texts(store, sent) == expected(sent)
    # With a short time-out, a busy machine may need a third attempt.
    assert set(server.asked.values()) == {2} or (fault == "stall" and min(server.asked.values()) == 2)


@pytest.mark.parametrize("fault", ["500", "cut", "invalid", "shape", "reset", "rejected"])
def test_what_never_succeeds_remains_open_with_a_reason(store: ResponseStore, fault: str) -> None:
    sent = requests(6)
    bad = {text_of(each.body) for each in sent[:2]}
    with serving(lambda content, attempt: fault if content in bad else "") as server:
        outcome = send(sent, store, quick(server.url, max_attempts=3))
    assert set(outcome.open) == {each.custom_id for each in sent[:2]}
    assert all(outcome.open.values())
    assert outcome.answered == 4
    assert not outcome.stopped
    assert {server.asked[content] for content in bad} == ({1} if fault == "rejected" else {3})
    assert store.has(each.custom_id for each in sent) == {each.custom_id for each in sent[2:]}


def test_a_second_call_sends_nothing_that_is_stored(store: ResponseStore) -> None:
    sent = requests(20)
    with serving() as server:
        send(sent[:12], store, quick(server.url))
        outcome = send([*sent, *sent], ResponseStore(store.folder), quick(server.url))
    assert (outcome.answered, outcome.already) == (8, 12)
    assert server.asked == dict.fromkeys((text_of(each.body) for each in sent), 1)


def test_stored_answers_need_no_server(store: ResponseStore) -> None:
    sent = requests(3)
    with serving() as server:
        send(sent, store, quick(server.url))
    outcome = send(sent, store, quick("http://127.0.0.1:1"))
    assert (outcome.answered, outcome.already, outcome.open) == (0, 3, {})


@pytest.mark.parametrize("fault", ["not-a-number", "damaged"])
def test_answers_in_damaged_json_are_repaired_not_paid_for_again(store: ResponseStore, fault: str) -> None:
    with serving(lambda content, attempt: fault) as server:
        outcome = send(requests(5), store, quick(server.url))
    assert (outcome.answered, outcome.open) == (5, {})
    assert set(server.asked.values()) == {1}
    found = ResponseStore(store.folder).find([each.custom_id for each in requests(5)])
    assert [each.reply.text for each in found.values()] == [answer_to(f"question {number}") for number in range(5)]


def test_usage_and_cost_are_those_that_the_server_states(store: ResponseStore) -> None:
    sent = requests(10)
    prices = Prices("2026-11-01", "USD", {"sm*": ModelPrice(input=2.0, output=5.0)})
    with serving(lambda content, attempt: "no-usage" if content == "question 3" else "") as server:
        outcome = send(sent, store, quick(server.url), prices=prices)
    # 9 texts of 10 characters; 2 tokens each in return.
    assert (outcome.usage.input, outcome.usage.output, outcome.counted, outcome.answered) == (90, 18, 9, 10)
    assert outcome.usage.cost == pytest.approx((90 * 2 + 18 * 5) / 1e6)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("401", "OPENAI_API_KEY"),
        ("404", "small, other"),
        ("parameter", "logprobs"),
        ("quota", "quota"),
        ("redirect", "redirects"),
    ],
)
def test_an_error_of_every_request_is_raised_at_once(store: ResponseStore, fault: str, words: str) -> None:
    with serving(lambda content, attempt: fault) as server, pytest.raises(EndpointError) as raised:
        send(requests(500), store, quick(server.url))
    assert words in str(raised.value)
    assert KEY not in str(raised.value)
    assert server.asked.total() <= 8  # those in flight
    assert len(store) == 0


def test_answers_before_an_error_are_kept(store: ResponseStore) -> None:
    sent = requests(40)
    with serving(lambda content, attempt: "404" if content == "question 39" else "") as server:
        with pytest.raises(EndpointError):
            send(sent, store, quick(server.url, concurrency=1))
        assert len(store) == 39


def test_a_content_filter_is_a_final_answer(store: ResponseStore) -> None:
    sent = requests(4)
    with serving(lambda content, attempt: "filter" if content == "question 1" else "") as server:
        outcome = send(sent, store, quick(server.url))
        again = send(sent, store, quick(server.url))
    assert (outcome.answered, again.already, server.asked["question 1"]) == (4, 4, 1)
    response = store.find([sent[1].custom_id])[sent[1].custom_id]
    assert response.status_code == 400
    assert response.reply.filtered
    assert not store.find([sent[0].custom_id])[sent[0].custom_id].reply.filtered


def test_a_request_that_is_too_long_stays_open_and_stops_nothing(store: ResponseStore) -> None:
    sent = requests(80)
    with serving(lambda content, attempt: "overflow" if content != "question 79" else "") as server:
        outcome = send(sent, store, quick(server.url, max_failures=1, concurrency=1))
    assert outcome.answered == 1
    assert len(outcome.open) == 79
    assert "context" in next(iter(outcome.open.values()))
    assert not outcome.stopped


def test_sending_stops_when_nothing_succeeds(store: ResponseStore) -> None:
    sent = requests(5_000)
    with serving(lambda content, attempt: "500") as server:
        outcome = send(sent, store, quick(server.url, max_failures=20))
    assert "status 500" in outcome.stopped
    assert set(outcome.open) == {each.custom_id for each in sent}
    assert server.asked.total() <= 6 * 8 + 8  # six rounds, and those in flight


def test_a_long_wait_stops_sending(store: ResponseStore) -> None:
    with serving(lambda content, attempt: "429-long") as server:
        outcome = send(requests(100), store, quick(server.url))
    assert "86,400 s" in outcome.stopped
    assert len(outcome.open) == 100


def test_a_server_that_is_not_there(store: ResponseStore) -> None:
    outcome = send(requests(50), store, quick("http://127.0.0.1:1", max_failures=5))
    assert outcome.answered == 0
    assert len(outcome.open) == 50
    assert "onnect" in outcome.stopped


def test_requests_at_a_time_stay_within_the_limit(store: ResponseStore) -> None:
    with serving() as server:
        send(requests(300), store, quick(server.url, concurrency=5))
    assert server.most_at_once <= 5


def test_a_budget_stops_sending(store: ResponseStore) -> None:
    # A request costs 11 + 2; its estimate is 8 tokens and the 20 that it allows in return.
    sent, budget = requests(50, start=10, max_tokens=20), Budget(95)
    with serving() as server:
        outcome = send(sent, store, quick(server.url), prices=PRICES, budget=budget)
        assert outcome.stopped == NO_BUDGET
        assert outcome.usage.cost == budget.spent == server.asked.total() * 13
        assert 95 - 28 < budget.spent <= 95
        assert len(outcome.open) == 50 - outcome.answered
        before = server.asked.total()
        again = send(sent, store, quick(server.url), prices=PRICES, budget=budget)
    assert (again.answered, again.already, server.asked.total()) == (0, before, before)


def test_a_ledger_shares_the_budget(tmp_path: Path) -> None:
    ledger = tmp_path / "spending"
    outcomes = []
    with serving() as server:
        for number in range(1, 4):  # requests of 12 characters: 14 each
            store, sent = ResponseStore(tmp_path / str(number)), requests(4, start=100 * number, max_tokens=20)
            outcomes.append(send(sent, store, quick(server.url), prices=PRICES, budget=Budget(120, ledger)))
    assert [each.answered for each in outcomes] == [4, 3, 0]  # 7 x 14 = 98, and 28 more would be too much
    assert sum(map(float, ledger.read_text().split())) == 98 == server.asked.total() * 14


def test_a_budget_needs_prices_of_the_model(store: ResponseStore) -> None:
    with pytest.raises(RequestError, match="needs prices"):
        send(requests(1), store, quick("http://127.0.0.1:1"), budget=Budget(1))
    other = Prices("2026-11-01", "USD", {"large": ModelPrice(input=1, output=1)})
    with serving() as server, pytest.raises(RequestError, match="'small' has no price"):
        send(requests(3), store, quick(server.url), prices=other, budget=Budget(1))
    assert not server.asked


def test_progress_ends_at_the_totals(store: ResponseStore) -> None:
    shown: list[SendProgress] = []
    sent = requests(30, start=10)
    with serving() as server:
        send(sent[:10], store, quick(server.url))
        send(sent, store, quick(server.url), prices=PRICES, on_progress=shown.append)
    last = shown[-1]
    assert (last.answers, last.already, last.total, last.open, last.in_flight) == (30, 10, 30, 0, 0)
    assert last.usage.cost == 20 * 13


def test_the_key_is_nowhere(store: ResponseStore, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def script(content: str, attempt: int) -> str:
        return "401" if content == "question 19" else ""

    with serving(script) as server:
        with pytest.raises(EndpointError) as raised:
            send(requests(20), store, quick(server.url, concurrency=1))
        assert server.keys == {f"Bearer {KEY}"}
    said = "".join(capfd.readouterr()) + str(raised.value) + repr(raised.value)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    for secret in (KEY, KEY.replace("/", "\\/"), KEY[5:]):
        assert secret not in said
        assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_an_answer_that_quotes_the_key_is_stored_without_it(store: ResponseStore) -> None:
    sent = requests(2)
    with serving() as server:
        server.says = f"your key is {KEY}"
        send(sent, store, quick(server.url))
    assert texts(store, sent) == ["your key is [key]"] * 2


def test_memory_does_not_grow_with_the_number_of_requests(store: ResponseStore) -> None:
    filler = "x" * 10_000

    def many(count: int) -> Iterator[ApiRequest]:
        for number in range(count):
            yield from requests(1, start=number, stop=[filler])

    def peak(count: int) -> int:
        tracemalloc.start()
        try:
            with serving() as server:
                server.keeps_bodies = False
                send(many(count), ResponseStore(store.folder / str(count)), quick(server.url, concurrency=8))
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # 3,000 bodies of 10 kB would be 30 MB; ids take less than 200 bytes each.
    assert peak(3_000) - peak(600) < 4_000_000


def test_an_error_of_the_source_is_raised_and_answers_are_kept(store: ResponseStore) -> None:
    def broken() -> Iterator[ApiRequest]:
        yield from requests(5)
        raise IsoglossError("no more examples")

    with serving() as server, pytest.raises(IsoglossError, match="no more examples"):
        send(broken(), store, quick(server.url))
    with store.lock():
        assert len(store) == server.answered.total()


def test_a_store_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with serving() as server, pytest.raises(IsoglossError, match="cannot be"):
        send(requests(2), ResponseStore(tmp_path / "file" / "store"), quick(server.url))
    assert not server.asked


def test_a_courier_that_dies_is_reported(store: ResponseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "nonsense")  # Python does not start
    with pytest.raises(IsoglossError, match="ended unexpectedly"):
        send(requests(2), store, quick("http://127.0.0.1:1"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_certificates_are_checked(store: ResponseStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, private = tmp_path / "certificate.pem", tmp_path / "private.pem"
    words = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1"
    command = [*words.split(), "-keyout", str(private), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, private)
    sent = requests(20)
    with serving(secured=context) as server:
        outcome = send(sent, store, quick(server.url, first_wait=60.0))
        assert outcome.answered == 0
        assert "certificate is not valid" in outcome.stopped
        assert not server.asked
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert send(sent, store, quick(server.url)).answered == 20
    assert texts(store, sent) == expected(sent)


def test_settings_of_requests_reach_the_server(store: ResponseStore) -> None:
    body: dict[str, Any] = requests(1, temperature=0.5, user="me")[0].body
    with serving() as server:
        send(requests(1, temperature=0.5, user="me"), store, quick(server.url))
    assert server.bodies == [body]
    assert os.environ["OPENAI_API_KEY"] == KEY
