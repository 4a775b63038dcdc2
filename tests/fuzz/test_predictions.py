"""Prediction files in every format of every kind of task, corrupted or rewritten."""

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import PACKERS, same_json, same_lines, spoil, spoil_bytes
from fuzz.oracle import FaultError, Outcome, check_scores, check_tidy, command, numbers, read_json

BOMB = 300 << 20


def scored(case: Case, root: Path, name: str, language: str) -> tuple[Outcome, Any]:
    """Validate and score a cell: valid answers can be scored, and rejected ones write nothing."""
    target = case.folder / "results.json"
    words = ("--tasks", name, "--languages", language)
    valid = command("validate", root, *words)
    done = command("score", root, "--suite", made.suite_of(name), *words, "--json", target)
    check_tidy(case.folder, set())
    if done.refused:
        if target.exists():
            raise FaultError("output", "a refused score wrote a record", "refused but written")
        if not valid.refused:
            raise FaultError(
                "disagreement", f"validate passes it, score says {done.text[:200]!r}", "validate and score"
            )
        return done, None
    record = read_json(target)
    check_scores(record)
    return done, numbers(record)


@cache
def sound_numbers(name: str, language: str, form: str) -> Any:
    """Return the scores of a cell's valid answers or vectors."""
    with TemporaryDirectory() as folder:
        root = Path(folder) / "predictions"
        (root / name).mkdir(parents=True)
        if form == "vectors":
            for stem, (ids, array) in made.vectors(name, language).items():
                write_vectors(root / name, stem, ids, array)
        else:
            (root / name / f"{language}.jsonl").write_bytes(made.json_lines(made.answers(name, language)))
        return scored(Case(random.Random(0), Path(folder)), root, name, language)[1]


