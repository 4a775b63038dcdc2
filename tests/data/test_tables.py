"""Line-based formats and their traps."""

from pathlib import Path

import msgspec
import pytest

from isogloss.data import squad
from isogloss.data.tables import jsonl, panx_sentences, rows, tagged_sentences
from isogloss.errors import DataError


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_quotes_are_text_and_columns_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", '"a\tb"\tneutral\nc\td\n')
    assert list(rows(path, (2, 3))) == [['"a', 'b"', "neutral"], ["c", "d"]]
    with pytest.raises(DataError, match=r"t\.tsv:2: expected 3 columns, got 2"):
        list(rows(path, 3))


def test_runs_of_blank_lines_end_one_sentence(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "\na\tO\nb\tB-PER\n\n\nc\tO")
    assert list(tagged_sentences(path)) == [(["a", "b"], ["O", "B-PER"]), (["c"], ["O"])]


def test_words_without_tags(tmp_path: Path) -> None:
    assert list(tagged_sentences(write(tmp_path / "t.tsv", "a\nb\n\nc\n"))) == [(["a", "b"], None), (["c"], None)]


def test_sentence_with_some_tags_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 words has 1 tags"):
        list(tagged_sentences(write(tmp_path / "t.tsv", "a\tO\nb\n\n")))


def test_wikiann_prefix_is_cut_at_the_first_colon_only(tmp_path: Path) -> None:
    text = "en:10:30\tO\nen:: \tB-LOC\nnocolon\tO\nen:x\tI-LOC\n\nen:y\tO\n"
    assert list(panx_sentences(write(tmp_path / "t", text))) == [
        (["10:30", ":", "x"], ["O", "B-LOC", "I-LOC"]),
        (["y"], ["O"]),
    ]


class Record(msgspec.Struct):
    idx: int


def test_bad_record_is_located(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", '{"idx": 1}\n\n{"idx": "x"}\n')
    with pytest.raises(DataError, match=r"t\.jsonl:3"):
        list(jsonl(path, Record))


def test_squad_with_and_without_the_envelope() -> None:
    bare = b'[{"paragraphs": [{"context": "c", "qas": [{"id": "1", "question": "q", "answers": []}]}]}]'
    wrapped = b'\xef\xbb\xbf{"version": "1.1", "data": ' + bare + b"}"
    assert squad.parse(bare, "f") == squad.parse(wrapped, "f")
    with pytest.raises(DataError, match=r"f\.json: not a SQuAD-format"):
        squad.parse(b'{"data": [{"paragraphs": 3}]}', "f.json")
