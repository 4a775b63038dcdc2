"""Every registered analysis refuses insufficient, constant or invalid input, or returns a sound finding."""

from pathlib import Path
from typing import get_args

import pytest

from analysis.bad_input import CASES, attempt
from isogloss.analysis.registry import ANALYSES, Takes

# Valid and invalid values of options by type.
ODD = {
    int: (-1, 0, 1, 10**12, "x", "1.5"),
    float: (-1.0, 0.5, 1.0, 2.0, float("nan"), float("inf"), "nan", "x"),
    str: ("", "nonsense", "en", "sw", "family", "{empty}", "{nan}", "{constant}", "{missing}"),
}
FILES = {
    "empty": "",
    "nan": "language,speakers,noise\nen,nan,nan\nde,nan,nan\nsw,1,2\n",
    "constant": "language,speakers,noise\n" + "".join(f"{c},5,5\n" for c in ("en", "de", "sw", "th", "zh", "ur", "fr")),
}


@pytest.fixture(autouse=True)
def no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()


def common(takes: str, tmp_path: Path) -> dict[str, object]:
    return {"suite": "mini"} if takes == "predictions" else {"data": tmp_path / "data"}


def test_every_kind_of_input_has_cases() -> None:
    assert set(CASES) == set(get_args(Takes))


@pytest.mark.parametrize(
    ("name", "case"), [(name, case) for name, entry in ANALYSES.items() for case in CASES[entry.takes]]
)
def test_it_is_refused_or_sound(name: str, case: str, tmp_path: Path) -> None:
    takes = ANALYSES[name].takes
    finding = attempt(name, CASES[takes][case](tmp_path / "data"), **common(takes, tmp_path))
    # `spread` refuses systems of different names: it compares results of one model.
    if case in ("sound", "the same system twice") and takes != "predictions" and name != "spread":
        assert finding is not None


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        (name, option, value)
        for name, entry in ANALYSES.items()
        for option, parameter in entry.options().items()
        for value in ODD.get(parameter.annotation, ())
    ],
)
def test_odd_options(name: str, option: str, value: object, tmp_path: Path) -> None:
    takes = ANALYSES[name].takes
    for file, text in FILES.items():
        (tmp_path / f"{file}.csv").write_text(text, encoding="utf-8")
    if isinstance(value, str) and value.startswith("{"):
        value = str(tmp_path / f"{value.strip('{}')}.csv")
    case = "the same system twice" if takes == "predictions" else "sound"
    attempt(name, CASES[takes][case](tmp_path / "data"), **common(takes, tmp_path), **{option: value})
