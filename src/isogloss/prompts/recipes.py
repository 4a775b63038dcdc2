"""Prompt recipes: templates with word slots, one TOML file per form of answer, in several wordings."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

import msgspec

from isogloss.data.files import read_text
from isogloss.decoding import convert_value, decode_toml
from isogloss.errors import IsoglossError, unknown

SHIPPED = ("isogloss", "mega")
# Slots of templates besides the columns of the example.
SLOTS = frozenset("ask format options option_words example words sentence space".split())
_SLOT = re.compile(r"\{([a-z_]+)\}")


class PromptRecipeError(IsoglossError):
    """A recipe that cannot be used."""


class Wording(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to ask: `system` comes once, `turn` with every example, `turns` by the name of the question."""

    turn: str
    system: str = ""
    turns: dict[str, str] = {}


class PromptRecipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Prompts for one form of answer."""

    shots: int  # examples before the question, in regimes with examples
    wordings: dict[str, Wording]
    examples: dict[str, dict[str, str]] = {}  # parts of an example, field: column, by the name of the question
    label_words: dict[str, dict[str, str]] = {}  # names of label words, by question and label, if they differ
    words: dict[str, dict[str, str]] = {}  # label words of the recipe's own, by question and label
    letters: list[str] = []  # names of choices of the recipe's own
    format: str = ""  # format of the answer, if the recipe fixes it
    delimiter: str = "_"  # between a word and its tag, in the format `joined`
    asks: dict[str, str] = {}  # questions of the recipe's own, by wording, for tasks that have none
    sentence: str = ""  # sentence on the format of the recipe's own
    english_only: bool = False  # True if the recipe has English words of its own

    def wording(self, name: str, where: str) -> Wording:
        """Return a wording by name, by default the first."""
        chosen = name or next(iter(self.wordings))
        if chosen not in self.wordings:
            raise unknown("wording", chosen, self.wordings, where=where)
        return self.wordings[chosen]

    def slots(self) -> set[str]:
        """Return the names of all slots in templates."""
        templates = [text for each in self.wordings.values() for text in (each.system, each.turn, *each.turns.values())]
        return {slot for text in templates for slot in _SLOT.findall(text)}


def filled(template: str, slots: Mapping[str, str], where: str) -> str:
    """Return a template with its slots filled; braces in the contents stay as they are.

    Raises:
        UnknownNameError: a slot has no content; it would be sent, and paid for, with every example.
    """

    def content(match: re.Match[str]) -> str:
        if match[1] not in slots:
            raise unknown("slot", match[1], SLOTS | slots.keys(), where=where)
        return slots[match[1]]

    return _SLOT.sub(content, template)


def uses(template: str, slot: str) -> bool:
    """Return True if a template has a slot."""
    return slot in _SLOT.findall(template)


def prompt_recipe(name: str, form: str) -> PromptRecipe:
    """Return a recipe for a form of answer: a shipped one by name, or a folder with one file per form.

    Raises:
        UnknownNameError: unknown recipe.
        PromptRecipeError: the recipe does not serve this form of answer, or is invalid.
    """
    if name in SHIPPED:
        return _shipped(name, form)
    folder = _own_folder(name)
    path = folder / f"{form}.toml"
    if not path.is_file():
        raise _no_form(name, form, {file.stem for file in folder.glob("*.toml")})
    return _decoded(read_text(path), str(path))


def _own_folder(name: str) -> Path:
    if not (folder := Path(name)).is_dir():
        raise unknown("prompt recipe", name, (*SHIPPED, "a folder"))
    return folder


def wording_names(name: str) -> list[str]:
    """Return the wordings of a recipe that serve every form of answer it has; errors are those of `prompt_recipe`."""
    by_form = [prompt_recipe(name, PurePosixPath(file.name).stem).wordings for file in _files(name)]
    return [name for name in by_form[0] if all(name in wordings for wordings in by_form)]


def chosen_wordings(recipe: str, choice: Sequence[str]) -> list[str]:
    """Return wordings of a recipe: those named, the first ones if `choice` is a number, or `all`.

    Raises:
        UnknownNameError: unknown recipe or wording, or more wordings than the recipe has.
    """
    known = wording_names(recipe)
    if list(choice) == ["all"]:
        return known
    if len(choice) == 1 and choice[0] in map(str, range(1, len(known) + 1)):
        return known[: int(choice[0])]
    for name in choice:
        if name not in known:
            raise unknown("wording", name, known, where=f"recipe {recipe}")
    return list(dict.fromkeys(choice))


def recipe_hash(name: str) -> str:
    """Return a hash of a recipe's files: predictions made with another version of it are not kept."""
    digest = hashlib.sha256()
    for file in _files(name):
        digest.update(file.name.encode(errors="replace") + b"\n" + file.read_bytes())
    return digest.hexdigest()[:12]


def _files(name: str) -> list[Traversable | Path]:
    """Return the files of a recipe by name."""
    folder = files("isogloss.prompts") / "recipe_data" / name if name in SHIPPED else _own_folder(name)
    recipes = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    if not recipes:
        raise PromptRecipeError("no recipe files", where=name, fix="Add a file per form of answer, such as label.toml")
    return recipes


@cache
def _shipped(name: str, form: str) -> PromptRecipe:
    folder = files("isogloss.prompts") / "recipe_data" / name
    path = folder / f"{form}.toml"
    if not path.is_file():
        raise _no_form(name, form, {PurePosixPath(file.name).stem for file in folder.iterdir()})
    return _decoded(path.read_text(encoding="utf-8"), f"{name}/{form}.toml")


def _no_form(name: str, form: str, forms: set[str]) -> PromptRecipeError:
    return PromptRecipeError(f"the recipe {name} has no prompts for {form}", fix=f"It has {', '.join(sorted(forms))}")


def _decoded(text: str, where: str) -> PromptRecipe:
    recipe: PromptRecipe = convert_value(decode_toml(text, where), PromptRecipe, where, what="a prompt recipe")
    if not recipe.wordings:
        raise PromptRecipeError(
            "no wordings", where=where, fix="Write at least one table [wordings.NAME] with a `turn`"
        )
    return recipe
