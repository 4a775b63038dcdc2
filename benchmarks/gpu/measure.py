"""What changed on one accelerator, in at most eight minutes: the CUDA tests, then one table.

    python benchmarks/gpu/measure.py [--seconds 470]

Examples per second in training and inference at the sizes of mBERT and XLM-R Large; with masks instead of the bounds of
rows; with `deterministic`; in fp16; the bare model (compiled, in training) on full rows of the mean length; and the
kernels of an update by kind. Needs what `run.py` needs, and pytest for the tests. What does not fit into the time is
left out and named. Each figure is printed as it is measured.
"""

import argparse
import gc
import importlib.util
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import check
import run
import torch
from shapes import Synthetic, model_of, sizes

from isogloss.training import model_setup
from isogloss.training.batching import BatchSchedule
from isogloss.training.model_setup import cast, quick_attention, set_up
from isogloss.training.optimizer import AdamW
from isogloss.training.recipes import Recipe
from isogloss.training.throughput import ceiling
from isogloss.training.train_step import TrainStep, to_device

ROOT = Path(__file__).parents[2]
STEPS = {"mbert": 200, "large": 150}  # as many as it takes to capture every width
KINDS = {  # of kernels, by parts of their names; the first that matches
    "attention": ("flash", "fmha", "attention"),
    "matrix products": ("gemm", "cutlass", "nvjet", "cublas", "splitk", "gemv"),
    "optimizer and gradients": ("adamw", "triton", "foreach", "multi_tensor", "norm_kernel", "reduce"),
    "layer norm": ("layer_norm", "layernorm"),
    "embedding": ("embedding", "index", "gather", "scatter", "sort", "radix"),
    "copies": ("memcpy", "memset", "copy"),
}


@contextmanager
def masked() -> Iterator[None]:
    """Use transformers' masks, as before."""
    with patch.object(model_setup, "use_row_attention", lambda model, device: None):
        yield


