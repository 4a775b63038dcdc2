"""Readers of published translations: XTREME's archive and script output, XNLI, PAWS-X and XCOPA.

XTREME's pairs are tab-separated, `a, b, a translated, b translated, label`, or, from its scripts, only the last
three; its questions are SQuAD files with answers projected onto the translated passages.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from isogloss.data import squad
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers import copa, pairs
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.task import Layout, Task

# Answers to one question, each with its (expected) offset in the passage.
Answers = list[tuple[str, int]]

# Columns to project onto translated passages; the first holds texts, which are translated too.
PROJECTED = ("answers", "answer_starts")


def project_answers(
    originals: Examples, translated: Examples, translations: Sequence[Sequence[str]]
) -> Iterator[Answers]:
    """Yield the separately translated answers to each question that occur in its translated passage."""
    before = zip(originals["context"], originals["answer_starts"], strict=True)
    for context, (original, starts), answers in zip(translated["context"], before, translations, strict=True):
        # A translated answer is at about the same relative position as the original.
        stretch = len(context) / max(1, len(original))
        offsets = [round(start * stretch) for start in starts] + [0] * len(answers)
        yield find_answers(context, list(zip(answers, offsets, strict=False)))


def find_answers(context: str, answers: Answers) -> Answers:
    """Return the answers found in a passage, as spelled there, at the occurrence nearest to the expected offset."""
    lower, matches = context.lower(), []
    for answer, expected in answers:
        text = answer.strip().rstrip(".")
        # Preferably in the same case. Lower-casing may change the length, and then offsets do not match.
        for passage, wanted in ((context, text), (lower if len(lower) == len(context) else "", text.lower())):
            starts = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", passage)] if wanted else []
            if starts:
                start = min(starts, key=lambda start: abs(start - expected))
                matches.append((context[start : start + len(wanted)], start))
                break
    return matches


def with_answers(examples: Examples, located: Sequence[Answers]) -> Examples:
    """Return the questions with answers found in their passages, with a note on how many were dropped."""
    rows = [row for row, answers in enumerate(located) if answers]
    answered = examples.keep(rows)
    answered.columns["answers"] = [[text for text, _ in located[row]] for row in rows]
    answered.columns["answer_starts"] = [[start for _, start in located[row]] for row in rows]
    if lost := len(examples) - len(rows):
        note = f"{lost:,} of {len(examples):,} questions dropped: the answer is not in the passage"
        answered.notes = [*answered.notes, note]
    return answered


_SQUAD = "SQuAD/translate-train/squad.translate.train.en-{lang}.json"


def _pair_files(train: str, test: str) -> Layout:
    """Return XTREME's layout of text pairs in two folders, or in one."""
    return Layout("pairs", train=f"{train}/en-{{lang}}-translated.tsv", test=f"{test}/test-{{lang}}-en-translated.tsv")


# File locations below the translations folder or the data folder, best first.
_LAYOUTS = {
    "xnli": (
        _pair_files("XNLI/translate-train", "XNLI/translate-test"),
        _pair_files("xnli/XNLI-Translated", "xnli/XNLI-Translated"),
        Layout("multinli", train="xnli/XNLI-MT-1.0/multinli/multinli.train.{lang}.tsv"),
    ),
    "pawsx": (
        _pair_files("PAWSX/translate-train", "PAWSX/translate-test"),
        _pair_files("pawsx/translated", "pawsx/translated"),
        Layout("pawsx", train="pawsx/{lang}/translated_train.tsv"),
    ),
    "xquad": (Layout("squad", train=_SQUAD),),
    "mlqa": (Layout("squad", train=_SQUAD),),
    "tydiqa": (Layout("squad", train="TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-{lang}.json"),),
    "xcopa": (
        Layout(
            "copa",
            train="xcopa_translate_train/xcopa_{lang}_translate_train.jsonl",
            test="xcopa/data-gmt/{lang}/test.{lang}.jsonl",
            dev="xcopa/data-gmt/{lang}/val.{lang}.jsonl",
        ),
    ),
}


