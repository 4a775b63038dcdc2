"""LAReQA: all sentences of XQuAD-R are candidates; each question has one answer per language."""

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.data import squad
from isogloss.data.files import Digest, Stamp, stamp
from isogloss.decoding import convert_value
from isogloss.errors import DataError
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.readers.split_files import SplitFiles


class RetrievalTexts(NamedTuple):
    """Retrieval task built from XQuAD-R: question texts, candidate texts and target ids, all by id."""

    questions: dict[str, str]
    candidates: dict[str, str]
    targets: dict[str, list[str]]


def build(files: Mapping[str, Any]) -> RetrievalTexts:
    """Build questions, candidates and targets from {language: XQuAD-R file (decoded JSON)}.

    Candidates are the sentences of every paragraph with a question. A candidate id is `<language>_<paragraph from 1
    over the file>_<sentence from 0>`; its text is the sentence immediately followed by its paragraph, without line
    breaks. The target is the sentence with the answer's start in [start, end); a sentence that occurs twice in the
    paragraph gives two targets. Questions without a target are skipped. A question id is `<shared id>_<language>`; its
    targets are those of the shared id in every language.
    """
    questions: dict[str, str] = {}
    candidates: dict[str, str] = {}
    shared: dict[str, list[str]] = {}
    shared_ids: dict[str, str] = {}
    for language, file in files.items():
        is_decoded = isinstance(file, Mapping)
        articles = convert_value(file, squad.SquadFile, language, what="an XQuAD-R file").data if is_decoded else file
        paragraphs = [paragraph for article in articles for paragraph in article.paragraphs]
        for number, paragraph in enumerate(paragraphs, 1):
            if not paragraph.sentence_breaks:
                where = f"{language}, paragraph {number}"
                raise DataError("no sentence_breaks: not an XQuAD-R file", where=where)
            sentences = [paragraph.context[start:end] for start, end in paragraph.sentence_breaks]
            names = [f"{language}_{number}_{index}" for index in range(len(sentences))]
            answered = [(q, indices) for q in paragraph.qas if (indices := _answering(paragraph, q, sentences))]
            for question, indices in answered:
                identifier = f"{question.id}_{language}"
                questions[identifier] = question.question
                shared_ids[identifier] = str(question.id)
                shared.setdefault(str(question.id), []).extend(names[index] for index in indices)
            if answered:  # as in the reference code, only paragraphs with questions give candidates
                texts = ((sentence + paragraph.context).replace("\n", "") for sentence in sentences)
                candidates.update(zip(names, texts, strict=True))
    return RetrievalTexts(
        questions, candidates, {name: list(dict.fromkeys(shared[key])) for name, key in shared_ids.items()}
    )


def _answering(paragraph: squad.Paragraph, question: squad.Question, sentences: list[str]) -> list[int]:
    """Return the indices of the answering sentences: the one with the answer's start, and its duplicates."""
    if not question.answers:
        return []
    start = question.answers[0].answer_start
    index = bisect_right(paragraph.sentence_breaks, start, key=lambda span: span[0]) - 1
    if index < 0 or start >= paragraph.sentence_breaks[index][1]:
        return []
    return [other for other, sentence in enumerate(sentences) if sentence == sentences[index]]


@lru_cache(maxsize=2)
def _built(files: tuple[tuple[str, Path, Stamp], ...]) -> tuple[RetrievalTexts, Pool, dict[str, str], Digest]:
    """Build the task over these files, with the article of every shared id, once for all languages."""
    digest = Digest()
    by_language = {language: squad.read(path, digest) for language, path, _ in files}
    built = build(by_language)
    titles: dict[str, str] = {}
    for articles in by_language.values():
        for (_, question), name in zip(squad.questions(articles), squad.article_names(articles), strict=True):
            titles.setdefault(str(question.id), name)
    members = {identifier: identifier.partition("_")[0] for identifier in built.candidates}
    return built, Pool(lambda: members, lambda: list(built.candidates.values())), titles, digest


def read(files: SplitFiles) -> Examples | None:
    """Read the questions of one language over the pool of all languages; requires every language's file."""
    paths = {code: files.path(language=code) for code in files.task.languages}
    if not any(paths.values()):
        return None
    missing = [code for code, path in paths.items() if path is None]
    if missing:
        what = f"the pool needs the files of all languages; missing: {' '.join(missing)}"
        where = str(files.root / files.relative(files.pattern, missing[0]))
        raise DataError(what, where=where, fix="Run isogloss fetch lareqa")
    key = tuple((code, path, stamp(path)) for code, path in paths.items() if path is not None)
    built, pool, titles, files.digest = _built(key)
    expected = files.task.expected(files.language, "candidates")
    count = pool.languages.count(files.language)
    if expected is not None and count != expected:
        raise DataError(f"{count} candidate sentences, expected {expected}", where=str(paths[files.language]))
    ending = f"_{files.language}"
    ids = [identifier for identifier in built.questions if identifier.endswith(ending)]
    columns: dict[str, Any] = {
        "text": [built.questions[identifier] for identifier in ids],
        "targets": [built.targets[identifier] for identifier in ids],
    }
    units = [identifier.removesuffix(ending) for identifier in ids]
    # Cluster names equal XQuAD's: the articles are the same.
    clusters = [titles[unit] for unit in units]
    return files.examples(ids, columns, "targets", units=units, clusters=clusters, pool=pool)
