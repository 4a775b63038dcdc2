"""Corrupted inputs of a report: result records, explanations, dataset statistics, system metadata."""

import csv
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import MARKUP, spoil
from fuzz.oracle import FaultError, check_printable, check_tidy, command

# A sign before a digit starts a number or an interval.
FORMULA = re.compile(r"[=@\t]|[+-](?![\d.]|$)")
TASKS = "mini-xnli,mini-xquad,mini-wikiann"


@cache
def inputs(root: Path) -> dict[str, bytes]:
    """Write one valid file of each kind, by name."""
    words = ("--suite", "mini", "--tasks", TASKS, "--languages", "de,zh")
    for system in ("first", "second"):
        for name in TASKS.split(","):
            for language in ("de", "zh"):
                path = root / system / name / f"{language}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                answered = made.answers(name, language)
                if system == "second":
                    answered = (
                        dict(zip(answered, [*answered.values()][::-1], strict=True))
                        if name != "mini-wikiann"
                        else answered
                    )
                path.write_bytes(made.json_lines(answered))
        done = command("score", root / system, *words, "--json", root / f"{system}.json")
        assert not done.refused, done.text
    systems = (root / "first", root / "second")
    for name, given in {"single": systems[:1], "pair": systems}.items():
        assert not command("explain", *given, *words, "--examples", 1, "--json", root / f"{name}.json").refused
    assert not command("explain", "--bias", *words, "--json", root / "bias.json").refused
    return {path.name: path.read_bytes() for path in root.glob("*.json")}


def check_report(folder: Path) -> None:
    """Check that no file of a report contains active content."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix == ".png":
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix != ".html":  # its libraries contain such characters
            check_printable(text, f"written as {path.suffix}")
        if path.suffix in (".html", ".md", ".svg") and MARKUP in text:
            raise FaultError("markup", f"live markup in {path.name}", f"in {path.suffix}")
        if path.suffix == ".tex" and "\\input{/etc" in text:
            raise FaultError("markup", f"a live command in {path.name}", "in .tex")
        if path.suffix == ".csv":
            for cell in (cell for row in csv.reader(text.splitlines()) for cell in row):
                if FORMULA.match(cell):
                    raise FaultError("markup", f"a formula in {path.name}: {cell[:40]!r}", "in .csv")


def test_reports(campaign: Campaign, tmp_path: Path) -> None:
    sound = inputs(tmp_path / "inputs")

    def fuzzer(case: Case) -> None:
        rng = case.rng
        spoilt = rng.choice(list(sound))
        content, step = spoil(rng, spoilt, sound[spoilt])
        case.tell(f"{spoilt}: {step}")
        for name, kept in sound.items():
            (case.folder / name).write_bytes(content if name == spoilt else kept)
        results = [case.folder / name for name in rng.choice((("first.json",), ("first.json", "second.json")))]
        if spoilt in ("first.json", "second.json"):
            results = [case.folder / spoilt, *results[1:]]
        explained = (
            [spoilt] if spoilt not in ("first.json", "second.json") else rng.choice(([], ["pair.json"], ["bias.json"]))
        )
        options = [word for name in explained for word in ("--explain", case.folder / name)]
        pictures = rng.random() < 0.01
        out = case.folder / "report"
        done = command(
            "report",
            *results,
            *options,
            "--out",
            out,
            "--pictures" if pictures else "--no-pictures",
            limited=False,
            seconds=60,
        )
        check_tidy(case.folder, set())
        if not done.refused:
            check_report(out)
        elif any(path.is_file() for path in out.rglob("*")):
            raise FaultError("output", f"a refused report left files: {done.text[:100]}", "half a report")

    campaign.run(fuzzer, share=0.06)


def test_names(campaign: Campaign, tmp_path: Path) -> None:
    """A hostile name in system.toml is harmless in every verb and output."""
    from fuzz.mutators import STRINGS

    def quoted(text: str) -> str:
        return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)

    def fuzzer(case: Case) -> None:
        rng = case.rng
        name, key = rng.choice(STRINGS), rng.choice(("name", "name", "regime", "model", "notes"))
        case.tell(f"{key} = {name[:60]!r}")
        root = case.folder / "predictions"
        path = root / "mini-xnli/de.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(made.json_lines(made.answers("mini-xnli", "de")))
        value: Any = rng.choice((quoted(name), f"[{quoted(name)}]", f"{{ {quoted(name or 'x')} = 1 }}"))
        (root / "system.toml").write_text(f"{key} = {value}\n".replace("\x7f", ""), encoding="utf-8")
        words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "de")
        target = case.folder / "results.json"
        valid = command("validate", root)
        done = command(
            "score",
            root,
            *words,
            "--json",
            target,
            "--csv",
            case.folder / "out/scores.csv",
            "--format",
            rng.choice(("table", "md", "latex")),
        )
        if done.refused:
            if not valid.refused:
                raise FaultError(
                    "disagreement", f"validate passes it, score says {done.text[:200]!r}", "validate and score"
                )
            return
        command("compare", root, root, *words, "--format", rng.choice(("table", "md", "latex")))
        command("explain", root, root, *words, "--json", case.folder / "explain.json", limited=False)
        out = case.folder / "out"
        done = command(
            "report",
            target,
            "--explain",
            case.folder / "explain.json",
            "--out",
            out,
            "--no-pictures",
            "--title",
            name.replace("\x00", "").replace("\ud800", "") or "x",
            limited=False,
        )
        if done.refused:
            raise FaultError("report", done.text[:200], "a scored system cannot be reported")
        check_report(out)
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.015)