def published_folders(task: Task) -> set[str]:
    """Return the data subfolders that may have translations of a task."""
    patterns = (pattern for layout in _LAYOUTS.get(task.id, ()) for pattern in (layout.train, layout.dev, layout.test))
    return {pattern.partition("/")[0] for pattern in patterns if pattern}


def find(task: Task, language: str, split: str, roots: Sequence[Path]) -> Examples | None:
    """Return the training set in a language, or a test set translated to English; None if there is no file."""
    for layout in _LAYOUTS.get(task.id, ()):
        for root in roots:
            if pattern := getattr(layout, split):
                examples = _READERS[layout.reader](
                    SplitFiles(task=task, language=language, split=split, root=root, pattern=pattern)
                )
                if examples is not None:
                    return examples
    return None


def _pairs(source: SplitFiles) -> Examples | None:
    """Read XTREME's pairs; labels of a test file are ignored, since gold comes from the original."""
    path = source.path()
    if path is None:
        return None
    table = list(rows(path, (1, 64), source.digest))
    if source.split == "train":
        return _labelled(source, table)
    for number, row in enumerate(table, 1):
        if not 2 <= len(row) <= 5:
            raise DataError(f"expected 2 to 5 columns, got {len(row)}", where=f"{source.where()}:{number}")
    texts = [row[2:4] if len(row) > 3 else row[:2] for row in table]
    columns: dict[str, Column] = {"text_a": [row[0] for row in texts], "text_b": [row[1] for row in texts]}
    return source.examples(source.row_ids(len(texts)), columns, "label")


def _labelled(source: SplitFiles, table: Sequence[list[str]]) -> Examples:
    """Return rows with a valid label; others are dropped and counted, as some published rows are damaged."""
    # XTREME's XNLI files spell one label as in the release.
    labels = {"contradictory": "contradiction"}
    rows = [(*row[-3:-1], labels.get(row[-1].strip(), row[-1].strip())) for row in table if len(row) in (3, 5)]
    valid = [row for row in rows if row[2] in source.task.labels]
    lost = len(table) - len(valid)
    if lost > len(table) / 2:
        what = f"{lost:,} of {len(table):,} rows are not pairs with a label of {source.task.id}"
        fix = "XTREME's columns are a, b, a translated, b translated, label"
        raise DataError(what, where=source.where(), fix=fix)
    names = ("text_a", "text_b", "label")
    columns: dict[str, Column] = {name: [row[index] for row in valid] for index, name in enumerate(names)}
    examples = source.examples(source.row_ids(len(valid)), columns, "label")
    if lost:
        examples.notes.append(f"{lost:,} of {len(table):,} damaged rows dropped")
    return examples


def _squad(source: SplitFiles) -> Examples | None:
    """Read XTREME's questions; search for answers that are not at their offset."""
    path = source.path()
    if path is None:
        return None
    questions = list(squad.questions(squad.read(path, source.digest)))
    ids = [str(question.id) for _, question in questions]
    columns: dict[str, Column] = {
        "question": [question.question for _, question in questions],
        "context": [paragraph.context for paragraph, _ in questions],
    }
    # Published ids need not be unique, and training ids are not used otherwise.
    unique = ids if len(set(ids)) == len(ids) else source.row_ids(len(ids))
    answers = [
        find_answers(paragraph.context, [(answer.text, answer.answer_start) for answer in question.answers])
        for paragraph, question in questions
    ]
    return with_answers(source.examples(unique, columns, "answers"), answers)


_READERS: dict[str, Callable[[SplitFiles], Examples | None]] = {
    "copa": copa.copa,
    "multinli": pairs.multinli,
    "pairs": _pairs,
    "pawsx": pairs.pawsx,
    "squad": _squad,
}
