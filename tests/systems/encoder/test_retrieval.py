"""Translation retrieval by a hidden layer of a model trained and selected on questions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.errors import UnknownNameError
from isogloss.systems.base import FitContext, System, SystemFailureError, system
from isogloss.systems.encoder import EncoderSystem
from isogloss.systems.encoder.system import EncoderRetrieval
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.systems.retrieval import token_mean
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.training.checkpoint_record import read_checkpoints

torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

TATOEBA, BUCC, QUESTIONS = task("mini-tatoeba"), task("bucc"), task("mini-xquad")
TEXTS = ["Who is it?", "The house is old, and the window in the room is red.", "水"]
QUICK: dict[str, Any] = {"steps": 8, "batch": 8, "checkpoints": 25, "max_length": 64, "learning_rate": 1e-3}


def encoder(model: Path, **settings: Any) -> EncoderSystem:
    found = system(f"encoder:{model}", quiet=True, **settings)
    assert isinstance(found, EncoderSystem)
    return found


def retrieval(found: EncoderSystem, asked: Task) -> EncoderRetrieval:
    adapter = found.adapter(asked)
    assert isinstance(adapter, EncoderRetrieval)
    return adapter


def embedder(folder: Path, cache: Path, asked: Task, layer: str = "xtreme") -> System:
    return system(f"embedder:{folder}", layer=layer, cache=cache, quiet=True).fit(asked, None, 0)


def questions() -> Examples:
    return load(QUESTIONS, "en", "train").keep(range(64))


def context(folder: Path, asked: Task, *languages: str) -> FitContext:
    def examples(language: str, split: str) -> Examples:
        found = load(asked, language, split)
        return found if split == "dev" else found.keep(range(20))

    return FitContext(folder=folder, languages=languages, examples=examples)


@pytest.mark.parametrize("model", ["tiny_bert", "tiny_xlmr"])
@pytest.mark.parametrize("layer", [1, 2])
def test_vectors_are_means_of_hidden_states(model: str, layer: int, request: pytest.FixtureRequest) -> None:
    import transformers

    folder = request.getfixturevalue(model)
    adapter = retrieval(encoder(folder, layer=layer), BUCC)
    found = adapter.vectors(adapter.pooled_encoder(adapter.load_model(0)), TEXTS, adapter.text_lengths[0])
    reference = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, vector in zip(TEXTS, found, strict=True):
        tokens = tokenizer(text, return_tensors="pt")  # one text, so that nothing is padded
        states = reference(**tokens, output_hidden_states=True).hidden_states
        assert len(states) == 3  # embeddings and two layers
        mean = states[layer][0].mean(dim=0).detach().numpy()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_sentences_use_512_tokens_as_in_the_scripts(tiny_bert: Path) -> None:
    adapter = retrieval(encoder(tiny_bert, max_length=64), TATOEBA)
    assert adapter.text_lengths == (512, 512)
    adapter.source.config.max_position_embeddings = 100
    assert adapter.text_lengths == (100, 100)


def test_stages_and_training_tasks(tiny_bert: Path) -> None:
    plain = encoder(tiny_bert)
    assert {name: plain.learns_from(task(name)).id for name in ("tatoeba", "mini-tatoeba")} == {
        "tatoeba": "xquad",
        "mini-tatoeba": "mini-xquad",
    }
    assert plain.needs_training(TATOEBA)
    assert not plain.needs_training(BUCC)
    assert not encoder(tiny_bert, epochs=0).needs_training(TATOEBA)
    other = encoder(tiny_bert, train_on="tydiqa")
    assert other.needs_training(BUCC)
    assert retrieval(other, BUCC).dev_task is task("tydiqa")
    assert retrieval(plain, task("tatoeba")).recipe == encoder(tiny_bert, train_on="xquad").recipe_for(task("xquad"))


def test_layer_is_part_of_the_name(tiny_bert: Path) -> None:
    usual, last = encoder(tiny_bert), encoder(tiny_bert, layer=2)
    assert last.name == f"{usual.name}-layer-2"
    assert "layer" not in usual.metadata
    assert last.metadata["layer"] == "2"
    assert [retrieval(found, TATOEBA).layer for found in (usual, last)] == [1, 2]


@pytest.mark.parametrize(
    ("settings", "asked", "said"),
    [
        ({"layer": 3}, TATOEBA, "no layer '3'. Use 1 to 2, last or xtreme"),
        ({"train_on": "lareqa"}, TATOEBA, "cannot learn from mini-lareqa. Set train_on to another task"),
        ({}, task("lareqa"), "cannot search the shared pool of .*: use dual-encoder or embedder"),
        ({"raw": True}, TATOEBA, "raw requires a task with named entities"),
    ],
)
def test_unsupported_settings_raise_before_training(
    settings: dict[str, Any], asked: Task, said: str, tiny_bert: Path
) -> None:
    with pytest.raises(SystemFailureError, match=said):
        encoder(tiny_bert, **settings).fit(asked, questions(), 0)


def test_models_with_language_ids_are_refused(tiny_xlm: Path) -> None:
    with pytest.raises(SystemFailureError, match="needs the language of a text"):
        encoder(tiny_xlm).fit(BUCC, None, 0)


def test_layer_with_fewer_states_than_tokens_raises() -> None:
    with pytest.raises(SystemFailureError, match="the layer has 2 states for 8 tokens"):
        token_mean(torch.zeros(3, 2, 4), torch.ones(3, 8))


def test_mining_needs_no_training(tiny_bert: Path, tmp_path: Path) -> None:
    pairs = load(TATOEBA, "de", "test")
    asked = Examples("bucc", "de", "dev", pairs.ids, pairs.columns, pairs.gold, pool=pairs.pool)
    found = encoder(tiny_bert).fit(BUCC, questions(), 0).predict(asked)
    assert found == embedder(tiny_bert, tmp_path, BUCC).predict(asked)
    assert any(found)


def test_train_select_and_predict(tiny_bert: Path, tmp_path: Path) -> None:
    """The checkpoint is the best at answering questions, and an embedder gives the same vectors from its layer."""
    folder, asked = tmp_path / "tatoeba", load(TATOEBA, "de", "test")
    found = encoder(tiny_bert, **QUICK).learn(TATOEBA, questions(), 0, context(folder, TATOEBA, "de", "sw"))
    answers = found.predict(asked)
    reader = encoder(tiny_bert, **QUICK)
    reader.learn(QUESTIONS, questions(), 0, context(tmp_path / "xquad", QUESTIONS, "en"))
    log, read = read_fit_log(folder), read_fit_log(tmp_path / "xquad")
    assert log is not None
    assert read is not None
    assert log.learnt_from["task"] == "mini-xquad"
    assert log.chosen == dict.fromkeys(("de", "sw"), read.chosen["en"])
    step, by = log.chosen["de"]
    assert by == "en dev"
    weights = folder / "weights" / ("last" if step == log.updates else f"step-{step:08}")
    embedded = embedder(weights, tmp_path / "vectors", TATOEBA).predict(asked)
    # Vectors may differ in their last bits between batches, which swaps nearly equal candidates.
    assert np.mean(np.array(answers) == np.array(embedded)) >= 0.99
    assert answers != encoder(tiny_bert, epochs=0).fit(TATOEBA, None, 0).predict(asked)

    record = read_checkpoints(folder)
    scored = {(row.language, row.split, row.metric) for row in record.rows}
    assert scored == {("en", "dev", "f1"), ("en", "dev", "em"), *((code, "test", "accuracy") for code in ("de", "sw"))}
    assert record.answers(step, "de") == {name: answers[asked.ids.index(name)] for name in asked.ids[:20]}

    again = encoder(tiny_bert, **QUICK).learn(TATOEBA, questions(), 0, context(folder, TATOEBA, "de", "sw"))
    assert again.predict(asked) == answers
    assert read_fit_log(folder) == log


def test_stopped_fit_resumes(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = encoder(tiny_bert, **QUICK).learn(TATOEBA, questions(), 0, context(tmp_path / "whole", TATOEBA, "de"))
    answer, asked = EncoderRetrieval.predict, []

    def stopped(self: EncoderRetrieval, model: Any, examples: Examples) -> Any:
        asked.append(examples.task)
        if len(asked) == 5:  # at the third checkpoint
            raise OSError("the plug was pulled")
        return answer(self, model, examples)

    monkeypatch.setattr(EncoderRetrieval, "predict", stopped)
    learning = encoder(tiny_bert, **QUICK), context(tmp_path / "stopped", TATOEBA, "de")
    with pytest.raises(OSError, match="the plug"):
        learning[0].learn(TATOEBA, questions(), 0, learning[1])
    assert set(asked) == {"mini-xquad", "mini-tatoeba"}
    gone_on = learning[0].learn(TATOEBA, questions(), 0, learning[1])
    test = load(TATOEBA, "de", "test")
    assert gone_on.predict(test) == whole.predict(test)
    records = [read_checkpoints(tmp_path / name).rows for name in ("whole", "stopped")]
    assert records[0] == records[1]


def test_rule_with_a_language_without_questions(tiny_bert: Path, tmp_path: Path) -> None:
    found = encoder(tiny_bert, select="single-target:ur", train_on="xquad")
    with pytest.raises(UnknownNameError, match="language of xquad in single-target:ur: 'ur'"):
        found.learn(task("tatoeba"), questions(), 0, context(tmp_path, TATOEBA, "de"))


def test_whole_baseline_in_one_command(tiny_bert: Path, tmp_path: Path) -> None:
    changes = ",".join(f"{key}={value}" for key, value in QUICK.items())
    name = f"encoder:{tiny_bert}#{changes},label=mine,quiet"
    summary = isogloss.train(name, ["mini-tatoeba"], languages=["de", "sw"], out=tmp_path)
    assert "2 cells done" in repr(summary)
    folder = tmp_path / "mine/zero-shot/seed-0"
    assert {path.name for path in (folder / "mini-tatoeba").iterdir()} == {"de.jsonl", "sw.jsonl"}
    assert (folder / ".training/mini-tatoeba/training.json").exists()


def test_missing_squad_error_has_a_fix(tiny_bert: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from isogloss.cli.main import main

    (tmp_path / "data/tatoeba").mkdir(parents=True)
    for side in ("eng", "jav"):
        lines = "".join(f"{side} {row}\n" for row in range(205))
        (tmp_path / f"data/tatoeba/tatoeba.jav-eng.{side}").write_text(lines)
    words = [
        "--tasks",
        "tatoeba",
        "--languages",
        "jv",
        "--data",
        str(tmp_path / "data"),
        "--out",
        str(tmp_path / "runs"),
    ]
    with pytest.raises(SystemExit):
        main(["train", f"encoder:{tiny_bert}", *words])
    said = capfd.readouterr().out
    assert "no train file of xquad/en" in said
    assert "isogloss fetch squad" in said
    assert "or set train_on to a task with a training set" in said
    with pytest.raises(SystemExit) as ended:
        main(["train", f"encoder:{tiny_bert}#epochs=0", *words])
    assert ended.value.code == 0
    assert (tmp_path / f"runs/encoder-{tiny_bert.name}/zero-shot/seed-0/tatoeba/jv.jsonl").exists()
