"""Published translations: XTREME's archive and script output, and those of XNLI, PAWS-X, MLQA and XCOPA."""

from collections.abc import Callable, Sequence
from pathlib import Path

from isogloss.data import squad
from isogloss.data.tables import rows
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers import copa, pairs
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.task import Layout, Task
from isogloss.translation.translated_answers import find_answers, with_answers

_SQUAD = "SQuAD/translate-train/squad.translate.train.en-{lang}.json"


def _pair_files(train: str, test: str) -> Layout:
    """Return XTREME's layout of text pairs in two folders, or in one."""
    return Layout("pairs", train=f"{train}/en-{{lang}}-translated.tsv", test=f"{test}/test-{{lang}}-en-translated.tsv")


# File locations below the translations folder or the data folder, best first.
LAYOUTS = {
    "xnli": (
        _pair_files("XNLI/translate-train", "XNLI/translate-test"),
        _pair_files("xnli/XNLI-Translated", "xnli/XNLI-Translated"),
        Layout("pairs", train="xnli/XNLI-MT-1.0/multinli/multinli.train.{lang}.tsv"),
    ),
    "pawsx": (
        _pair_files("PAWSX/translate-train", "PAWSX/translate-test"),
        _pair_files("pawsx/translated", "pawsx/translated"),
        Layout("pawsx", train="pawsx/{lang}/translated_train.tsv"),
    ),
    "xquad": (Layout("squad", train=_SQUAD),),
    "mlqa": (
        Layout("squad", train=_SQUAD),
        Layout("squad", train="mlqa/mlqa-translate-train/{lang}_squad-translate-train-train-v1.1.json"),
    ),
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
    patterns = (pattern for layout in LAYOUTS.get(task.id, ()) for pattern in (layout.train, layout.dev, layout.test))
    return {pattern.partition("/")[0] for pattern in patterns if pattern}


def find_published(task: Task, language: str, split: str, roots: Sequence[Path]) -> Examples | None:
    """Return the training set in a language, or a test set translated to English; None if there is no file."""
    for layout in LAYOUTS.get(task.id, ()):
        for root in roots:
            if pattern := getattr(layout, split):
                files = SplitFiles(task=task, language=language, split=split, root=root, pattern=pattern)
                if (examples := _READERS[layout.reader](files)) is not None:
                    return examples
    return None


def _pairs(source: SplitFiles) -> Examples | None:
    """Read XTREME's pairs, tab-separated `a, b, a translated, b translated, label`, or only the last three (scripts).

    XNLI's own translations have the last three below a header. Labels of a test file are ignored, since gold comes
    from the original.
    """
    path = source.path()
    if path is None:
        return None
    table = list(rows(path, (1, 64), source.digest))
    if source.split == "train":
        return _labelled(source, table[1:] if table and table[0][-1] == "label" else table)
    for number, row in enumerate(table, 1):
        if not 2 <= len(row) <= 5:
            raise DataError(f"expected 2 to 5 columns, got {len(row)}", where=f"{source.where()}:{number}")
    texts = [row[2:4] if len(row) > 3 else row[:2] for row in table]
    columns: dict[str, Column] = {"text_a": [row[0] for row in texts], "text_b": [row[1] for row in texts]}
    return source.examples(source.row_ids(len(texts)), columns, "label")


def _labelled(source: SplitFiles, table: Sequence[list[str]]) -> Examples:
    """Return rows with a valid label; others are dropped and counted, as some published rows are damaged."""
    labels = {"contradictory": "contradiction"}  # XTREME's XNLI files spell one label as in the release
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
    "pairs": _pairs,
    "pawsx": pairs.pawsx,
    "squad": _squad,
}
