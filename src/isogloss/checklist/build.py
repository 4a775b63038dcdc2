"""Writing the suite: JSON lines with gold, slots and stable ids, and SQuAD files for systems that want those."""

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

import msgspec

from isogloss.checklist.review_marks import review_status
from isogloss.checklist.shipped import cases_with_every_answer, language_examples, refuse_unfair
from isogloss.checklist.tasks import CASES
from isogloss.checklist.variants import VARIANTS
from isogloss.data.files import atomic_write
from isogloss.errors import unknown
from isogloss.grammar.cases import ChecklistCase, ChecklistExample, fillers
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import TESTS

_JSON = msgspec.json.Encoder()


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
        IsoglossError: more cases are wanted than there are, or a language scores right answers as wrong.
    """
    if variant not in VARIANTS:
        raise unknown("kind", variant, VARIANTS)
    for test in TESTS:
        cases_with_every_answer(
            test, count, seed
        )  # drawn before there are workers, which inherit them where they are forked
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


class ChecklistRow(msgspec.Struct):
    """A line of the file: an example with everything that is known of it."""

    id: str
    case: str
    test: str
    kind: str
    language: str
    context: str
    question: str
    answer: str
    accepted: tuple[str, ...]
    sentence: str
    review: str
    slots: dict[str, dict[str, str]]


def _rows(
    case: ChecklistCase, examples: Iterable[ChecklistExample], speaker: Grammar, review: str
) -> list[ChecklistRow]:
    words = fillers(case, speaker)
    slots = {slot: {"concept": value, "word": words[slot].base} for slot, value in case.slots}
    return [
        ChecklistRow(
            each.id, case.id, case.test, each.variant, speaker.code,
            each.context, each.question, each.answer, each.accepted, each.sentence, review, slots,
        )
        for each in examples
    ]  # fmt: skip


def _squad(examples: Sequence[ChecklistExample]) -> dict[str, object]:
    paragraphs = []
    for context, group in groupby(examples, key=lambda example: example.context):
        questions = [
            {
                "id": example.id,
                "question": example.question,
                "answers": [{"text": example.answer, "answer_start": context.find(example.answer)}],
            }
            for example in group
        ]
        paragraphs.append({"context": context, "qas": questions})
    return {"version": "1.1", "data": [{"title": "checklist", "paragraphs": paragraphs}]}
