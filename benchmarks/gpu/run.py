"""How fast encoders are fine-tuned and asked on one accelerator, beside transformers' Trainer, in one run.

    python benchmarks/gpu/run.py [--sizes mbert,large] [--shapes xnli,squad,pos]

Needs numpy, torch, transformers and accelerate, and nothing from the network: weights are random, configurations real.
"""

import argparse
import gc
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import check
import extrapolate
import peers
import torch
from shapes import Size, Synthetic, logits, model_of, sizes

from isogloss.training.inference import outputs
from isogloss.training.loop import Moment, train
from isogloss.training.recipes import Recipe
from isogloss.training.throughput import ceiling, flops_per_piece

# Updates that are timed: ours after twice as many to capture in, the Trainer's after a few.
STEPS, FEWER, SKIP = 300, 40, 10


def ours(size: Size, shape: str, exercise: Synthetic, steps: int) -> tuple[float, float, float]:
    """Examples a second after the captures, the seconds these took, and the share of the matrix rate."""
    recipe = Recipe("bench", size.rate, steps=3 * steps, batch=size.batch, checkpoints=100 / 3)
    marks = [time.perf_counter()]

    def mark(moment: Moment, model: torch.nn.Module) -> bool:
        torch.cuda.synchronize()
        marks.append(time.perf_counter())
        return False

    model = model_of(size.config, shape, "cuda")
    trained = train(model, exercise, recipe, watch=mark)
    if trained.eager_because:
        raise SystemExit(f"not captured: {trained.eager_because}")
    seconds = marks[3] - marks[2]
    rate = steps * size.batch / seconds
    mean = float(exercise.lengths.mean())
    busy = flops_per_piece(model, mean) * mean * rate / ceiling(torch.device("cuda", 0), torch.bfloat16)
    return rate, marks[2] - marks[0] - 2 * seconds, busy


def asked(size: Size, shape: str, exercise: Synthetic) -> tuple[float, float]:
    """Examples a second of inference, and the share of the matrix rate."""
    model = model_of(size.config, shape, "cuda").bfloat16()
    for _ in outputs(model, exercise.lengths[:2000], exercise.inputs, logits):
        pass
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in outputs(model, exercise.lengths, exercise.inputs, logits):
        pass
    rate = len(exercise) / (time.perf_counter() - start)
    mean = float(exercise.lengths.mean())
    flops = flops_per_piece(model, mean, training=False) * mean * rate
    return rate, flops / ceiling(torch.device("cuda", 0), torch.bfloat16)


def measure(key: str, shape: str) -> dict[str, float]:
    size = sizes()[key]
    exercise = Synthetic(shape, size.config, 40_000)
    rate, capture, busy = ours(size, shape, exercise, STEPS)
    _free()
    trainer = {}
    for bf16 in (False, True):
        trainer[bf16] = peers.train(size, shape, exercise, bf16=bf16, steps=FEWER, skip=SKIP)
        _free()
    answered, answering = asked(size, shape, exercise)
    _free()
    predicted = {}
    for bf16 in (False, True):
        predicted[bf16] = peers.predict(size, shape, exercise, bf16=bf16, count=1000)
        _free()
    best, best_predicted = max(trainer.values()), max(predicted.values())
    print(
        f"{size.name:11} {shape:5} batch {size.batch}: {rate:6,.0f} ex/s ({busy:.0%} of the matrix rate, captures "
        f"{capture:.0f} s); Trainer float32 {trainer[False]:,.0f}, bf16 {trainer[True]:,.0f}: {rate / best:.1f}x | "
        f"asked {answered:7,.0f} ex/s ({answering:.0%}); Trainer {predicted[False]:,.0f}, {predicted[True]:,.0f}: "
        f"{answered / best_predicted:.1f}x",
        flush=True,
    )
    return {
        "train": rate,
        "capture": capture,
        "utilisation": busy,
        "trainer_fp32": trainer[False],
        "trainer_bf16": trainer[True],
        "predict": answered,
        "predict_utilisation": answering,
        "trainer_predict_fp32": predicted[False],
        "trainer_predict_bf16": predicted[True],
        "pieces": float(exercise.lengths.mean()),
    }


def _free() -> None:
    gc.collect()
    torch.cuda.empty_cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="mbert,large")
    parser.add_argument("--shapes", default="xnli,squad,pos")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("no CUDA device here: this benchmark is for one")
    device = torch.device("cuda", 0)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; matrix products in bf16 at ", end="")
    print(f"{ceiling(device, torch.bfloat16) / 1e12:.0f} TFLOP/s", flush=True)
    check.run()
    found = {key: {s: measure(key, s) for s in chosen.shapes.split(",")} for key in chosen.sizes.split(",")}
    for key, shapes in found.items():
        if len(shapes) == 3:
            extrapolate.show(sizes()[key].name, shapes)
    if chosen.json:
        chosen.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