def tests() -> str:
    """Run the CUDA tests and return the last line of their output."""
    if importlib.util.find_spec("pytest") is None:
        return "pytest is not installed"
    options = ["-q", "-x", "--noconftest", "-p", "no:cacheprovider", "-W", "ignore"]
    command = [sys.executable, "-m", "pytest", *options, str(ROOT / "tests" / "training" / "test_cuda.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=200)
    print("\n".join(done.stdout.splitlines()[-30:]) + done.stderr[-2000:], flush=True)
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else "no output"


def compiled_alone(key: str, shape: str) -> float:
    """Return examples per second of forward and backward passes, compiled, on full rows of the mean length."""
    size = sizes()[key]
    objective = Synthetic(shape, size.config, 2000)
    width = round(float(objective.lengths.mean()))
    model = model_of(size.config, shape, "cuda").bfloat16().train()
    batch = objective.batch(torch.arange(size.batch).numpy(), 384, size.batch)
    batch = {name: torch.from_numpy(array).cuda() for name, array in batch.items()}
    batch = {name: array if name == "labels" else array[:, :width].contiguous() for name, array in batch.items()}
    batch["input_ids"].clamp_(min=5)
    batch["labels"].clamp_(max=width - 1)
    batch |= {"attention_mask": None}
    compiled = torch.compile(model, dynamic=False)
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(5):
            objective.loss(compiled, batch).backward()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=aside):
        objective.loss(compiled, batch).backward()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(50):
        graph.replay()
    torch.cuda.synchronize()
    return 50 * size.batch / (time.perf_counter() - start)


def kernels(key: str, shape: str) -> dict[str, float]:
    """Return the milliseconds of an update's kernels, by kind, for a batch near the mean length."""
    size = sizes()[key]
    objective = Synthetic(shape, size.config, 4000)
    recipe = Recipe(name="bench", learning_rate=size.rate, steps=100, batch=size.batch)
    device = torch.device("cuda", 0)
    model = model_of(size.config, shape, "cuda")
    set_up(model, recipe, device)
    optimizer = AdamW(model, recipe, 100, torch.bfloat16)
    cast(model, torch.bfloat16)
    step = TrainStep(model, objective, optimizer, graphs=True)
    schedule = BatchSchedule(lengths=objective.lengths, rows=1, recipe=recipe, seed=0)
    mean = float(objective.lengths.mean())
    batch = min((batch for [batch] in schedule.updates()), key=lambda batch: abs(batch.width - mean * 1.05))
    arrays = to_device(objective.batch(batch.items, batch.width, batch.size), device)
    with quick_attention(device):
        for _ in range(4):
            step.backward(arrays, 1 / size.batch)
            step.update()
        torch.cuda.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for _ in range(5):
                step.backward(arrays, 1 / size.batch)
                step.update()
            torch.cuda.synchronize()
    found: dict[str, float] = defaultdict(float)
    for event in profile.key_averages():
        name = event.key.lower()
        kind = next((kind for kind, parts in KINDS.items() if any(part in name for part in parts)), "element-wise")
        found[kind] += event.self_device_time_total / 5 / 1000
    print(f"  {key} {shape}: {batch.size} rows of {batch.width}; slowest kernels:")
    for event in sorted(profile.key_averages(), key=lambda event: -event.self_device_time_total)[:12]:
        print(f"    {event.self_device_time_total / 5 / 1000:7.3f} ms, {event.count // 5:4} x {event.key[:90]}")
    return dict(sorted(found.items(), key=lambda item: -item[1]))


class Timetable:
    """Measurements in order of importance, until the time is over."""

    def __init__(self, seconds: float) -> None:
        self.began, self.seconds = time.perf_counter(), seconds
        self.figures: dict[str, object] = {}

    def add(self, name: str, needs: float, measure: Callable[[], object]) -> None:
        """Measure something that needs about so many seconds."""
        spent = time.perf_counter() - self.began
        if spent + needs > self.seconds:
            self.figures[name] = "left out: no time"
            return
        try:
            self.figures[name] = measure()
        except (Exception, SystemExit) as error:  # the other figures are still wanted
            self.figures[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:150] if str(error) else ''}"
        after = time.perf_counter() - self.began
        print(f"  [{after:5.0f} s, {after - spent:3.0f}] {name}: {self.shown(name)}", flush=True)
        gc.collect()
        torch.cuda.empty_cache()

    def shown(self, name: str) -> str:
        """Return a figure for the table."""
        figure = self.figures.get(name, "–")
        if isinstance(figure, float):
            return f"{figure:,.0f}"
        if isinstance(figure, dict):
            return ", ".join(f"{kind} {ms:.2f}" for kind, ms in figure.items())
        return str(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=470)
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this benchmark needs a CUDA device")
    at = Timetable(chosen.seconds)
    rate = ceiling(torch.device("cuda", 0), torch.bfloat16) / 1e12
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, bf16 products {rate:.0f} TFLOP/s", flush=True)

    def trained(key: str, shape: str, **changes: object) -> float:
        size = sizes()[key]
        return run.training_rate(size, shape, Synthetic(shape, size.config, run.ITEMS), STEPS[key], **changes)[0]

    def asked(key: str, shape: str) -> float:
        size = sizes()[key]
        return run.inference_rate(size, shape, Synthetic(shape, size.config, run.ITEMS))[0]

    def alone(key: str, shape: str) -> float:
        size = sizes()[key]
        return run.alone_rate(size, shape, Synthetic(shape, size.config, run.ITEMS))

    def with_masks(measure: Callable[[str, str], float]) -> Callable[[str, str], float]:
        def call(key: str, shape: str) -> float:
            with masked():
                return measure(key, shape)

        return call

    at.add("correctness", 40, lambda: check.run() or "gradients and outputs as on the CPU")
    for shape in ("squad", "pos", "xnli"):
        at.add(f"mbert {shape} trained", 30, lambda shape=shape: trained("mbert", shape))
        at.add(f"mbert {shape} asked", 8, lambda shape=shape: asked("mbert", shape))
        at.add(f"mbert {shape} asked alone", 5, lambda shape=shape: alone("mbert", shape))
        at.add(f"mbert {shape} asked, masks", 8, lambda shape=shape: with_masks(asked)("mbert", shape))
    at.add("mbert squad kernels, ms", 25, lambda: kernels("mbert", "squad"))
    at.add("tests/training/test_cuda.py", 120, tests)
    at.add("mbert squad trained, deterministic", 30, lambda: trained("mbert", "squad", deterministic=True))
    at.add("mbert xnli trained, deterministic", 30, lambda: trained("mbert", "xnli", deterministic=True))
    at.add("mbert squad trained, masks", 30, lambda: with_masks(trained)("mbert", "squad"))
    at.add("mbert squad compiled alone", 70, lambda: compiled_alone("mbert", "squad"))
    at.add("mbert xnli trained, fp16", 30, lambda: trained("mbert", "xnli", precision="fp16"))
    for shape in ("squad", "pos", "xnli"):
        at.add(f"large {shape} trained", 35, lambda shape=shape: trained("large", shape))
        at.add(f"large {shape} asked", 12, lambda shape=shape: asked("large", shape))
        at.add(f"large {shape} asked alone", 10, lambda shape=shape: alone("large", shape))
    print("\n| | |\n|---|---|")
    for name in at.figures:
        print(f"| {name} | {at.shown(name)} |")


if __name__ == "__main__":
    main()
