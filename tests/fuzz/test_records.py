"""Corrupted files of a finished run: the same command gives the same scores, or a clear error."""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

import isogloss
from fuzz.campaign import Campaign, Case
from fuzz.mutators import clear, spoil
from fuzz.oracle import FaultError, attempt, numbers
from isogloss.runs import locks

LANGUAGES = ["de", "zh"]
TASKS = ["mini-wikiann", "mini-tatoeba"]


def run_again(out: Path) -> Any:
    return isogloss.run("ngram", out=out, suite="mini", tasks=TASKS, languages=LANGUAGES, seeds=2)


def figures(out: Path) -> Any:
    """Return all scores of a run, read from its files."""
    root = out / "ngram/zero-shot"
    found = [numbers(json.loads((root / f"seed-{seed}/results.json").read_text(encoding="utf-8"))) for seed in (0, 1)]
    summary = json.loads((root / "summary.json").read_text(encoding="utf-8"))
    answers = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.glob("seed-*/*/*.jsonl"))}
    return found, summary["tasks"], summary["cells"], answers


def lock_content(case: Case) -> bytes:
    """Return the content of a lock: dead, of another machine, damaged, or its own successor."""
    token = case.rng.choice(("a", "", "../../x", "damaged-1", "\x00", "x" * 300))
    owner = {"machine": case.rng.choice(("", "elsewhere", "a b")), "pid": 2**22 - 1, "started": "0", "token": token}
    content = json.dumps(owner).encode()
    return content if case.rng.random() < 0.5 else spoil(case.rng, "owner.json", content)[0]


def add_lock(case: Case, root: Path) -> None:
    """Write a lock of a missing cell, sometimes with a successor."""
    rng, home = case.rng, root / "ngram/zero-shot"
    folder = home / f"seed-{rng.randrange(2)}/.cells" / rng.choice(TASKS)
    path = rng.choice((home / ".cells/run.lock", folder / "fit.lock", folder / "de.lock", folder / ".de.lock.0.claim"))
    clear(path.with_suffix(".json"))
    path.parent.mkdir(exist_ok=True)
    moment = rng.choice((0, 1e9, time.time(), time.time(), time.time() + 10**8))
    content = lock_content(case)
    case.tell(f"{path.relative_to(root)}: {content[:100]!r} at {moment:.0f}")
    for file in (path, path.with_name(f"{path.name}.a"))[: rng.choice((1, 1, 2))]:
        clear(file)
        file.write_bytes(content)
        os.utime(file, (moment, moment))


def spoil_file(case: Case, root: Path) -> None:
    path = case.rng.choice(sorted(path for path in root.rglob("*") if path.is_file()))
    kind = case.rng.choice(("spoil", "spoil", "spoil", "spoil", "remove", "cut", "folder", "link", "other"))
    case.tell(f"{kind} {path.relative_to(root)}")
    content = path.read_bytes()
    if kind == "spoil":
        try:
            content, step = spoil(case.rng, path.name, content)
        except ValueError:  # corrupted before, and no longer JSON
            content, step = b"", "empty"
        case.tell(step)
        path.write_bytes(content)
    elif kind == "cut":
        lines = content.splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: case.rng.randrange(len(lines) + 1)]))
    elif kind == "other":
        others = sorted(each for each in root.rglob(f"*{path.suffix}") if each.is_file())
        path.write_bytes(case.rng.choice(others).read_bytes())
    else:
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "link":
            path.symlink_to(case.rng.choice((path, path.parent / "nowhere", path.parent)))


def test_runs(campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Do not wait minutes for a lock.
    monkeypatch.setattr(locks, "STALE", 1.0)
    monkeypatch.setattr(locks, "IMPOSSIBLE", 1.0)
    sound = tmp_path / "sound"
    run_again(sound)
    expected = figures(sound)

    def fuzzer(case: Case) -> None:
        out = case.folder / "runs"
        shutil.copytree(sound, out)
        for _ in range(case.rng.choice((1, 1, 2, 4))):
            (add_lock if case.rng.random() < 0.25 else spoil_file)(case, out)
        done = attempt(lambda: run_again(out))
        if done.refused:
            case.tell(done.text)
            return
        if done.value.failed:
            raise FaultError("failed", next(iter(done.value.failed.values()))[:200], "a cell failed")
        try:
            found = figures(out)
        except (OSError, ValueError, KeyError) as error:
            raise FaultError("figures", f"done, but {error!r}"[:200], f"unreadable: {type(error).__name__}") from None
        for name, was, now in zip(("results", "summary", "cells", "answers"), expected, found, strict=True):
            if was != now:
                raise FaultError("figures", f"{name} differ: {_difference(was, now)}", f"other {name}")

    campaign.run(fuzzer, share=0.04)


def _difference(was: Any, now: Any) -> str:
    if isinstance(was, list):
        return "; ".join(_difference(*pair) for pair in zip(was, now, strict=True) if pair[0] != pair[1])
    keys = sorted(key for key in was.keys() | now.keys() if was.get(key) != now.get(key))
    return f"{keys[0]}: {str(was.get(keys[0]))[:150]} became {str(now.get(keys[0]))[:150]}"
