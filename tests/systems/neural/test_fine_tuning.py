"""One fit: the record, the stored weights, and no repeated work."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.errors import DataError, UnknownNameError
from isogloss.systems.base import FitContext, SystemFailureError, system
from isogloss.systems.neural.checkpoint_callback import CheckpointCallback
from isogloss.systems.neural.fit_log import FitLog, kept_weights, read_fit_log, write_fit_log
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training import inference, loop
from isogloss.training.checkpoint_record import CheckpointRecord, read_checkpoints
from isogloss.training.selection import ChosenCheckpoint
from systems.neural.scripted import STEPS, ScriptedSystem, context, labelled

pytestmark = pytest.mark.slow

XNLI = task("xnli")
SCRIPT = {"en": [3, 7, 7, 5], "de": [1, 2, 3, 2], "sw": [9, 1, 1, 1]}


@pytest.fixture
def learn(tiny_bert: Path, tmp_path: Path) -> Callable[..., ScriptedSystem]:
    """Learn in a folder by a rule; the languages are English, German and Swahili."""

    def learn(
        folder: str = "fit", *languages: str, script: dict[str, list[int]] = SCRIPT, seed: int = 0, **settings: Any
    ) -> ScriptedSystem:
        system = ScriptedSystem(str(tiny_bert), script, **settings)
        where = context(tmp_path / folder, XNLI, *(languages or ("en", "de", "sw")))
        system.learn(XNLI, labelled(XNLI, "en", "train", 16), seed, where)
        return system

    return learn


def kept(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "weights").iterdir())


def weights(system: ScriptedSystem, language: str) -> Any:
    assert system._model is not None
    return system._model.for_language(language).classifier.weight.detach().clone()


@pytest.mark.parametrize(
    ("rule", "chosen", "folders"),
    [
        ("training-dev", {"en": 4, "de": 4, "sw": 4}, ["last", "step-00000004"]),
        ("english-dev", {"en": 4, "de": 4, "sw": 4}, ["last", "step-00000004"]),
        ("target-dev", {"en": 4, "de": 6, "sw": 2}, ["last", "step-00000002", "step-00000004", "step-00000006"]),
        ("single-target:de", {"en": 6, "de": 6, "sw": 6}, ["last", "step-00000006"]),
        ("last", {"en": 8, "de": 8, "sw": 8}, ["last"]),
    ],
)
def test_only_weights_chosen_by_the_rule_are_kept(
    rule: str, chosen: dict[str, int], folders: list[str], learn: Callable[..., ScriptedSystem], tmp_path: Path
) -> None:
    system = learn(select=rule)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert {code: choice.step for code, choice in log.chosen.items()} == chosen
    assert kept(tmp_path / "fit") == folders
    again = learn(select=rule)
    for language, step in chosen.items():
        same = [other for other in chosen if chosen[other] == step]
        assert all(weights(again, language).equal(weights(system, other)) for other in same)
        assert not any(weights(again, language).equal(weights(system, other)) for other in chosen.keys() - same)


@pytest.mark.parametrize(("rule", "also"), [("training-dev", "step-00000004"), ("last", "step-00000004")])
def test_weights_of_the_oracle_are_kept_by_option(
    rule: str, also: str, learn: Callable[..., ScriptedSystem], tmp_path: Path
) -> None:
    system = learn(select=rule, keep_weights="oracle")
    assert kept(tmp_path / "fit") == ["last", "step-00000002", also, "step-00000006"]
    assert {*kept_weights(tmp_path / "fit")} == {2, 4, 6, 8}
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert {choice.step for choice in log.chosen.values()} == {4 if rule == "training-dev" else 8}
    plain = learn("plain", select=rule)
    assert weights(system, "de").equal(weights(plain, "de"))


def test_last_weights_are_stored_once(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    learn(script={"en": [1, 2, 3, 4], "de": [0] * 4, "sw": [0] * 4})
    assert kept(tmp_path / "fit") == ["last"]


def test_folder_content(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    learn("fit", "sw", "ta", seed=3)
    folder = tmp_path / "fit"
    names = sorted(path.name for path in folder.iterdir())
    assert names == ["checkpoints.csv", "checkpoints.npz", "training.json", "weights"]
    found = read_checkpoints(folder)
    assert found.steps == tuple(STEPS)
    # English is not requested, but the rule uses its dev set.
    asked = {(row.language, row.split) for row in found.rows}
    assert asked == {("sw", "dev"), ("sw", "test"), ("ta", "test"), ("en", "dev")}
    assert {row.seed for row in found.rows} == {3}
    assert {row.value for row in found.rows if (row.step, row.language, row.split) == (2, "sw", "dev")} == {90.0}
    log = json.loads((folder / "training.json").read_text())
    assert log["notes"] == ["ta dev: no dev file of xnli/ta"]
    assert log["chosen"] == {"sw": [4, "en dev"], "ta": [4, "en dev"]}
    assert (log["updates"], log["seed"], log["recipe"]["batch"]) == (8, 3, 8)
    assert log["learnt_from"]["examples"] == 16
    assert list(log["losses"]) == ["2", "4", "6", "8"]


@pytest.mark.parametrize("family", ["encoder", "dual-encoder"])
def test_unused_examples_are_counted(family: str, tiny_bert: Path, tmp_path: Path) -> None:
    of = task("mini-xquad" if family == "encoder" else "mini-lareqa")
    train = load("mini-xquad", "en", "train").keep(range(8))
    train.columns |= {"answers": [["not there"], *train["answers"][1:]]}
    train.columns |= {"answer_starts": [[-1], *train["answer_starts"][1:]]}
    learner = system(f"{family}:{tiny_bert}", quiet=True, steps=1, batch=8, test_examples=0, dev_examples=0)
    learner.learn(
        of,
        train,
        0,
        FitContext(folder=tmp_path, languages=("en",), examples=lambda language, split: load(of, language, split)),
    )
    log = read_fit_log(tmp_path)
    assert log is not None
    [note] = [note for note in log.notes if "left out" in note]
    assert note.startswith("mini-xquad/en train: 1 of 8 examples left out: the answer ")


def test_other_tools_open_the_weights(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    from transformers import pipeline

    learn(select="last")
    judge = pipeline("text-classification", str(tmp_path / "fit" / "weights" / "last"))
    assert judge("Eric is old.")[0]["label"] in XNLI.labels


def test_finished_fit_is_not_repeated(
    learn: Callable[..., ScriptedSystem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = labelled(XNLI, "de", "test", 30)
    before = learn("fit", "en", "de").predict(asked)
    monkeypatch.setattr(loop, "train", lambda *words, **settings: pytest.fail("trained twice"))
    assert learn("fit", "de").predict(asked) == before
    # One checkpoint serves all languages, including those not requested before; the log notes it.
    for _ in range(2):
        assert learn("fit", "en", "de", "sw").predict(labelled(XNLI, "sw", "test", 30)) == before
        log = read_fit_log(tmp_path / "fit")
        assert log is not None
        assert log.languages == ["en", "de"]
        assert log.notes == ["sw: not in the record, which was already complete"]


def test_leftovers_of_a_finished_fit_are_removed(
    learn: Callable[..., ScriptedSystem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def written(folder: Path, log: FitLog) -> None:
        write_fit_log(folder, log)
        if log.finished:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("isogloss.systems.neural.checkpoint_callback.write_fit_log", written)
        with pytest.raises(KeyboardInterrupt):
            learn(select="last")
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.finished
    assert (tmp_path / "fit" / "state").exists()
    learn(select="last")
    names = sorted(path.name for path in (tmp_path / "fit").iterdir())
    assert names == ["checkpoints.csv", "checkpoints.npz", "training.json", "weights"]


def test_damaged_dev_set_raises(tiny_bert: Path, tmp_path: Path) -> None:
    def examples(language: str, split: str) -> Examples:
        if split == "dev":
            raise DataError("1 columns instead of 3", where="dev-en.tsv:3")
        return labelled(XNLI, language, split, 10)

    system = ScriptedSystem(str(tiny_bert), SCRIPT)
    with pytest.raises(DataError, match=r"dev-en\.tsv:3: 1 columns"):
        system.learn(
            XNLI,
            labelled(XNLI, "en", "train", 16),
            0,
            FitContext(folder=tmp_path, languages=("en",), examples=examples),
        )


def test_best_checkpoint_differs_by_language(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    learn("fit", "en", select="target-dev")
    learn("fit", "en", "sw", select="target-dev")
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.chosen["sw"] == ChosenCheckpoint(2, "sw dev")


def test_other_settings_start_over(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    learn(select="target-dev")
    learn(select="last", batch=4)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.updates == 16
    assert kept(tmp_path / "fit") == ["last"]
    assert read_checkpoints(tmp_path / "fit").steps == (4, 8, 12, 16)


@pytest.mark.parametrize("state_every", [0.0, 1e9])
@pytest.mark.parametrize("moment", ["before", "after", "at the end"])
def test_killed_fit_resumes_to_the_same_result(
    moment: str,
    state_every: float,
    learn: Callable[..., ScriptedSystem],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop, "STATE_EVERY", state_every)
    whole = learn("undisturbed")
    add = CheckpointRecord.add

    def killed_at_the_end(record: CheckpointRecord) -> None:
        raise KeyboardInterrupt

    def killed(record: CheckpointRecord, step: int, *words: Any) -> None:
        if step == 6 and moment == "before":
            raise KeyboardInterrupt
        add(record, step, *words)
        if step == 6 and moment == "after":
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(CheckpointRecord, "add", killed)
        patched.setattr(CheckpointRecord, "finish", killed_at_the_end)
        with pytest.raises(KeyboardInterrupt):
            learn("killed")
    log = read_fit_log(tmp_path / "killed")
    assert log is not None
    assert not log.finished
    # Checkpoints after the last state are repeated.
    done = 4 if moment == "at the end" else 2 if state_every == 0.0 else 0
    rest = {code: values[done:] for code, values in SCRIPT.items()}
    again = learn("killed", script=rest)
    for name in ("checkpoints.csv", "checkpoints.npz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()
    assert kept(tmp_path / "killed") == kept(tmp_path / "undisturbed")
    assert weights(again, "en").equal(weights(whole, "en"))
    last = [read_fit_log(tmp_path / name) for name in ("killed", "undisturbed")]
    assert last[0] is not None
    assert last[1] is not None
    assert last[0].losses == last[1].losses


@pytest.fixture
def killed(learn: Callable[..., ScriptedSystem], monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Learn until just after the checkpoint at update 6; the last state on disk is that of update 4."""

    def killed(*words: str, **settings: Any) -> None:
        observe = CheckpointCallback.__call__

        def until(observer: CheckpointCallback, info: loop.CheckpointInfo, model: Any) -> bool:
            found = observe(observer, info, model)
            if info.step == 6:
                raise KeyboardInterrupt
            return found

        monkeypatch.setattr(loop, "STATE_EVERY", 0.0)
        with monkeypatch.context() as patched:
            patched.setattr(CheckpointCallback, "__call__", until)
            with pytest.raises(KeyboardInterrupt):
                learn(*words, **settings)

    return killed


