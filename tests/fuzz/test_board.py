"""Corrupted inputs of a board: result records, explanations, dataset statistics."""

import json
from pathlib import Path

import pytest

from board.made_systems import small_web  # noqa: F401  # a fixture
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import FaultError, check_printable, check_tidy, command
from fuzz.test_report import inputs


def check_site(folder: Path) -> None:
    """Check that every script is one call with valid JSON, without a script end or control characters."""
    for path in (folder / "data.js", *(folder / "systems").iterdir()):
        text = path.read_text(encoding="utf-8")
        check_printable(text, f"written as {path.parent.name}/{path.suffix}")
        if "<" in text:
            raise FaultError("markup", f"markup in {path.name}")
        begin = text.index("{")
        json.loads(text[begin : text.rindex("}") + 1])
    names = {path.stem for path in (folder / "systems").iterdir()}
    if any(set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789-") for name in names):
        raise FaultError("name", f"{names}")


@pytest.mark.usefixtures("small_web")
def test_boards(campaign: Campaign, tmp_path: Path) -> None:
    sound = inputs(tmp_path / "inputs")

    def fuzzer(case: Case) -> None:
        rng = case.rng
        spoilt = rng.choice(list(sound))
        content, step = spoil(rng, spoilt, sound[spoilt])
        case.tell(f"{spoilt}: {step}")
        for name, kept in sound.items():
            (case.folder / name).write_bytes(content if name == spoilt else kept)
        records = [case.folder / name for name in ("first.json", "second.json")]
        explained = [] if spoilt in ("first.json", "second.json") else ["--explain", case.folder / spoilt]
        out = case.folder / "site"
        done = command("board", "build", *records, *explained, "--suite", "mini", "--out", out, seconds=60)
        check_tidy(case.folder, set())
        if not done.refused:
            check_site(out)
        elif out.exists():
            raise FaultError("output", f"a refused board left files: {done.text[:100]}", "half a board")

    campaign.run(fuzzer, share=0.03)
