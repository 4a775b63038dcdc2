"""Is English dev a good guide? Many seeds of one model, with predictions in every language throughout training.

    python benchmarks/checkpoint_study.py pack --data DATA --out SUBSETS         # once: small seeded subsets
    python benchmarks/checkpoint_study.py run MODEL --data SUBSETS --out STUDY   # run again to resume
    isogloss select STUDY/udpos.csv --task udpos
    python benchmarks/checkpoint_study.py answer MODEL --data SUBSETS --out STUDY --tasks udpos --ask en,fi --whole DATA

`run` calls `System.learn` for every task and seed, several at a time, each in its own process and folder; finished
ones are not repeated, and a stopped one resumes. It ends with STUDY/<task>.csv, the scores of all
finished seeds, and STUDY/<task>.json, the training sets and recipe. `answer`, with the options of `run`, lets the
first seed predict whole sets, in the prediction folder STUDY/answers.

Test labels are not always public, and some languages have no dev set. A language with one labelled set is split in
two: its dev and its test sentences are different ones of that set.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from isogloss import load, task
from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.training.recipes import ALL

if TYPE_CHECKING:
    from isogloss.systems.base import System

TASKS = {"udpos": "udpos/{split}-{language}.tsv", "wikiann": "wikiann/{split}-{language}.tsv"}
# As in Keung et al.: batches of 32 at a constant rate, here one suitable for a small model. They train until English
# dev has converged.
SETTINGS = {"recipe": "keung", "learning_rate": 3e-4, "patience": 0}

TaggedSentence = tuple[tuple[str, ...], tuple[str, ...]]


def labelled(task_id: str, language: str, split: str, data: Path) -> list[TaggedSentence]:
    """Return the distinct labelled sentences of a set, in an order that depends only on the set."""
    try:
        examples = load(task_id, language, split, data)
    except IsoglossError:
        return []
    if not examples.has_gold:
        return []
    different = dict(zip(map(tuple, examples["tokens"]), map(tuple, examples["tags"]), strict=True))
    order = np.random.default_rng([*map(ord, f"{task_id}/{language}/{split}")]).permutation(len(different))
    sentences = list(different.items())
    return [sentences[number] for number in order]


def subsets(task_id: str, language: str, chosen: argparse.Namespace) -> dict[str, list[TaggedSentence]]:
    """Return disjoint dev and test sentences of a language; empty if no sentence is labelled."""
    dev, test = (labelled(task_id, language, split, chosen.data) for split in ("dev", "test"))
    wanted = chosen.english_dev if language == "en" else chosen.dev
    if not (dev and test):
        both = dev or test
        cut = min(wanted, len(both) * chosen.dev // (chosen.dev + chosen.test))
        dev, test = both[:cut], both[cut:]
    known = {words for words, _ in dev[:wanted]}
    return {"dev": dev[:wanted], "test": [one for one in test if one[0] not in known][: chosen.test]}


def write(path: Path, sentences: Iterable[TaggedSentence]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = ("".join(f"{word}\t{tag}\n" for word, tag in zip(*one, strict=True)) for one in sentences)
    path.write_text("\n".join(blocks), encoding="utf-8")


def pack(chosen: argparse.Namespace) -> None:
    """Write the English training sets and subsets of all dev and test sets, in the package's layout."""
    for task_id in chosen.tasks.split(","):
        pattern, train = TASKS[task_id], load(task_id, "en", "train", chosen.data)
        write(
            chosen.out / pattern.format(split="train", language="en"), zip(train["tokens"], train["tags"], strict=True)
        )
        for language in chosen.languages.split(",") if chosen.languages else task(task_id).languages:
            sets = subsets(task_id, language, chosen)
            for split in sets if all(sets.values()) else ():
                write(chosen.out / pattern.format(split=split, language=language), sets[split])
            print(f"{task_id} {language}: dev {len(sets['dev'])}, test {len(sets['test'])}")


