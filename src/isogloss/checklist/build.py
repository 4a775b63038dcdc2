"""Write the suite: JSON lines with gold, slots and stable ids, and optional SQuAD files."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec

from isogloss.checklist.review_marks import review_status
from isogloss.checklist.shipped import VARIANTS, cases_with_every_answer, language_examples, refuse_unfair
from isogloss.checklist.tasks import CASES
from isogloss.data.files import atomic_write
from isogloss.errors import check_count, named, unknown
from isogloss.grammar.cases import ChecklistCase, ChecklistExample, fillers
from isogloss.grammar.file import CODES, Grammar, grammar
from isogloss.grammar.schema import TESTS

_JSON = msgspec.json.Encoder()


def build_checklist(
    out: str | os.PathLike[str],
    languages: Sequence[str] | None = None,
    *,
    variant: str = "mft",
    count: int = CASES,
    seed: int = 0,
    squad: bool = False,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[tuple[Path, int]]:
    """Write the template tests of basic skills: `<out>/<language>.jsonl` (and `<language>.squad.json`).

    Args:
        out: output folder.
        languages: languages to write; default all 51.
        variant: "mft", or "inv-names" or "inv-unrelated" of the suite checklist-invariance.
        count: cases per test.
        seed: 0 for the built-in cases; any other draws new ones.
        squad: True to also write SQuAD files.
        jobs: number of languages to write in parallel.
        progress: called with each language.

    Returns:
        The JSON-lines files, with the number of their examples.

    Raises:
        UnknownNameError: unknown variant or language.

    Example:
        isogloss.build_checklist("checklist", ["en", "sw", "ta"])
    """
    check_count("count", count, 1)
    check_count("jobs", jobs, 1)
    if variant not in VARIANTS:
        raise unknown("kind", variant, VARIANTS)
    languages = named("language", languages) or list(CODES)
    for code in languages:
        if code not in CODES:
            raise unknown("checklist language", code, CODES)
    for test in TESTS:
        cases_with_every_answer(test, count, seed)  # drawn before workers start, so forked workers inherit them
    write = partial(_write_language, Path(out), variant, count, seed, squad)
    written: list[tuple[Path, int]] = []
    with ExitStack() as stack:
        parallel = jobs > 1 and len(languages) > jobs
        mapped = stack.enter_context(ProcessPoolExecutor(jobs)).map if parallel else map
        for code, file in zip(languages, mapped(write, languages), strict=True):
            written.append(file)
            if progress is not None:
                progress(code)
    return written


def _write_language(out: Path, variant: str, count: int, seed: int, squad: bool, code: str) -> tuple[Path, int]:
    refuse_unfair(code, count, seed)
    speaker = grammar(code)
    examples = list(language_examples(code, variant, count=count, seed=seed))
    review = {test: review_status(speaker, test).text for test in TESTS}
    path = out / f"{code}.jsonl"
    with atomic_write(path) as stream:
        for case, group in groupby(examples, key=attrgetter("case")):
            stream.buffer.write(_JSON.encode_lines(_rows(case, group, speaker, review[case.test])))
    if squad:
        with atomic_write(out / f"{code}.squad.json") as stream:
            json.dump(_squad(examples), stream, ensure_ascii=False)
    return path, len(examples)


def _rows(
    case: ChecklistCase, examples: Iterable[ChecklistExample], speaker: Grammar, review: str
) -> Iterator[dict[str, Any]]:
    words = fillers(case, speaker)
    slots = {slot: {"concept": value, "word": words[slot].base} for slot, value in case.slots}
    for example in examples:
        cell = {"id": example.id, "case": case.id, "test": case.test, "kind": example.variant, "language": speaker.code}
        texts = {name: getattr(example, name) for name in ("context", "question", "answer", "accepted", "sentence")}
        yield {**cell, **texts, "review": review, "slots": slots}


def _squad(examples: Sequence[ChecklistExample]) -> dict[str, object]:
    paragraphs = []
    for context, group in groupby(examples, key=lambda example: example.context):
        questions = []
        for example in group:
            answers = [{"text": example.answer, "answer_start": context.find(example.answer)}]
            questions.append({"id": example.id, "question": example.question, "answers": answers})
        paragraphs.append({"context": context, "qas": questions})
    return {"version": "1.1", "data": [{"title": "checklist", "paragraphs": paragraphs}]}
