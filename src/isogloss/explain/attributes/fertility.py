"""Fertility: subword tokens per word of a tokenizer."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unicodedata import category, normalize

import numpy as np

from isogloss.data.files import read_text
from isogloss.errors import DataError, IsoglossError
from isogloss.explain.attributes.lengths import count_tokens, ratio
from isogloss.explain.attributes.needs import main_texts, text_language
from isogloss.explain.model import Attribute
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples

FERTILITY = "fertility"
# Function that counts the pieces of every text.
PieceCounter = Callable[[Sequence[str]], FloatArray]

# As in BERT's code: longer words are one unknown piece, and these ideographs are separate words.
_LONGEST = 100
_IDEOGRAPHS = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F)
)  # fmt: skip


class _WordBreaks(dict[int, str]):
    """`str.translate` table: blanks around characters that are separate words, nothing for control characters."""

    def __missing__(self, code: int) -> str:
        char, kind = chr(code), category(chr(code))
        ascii_sign = code < 128 and char.isprintable() and not char.isalnum()
        if char.isspace() or kind == "Zs":
            becomes = " "
        elif kind[0] == "C" or code == 0xFFFD:
            becomes = ""
        elif kind[0] == "P" or ascii_sign or any(low <= code <= high for low, high in _IDEOGRAPHS):
            becomes = f" {char} "
        else:
            becomes = char
        self[code] = becomes
        return becomes


class WordPiece:
    """Greedy longest-match WordPiece (BERT's tokenizer) over a vocabulary; pieces inside a word begin with `##`.

    A vocabulary without capital letters belongs to an uncased model: texts are lower-cased and lose their accents.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = frozenset(pieces)
        words = [piece for piece in pieces if not (piece.startswith("[") and piece.endswith("]"))]
        self._cased = any(piece != piece.lower() for piece in words)
        self._longest = max(map(len, pieces), default=0)
        self._breaks = _WordBreaks()
        self._known: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Return the number of pieces of a text; a word that cannot be built from pieces is one."""
        if not self._cased:
            text = "".join(char for char in normalize("NFD", text.lower()) if category(char) != "Mn")
        words = text.translate(self._breaks).split()
        for word in set(words).difference(self._known):
            self._known[word] = self._count_word(word)
        return sum(map(self._known.__getitem__, words))

    def _count_word(self, word: str) -> int:
        if len(word) > _LONGEST:
            return 1
        begin = count = 0
        while begin < len(word):
            prefix = "##" if begin else ""
            ends = range(min(len(word), begin + self._longest), begin, -1)
            end = next((end for end in ends if prefix + word[begin:end] in self._pieces), None)
            if end is None:
                return 1
            begin, count = end, count + 1
        return count


def fertility(path: str | os.PathLike[str]) -> Attribute:
    """Return the attribute "pieces per word" (per character in an unsegmented script) of a tokenizer.

    Args:
        path: `tokenizer.json`, read by the `tokenizers` library, or a WordPiece vocabulary with one piece per line.
            Special tokens around a text are not counted.

    Raises:
        DataError: the file cannot be read.
        IsoglossError: the `tokenizers` library is required but not installed.
    """
    file = Path(path)
    count = _library_counter(file) if file.suffix == ".json" else _word_piece_counter(file)

    def values(examples: Examples) -> FloatArray:
        texts = main_texts(examples)
        return ratio(count(texts), count_tokens(texts, text_language(examples)))

    return Attribute(FERTILITY, f"tokens of {file.name} per word", ("main-text",), values=values)


def _word_piece_counter(file: Path) -> PieceCounter:
    pieces = [piece for line in read_text(file).split("\n") if (piece := line.rstrip("\r"))]
    if not pieces:
        raise DataError("the vocabulary has no pieces", where=str(file), fix="Write one piece per line")
    tokenizer = WordPiece(pieces)
    return lambda texts: np.fromiter(map(tokenizer.count, texts), np.float64, len(texts))


def _library_counter(file: Path) -> PieceCounter:
    content = read_text(file)
    try:
        library: Any = import_module("tokenizers")
    except ImportError:
        from isogloss.installation import package_command

        fix = f"Run {package_command('tokenizers')}, or pass a WordPiece vocabulary (one piece per line)"
        raise IsoglossError("missing the tokenizers library", where=str(file), fix=fix) from None
    try:
        tokenizer = library.Tokenizer.from_str(content)
    except Exception as error:  # the library has no more specific exception
        raise DataError(f"not a tokenizer: {error}", where=str(file)) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def count(texts: Sequence[str]) -> FloatArray:
        try:
            encoded = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        except Exception as error:  # for example, a vocabulary without an unknown token
            raise DataError(f"not a tokenizer for these texts: {error}", where=str(file)) from None
        return np.fromiter((len(encoding.ids) for encoding in encoded), np.float64, len(texts))

    return count
