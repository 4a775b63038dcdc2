"""The loop: it learns, is repeatable, survives kills, and stops at non-finite losses."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("accelerate", reason="training needs accelerate")

from isogloss.training import loop, processes, throughput  # noqa: E402
from isogloss.training.errors import TrainingError  # noqa: E402
from isogloss.training.model_setup import set_dropout  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402
from isogloss.training.resume import Interruption  # noqa: E402
from training.loop_twins import RECIPE  # noqa: E402
from training.toy import Words, bag, weights  # noqa: E402

ADAFACTOR = replace(RECIPE, optimizer="adafactor", weight_decay=0.0)
HERE = Path(__file__).parent
MARK = 19


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread: sums over several threads may be added up in another order."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_loss_decreases():
    model, words = bag(), Words()
    trained = loop.train(model, words, Recipe(name="toy", learning_rate=3e-2, epochs=30, batch=16), seed=1)
    batch = words.batch(np.arange(64), 32, 64)
    found = model(torch.from_numpy(batch["tokens"]), torch.from_numpy(batch["mask"])).argmax(1).numpy()
    assert (found == words.encoded.columns["label"]).mean() >= 0.95
    assert trained.steps == 120
    assert trained.losses[-4:].mean() < trained.losses[:4].mean() / 3
    assert not model.training


def test_same_seed_gives_same_model():
    models = [bag(), bag(), bag()]
    curves = [loop.train(model, Words(), RECIPE, seed=s).losses for model, s in zip(models, (1, 1, 2), strict=True)]
    assert (curves[0] == curves[1]).all()
    assert (weights(models[0]) == weights(models[1])).all()
    assert (curves[0] != curves[2]).any()


def test_matches_plain_torch():
    """AdamW with decay on matrices only, clipping at 1, linear decay after warm-up: the same weights as plain torch."""
    recipe = Recipe(name="toy", learning_rate=1e-2, epochs=2, batch=16, weight_decay=0.1, warmup=2, dropout=0.0)
    model, reference, words = bag(), bag(), Words()
    loop.train(model, words, recipe, seed=5)
    decaying = [p for p in reference.parameters() if p.ndim >= 2]
    others = [p for p in reference.parameters() if p.ndim < 2]
    groups = [{"params": decaying, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, lr=1e-2, eps=1e-8)
    reference.dropout.p = 0.0
    for step, [batch] in enumerate(loop.BatchSchedule(lengths=words.lengths, rows=1, recipe=recipe, seed=5).updates()):
        for group in adam.param_groups:
            group["lr"] = 1e-2 * min(step / 2, (8 - step) / 6)
        arrays = {name: torch.from_numpy(array) for name, array in words.batch(batch.items, 32, 16).items()}
        adam.zero_grad()
        (words.loss(reference, arrays) / len(batch.items)).backward()
        torch.nn.utils.clip_grad_norm_(reference.parameters(), 1.0)
        adam.step()
    assert np.allclose(weights(model), weights(reference), atol=1e-6)


@pytest.mark.parametrize("micro", [4, 5, 16, 100])
def test_several_passes_give_one_update(micro):
    plain = Recipe(name="toy", learning_rate=1e-2, epochs=2, batch=16, dropout=0.0)
    parts = Recipe(name="toy", learning_rate=1e-2, epochs=2, batch=16, dropout=0.0, micro=micro)
    models = bag(), bag()
    curves = [loop.train(model, Words(), recipe).losses for model, recipe in zip(models, (plain, parts), strict=True)]
    assert np.allclose(*curves, atol=1e-6)
    assert np.allclose(weights(models[0]), weights(models[1]), atol=1e-5)


class TokenLabels(Words):
    """Words in which every token has the label of its row, as in tagging: long rows have more labels."""

    def weight(self, items):
        return float(self.lengths[items].sum())

    def loss(self, model, batch):
        logits = model(batch["tokens"], batch["mask"])
        rows = torch.nn.functional.cross_entropy(logits, batch["labels"], ignore_index=-100, reduction="none")
        return (rows * batch["mask"].sum(1)).sum()


def test_every_label_of_an_epoch_has_equal_weight():
    """Batches of short rows have few labels, which would weigh more if divided by their own number."""
    model, words = bag(dropout=0.0), TokenLabels(rows=320)
    every = np.arange(len(words))
    arrays = {name: torch.from_numpy(array) for name, array in words.batch(every, 32, len(words)).items()}
    expected = float(words.loss(model, arrays).detach()) / words.weight(every)
    trained = loop.train(model, words, Recipe(name="still", learning_rate=1e-9, epochs=1, batch=16))
    assert trained.losses.mean() == pytest.approx(expected, rel=1e-5)
    assert trained.losses.std() > 0.05 * expected


def test_checkpoints_at_intervals_and_at_the_end():
    checkpoints = []
    recipe = Recipe(name="toy", learning_rate=1e-2, epochs=5, batch=16, checkpoints=25)
    trained = loop.train(bag(), Words(), recipe, on_checkpoint=lambda info, _: checkpoints.append(info) or False)
    assert [info.step for info in checkpoints] == [5, 10, 15, 20]
    assert [info.epoch for info in checkpoints] == [1.25, 2.5, 3.75, 5.0]
    assert checkpoints[1].loss == pytest.approx(trained.losses[5:10].mean(), rel=1e-6)


def test_callback_changes_nothing_and_may_end_training():
    def look(info, model):
        assert not model.training
        torch.rand(7)
        return info.step >= 8

    recipe = Recipe(name="toy", learning_rate=1e-2, epochs=4, batch=16, checkpoints=25)
    watched = loop.train(bag(), Words(), recipe, seed=3, on_checkpoint=look)
    alone = loop.train(bag(), Words(), recipe, seed=3)
    assert watched.steps == 8
    assert (watched.losses == alone.losses[:8]).all()


def test_progress_changes_nothing(monkeypatch):
    """Reports come by the clock; measuring must not change the random numbers of dropout."""

    class Shown:
        steps = 0

        def step(self, step, steps, loss, rate, tokens_per_second, utilisation):
            self.steps += 1
            assert 0 < utilisation < 1

    monkeypatch.setattr(loop, "REPORT_EVERY", -1)
    alone = loop.train(bag(), Words(), RECIPE, seed=3).losses
    throughput.ceiling.cache_clear()
    shown = Shown()
    assert (loop.train(bag(), Words(), RECIPE, seed=3, progress=shown).losses == alone).all()
    assert shown.steps == len(alone)


def test_checkpoints_do_not_count_as_training_time(monkeypatch):
    throughput.ceiling(torch.device("cpu"), torch.float32)
    clock = [0.0]
    monkeypatch.setattr(loop.time, "perf_counter", lambda: clock[0])

    def look(info, model):
        clock[0] += 1000.0
        return False

    assert loop.train(bag(), Words(), RECIPE, on_checkpoint=look).seconds == 0.0
    assert clock[0] == 10_000.0


def test_exact_weights_are_returned():
    """A model trained in bf16 ends with bf16 weights, or with the exact float32 ones for another run."""
    recipe = replace(RECIPE, precision="bf16")
    rounded, exact = bag(), bag()
    loop.train(rounded, Words(), recipe)
    loop.train(exact, Words(), recipe, keep_float32=True)
    assert rounded.out.weight.dtype == torch.bfloat16
    assert exact.out.weight.dtype == torch.float32
    assert exact.out.weight.bfloat16().equal(rounded.out.weight)
    assert not exact.out.weight.equal(rounded.out.weight.float())


@pytest.mark.parametrize("changes", [{}, {"micro": 8}, {"optimizer": "adafactor", "weight_decay": 0.0}], ids=str)
def test_fp16_learns_like_fp32(tmp_path, monkeypatch, changes):
    """With its losses scaled, fp16 follows fp32 closely; a resumed run continues with the same factor."""
    monkeypatch.setattr(loop, "STATE_EVERY", 0.0)
    monkeypatch.setattr(throughput, "ceiling", lambda *_: 1e9)  # large fp16 products are slow on a CPU
    exact = loop.train(bag(), Words(), replace(RECIPE, **changes))
    recipe, state = replace(RECIPE, precision="fp16", **changes), tmp_path / "state.pt"
    whole = loop.train(bag(), Words(), recipe)
    assert np.abs(whole.losses - exact.losses).max() < 0.02
    saved = loop.train(bag(), Words(), recipe, state=state, on_checkpoint=lambda info, model: info.step == 8)
    kept = torch.load(state, weights_only=True)
    assert 0 < kept["step"] < saved.steps <= 8
    assert (kept["loss_scale"], kept["finite_updates"]) == (2.0**16, kept["step"])
    model = bag()
    assert (loop.train(model, Words(), recipe, state=state).losses == whole.losses).all()
    assert model.out.weight.dtype == torch.float16


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [RECIPE, ADAFACTOR], ids=lambda recipe: recipe.optimizer)
def test_killed_and_resumed_run_has_the_same_losses(tmp_path, monkeypatch, recipe):
    """A process is killed with SIGKILL; another continues bit-identically."""
    whole = bag(7)
    curve = loop.train(whole, Words(), recipe, seed=7).losses
    script = (
        "import os, signal, sys, torch; sys.path.insert(0, sys.argv[2])\n"
        "torch.set_num_threads(1)\n"
        "from training.toy import Words, bag\n"
        "from isogloss.training import loop\n"
        "from isogloss.training.recipes import Recipe\n"
        "from pathlib import Path\n"
        "loop.STATE_EVERY = 0\n"
        "def look(info, model):\n"
        "    if info.step >= 9: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"loop.train(bag(7), Words(), {recipe!r}, seed=7, state=Path(sys.argv[1]), on_checkpoint=look)\n"
    )
    state = tmp_path / "state.pt"
    killed = subprocess.run([sys.executable, "-c", script, state, HERE.parent], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    seen = []
    monkeypatch.setattr(loop, "STATE_EVERY", 0)
    resumed = bag(99)  # replaced by the state
    again = loop.train(
        resumed, Words(), recipe, seed=7, state=state, on_checkpoint=lambda m, _: seen.append(m.step) or False
    )
    assert seen[0] > 6
    assert (again.losses == curve).all()
    assert (weights(resumed) == weights(whole)).all()


def test_state_is_also_written_between_checkpoints(tmp_path, monkeypatch):
    """With a single checkpoint at the end, a kill does not lose everything."""

    class Interrupted(Words):
        left = 9

        def loss(self, model, batch):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().loss(model, batch)

    monkeypatch.setattr(loop, "STATE_AT_LATEST", 0)
    recipe, state, checkpoints = replace(RECIPE, checkpoints=100), tmp_path / "state.pt", []
    whole = loop.train(bag(), Words(), recipe, seed=7).losses
    with pytest.raises(KeyboardInterrupt):
        loop.train(bag(), Interrupted(), recipe, seed=7, state=state)
    again = loop.train(
        bag(), Words(), recipe, seed=7, state=state, on_checkpoint=lambda m, _: checkpoints.append(m) or False
    )
    assert again.tokens < Words().lengths.sum() * 4 / 2  # only the rest
    assert (again.losses == whole).all()
    assert checkpoints[0].loss == pytest.approx(whole.mean(), rel=1e-6)


def test_damaged_or_foreign_state_is_refused(tmp_path):
    state = tmp_path / "state.pt"
    loop.train(bag(), Words(), RECIPE, seed=7, state=state)
    with pytest.raises(TrainingError, match="other data or settings"):
        loop.train(bag(), Words(), RECIPE, seed=8, state=state)
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(TrainingError, match="damaged"):
        loop.train(bag(), Words(), RECIPE, seed=7, state=state)


def test_finished_run_is_not_repeated(tmp_path):
    state = tmp_path / "state.pt"
    first, second = bag(), bag(3)
    loop.train(first, Words(), RECIPE, seed=7, state=state)
    again = loop.train(second, Words(), RECIPE, seed=7, state=state)
    assert again.tokens == 0
    assert (weights(first) == weights(second)).all()


def mark(words, row):
    """Mark one row by a unique first token."""
    firsts = words.encoded.input_ids[words.encoded.starts[:-1]]
    words.encoded.input_ids[words.encoded.starts[:-1]] = np.minimum(firsts, MARK - 1)
    words.encoded.input_ids[words.encoded.starts[row]] = MARK


class Poisoned(Words):
    """The marked row makes the loss non-finite."""

    def loss(self, model, batch):
        poison = (batch["tokens"][:, 0] == MARK).any()
        return super().loss(model, batch) * torch.where(poison, float("nan"), 1.0)


def test_non_finite_loss_stops_training(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "STATE_EVERY", 0)
    monkeypatch.setattr(loop, "STATE_AT_LATEST", 0)
    words, model, state = Poisoned(), bag(), tmp_path / "state.pt"
    _, _, [third], *_ = loop.BatchSchedule(lengths=words.lengths, rows=1, recipe=RECIPE, seed=3).updates()
    mark(words, third.items[0])
    with pytest.raises(TrainingError, match=r"not finite at update 3; the last state is in.*learning_rate"):
        loop.train(model, words, RECIPE, seed=3, state=state)
    assert torch.load(state)["step"] == 2
    assert np.isfinite(weights(model)).all()


class Steep(Words):
    """The marked row, or every row, has a finite loss and a non-finite gradient."""

    def __init__(self, every):
        super().__init__()
        self.every = every

    def loss(self, model, batch):
        steep = self.every or bool((batch["tokens"][:, 0] == MARK).any())
        return super().loss(model, batch) + (0 * model.out.bias.sum() + (not steep)).sqrt()


def test_non_finite_gradients_are_skipped_until_too_many():
    with pytest.raises(TrainingError, match=r"updates had a non-finite gradient; no state"):
        loop.train(bag(), Steep(every=True), RECIPE)
    words = Steep(every=False)
    mark(words, 40)
    trained = loop.train(bag(), words, RECIPE)
    assert trained.skipped == RECIPE.epochs
    assert trained.notes == [f"updates skipped because of a non-finite gradient: {trained.skipped}"]


def test_gradient_checkpointing_changes_nothing():
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=20, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, num_labels=3
    )

    class Read(Words):
        def loss(self, model, batch):
            logits = model(batch["tokens"], attention_mask=batch["mask"]).logits
            return torch.nn.functional.cross_entropy(logits, batch["labels"], ignore_index=-100, reduction="sum")

    curves = []
    for checkpointing in (False, True):
        torch.manual_seed(0)
        model = transformers.BertForSequenceClassification(config)
        curves.append(loop.train(model, Read(), replace(RECIPE, checkpointing=checkpointing)).losses)
    assert (curves[0] == curves[1]).all()


def test_error_in_batch_preparation_reaches_the_caller(monkeypatch):
    words = Words()

    def broken(*_):
        raise ValueError("no such row")

    monkeypatch.setattr(words, "batch", broken)
    with pytest.raises(ValueError, match="no such row"):
        loop.train(bag(), words, RECIPE)
    assert not [thread for thread in threading.enumerate() if thread.name == "batches"]


def test_dropout_is_set_everywhere_in_a_model():
    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_dropout, self.activation_dropout, self.hidden_dropout_layers = 0.1, 0.2, 3

    model = torch.nn.Sequential(torch.nn.Dropout(0.3), Attention())
    set_dropout(model, 0.0)
    assert (model[0].p, model[1].attention_dropout, model[1].activation_dropout) == (0.0, 0.0, 0.0)
    assert model[1].hidden_dropout_layers == 3


def test_empty_training_set_raises():
    words = Words()
    words.lengths = words.lengths[:0]
    with pytest.raises(TrainingError, match="the training set is empty"):
        loop.train(bag(), words, RECIPE)


SHORT = (
    torch.OutOfMemoryError("CUDA out of memory"),
    RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
)


@pytest.mark.parametrize("error", SHORT)
def test_out_of_memory_error_names_the_setting(error, monkeypatch):
    def short(*_):
        raise error

    words = Words()
    monkeypatch.setattr(words, "loss", short)
    with pytest.raises(TrainingError, match=r"16 items of .* tokens.*micro = 8"):
        loop.train(bag(), words, RECIPE)


def test_out_of_memory_for_the_model_raises(monkeypatch):
    def short(*_, **__):
        raise SHORT[0]

    monkeypatch.setitem(loop.OPTIMIZERS, "adamw", short)
    with pytest.raises(
        TrainingError, match=r"out of memory for 203 weights, their gradients and moments.*smaller model"
    ):
        loop.train(bag(), Words(), RECIPE)


def test_other_errors_are_not_memory_errors(monkeypatch):
    def broken(*_):
        raise RuntimeError("shapes do not fit")

    words = Words()
    monkeypatch.setattr(words, "loss", broken)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        loop.train(bag(), words, RECIPE)


def test_unwritable_state_raises(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TrainingError, match=r"state.pt: cannot write the training state .* Free disk space"):
        loop.train(bag(), Words(), RECIPE, state=tmp_path / "file" / "state.pt")


def test_unsupported_gradient_checkpointing_raises():
    class Stubborn(type(bag())):
        def gradient_checkpointing_enable(self):
            raise ValueError("Stubborn does not support gradient checkpointing.")

    with pytest.raises(TrainingError, match=r"Stubborn does not support gradient checkpointing\. Set it to false"):
        loop.train(Stubborn(), Words(), replace(RECIPE, checkpointing=True))


def test_error_in_one_process_ends_it(monkeypatch):
    """The others wait for its gradients; the launcher ends them when it exits."""
    with pytest.raises(TrainingError), processes.together():
        raise TrainingError("out of memory")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "2")
    with pytest.raises(SystemExit, match="error in process 2 of 4: out of memory"), processes.together():
        raise TrainingError("out of memory")


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_interrupted_run_saves_its_state(tmp_path, monkeypatch, number, raised):
    """The current update is finished and saved before the signal takes effect."""

    def leave(*_):
        raise SystemExit

    class Interrupted(Words):
        def loss(self, model, batch):
            if not state.exists() and model.training and next(count) == 5:
                signal.raise_signal(number)
            return super().loss(model, batch)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        state, count, resumed = tmp_path / "state.pt", itertools.count(1), []
        whole = loop.train(bag(), Words(), RECIPE, seed=7)
        with pytest.raises(raised):
            loop.train(bag(), Interrupted(), RECIPE, seed=7, state=state)
        assert signal.getsignal(signal.SIGTERM) is leave
        assert torch.load(state)["step"] == 5
        again = loop.train(bag(), Words(), RECIPE, seed=7, state=state, progress=Told(resumed))
        assert resumed == [5]
        assert (again.losses == whole.losses).all()
    finally:
        signal.signal(signal.SIGTERM, before)


class Told:
    """A progress display that records where a run resumes."""

    def __init__(self, resumed):
        self._resumed = resumed

    def resumed(self, step, steps):
        self._resumed.append(step)

    def step(self, *_):
        pass


def test_signal_in_the_last_update_takes_effect(tmp_path):
    def converged(info, model):
        signal.raise_signal(signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        loop.train(bag(), Words(), RECIPE, on_checkpoint=converged)


def test_handled_signal_is_not_raised_again():
    handled = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: handled.append(number))
    try:
        with Interruption() as interruption:
            signal.raise_signal(signal.SIGTERM)
            interruption.happen()
            assert not interruption
    finally:
        signal.signal(signal.SIGTERM, before)
    assert handled == [signal.SIGTERM]


def test_second_signal_acts_immediately(capfd):
    with pytest.raises(KeyboardInterrupt), Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
        assert interruption
        assert capfd.readouterr().err == "\nFinishing this update; press Ctrl-C again to quit\n"
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it waited")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
