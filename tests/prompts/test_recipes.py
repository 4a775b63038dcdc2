"""Recipes: their wordings, slots and errors."""

from pathlib import Path

import pytest

from isogloss.errors import DamagedFileError, UnknownNameError
from isogloss.prompts.literals import literals
from isogloss.prompts.recipes import (
    SLOTS,
    PromptRecipeError,
    chosen_wordings,
    filled,
    prompt_recipe,
    wording_names,
)
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task

FORMS = ("label", "option", "tags", "answer")


def test_our_recipe_has_three_wordings_in_every_language() -> None:
    assert wording_names("isogloss") == ["instruction", "question", "careful"]
    for name in literals("en").table["asks"]:
        assert set(literals("en").table["asks"][name]) == set(wording_names("isogloss")), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["isogloss", "mega"])
def test_slots_are_known_or_columns_of_the_kind(name: str, form: str) -> None:
    columns = {column for kind in map(KINDS.__getitem__, KINDS) if kind.form == form for column in kind.inputs}
    assert prompt_recipe(name, form).slots() <= SLOTS | columns


@pytest.mark.parametrize(("form", "shots"), [("label", 8), ("option", 8), ("tags", 8), ("answer", 4)])
def test_shots(form: str, shots: int) -> None:
    assert prompt_recipe("isogloss", form).shots == prompt_recipe("mega", form).shots == shots


def test_braces_in_texts_are_not_slots() -> None:
    assert filled("{text} and {ask}", {"text": "{ask}", "ask": "?"}, "") == "{ask} and ?"


def test_a_slot_without_content_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match=r"mine: unknown slot 'opitons'\. Did you mean options"):
        filled("{text}\n{opitons}", {"text": "x"}, "mine")


def test_a_recipe_for_other_columns_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "label.toml").write_text('shots = 2\n[wordings.short]\nturn = "{text}?"\n', encoding="utf-8")
    prompts = Prompts(task("xnli"), "sw", PromptSettings(model="m", recipe=str(tmp_path)))
    with pytest.raises(UnknownNameError, match=r"xnli: unknown slot 'text'\. Did you mean text_[ab]"):
        prompts.request({"text_a": "a", "text_b": "b"})


@pytest.mark.parametrize(
    ("choice", "names"),
    [
        ("all", ["instruction", "question", "careful"]),
        ("2", ["instruction", "question"]),
        ("careful question careful", ["careful", "question"]),
    ],
)
def test_wordings_are_chosen_by_number_or_name(choice: str, names: list[str]) -> None:
    assert chosen_wordings("isogloss", choice.split()) == names


@pytest.mark.parametrize("choice", ["0", "4", "polite", "question all", "-1", "²"])
def test_unknown_wordings(choice: str) -> None:
    with pytest.raises(UnknownNameError, match="unknown wording"):
        chosen_wordings("isogloss", choice.split())


def test_own_recipe(tmp_path: Path) -> None:
    (tmp_path / "label.toml").write_text('shots = 2\n[wordings.short]\nturn = "{text}?"\n', encoding="utf-8")
    assert prompt_recipe(str(tmp_path), "label").wordings["short"].turn == "{text}?"
    assert wording_names(str(tmp_path)) == ["short"]
    with pytest.raises(PromptRecipeError, match=r"no prompts for tags.*It has label"):
        prompt_recipe(str(tmp_path), "tags")


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean isogloss"):
        prompt_recipe("isoglos", "label")
    with pytest.raises(UnknownNameError, match="unknown wording 'polite'"):
        prompt_recipe("isogloss", "label").wording("polite", "isogloss")
    for text, reason in (
        ("shots = 2\n[wordings]\n", "no wordings"),
        ('shots = "x"\n', "not a prompt recipe"),
        ("shots = 2\ntypo = 1\n[wordings.a]\nturn = 'x'\n", "not a prompt recipe"),
        ("shots =", "label.toml"),
    ):
        (tmp_path / "label.toml").write_text(text, encoding="utf-8")
        with pytest.raises((PromptRecipeError, DamagedFileError), match=reason):
            prompt_recipe(str(tmp_path), "label")


def test_own_wordings_use_the_plain_question(tmp_path: Path) -> None:
    (tmp_path / "option.toml").write_text(
        'shots = 0\n[wordings.short]\nturn = "{example} {ask}"\n[examples.choice]\nsituation = "premise"\n',
        encoding="utf-8",
    )
    prompts = Prompts(task("xcopa"), "et", PromptSettings(model="m", recipe=str(tmp_path)))
    row = {"premise": "It rained.", "choices": ("wet", "dry")}
    cause, effect = (prompts.turn({**row, "question": question}) for question in ("cause", "effect"))
    assert cause == "Situation: It rained. Choose the more likely cause of the situation."
    assert effect == "Situation: It rained. Choose the more likely result of the situation."
    assert prompts.turn({**row, "question": "Why?"}) == "Situation: It rained. Why?"
