"""Commands that are killed, interrupted or started twice lose no answer, and no answered request is sent again.

`pytest tests/endpoints/test_killed_sending.py --sender-kills 50` kills more often.
"""

import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from endpoints.hostile_server import HostileServer, answer_to, serving, text_of
from endpoints.sending import quick, requests, started
from isogloss.endpoints.send import send
from isogloss.endpoints.store import ResponseStore

pytestmark = pytest.mark.slow

COUNT = 400


def each_once(count: int) -> Counter[str]:
    return Counter(text_of(each.body) for each in requests(count))


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


def stored(folder: Path, count: int) -> dict[str, str]:
    """Return the texts of the answers to the first requests, when no courier is at work any more."""
    store = ResponseStore(folder)
    sent = {each.custom_id: text_of(each.body) for each in requests(count)}
    with store.lock():
        return {sent[each]: answer.reply.text for each, answer in store.find(sent).items()}


def assert_complete(server: HostileServer, folder: Path, count: int) -> None:
    assert server.asked == server.answered == each_once(count)
    assert stored(folder, count) == {content: answer_to(content) for content in each_once(count)}


def test_killed_commands_lose_and_repeat_nothing(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    kills = request.config.getoption("--sender-kills")
    rng = random.Random(7)
    count = COUNT + 20 * kills
    with serving() as server:
        server.delay = 0.01
        for _ in range(kills):
            process = started(server.url, tmp_path, count)
            # A moment between the start and some answers.
            target = server.asked.total() + rng.choice([0, 1, rng.randrange(1, 20)])
            server.wait_for_requests(target, alive=lambda process=process: process.poll() is None)  # type: ignore[misc]
            process.kill()
            process.communicate()
        assert server.asked.total() < count
        code, output, errors = ended(started(server.url, tmp_path, count))
        assert (code, errors) == (0, "")
        assert sum(map(int, output.split())) == count
        assert_complete(server, tmp_path, count)


def test_answers_that_come_after_the_kill_are_stored(tmp_path: Path) -> None:
    with serving() as server:
        server.hold()
        process = started(server.url, tmp_path, 100)
        server.wait_for_requests(8)
        process.kill()
        process.communicate()
        server.release()
        # A courier on a busy machine may send a few more before it sees the end of the command.
        kept = len(stored(tmp_path, 100))
        assert kept == server.asked.total() >= 8
        assert ended(started(server.url, tmp_path, 100))[1].split() == [str(100 - kept), str(kept), "0"]
        assert_complete(server, tmp_path, 100)


def test_two_commands_at_once_send_each_request_once(tmp_path: Path) -> None:
    with serving() as server:
        processes = [started(server.url, tmp_path, COUNT) for _ in range(3)]
        counts = [list(map(int, ended(each)[1].split())) for each in processes]
        assert sum(answered for answered, _, _ in counts) == COUNT
        assert all(answered + already == COUNT and not left for answered, already, left in counts)
        assert_complete(server, tmp_path, COUNT)


def test_a_waiting_command_says_so(tmp_path: Path) -> None:
    with serving() as server:
        server.hold()
        process = started(server.url, tmp_path, 8)
        server.wait_for_requests(8)
        waited: list[bool] = []

        def on_waiting() -> None:
            waited.append(True)
            server.release()

        outcome = send(requests(8), ResponseStore(tmp_path), quick(server.url), on_waiting=on_waiting)
        assert waited == [True]
        assert (outcome.answered, outcome.already) == (0, 8)
        assert ended(process)[0] == 0


def interrupted(process: "subprocess.Popen[str]") -> None:
    """Interrupt a command, and wait until it says what it waits for."""
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    line = ""
    while "press Ctrl-C again" not in line:
        line = process.stderr.readline()
        assert line, "no message"
    assert line == "Waiting for 8 answers in flight; press Ctrl-C again to quit\n"


def test_ctrl_c_waits_for_the_answers_in_flight(tmp_path: Path) -> None:
    with serving() as server:
        server.hold()
        process = started(server.url, tmp_path, 100)
        server.wait_for_requests(8)
        interrupted(process)
        server.release()
        assert ended(process)[0] == 130
        assert server.asked.total() == len(ResponseStore(tmp_path)) == 8


def test_a_second_ctrl_c_leaves_at_once_and_still_loses_nothing(tmp_path: Path) -> None:
    with serving() as server:
        server.hold()
        process = started(server.url, tmp_path, 100)
        server.wait_for_requests(8)
        interrupted(process)
        process.send_signal(signal.SIGINT)
        assert ended(process)[0] == 130  # before the server answers
        server.release()
        assert len(stored(tmp_path, 100)) == server.asked.total() == 8


def test_the_courier_is_out_of_reach_of_the_terminal(tmp_path: Path) -> None:
    with serving() as server:
        server.hold()
        process = started(server.url, tmp_path, 8)
        server.wait_for_requests(8)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            pytest.skip("needs /proc")
        (courier,) = map(int, children.read_text().split())
        assert os.getsid(courier) == courier != os.getsid(process.pid)
        server.release()
        assert ended(process)[0] == 0
