"""Writing the suite: JSON lines with gold, slots and stable ids, and SQuAD files for systems that want those."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

import msgspec

from isogloss.checklist.shipped import CASES, suite_cases
from isogloss.data.files import atomic_write
from isogloss.errors import unknown
from isogloss.grammar.cases import Case, Example, examples, fillers
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import LEAST_NAMES, TESTS

# MFT: the answer is right or wrong. INV: an answer must not change when other names are used, or when a sentence is
# added that has nothing to do with the question.
KINDS = ("mft", "inv-names", "inv-unrelated")


@dataclass(frozen=True)
class Variant:
    """An example as it is asked: plain (MFT), or changed in a way that must not change the answer (INV)."""

    kind: str
    example: Example
    context: str
    question: str
    answer: str

    @property
    def id(self) -> str:
        """The example's id, with the kind of change behind it."""
        return self.example.id if self.kind == "mft" else f"{self.example.id}-{self.kind}"


def variants(code: str, kind: str = "mft", count: int = CASES, seed: int = 0) -> Iterator[Variant]:
    """The examples of a language in one of the kinds."""
    speaker = grammar(code)
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    change = {"mft": _plain, "inv-names": _other_names, "inv-unrelated": _unrelated}[kind]
    for test in TESTS:
        if kind == "inv-names" and not any(slot == "a" for slot, _ in suite_cases(test, count, seed)[0].slots):
            continue  # things have no names to swap
        for case in suite_cases(test, count, seed):
            yield from change(case, speaker)


def _plain(case: Case, speaker: Grammar) -> Iterator[Variant]:
    for example in examples(case, speaker):
        yield Variant("mft", example, example.context, example.question, example.answer)


def _unrelated(case: Case, speaker: Grammar) -> Iterator[Variant]:
    sentences = speaker.file.templates.invariance.unrelated
    extra = sentences[case.number % len(sentences)]
    blank = " " if " " in extra or " " in speaker.file.templates.comparisons.contexts[0] else ""
    for example in examples(case, speaker):
        context = f"{extra}{blank}{example.context}"
        yield Variant("inv-unrelated", example, context, example.question, example.answer)


def swapped(case: Case) -> Case:
    """The case with other people of the same gender: each name moves half-way round the list."""
    slots = tuple(
        (slot, f"{value[0]}{(int(value[1:]) + LEAST_NAMES // 2) % LEAST_NAMES}" if slot in ("a", "b") else value)
        for slot, value in case.slots
    )
    return Case(case.test, case.number, slots)


def _other_names(case: Case, speaker: Grammar) -> Iterator[Variant]:
    for example, other in zip(examples(case, speaker), examples(swapped(case), speaker), strict=True):
        yield Variant("inv-names", example, other.context, other.question, other.answer)


def build(
    out: Path,
    languages: Sequence[str],
    *,
    kind: str = "mft",
    count: int = CASES,
    seed: int = 0,
    squad: bool = False,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> list[tuple[Path, int]]:
    """Write `<out>/<language>.jsonl` (and `<language>.squad.json`) for each language; same seed, same bytes.

    With several jobs, languages are written side by side.
    """
    for test in TESTS:
        suite_cases(test, count, seed)  # drawn before there are workers, which inherit them where they are forked
    write = partial(_write_language, out, kind, count, seed, squad)
    written: list[tuple[Path, int]] = []
    with ExitStack() as stack:
        parallel = jobs > 1 and len(languages) > jobs
        each = stack.enter_context(ProcessPoolExecutor(jobs)).map if parallel else map
        for code, made in zip(languages, each(write, languages), strict=True):
            written.append(made)
            if progress is not None:
                progress(code)
    return written


def _write_language(out: Path, kind: str, count: int, seed: int, squad: bool, code: str) -> tuple[Path, int]:
    encode = msgspec.json.Encoder().encode
    path, rows = out / f"{code}.jsonl", 0
    with atomic_write(path) as stream:
        for row in _rows(code, kind, count, seed):
            stream.write(encode(row).decode() + "\n")
            rows += 1
    if squad:
        _write_squad(out / f"{code}.squad.json", variants(code, kind, count, seed))
    return path, rows


def _rows(code: str, kind: str, count: int, seed: int) -> Iterator[dict[str, object]]:
    speaker = grammar(code)
    for _, group_of in groupby(variants(code, kind, count, seed), key=lambda variant: id(variant.example.case)):
        group = list(group_of)
        case = group[0].example.case
        words = fillers(case, speaker)
        slots = {slot: {"concept": value, "word": words[slot].base} for slot, value in case.slots}
        for variant in group:
            yield {
                "id": variant.id,
                "case": case.id,
                "test": case.test,
                "kind": kind,
                "language": code,
                "context": variant.context,
                "question": variant.question,
                "answer": variant.answer,
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
