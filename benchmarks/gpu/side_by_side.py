"""Time of several fits on one GPU, where they take turns unless CUDA's Multi-Process Service runs.

    python benchmarks/gpu/side_by_side.py [--fits 1,2,5] [--shape xnli] [--size mbert] [--steps 1500] [--json FILE]

Each fit is a process, like those of `isogloss run --jobs`, with its own seed, and trains like every fit: captured
steps, prefetched batches. Timing starts when every fit has captured its graphs.
"""

import argparse
import json
import multiprocessing
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))


def fit(seed: int, key: str, shape: str, steps: int, together: Barrier, ended: "multiprocessing.Queue[float]") -> None:
    """Train, and report the seconds of the updates after the first half."""
    import torch
    from run import ITEMS
    from shapes import Synthetic, model_of, sizes

    from isogloss.training.loop import CheckpointInfo, train
    from isogloss.training.recipes import Recipe

    marks: list[float] = []

    def mark(info: CheckpointInfo, model: torch.nn.Module) -> bool:
        torch.cuda.synchronize()
        if not marks:
            together.wait()
        marks.append(time.perf_counter())
        return False

    size = sizes()[key]
    recipe = Recipe(name="bench", learning_rate=size.rate, steps=2 * steps, batch=size.batch, checkpoints=50)
    objective = Synthetic(shape, size.config, ITEMS)
    train(model_of(size.config, shape, "cuda", seed), objective, recipe, seed=seed, on_checkpoint=mark)
    ended.put(marks[1] - marks[0])


def seconds_of(fits: int, key: str, shape: str, steps: int) -> float:
    """Return the time until the last of some fits has done its updates."""
    spawning = multiprocessing.get_context("spawn")
    together, ended = spawning.Barrier(fits), spawning.Queue()
    arguments = (key, shape, steps, together, ended)
    started = [spawning.Process(target=fit, args=(seed, *arguments)) for seed in range(fits)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    if any(process.exitcode for process in started):
        raise SystemExit("a fit has failed")
    return max(ended.get() for _ in started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fits", default="1,2,5")
    parser.add_argument("--size", default="mbert")
    parser.add_argument("--shape", default="xnli")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    batch = {"small": 32, "mbert": 32, "large": 16}[chosen.size]
    seconds: dict[int, float] = {}
    for fits in map(int, chosen.fits.split(",")):
        seconds[fits] = seconds_of(fits, chosen.size, chosen.shape, chosen.steps)
        rate = fits * chosen.steps * batch / seconds[fits]
        ratio = seconds[fits] / seconds[min(seconds)]
        print(f"{chosen.size} {chosen.shape}: {fits} fits: {rate:,.0f} ex/s, {ratio:.2f}x the time of one", flush=True)
        if chosen.json:
            chosen.json.write_text(json.dumps(seconds) + "\n")


if __name__ == "__main__":
    main()
