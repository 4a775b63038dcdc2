"""Contamination probes: false alarms, power, and a server that has memorised one task."""

import hashlib
import json
import random
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from e2e.command import isogloss
from isogloss.endpoints.replies import ModelReply
from isogloss.errors import IsoglossError
from isogloss.prompts.halves import DrawnHalves, drawn_halves, example_halves
from isogloss.results.contamination import ContaminationFinding, ContaminationRecord, Verdict
from isogloss.systems.llm.contamination import contamination, finding_of, probed_model, verdict_of
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
WORDS = [f"{one}{two}" for one in SYLLABLES[::3] for two in SYLLABLES[::4]]


def sentence(rng: random.Random, length: int) -> str:
    """Words of unequal frequency, so that continuations share some of them by chance."""
    return " ".join(WORDS[int(len(WORDS) * rng.random() ** 3)] for _ in range(length))


def simulated(rng: random.Random, count: int = 100, per_cluster: int = 1) -> DrawnHalves:
    texts = [sentence(rng, rng.randrange(12, 30)) for _ in range(count)]
    examples = Examples(
        "xnli",
        "en",
        "test",
        [f"test-{row}" for row in range(count)],
        {"text_a": texts, "text_b": [""] * count},
        "label",
        clusters=[str(row // per_cluster) for row in range(count)],
    )
    return drawn_halves(task("xnli"), examples, count, 0)


def said(texts: list[str]) -> list[ModelReply]:
    return [ModelReply(text=text) for text in texts]


@pytest.mark.parametrize(("count", "per_cluster"), [(100, 1), (240, 3)])
def test_no_sign_without_memory(count: int, per_cluster: int) -> None:
    """Texts of the same language without memory: intervals hold their level, and hardly any draw is undecided.

    Examples of a cluster are continued alike, as those with the same premise are.
    """
    findings = []
    for number in range(200):
        rng = random.Random(f"null {per_cluster} {number}")
        drawn = simulated(rng, count, per_cluster)
        texts = {name: sentence(rng, 20) for name in drawn.examples.clusters or []}
        findings.append(finding_of(drawn, said([texts[name] for name in drawn.examples.clusters or []])))
    assert min(finding.control for finding in findings) > 0  # the texts do share n-grams
    assert sum(finding.verdict == "no sign" for finding in findings) >= 190
    assert not any(finding.verdict == "memorised" for finding in findings)
    intervals = [(finding.low or 0, finding.high or 0) for finding in findings if finding.low is not None]
    assert sum(low <= 0 <= high for low, high in intervals) >= 190


def test_memory_of_a_part_is_found() -> None:
    for number in range(20):
        rng = random.Random(f"part {number}")
        drawn = simulated(rng)
        known = set(rng.sample(range(len(drawn.halves)), 30))
        texts = [half.rest if row in known else sentence(rng, 20) for row, half in enumerate(drawn.halves)]
        finding = finding_of(drawn, said(texts))
        assert (finding.verdict, finding.exact, finding.exact_control) == ("memorised", 30, 0)
        assert 0.25 < finding.difference < 0.36


def test_values_by_hand() -> None:
    """Two examples: one recited after its beginning again, one continued with the other's rest."""
    texts = ["aaaaaaaaaaaaaaaaaaaa bcdefghijklmnopqrstu", "cccccccccccccccccccc 0123456789abcdefghij"]
    columns = {"text_a": texts, "text_b": ["", ""]}
    examples = Examples("xnli", "en", "test", ["x", "y"], columns, "label")
    drawn = drawn_halves(task("xnli"), examples, 2, 0)
    rests = {half.beginning[0]: half.rest for half in drawn.halves}
    replies = {"a": f"{'A' * 20} {rests['a']}", "c": f"{rests['a']} and more"}
    finding = finding_of(drawn, said([replies[half.beginning[0]] for half in drawn.halves]))
    # The rests share the 5-grams bcdef … fghij: 5 of 16, which the control of the first and the second's own match.
    assert finding.overlap == pytest.approx((1 + 5 / 16) / 2)
    assert finding.control == pytest.approx((5 / 16 + 1) / 2)
    assert (finding.n, finding.exact, finding.exact_control, finding.difference) == (2, 1, 1, pytest.approx(0))
    assert (finding.low, finding.high, finding.verdict) == (None, None, "undecided")


def test_withheld_continuations_are_counted_and_left_out() -> None:
    drawn = simulated(random.Random(0), 40)
    replies = [ModelReply(text=half.rest, filtered=row < 3) for row, half in enumerate(drawn.halves)]
    replies[3] = ModelReply(text=" ")
    finding = finding_of(drawn, replies)
    assert (finding.n, finding.withheld, finding.exact) == (36, 4, 36)
    assert finding_of(drawn, said([half.beginning for half in drawn.halves])).n == 40  # an echo is a continuation
    nothing = finding_of(drawn, said([""] * 40))
    assert (nothing.n, nothing.withheld, nothing.verdict) == (0, 40, "undecided")


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        ((0.051, 0.2), "memorised"),
        ((0.05, 0.2), "undecided"),
        ((-0.02, 0.051), "undecided"),
        ((-0.02, 0.05), "no sign"),
        ((-0.4, -0.1), "no sign"),
        (None, "undecided"),
    ],
)
def test_verdicts(interval: tuple[float, float] | None, verdict: Verdict) -> None:
    assert verdict_of(interval) == verdict