def test_record_matches_the_run_that_made_the_weights(
    killed: Callable[..., None], learn: Callable[..., ScriptedSystem], tmp_path: Path
) -> None:
    """A resumed run with another model at update 6 than the first, as rounding on CUDA may cause."""
    killed(script={"en": [3, 5, 9], "de": [0] * 3, "sw": [0] * 3})
    assert kept(tmp_path / "fit") == ["step-00000004", "step-00000006"]
    system = learn(script={"en": [4, 2], "de": [0] * 2, "sw": [0] * 2})
    found = read_checkpoints(tmp_path / "fit")
    assert [row.value for row in found.rows if (row.language, row.split) == ("en", "dev")] == [30, 50, 40, 20]
    # The best checkpoint before the state still exists, though it was not the best when the first run ended.
    assert kept(tmp_path / "fit") == ["last", "step-00000004"]
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.chosen["de"] == ChosenCheckpoint(4, "en dev")
    asked = labelled(XNLI, "de", "test", 10)
    assert dict(zip(asked.ids, system.predict(asked), strict=True)) == found.answers(4, "de")


def test_added_language_keeps_the_training(
    killed: Callable[..., None], learn: Callable[..., ScriptedSystem], tmp_path: Path
) -> None:
    whole = learn("undisturbed", "en")
    killed("fit", "en")
    again = learn("fit", "en", "sw", script={"en": [7, 5], "sw": [1, 2]})
    assert weights(again, "en").equal(weights(whole, "en"))
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.languages == ["en", "sw"]
    assert log.chosen == {"en": ChosenCheckpoint(4, "en dev"), "sw": ChosenCheckpoint(4, "en dev")}
    late = "predicted only from update 6 on (added later)"
    assert log.notes == [f"sw dev: {late}", f"sw test: {late}"]
    rows = read_checkpoints(tmp_path / "fit").rows
    assert [row.step for row in rows if (row.language, row.split) == ("en", "test")] == STEPS
    assert [row.step for row in rows if (row.language, row.split) == ("sw", "test")] == [6, 8]


