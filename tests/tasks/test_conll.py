"""CoNLL-2002 and 2003: encodings, tag schemes, documents, and the real Spanish and Dutch files."""

import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from isogloss.errors import DataError, UnknownNameError
from isogloss.metrics import chunks
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task

CONLL = replace(task("conll"), counts={})
# Columns as in the corpora: word, (lemma,) part of speech, (chunk,) entity in IOB1.
ENGLISH = """\
-DOCSTART- -X- O O

EU NNP I-NP I-ORG
Bob NNP I-NP I-PER
Ann NNP I-NP B-PER
Lee NNP I-NP I-PER
. . O O

Rome NNP I-NP I-LOC

-DOCSTART- -X- O O

Rome NNP I-NP I-LOC
"""
GERMAN = "-DOCSTART- -X- -X- -X- O\n\nKöln Köln NE I-NC I-LOC\r\n(  ( $( O O\n"


def read(tmp_path: Path, name: str, raw: bytes, language: str, split: str = "train") -> Examples:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    return load(CONLL, language, split, tmp_path)


def test_iob1_becomes_iob2(tmp_path: Path) -> None:
    examples = read(tmp_path, "conll2003/eng.testb", ENGLISH.encode(), "en", "test")
    assert examples.tokens[0] == ["EU", "Bob", "Ann", "Lee", "."]
    assert examples.tags == [["B-ORG", "B-PER", "B-PER", "I-PER", "O"], ["B-LOC"], ["B-LOC"]]
    before = [["I-ORG", "I-PER", "B-PER", "I-PER", "O"]]
    assert chunks.chunks(before[0]) == chunks.chunks(examples.tags[0])


def test_documents_are_clusters(tmp_path: Path) -> None:
    first, second, third = read(tmp_path, "conll2003/eng.train", ENGLISH.encode(), "en").clusters or ()
    assert first == second != third


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_encoding_is_recognised(tmp_path: Path, encoding: str) -> None:
    examples = read(tmp_path, "conll2003/deu.testa", GERMAN.encode(encoding), "de", "dev")
    assert (examples.tokens, examples.tags) == ([["Köln", "("]], [["B-LOC", "O"]])


def test_control_characters_of_latin_1_do_not_end_a_line(tmp_path: Path) -> None:
    raw = "a\x85b O\nß\x85 O\n".encode("latin-1")
    assert read(tmp_path, "conll/ned.train", raw, "nl").tokens == [["a\x85b", "ß\x85"]]


@pytest.mark.parametrize(("line", "said"), [("word", "expected a word and its tag, got 'word'"), ("a X", "tag 'X' is")])
def test_other_lines_are_reported(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        read(tmp_path, "conll/esp.train", f"a O\n{line}\n".encode(), "es")


def test_missing_files_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"isogloss fetch conll, or point --data .*conll2003/\{code\}\.testb"):
        load("conll", "en", data=tmp_path)


def test_aliases() -> None:
    assert task("conll2002") is task("conll2003") is task("conll")


def test_real_spanish_and_dutch(data_dir: Path, tmp_path: Path) -> None:
    archive = data_dir / "nltk_corpora/conll2002.zip"
    if not archive.exists():
        pytest.skip("needs NLTK's conll2002.zip")
    with zipfile.ZipFile(archive) as zipped:
        zipped.extractall(tmp_path)
    # 339 MISC begin with B-, and one with I-, which conlleval counts too.
    entities = {("es", "test"): {"LOC": 1084, "MISC": 340, "ORG": 1400, "PER": 735}}
    for language in ("es", "nl"):
        for split in ("train", "dev", "test"):
            examples = load("conll", language, split, data=tmp_path)  # the counts of sentences are checked
            tags = [tag for tags in examples.tags for tag in tags]
            raw = (
                tmp_path
                / "conll2002"
                / {"train": "{}.train", "dev": "{}.testa", "test": "{}.testb"}[split].format(
                    {"es": "esp", "nl": "ned"}[language]
                )
            )
            lines = [line.split() for line in raw.read_text().split("\n")]
            unchanged = [columns[-1] if columns else "O" for columns in lines]
            apart = [tag for sentence in examples.tags for tag in (*sentence, "O")]
            ours, theirs = (
                [(kind, end - start) for kind, start, end in chunks.chunks(row)] for row in (apart, unchanged)
            )
            assert ours == theirs
            if (language, split) in entities:
                assert Counter(tag[2:] for tag in tags if tag.startswith("B-")) == entities[language, split]
            # Marked documents: 287, 74 and 119 in Dutch, none in Spanish.
            documents = {("nl", "train"): 287, ("nl", "dev"): 74, ("nl", "test"): 119}.get((language, split), 0)
            assert len({*(examples.clusters or ())}) == documents


def test_mldoc_has_four_sizes(tmp_path: Path) -> None:
    mldoc = task("mldoc")
    for size in (1000, 10_000):
        path = tmp_path / f"mldoc/english.train.{size}"
        path.parent.mkdir(exist_ok=True)
        path.write_text("CCAT\ttext\n" * (size // 1000))
    assert len(load("mldoc", "en", "train", tmp_path)) == 1
    assert len(load(mldoc.with_train_size(10_000), "en", "train", tmp_path)) == 10
    with pytest.raises(DataError, match=r"mldoc/\{name\}\.train\.\{size\}"):
        load(mldoc.with_train_size(5000), "en", "train", tmp_path)
    with pytest.raises(UnknownNameError, match=r"unknown size of mldoc's training set '500'"):
        mldoc.with_train_size(500)
    with pytest.raises(UnknownNameError, match="xnli has one training set, but train_size = 1000"):
        task("xnli").with_train_size(1000)


def test_unnamed_size_serves_only_the_default(tmp_path: Path) -> None:
    path = tmp_path / "mldoc/en/train.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("CCAT\ttext\n")
    assert len(load("mldoc", "en", "train", tmp_path)) == 1
    with pytest.raises(DataError, match="no train file of mldoc/en"):
        load(task("mldoc").with_train_size(10_000), "en", "train", tmp_path)
