"""On CUDA: captured steps equal eager ones, seeds give identical models, and low memory is handled."""

import pytest

torch = pytest.importorskip("torch", reason="training needs torch")
pytest.importorskip("accelerate", reason="training needs accelerate")
if not torch.cuda.is_available():
    pytest.skip("these are the paths of a CUDA device", allow_module_level=True)

import copy  # noqa: E402
import gc  # noqa: E402
import multiprocessing  # noqa: E402
import time  # noqa: E402
from dataclasses import replace  # noqa: E402

import numpy as np  # noqa: E402
from transformers import BertConfig, BertForQuestionAnswering, BertModel  # noqa: E402

from isogloss.systems.dual.contrastive import ContrastiveObjective, DualEncoder  # noqa: E402
from isogloss.systems.neural.modules import Float32Linear  # noqa: E402
from isogloss.training import loop  # noqa: E402
from isogloss.training.attention import use_row_attention  # noqa: E402
from isogloss.training.errors import TrainingError  # noqa: E402
from isogloss.training.inference import outputs  # noqa: E402
from isogloss.training.objective import Encoded  # noqa: E402
from isogloss.training.optimizer import Adafactor, AdamW  # noqa: E402
from isogloss.training.recipes import Recipe  # noqa: E402
from isogloss.training.train_step import TrainStep, to_device  # noqa: E402
from training.toy import CLASSES, VOCABULARY, Words, bag  # noqa: E402

RECIPE = Recipe(name="toy", learning_rate=1e-2, epochs=20, batch=16, checkpoints=25)
SMALL = BertConfig(
    vocab_size=200, hidden_size=256, num_hidden_layers=2, num_attention_heads=4, intermediate_size=512, pad_token_id=0
)


@pytest.fixture
def scarce():
    """A device limited to little memory."""

    def only(gigabytes):
        gc.collect()
        torch.cuda.empty_cache()
        whole = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + gigabytes * 2**30) / whole)

    yield only
    torch.cuda.set_per_process_memory_fraction(1.0)


class Hungry(torch.nn.Module):
    """A classifier of rows that needs `megabytes` per token, forward and backward."""

    def __init__(self, megabytes):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, 8)
        self.out = torch.nn.Linear(8, CLASSES)
        self.units = megabytes * 2**20 // 8 // 4  # rows of 8 float32 numbers

    def forward(self, tokens, mask):
        found = self.embedding(tokens)
        wide = found.float()[:, :, None, :].expand(-1, -1, self.units, -1) * found.new_ones(1).float()
        return self.out((wide.sin().mean(2) * mask[..., None]).sum(1).to(found.dtype))


def curve(monkeypatch, graphs, **changes):
    made = TrainStep.__init__

    def chosen(self, *arguments, **settings):
        made(self, *arguments, **{**settings, "graphs": graphs})

    with monkeypatch.context() as patched:
        patched.setattr(TrainStep, "__init__", chosen)
        return loop.train(bag(7), Words(), replace(RECIPE, **changes), seed=7)


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor"])
@pytest.mark.parametrize("micro", [0, 4])
def test_captured_run_matches_eager_run(monkeypatch, micro, optimizer):
    changes = {"micro": micro, "optimizer": optimizer}
    captured, eager = (curve(monkeypatch, graphs, **changes) for graphs in (True, False))
    assert not captured.eager_because
    assert captured.losses == pytest.approx(eager.losses, abs=2e-3)


@pytest.mark.parametrize("kind", [AdamW, Adafactor])
def test_an_update_needs_nothing_from_the_host(kind):
    model = bag(7).cuda()
    optimizer = kind(model, RECIPE, 3, torch.bfloat16)
    model.bfloat16()
    for number in range(3):
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        torch.cuda.set_sync_debug_mode("error" if number else "default")  # the first update compiles
        try:
            optimizer.collect()
            optimizer.update()
        finally:
            torch.cuda.set_sync_debug_mode("default")
    assert int(optimizer.done) == 3


