"""Speed of fine-tuning and inference on one accelerator, compared with transformers' Trainer in one run.

    python benchmarks/gpu/run.py [--sizes mbert,large] [--shapes xnli,squad,pos] [--json FILE]

Needs numpy, torch, transformers and accelerate, and no network: weights are random, configurations real.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import check
import extrapolate
import peers
import torch
from shapes import Size, Synthetic, logits, model_of, sizes

from isogloss.training import model_setup
from isogloss.training.inference import outputs
from isogloss.training.loop import CheckpointInfo, train
from isogloss.training.recipes import Recipe
from isogloss.training.throughput import ceiling, flops_per_token

# Timed updates: ours after twice as many for capturing, the Trainer's after a few.
STEPS, FEWER, SKIP = 200, 40, 10
ITEMS, ASKED = 20_000, 1_000
REPEATS = 5


def training_rate(
    size: Size, shape: str, objective: Synthetic, steps: int, **changes: Any
) -> tuple[float, float, float]:
    """Return examples per second after the captures, their seconds, and the share of the matrix rate."""
    length = {"learning_rate": size.rate, "steps": 3 * steps, "batch": size.batch, "checkpoints": 100 / 3}
    recipe = Recipe(name="bench", **length, **changes)
    marks = [time.perf_counter()]

    def mark(info: CheckpointInfo, model: torch.nn.Module) -> bool:
        torch.cuda.synchronize()
        marks.append(time.perf_counter())
        return False

    model = model_of(size.config, shape, "cuda")
    trained = train(model, objective, recipe, on_checkpoint=mark)
    if trained.eager_because:
        raise SystemExit(f"not captured: {trained.eager_because}")
    seconds = marks[3] - marks[2]
    rate = steps * size.batch / seconds
    mean = float(objective.lengths.mean())
    busy = flops_per_token(model, mean) * mean * rate / ceiling(torch.device("cuda", 0), torch.bfloat16)
    return rate, marks[2] - marks[0] - 2 * seconds, busy


def inference_rate(size: Size, shape: str, objective: Synthetic) -> tuple[float, float]:
    """Return examples per second of inference (median of several passes), and the share of the matrix rate."""
    model = model_of(size.config, shape, "cuda").bfloat16()
    model_setup.use_row_attention(model, torch.device("cuda"))
    seconds = []
    for _ in range(1 + REPEATS):  # the first reserves memory
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in outputs(model, objective.lengths, objective.inputs, logits):
            pass
        seconds.append(time.perf_counter() - start)
    rate = len(objective) / median(seconds[1:])
    mean = float(objective.lengths.mean())
    flops = flops_per_token(model, mean, training=False) * mean * rate
    return rate, flops / ceiling(torch.device("cuda", 0), torch.bfloat16)


def alone_rate(size: Size, shape: str, objective: Synthetic) -> float:
    """Return examples per second of the bare model: full batches of rows of the mean length, already on the device."""
    model = model_of(size.config, shape, "cuda").bfloat16().eval()
    width = round(float(objective.lengths.mean()))
    count = (1 << 16) // width
    tokens = torch.randint(5, size.config.vocab_size, (count, width), device="cuda")
    batch = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
    with torch.inference_mode():
        for _ in range(3):
            logits(model, batch)
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(20):
            logits(model, batch)
        torch.cuda.synchronize()
    return 20 * count / (time.perf_counter() - start)


def measurements(key: str, shape: str) -> Iterator[tuple[str, float]]:
    """Yield the figures of one size and shape one by one."""
    size = sizes()[key]
    objective = Synthetic(shape, size.config, ITEMS)
    yield "tokens", float(objective.lengths.mean())
    yield from zip(("train", "capture", "utilisation"), training_rate(size, shape, objective, STEPS), strict=True)
    yield from zip(("predict", "predict_utilisation"), inference_rate(size, shape, objective), strict=True)
    yield "predict_alone", alone_rate(size, shape, objective)
    for precision in ("bf16", "fp32"):
        half = precision == "bf16"
        yield f"trainer_{precision}", peers.train(size, shape, objective, bf16=half, steps=FEWER, skip=SKIP)
        yield f"trainer_predict_{precision}", peers.predict(size, shape, objective, bf16=half, count=ASKED)


def measure(key: str, shape: str) -> dict[str, float]:
    """Return all figures of one size and shape, printing each so that an aborted run shows what it has."""
    figures: dict[str, float] = {}
    start = time.perf_counter()
    for name, figure in measurements(key, shape):
        figures[name] = figure
        print(f"  {key} {shape} {name} {figure:,.4g} (after {time.perf_counter() - start:.0f} s)", flush=True)
        gc.collect()
        torch.cuda.empty_cache()
    best = max(figures["trainer_fp32"], figures["trainer_bf16"])
    best_predicting = max(figures["trainer_predict_fp32"], figures["trainer_predict_bf16"])
    size = sizes()[key]
    print(
        f"{size.name:11} {shape:5} batch {size.batch}: {figures['train']:6,.0f} ex/s ({figures['utilisation']:.0%} of "
        f"the matrix rate, captures {figures['capture']:.0f} s), Trainer float32 {figures['trainer_fp32']:,.0f}, bf16 "
        f"{figures['trainer_bf16']:,.0f}: {figures['train'] / best:.1f}x | predicted {figures['predict']:7,.0f} ex/s "
        f"({figures['predict_utilisation']:.0%}), Trainer {figures['trainer_predict_fp32']:,.0f}, "
        f"{figures['trainer_predict_bf16']:,.0f}: {figures['predict'] / best_predicting:.1f}x",
        flush=True,
    )
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="mbert,large")
    parser.add_argument("--shapes", default="xnli,squad,pos")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--unchecked", action="store_true", help="skip the comparison with float32 on the CPU")
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this benchmark needs a CUDA device")
    device = torch.device("cuda", 0)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; matrix products in bf16 at ", end="")
    print(f"{ceiling(device, torch.bfloat16) / 1e12:.0f} TFLOP/s", flush=True)
    if not chosen.unchecked:
        check.run()
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for key in chosen.sizes.split(","):
        for shape in chosen.shapes.split(","):
            figures.setdefault(key, {})[shape] = measure(key, shape)
            if chosen.json:
                chosen.json.write_text(json.dumps(figures, indent=1) + "\n")
        if len(figures[key]) == 3:
            extrapolate.show(sizes()[key].name, figures[key])


if __name__ == "__main__":
    main()
