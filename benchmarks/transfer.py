"""Does pretraining transfer? A model, and its architecture with random weights, trained on English, tested everywhere.

    python benchmarks/transfer.py MODEL --data DATA --out RUNS [--seeds 3] [--only NAME,…] [--minutes M]

Every line of `STUDY` is one `isogloss train`, or two if random weights are compared. All run at the same time, each
in its own process; those that exceed the time limit are stopped, and resume when the command
is run again. The printed table and RUNS/transfer.json contain everything finished.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from isogloss.runs.records import read_record
from isogloss.runs.toml import to_toml
from isogloss.tasks.registry import task

# A high learning rate suits small models; checkpoints are few because each predicts every language.
COMMON = {
    "learning_rate": 3e-4,
    "warmup": 100,
    "batch": 32,
    "checkpoints": 50.0,
    "dev_examples": 100,
    "test_examples": 100,
}
SIQA = "siqa/socialIQa_v1.4_dev.jsonl"  # replaces the training set
LONGER = {"epochs": 6.0, "select": "last", "hold_out": False}
# TyDiQA replaces SQuAD.
READING = {**LONGER, "train_on": "tydiqa"}
# The answers of a batch's other questions are the negatives, so there should be many.
SEARCHING = {**READING, "batch": 64, "candidates": 0}


@dataclass(frozen=True)
class Experiment:
    """One command: a system, its training and its test languages."""

    name: str
    task: str
    split: str = "test"
    system: str = "encoder"
    options: str = ""
    regime: str = "zero-shot"
    settings: Mapping[str, object] = field(default_factory=dict)
    random: bool = True


STUDY = (
    Experiment("udpos", "udpos", settings={"epochs": 2.0}),
    # WikiANN's test labels are not in XTREME's files: dev is used for testing, so it must not choose the checkpoint.
    Experiment("wikiann", "wikiann", "dev", settings={"epochs": 2.0, "select": "last"}),
    Experiment("tydiqa", "tydiqa", settings=LONGER),
    Experiment("xcopa", "xcopa", settings={"epochs": 5.0, "stages": [SIQA]}),
    Experiment("tydiqa-own", "tydiqa", regime="in-language", settings=LONGER, random=False),
    Experiment("tydiqa-1000", "tydiqa", regime="in-language-1000", settings=LONGER, random=False),
    Experiment("tydiqa-all", "tydiqa", regime="in-language-all", settings=LONGER, random=False),
    Experiment("tydiqa-en-ko", "tydiqa", regime="multi-source:en,ko", settings=LONGER, random=False),
    Experiment("lareqa", "lareqa", system="dual-encoder", options="pooling=mean", settings=SEARCHING),
    Experiment("tatoeba", "tatoeba", settings=READING),
    Experiment("tatoeba-last-layer", "tatoeba", options="layer=last", settings=READING, random=False),
    Experiment("tatoeba-dual", "tatoeba", system="dual-encoder", options="pooling=mean", settings=SEARCHING),
    Experiment("tatoeba-untuned", "tatoeba", settings={"epochs": 0.0}, random=False),
    Experiment("bucc", "bucc", "dev", random=False),
)


def start(experiment: Experiment, random: bool, chosen: argparse.Namespace) -> subprocess.Popen[bytes]:
    name = f"{experiment.name}-{'random' if random else 'pretrained'}"
    config = chosen.out / f"{name}.toml"
    config.write_text(to_toml({**COMMON, **experiment.settings}), encoding="utf-8")
    written = ",".join(filter(None, (experiment.options, "random" if random else "")))
    system = f"{experiment.system}:{chosen.model}{'#' if written else ''}{written}"
    words = [system, "--task", experiment.task, "--split", experiment.split, "--regime", experiment.regime]
    where = ["--data", str(chosen.data), "--config", str(config), "--seeds", str(chosen.seeds)]
    call = [sys.executable, "-m", "isogloss", "train", *words, *where, "--out", str(chosen.out / experiment.name)]
    log = (chosen.out / f"{name}.log").open("wb")
    source = str(Path(__file__).parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    return subprocess.Popen(call, stdout=log, stderr=subprocess.STDOUT, env=environment)


def scores(out: Path) -> dict[str, dict[str, list[float]]]:
    """Return the main score of every cell, by experiment and model and then by language, one per seed."""
    experiments: dict[str, dict[str, list[float]]] = {}
    for path in sorted(out.glob("*/*/*/seed-*/.cells/*/*.json")):
        record = read_record(path)
        if record is not None and record.score is not None:
            weights = "random" if "random" in record.system else "pretrained"
            values = [record.score.metrics[name].value for name in task(record.task).main]
            experiment = experiments.setdefault(f"{path.relative_to(out).parts[0]} {weights}", {})
            experiment.setdefault(record.language, []).append(fmean(values))
    return experiments


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="experiments, by name")
    parser.add_argument("--minutes", type=float, default=600.0)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    only = set(filter(None, chosen.only.split(",")))
    experiments = [experiment for experiment in STUDY if not only or experiment.name in only]
    wanted = [(experiment, random) for experiment in experiments for random in (False, True)[: 1 + experiment.random]]
    running = [start(experiment, random, chosen) for experiment, random in wanted]
    deadline = time.monotonic() + 60 * chosen.minutes
    for process in running:
        try:
            process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.terminate()
    experiments = scores(chosen.out)
    (chosen.out / "transfer.json").write_text(json.dumps(experiments, indent=1) + "\n", encoding="utf-8")
    for experiment, languages in experiments.items():
        en = f"{fmean(languages['en']):5.1f}" if "en" in languages else "    –"
        others = [fmean(values) for code, values in languages.items() if code != "en"]
        mean = f"{fmean(others):5.1f}" if others else "    –"
        seeds = max(map(len, languages.values()))
        print(f"{experiment:28} en {en}  {len(others):2} other languages {mean}  ({seeds} seeds)")


if __name__ == "__main__":
    main()
