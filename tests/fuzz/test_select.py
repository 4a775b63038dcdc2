"""Corrupted checkpoint scores: users' CSV files, through `isogloss select`, with all output files."""

import csv
import io
import random
from pathlib import Path

import numpy as np

from analysis.checkpoint_files import runs_of, write_csv
from fuzz.campaign import Campaign, Case
from fuzz.mutators import STRINGS, spoil
from fuzz.oracle import check_tidy, command, read_json

# Readable but odd values: they get further than invalid ones.
ODD = {
    "step": ("0", "-3", str(2**70), "9" * 4000, "+7", "1_0"),
    "seed": ("-1", str(2**64), "7"),
    "language": STRINGS,
    "split": ("dev", "test"),
    "value": ("0", "-0.0", "100", "1e-320", "5", "0.1"),
    "metric": ("loss", "", *STRINGS),
    "n": ("0", "-5", "1", str(10**30), "9" * 4000, ""),
}
OPTIONS = (
    ["--single", "sw"],
    ["--source", "de"],
    ["--test-size", "500"],
    ["--from-step", "20"],
    ["--task", "xnli"],
    [],
)


def spoil_columns(rng: random.Random, content: bytes) -> tuple[bytes, str]:
    """Change one to three columns from some row on, or in a tenth of the rows."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    done = []
    for _ in range(rng.randint(1, 3)):
        column = rng.choice(list(ODD))
        value, start, every = rng.choice(ODD[column]), rng.randrange(len(rows)), rng.choice((1, 10))
        for row in rows[start::every]:
            row[column] = value
        done.append(f"{column} = {value[:40]!r} in {start}::{every}")
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows[rng.choice((0, 0, 0, 60)) :])
    return text.getvalue().encode(errors="surrogatepass"), "; ".join(done)


def test_checkpoint_scores(campaign: Campaign, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    places = [(code, split) for code in ("en", "de", "sw") for split in ("dev", "test")]
    runs = [{place: rng.uniform(40, 60, 5).round(1) for place in places} for _ in range(3)]
    path = write_csv(tmp_path / "scores.csv", runs_of(*runs), {"metric": "accuracy", "n": "200"})
    sound = path.read_bytes()

    def fuzzer(case: Case) -> None:
        content, step = spoil(case.rng, path.name, sound) if case.rng.random() < 0.3 else spoil_columns(case.rng, sound)
        case.tell(step)
        (case.folder / path.name).write_bytes(content)
        files = ["--json", case.folder / "found.json", "--csv", case.folder / "tables"]
        done = command("select", case.folder / path.name, *case.rng.choice(OPTIONS), *files)
        check_tidy(case.folder, set())
        if not done.refused:
            read_json(case.folder / "found.json")

    campaign.run(fuzzer, share=0.03)
