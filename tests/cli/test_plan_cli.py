"""isogloss plan end to end."""

import csv
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from e2e.command import isogloss
from isogloss.cli.options import say_prose
from isogloss.tables.text_curve import text_curve

FIGURES = ("--score", "80", "--n", "10000", "--seed-sd", "1.2", "--correlation", "0.5")


def test_sentence_tables_and_curve(tmp_path: Path) -> None:
    files = ("--json", tmp_path / "plan.json", "--csv", tmp_path / "tables", "--html", tmp_path / "plan.html")
    done = isogloss("plan", *FIGURES, "--budget", "seeds=5,examples=500", *files)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("a score of 80: with 3 seeds each and 10,000 examples you can see differences of ")
    assert "Needed for 1 point, one factor at a time" in done.out
    assert "Detectable difference with more of one factor: a score of 80, in points (* at most 1)" in lines
    assert any(line.startswith(" seeds ") and "█" in line for line in lines)
    record = json.loads((tmp_path / "plan.json").read_bytes())
    assert record["asked"] == (
        "isogloss plan --correlation 0.5 --score 80.0 --examples 10000 --seed-sd 1.2 --budget seeds=5,examples=500"
    )
    with (tmp_path / "tables" / "curve.csv").open(encoding="utf-8", newline="") as stream:
        seeds = [float(row["detectable"]) for row in csv.DictReader(stream) if row["factor"] == "seeds"]
    assert seeds == sorted(seeds, reverse=True)
    assert "Minimum detectable difference" in (tmp_path / "plan.html").read_text(encoding="utf-8")


def test_sentences_wrap_on_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(["word"] * 40)
    say_prose(text, bullet="- ")
    assert capsys.readouterr().out == f"- {text}\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    say_prose(f"{text} --languages-as", bullet="- ")
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("- word")
    assert all(len(line) <= 60 and line.startswith("  ") for line in others)
    assert others[-1].endswith("--languages-as")


def test_markdown() -> None:
    done = isogloss("plan", *FIGURES, "--format", "md")
    assert done.code == 0
    assert done.out.startswith("**Needed for 1 point, one factor at a time**\n\n| score | factor |")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--difference", "0"), 1, "the difference must be above 0 and at most 100 points, got 0"),
        (("--budget", "seeds"), 2, "expected numbers such as"),
        (("--budget", "seed=3"), 2, "Did you mean seeds?"),
        (("--languages-as", "random"), 2, "unknown population of languages 'random'"),
        (("--languages-as", "sample"), 1, "needs pilots of both systems"),
    ],
)
def test_mistakes(words: tuple[str, ...], code: int, message: str) -> None:
    done = isogloss("plan", *FIGURES, *words)
    assert done.code == code
    assert message in " ".join(done.err.split())


def documented_commands() -> list[str]:
    """Return the commands of the documentation that need no predictions."""
    text = (Path(__file__).parents[2] / "docs/planning.md").read_text(encoding="utf-8")
    lines = [line for shell in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in shell.splitlines()]
    return [line for line in lines if re.match(r"isogloss plan (published|--score)", line)]


def test_documentation() -> None:
    commands = documented_commands()
    assert len(commands) == 2
    for command in commands:
        done = isogloss(*shlex.split(command, comments=True)[1:])
        assert (done.code, done.err) == (0, "")


def test_bars() -> None:
    rows = [
        {"factor": "seeds", "number": 2, "detectable": 4.0},
        {"factor": "seeds", "number": 1000, "detectable": 1.0},
        {"factor": "examples", "number": 20, "detectable": None},
        {"factor": "prompts", "number": 3, "detectable": 2.0},
    ]
    assert text_curve(rows, group="factor", at="number", value="detectable", goal=2).splitlines() == [
        f" seeds        2 {'█' * 40} 4.0",
        f"          1,000 {'█' * 10} 1.0 *",
        f" prompts      3 {'█' * 20} 2.0 *",
    ]
    assert text_curve([], group="factor", at="number", value="detectable") == ""
