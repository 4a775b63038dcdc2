"""The command of a finding: what was typed, and nothing of the machine."""

import pytest

import isogloss
from isogloss.analysis.command_line import command_line
from report.made_records import results


def test_sources_options_and_settings_as_they_were_given() -> None:
    found = command_line(
        "analyze x", ["a b", "c"], {"tasks": ["xnli", "xquad"], "languages": None}, {"n": 3, "on": True}
    )
    assert found == "isogloss analyze x 'a b' c --tasks xnli,xquad --set n=3 --set on=true"


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


def test_the_data_folder_of_the_environment_is_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", "/somewhere/data")
    assert command_line("analyze x", [], {"data": "/somewhere/data"}) == "isogloss analyze x"
    assert command_line("analyze x", [], {"data": "mine"}) == "isogloss analyze x --data mine"


def test_results_in_memory_go_by_the_name_of_their_system() -> None:
    found = isogloss.analyze("families", results("mine"), tasks=["xnli"])
    assert found.asked == "isogloss analyze families '<results of mine>' --tasks xnli"
