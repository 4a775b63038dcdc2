"""Fertility: pieces per word, counted by hand for small vocabularies."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from isogloss.errors import DataError, IsoglossError, PredictionError
from isogloss.explain.attributes import fertility
from isogloss.explain.attributes.fertility import WordPiece
from isogloss.explain.selection import choose_attributes
from isogloss.tasks.examples import Examples

CASED = ["[UNK]", "Play", "play", "##ing", "##in", "##g", "un", "##play", "##able", ".", "中", "é"]
UNCASED = ["[UNK]", "play", "##ing", "cafe", "!"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("play", 1),
        ("Playing", 2),  # the longest match: ##ing, not ##in ##g
        ("unplayable.", 4),  # un ##play ##able .
        ("xyz play", 2),  # a word without pieces is one unknown
        ("playx", 1),  # so is a word with an unknown ending
        ("中中play", 3),  # ideographs are words
        ("play\u200d\u00a0play", 2),  # joiners are removed, any blank separates
        ("play" + "ing" * 40, 1),  # more than 100 characters
        ("É", 1),
    ],
)
def test_pieces_of_a_cased_vocabulary(text: str, count: int) -> None:
    assert WordPiece(CASED).count(text) == count


def test_uncased_vocabulary_lowers_and_strips_accents() -> None:
    assert WordPiece(UNCASED).count("PLAYing Café!") == 4
    assert WordPiece([*UNCASED, "Big"]).count("PLAYING") == 1


def pairs(language: str, *texts: tuple[str, str]) -> Examples:
    first, second = zip(*texts, strict=True)
    columns = {"text_a": list(first), "text_b": list(second), "label": ["neutral"] * len(texts)}
    return Examples("xnli", language, "test", [str(place) for place in range(len(texts))], columns, "label")


def column(path: Path, examples: Examples) -> list[float]:
    (found,) = choose_attributes([f"Fertility@{path}"], ["classification"]).of("classification", examples)
    assert (found.name, found.discrete) == ("fertility", False)
    assert found.values is not None
    return found.values(examples).tolist()


def test_pieces_over_words_or_characters(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_text("\r\n".join(CASED) + "\r\n", encoding="utf-8", newline="")
    # Playing un + playing: 2 + 1 + 2 pieces of three words; play.: two pieces of one word; no text: 0.
    assert column(path, pairs("en", ("Playing un", "playing"), ("play.", ""), ("", ""))) == pytest.approx([5 / 3, 2, 0])
    assert column(path, pairs("zh", ("中中", "中"))) == [1]


def test_queries_without_texts_have_none(tmp_path: Path) -> None:
    def text() -> list[str]:
        raise DataError("the articles are not restored")

    path = tmp_path / "vocab.txt"
    path.write_text("a\n")
    selection = choose_attributes([f"fertility@{path}"], ["pool"])
    examples = Examples("mewslix", "en", "test", ["q"], {"text": text, "targets": [["a"]]}, "targets")
    assert selection.of("pool", examples) == []
    assert len(selection.of("pool")) == 1


def test_tokenizer_of_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Letters:
        """A tokenizer into letters; truncation and padding must be off."""

        truncated = padded = True

        @classmethod
        def from_str(cls, content: str) -> "Letters":
            if content != "{}":
                raise Exception("bad")  # as the library does
            return cls()

        def no_truncation(self) -> None:
            self.truncated = False

        def no_padding(self) -> None:
            self.padded = False

        def encode_batch(self, texts: list[str], add_special_tokens: bool) -> list[SimpleNamespace]:
            assert not (self.truncated or self.padded or add_special_tokens)
            if any("?" in text for text in texts):
                raise Exception("no piece for what is unknown")
            return [SimpleNamespace(ids=list(text.replace(" ", ""))) for text in texts]

    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Letters))
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    assert column(path, pairs("en", ("ab cd", "e"))) == pytest.approx([5 / 3])
    with pytest.raises(DataError, match="not a tokenizer for these texts: no piece"):
        column(path, pairs("en", ("ab?", "e")))
    path.write_text("[]")
    with pytest.raises(DataError, match="not a tokenizer"):
        fertility(path)


def test_missing_parts_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(IsoglossError, match="missing the tokenizers library"):
        fertility(tmp_path / "tokenizer.json")
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(DataError, match="has no pieces"):
        fertility(tmp_path / "empty.txt")
    (tmp_path / "bytes.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="UTF-8"):
        fertility(tmp_path / "bytes.txt")
    with pytest.raises(PredictionError, match="needs a tokenizer"):
        choose_attributes(["fertility"], ["qa"])
