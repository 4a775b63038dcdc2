"""The progress bar of sending."""

import io
import sys

import pytest

from isogloss.endpoints.send import SendProgress
from isogloss.reply_outcomes import Usage
from isogloss.systems.llm.progress import SendingBar, state_text

HALF = SendProgress(
    answers=5,
    already=2,
    total=10,
    rate=1.25,
    in_flight=3,
    concurrency=8,
    usage=Usage(input=1200, output=34, cost=0.5),
    retries=1,
    open=0,
)


class Terminal(io.StringIO):
    """Standard error of a terminal."""

    def isatty(self) -> bool:
        return True


def test_rate_tokens_cost_and_retries_are_shown() -> None:
    assert state_text(HALF) == "1.2/s, 1,234 tokens, $0.50, 1 retry"


def test_a_title_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", "200")
    with SendingBar("[/b] runs\x1b[31m") as bar:
        bar.wait()
        bar.show(HALF)
    shown = terminal.getvalue()
    assert "[/b] runs\N{REPLACEMENT CHARACTER}[31m: waiting for another process" in shown
    assert "\x1b[31m" not in shown
    assert "5/10" in shown
    assert "1,234 tokens" in shown


@pytest.mark.parametrize("quiet", [True, False])
def test_nothing_is_shown_elsewhere(capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    with SendingBar("runs", quiet=quiet) as bar:
        bar.wait()
        bar.show(HALF)
    assert capsys.readouterr() == ("", "")
