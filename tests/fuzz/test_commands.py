"""Command lines drawn from the verbs' own options, with hostile values."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.oracle import FaultError, check_tidy, command
from isogloss.cli.main import VERBS, verb_command

# Not drawn: they take long or do not end.
LEFT_OUT = ("demo", "board")
# Undecodable bytes, as Python reads them from a command line.
NOT_UTF8 = os.fsdecode(b"\xff\xfe")
WORDS = (
    "", " ", ",", ",,a,", "-", "--", "en", "de,zh", "xx", "EN", "en,en", "mini-xnli", "mini-xnli,mini-xquad",
    "xnli", "all", "mini", "xtreme-r", "checklist", "mine.toml", "nowhere.toml", ".toml", "test", "dev", "best",
    "train", "table", "md", "latex", "\x1b[31m", "a\nb", "x" * 5_000, "[bold]", "[/]", "%s", "{0}", NOT_UTF8, "ü",
    "\u202e", "*", "~", "$HOME", "zero-shot", "in-language", "in-language-7", "in-language-0", "multi-source:",
    "multi-source:en,xx", "translate-train", "ngram", "ngram#", "ngram#x=1", "ngram#label=", "nope:x", "encoder:",
    ":", "#", "a#b=c,d", "aLen", "aLen=", "all=shared", "aLen=1:2:x", "aLen@nowhere", "mine@nowhere.jsonl",
    "fertility@", "=", "@", "hf", "auto", "tasks", "comparisons-0007", "comparisons-9999", "mft", "paper", "true",
    "http://127.0.0.1:9/", "file:///etc", "entailment,neutral",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "-1", "1.5", "nan", "x", "", "999999999999999999999", "1e3", "٣")
INPUTS = (
    "predictions", "empty", "nowhere", "results.json", "file", "loop", "pipe", ".", "..", "",
    "predictions/mini-xnli", NOT_UTF8, "a\nb", "\x1b[31m", "x" * 5_000, "link", "predictions/mini-xnli/de.jsonl",
    "-", "~", "explain.json", "[x]",
)  # fmt: skip
OUTPUTS = (
    "out", "new/out.json", "out.jsonl", "out.parquet", "", ".", "file", "file/below", "link", "loop", "dangling",
    "x" * 300, "\x1b[31m.json", "a\nb.json", "../up.json", "empty", "[x].json", "out.html", NOT_UTF8,
)  # fmt: skip
# Options with output paths.
WRITTEN = {"out", "json", "csv", "html", "by_hand"}
# Options that execute a command or start processes get no random values.
FIXED = {
    "translator": ("cat", "false", "true", ""),
    "jobs": ("1", "0", "-1", "x"),
    "mirror": ("empty", "nowhere", "file"),
}


def sandbox(root: Path) -> None:
    """A folder with a file of every kind."""
    for name in ("mini-xnli", "mini-xquad"):
        for language in ("de", "zh"):
            path = root / "predictions" / name / f"{language}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made.json_lines(made.answers(name, language)))
    (root / "empty").mkdir()
    (root / "file").write_text("x\n", encoding="utf-8")
    (root / "kept").write_text("kept\n", encoding="utf-8")
    (root / "link").symlink_to("kept")
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nothing")
    (root / "mine.toml").write_text('tasks = ["mini-xnli"]\n', encoding="utf-8")
    words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "de")
    command("score", root / "predictions", *words, "--json", root / "results.json")
    command("explain", root / "predictions", *words, "--json", root / "explain.json", limited=False)


def value(case: Case, parameter: Any) -> str:
    rng, name = case.rng, parameter.name
    if name in FIXED:
        return rng.choice(FIXED[name])
    kind = parameter.type.name
    if kind in ("integer", "float", "integer range", "float range"):
        return rng.choice(NUMBERS)
    if name in WRITTEN:
        return rng.choice(OUTPUTS)
    if kind in ("path", "file", "directory", "filename"):
        return rng.choice(INPUTS)
    return rng.choice(WORDS)


def arguments(case: Case, parameters: list[Any]) -> list[str]:
    """Return words for some of the options, sometimes invalid."""
    rng = case.rng
    words: list[str] = []
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            for _ in range(rng.choice((1, 1, 1, 2, 0))):
                words.append(value(case, parameter))
            continue
        wanted = 0.9 if parameter.required else 0.3
        if parameter.name in ("suite", "tasks", "languages") and rng.random() < 0.5:
            good = {"suite": "mini", "tasks": "mini-xnli", "languages": "de"}
            words += [parameter.opts[0], good[parameter.name]]
        elif rng.random() < wanted or parameter.name in FIXED:
            words.append(rng.choice([*parameter.opts, *parameter.secondary_opts]))
            if not parameter.is_flag:
                words.append(value(case, parameter))
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice((*WORDS, "--help", "--nope", "-x", "--data=")))
    return words


def drawn(case: Case) -> list[str]:
    """Return a command line of any verb."""
    verb = case.rng.choice([name for name in VERBS if name not in LEFT_OUT])
    found: Any = verb_command(verb)
    words = [verb]
    if hasattr(found, "commands"):
        name = case.rng.choice(list(found.commands))
        words.append(name)
        found = found.commands[name]
    # Always pass a data folder, so that tests do not use the user's own.
    parameters = [each for each in found.params if each.name not in ("data", "help", "pictures")]
    if any(each.name == "data" for each in found.params):
        words += ["--data", "empty"]
    if verb == "report":  # drawing takes seconds
        words += ["--no-pictures"]
    return words + arguments(case, parameters)


def test_commands(campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tmp_path / "sandbox"
    sandbox(sound)

    def fuzzer(case: Case) -> None:
        place = case.folder / "a/b/c"
        shutil.copytree(sound, place, symlinks=True)
        os.mkfifo(place / "pipe")
        monkeypatch.chdir(place)
        words = drawn(case)
        case.tell(" ".join(map(repr, words)))
        # No address-space limit if a browser engine may run.
        command(*words, limited=words[0] not in ("report", "explain"), seconds=30)
        check_tidy(case.folder, set())
        for name in ("link", "loop", "dangling"):
            if not (place / name).is_symlink():
                raise FaultError("output", f"{name} was a link", "a link was replaced")
        if not (place / "pipe").is_fifo():
            raise FaultError("output", "the pipe was replaced", "a pipe was replaced")

    campaign.run(fuzzer, share=0.05)
