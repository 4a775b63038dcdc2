"""Scale in languages: 20 systems on SIB-200 in 205 languages through `score`, `report` and `board build`.

Run it: `ISOGLOSS_DATA=… python benchmarks/living_scale.py`. The systems are the gold with errors at fixed places, more
of them from language to language and from system to system. Prints wall and CPU seconds, peak memory and the sizes of
the pages; `--keep DIR` keeps everything.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench_startup import Cost, measured

SYSTEMS = 20


def write_systems(folder: Path, tasks: Sequence[str], systems: int) -> list[Path]:
    """Write prediction folders of systems that differ in quality; return them."""
    from isogloss.predictions.write import write_predictions
    from isogloss.tasks.kinds import kind_of
    from isogloss.tasks.loading import load
    from isogloss.tasks.registry import task as find_task

    folders = [folder / f"system-{number:02}" for number in range(systems)]
    for task in map(find_task, tasks):
        for place, language in enumerate(task.languages):
            examples = load(task, language)
            gold = list(examples[kind_of(task).gold])
            for number, out in enumerate(folders):
                rate = 0.05 + 0.4 * place / len(task.languages) + 0.4 * number / systems
                rng = random.Random(f"{task.id}/{language}/{number}")
                values = [wrong(item, task.labels, rng) if rng.random() < rate else item for item in gold]
                write_predictions(out, task, language, "test", examples.ids, values, force=True)
    return folders


def wrong(gold: object, labels: Sequence[str], rng: random.Random) -> object:
    """Return another label, or tags of which every third is another one."""
    if isinstance(gold, Sequence) and not isinstance(gold, str):
        return [rng.choice(labels) if place % 3 == 0 else tag for place, tag in enumerate(gold)]
    return rng.choice([label for label in labels if label != gold])


def megabytes(files: Iterable[Path]) -> float:
    return sum(path.stat().st_size for path in files if path.is_file()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--tasks", default="sib200", help="tasks of the suite living, by commas")
    parser.add_argument("--keep", type=Path, help="folder to keep predictions and pages in")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = options.keep or Path(scratch)
        folders = write_systems(root / "predictions", options.tasks.split(","), options.systems)
        isogloss = (sys.executable, "-m", "isogloss")
        print(f"{'command':14}{'wall s':>8}{'CPU s':>8}{'MB':>8}")

        def timed(name: str, *words: str | Path) -> Cost:
            cost = measured([*isogloss, *name.split(), *words])
            print(f"{name:14}{cost.wall:8.1f}{cost.cpu:8.1f}{cost.megabytes:8.0f}", flush=True)
            return cost

        suite, one, every = ("--suite", "living"), root / "one.json", root / "all.json"
        timed("score", folders[0], *suite, "--json", one)
        timed("score", *folders, *suite, "--json", every)
        timed("compare", *folders[:2], *suite)
        timed("board build", *folders, *suite, "--out", root / "site")
        timed("report", every, "--out", root / "report", "--no-pictures")
        for path in ("site", "report"):
            pages = [*(root / path).rglob("*")]
            index = root / path / "index.html"
            print(f"{path}: {len(pages)} files, {megabytes(pages):.1f} MB; index.html {megabytes([index]):.2f} MB")


if __name__ == "__main__":
    main()
