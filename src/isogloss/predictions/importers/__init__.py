"""Import other tools' output files as answers to our examples.

Each tool has a module with two functions: `recognizes(path, decoded)`, and `read(files, target)`, which returns the
answers with the texts that the files quote from the examples. The quotes are then compared with the examples, so that
answers are never paired with the wrong examples.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from isogloss.data.files import lines, unpacked_name
from isogloss.decoding import decode_python_json
from isogloss.errors import DataError, PredictionError, unknown
from isogloss.predictions.check import align
from isogloss.predictions.importers.base import ImportedAnswers, Target, alike, read_json, shown
from isogloss.predictions.importers.table import TableColumns, answers_of, label_mapping, read_table
from isogloss.predictions.problems import Problem, grouped, number_of
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import given_task as find_task
from isogloss.tasks.registry import no_language
from isogloss.tasks.task import SPLITS

__all__ = ["TOOLS", "ImportedAnswers", "TableColumns", "detect", "import_files", "import_table"]

# In the order of detection: Hugging Face's formats are the least specific, so they come last.
TOOLS = {"lm-eval": "lm_eval", "mteb": "mteb", "explainaboard": "explainaboard", "hf": "hf"}


def import_files(
    tool: str,
    files: Sequence[str | os.PathLike[str]],
    task: str,
    language: str,
    *,
    split: str = "test",
    data: str | os.PathLike[str] | None = None,
    labels: Sequence[str] = (),
    choose_filter: str = "",
) -> ImportedAnswers:
    """Read a tool's files as the answers of one cell.

    Args:
        tool: one of `TOOLS`, or "auto" to detect it.
        files: output files of the tool, packed or not.
        task: task or alias.
        language: two-letter code.
        split: "test" or "dev".
        data: data folder, used to check ids and quoted texts; without it, a note reports the missing check.
        labels: labels in the order of the tool's class indices.
        choose_filter: answer filter to import if there are several (lm-eval).

    Returns:
        Ids and answers, with notes on missing checks; `write_predictions` writes them.

    Raises:
        PredictionError: a file is from another tool, incomplete, or answers other examples.
        DataError: a file cannot be read, or the examples are missing from the data folder.
        UnknownNameError: unknown tool, task, language, split, label or filter.

    Example:
        answers = isogloss.import_files("hf", ["predict_predictions.json"], "xquad", "en", data="data")
        isogloss.score({"xquad": {"en": answers}}, data="data")
    """
    chosen_task = find_task(task)
    for kind, name, options in (
        ("tool", tool, ("auto", *TOOLS)),
        (f"language of {chosen_task.id}", language, chosen_task.every_language),
        ("split", split, ("test", "dev")),
        *((f"label of {chosen_task.id}", label, chosen_task.labels) for label in labels),
    ):
        if name not in options:
            raise unknown(kind, name, options)
    paths = _existing(files)
    examples = load(chosen_task, language, split, data) if data is not None else None
    target = Target(
        task=chosen_task, language=language, split=split, examples=examples, labels=tuple(labels), filter=choose_filter
    )
    imported: ImportedAnswers = _module(detect(paths) if tool == "auto" else tool).read(paths, target)
    _check(target, imported)
    return imported


def import_table(
    files: Sequence[str | os.PathLike[str]],
    task: str,
    columns: TableColumns,
    *,
    languages: Sequence[str] = (),
    split: str = "test",
    data: str | os.PathLike[str] | None = None,
    labels: Sequence[str] = (),
    replies: bool = False,
) -> dict[str, ImportedAnswers]:
    """Read tables in any shape (CSV, TSV, JSON, JSON lines, Parquet) as the answers of one or several languages.

    Args:
        files: tables, packed or not.
        task: task or alias.
        columns: columns with the predictions, ids and languages.
        languages: language of the table; with a language column, the languages to import, by default all.
        split: "test" or "dev".
        data: data folder, used to check ids and texts; without it, a note reports the missing check.
        labels: meaning of the file's labels, `0=entailment` each, or the task's labels in the order of their index.
        replies: True if the predictions are a model's replies in free text, from which the answers are read.

    Returns:
        Ids and answers by language, with notes.

    Raises:
        PredictionError: missing columns, invalid ids or answers, or a number of rows that does not fit.
        DataError: a file cannot be read, or the examples are missing from the data folder.
        UnknownNameError: unknown task, language, split or label.

    Example:
        columns = isogloss.predictions.importers.TableColumns(prediction="label", id="pair_id")
        isogloss.import_table(["answers.csv"], "xnli", columns, languages=["sw"])
    """
    chosen = find_task(task)
    if split not in ("test", "dev"):
        raise unknown("split", split, ("test", "dev"))
    languages = [languages] if isinstance(languages, str) else languages
    for code in languages:
        if code not in chosen.every_language:
            raise no_language(chosen.id, code, chosen.every_language)
    if not columns.language and len(languages) != 1:
        what = "the language of the table is unknown"
        raise PredictionError(what, fix="Pass one language, or the column with the languages")
    mapping = label_mapping(chosen, labels)
    imported: dict[str, ImportedAnswers] = {}
    for code, rows in read_table(_existing(files), chosen, columns, languages).items():
        examples = load(chosen, code, split, data) if data is not None else None
        target = Target(task=chosen, language=code, split=split, examples=examples)
        imported[code] = answers_of(rows, target, mapping, replies=replies)
        _check(target, imported[code])
    return imported


def _existing(files: Sequence[str | os.PathLike[str]]) -> list[Path]:
    paths = [Path(file) for file in ([files] if isinstance(files, str | os.PathLike) else files)]
    if not paths:
        raise DataError("no files to import")
    for path in paths:
        if not path.is_file():
            raise DataError("no such file", where=str(path))
    return paths


def _module(tool: str) -> Any:
    return import_module(f"isogloss.predictions.importers.{TOOLS[tool]}")


def detect(files: Sequence[Path]) -> str:
    """Return the tool that wrote the files."""
    tools: set[str] = set()
    for path in files:
        decoded = _sample(path)
        tool = next((tool for tool in TOOLS if _module(tool).recognizes(path, decoded)), None)
        if tool is None:
            fix = f"Name the tool ({', '.join(TOOLS)}) to see what its importer expects"
            raise PredictionError("unrecognised file format", where=str(path), fix=fix)
        tools.add(tool)
    if len(tools) > 1:
        what = f"files from different tools: {', '.join(sorted(tools))}"
        raise PredictionError(what, where=", ".join(map(str, files)))
    return tools.pop()


def _sample(path: Path) -> Any:
    """Decode a .json file, or the first line of a .jsonl file."""
    name = unpacked_name(path)
    if name.endswith(".json"):
        return read_json(path)
    if name.endswith(".jsonl"):
        with suppress(DataError):
            return decode_python_json(next(lines(path), ""), str(path))
    return None


def _check(target: Target, imported: ImportedAnswers) -> None:
    """Raise an error for answers that do not belong to the cell; add a note for missing checks."""
    _refuse(imported.problems)
    if not imported.ids:
        raise PredictionError("no answers", where=str(imported.path))
    first: dict[str, int] = {}
    for row, identifier in enumerate(imported.ids):
        if first.setdefault(identifier, row) != row:
            what = f"duplicate answer to {identifier!r}, first at {imported.where(first[identifier])}"
            raise PredictionError(what, where=imported.where(row), fix="Keep one answer per example")
    expected, count = target.task.expected(target.language, target.split), len(imported.ids)
    others = [split for split in SPLITS if target.task.expected(target.language, split) == count]
    if expected not in (None, count) and others:
        what = f"{count} answers, but {target.name} has {expected} examples; {others[0]} has {count}"
        raise PredictionError(what, where=imported.where(0), fix=f"Pass --split {others[0]}")
    if target.examples is None:
        imported.notes.append("ids and texts not checked: pass the examples with --data")
        return
    # Some tasks ignore single unknown ids.
    if not set(target.examples.ids).intersection(imported.ids):
        got = f"got {shown(imported.ids[0])}, not {target.examples.ids[0]!r}"
        what = f"none of the {len(imported.ids)} ids is in {target.name}: {got}"
        fix = "Check task, language and split; a table without --id is matched by position"
        raise PredictionError(what, where=imported.where(0), fix=fix)
    _refuse_other_texts(target, target.examples, imported)
    _, problems = align(target.task, target.examples, imported)
    _refuse(problems)
    imported.notes += [f"{problem.what}. {problem.fix}" for problem in problems]


def _refuse(problems: Sequence[Problem]) -> None:
    """Raise an error for the first problem that prevents scoring, and count the others."""
    errors = [problem for problem in grouped(problems) if not problem.warning]
    if errors:
        more = f" (and {number_of(len(errors) - 1, 'more problem')})" if len(errors) > 1 else ""
        raise PredictionError(errors[0].what + more, where=errors[0].where, fix=errors[0].fix)


def _refuse_other_texts(target: Target, examples: Examples, imported: ImportedAnswers) -> None:
    """Raise an error if quoted texts differ from the examples in more than spaces, punctuation and case."""
    rows = {identifier: row for row, identifier in enumerate(examples.ids)}
    answer_rows = {identifier: row for row, identifier in enumerate(imported.ids)}
    rewritten = 0
    for column, quotes in imported.evidence.items():
        if column not in examples.columns or (column == examples.gold and target.kind.placeholder(examples)):
            continue
        real = examples[column]
        pairs = [(key, text, str(real[rows[key]])) for key, text in quotes.items() if key in rows]
        wrong = [pair for pair in pairs if not alike(pair[1], pair[2])]
        if wrong:
            key, text, other = wrong[0]
            what = f"{column} of {key!r} is {shown(text)} here but {shown(other)} in {target.name}"
            more = f" ({len(wrong)} of {len(pairs)} examples differ)" if len(wrong) > 1 else ""
            fix = "Check the language, the split and the order of rows"
            raise PredictionError(what + more, where=imported.where(answer_rows[key]), fix=fix)
        rewritten = max(rewritten, sum(text != other for _, text, other in pairs))
    if rewritten:
        scores = "scores may differ from the tool's, because answers are imported unchanged"
        effect = scores if target.kind.form == "answer" else "lengths and overlaps may differ from the tool's"
        count = number_of(rewritten, "example")
        imported.notes.append(f"the tool changed spaces, punctuation or case in {count}; {effect}")