def learn(task_id: str, seed: int, chosen: argparse.Namespace) -> "System":
    """Train one seed with a record of its checkpoints, or resume it; a finished one is read."""
    from isogloss.systems.base import FitContext, system

    chosen_task = task(task_id)
    have = chosen.data / TASKS[task_id]
    languages = tuple(
        code for code in chosen_task.languages if Path(str(have).format(split="test", language=code)).exists()
    )

    def examples(language: str, split: str) -> Examples:
        return load(chosen_task, language, split, chosen.data, allow_partial=True)

    settings = {**SETTINGS, "epochs": chosen.epochs, "precision": chosen.precision, "checkpoints": chosen.checkpoints}
    settings |= {"dev_examples": ALL, "test_examples": ALL}
    if chosen.steps:
        settings["steps"] = chosen.steps
    context = FitContext(folder=chosen.out / task_id / f"seed-{seed}", languages=languages, examples=examples)
    learner = system(f"encoder:{chosen.model}", quiet=True, **settings)
    return learner.learn(chosen_task, examples("en", "train"), seed, context)


def timed(task_id: str, seed: int, chosen: argparse.Namespace) -> str:
    """Train one seed, and print the time."""
    begin = time.monotonic()
    learn(task_id, seed, chosen)
    return f"{task_id} seed {seed}: {time.monotonic() - begin:.0f} s"


def answer(chosen: argparse.Namespace) -> None:
    """Predict whole sets with the first seed of each task."""
    from isogloss.predictions.write import write_predictions

    for task_id in chosen.tasks.split(","):
        learnt = learn(task_id, 0, chosen)
        for language in chosen.ask.split(","):
            inputs = load(task_id, language, chosen.split, chosen.whole)
            answers = learnt.predict(inputs)
            where = chosen.out / "answers"
            print(write_predictions(where, task(task_id), language, chosen.split, inputs.ids, answers, force=True))


def collect(out: Path) -> None:
    """Write one CSV and one log per task from the finished seeds."""
    for task_id in TASKS:
        records = sorted(out.glob(f"{task_id}/seed-*/checkpoints.csv"), key=lambda path: int(path.parent.name[5:]))
        if not records:
            continue
        with (out / f"{task_id}.csv").open("w", encoding="utf-8", newline="") as stream:
            for number, path in enumerate(records):
                lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
                stream.writelines(lines[min(number, 1) :])
        log = json.loads((records[0].parent / "training.json").read_bytes())
        (out / f"{task_id}.json").write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
        print(f"{task_id}.csv: {len(records)} seeds")


def run(chosen: argparse.Namespace) -> None:
    """Train all unfinished tasks and seeds."""
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"} if chosen.jobs > 1 else {}
    todo = [(task_id, seed) for seed in range(chosen.seeds) for task_id in chosen.tasks.split(",")]
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(timed, task_id, seed, chosen) for task_id, seed in todo]):
            # A failure does not prevent the others from being finished and collected.
            print(done.exception() or done.result(), flush=True)
    collect(chosen.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    packing, running, collecting, answering = (verbs.add_parser(name) for name in ("pack", "run", "collect", "answer"))
    for verb in (packing, running, answering):
        verb.add_argument("--data", type=Path, required=True)
        verb.add_argument("--tasks", default=",".join(TASKS))
    for verb in (packing, running, collecting, answering):
        verb.add_argument("--out", type=Path, required=True)
    packing.add_argument("--languages", default="", help="default: all languages of the task")
    packing.add_argument("--dev", type=int, default=200, help="dev sentences per language")
    packing.add_argument("--test", type=int, default=500, help="test sentences per language")
    # Of the usual size: a small dev set would be a poor guide in any language.
    packing.add_argument("--english-dev", type=int, default=2000)
    for verb in (running, answering):
        verb.add_argument("model")
        verb.add_argument("--epochs", type=float, default=2.0)
        checkpoints = "percentage of the updates between checkpoints"
        verb.add_argument("--checkpoints", type=float, default=2.0, help=checkpoints)
        verb.add_argument("--precision", default="auto", help="bf16 halves the time on many CPUs")
        verb.add_argument("--steps", type=int, default=0, help="total updates, for a trial run")
    running.add_argument("--seeds", type=int, default=10)
    running.add_argument("--jobs", type=int, default=1)
    answering.add_argument("--whole", type=Path, required=True, help="data folder of the packed subsets")
    answering.add_argument("--ask", required=True, help="languages")
    answering.add_argument("--split", default="test")
    chosen = parser.parse_args()
    acts = {"pack": pack, "run": run, "collect": lambda given: collect(given.out), "answer": answer}
    acts[chosen.verb](chosen)


if __name__ == "__main__":
    main()
