"""Systems from CSV files: written by isogloss, other tables, and invalid files."""

from pathlib import Path

import pytest

from board.made_systems import XTREME_R, record
from isogloss.board.build import make_board
from isogloss.board.site import read_systems
from isogloss.errors import DataError
from isogloss.languages import published
from isogloss.results.averages import missing_cells

HEAD = "system,regime,task,language,metric,value\n"


def written(tmp_path: Path, text: str, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_written_csv_equals_its_record(tmp_path):
    scored = record("mine", 61.0, without=("xnli/sw",))
    scored.to_csv(tmp_path / "mine.csv")
    (of_csv,), (of_record,) = read_systems([tmp_path / "mine.csv"], XTREME_R), read_systems([scored], XTREME_R)
    assert of_csv.name == "mine" and not of_csv.reported
    assert {key: cell.score for key, cell in of_csv.cells.items()} == {
        key: cell.score for key, cell in of_record.cells.items()
    }
    assert missing_cells(of_csv, XTREME_R) == ["xnli/sw"]
    # Complete averages keep their intervals.
    assert of_csv.averages["udpos"] == of_record.averages["udpos"]
    assert {"xnli", "classification", "overall"}.isdisjoint(of_csv.averages)
    board = make_board([of_csv], XTREME_R)
    assert board.data.provenance[0].split == "test"
    assert board.data.provenance[0].checksums["xnli"]["de"] == "xnli123"


def test_scores_in_a_run_folder_are_named_by_the_folder(tmp_path):
    (tmp_path / "xlmr").mkdir()
    record("any").to_csv(tmp_path / "xlmr" / "scores.csv")
    assert [entry.name for entry in read_systems([tmp_path / "xlmr" / "scores.csv"], XTREME_R)] == ["xlmr"]


def test_a_table_like_the_published_ones():
    path = Path(published.__file__).with_name("per_language.csv")
    systems = {(entry.name, entry.regime): entry for entry in read_systems([path], XTREME_R)}
    mbert = systems["mBERT", "zero-shot"]
    assert mbert.reported and mbert.source.startswith("XTREME-R Table")
    assert mbert.cells["xnli", "en"].metrics["accuracy"].value == 81.7


def test_several_systems_with_metadata(tmp_path):
    text = (
        "system,regime,task,language,metric,value,kind,parameters,year,split,n\n"
        "a,zero-shot,xnli,sw,accuracy,61.5,encoder,560,2020,test,5010\n"
        "a,zero-shot,panx,sw,f1,70,,,,test,\n"
        "b,,xnli,sw,accuracy,,llm,7000,2024,test,\n"
        "b,,xnli,de,accuracy,80,,,,test,\n"
        "b,,pawsx,de,accuracy,90,,,,test,\n"
    )
    entries = read_systems([written(tmp_path, text)], XTREME_R)
    first, second = make_board(entries, XTREME_R).data.systems
    assert (first.name, first.regime, first.kind, first.parameters, first.year) == (
        "a",
        "zero-shot",
        "encoder",
        560_000_000,
        2020,
    )
    assert first.source == "table.csv"
    assert set(entries[0].cells) == {("xnli", "sw"), ("wikiann", "sw")}
    assert (second.kind, set(entries[1].cells)) == ("llm", {("xnli", "de")})


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("system,task,language\na,xnli,sw\n", "has no column value"),
        (f"{HEAD}a,,xnlli,sw,accuracy,61\n", "table.csv:2"),
        (f"{HEAD}a,,xnli,sw,accuracy,many\n", "value is 'many', expected a number"),
        (f"{HEAD}a,,xnli,sw,accuracy,nan\n", "expected a number"),
        (f"{HEAD}a,,xnli,sw,accuracy,161\n", "expected 0 to 100"),
        (f"{HEAD}a,,xquad,de,f1,161\na,,xquad,de,em,61\n", "expected 0 to 100"),
        (f"{HEAD}a,,xnli,sw,accuracy,61\na,,xnli,sw,accuracy,62\n", "duplicate score of a: xnli/sw accuracy"),
        (f"{HEAD}a,,xnli,sw,bleu,61\n", "Add accuracy"),
        (f"{HEAD}a,,xnli,sw\n", "more or fewer cells than the header"),
        (f"{HEAD}a,,pawsx,de,accuracy,61\n", "no scores of xtreme-r"),
        (
            "task,language,metric,value,split\nxnli,sw,accuracy,61,test\nxnli,de,accuracy,61,dev\n",
            "different splits",
        ),
        ("", "has no column task"),
    ],
)
def test_invalid_files_are_reported(tmp_path, text, what):
    with pytest.raises(DataError) as error:
        read_systems([written(tmp_path, text)], XTREME_R)
    assert what in str(error.value)


def test_other_encodings_are_reported(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{HEAD}a,,xnli,sw,accuracy,61\n", encoding="utf-16")
    with pytest.raises(DataError, match="not UTF-8"):
        read_systems([path], XTREME_R)
