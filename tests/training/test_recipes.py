"""Recipes: the published figures, and what a user may change."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.tasks.registry import TASKS
from isogloss.training.recipes import NAMES, SIZES, RecipeError, changes, recipe, size_of


def test_every_task_has_every_recipe_in_every_size() -> None:
    for name in NAMES:
        for task in TASKS.shipped:
            for size in SIZES:
                found = recipe(name, task, size)
                assert found.name == name
                assert found.learning_rate > 0
                if task != "mini-xcopa":  # which does without Social IQa
                    assert found == recipe(name, task.removeprefix("mini-"), size)


def test_the_paper_has_two_sizes_and_mt5() -> None:
    for task in TASKS.shipped:
        base, large, mt5 = (recipe("paper", task, size) for size in SIZES)
        assert (base.epochs, base.batch, base.learning_rate, base.schedule) == (2, 32, 2e-5, "linear")
        assert (large.epochs, large.batch, large.learning_rate, large.schedule) == (2, 16, 3e-5, "linear")
        assert (mt5.steps, mt5.tokens, mt5.learning_rate, mt5.schedule) == (10_000, 2**17, 1e-3, "constant")
        assert (mt5.optimizer, mt5.clip, mt5.warmup, mt5.dropout) == ("adafactor", 0.0, 0, 0.1)
        assert {base.optimizer, large.optimizer} == {"adamw"}
        assert mt5.checkpoints * mt5.steps / 100 == 200
        assert {base.select, large.select, mt5.select} == {"dev-loss" if "lareqa" in task else "training-dev"}
        assert {base.selecting_examples, large.selecting_examples, mt5.selecting_examples} == {"all"}


@pytest.mark.parametrize(
    ("task", "size", "rate", "epochs", "batch", "longest", "select"),
    [
        ("xnli", "base", 2e-5, 5, 32, 128, "training-dev"),
        ("xnli", "large", 3e-5, 5, 32, 128, "training-dev"),
        ("pawsx", "large", 2e-5, 5, 32, 128, "training-dev"),
        ("udpos", "base", 2e-5, 10, 32, 128, "training-dev"),
        ("wikiann", "large", 2e-5, 10, 32, 128, "training-dev"),
        ("xquad", "base", 3e-5, 3, 32, 384, "last"),
        ("mlqa", "large", 3e-5, 3, 32, 384, "last"),
        ("tydiqa", "base", 3e-5, 3, 32, 384, "last"),
        ("xcopa", "base", 2e-5, 5, 32, 128, "last"),
        ("xcopa", "large", 3e-5, 5, 32, 128, "last"),
        ("lareqa", "base", 2e-5, 3, 16, 256, "dev-loss"),
        ("mewslix", "base", 2e-5, 2, 256, 64, "last"),
        ("mewslix", "large", 1e-5, 2, 32, 64, "last"),
    ],
)
def test_the_scripts_differ_by_task(
    task: str, size: str, rate: float, epochs: float, batch: int, longest: int, select: str
) -> None:
    found = recipe("scripts", task, size)
    assert (found.learning_rate, found.epochs, found.batch) == (rate, epochs, batch)
    assert (found.max_length, found.select, found.schedule) == (longest, select, "linear")
    assert (found.epsilon, found.clip) == (1e-8, 1.0)


@pytest.mark.parametrize("name", ["paper", "scripts"])
def test_a_query_chooses_among_as_many_as_in_a_batch_that_is_accumulated(name: str) -> None:
    assert recipe(name, "lareqa").candidates == recipe(name, "lareqa", "large").candidates == 4
    assert recipe(name, "mewslix").candidates == 64
    assert recipe(name, "mewslix", "large").candidates == 8
    assert recipe(name, "xnli").candidates == 0


def test_what_chooses_is_asked_whole_and_what_does_not_in_part() -> None:
    for name in NAMES:
        for task in TASKS.shipped:
            found = recipe(name, task)
            assert found.selecting_examples == "all"
            of_keung = name == "keung" and task.removeprefix("mini-") in ("xnli", "mldoc")
            assert (found.dev_examples, found.test_examples) == (("all", "all") if of_keung else (300, 500))
    assert recipe("keung", "xnli", "base", {"dev_examples": 50}).dev_examples == 50


def test_the_lengths_of_questions_and_answers() -> None:
    for name in NAMES:
        for task in ("xquad", "mlqa", "tydiqa", "tatoeba"):
            asked = recipe(name, task)
            assert (asked.max_length, asked.stride, asked.query_length) == (384, 128, 64)
            assert (asked.answer_length, asked.n_best) == (30, 20)
        found = recipe(name, "lareqa")
        assert (found.query_length, found.answer_length) == (96, 256)
    squad = recipe("scripts", "xquad")
    assert (squad.weight_decay, squad.warmup) == (1e-4, 500)


def test_the_rate_of_mt5_comes_with_its_optimizer() -> None:
    for name in NAMES:
        for task in TASKS.shipped:
            found = recipe(name, task, "text2text")
            assert (found.optimizer, found.learning_rate, found.schedule) == ("adafactor", 1e-3, "constant")


@pytest.mark.parametrize(
    ("name", "tables", "said"),
    [
        ("paper", {"text2text": {"weight_decay": 0.1}}, "weight_decay = 0.1 is AdamW's alone"),
        ("paper", {"xquad": {"text2text": {"epsilon": 1e-6}}}, "epsilon = 1e-06 is AdamW's alone"),
        ("scripts", {"text2text": {"weight_decay": 0.01}}, 'Set weight_decay = 0.0 or optimizer = "adamw"'),
    ],
)
def test_what_is_adamws_alone_is_refused_with_adafactor(name: str, tables: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe(name, "xquad", "text2text", tables)
    assert recipe(name, "xquad", "base", tables).optimizer == "adamw"
    assert recipe(name, "xquad", "text2text", {**tables, "optimizer": "adamw", "text2text": {"optimizer": "adamw"}})
    with pytest.raises(RecipeError, match=r"weight_decay = 0\.0001 is AdamW's alone"):
        recipe("scripts", "xquad", "base", {"optimizer": "adafactor"})


def test_keung_looks_after_every_two_percent_of_the_training_set() -> None:
    for task, rate in (("mldoc", 2e-6), ("xnli", 2e-5)):
        found = recipe("keung", task)
        assert (found.learning_rate, found.schedule, found.batch) == (rate, "constant", 32)
        assert found.checkpoints * found.epochs == 2
        assert found.patience > 0


def test_what_is_learnt_before() -> None:
    for name in NAMES:
        assert {task: recipe(name, task).train_on for task in ("lareqa", "tatoeba", "bucc")} == {
            "lareqa": "xquad",
            "tatoeba": "xquad",
            "bucc": "",
        }
        assert recipe(name, "xcopa").stages == ("siqa",)
        assert recipe(name, "xnli").stages == recipe(name, "mini-xcopa").stages == ()


def test_without_social_iqa_it_is_another_recipe() -> None:
    for name in NAMES:
        for tables in ({"siqa": False}, {"xcopa": {"siqa": False}}):
            found = recipe(name, "xcopa", "base", tables)
            assert (found.name, found.stages) == (f"{name}-without-siqa", ())
            assert recipe(name, "xnli", "base", tables).name == name
    kept = recipe("paper", "xcopa", "base", {"siqa": False, "stages": ["siqa", "mine.jsonl"]})
    assert kept.stages == ("mine.jsonl",)


def test_the_more_special_change_wins_and_every_change_over_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'epochs = 7\nselect = "single-target:sw"\n[large]\nbatch = 8\n[xnli]\nepochs = 3\nbatch = 4\n'
        '[xnli.large]\nlearning_rate = 1\n[mldoc]\nlike = "xnli"\nmax_length = 9\n'
    )
    assert recipe("scripts", "udpos", "base", path).epochs == 7
    assert recipe("scripts", "udpos", "large", path).batch == 8
    assert recipe("scripts", "xnli", "base", path).batch == 4
    found = recipe("scripts", "mini-xnli", "large", path)
    assert (found.learning_rate, found.epochs, found.batch, found.select) == (1.0, 3, 8, "single-target:sw")
    alike = recipe("scripts", "mldoc", "large", str(path))
    assert (alike.learning_rate, alike.epochs, alike.max_length) == (1.0, 3, 9)
    assert changes(path) == changes(str(path)) == changes(changes(path))


def test_epochs_and_items_that_are_asked_for_replace_updates_and_tokens() -> None:
    assert recipe("paper", "xnli", "text2text", {"epochs": 1}).steps == 0
    assert recipe("paper", "xnli", "text2text", {"batch": 8}).tokens == 0
    assert recipe("paper", "xnli", "text2text", {"epochs": 1, "steps": 5}).steps == 5


def test_no_change_is_no_change() -> None:
    assert changes(None) == changes({}) == changes("") == {}
    assert recipe("paper", "xnli", "base", {}) == recipe("paper", "xnli")


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"learnin_rate": 1.0}, "'learnin_rate'. Did you mean learning_rate?"),
        ({"xnli": {"epoch": 1}}, r"\[xnli\]: unknown key of a recipe 'epoch'. Did you mean epochs"),
        ({"xnlj": {}}, "unknown task or size 'xnlj'. Did you mean xnli"),
        ({"mini-xnlj": {}}, "unknown task or size 'mini-xnlj'. Did you mean mini-xnli"),
        ({"xnli": {"huge": {}}}, "'huge'. Known: base, large, text2text"),
        ({"base": {"like": "xnli"}}, "'like'"),
        ({"mlqa": {"like": "squad"}}, "unknown task 'squad'"),
        ({"mlqa": {"like": [[]]}}, r"unknown task '\[\[\]\]'"),
        ({"select": "english"}, "unknown selection rule 'english'. Did you mean english-dev?"),
        ({"select": "single-target:xx"}, "unknown language 'xx'"),
        ({"train_on": "squad"}, "unknown task to train on 'squad'. Did you mean xquad?"),
    ],
)
def test_a_name_that_does_not_exist_brings_the_nearest(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownNameError, match=said):
        recipe("paper", "xnli", "base", tables)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"batch": 2.5}, "batch = 2.5 is not a whole number"),
        ({"batch": True}, "batch = True is not a whole number"),
        ({"epochs": "two"}, "epochs = 'two' is not a number"),
        ({"checkpointing": 1}, "checkpointing = 1 is not true or false"),
        ({"select": 1}, "select = 1 is not a text"),
        ({"stages": "siqa"}, "stages = 'siqa' is not a list of texts"),
        ({"dev_examples": "some"}, "dev_examples = 'some' is not a whole number, or \"all\""),
        ({"selecting_examples": 1.5}, 'selecting_examples = 1.5 is not a whole number, or "all"'),
        ({"test_examples": True}, "test_examples = True is not a whole number"),
        ({"test_examples": -1}, "test_examples = -1: it cannot be negative"),
        ({"batch": "all"}, "batch = 'all' is not a whole number"),
        ({"stages": [1]}, "is not a list of texts"),
        ({"schedule": "cosine"}, "it is linear or constant"),
        ({"optimizer": "sgd"}, "it is adamw or adafactor"),
        ({"precision": "fp16"}, "it is auto or bf16 or fp32"),
        ({"checkpoints": 0}, "it is a percentage, above 0 and at most 100"),
        ({"checkpoints": 101}, "it is a percentage, above 0 and at most 100"),
        ({"checkpoints": float("nan")}, "it is a percentage, above 0"),
        ({"learning_rate": float("nan")}, "it must be finite"),
        ({"epochs": float("inf")}, "it must be finite"),
        ({"dropout": 1.0}, "it is a share below 1"),
        ({"learning_rate": 0}, "it must be larger than 0"),
        ({"stride": 0}, "it must be larger than 0"),
        ({"chunk": 0}, "it must be larger than 0"),
        ({"xnli": {"epochs": -1}}, r"\[xnli\]: epochs = -1: it cannot be negative"),
    ],
)
def test_a_value_that_makes_no_sense_is_told(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe("paper", "xnli", "base", tables)


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("epoch = 1", ""),
        ("[xnlj]", ""),
        ('select = "englsh-dev"', ""),
        ('select = "single-target:xx"', ""),
        ('train_on = "squad"', ""),
        ("[xnli.huge]", " [xnli]"),
        ('[xnli]\nlike = "squad"', " [xnli]"),
        ('[xnli.base]\ntrain_on = "squad"', " [xnli] [base]"),
    ],
)
def test_an_unknown_name_is_told_with_its_file(text: str, section: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UnknownNameError) as caught:
        changes(path)
    assert str(caught.value).startswith(f"{path}{section}: unknown ")


def test_a_mini_task_has_its_own_section_over_that_of_the_real_one() -> None:
    tables = {"xnli": {"epochs": 3, "batch": 4}, "mini-xnli": {"epochs": 5, "large": {"batch": 2}}}
    assert recipe("paper", "xnli", "base", tables).epochs == 3
    assert (
        recipe("paper", "mini-xnli", "base", tables).epochs,
        recipe("paper", "mini-xnli", "base", tables).batch,
    ) == (5, 4)
    assert recipe("paper", "mini-xnli", "large", tables).batch == 2
    alike = {"xnli": {"epochs": 3}, "mini-xcopa": {"like": "xnli"}}
    assert [recipe("paper", task, "base", alike).epochs for task in ("xcopa", "mini-xcopa")] == [2, 3]


def test_files_that_are_not_there_or_not_toml(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        changes(tmp_path / "none.toml")
    path = tmp_path / "broken.toml"
    path.write_text("epochs = ")
    with pytest.raises(DataError, match=r"broken\.toml: not TOML"):
        changes(path)


@pytest.mark.parametrize(("name", "size"), [("papr", "base"), ("paper", "huge")])
def test_unknown_recipes_and_sizes(name: str, size: str) -> None:
    with pytest.raises(IsoglossError, match="unknown"):
        recipe(name, "xnli", size)


@pytest.mark.parametrize(
    ("hidden", "layers", "decodes", "size"),
    [
        (768, 12, False, "base"),
        (1024, 12, False, "base"),  # XLM-15, which the scripts train as they do mBERT
        (1280, 16, False, "large"),  # XLM-100, which they train as XLM-R Large
        (1024, 24, False, "large"),
        (768, 24, False, "large"),
        (512, 8, True, "text2text"),
    ],
)
def test_sizes_are_told_by_the_configuration(hidden: int, layers: int, decodes: bool, size: str) -> None:
    config = SimpleNamespace(hidden_size=hidden, num_hidden_layers=layers, is_encoder_decoder=decodes)
    assert size_of(config) == size
