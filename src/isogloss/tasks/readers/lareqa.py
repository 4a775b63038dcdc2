"""LAReQA: every sentence of XQuAD-R in eleven languages is a candidate, each question has one answer in each."""

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
    """The retrieval task made of XQuAD-R: texts by question id, texts by candidate id, candidate ids by question."""

    questions: dict[str, str]
    candidates: dict[str, str]
    targets: dict[str, list[str]]


def build(files: Mapping[str, Any]) -> RetrievalTexts:
    """Questions, candidates and targets from {language: XQuAD-R file (decoded JSON)}.

    The sentences of every paragraph with a question are candidates. A candidate id is `<language>_<paragraph from 1
    over the file>_<sentence from 0>`, its text the sentence immediately followed by its paragraph, without line breaks.
    The target is the sentence whose [start, end) holds the answer's start; a sentence that occurs twice in the
    paragraph is two targets. A question that has none is passed over. A question id is `<shared id>_<language>`; its
    targets are those of the shared id in every language.
    """
    questions: dict[str, str] = {}
    candidates: dict[str, str] = {}
    shared: dict[str, list[str]] = {}
    shared_ids: dict[str, str] = {}
    for language, file in files.items():
        articles = _articles(file, language) if isinstance(file, Mapping) else file
        paragraphs = [paragraph for article in articles for paragraph in article.paragraphs]
        for number, paragraph in enumerate(paragraphs, 1):
            sentences = _sentences(paragraph, f"{language}, paragraph {number}")
            names = [f"{language}_{number}_{place}" for place in range(len(sentences))]
            asked = [(q, found) for q in paragraph.qas if (found := _answering(paragraph, q, sentences))]
            for question, answering in asked:
                identifier = f"{question.id}_{language}"
                questions[identifier] = question.question
                shared_ids[identifier] = str(question.id)
                shared.setdefault(str(question.id), []).extend(names[place] for place in answering)
            if asked:  # candidates come by way of questions, as in the reference code
                texts = ((sentence + paragraph.context).replace("\n", "") for sentence in sentences)
                candidates.update(zip(names, texts, strict=True))
    return RetrievalTexts(
        questions, candidates, {name: list(dict.fromkeys(shared[key])) for name, key in shared_ids.items()}
    )


def _articles(file: Mapping[str, Any], language: str) -> list[squad.Article]:
    found: squad.SquadFile = convert_value(file, squad.SquadFile, language, what="an XQuAD-R file")
    return found.data


def _sentences(paragraph: squad.Paragraph, where: str) -> list[str]:
    if not paragraph.sentence_breaks:
        raise DataError("no sentence_breaks: this is not an XQuAD-R file", where=where)
    return [paragraph.context[start:end] for start, end in paragraph.sentence_breaks]


def _answering(paragraph: squad.Paragraph, question: squad.Question, sentences: list[str]) -> list[int]:
    """Places of the sentences that answer: the one that holds the answer's start, and its equals."""
    if not question.answers:
        return []
    start = question.answers[0].answer_start
    place = bisect_right(paragraph.sentence_breaks, start, key=lambda span: span[0]) - 1
    if place < 0 or start >= paragraph.sentence_breaks[place][1]:
        return []
    return [other for other, sentence in enumerate(sentences) if sentence == sentences[place]]


@lru_cache(maxsize=2)
def _built(files: tuple[tuple[str, Path, Stamp], ...]) -> tuple[RetrievalTexts, Pool, dict[str, str], str]:
    """The task over these files with the article of every shared id, built once for all languages."""
    digest = Digest()
    by_language = {language: squad.read(path, digest) for language, path, _ in files}
    built = build(by_language)
    titles: dict[str, str] = {}
    for articles in by_language.values():
        for (_, question), name in zip(squad.questions(articles), squad.article_names(articles), strict=True):
            titles.setdefault(str(question.id), name)
    members = {identifier: identifier.partition("_")[0] for identifier in built.candidates}
    return built, Pool(lambda: members, lambda: list(built.candidates.values())), titles, digest.hex


def lareqa(files: SplitFiles) -> Examples | None:
    """The questions of one language over the pool of all languages; every language's file must be there."""
    paths = {code: files.path(language=code) for code in files.task.languages}
    if not any(paths.values()):
        return None
    missing = [code for code, path in paths.items() if path is None]
    if missing:
        raise DataError(
            f"the pool needs every language's file, missing: {' '.join(missing)}",
            where=str(files.root / files.relative(files.pattern, missing[0])),
            fix="isogloss fetch lareqa",
        )
    key = tuple((code, path, stamp(path)) for code, path in paths.items() if path is not None)
    built, pool, titles, checksum = _built(key)
    expected = files.task.expected(files.language, "candidates")
    found = sum(language == files.language for language in pool.languages)
    if expected is not None and found != expected:
        raise DataError(f"{found} candidate sentences instead of {expected}", where=str(paths[files.language]))
    ending = f"_{files.language}"
    ids = [identifier for identifier in built.questions if identifier.endswith(ending)]
    columns: dict[str, Any] = {
        "text": [built.questions[identifier] for identifier in ids],
        "targets": [built.targets[identifier] for identifier in ids],
    }
    units = [identifier.removesuffix(ending) for identifier in ids]
    # As XQuAD's are named, whose articles these are.
    clusters = [titles[unit] for unit in units]
    examples = files.examples(ids, columns, "targets", units=units, clusters=clusters, pool=pool)
    examples.checksum = checksum
    return examples
