"""Grids of language models on hostile servers, killed, interrupted and shared: no answer is lost or paid for twice.

`pytest tests/runs/test_llm_grid_faults.py --kills 50` kills more often.
"""

import random
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.command import isogloss
from endpoints.hostile_server import ODD, PASSING, seeded
from isogloss import load
from isogloss.endpoints.endpoint import Endpoint
from isogloss.reply_outcomes import Outcome
from runs.grid_fake import leftovers, mini_cache, mini_data
from runs.llm_grid import LlmGrid, short_waits
from systems.llm.model_server import ModelServer, model_server, right_answers

__all__ = ["mini_cache", "mini_data"]

# Stalls take as long as the timeout: tests of sending cover them.
FAULTS = tuple(each for each in PASSING + ODD if each != "stall")


@pytest.fixture
def grid(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LlmGrid:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(Endpoint, "of", short_waits)
    return LlmGrid(tmp_path)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=300)
    return process.returncode, output, errors


def assert_complete(grid: LlmGrid, server: ModelServer) -> None:
    """Assert that all scores are right, and that every request was sent and answered once."""
    assert grid.scores == grid.perfect
    assert server.answered == grid.once
    assert server.asked == grid.once
    assert leftovers(grid.folder / "runs") == []


@pytest.mark.parametrize("seed", [1, 2])
def test_a_grid_on_a_hostile_server_ends_with_the_right_scores(grid: LlmGrid, seed: int) -> None:
    examples = load("mini-xnli", "sw")
    withheld = set(list(right_answers(examples, wording="question"))[:6])
    faults = seeded(seed, 0.4, FAULTS)

    def script(content: str, attempt: int) -> str:
        return "filter" if content in withheld else faults(content, attempt)

    with model_server(grid.answers, script=script) as server:
        done = isogloss(*grid.words(server.url, concurrency=16))
    assert done.code == 0, done.err
    # A content filter's refusal is final, and counts as wrong.
    share = 100 * (len(examples) - 6) / len(examples)
    expected = grid.perfect | {("question", "mini-xnli", "sw"): pytest.approx(share)}
    assert grid.scores == expected
    answered = {content: count for content, count in server.answered.items() if content not in withheld}
    assert answered == dict.fromkeys(grid.answers.keys() - withheld, 1)
    lines = (grid.folder / "runs/llm-small/none/prompt-question/seed-0/mini-xnli/sw.jsonl").read_text()
    assert lines.count(f'"outcome":"{Outcome.FILTERED.value}"') == 6


def test_what_stays_open_is_listed_and_only_that_is_sent_again(grid: LlmGrid) -> None:
    too_long = set(list(right_answers(load("mini-xquad", "de"), wording="careful"))[:5])
    is_broken = True

    def script(content: str, attempt: int) -> str:
        return "overflow" if is_broken and content in too_long else ""

    with model_server(grid.answers, script=script) as server:
        done = isogloss(*grid.words(server.url))
        assert done.code == 1
        assert "5 of 60 requests have no answer yet: 5 × longer than the model's context" in done.out
        assert "3 cells done, 1 failed" in done.out
        assert grid.scores == {key: 100.0 for key in grid.perfect if key != ("careful", "mini-xquad", "de")}
        is_broken = False
        assert isogloss(*grid.words(server.url)).code == 0
        assert grid.scores == grid.perfect
        assert server.answered == grid.once
        assert server.asked.total() == len(grid.answers) + 5


def test_jobs_share_the_requests(grid: LlmGrid) -> None:
    with model_server(grid.answers) as server:
        code, _, errors = ended(grid.start(server.url, "--jobs", 2))
        assert code == 0, errors
        assert_complete(grid, server)


@pytest.mark.slow
def test_killed_commands_lose_and_repeat_nothing(grid: LlmGrid, request: pytest.FixtureRequest) -> None:
    kills = request.config.getoption("--kills")
    every = ("de", "sw", "tr", "fi", "ru", "ar", "ja", "hi", "vi", "es", "zh", "th")
    grid = LlmGrid(grid.folder, every[: 2 + kills // 5])
    rng = random.Random(11)
    answers = grid.answers
    with model_server(answers) as server:
        server.delay = 0.02
        for _ in range(kills):
            process = grid.start(server.url, "--jobs", rng.choice([1, 2]))
            asked = server.asked.total()
            # A moment between the start and some answers, or about the end of a cell.
            target = rng.choice([asked, asked + 1, asked + rng.randrange(1, 20), (asked // 60 + 1) * 60])
            server.wait_for_requests(target, alive=lambda process=process: process.poll() is None)  # type: ignore[misc]
            process.kill()
            process.communicate()
        assert server.asked.total() < len(answers), "a command ended before it was killed"
        code, _, errors = ended(grid.start(server.url))
        assert code == 0, errors
        assert_complete(grid, server)


@pytest.mark.slow
def test_two_commands_at_once_send_every_request_once(grid: LlmGrid) -> None:
    with model_server(grid.answers) as server:
        server.hold()
        both = [grid.start(server.url) for _ in range(2)]
        server.wait_for_requests(8, alive=lambda: all(each.poll() is None for each in both))  # four of each
        server.release()
        for each in both:
            code, _, errors = ended(each)
            assert code == 0, errors
        assert_complete(grid, server)


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "said"), [(1, "Waiting for 4 answers in flight"), (2, "Stopping")])
def test_an_interrupted_command_is_resumed(grid: LlmGrid, jobs: int, said: str) -> None:
    with model_server(grid.answers) as server:
        server.hold()
        process = grid.start(server.url, "--jobs", jobs)
        server.wait_for_requests(4 * jobs, alive=lambda: process.poll() is None)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert f"{said}; press Ctrl-C again to quit\n" in iter(process.stderr.readline, "")
        server.release()
        code, output, errors = ended(process)
        assert code == 130, errors
        assert "interrupted: " in output
        assert "Run the same command to resume." in output
        assert "Traceback" not in errors
        assert 0 < server.answered.total() < len(grid.answers)
        assert ended(grid.start(server.url))[0] == 0
        assert_complete(grid, server)
