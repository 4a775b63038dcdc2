"""Corrupted subset files: the same score, or a clear error; also with a digest that fits the corruption."""

from pathlib import Path

import msgspec

import isogloss
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import FaultError, attempt
from isogloss.predictions.subset import SubsetFile
from predictions.drawn import answers, only_drawn

TASK = "mini-xnli"


def test_subset_files(campaign: Campaign, tmp_path: Path) -> None:
    system, guide = answers(TASK, ["de"], 0.7, 1), answers(TASK, ["de"], 0.6, 2)
    isogloss.export(TASK, tmp_path, languages=["de"], subset=30, guide=guide)
    content = (tmp_path / TASK / "subset.json").read_bytes()
    part = only_drawn(system, tmp_path)
    expected = isogloss.score(part, suite="mini", subset=tmp_path, guide=guide).cells

    def fuzzer(case: Case) -> None:
        path = case.folder / "subset.json"
        corrupted, step = spoil(case.rng, path.name, content)
        case.tell(step)
        path.write_bytes(corrupted)
        sealed = case.rng.random() < 0.7
        if sealed:
            try:
                msgspec.json.decode(corrupted, type=SubsetFile).write(path)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                sealed = False
        done = attempt(lambda: isogloss.score(part, suite="mini", subset=path, guide=guide))
        if done.refused:
            case.tell(done.text)
        elif not sealed and done.value.cells != expected:
            raise FaultError("score", "another score from a corrupted file")

    campaign.run(fuzzer, share=0.02)
