"""Words of prompts by language, from `literals/<language>.toml`: names of fields, questions, labels, option letters."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Any

from isogloss.decoding import decode_toml
from isogloss.errors import IsoglossError

_FOLDER = "literals"
# Languages with full stops that need no blank after them.
_CLOSED_UP = frozenset({"ja", "zh"})


class MissingWordError(IsoglossError):
    """A word that a recipe uses and a language lacks."""


@dataclass(frozen=True, eq=False)
class Literals:
    """The words of one language."""

    language: str
    table: Mapping[str, Any]

    def get(self, path: str) -> Any:
        """Return an entry by its dotted path, such as `asks.nli.question`; labels may contain dots.

        Raises:
            MissingWordError: the language lacks it.
        """
        value: Any = self.table
        parts = path.split(".", 2)
        for part in parts:
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            what, where = f"no {path} in {self.language}", f"{_FOLDER}/{self.language}.toml"
            raise MissingWordError(what, where=where, fix="Add it to the file, or prompt in English")
        return value

    def word(self, path: str) -> str:
        """Return a text by its dotted path."""
        return str(self.get(path))

    def has(self, path: str) -> bool:
        """Return True if the language has an entry."""
        try:
            self.get(path)
        except MissingWordError:
            return False
        return True

    @property
    def letters(self) -> list[str]:
        """Names of choices."""
        return [str(letter) for letter in self.get("punctuation.letters")]

    @property
    def space(self) -> str:
        """Blank between two sentences, "" in languages without it."""
        return "" if self.language in _CLOSED_UP else " "

    def field(self, name: str, content: str) -> str:
        """Return a line with the name of a field and its content."""
        return f"{self.word(f'fields.{name}')}{self.word('punctuation.colon')}{content}"


@cache
def written_languages() -> frozenset[str]:
    """Return the languages with words of their own."""
    names = (PurePosixPath(entry.name) for entry in (files("isogloss.prompts") / _FOLDER).iterdir())
    return frozenset(name.stem for name in names if name.suffix == ".toml")


@cache
def literals(language: str) -> Literals:
    """Return the words of a language.

    Raises:
        MissingWordError: there are none.
    """
    if language not in written_languages():
        fix = f"Prompt in English, or write {_FOLDER}/{language}.toml"
        raise MissingWordError(f"no words of prompts in {language}", fix=fix)
    path = files("isogloss.prompts") / _FOLDER / f"{language}.toml"
    return Literals(language, decode_toml(path.read_text(encoding="utf-8"), f"{_FOLDER}/{language}.toml"))


def prompt_literals(language: str, prompt_language: str) -> Literals:
    """Return the words for a task's language: its own for `native` prompts if it has any, otherwise English."""
    native = prompt_language == "native" and language in written_languages()
    return literals(language if native else "en")
