"""The translation files of others: XTREME's archive and its scripts' folders, XNLI's, PAWS-X's and XCOPA's own.

XTREME's pairs are tab-separated, `a, b, a translated, b translated, label`, or, as its scripts keep them, only the last
three; its questions are SQuAD files whose answers were found again in the translated passages.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from isogloss.data import squad
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers import copa, pairs
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.task import Layout, Task
from isogloss.translation.answer_projection import find_answers, with_answers

_SQUAD = "SQuAD/translate-train/squad.translate.train.en-{lang}.json"


def _pair_files(train: str, test: str) -> Layout:
    """XTREME's pairs of texts in two folders, or in one."""
    return Layout("pairs", train=f"{train}/en-{{lang}}-translated.tsv", test=f"{test}/test-{{lang}}-en-translated.tsv")


# Where the files may lie, below the folder of translations or the data folder; best first.
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
    """The folders that may have such files of a task, by their names in the data folder."""
    patterns = (pattern for each in _LAYOUTS.get(task.id, ()) for pattern in (each.train, each.dev, each.test))
    return {pattern.partition("/")[0] for pattern in patterns if pattern}


def find(task: Task, language: str, split: str, roots: Sequence[Path]) -> Examples | None:
    """The training set in a language, or a test set from it in English; None where there is no file."""
    for layout in _LAYOUTS.get(task.id, ()):
        for root in roots:
            if pattern := getattr(layout, split):
                found = _READERS[layout.reader](SplitFiles(task, language, split, root, pattern))
                if found is not None:
                    return found
    return None


def _pairs(source: SplitFiles) -> Examples | None:
    """XTREME's pairs; the labels of a test file are not read, for gold is the original's."""
    path = source.path()
    if path is None:
        return None
    table = list(rows(path, (1, 64), source.digest))
    return _labelled(source, table) if source.split == "train" else _unlabelled(source, table)


def _labelled(source: SplitFiles, table: Sequence[list[str]]) -> Examples:
    """Rows with a label of the task; others are left out and counted, as some of the published rows are damaged."""
    found = [(*row[-3:-1], _label(row[-1])) for row in table if len(row) in (3, 5)]
    kept = [row for row in found if row[2] in source.task.labels]
    lost = len(table) - len(kept)
    if lost > len(table) / 2:
        what = f"{lost:,} of {len(table):,} rows are no pairs with a label of {source.task.id}"
        fix = "XTREME's columns are a, b, a translated, b translated, label"
        raise DataError(what, where=source.where(), fix=fix)
    first, second, labels = ([row[column] for row in kept] for column in range(3))
    columns: dict[str, Column] = {"text_a": first, "text_b": second, "label": labels}
    examples = source.examples(source.row_ids(len(kept)), columns, "label")
    if lost:
        examples.notes.append(f"{lost:,} of {len(table):,} rows left out: they are damaged")
    return examples


def _label(text: str) -> str:
    # XTREME's XNLI files spell one label as the release does.
    return "contradiction" if text.strip() == "contradictory" else text.strip()


def _unlabelled(source: SplitFiles, table: Sequence[list[str]]) -> Examples:
    for number, row in enumerate(table, 1):
        if not 2 <= len(row) <= 5:
            raise DataError(f"{len(row)} columns instead of 2 to 5", where=f"{source.where()}:{number}")
    texts = [row[2:4] if len(row) > 3 else row[:2] for row in table]
    columns: dict[str, Column] = {"text_a": [row[0] for row in texts], "text_b": [row[1] for row in texts]}
    return source.examples(source.row_ids(len(texts)), columns, "label")


def _squad(source: SplitFiles) -> Examples | None:
    """XTREME's questions; an answer that is not at its place is looked for."""
    path = source.path()
    if path is None:
        return None
    questions = list(squad.questions(squad.read(path, source.digest)))
    ids = [str(question.id) for _, question in questions]
    columns: dict[str, Column] = {
        "question": [question.question for _, question in questions],
        "context": [paragraph.context for paragraph, _ in questions],
    }
    # The published files do not promise unique ids, and nothing else looks at those of training questions.
    unique = ids if len(set(ids)) == len(ids) else source.row_ids(len(ids))
    found = [
        find_answers(paragraph.context, [(answer.text, answer.answer_start) for answer in question.answers])
        for paragraph, question in questions
    ]
    return with_answers(source.examples(unique, columns, "answers"), found)


_READERS: dict[str, Callable[[SplitFiles], Examples | None]] = {
    "copa": copa.copa,
    "multinli": pairs.multinli,
    "pairs": _pairs,
    "pawsx": pairs.pawsx,
    "squad": _squad,
}