def test_training_ends_when_english_dev_converges(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    script = {"en": [5, 6, 6, 4, 9, 9, 9, 9], "de": [0] * 8, "sw": [0] * 8}
    learn(script=script, patience=2, checkpoints=12.5)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.updates == 4
    assert log.chosen["sw"] == ChosenCheckpoint(2, "en dev")


@pytest.mark.parametrize(
    ("trained_on", "granted", "chosen"),
    [
        ("de", (), ChosenCheckpoint(6, "de dev")),
        ("de", ("en",), ChosenCheckpoint(4, "en dev")),  # a translation: German has no labels
        ("de+sw", (), ChosenCheckpoint(2, "de+sw dev")),
    ],
)
def test_training_task_dev_set_selects(
    trained_on: str, granted: tuple[str, ...], chosen: ChosenCheckpoint, tiny_bert: Path, tmp_path: Path
) -> None:
    where = replace(context(tmp_path, XNLI, "de"), dev_languages=granted)
    ScriptedSystem(str(tiny_bert), SCRIPT).learn(XNLI, labelled(XNLI, trained_on, "train", 16), 0, where)
    log = read_fit_log(tmp_path)
    assert log is not None
    assert log.chosen == {"de": chosen}


def test_training_task_dev_set_decides_convergence(tiny_bert: Path, tmp_path: Path) -> None:
    script = {"en": [1, 2, 3, 4, 5, 6, 7, 8], "de": [5, 6, 6, 4, 9, 9, 9, 9]}
    made = ScriptedSystem(str(tiny_bert), script, patience=2, checkpoints=12.5)
    made.learn(XNLI, labelled(XNLI, "de", "train", 16), 0, context(tmp_path, XNLI, "de"))
    log = read_fit_log(tmp_path)
    assert log is not None
    assert (log.updates, log.chosen) == (4, {"de": ChosenCheckpoint(2, "de dev")})


@pytest.mark.parametrize(
    ("settings", "asked"),
    [
        ({}, {("en", "dev"): 400, ("de", "dev"): 300, ("de", "test"): 400}),
        ({"select": "target-dev"}, {("de", "dev"): 400, ("de", "test"): 400}),
        ({"select": "last"}, {("de", "dev"): 300, ("de", "test"): 400}),
        ({"select": "last", "patience": 9}, {("en", "dev"): 400, ("de", "dev"): 300, ("de", "test"): 400}),
        ({"selecting_examples": 7, "dev_examples": "all"}, {("en", "dev"): 7, ("de", "dev"): 400, ("de", "test"): 400}),
        ({"dev_examples": 0, "test_examples": 9}, {("en", "dev"): 400, ("de", "test"): 9}),
    ],
)
def test_whole_dev_sets_select_and_others_are_partial(
    settings: dict[str, Any], asked: dict[tuple[str, str], int], tiny_bert: Path, tmp_path: Path
) -> None:
    where = FitContext(
        folder=tmp_path, languages=("de",), examples=lambda language, split: labelled(XNLI, language, split, 400)
    )
    made = system(f"encoder:{tiny_bert}", quiet=True, batch=8, epochs=1, checkpoints=100, **settings)
    made.learn(XNLI, labelled(XNLI, "en", "train", 16), 0, where)
    assert {(row.language, row.split): row.n for row in read_checkpoints(tmp_path).rows} == asked


def test_training_task_dev_loss_selects(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LAReQA has no dev rankings, and trains on SQuAD, which has a dev set."""
    of = task("mini-lareqa")
    real, found = inference.mean_loss, []

    def rising_at_last(*words: Any) -> float:
        found.append(real(*words))
        return found[-1] + 100 * (len(found) > 3)

    monkeypatch.setattr(inference, "mean_loss", rising_at_last)

    def examples(language: str, split: str) -> Examples:
        return load(of, language, split)

    where = FitContext(
        folder=tmp_path,
        languages=("en",),
        examples=examples,
        train_task_dev=lambda code: load("mini-xquad", code, "dev").keep(range(40)),
    )
    settings: dict[str, Any] = {"batch": 8, "epochs": 2, "checkpoints": 25, "test_examples": 0, "learning_rate": 0.01}
    made = system(f"dual-encoder:{tiny_bert}", quiet=True, recipe="scripts", **settings)
    made.learn(of, load("mini-xquad", "en", "train").keep(range(64)), 0, where)
    losses = {row.step: row.value for row in read_checkpoints(tmp_path).rows if row.metric == "loss"}
    log = read_fit_log(tmp_path)
    assert log is not None
    assert list(losses) == [4, 8, 12, 16]
    assert log.chosen == {"en": ChosenCheckpoint(min(losses, key=losses.__getitem__), "en dev loss")}
    assert min(losses, key=losses.__getitem__) != 16, "or the last would have been chosen anyway"
    assert all(0 < loss < 10 for loss in found)
    where = FitContext(folder=tmp_path / "none", languages=("en",), examples=examples)
    made.learn(of, load("mini-xquad", "en", "train").keep(range(16)), 0, where)
    log = read_fit_log(tmp_path / "none")
    assert log is not None
    assert log.chosen["en"].by == "last"
    assert any(note.startswith("en dev loss: ") for note in log.notes)


def test_failure_at_a_checkpoint_is_raised(
    learn: Callable[..., ScriptedSystem], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(record: CheckpointRecord, *words: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(CheckpointRecord, "add", fail)
    with pytest.raises(OSError, match="the disk is full"):
        learn()


def test_rule_needs_a_language_of_the_task(learn: Callable[..., ScriptedSystem]) -> None:
    with pytest.raises(UnknownNameError, match="language of xnli in single-target:yo"):
        learn(select="single-target:yo")


def test_rule_without_dev_set_warns(
    learn: Callable[..., ScriptedSystem], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    learn("fit", "en", "ta", select="target-dev", quiet=False)
    log = read_fit_log(tmp_path / "fit")
    assert log is not None
    assert log.chosen == {"en": ChosenCheckpoint(4, "en dev"), "ta": ChosenCheckpoint(8, "last")}
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("xnli seed 0: ta dev: ")
    assert said[0].endswith("; using the last checkpoint instead")


def test_unwritable_weights_raise(
    learn: Callable[..., ScriptedSystem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors import SafetensorError
    from transformers import PreTrainedModel

    def full(*words: Any, **settings: Any) -> None:
        raise SafetensorError("No space left on device")

    monkeypatch.setattr(PreTrainedModel, "save_pretrained", full)
    with pytest.raises(SystemFailureError, match=r"cannot write weights \(No space left on device\)\. Free disk space"):
        learn()
    assert kept(tmp_path / "fit") == []


def test_damaged_weights_raise(learn: Callable[..., ScriptedSystem], tmp_path: Path) -> None:
    learn(select="last")
    (tmp_path / "fit" / "weights" / "last" / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(SystemFailureError, match=r"cannot read weights: .* Remove .* to train again"):
        learn(select="last").predict(labelled(XNLI, "de", "test", 3))
