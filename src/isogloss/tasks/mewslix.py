"""Mewsli-X: entity mentions in news, to be linked to entity descriptions in fifty languages."""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

import msgspec

from isogloss.data.files import Digest, Stamp, stamp
from isogloss.data.tables import jsonl
from isogloss.decoding import convert_value, decode_json
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples, Pool
from isogloss.tasks.readers.split_files import SplitFiles, clusters_within, of_one_file

_BRACES = re.compile(r"\{(.*?)\}")


class _Span(msgspec.Struct, gc=False):
    start: int
    end: int
    text: str = ""


class _Mention(msgspec.Struct):
    example_id: str
    mention_span: _Span
    entity_id: str = ""
    metadata: dict[str, Any] | None = None


class _Context(msgspec.Struct):
    language: str
    text: str = ""
    sentence_spans: list[_Span] = []
    document_id: str | int = ""


class _Document(msgspec.Struct):
    context: _Context
    mentions: list[_Mention]


class _Entity(msgspec.Struct):
    entity_id: str
    description: str = ""
    description_language: str = ""
    sentence_spans: list[_Span] = []


class _ContextualMention(msgspec.Struct):
    context: _Context
    mention: _Mention


class _Pair(msgspec.Struct):
    contextual_mention: _ContextualMention
    entity: _Entity


class _PackedEntity(msgspec.Struct, gc=False):
    """Entity with an undecoded description."""

    entity_id: str
    description: msgspec.Raw = msgspec.Raw(b'""')
    sentence_spans: msgspec.Raw = msgspec.Raw(b"[]")


class _EntityLanguage(msgspec.Struct, gc=False):
    entity_id: str
    description_language: str


def _clean(text: str) -> str:
    """Replace line breaks by spaces, each double space by one in a single pass, and trim."""
    return " ".join(text.splitlines()).replace("  ", " ").strip()


def mention_text(record: Mapping[str, Any], index: int = 0) -> str:
    """Return the baseline's query for a mention: `<mention>: <left> { <mention> } <right>`, one sentence of context.

    `record` has `context` and either `mention` or a list `mentions`, indexed by `index`. Braces already in the sentence
    become parentheses.
    """
    try:
        mention = record["mention"] if "mention" in record else record["mentions"][index]
        context = record["context"]
    except (KeyError, IndexError, TypeError) as error:
        raise DataError(f"not a mention record: {error!r}") from None
    what = "a mention record"
    return _mention_text(convert_value(context, _Context, what=what), convert_value(mention, _Mention, what=what))


def _mention_text(context: _Context, mention: _Mention) -> str:
    span = mention.mention_span
    where = f"mewslix/{context.language}/{mention.example_id}"
    if context.text[span.start : span.end] != span.text:
        what = f"the article text does not contain {span.text!r} at {span.start}-{span.end}"
        raise DataError(what, where=where, fix="Restore the article text with the dataset's scripts first")
    for sentence in context.sentence_spans:
        if sentence.start <= span.start and span.end <= sentence.end:
            left = _BRACES.sub(r"(\1)", context.text[sentence.start : span.start])
            right = _BRACES.sub(r"(\1)", context.text[span.end : sentence.end])
            return _clean(f"{span.text}: {left} {{ {span.text} }} {right}")
    raise DataError(f"mention {span.text!r} at {span.start}-{span.end} is not inside one sentence", where=where)


def entity_text(record: Mapping[str, Any]) -> str:
    """Return the baseline's text of an entity: the listed sentences of its description, joined by spaces."""
    return _entity_text(convert_value(record, _Entity, what="an entity record"))


def _entity_text(entity: _Entity) -> str:
    return _clean(" ".join(entity.description[span.start : span.end] for span in entity.sentence_spans))


@lru_cache(maxsize=2)
def _documents(path: Path, _stamp: Stamp) -> tuple[list[_Document], Digest]:
    digest = Digest()
    return list(jsonl(path, _Document, digest)), digest


@of_one_file
def read(files: SplitFiles, path: Path) -> Examples | None:
    """Read the mentions of one language; candidates are in `mewslix/candidate_set_entities.jsonl`."""
    documents, files.digest = _documents(path, stamp(path))
    code = files.task.codes.get(files.language, files.language)
    mentions = [(doc.context, m) for doc in documents if doc.context.language == code for m in doc.mentions]
    if not mentions:
        return None
    columns: dict[str, Column] = {
        "text": lambda: [_mention_text(context, mention) for context, mention in mentions],
        "frequency_bin": [(mention.metadata or {}).get("bin_name", "") for _, mention in mentions],
    }
    if any(mention.entity_id.strip() for _, mention in mentions):
        columns["targets"] = [[mention.entity_id.strip()] for _, mention in mentions]
    candidates = files.path(pattern="mewslix/candidate_set_entities.jsonl")
    ids = [mention.example_id for _, mention in mentions]
    pool = _pool(candidates, stamp(candidates), path, stamp(path)) if candidates else None
    news = [context.document_id for context, _ in mentions]
    clusters = clusters_within(files.language, news) if all(news) else None
    examples = files.examples(ids, columns, "targets", clusters=clusters, pool=pool)
    if candidates is None:
        examples.notes.append("missing candidate_set_entities.jsonl: cannot check candidate ids and languages")
    return examples


@lru_cache(maxsize=2)
def _pool(path: Path, _stamp: Stamp, mentions: Path, mentions_stamp: Stamp) -> Pool:
    def members() -> dict[str, str]:
        # Intern the fifty language codes that a million candidates share.
        return {member.entity_id: intern(member.description_language) for member in jsonl(path, _EntityLanguage)}

    def texts() -> list[str]:
        return list({entity.entity_id: _entity_text(entity) for entity in jsonl(path, _Entity)}.values())

    def targets() -> dict[str, str]:
        documents, _ = _documents(mentions, mentions_stamp)
        wanted = {mention.entity_id.strip() for document in documents for mention in document.mentions}
        texts: dict[str, str] = {}
        what = "the expected JSON record"
        for packed in jsonl(path, _PackedEntity):
            if packed.entity_id in wanted:
                where = f"{path}, entity {packed.entity_id}"
                description = decode_json(bytes(packed.description), where, str, what=what)
                spans = decode_json(bytes(packed.sentence_spans), where, list[_Span], what=what)
                texts[packed.entity_id] = _entity_text(_Entity(packed.entity_id, description, "", spans))
        return texts

    return Pool(members, texts, targets)


def read_pairs(files: SplitFiles) -> Examples | None:
    """Read the Wikipedia portion: one English mention and its entity per record; the entities form the pool."""
    path = files.path() if files.language == "en" else None
    if path is None:
        return None
    records = list(jsonl(path, _Pair, files.digest))
    entities = {pair.entity.entity_id: pair.entity for pair in records}
    mentions = [(pair.contextual_mention.context, pair.contextual_mention.mention) for pair in records]
    columns: dict[str, Column] = {
        "text": lambda: [_mention_text(context, mention) for context, mention in mentions],
        "targets": [[pair.entity.entity_id] for pair in records],
    }
    pool = Pool(
        lambda: {key: intern(entity.description_language) for key, entity in entities.items()},
        lambda: [_entity_text(entity) for entity in entities.values()],
    )
    return files.examples([mention.example_id for _, mention in mentions], columns, "targets", pool=pool)
