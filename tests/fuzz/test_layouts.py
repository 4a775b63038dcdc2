"""Prediction folders with wrong layouts: names, links, pipes, folders instead of files, two files for one cell."""

import os
from collections.abc import Callable
from pathlib import Path

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import PACKERS, clear
from fuzz.oracle import FaultError, check_tidy, command, read_json
from fuzz.oracle import check_scores as check_record

TASKS = ("mini-xnli", "mini-xquad", "mini-wikiann", "mini-tatoeba")
NAMES = (
    "XNLI",
    "mini_xnli",
    "squid",
    "TH2.jsonl",
    "de.JSONL",
    "DE.jsonl",
    "de .jsonl",
    "de.jsonl ",
    "test-de.jsonl",
    "dev-de.jsonl",
    "dev-zh.jsonl",
    "de.jsonl.gz",
    "de.jsonl.bak",
    ".de.jsonl",
    "-rf",
    "--help",
    "a\nb.jsonl",
    "\x1b[31mred.jsonl",
    "\u202egnp.jsonl",
    "[bold]x.jsonl",
    "x" * 250,
    "ü.jsonl",
    os.fsdecode(b"\xff\xfe.jsonl"),
    "system.toml",
    "results.json",
    "candidates.npy",
    "queries-de.npy",
    "queries-de.ids.txt",
    "mini-xquad.json",
    "mini-xquad.json.zst",
    "con",
)


def _place(case: Case, root: Path) -> Path:
    """Return a path in the folder, or the folder itself."""
    found = [path for path in root.rglob("*") if not path.is_symlink()] or [root]
    return case.rng.choice(sorted(found))


def _files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*.jsonl") if path.is_file() and not path.is_symlink())


def _rename(case: Case, root: Path) -> None:
    path = _place(case, root)
    target = path.with_name(case.rng.choice(NAMES))
    if not target.exists() and path != root:
        path.rename(target)


def _extra(case: Case, root: Path) -> None:
    folder = case.rng.choice([root, *(path for path in root.iterdir() if path.is_dir())])
    target = folder / case.rng.choice(NAMES)
    if not target.exists():
        target.write_bytes(case.rng.choice((b"", b"{}\n", b'{"id": "test-0", "prediction": "neutral"}\n', b"\x00\xff")))


def _nest(case: Case, root: Path) -> None:
    path = _place(case, root)
    aside = path.with_name("aside")
    if path != root and not aside.exists():
        path.rename(aside)
        path.mkdir()
        aside.rename(path / path.name)


def _link(case: Case, root: Path) -> None:
    path = _place(case, root)
    target = case.rng.choice((path, path.parent, Path("nowhere"), root, Path("/"), *_files(root)[:1]))
    case.tell(f"to {target}")
    if path != root:
        clear(path)
        path.symlink_to(target)


def _folder(case: Case, root: Path) -> None:
    path = _place(case, root)
    clear(path)
    path.mkdir()


def _pipe(case: Case, root: Path) -> None:
    path = case.rng.choice((_place(case, root), root / "system.toml", root / "results.json"))
    clear(path)
    os.mkfifo(path)


def _file(case: Case, root: Path) -> None:
    path = _place(case, root)
    clear(path)
    path.write_bytes(b"{}\n")


def _locked(case: Case, root: Path) -> None:
    _place(case, root).chmod(0)


def _second(case: Case, root: Path) -> None:
    """Write two files for one cell, with different answers."""
    for path in _files(root)[:1]:
        lines = path.read_bytes().splitlines(keepends=True)
        suffix = case.rng.choice([*PACKERS][1:])
        second = path.with_name(path.name + suffix)
        clear(second)
        second.write_bytes(PACKERS[suffix](b"".join(lines[: len(lines) // 2])))


def _split(case: Case, root: Path) -> None:
    for path in _files(root)[:1]:
        target = path.with_name(f"dev-{path.name}")
        if not target.exists():
            path.rename(target)


ACTIONS: tuple[Callable[[Case, Path], None], ...] = (
    _rename, _rename, _extra, _extra, _nest, _link, _link, _folder, _pipe, _file, _locked, _second, _split,
)  # fmt: skip


def test_layouts(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        rng, root = case.rng, case.folder / "predictions"
        names = rng.sample(TASKS, 2)
        for name in names:
            for language in made.CELLS[name]:
                path = root / name / f"{language}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(made.json_lines(made.answers(name, language)))
        for _ in range(rng.choice((1, 1, 2, 3, 5))):
            if not root.is_dir():
                break
            action = rng.choice(ACTIONS)
            case.tell(action.__name__.strip("_"))
            action(case, root)
        case.tell(", ".join(sorted(str(path.relative_to(root)) for path in root.rglob("*")))[:200])
        words = ["--tasks", ",".join(names), "--languages", "de,zh"]
        valid = command("validate", root, *words)
        verb = rng.choice(("score", "score", "compare", "explain"))
        case.tell(verb)
        target = case.folder / "out.json"
        folders = [root, root] if verb == "compare" else [root]
        done = command(verb, *folders, *words, "--suite", "mini", "--json", target, limited=verb != "explain")
        check_tidy(case.folder, set())
        if not done.refused and verb == "score":
            check_record(read_json(target))
        if done.refused and target.exists():
            raise FaultError("output", f"a refused {verb} wrote a record", "refused but written")
        # Answers only for dev are valid, but test cannot be scored.
        if verb == "score" and done.refused and not valid.refused and "no test predictions" not in done.text:
            raise FaultError(
                "disagreement", f"validate passes it, score says {done.text[:200]!r}", "validate and score"
            )

    campaign.run(fuzzer, share=0.12)
