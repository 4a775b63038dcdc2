"""SQuAD-format JSON: questions over paragraphs (XQuAD, MLQA, TyDiQA, SQuAD) and XQuAD-R's sentence breaks."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from isogloss.data.files import Digest, read_bytes
from isogloss.decoding import decode_json


class SquadAnswer(msgspec.Struct, gc=False):
    """One gold answer; the offset counts code points of the context."""

    text: str
    answer_start: int = -1


class Question(msgspec.Struct):
    """A question with its gold answers; test files may have none."""

    id: str | int
    question: str = ""
    answers: list[SquadAnswer] = []


class Paragraph(msgspec.Struct):
    """A context with its questions; the sentence breaks exist in XQuAD-R only."""

    context: str
    qas: list[Question]
    sentence_breaks: list[tuple[int, int]] = []


class Article(msgspec.Struct):
    """An article: a list of paragraphs, and a title in most files."""

    paragraphs: list[Paragraph]
    title: str | int | None = None


class SquadFile(msgspec.Struct):
    """Top level of a SQuAD file."""

    data: list[Article]


def parse(raw: bytes, where: str) -> list[Article]:
    """Decode a SQuAD file: an object with `data`, or the bare list."""
    decoded = decode_json(raw, where, SquadFile | list[Article], what="a SQuAD-format JSON file")
    return decoded.data if isinstance(decoded, SquadFile) else decoded


def read(path: Path, digest: Digest | None = None) -> list[Article]:
    """Read a SQuAD file, packed or not."""
    return parse(read_bytes(path, digest), str(path))


def questions(articles: list[Article]) -> Iterator[tuple[Paragraph, Question]]:
    """Yield all questions in file order, each with its paragraph."""
    paragraphs = (paragraph for article in articles for paragraph in article.paragraphs)
    return ((paragraph, question) for paragraph in paragraphs for question in paragraph.qas)


def article_names(articles: list[Article]) -> list[str]:
    """Return the article title of each question, in the order of `questions`.

    Prepared files have no titles and repeat a paragraph for each of its questions: there the index of the distinct
    paragraph serves as the name.
    """
    indices: dict[str, int] = {}
    names: list[str] = []
    for article in articles:
        for paragraph in article.paragraphs:
            name = article.title or indices.setdefault(paragraph.context, len(indices))
            names += [str(name)] * len(paragraph.qas)
    return names