def test_files(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        rng = case.rng
        name = rng.choice(list(made.CELLS))
        language = rng.choice(made.CELLS[name])
        path, content = rng.choice(list(made.file_forms(name, language).items()))
        equal = rng.random() < 0.3
        if equal:
            change = (
                same_json if path.endswith(f"{language}.jsonl") and "test-" not in path and rng.random() < 0.5 else None
            )
            ordered = not path.endswith(f"/{language}.jsonl")
            content, step = change(rng, content) if change else same_lines(rng, content, ordered=ordered)
        else:
            content, step = spoil(rng, path, content)
        suffix = rng.choice(list(PACKERS))
        content = PACKERS[suffix](content)
        if not equal and suffix and rng.random() < 0.3:
            content, more = spoil_bytes(rng, content)
            step += f", packed: {more}"
        case.tell(f"{path}{suffix}: {'the same, ' if equal else ''}{step}")
        root = case.folder / "predictions"
        target = root / (path + suffix)
        target.parent.mkdir(parents=True)
        target.write_bytes(content)
        done, found = scored(case, root, name, language)
        if equal and found != sound_numbers(name, language, "answers"):
            raise FaultError(
                "score", f"the same answers, other numbers: {found or done.text[:200]}", f"same answers {path}"
            )

    campaign.run(fuzzer, share=0.28)


def test_bombs(campaign: Campaign) -> None:
    """A file of kilobytes that unpacks to hundreds of megabytes is rejected before it fills the memory."""
    units = (b"\n", b"\0", b"[", b'{"id": "a", "prediction": "b"}\n', b" ", b"a\tb\n")
    packed: dict[tuple[str, bytes], bytes] = {}

    def fuzzer(case: Case) -> None:
        rng = case.rng
        name = rng.choice(list(made.CELLS))
        language = made.CELLS[name][0]
        path = rng.choice(list(made.file_forms(name, language)))
        suffix, unit = rng.choice([".gz", ".xz", ".zst"]), rng.choice(units)
        case.tell(f"{path}{suffix}: {BOMB >> 20} MiB of {unit!r}")
        if (suffix, unit) not in packed:
            packed[suffix, unit] = PACKERS[suffix](unit * (BOMB // len(unit)))
        target = case.folder / "predictions" / (path + suffix)
        target.parent.mkdir(parents=True)
        target.write_bytes(packed[suffix, unit])
        scored(case, case.folder / "predictions", name, language)

    campaign.run(fuzzer, share=0.001)


def write_vectors(folder: Path, stem: str, ids: list[str], array: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{stem}.npy", array)
    (folder / f"{stem}.ids.txt").write_text("".join(f"{identifier}\n" for identifier in ids), encoding="utf-8")


HEADERS = (
    "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 16), }",
    "{'descr': '<f8', 'fortran_order': True, 'shape': (60, 16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (-60, 16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (60, -16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 0), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, 16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3, 4), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': 60, }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (True, 16), }",
    "{'descr': '<f4', 'fortran_order': 0, 'shape': (60, 16), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '|S4', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '<U1', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '|V4', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '<c8', 'fortran_order': False, 'shape': (60, 8), }",
    "{'descr': '<i4', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (60, 8), }",
    "{'descr': '<f3', 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '<f2', 'fortran_order': False, 'shape': (60, 32), }",
    "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (60, 8), }",
    "{'descr': [('a', '<f4', (1000000, 1000000))], 'fortran_order': False, 'shape': (60,), }",
    "{'descr': None, 'fortran_order': False, 'shape': (60, 16), }",
    "{'descr': '<f4', 'shape': (60, 16), }",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 16), 'more': 1}",
    "[1, 2, 3]",
    "",
    "{",
    "(" * 5_000,
    "-" * 9_000 + "1",
    "__import__('os').system('true')",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (" + "9" * 5_000 + ", 16)}",
    "\x00",
    "\x1b[31m",
)


def lying_array(case: Case, array: Any) -> bytes:
    """Return an .npy file with a wrong header or length."""
    rng = case.rng
    body = rng.choice((array.tobytes(), array.tobytes()[:-1], b"", array.tobytes() * 2))
    header = rng.choice(HEADERS).replace("%d", str(len(array) + rng.choice((-1, 0, 1, 10**9))))
    if rng.random() < 0.5:
        header = header.replace("60", str(len(array)))
    case.tell(f"header {header[:80]!r}, {len(body)} bytes of data")
    major = rng.choice((1, 1, 2, 3, 0, 9))
    encoded = header.encode("latin-1") + b"\n"
    length = len(encoded) + rng.choice((0, 0, 0, 0, 1, -1, 10_000, 2**31))
    size = (length % 2**16).to_bytes(2, "little") if major == 1 else (length % 2**32).to_bytes(4, "little")
    return b"\x93NUMPY" + bytes((major, 0)) + size + encoded + body


def spoil_values(case: Case, array: Any) -> Any:
    """Return vectors with values that are impossible or difficult to rank."""
    rng, changed = case.rng, array.copy()
    value = rng.choice((np.nan, np.inf, -np.inf, 0.0, 3e38, -3e38, 1e-45))
    rows = rng.choice((slice(None), rng.randrange(len(array)), slice(0, 3)))
    changed[rows] = value
    kind = rng.choice(("f2", "f4", "f8", ">f4", "f4", "i4", "c8", "g", "?"))
    case.tell(f"{value} in {rows} as {kind}")
    with np.errstate(all="ignore"):
        return changed.astype(kind)


def test_embeddings(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        rng = case.rng
        name = rng.choice(made.RETRIEVAL)
        language = rng.choice(made.CELLS[name])
        folder = case.folder / "predictions" / name
        files = made.vectors(name, language)
        for stem, (ids, array) in files.items():
            write_vectors(folder, stem, ids, array)
        stem = rng.choice(list(files))
        ids, array = files[stem]
        path, kind = folder / f"{stem}.npy", rng.choice(("bytes", "ids", "header", "values", "values", "order", "npz"))
        case.tell(f"{name}/{stem}: {kind}")
        if kind == "order":
            rows = rng.sample(range(len(ids)), len(ids))
            write_vectors(folder, stem, [ids[row] for row in rows], array[rows])
            if scored(case, folder.parent, name, language)[1] != sound_numbers(name, language, "vectors"):
                raise FaultError("score", "the same vectors in another order, other numbers", "order of vectors")
            return
        if kind == "ids":
            path = folder / f"{stem}.ids.txt"
        if kind in ("bytes", "ids"):
            content, step = spoil_bytes(rng, path.read_bytes())
            case.tell(step)
            path.write_bytes(content)
        elif kind == "header":
            path.write_bytes(lying_array(case, array))
        elif kind == "values":
            np.save(path, spoil_values(case, array))
        else:
            with path.open("wb") as stream:
                np.savez(stream, array)
        scored(case, folder.parent, name, language)

    campaign.run(fuzzer, share=0.08)
