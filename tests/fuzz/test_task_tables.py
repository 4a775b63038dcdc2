"""Corrupted tables through isogloss task new and isogloss task check."""

import csv
import io
import json

import pytest

from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import check_tidy, command

ROWS = [
    {"id": str(row), "text": f"a sentence with number {row}, café", "label": ("yes", "no")[row % 2]}
    for row in range(40)
]


def _table(delimiter: str) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerows([[*ROWS[0]], *(row.values() for row in ROWS)])
    return stream.getvalue().encode()


QUESTIONS = [
    {"id": row["id"], "question": row["text"], "answers": [{"text": "here", "answer_start": 0}]} for row in ROWS
]
FILES = {
    "{}/{}.csv": _table(","),
    "{}-{}.tsv": _table("\t"),
    "{1}.{0}.jsonl": b"".join(json.dumps(row).encode() + b"\n" for row in ROWS),
    "{}/{}.json": json.dumps(ROWS).encode(),
    "{}/{}.squad.json": json.dumps({"data": [{"paragraphs": [{"context": "here", "qas": QUESTIONS}]}]}).encode(),
    "{}/{}.txt": "".join("Anna B-PER\nsings O\n\n" for _ in ROWS).encode(),
}


def test_tables(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def fuzzer(case: Case) -> None:
        monkeypatch.setenv("ISOGLOSS_TASKS", "")
        folder = case.folder / case.rng.choice(("set", "my set", "[x]", "a{b}", "é", "..."))
        pattern, content = case.rng.choice(list(FILES.items()))
        for language in ("en", "swh_Latn", case.rng.choice(("zul", "elvish", "{", "x y", "-"))):
            for split in ("train", case.rng.choice(("test", "valid", "x"))):
                path = folder / pattern.format(language, split)
                path.parent.mkdir(parents=True, exist_ok=True)
                written = content
                if case.rng.random() < 0.5:
                    written, step = spoil(case.rng, path.name, content)
                    case.tell(f"{path.name}: {step}")
                path.write_bytes(written)
        target = case.folder / "fuzzed.toml"
        options = case.rng.choice(((), (), ("--kind", "qa"), ("--kind", "multilabel"), ("--columns", "text=label")))
        done = command("task", "new", folder, "--yes", "--out", target, "--name", "fuzzed", *options)
        if not done.refused:
            command("task", "check", target)
        check_tidy(case.folder, {"fuzzed.toml", folder.name})

    campaign.run(fuzzer, share=0.05)
