"""Columns about languages: shipped, from URIEL, and user-defined, including invalid files."""

import math
from pathlib import Path

import pytest

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.language_columns import distance_columns, later_sizes_notes, read_columns, wikipedia_columns
from isogloss.errors import DataError, UnknownNameError
from uriel_files import write_uriel


def test_the_size_of_wikipedia_is_the_registry_s() -> None:
    plain, logs = wikipedia_columns(["en", "wo", "ha"])
    assert plain.values == {"en": 5.98, "wo": 0.002}  # Hausa is not in the paper's table
    assert logs.values == pytest.approx({"en": math.log10(5.98), "wo": math.log10(0.002)})
    assert plain.with_english
    assert not plain.predicts
    assert not logs.with_english
    assert logs.predicts


def test_later_sizes_of_wikipedia_are_noted() -> None:
    plain, _ = wikipedia_columns(["wo", "zu", "quy"])
    assert plain.values == {"wo": 0.002, "zu": 0.0124}  # Ayacucho Quechua has no Wikipedia
    assert later_sizes_notes(["wo", "en", "ha", "quy", "not a language"]) == []
    (note,) = later_sizes_notes(["wo", "zu"])
    assert "June 2026" in note


def test_distances_are_from_english_and_a_creole_is_unrelated(tmp_path: Path) -> None:
    assert distance_columns(tmp_path, ["de"]) == []
    features = {"eng": [1, 1, 1], "deu": [1, 0, 1], "hat": [1, 1, 0]}
    ancestors = {"eng": ["IE", "Germanic"], "deu": ["IE", "Germanic", "High"], "hat": ["IE", "Romance"]}
    write_uriel(tmp_path, ["S_A", "P_B", "INV_C"], features, ancestors=ancestors)
    distances = {column.name: column.values for column in distance_columns(tmp_path, ["de", "ht"])}
    assert list(distances) == ["syntactic", "phonological", "inventory", "featural", "genetic", "geographic"]
    assert distances["syntactic"] == {"de": 0, "ht": 0}
    assert distances["phonological"] == {"de": 1, "ht": 0}
    assert distances["genetic"]["de"] == pytest.approx(2 / math.pi * math.acos(2 / 6**0.5))
    assert distances["genetic"]["ht"] == 1


def test_own_columns(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("language,speakers, tokens\nsw,200,1e9\nGerman,90,\n\nzho,1300,3.5\n")
    speakers, tokens = read_columns(path)
    assert (speakers.name, speakers.values) == ("speakers", {"sw": 200, "de": 90, "zh": 1300})
    assert (tokens.name, tokens.values) == ("tokens", {"sw": 1e9, "zh": 3.5})


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("", AnalysisError, "not a table of languages"),
        ("language\nsw\n", AnalysisError, "not a table of languages"),
        ("code,a\nsw,1\n", AnalysisError, "Start with a header"),
        ("language,a,a\nsw,1,2\n", AnalysisError, "distinct column names"),
        ("language,a,\nsw,1,2\n", AnalysisError, "not a table"),
        ("language,score\nsw,1\n", AnalysisError, "reserved column name score"),
        ("language,fitted\nsw,1\n", AnalysisError, "reserved column name fitted"),
        ("language,a\nsw,1,2\n", AnalysisError, r"mine\.csv:2: 3 cells for 2 columns"),
        ("language,a\nsw,1\nswh,2\n", AnalysisError, r"mine\.csv:3: duplicate language sw"),
        ("language,a\nsw,nan\n", AnalysisError, r"mine\.csv:2: a is 'nan', not a number\. Leave unknown cells empty"),
        ("language,a\nsw,many\n", AnalysisError, "'many', not a number"),
        ("language,a\nsw,1e999\n", AnalysisError, "not a number"),
        (
            "language,a\nsw,-1e300\n",
            AnalysisError,
            r"mine\.csv:2: a is -1e\+300, above the maximum 1e\+18",
        ),
        ("language,a\nklingon,1\n", UnknownNameError, "klingon"),
        (f"language,a\nsw,{'1' * 200_000}\n", AnalysisError, r"mine\.csv:2: invalid CSV \(field larger than"),
    ],
)
def test_invalid_own_columns(tmp_path: Path, text: str, error: type[Exception], words: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(error) as raised:
        read_columns(path)
    assert raised.match(words)


def test_own_columns_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_columns(tmp_path / "nowhere.csv")
