"""Buckets with 95 % intervals of questions and of entities, `isogloss explain` against ExplainaBoard.

Run it: `python benchmarks/bench_explain.py`. ExplainaBoard 0.12.7 wants older libraries than most environments have:
`ISOGLOSS_BENCH_EXPLAINABOARD` may name the Python of another environment that has it. Both sides get the same made-up
English input, 1,190 questions and 10,000 sentences with entities, and must give the same F1. Each figure is the CPU
time and the highest memory of a fresh process, imports included: ours the better of two, the peer's of one run.
The work is not the same. Of questions the peer has three attributes, two metrics and Student's t; ours are twelve,
three and 1,000 resamples. Of entities both resample 1,000 times.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from bench_startup import Command, Cost, Row, measured
from synthetic import Folders, Passage, Words

QUESTIONS, SENTENCES = 1190, 10_000
KINDS = ("PER", "ORG", "LOC")
PYTHON = os.environ.get("ISOGLOSS_BENCH_EXPLAINABOARD", sys.executable)
FIND = "import sys, importlib.util as u; sys.exit(u.find_spec('explainaboard') is None)"
ISOGLOSS = (sys.executable, "-c", "from isogloss.cli.main import main; main()")
EXPLAINABOARD = (PYTHON, "-c", "from explainaboard.explainaboard_main import main; main()")


def questions(folders: Folders, dataset: Path, output: Path) -> None:
    """One paragraph a question, in SQuAD's format for us and as a flat list for the peer."""
    words = Words("en", "explain")
    paragraphs, answers, flat = [], [], []
    for number in range(QUESTIONS):
        passage = Passage(words, [words.some(words.rng.randint(12, 30)) for _ in range(6)])
        asked, _, guess = passage.question(str(number))
        paragraphs.append({**passage.record(), "qas": [asked]})
        answers.append((asked["id"], guess))
        columns = {key: [answer[key] for answer in asked["answers"]] for key in ("text", "answer_start")}
        flat.append({**asked, "context": paragraphs[-1]["context"], "answers": columns})
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


def quiet(command: Command) -> Cost:
    """What a command took; the peer's progress bars and warnings go nowhere."""
    return measured(["sh", "-c", 'exec "$@" 2>/dev/null', "sh", *command])


def compare(what: str, task: str, peer_task: str, folder: Path) -> Row:
    """Explain the folder's input on both sides, after checking that they score it alike."""
    dataset, output, report, scores = (folder / name for name in ("dataset", "output", "report", "scores"))
    cell: Command = [folder / "predictions", "--data", folder / "data", "--tasks", task, "--languages", "en"]
    files: Command = ["--custom-dataset-paths", dataset, "--system-outputs", output, "--report-json", report]
    peer = quiet([*EXPLAINABOARD, "--task", peer_task, *files, "--confidence-alpha", "0.05", "--skip-failed-analyses"])
    measured([*ISOGLOSS, "score", *cell, "--json", scores])
    theirs: Any = json.loads(report.read_bytes())["results"]["overall"]["example"]["F1"]["values"]["score"]["value"]
    own: Any = json.loads(scores.read_bytes())["cells"][0]["metrics"]["f1"]["value"]
    if abs(own - 100 * theirs) > 1e-9:
        raise SystemExit(f"{what}: F1 {own} here, {100 * theirs} there")
    ours = min(measured([*ISOGLOSS, "explain", *cell]) for _ in range(2))
    return {
        "what": what,
        "peer": "ExplainaBoard",
        "ours_s": ours.cpu,
        "peer_s": peer.cpu,
        "ratio": peer.cpu / ours.cpu,
        "ours_wall_s": ours.wall,
        "peer_wall_s": peer.wall,
        "ours_mb": ours.megabytes,
        "peer_mb": peer.megabytes,
    }


def run() -> list[Row]:
    """Questions, then entities; no rows where ExplainaBoard is not installed."""
    if subprocess.run([PYTHON, "-c", FIND], check=False).returncode:
        print(f"explainaboard is not installed for {PYTHON}; ISOGLOSS_BENCH_EXPLAINABOARD may name another Python")
        return []
    rows = []
    for what, make, task, peer_task in (
        (f"{QUESTIONS:,} questions explained", questions, "xquad", "qa-extractive"),
        (f"{SENTENCES:,} sentences explained", entities, "wikiann", "named-entity-recognition"),
    ):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            make(Folders(folder / "data", folder / "predictions"), folder / "dataset", folder / "output")
            rows.append(compare(what, task, peer_task, folder))
    return rows


if __name__ == "__main__":
    for row in run():
        print("{what:28}{ours_s:7.2f} s{peer_s:8.2f} s{ratio:7.1f}x{ours_mb:7.0f} MB{peer_mb:7.0f} MB".format(**row))
