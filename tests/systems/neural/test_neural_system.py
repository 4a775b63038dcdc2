"""Behaviour common to all fine-tuned models, before and after training."""

import logging
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.systems.base import FitContext, System, SystemFailureError, system
from isogloss.systems.ngram import NgramSystem
from isogloss.systems.pretrained import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from systems.neural.scripted import ScriptedSystem, labelled

XNLI = task("xnli")


def test_names_distinguish_systems() -> None:
    assert system("encoder:owner/Model-base").name == "encoder-Model-base"
    assert system("encoder:some/folder/bert#random").name == "encoder-bert-random"
    assert system("encoder:bert", recipe="keung").name == "encoder-bert-keung"
    assert system("encoder:bert", random=True).name == "encoder-bert-random"
    assert system("encoder:bert", label="mine").name == "mine"
    assert system("encoder:bert#random").source == ModelSource("bert", random=True)


def test_settings_in_a_name() -> None:
    found = system("dual-encoder:bert#pooling=mean, both,epochs=3,learning_rate=3e-5,select=single-target:sw")
    assert found.name == "dual-encoder-bert-mean-both"
    assert found.overrides == {"epochs": 3.0, "learning_rate": 3e-5, "select": "single-target:sw"}
    assert system("encoder:bert#raw=false,recipe=keung").name == "encoder-bert-keung"
    assert system("encoder:bert#epochs=3,label=mine", epochs=4).overrides == {"epochs": 4.0}  # the keyword wins
    assert system("encoder:bert#label=5").name == "5"


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("encoder", {}, "encoder needs a model. Use encoder:FOLDER"),
        ("encoder:#random", {}, "encoder needs a model"),
        ("encoder:bert", {"recipe": "papers"}, "unknown recipe 'papers'. Did you mean paper?"),
        ("encoder:bert", {"epoch": 3}, "unknown setting of encoder: 'epoch'. Did you mean epochs"),
        ("encoder:bert#rondom", {}, "unknown setting of encoder: 'rondom'. Did you mean random?"),
        ("dual-encoder:bert#poolin=mean", {}, "unknown setting of dual-encoder: 'poolin'. Did you mean pooling?"),
        ("dual-encoder:bert#pooling", {}, "unknown pooling 'True'. Known: cls, mean, pooled"),
        ("text2text:mt5#raw", {}, "unknown setting of text2text: 'raw'. Known: answer_length, batch"),
        ("encoder:bert#raw=no", {}, "raw: expected true or false, got 'no'. Write raw or raw=false"),
        ("encoder:bert#epochs=many", {}, "epochs = 'many' is not a number"),
        ("encoder#random", {}, "encoder needs a model"),
        ("ngram#seed=3", {}, "^unknown setting of ngram: 'seed'. Known: train_on"),
        ("embedder:muse#layr=3", {}, "^unknown setting of embedder: 'layr'. Did you mean layer"),
        ("ngram:3", {}, "system 'ngram' cannot be created: .*argument"),
        ("encoder:bert", {"select": "dev"}, "unknown selection rule 'dev'"),
        ("ngram", {"recipe": "paper"}, "unknown setting of ngram: 'recipe'. Known: train_on"),
    ],
)
def test_invalid_settings_raise(name: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(IsoglossError, match=said):
        system(name, **settings)


def test_learn_defaults_to_fit(tmp_path: Path) -> None:
    class Fitted(NgramSystem):
        def fit(self, task: Task, train: Examples | None, seed: int) -> "Fitted":
            self.given = task.id, train, seed
            return self

    made = Fitted()
    context = FitContext(
        folder=tmp_path, languages=("en",), examples=lambda language, split: labelled(XNLI, language, split, 1)
    )
    assert made.learn(XNLI, None, 5, context) is made
    assert made.given == ("xnli", None, 5)
    assert made.learns_from(XNLI) is XNLI
    assert isinstance(made, System)


class TestWithModel:
    """Tests that need the model or its configuration."""

    @pytest.fixture
    def make(self, tiny_bert: Path) -> Any:
        return lambda **settings: ScriptedSystem(str(tiny_bert), {}, **settings)

    def test_metadata_include_deciding_settings(self, make: Any, tiny_bert: Path) -> None:
        found = make(label="mine", select="last").metadata
        assert found["name"] == "mine"
        assert found["model"] == str(tiny_bert)
        assert found["recipe"] == "paper"
        assert found["overrides"]["select"] == "last"
        assert found["weights"] == "pretrained"
        assert make(random=True).metadata["weights"] == "random"
        assert make(random=True).metadata["model_hash"] != found["model_hash"]

    def test_records_name_recipe_without_social_iqa(self, make: Any) -> None:
        for made in (make(siqa=False), make(overrides={"xcopa": {"large": {"siqa": False}}})):
            assert made.metadata["recipe"] == "paper-without-siqa"
            assert made.name.endswith("-paper-without-siqa")
        assert make(siqa=True).metadata["recipe"] == "paper"
        assert make(siqa=False, recipe="scripts", label="mine").name == "mine"
        # XNLI's training settings are the same with and without.
        there, here = make(overrides={"xcopa": {"siqa": False}}, label="a"), make(label="a")
        decided = [one.deciding_settings(one.metadata, XNLI) for one in (there, here)]
        assert decided[0] == decided[1]
        xcopa = [one.deciding_settings(one.metadata, task("xcopa")) for one in (there, here)]
        assert xcopa[0] != xcopa[1]

    def test_keys_and_tables_override_the_recipe(self, make: Any) -> None:
        made = make(overrides={"xnli": {"max_length": 50}, "warmup": 3}, dev_examples=7)
        assert (made.recipe_for(XNLI).max_length, made.recipe_for(task("mini-xnli")).max_length) == (50, 50)
        assert (made.recipe_for(XNLI).warmup, made.recipe_for(XNLI).dev_examples) == (3, 7)
        assert made.recipe_for(task("mldoc")).max_length == 256
        assert made.size == "base"

    def test_train_on_another_task(self, make: Any) -> None:
        assert make().learns_from(XNLI) is XNLI
        assert make().learns_from(task("tatoeba")).id == "xquad"
        assert make().learns_from(task("mini-lareqa")).id == "mini-xquad"
        made = make(overrides={"lareqa": {"train_on": "tydiqa"}})
        assert made.learns_from(task("lareqa")).id == "tydiqa"
        assert made.learns_from(task("tatoeba")).id == "xquad"
        assert made.learns_from(task("bucc")).id == "bucc"

    def test_without_epochs_model_is_untrained(self, make: Any) -> None:
        pytest.importorskip("torch", reason="torch is not installed")
        made = make(epochs=0)
        assert not made.needs_training(XNLI)
        assert make().needs_training(XNLI)
        asked = labelled(XNLI, "de", "test", 4)
        untrained = made.fit(XNLI, None, 0)._model.for_language("de").classifier.weight
        given_some = make(epochs=0).fit(XNLI, labelled(XNLI, "en", "train", 16), 0)
        assert given_some._model.for_language("de").classifier.weight.equal(untrained)
        assert given_some.predict(asked) == made.predict(asked)

    def test_same_seed_gives_same_model(self, make: Any) -> None:
        pytest.importorskip("torch", reason="torch is not installed")
        train, asked = labelled(XNLI, "en", "train", 16), labelled(XNLI, "en", "test", 12)
        made = [make(random=True).fit(XNLI, train, seed) for seed in (1, 1, 2)]
        found = [one._model.for_language("en").classifier.weight.detach() for one in made]
        assert found[0].equal(found[1])
        assert not found[0].equal(found[2])
        assert made[0].predict(asked) == made[1].predict(asked)

    def test_deciding_settings_of_a_task(self, make: Any) -> None:
        """Neither the spelling of the folder nor changes for other tasks or sizes matter."""
        made = make(overrides={"xnli": {"warmup": 3}, "large": {"clip": 8}})
        there, mine = made.deciding_settings(made.metadata, XNLI), made.metadata["overrides"]
        assert there["warmup"] == 3
        assert not {"clip", "overrides", "model"} & there.keys()
        again = {**made.metadata, "model": "elsewhere", "overrides": {**mine, "udpos": {"batch": 4}}}
        assert made.deciding_settings(again, XNLI) == there
        assert made.deciding_settings(again, task("udpos")) != made.deciding_settings(made.metadata, task("udpos"))
        assert made.deciding_settings({**again, "model_hash": "another"}, XNLI) != there

    def test_refused_and_unfitted(self, make: Any) -> None:
        with pytest.raises(SystemFailureError, match="xquad: it does no qa"):
            make().fit(task("xquad"), None, 0)
        with pytest.raises(SystemFailureError, match="needs a training set for xnli"):
            make().fit(XNLI, None, 0)
        with pytest.raises(SystemFailureError, match="is not fitted"):
            make().predict(labelled(XNLI, "en", "test", 1))
        with pytest.raises(SystemFailureError, match="the training set is empty"):
            make().fit(XNLI, labelled(XNLI, "en", "train", 0), 0)


class TestSource:
    """Loading of models, and its errors."""

    def test_missing_folder_raises(self, tmp_path: Path) -> None:
        pytest.importorskip("transformers", reason="transformers is not installed")
        with pytest.raises(SystemFailureError, match=r"none: cannot open the model: no such folder\. Pass"):
            _ = ModelSource(str(tmp_path / "none")).config

    def test_unreachable_hub_raises(self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        transformers = pytest.importorskip("transformers", reason="transformers is not installed")

        def unreachable(name: str, **settings: object) -> None:
            logging.getLogger("huggingface_hub.utils._http").warning("Retrying in 1s [Retry 1/5].")
            raise OSError("We couldn't connect to the hub.\nMore about it")

        monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", unreachable)
        with pytest.raises(SystemFailureError) as caught:
            _ = ModelSource("some/model").config
        assert str(caught.value) == (
            "some/model: cannot open the model: We couldn't connect to the hub. Check the name and the network, "
            "or pass a folder with config.json, weights and tokenizer to work offline"
        )
        assert caplog.text == ""

    @pytest.mark.parametrize("name", [".", "../my-model", "./", "sub/..", "{}", "{}/"])
    def test_folder_name_does_not_depend_on_spelling(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "my-model"
        (folder / "sub").mkdir(parents=True)
        monkeypatch.chdir(folder)
        assert ModelSource(name.format(folder)).title == "my-model"
        assert system(f"encoder:{name.format(folder)}").name == "encoder-my-model"

    def test_missing_weights_raise(self, tiny_bert: Path, tmp_path: Path) -> None:
        for path in tiny_bert.glob("*.json"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
        with pytest.raises(SystemFailureError, match=r"cannot load the weights: .*model.safetensors"):
            ModelSource(str(tmp_path)).load_model("AutoModel", 0)
        assert ModelSource(str(tmp_path), random=True).load_model("AutoModel", 0) is not None

    def test_missing_tokenizer_raises(self, tiny_bert: Path, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_bytes((tiny_bert / "config.json").read_bytes())
        with pytest.raises(SystemFailureError, match="missing tokenizer"):
            _ = ModelSource(str(tmp_path)).tokenizer

    def test_random_weights_are_drawn_from_the_seed(self, tiny_bert: Path) -> None:
        pytest.importorskip("torch", reason="torch is not installed")
        source = ModelSource(str(tiny_bert), random=True)
        found = [source.load_model("AutoModel", seed).embeddings.word_embeddings.weight for seed in (0, 0, 1)]
        assert found[0].equal(found[1])
        assert not found[0].equal(found[2])
        pretrained = ModelSource(str(tiny_bert)).load_model("AutoModel", 0).embeddings.word_embeddings.weight
        assert not found[0].equal(pretrained)
