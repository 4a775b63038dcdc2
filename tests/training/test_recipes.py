"""Recipes: the published figures, and overrides."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.tasks.registry import LIVING_TASKS, TASKS
from isogloss.training.recipes import NAMES, SIZES, RecipeError, changes, recipe, size_of


def test_every_task_has_every_recipe_in_every_size() -> None:
    for name in NAMES:
        for task in TASKS.shipped:
            for size in SIZES:
                found = recipe(name, task, size)
                assert found.name == name
                assert found.learning_rate > 0
                if task != "mini-xcopa":  # it has no Social IQa stage
                    assert found == recipe(name, task.removeprefix("mini-"), size)


def test_paper_recipe_by_size() -> None:
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


# Task, model size, learning rate, epochs, batch, tokens and selection rule.
SCRIPTS = """
xnli base 2e-5 5 32 128 training-dev
xnli large 3e-5 5 32 128 training-dev
pawsx large 2e-5 5 32 128 training-dev
udpos base 2e-5 10 32 128 training-dev
wikiann large 2e-5 10 32 128 training-dev
xquad base 3e-5 3 32 384 last
mlqa large 3e-5 3 32 384 last
tydiqa base 3e-5 3 32 384 last
xcopa base 2e-5 5 32 128 last
xcopa large 3e-5 5 32 128 last
lareqa base 2e-5 3 16 256 dev-loss
mewslix base 2e-5 2 256 64 last
mewslix large 1e-5 2 32 64 last
"""


@pytest.mark.parametrize("row", SCRIPTS.split("\n")[1:-1])
def test_scripts_recipe_by_task(row: str) -> None:
    task, size, rate, epochs, batch, longest, select = row.split()
    found = recipe("scripts", task, size)
    assert (found.learning_rate, found.epochs, found.batch) == (float(rate), float(epochs), int(batch))
    assert (found.max_length, found.select, found.schedule) == (int(longest), select, "linear")
    assert (found.epsilon, found.clip) == (1e-8, 1.0)


@pytest.mark.parametrize("name", ["paper", "scripts"])
def test_candidates_equal_an_accumulated_batch(name: str) -> None:
    assert recipe(name, "lareqa").candidates == recipe(name, "lareqa", "large").candidates == 4
    assert recipe(name, "mewslix").candidates == 64
    assert recipe(name, "mewslix", "large").candidates == 8
    assert recipe(name, "xnli").candidates == 0


def test_selecting_sets_are_whole_and_others_partial() -> None:
    for name in NAMES:
        for task in (task for task in TASKS.shipped if task not in LIVING_TASKS):
            found = recipe(name, task)
            assert found.selecting_examples == "all"
            of_keung = name == "keung" and task.removeprefix("mini-") in ("xnli", "mldoc")
            assert (found.dev_examples, found.test_examples) == (("all", "all") if of_keung else (300, 500))
    assert recipe("keung", "xnli", "base", {"dev_examples": 50}).dev_examples == 50


def test_lengths_of_questions_and_answers() -> None:
    for name in NAMES:
        for task in ("xquad", "mlqa", "tydiqa", "tatoeba"):
            asked = recipe(name, task)
            assert (asked.max_length, asked.stride, asked.query_length) == (384, 128, 64)
            assert (asked.answer_length, asked.n_best) == (30, 20)
        found = recipe(name, "lareqa")
        assert (found.query_length, found.answer_length) == (96, 256)
    squad = recipe("scripts", "xquad")
    assert (squad.weight_decay, squad.warmup) == (1e-4, 500)


def test_mt5_rate_comes_with_adafactor() -> None:
    for name in NAMES:
        for task in TASKS.shipped:
            found = recipe(name, task, "text2text")
            assert (found.optimizer, found.learning_rate, found.schedule) == ("adafactor", 1e-3, "constant")


@pytest.mark.parametrize(
    ("name", "tables", "said"),
    [
        ("paper", {"text2text": {"weight_decay": 0.1}}, "weight_decay = 0.1 requires AdamW"),
        ("paper", {"xquad": {"text2text": {"epsilon": 1e-6}}}, "epsilon = 1e-06 requires AdamW"),
        ("scripts", {"text2text": {"weight_decay": 0.01}}, 'Set weight_decay = 0.0 or optimizer = "adamw"'),
    ],
)
def test_adamw_settings_are_refused_with_adafactor(name: str, tables: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        recipe(name, "xquad", "text2text", tables)
    assert recipe(name, "xquad", "base", tables).optimizer == "adamw"
    assert recipe(name, "xquad", "text2text", {**tables, "optimizer": "adamw", "text2text": {"optimizer": "adamw"}})
    with pytest.raises(RecipeError, match=r"weight_decay = 0\.0001 requires AdamW"):
        recipe("scripts", "xquad", "base", {"optimizer": "adafactor"})


def test_keung_evaluates_every_two_percent() -> None:
    for task, rate in (("mldoc", 2e-6), ("xnli", 2e-5)):
        found = recipe("keung", task)
        assert (found.learning_rate, found.schedule, found.batch) == (rate, "constant", 32)
        assert found.checkpoints * found.epochs == 2
        assert found.patience > 0


def test_stages_and_training_tasks() -> None:
    for name in NAMES:
        assert {task: recipe(name, task).train_on for task in ("lareqa", "tatoeba", "bucc")} == {
            "lareqa": "xquad",
            "tatoeba": "xquad",
            "bucc": "",
        }
        assert recipe(name, "xcopa").stages == ("siqa",)
        assert recipe(name, "xnli").stages == recipe(name, "mini-xcopa").stages == ()


def test_recipe_without_social_iqa_has_another_name() -> None:
    for name in NAMES:
        for tables in ({"siqa": False}, {"xcopa": {"siqa": False}}):
            found = recipe(name, "xcopa", "base", tables)
            assert (found.name, found.stages) == (f"{name}-without-siqa", ())
            assert recipe(name, "xnli", "base", tables).name == name
    kept = recipe("paper", "xcopa", "base", {"siqa": False, "stages": ["siqa", "mine.jsonl"]})
    assert kept.stages == ("mine.jsonl",)


def test_more_specific_override_wins(tmp_path: Path) -> None:
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


def test_epochs_and_batch_replace_steps_and_tokens() -> None:
    assert recipe("paper", "xnli", "text2text", {"epochs": 1}).steps == 0
    assert recipe("paper", "xnli", "text2text", {"batch": 8}).tokens == 0
    assert recipe("paper", "xnli", "text2text", {"epochs": 1, "steps": 5}).steps == 5


def test_empty_overrides_change_nothing() -> None:
    assert changes(None) == changes({}) == changes("") == {}
    assert recipe("paper", "xnli", "base", {}) == recipe("paper", "xnli")


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"learnin_rate": 1.0}, "'learnin_rate'. Did you mean learning_rate?"),
        ({"xnli": {"epoch": 1}}, r"\[xnli\]: unknown recipe key 'epoch'. Did you mean epochs"),
        ({"xnlj": {}}, "unknown section 'xnlj'. Did you mean xnli"),
        ({"mini-xnlj": {}}, "unknown section 'mini-xnlj'. Did you mean mini-xnli"),
        ({"xnli": {"huge": {}}}, "'huge'. Known: base, large, text2text"),
        ({"base": {"like": "xnli"}}, "'like'"),
        ({"mlqa": {"like": "squad"}}, "unknown task 'squad'"),
        ({"schedule": "cosine"}, "unknown schedule 'cosine'. Did you mean linear?"),
        ({"optimizer": "sgd"}, "unknown optimizer 'sgd'. Known: adafactor, adamw"),
        ({"precision": "fp15"}, "unknown precision 'fp15'. Did you mean fp16"),
        ({"padding": "ful"}, "unknown padding 'ful'. Did you mean full"),
        ({"decoding": "squd"}, "unknown decoding 'squd'. Did you mean squad"),
        ({"select": "english"}, "unknown selection rule 'english'. Did you mean english-dev?"),
        ({"select": "single-target:xx"}, "unknown language 'xx'"),
        ({"train_on": "squad"}, "unknown task 'squad'. Did you mean xquad?"),
    ],
)
def test_unknown_name_suggests_the_nearest(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UnknownNameError, match=said):
        recipe("paper", "xnli", "base", tables)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"batch": 2.5}, "batch = 2.5 is not a whole number"),
        ({"batch": True}, "batch = True is not a whole number"),
        ({"epochs": "two"}, "epochs = 'two' is not a number"),
        ({"checkpointing": 1}, "checkpointing = 1 is not true or false"),
        ({"select": 1}, "select = 1 is not a string"),
        ({"stages": "siqa"}, "stages = 'siqa' is not a list of strings"),
        ({"dev_examples": "some"}, "dev_examples = 'some' is not a whole number or \"all\""),
        ({"selecting_examples": 1.5}, 'selecting_examples = 1.5 is not a whole number or "all"'),
        ({"test_examples": True}, "test_examples = True is not a whole number"),
        ({"test_examples": -1}, "test_examples = -1 is not a whole number of at least 0"),
        ({"batch": "all"}, "batch = 'all' is not a whole number"),
        ({"stages": [1]}, "is not a list of strings"),
        ({"mlqa": {"like": [[]]}}, r"like = \[\[\]\] is not a string"),
        ({"checkpoints": 0}, "checkpoints = 0 is not a number above 0 and at most 100"),
        ({"checkpoints": 101}, "checkpoints = 101 is not a number above 0 and at most 100"),
        ({"checkpoints": float("nan")}, "checkpoints = nan is not a number above 0 and at most 100"),
        ({"learning_rate": float("nan")}, "learning_rate = nan is not a number above 0"),
        ({"epochs": float("inf")}, "epochs = inf is not a number of at least 0"),
        ({"dropout": 1.0}, "dropout = 1.0 is not a number from 0 to below 1"),
        ({"learning_rate": 0}, "learning_rate = 0 is not a number above 0"),
        ({"stride": 0}, "stride = 0 is not a whole number above 0"),
        ({"chunk": 0}, "chunk = 0 is not a whole number above 0"),
        ({"xnli": {"epochs": -1}}, r"\[xnli\]: epochs = -1 is not a number of at least 0"),
    ],
)
def test_invalid_value_raises(tables: dict[str, Any], said: str) -> None:
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
def test_unknown_name_error_names_the_file(text: str, section: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UnknownNameError) as caught:
        changes(path)
    assert str(caught.value).startswith(f"{path}{section}: unknown ")


def test_mini_task_section_overrides_the_full_task() -> None:
    tables = {"xnli": {"epochs": 3, "batch": 4}, "mini-xnli": {"epochs": 5, "large": {"batch": 2}}}
    assert recipe("paper", "xnli", "base", tables).epochs == 3
    assert (
        recipe("paper", "mini-xnli", "base", tables).epochs,
        recipe("paper", "mini-xnli", "base", tables).batch,
    ) == (5, 4)
    assert recipe("paper", "mini-xnli", "large", tables).batch == 2
    alike = {"xnli": {"epochs": 3}, "mini-xcopa": {"like": "xnli"}}
    assert [recipe("paper", task, "base", alike).epochs for task in ("xcopa", "mini-xcopa")] == [2, 3]


def test_missing_and_invalid_files_raise(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
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
        (1024, 12, False, "base"),  # XLM-15, trained like mBERT in the scripts
        (1280, 16, False, "large"),  # XLM-100, trained like XLM-R Large
        (1024, 24, False, "large"),
        (768, 24, False, "large"),
        (512, 8, True, "text2text"),
    ],
)
def test_size_follows_from_configuration(hidden: int, layers: int, decodes: bool, size: str) -> None:
    config = SimpleNamespace(hidden_size=hidden, num_hidden_layers=layers, is_encoder_decoder=decodes)
    assert size_of(config) == size


@pytest.mark.parametrize("size", ["base", "large"])
def test_scripts_take_the_behaviour_of_the_reference(size: str) -> None:
    """Settings that differ by default, because the default is faster or fairer."""
    for task in ("xquad", "mlqa", "tydiqa", "tatoeba", "mini-xquad"):
        found = recipe("scripts", task, size)
        assert (found.chunk, found.padding, found.decoding) == (1, "full", "squad")
    assert recipe("scripts", "udpos", size).extra_separator and recipe("scripts", "wikiann", size).extra_separator
    assert not recipe("scripts", "lareqa", size).hide_duplicates
    assert not recipe("scripts", "mewslix", size).hide_duplicates
    default = recipe("paper", "xquad", size)
    assert (default.chunk, default.padding, default.decoding, default.hide_duplicates) == (16, "batch", "exact", True)
    written = recipe("scripts", "xquad", "text2text")
    assert (written.chunk, written.padding) == (16, "batch")


@pytest.mark.parametrize(
    ("task", "size", "values"),
    [
        ("mewslix", "base", ("32", "64 x 4")),
        ("mewslix", "large", ("3e-5", "1e-5", "8 x 4")),
        ("lareqa", "base", ("two epochs", "three")),
        ("lareqa", "large", ("two epochs", "three")),
    ],
)
def test_paper_names_the_columns_it_does_not_give(task: str, size: str, values: tuple[str, ...]) -> None:
    found, printed = recipe("paper", task, size), recipe("scripts", task, size)
    assert all(value in found.note for value in values)
    assert (found.learning_rate, found.batch, found.epochs) != (printed.learning_rate, printed.batch, printed.epochs)
    assert not printed.note
    assert "\n" not in found.note and "  " not in found.note
