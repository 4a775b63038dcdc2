"""Buckets with 95 % intervals of questions and of entities, `isogloss explain` against ExplainaBoard.

Run it: `python benchmarks/bench_explain.py`. ExplainaBoard 0.12.7 needs older libraries than most environments have:
set `ISOGLOSS_BENCH_EXPLAINABOARD` to the Python of an environment that has it (see README.md).
Both sides get the same synthetic English input, 1,190 questions and 10,000 sentences with entities, and must give the
same F1. "explained" is the whole command in a fresh process: CPU and wall time, including start-up, and peak
memory; "in one process" is only reading and analysing, after all imports. Both sides take turns, have
precompiled bytecode, and show their best of three runs; the peer's entities, which take long, are run
once. The work differs. For questions the peer has three attributes (lengths of answer, question and context),
two metrics and Student's t; we have sixteen attributes, of which ten vary here, and three metrics; a second row
has the same three attributes. Entities are resampled by the peer only.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from bench_startup import Command, Cost, Row, measured
from synthetic import Folders, Passage, Words

QUESTIONS, SENTENCES = 1190, 10_000
KINDS = ("PER", "ORG", "LOC")
PYTHON = os.environ.get("ISOGLOSS_BENCH_EXPLAINABOARD", sys.executable)
FIND = "import sys, importlib.util as u; sys.exit(u.find_spec('explainaboard') is None)"
RUNS = 3
ISOGLOSS = (sys.executable, "-c", "from isogloss.cli.main import main; main()")
EXPLAINABOARD = (PYTHON, "-c", "from explainaboard.explainaboard_main import main; main()")


def questions(folders: Folders, dataset: Path, output: Path) -> None:
    """Write one paragraph per question, in SQuAD's format for us and as a flat list for the peer."""
    words = Words("en", "explain")
    paragraphs, answers, flat = [], [], []
    for number in range(QUESTIONS):
        passage = Passage(words, [words.some(words.rng.randint(12, 30)) for _ in range(6)])
        question, _, guess = passage.question(str(number))
        paragraphs.append({**passage.record(), "qas": [question]})
        answers.append((question["id"], guess))
        columns = {key: [answer[key] for answer in question["answers"]] for key in ("text", "answer_start")}
        flat.append({**question, "context": paragraphs[-1]["context"], "answers": columns})
    folders.gold("xquad", "en", json.dumps({"data": [{"title": "", "paragraphs": paragraphs}]}))
    folders.answers("xquad", "en", answers)
    dataset.write_text(json.dumps(flat))
    output.write_text(json.dumps([{"id": name, "predicted_answers": {"text": text}} for name, text in answers]))


def entities(folders: Folders, dataset: Path, output: Path) -> None:
    """Sentences of one to three entities among other words; three entities in twenty get a random kind."""
    words = Words("en", "explain")
    gold, guesses = [], []
    for _ in range(SENTENCES):
        pairs = [pair for _ in range(words.rng.randint(1, 3)) for pair in _entity(words.rng)]
        gold.append([(word, tag) for word, (tag, _) in zip(words.some(len(pairs)), pairs, strict=True)])
        guesses.append([tag for _, tag in pairs])
    folders.gold("wikiann", "en", "".join(_lines(gold, "en:")))
    folders.answers("wikiann", "en", ((f"test-{row}", tags) for row, tags in enumerate(guesses)))
    dataset.write_text("".join(_lines(gold)))
    tagged = [
        [(word, tag) for (word, _), tag in zip(sentence, tags, strict=True)]
        for sentence, tags in zip(gold, guesses, strict=True)
    ]
    output.write_text("".join(_lines(tagged)))


def _entity(rng: Random) -> list[tuple[str, str]]:
    """Gold tags and answers: up to five O, then an entity of one to four tokens."""
    kind = rng.choice(KINDS)
    guess = kind if rng.random() < 0.85 else rng.choice(KINDS)
    prefixes = ["B", *"I" * rng.randint(0, 3)]
    return [("O", "O")] * rng.randint(0, 5) + [(f"{prefix}-{kind}", f"{prefix}-{guess}") for prefix in prefixes]


def _lines(sentences: list[list[tuple[str, str]]], prefix: str = "") -> Iterator[str]:
    for sentence in sentences:
        yield "".join(f"{prefix}{word}\t{tag}\n" for word, tag in sentence) + "\n"


# The work of each side between its imports and its result, with the folder and the names of the task as arguments.
OURS = """
from isogloss.explain.analysis import explain

options = {"data": folder / "data", "tasks": [task], "languages": ["en"], "attributes": sys.argv[4:] or None}


def work():
    explain(folder / "predictions", **options)
"""
THEIRS = """
from explainaboard import get_loader_class, get_processor_class
from explainaboard.loaders.file_loader import FileLoaderField
from explainaboard import Source

languages = {FileLoaderField.SOURCE_LANGUAGE: "en", FileLoaderField.TARGET_LANGUAGE: "en"}
metadata = {"task_name": task, "confidence_alpha": 0.05, "source_language": "en", "target_language": "en"}


def work():
    files = str(folder / "dataset"), str(folder / "output"), Source.local_filesystem, Source.local_filesystem
    loaded = get_loader_class(task)(*files, None, None, field_mapping=languages).load()
    processor = get_processor_class(task=task)()
    processor.process(metadata=dict(metadata), sys_output=loaded.samples, skip_failed_analyses=True, use_cache=False)
"""
TIMED = """
import json, sys
from pathlib import Path
from time import perf_counter, process_time

folder, task, runs = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
{work}
costs = []
for _ in range(runs):
    cpu, wall = process_time(), perf_counter()
    work()
    costs.append((process_time() - cpu, perf_counter() - wall))
print(json.dumps(min(costs)))
"""


