"""Readers of tagging files: CoNLL-U treebanks, `word<TAB>tag`, WikiANN and CoNLL originals."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from isogloss.data.conllu import sentences
from isogloss.data.detokenize import join
from isogloss.data.files import lines
from isogloss.data.tables import conll_sentences, panx_sentences, tagged_sentences
from isogloss.errors import DataError
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.readers.split_files import SplitFiles, clusters_within, of_one_file

WordsAndTags = tuple[list[str], list[str] | None]
TextAndOffsets = tuple[list[str], list[list[tuple[int, int]]]]


# Treebanks that translate the same sentences into several languages, with the comment that holds the shared id: Polish
# PUD renumbers its sentences and keeps the shared id in its own comment.
_TRANSLATED = re.compile(r"_(pud|partut)-ud-")
_SHARED_ID = re.compile(r"#\s*(?:sent_id|orig_file_sentence)\s*=\s*\S*?([nw][0-9]{8}|partut-ud-[0-9]+)\b")
# The same sentences and ids in traditional and (`zh_gsdsimp`) simplified characters.
_IN_TWO_SCRIPTS = "zh_gsd"


def _examples(
    files: SplitFiles, tagged: Iterable[WordsAndTags], raw: Callable[[list[list[str]]], TextAndOffsets]
) -> Examples:
    sentence_pairs = list(tagged)
    tokens, tags = [tokens for tokens, _ in sentence_pairs], [tags for _, tags in sentence_pairs]
    # Raw text and offsets are only needed by systems with their own tokens, so they are computed lazily.
    both = cache(lambda: raw(tokens))
    columns: dict[str, Column] = {"tokens": tokens, "text": lambda: both()[0], "offsets": lambda: both()[1]}
    if any(tag is not None for tag in tags):
        columns["tags"] = tags
    return files.examples(files.row_ids(len(tokens)), columns, "tags")


def _repeated(examples: Examples) -> Examples:
    """Cluster examples with equal words: WikiANN repeats some sentences hundreds of times."""
    examples.clusters = clusters_within(examples.language, map(" ".join, examples["tokens"]))
    return examples


def _joined(language: str, tokens: list[list[str]]) -> TextAndOffsets:
    pairs = [join(sentence, language) for sentence in tokens]
    return [text for text, _ in pairs], [offsets for _, offsets in pairs]


@of_one_file
def words(files: SplitFiles, path: Path) -> Examples | None:
    """Read XTREME's prepared files, with or without tags."""
    return _repeated(_examples(files, tagged_sentences(path, files.digest), partial(_joined, files.language)))


@of_one_file
def panx(files: SplitFiles, path: Path) -> Examples | None:
    """Read WikiANN's original files, `xx:word<TAB>tag`."""
    return _repeated(_examples(files, panx_sentences(path, files.digest), partial(_joined, files.language)))


@of_one_file
def conll(files: SplitFiles, path: Path) -> Examples | None:
    """Read CoNLL-2002 or 2003 files; sentences of one document are a cluster, if the file marks documents."""
    sentences = list(conll_sentences(path, files.digest))
    labels = {*files.task.labels}
    if wrong := next((tag for _, tags, _ in sentences for tag in tags if tag not in labels), None):
        raise DataError(f"tag {wrong!r} is not one of {', '.join(files.task.labels)}", where=str(path))
    examples = _examples(files, ((words, tags) for words, tags, _ in sentences), partial(_joined, files.language))
    examples.clusters = clusters_within(files.language, (document for _, _, document in sentences))
    return examples


def treebanks(files: SplitFiles) -> Examples | None:
    """Read all CoNLL-U files of a language in name order, converted as in XTREME."""
    paths = files.paths()
    if not paths:
        return None

    sources: list[str] = []
    shared: dict[int, str] = {}

    def tagged() -> Iterator[WordsAndTags]:
        for path in paths:
            translated, in_two_scripts = _TRANSLATED.search(path.name), _IN_TWO_SCRIPTS in path.name
            for sentence in sentences(lines(path, files.digest), files.language, source=str(path)):
                if translated and (match := next(filter(None, map(_SHARED_ID.match, sentence.comments)), None)):
                    shared[len(sources)] = match[1]
                sources.append(sentence.sent_id if in_two_scripts else " ".join(sentence.words))
                yield sentence.words, sentence.tags

    examples = _examples(files, tagged(), lambda _: _raw_treebanks(paths, files.language))
    examples.clusters = clusters_within(files.language, sources, shared)
    return examples


def _raw_treebanks(paths: list[Path], language: str) -> TextAndOffsets:
    read = (sentence for path in paths for sentence in sentences(lines(path), language, source=str(path)))
    pairs = [(sentence.text, sentence.offsets) for sentence in read]
    return [text for text, _ in pairs], [offsets for _, offsets in pairs]


def overlay(full: Examples, part: Examples) -> Examples:
    """Return the full word-only split with the tags of a partial gold set.

    Sentences are matched by their words, repeated ones in order, so the ids are those of the full split.
    """
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, sentence in enumerate(full["tokens"]):
        rows.setdefault(tuple(sentence), []).append(row)
    tags: list[Any] = [None] * len(full)
    texts: dict[int, int] = {}
    for row, (sentence, gold) in enumerate(zip(part["tokens"], part["tags"], strict=True)):
        matches = rows.get(tuple(sentence))
        if matches:
            match = matches.pop(0)
            tags[match] = gold
            texts[match] = row
    tagged = [row for row, tag in enumerate(tags) if tag is not None]
    overlaid = full.keep(tagged)
    overlaid.columns["tags"] = [tags[row] for row in tagged]
    chosen = [texts[row] for row in tagged]
    for name in ("text", "offsets"):
        overlaid.columns[name] = part.rows_of(name, chosen)
    overlaid.partial = True
    overlaid.split_ids = full.ids
    overlaid.clusters = None if part.clusters is None else [part.clusters[row] for row in chosen]
    overlaid.checksum = part.checksum
    overlaid.sources = (*part.sources, *full.sources)
    return overlaid