class MemoryServer(ThreadingHTTPServer):
    """An OpenAI-compatible server that knows the rests of some texts, and babbles otherwise."""

    daemon_threads = True

    def __init__(self, known: dict[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.known = known
        self.requests: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: MemoryServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        base = "prompt" in body
        text = body["prompt"] if base else body["messages"][0]["content"]
        self.server.requests.append(text)
        rng = random.Random(hashlib.sha256(text.encode()).digest())
        reply = self.server.known.get(text if base else text.partition("\n\n")[2]) or sentence(rng, 12)
        choice = {"index": 0, "finish_reason": "stop", **({"text": reply} if base else {"message": {"content": reply}})}
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        content = json.dumps({"choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def server(mini_data: Path) -> Iterator[MemoryServer]:
    halves = example_halves(task("mini-xcopa"), load("mini-xcopa", "sw"))
    memory = MemoryServer({half.shown: half.rest for half in halves})
    thread = threading.Thread(target=memory.serve_forever, daemon=True)
    thread.start()
    yield memory
    memory.shutdown()
    memory.server_close()
    thread.join()


def test_a_server_that_memorised_one_task(
    server: MemoryServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    settings, record_file = tmp_path / "settings.toml", tmp_path / "contamination.json"
    (tmp_path / "prices.toml").write_text(
        'date = 2026-01-01\ncurrency = "USD"\n[models."parrot"]\ninput = 1.0\noutput = 2.0\n', encoding="utf-8"
    )
    settings.write_text(f'store = "{tmp_path / "store"}"\nprices = "{tmp_path / "prices.toml"}"\n', encoding="utf-8")
    words = ("llm", "contamination", "llm:parrot", "--suite", "mini", "--tasks", "mini-xcopa,mini-mewslix")
    chosen = ("--languages", "sw,ta", "--examples", 60, "--config", settings, "--out", record_file)
    done = isogloss(*words, *chosen, "--endpoint", f"http://127.0.0.1:{server.server_port}")
    assert done.code == 0, done.err
    record = ContaminationRecord.read(record_file)
    by_cell = {(finding.task, finding.language): finding for finding in record.findings}
    knows, other = by_cell["mini-xcopa", "sw"], by_cell["mini-xcopa", "ta"]
    assert (knows.verdict, knows.exact, knows.exact_control) == ("memorised", knows.n, 0)
    assert (other.verdict, other.exact) == ("no sign", 0)
    assert by_cell["mini-mewslix", "ta"].exact == 0
    assert knows.usage is not None
    assert (knows.usage.input, knows.usage.output) == (10 * 60, 5 * 60)
    assert knows.usage.cost == pytest.approx(60 * (10 * 1e-6 + 5 * 2e-6))
    assert record.settings["examples"] == 60
    assert "memorised" in done.out
    assert "n-grams of its beginning do not count" in done.out
    count = len(server.requests)
    again = isogloss(*words, *chosen, "--endpoint", f"http://127.0.0.1:{server.server_port}")
    assert (again.code, again.out) == (0, done.out)
    assert len(server.requests) == count  # nothing is requested twice
    assert not list((tmp_path / "store").rglob("capabilities*"))


def test_base_models_get_the_beginning_alone(server: MemoryServer, tmp_path: Path) -> None:
    endpoint = f"http://127.0.0.1:{server.server_port}"
    model = probed_model("llm:base#api=completions", endpoint=endpoint, store=str(tmp_path), quiet=True)
    finding = contamination(model, task("mini-xcopa"), load("mini-xcopa", "sw"), count=25, seed=3)
    assert (finding.n, finding.exact, finding.verdict) == (25, 25, "memorised")
    assert set(server.requests) <= set(server.known)
    with pytest.raises(IsoglossError, match="not a language model"):
        probed_model("ngram")


def test_records_are_checked(tmp_path: Path) -> None:
    rng = random.Random(1)
    drawn = simulated(rng, 30)
    finding = finding_of(drawn, said([half.rest for half in drawn.halves]))
    path = tmp_path / "contamination.json"

    def write(**changes: object) -> None:
        changed: ContaminationFinding = msgspec.structs.replace(finding, **changes)
        path.write_bytes(msgspec.json.encode(ContaminationRecord(model="m", settings={}, findings=[changed])))

    write()
    assert ContaminationRecord.read(path).findings == [finding]
    for wrong in ({"overlap": 1.5}, {"n": -1}, {"verdict": "guilty"}, {"task": "x" * 10_000}):
        write(**wrong)
        with pytest.raises(IsoglossError):
            ContaminationRecord.read(path)
    path.write_bytes(path.read_bytes().replace(b'"schema_version":1', b'"schema_version":9'))
    with pytest.raises(IsoglossError):
        ContaminationRecord.read(path)
