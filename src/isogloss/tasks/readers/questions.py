"""Readers of extractive QA files in SQuAD format, one file per language or one for all."""

from functools import lru_cache
from pathlib import Path

from isogloss.data import squad
from isogloss.data.files import Digest, Stamp, stamp
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, clusters_within, of_one_file
from isogloss.tasks.task import Task


def article_clusters(task: Task, language: str, articles: list[str]) -> list[str] | None:
    """Cluster questions by article; names are shared across languages only if titles are."""
    within = clusters_within(language, articles)
    return articles if within and task.options.get("shared_titles") else within


def _examples(files: SplitFiles, pairs: list[tuple[squad.Paragraph, squad.Question]], articles: list[str]) -> Examples:
    # Prepared test files carry a dummy empty answer at offset 0, which is not gold.
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
    ids = [str(question.id) for _, question in pairs]
    if files.split == "train" and len(set(ids)) < len(ids):
        ids = files.row_ids(len(ids))  # XTREME's scripts cut the ids of TyDiQA's training files down to a digit
    clusters = article_clusters(files.task, files.language, articles)
    return files.examples(ids, columns, "answers", clusters=clusters)


@of_one_file
def one_language(files: SplitFiles, path: Path) -> Examples | None:
    """Read a file with one language."""
    articles = squad.read(path, files.digest)
    return _examples(files, list(squad.questions(articles)), squad.article_names(articles))


def english(files: SplitFiles) -> Examples | None:
    """Read SQuAD, which is always English."""
    return one_language(files) if files.language == "en" else None


@of_one_file
def all_languages(files: SplitFiles, path: Path) -> Examples | None:
    """Read a file with all languages; ids begin with the language's name, as in TyDiQA."""
    prefix = files.relative("{name}-")
    articles, files.digest = _all_articles(path, stamp(path))
    named = zip(squad.questions(articles), squad.article_names(articles), strict=True)
    questions = [(pair, name) for pair, name in named if str(pair[1].id).startswith(prefix)]
    if not questions:
        return None
    return _examples(files, [pair for pair, _ in questions], [name for _, name in questions])


@lru_cache(maxsize=1)
def _all_articles(path: Path, _stamp: Stamp) -> tuple[list[squad.Article], Digest]:
    digest = Digest()
    return squad.read(path, digest), digest
