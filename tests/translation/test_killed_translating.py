"""Commands that translate, killed at random moments: no work is lost, and the file is the same.

`pytest tests/translation/test_killed_translating.py --translator-kills 50` runs longer.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("counting_translator.py")
ROWS, BATCH = 60, 5


def words(folder: Path, log: Path) -> list[str]:
    command = [sys.executable, "-m", "isogloss", "translate", "xnli", "--languages", "es", "--data", str(folder)]
    return [*command, "--with", f"{sys.executable} {PROGRAM} {log}", "--batch", str(BATCH), "--keep-garbage"]


def logged(log: Path) -> Counter[str]:
    return Counter(log.read_text(encoding="utf-8").splitlines()) if log.exists() else Counter()


@pytest.mark.slow
def test_killed_commands_translate_each_text_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    rows = [f"premise {number}\thypothesis {number}\tneutral\n" for number in range(ROWS)]
    for name in ("whole", "killed"):
        (tmp_path / name / "xnli").mkdir(parents=True)
        (tmp_path / name / "xnli/train-en.tsv").write_text("".join(rows))
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache-whole"))
    began = time.monotonic()
    subprocess.run(words(tmp_path / "whole", tmp_path / "log-whole"), check=True, capture_output=True)
    seconds = time.monotonic() - began
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache-killed"))
    log, rng = tmp_path / "log-killed", random.Random(0)
    kills = request.config.getoption("--translator-kills")
    for _ in range(kills):
        process = subprocess.Popen(
            words(tmp_path / "killed", log), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.3, 1) * seconds)
        process.kill()
        process.wait(timeout=60)
    done = subprocess.run(words(tmp_path / "killed", log), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    counts = logged(log)
    assert len(counts) == 2 * ROWS
    # Only the texts of the start that a kill interrupts are translated again.
    assert counts.total() - len(counts) <= kills * BATCH
    name = "translations/xnli/translate-train/es"
    assert (tmp_path / "killed" / f"{name}.jsonl").read_bytes() == (tmp_path / "whole" / f"{name}.jsonl").read_bytes()
    assert [path.name for path in sorted((tmp_path / "killed" / name).parent.iterdir())] == [
        "es.jsonl",
        "es.record.json",
    ]
    print(f"{kills} kills: {counts.total() - len(counts)} of {len(counts)} texts twice")  # noqa: T201