def quiet(command: Command) -> Cost:
    """Return the cost of a command; the peer's progress bars and warnings are discarded."""
    return measured(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *command])


def inside(python: str, work: str, folder: Path, task: str, runs: int, *attributes: str) -> Cost:
    """Return the cost of the work in a process after all imports."""
    command: Command = [python, "-c", TIMED.format(work=work), folder, task, str(runs), *attributes]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    cpu, wall = json.loads(done.stdout.splitlines()[-1])
    return Cost(cpu, wall, 0)


def compare(what: str, task: str, peer_task: str, folder: Path, peer_runs: int, same: Sequence[str]) -> list[Row]:
    """Explain the folder's input on both sides, after checking that they give the same score."""
    dataset, output, report, scores = (folder / name for name in ("dataset", "output", "report", "scores"))
    cell: Command = [folder / "predictions", "--data", folder / "data", "--tasks", task, "--languages", "en"]
    files: Command = ["--custom-dataset-paths", dataset, "--system-outputs", output, "--report-json", report]
    options = ("--confidence-alpha", "0.05", "--skip-failed-analyses")
    wanted = {"explained": cell, **({f"{len(same)} attributes": [*cell, "-a", ",".join(same)]} if same else {})}
    ours: dict[str, list[Cost]] = {how: [] for how in wanted}
    theirs = []
    for turn in range(-1, RUNS):
        for how, words in wanted.items():
            ours[how].append(measured([*ISOGLOSS, "explain", *words]))
        if 0 <= turn < peer_runs:
            theirs.append(quiet([*EXPLAINABOARD, "--task", peer_task, *files, *options]))
    measured([*ISOGLOSS, "score", *cell, "--json", scores])
    check(what, report, scores)
    peer = inside(PYTHON, THEIRS, folder, peer_task, peer_runs)
    alone = {"in one process": (), **({f"{len(same)}, in one process": same} if same else {})}
    return [
        *(
            {
                **row(f"{what}, {how}", min(costs), min(theirs)),
                "ours_mb": costs[0].megabytes,
                "peer_mb": theirs[0].megabytes,
            }
            for how, costs in ours.items()
        ),
        *(
            row(f"{what}, {how}", inside(sys.executable, OURS, folder, task, RUNS, *names), peer)
            for how, names in alone.items()
        ),
    ]


def check(what: str, report: Path, scores: Path) -> None:
    """Stop unless both sides have the same F1."""
    theirs: Any = json.loads(report.read_bytes())["results"]["overall"]["example"]["F1"]["values"]["score"]["value"]
    own: Any = json.loads(scores.read_bytes())["cells"][0]["metrics"]["f1"]["value"]
    if abs(own - 100 * theirs) > 1e-9:
        raise SystemExit(f"{what}: F1 {own} here, {100 * theirs} there")


def row(what: str, ours: Cost, peer: Cost) -> Row:
    return {
        "what": what,
        "peer": "ExplainaBoard",
        "ours_s": ours.cpu,
        "peer_s": peer.cpu,
        "ratio": peer.cpu / ours.cpu,
        "ours_wall_s": ours.wall,
        "peer_wall_s": peer.wall,
        "note": f"wall {ours.wall:.2f} and {peer.wall:.2f} s, {peer.wall / ours.wall:.1f}x",
    }


def run() -> list[Row]:
    """Return rows for questions and entities; none without ExplainaBoard."""
    if subprocess.run([PYTHON, "-c", FIND], check=False).returncode:
        print(f"explainaboard is not installed for {PYTHON}; set ISOGLOSS_BENCH_EXPLAINABOARD to another Python")
        return []
    rows = []
    with tempfile.TemporaryDirectory() as name:
        # Without written bytecode, every run would compile the packages again.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(name) / "bytecode")
        subprocess.run([PYTHON, "-c", "import explainaboard.explainaboard_main"], stderr=subprocess.DEVNULL, check=True)
        for what, make, task, peer_task, peer_runs, same in (
            (f"{QUESTIONS:,} questions", questions, "xquad", "qa-extractive", RUNS, ("aLen", "qLen", "cLen")),
            (f"{SENTENCES:,} sentences", entities, "wikiann", "named-entity-recognition", 1, ()),
        ):
            folder = Path(name) / task
            folder.mkdir()
            make(Folders(folder / "data", folder / "predictions"), folder / "dataset", folder / "output")
            rows += compare(what, task, peer_task, folder, peer_runs, same)
    return rows


if __name__ == "__main__":
    for each in run():
        memory = "{ours_mb:7.0f} MB{peer_mb:7.0f} MB".format(**each) if "ours_mb" in each else ""
        print("{what:36}{ours_s:7.2f} s{peer_s:8.2f} s{ratio:7.1f}x   {note}".format(**each), memory)