def test_adafactor_on_cuda_matches_cpu():
    curves = []
    for device in ("cpu", "cuda"):
        model = bag(7).to(device)
        optimizer = Adafactor(model, replace(RECIPE, optimizer="adafactor"), 20, torch.float32)
        for step in range(20):
            generator = torch.Generator().manual_seed(step)
            for parameter in model.parameters():
                parameter.grad = torch.randn(parameter.shape, generator=generator).to(device)
            optimizer.collect()
            optimizer.update()
        curves.append(torch.cat([parameter.detach().cpu().reshape(-1) for parameter in model.parameters()]))
    assert torch.allclose(*curves, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor"])
def test_resumed_run_has_the_same_losses(tmp_path, monkeypatch, optimizer):
    monkeypatch.setattr(loop, "STATE_EVERY", 0)
    recipe = replace(RECIPE, optimizer=optimizer)
    whole = loop.train(bag(7), Words(), recipe, seed=7)

    class Killed(Exception):  # noqa: N818
        pass

    def stop(info, model):
        if info.step > 40:
            raise Killed
        return False

    state = tmp_path / "state.pt"
    with pytest.raises(Killed):
        loop.train(bag(7), Words(), recipe, seed=7, state=state, on_checkpoint=stop)
    again = loop.train(bag(99), Words(), recipe, seed=7, state=state)
    assert again.losses == pytest.approx(whole.losses, abs=2e-3)


def test_exact_weights_are_handed_back():
    """The next stage starts from the exact weights, not from the bf16 ones."""
    model = bag(7)
    loop.train(model, Words(), replace(RECIPE, precision="bf16"), seed=7, keep_float32=True)
    weights = model.embedding.weight.detach()
    assert weights.dtype == torch.float32
    assert not torch.equal(weights, weights.bfloat16().float())


def pairs(count=64, length=300):
    random = np.random.default_rng(1)
    lengths = random.integers(length // 2, length, count)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    texts = [Encoded(random.integers(5, 200, starts[-1]).astype(np.int32), starts, {}, {}) for _ in range(2)]
    return *texts, np.stack([np.arange(count)] * 2, axis=1)


def learnt(chunk, dropout, *, deterministic=False):
    torch.manual_seed(5)
    config = BertConfig(**{**SMALL.to_dict(), "hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout})
    model = DualEncoder(BertModel(config), "mean", 20.0)
    objective = ContrastiveObjective(*pairs(), pad=0, chunk=chunk)
    recipe = Recipe(name="dual", learning_rate=1e-3, steps=12, batch=32, checkpoints=100, deterministic=deterministic)
    return loop.train(model, objective, recipe, seed=5)


def test_cached_gradients_match_the_whole_batch():
    whole, cached = learnt(0, 0.0), learnt(8, 0.0)
    assert not whole.eager_because
    assert "CUDA graph cannot" in cached.eager_because
    assert cached.losses == pytest.approx(whole.losses, abs=3e-2)


@pytest.mark.parametrize("chunk", [0, 8])
def test_same_seed_gives_same_losses(chunk):
    first, second = (learnt(chunk, 0.1, deterministic=True) for _ in range(2))
    assert (first.losses == second.losses).all()
    assert not torch.are_deterministic_algorithms_enabled()


def read(config, dtype, *, rows):
    """Return the logits of tokens, and the gradients, with row attention or masks."""
    torch.manual_seed(3)
    model = BertForQuestionAnswering(copy.deepcopy(config)).to("cuda", dtype).train()
    if rows:
        use_row_attention(model, torch.device("cuda"))
    lengths = torch.tensor([300, 1, 129, 257, 300, 128, 17, 64])
    mask = (torch.arange(300) < lengths[:, None]).cuda()
    tokens = torch.randint(5, 200, (8, 300), generator=torch.Generator().manual_seed(1)).cuda()
    output = model(input_ids=tokens, attention_mask=mask.long())
    logits = torch.stack([output.start_logits, output.end_logits]).float()
    (logits * mask).square().mean().backward()
    gradients = [parameter.grad.float().flatten() for parameter in model.parameters() if parameter.grad is not None]
    return logits[:, mask].detach(), torch.cat(gradients)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_row_attention_matches_masks(dtype):
    config = BertConfig(**{**SMALL.to_dict(), "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    exact = read(config, torch.float32, rows=False)
    tolerance = 1e-3 if dtype == torch.float32 else 3e-2
    for rows in (False, True):
        for found, wanted in zip(read(config, dtype, rows=rows), exact, strict=True):
            assert float((found - wanted).norm() / wanted.norm()) < tolerance


def test_inference_does_not_wait_for_the_device():
    """transformers reads from the device whether a batch has padding; row attention does not."""
    model = BertForQuestionAnswering(copy.deepcopy(SMALL)).to("cuda", torch.bfloat16).eval()
    use_row_attention(model, torch.device("cuda"))
    tokens = torch.ones(4, 16, dtype=torch.int64, device="cuda")
    with torch.inference_mode():
        model(input_ids=tokens, attention_mask=tokens)
        torch.cuda.set_sync_debug_mode("error")
        try:
            model(input_ids=tokens, attention_mask=tokens)
        finally:
            torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor"])
def test_fp16_learns_like_bf16(optimizer):
    half, other = (
        loop.train(bag(7), Words(), replace(RECIPE, precision=precision, optimizer=optimizer), seed=7)
        for precision in ("fp16", "bf16")
    )
    assert not half.eager_because
    assert half.losses == pytest.approx(other.losses, abs=5e-2)


def test_out_of_memory_error_names_the_setting(scarce):
    scarce(1)
    with pytest.raises(TrainingError, match=r"(?s)out of memory.*at update 1: 16 items.*Set micro = 8"):
        loop.train(Hungry(8), Words(), RECIPE)


def gathered(widths):
    """Return the gradients after some batches of these widths, and why they were not captured."""
    torch.manual_seed(3)
    model, words = Hungry(1).cuda().train(), Words()
    optimizer = AdamW(model, RECIPE, len(widths), torch.float32, accumulate=True)
    step = TrainStep(model, words, optimizer, graphs=True)
    for width in widths:
        step.backward(to_device(words.batch(np.arange(16), width, 16), optimizer.weights.device), 1 / 16)
    return optimizer.gradients.clone(), step.eager_because


def test_trains_without_graphs_if_they_do_not_fit(scarce):
    """Captured graphs hold memory, so that a pass of another width does not fit next to them."""
    widths = 30, 30, 30, 29, 30
    free, reason = gathered(widths)
    assert not reason
    scarce(2)
    short, reason = gathered(widths)
    assert reason == "out of memory"
    assert torch.allclose(short, free, atol=1e-5)


def test_batches_that_do_not_fit_are_halved(scarce):
    model, words = Hungry(1).cuda(), Words()

    def forward(model, batch):
        return (model(batch["tokens"], batch["mask"]),)

    whole = dict(answers(model, words, forward))
    scarce(0.5)
    halves = dict(answers(model, words, forward))
    assert halves.keys() == whole.keys() == set(range(64))
    assert all(np.allclose(halves[row], whole[row], atol=1e-5) for row in whole)


def answers(model, words, forward):
    for rows, (logits,) in outputs(model, words.lengths, words.batch, forward):
        yield from zip(rows.tolist(), logits, strict=True)


@pytest.mark.parametrize("bias", [True, False])
def test_logits_of_bf16_weights_are_float32(bias):
    torch.manual_seed(0)
    layer = Float32Linear(256, 17, bias=bias).to("cuda", torch.bfloat16).eval()
    states = torch.randn(4, 9, 256, device="cuda", dtype=torch.bfloat16)
    with torch.inference_mode():
        found = layer(states)
    exact = torch.nn.functional.linear(states.double(), layer.weight.double(), layer.bias.double() if bias else None)
    assert (found.dtype, found.shape) == (torch.float32, (4, 9, 17))
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-5)
    assert layer.train()(states).dtype == torch.bfloat16


def _fit(seed, folder, slow):
    """A fit in its own process; a slow one stops once there is a state to resume from."""
    loop.STATE_EVERY = 0

    def tell(info, model):
        if slow and info.kept:
            (folder / "waiting").touch()
            time.sleep(600)
        return False

    trained = loop.train(bag(7), Words(), RECIPE, seed=seed, state=folder / f"{seed}.pt", on_checkpoint=tell)
    np.save(folder / f"{seed}.npy", trained.losses)


def test_killing_one_of_several_fits_on_a_gpu(tmp_path):
    spawning = multiprocessing.get_context("spawn")
    fits = [spawning.Process(target=_fit, args=(seed, tmp_path, seed == 0)) for seed in range(3)]
    for process in fits:
        process.start()
    while not (tmp_path / "waiting").exists():
        assert fits[0].is_alive()
        time.sleep(0.05)
    fits[0].kill()  # in the middle of its fit, while the others run
    again = spawning.Process(target=_fit, args=(0, tmp_path, False))
    again.start()
    for process in (*fits, again):
        process.join()
    for seed in range(3):
        alone = loop.train(bag(7), Words(), RECIPE, seed=seed)
        assert np.load(tmp_path / f"{seed}.npy") == pytest.approx(alone.losses, abs=2e-3)
