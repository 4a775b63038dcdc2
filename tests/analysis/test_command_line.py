"""The command of a finding, independent of the machine."""

import pytest

import isogloss
from isogloss.analysis.api import command_line
from report.made_records import results


def test_sources_options_and_settings() -> None:
    command = command_line(
        "analyze x", ["a b", "c"], {"tasks": ["xnli", "xquad"], "languages": None}, {"n": 3, "on": True}
    )
    assert command == "isogloss analyze x 'a b' c --tasks xnli,xquad --set n=3 --set on=true"


@pytest.mark.parametrize(
    ("settings", "flags"),
    [
        ({"allow_partial": True, "strict": False}, " --allow-partial"),
        ({"allow_partial": False, "strict": True}, " --strict"),
        ({}, ""),
    ],
)
def test_flags_are_flags(settings: dict[str, bool], flags: str) -> None:
    assert command_line("analyze x", [], {}, settings) == f"isogloss analyze x{flags}"


def test_the_data_folder_of_the_environment_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "/somewhere/data")
    assert command_line("analyze x", [], {"data": "/somewhere/data"}) == "isogloss analyze x"
    assert command_line("analyze x", [], {"data": "mine"}) == "isogloss analyze x --data mine"


def test_results_in_memory_are_named_by_their_system() -> None:
    finding = isogloss.analyze("families", results("mine"), tasks=["xnli"])
    assert finding.command == "isogloss analyze families '<results of mine>' --tasks xnli"
