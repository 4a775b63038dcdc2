"""Writing the suite: JSON lines with gold, slots and stable ids, and SQuAD files for systems that want those."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from isogloss.checklist.shipped import suite_cases
from isogloss.checklist.tasks import CASES
from isogloss.checklist.variants import VARIANTS, Variant, variants
from isogloss.data.files import atomic_write
from isogloss.errors import unknown
from isogloss.grammar.cases import fillers
from isogloss.grammar.file import grammar
from isogloss.grammar.schema import TESTS


def build(
    out: Path,
    languages: Sequence[str],
    *,
    variant: str = "mft",
    count: int = CASES,
    seed: int = 0,
    squad: bool = False,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[tuple[Path, int]]:
    """Write `<out>/<language>.jsonl` (and `<language>.squad.json`) for each language.

    Args:
        out: the folder.
        languages: to be written.
        variant: one of `isogloss.checklist.variants.VARIANTS`.
        count: cases a test.
        seed: 0 for the suite's own cases, any other draws new ones.
        squad: also write SQuAD files.
        jobs: so many languages are written side by side.
        progress: is told each language.

    Returns:
        The JSON-lines files, with the number of their examples.

    Raises:
        UnknownNameError: no such variant or language.
        IsoglossError: more cases are wanted than there are.
    """
    if variant not in VARIANTS:
        raise unknown("kind", variant, VARIANTS)
    for test in TESTS:
        suite_cases(test, count, seed)  # drawn before there are workers, which inherit them where they are forked
    write = partial(_write_language, out, variant, count, seed, squad)
    written: list[tuple[Path, int]] = []
    with ExitStack() as stack:
        parallel = jobs > 1 and len(languages) > jobs
        each = stack.enter_context(ProcessPoolExecutor(jobs)).map if parallel else map
        for code, made in zip(languages, each(write, languages), strict=True):
            written.append(made)
            if progress is not None:
                progress(code)
    return written


def _write_language(out: Path, variant: str, count: int, seed: int, squad: bool, code: str) -> tuple[Path, int]:
    encode = msgspec.json.Encoder().encode
    path, rows = out / f"{code}.jsonl", 0
    with atomic_write(path) as stream:
        for row in _rows(code, variant, count, seed):
            stream.write(encode(row).decode() + "\n")
            rows += 1
    if squad:
        _write_squad(out / f"{code}.squad.json", variants(code, variant, count=count, seed=seed))
    return path, rows


def _rows(code: str, variant: str, count: int, seed: int) -> Iterator[dict[str, object]]:
    speaker = grammar(code)
    asked = variants(code, variant, count=count, seed=seed)
    for _, group_of in groupby(asked, key=lambda each: id(each.example.case)):
        group = list(group_of)
        case = group[0].example.case
        words = fillers(case, speaker)
        slots = {slot: {"concept": value, "word": words[slot].base} for slot, value in case.slots}
        for each in group:
            yield {
                "id": each.id,
                "case": case.id,
                "test": case.test,
                "kind": variant,
                "language": code,
                "context": each.context,
                "question": each.question,
                "answer": each.answer,
                "review": speaker.file.review[case.test],
                "slots": slots,
            }


def _write_squad(path: Path, rows: Iterator[Variant]) -> None:
    paragraphs = []
    for context, group in groupby(rows, key=lambda variant: variant.context):
        questions = [
            {
                "id": variant.id,
                "question": variant.question,
                "answers": [{"text": variant.answer, "answer_start": context.find(variant.answer)}],
            }
            for variant in group
        ]
        paragraphs.append({"context": context, "qas": questions})
    with atomic_write(path) as stream:
        stream.write(
            json.dumps(
                {"version": "1.1", "data": [{"title": "checklist", "paragraphs": paragraphs}]}, ensure_ascii=False
            )
        )
