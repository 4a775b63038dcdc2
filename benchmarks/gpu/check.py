"""Correctness of the fast path: graphs compared with the eager loop, and bf16 on the device with float32 on the CPU."""

import copy
import os
from dataclasses import replace

import numpy as np
import torch
from shapes import Synthetic, logits, model_of, small

from isogloss.training.attention import use_row_attention
from isogloss.training.batching import BatchSchedule
from isogloss.training.inference import outputs
from isogloss.training.optimizer import AdamW
from isogloss.training.recipes import Recipe
from isogloss.training.train_step import TrainStep, to_device

# cuBLAS reads it once, before anything deterministic is measured; this is its default size on large cards.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
RECIPE = Recipe(name="check", learning_rate=1e-4, epochs=1, batch=16, dropout=0.0)


def gradients(model: torch.nn.Module, objective: Synthetic, *, graphs: bool, rounds: int = 6) -> list[torch.Tensor]:
    """Return the collected gradients of the first batches, at fixed weights."""
    device = next(model.parameters()).device
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    optimizer = AdamW(model, RECIPE, 100, dtype)
    model.to(dtype)
    collected = []
    step = TrainStep(model, objective, optimizer, graphs=graphs)
    schedule = BatchSchedule(lengths=objective.lengths, rows=1, recipe=RECIPE, seed=0)
    for _, [batch] in zip(range(rounds), schedule.updates(), strict=False):
        arrays = objective.batch(batch.items, batch.width, batch.size)
        for _ in range(3):  # a shape is captured at its second occurrence, and replayed from then on
            step.backward(to_device(arrays, device), 1 / objective.weight(batch.items))
        collected.append(optimizer.gradients.clone())
    if graphs and not step.graphs:
        raise SystemExit(f"not captured: {step.eager_because}")
    return collected


def updates(model: torch.nn.Module, objective: Synthetic) -> None:
    """Check that twenty updates have the same losses on the CPU in float32 and, captured, on the device in bf16."""
    curves = []
    for device, precision in (("cpu", "fp32"), ("cuda", "bf16")):
        learner = copy.deepcopy(model).to(device)
        recipe = replace(RECIPE, steps=20, precision=precision)
        dtype = torch.float32 if precision == "fp32" else torch.bfloat16
        optimizer = AdamW(learner, recipe, 20, dtype)
        learner.to(dtype)
        step = TrainStep(learner, objective, optimizer, graphs=True)
        for [batch] in BatchSchedule(lengths=objective.lengths, rows=1, recipe=recipe, seed=0).updates():
            arrays = objective.batch(batch.items, batch.width, batch.size)
            step.backward(to_device(arrays, optimizer.weights.device), 1 / objective.weight(batch.items))
            step.update()
        curves.append(step.losses.cpu())
    apart = float((curves[0] - curves[1]).abs().max())
    print(f"check {objective.shape:5}  losses of 20 updates, at most {apart:.1e} apart (the last {curves[1][-1]:.4f})")
    if not apart < 3e-2:
        raise SystemExit("the fast path learns differently")


def distance(left: torch.Tensor, right: torch.Tensor) -> float:
    left, right = left.double().cpu(), right.double().cpu()
    return float((left - right).norm() / right.norm())


def run() -> None:
    # Attention adds up gradients in any order otherwise.
    torch.use_deterministic_algorithms(True)
    try:
        for shape in ("xnli", "squad", "pos"):
            check(shape)
    finally:
        torch.use_deterministic_algorithms(False)


def check(shape: str) -> None:
    config = small()
    objective = Synthetic(shape, config, 400)
    reference = model_of(config, shape, "cpu").train()
    for module in reference.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    on_device = copy.deepcopy(reference).cuda()
    use_row_attention(on_device, torch.device("cuda"))
    exact = gradients(copy.deepcopy(reference), objective, graphs=False)
    eager = gradients(copy.deepcopy(on_device), objective, graphs=False)
    captured = gradients(copy.deepcopy(on_device), objective, graphs=True)
    updates(copy.deepcopy(reference), objective)
    graph = max(map(distance, captured, eager))
    bf16 = max(map(distance, captured, exact))
    half = copy.deepcopy(on_device).bfloat16()
    answers = {}
    for name, model in (("exact", reference), ("half", half)):
        rows = [(i, o[0]) for i, o in outputs(model, objective.lengths, objective.inputs, logits, tokens=4096)]
        answers[name] = np.concatenate([o.reshape(len(i), -1)[:, :1] for i, o in rows])
    output_error = float(np.linalg.norm(answers["half"] - answers["exact"]) / np.linalg.norm(answers["exact"]))
    print(
        f"check {shape:5}  gradients: captured against eager {graph:.1e}, bf16 against float32 on the "
        f"processor {bf16:.1e}; outputs {output_error:.1e}"
    )
    if graph > 1e-5 or bf16 > 3e-2 or output_error > 3e-2:
        raise SystemExit("the fast path is wrong")
