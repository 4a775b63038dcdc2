"""Extractive QA files in SQuAD format, one file per language or one for all."""

from functools import lru_cache
from pathlib import Path

from isogloss.data import squad
from isogloss.data.files import Digest, Stamp, stamp
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, of_one_file


def _examples(files: SplitFiles, pairs: list[tuple[squad.Paragraph, squad.Question]]) -> Examples:
    # Prepared test files carry a dummy empty answer at offset 0: that is no gold.
    answers = [[answer.text for answer in question.answers] for _, question in pairs]
    columns: dict[str, Column] = {
        "question": [question.question for _, question in pairs],
        "context": [paragraph.context for paragraph, _ in pairs],
    }
    if any(text for texts in answers for text in texts):
        for (_, question), texts in zip(pairs, answers, strict=True):
            if not texts:
                raise DataError(f"question {question.id!r} has no answer", where=files.where())
        columns["answers"] = answers
        columns["answer_starts"] = [[a.answer_start for a in question.answers] for _, question in pairs]
    return files.examples([str(question.id) for _, question in pairs], columns, "answers")


@of_one_file
def one_language(files: SplitFiles, path: Path) -> Examples | None:
    """A file that holds one language."""
    return _examples(files, list(squad.questions(squad.read(path, files.digest))))


def english(files: SplitFiles) -> Examples | None:
    """SQuAD itself, which is English whatever the task's other languages are."""
    return one_language(files) if files.language == "en" else None


@of_one_file
def all_languages(files: SplitFiles, path: Path) -> Examples | None:
    """A file that holds all languages; ids begin with the language's name, as in TyDiQA."""
    prefix = files.relative("{name}-")
    articles, checksum = _all_articles(path, stamp(path))
    pairs = [pair for pair in squad.questions(articles) if str(pair[1].id).startswith(prefix)]
    if not pairs:
        return None
    examples = _examples(files, pairs)
    examples.checksum = checksum
    return examples


@lru_cache(maxsize=1)
def _all_articles(path: Path, _stamp: Stamp) -> tuple[list[squad.Article], str]:
    """A file of all languages, read once for all of them."""
    digest = Digest()
    return squad.read(path, digest), digest.hex
