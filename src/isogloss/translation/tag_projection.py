"""Projection of tags: entities move as spans, parts of speech along one-to-one word alignments, in either direction."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from isogloss.metrics import spans as span_metrics
from isogloss.tasks.kinds.tagging import marks_entities
from isogloss.tasks.task import Task
from isogloss.translation.alignment import Aligner, Pairs, moved
from isogloss.translation.projection import ALIGNMENT, LEAST_ALIGNED, LOST, SpanProjector, SpanToProject
from isogloss.translation.words import Offsets, word_offsets, word_texts

# Tag of words outside of entities, and of words of test sets without a known part of speech.
OUTSIDE, OTHER = "O", "X"
# Share of words that must be aligned for a sentence to keep its projected parts of speech.
LEAST_TAGGED = 0.7

Tags = list[str]
# None for words that lost theirs.
ProjectedTags = Sequence[str | None]


class TaggedTranslation(NamedTuple):
    """A translated sentence: words, their tags (None if too much was lost), and the step of each entity or word."""

    tokens: list[str]
    tags: ProjectedTags | None
    steps: list[str]


class TranslatedSentence(NamedTuple):
    """A tagged sentence and its translation."""

    text: str
    tokens: list[str]
    offsets: Offsets
    tags: Tags
    translation: str


def project_tags(
    task: Task, sentences: Sequence[TranslatedSentence], projector: SpanProjector, align: Aligner
) -> list[TaggedTranslation]:
    """Return the translated sentences with the tags of their originals.

    A sentence loses its tags if one of its entities is lost, or if too few of its words are aligned: untagged words
    would teach a tagger that they are something else.
    """
    if marks_entities(task):
        return _with_entities(task, sentences, projector)
    pairs = align([(sentence.tokens, word_texts(sentence.translation)) for sentence in sentences])
    return [_with_word_tags(*both) for both in zip(sentences, pairs, strict=True)]


def _with_entities(
    task: Task, sentences: Sequence[TranslatedSentence], projector: SpanProjector
) -> list[TaggedTranslation]:
    tags, offsets = [one.tags for one in sentences], [one.offsets for one in sentences]
    entities = span_metrics.from_sentences(tags, offsets, dialect=task.dialect)
    requests = [
        SpanToProject(original=sentence.text, translation=sentence.translation, span=(start, end))
        for sentence, entities_here in zip(sentences, entities, strict=True)
        for start, end, _ in entities_here
    ]
    projected = iter(projector.project(requests))
    tagged = []
    for sentence, entities_here in zip(sentences, entities, strict=True):
        places: list[tuple[int, int, str]] = []
        steps: list[str] = []
        for _, _, label in entities_here:
            place = next(projected)
            free = place is not None and all(place.span[1] <= start or end <= place.span[0] for start, end, _ in places)
            steps.append(place.step if place is not None and free else LOST)
            if place is not None and free:
                places.append((*place.span, label))
        cut = _cut_at(word_offsets(sentence.translation), [border for place in places for border in place[:2]])
        tokens = [sentence.translation[start:end] for start, end in cut]
        tagged.append(TaggedTranslation(tokens, None if LOST in steps else entity_tags(cut, places), steps))
    return tagged


def _cut_at(offsets: Offsets, borders: Sequence[int]) -> Offsets:
    """Cut words at the borders of entities inside them."""
    cut: Offsets = []
    for start, end in offsets:
        inside = sorted({start, end, *(border for border in borders if start < border < end)})
        cut += pairwise(inside)
    return cut


def entity_tags(offsets: Offsets, entities: Sequence[tuple[int, int, str]]) -> Tags:
    """Return the IOB2 tags of words, given entities as character spans."""
    tags = [OUTSIDE] * len(offsets)
    for start, end, label in entities:
        inside = [word for word, (begin, stop) in enumerate(offsets) if begin < end and stop > start]
        for word in inside:
            tags[word] = f"{'B' if word == inside[0] else 'I'}-{label}"
    return tags


def _with_word_tags(sentence: TranslatedSentence, pairs: Pairs) -> TaggedTranslation:
    words = word_texts(sentence.translation)
    sources = {target: source for source, target in pairs}
    steps = [ALIGNMENT if word in sources else LOST for word in range(len(words))]
    tags = [sentence.tags[sources[word]] if word in sources else None for word in range(len(words))]
    enough = len(words) > 0 and len(sources) >= LEAST_TAGGED * len(words)
    return TaggedTranslation(words, tags if enough else None, steps)


def gold_tags(task: Task, tags: ProjectedTags) -> Tags | None:
    """Return projected tags as gold, with `X` for words without a tag; None if the task has no X."""
    if OTHER not in task.labels and None in tags:
        return None
    return [OTHER if tag is None else tag for tag in tags]


def tags_back(task: Task, tags: Sequence[str], pairs: Pairs, words: int) -> tuple[Tags, list[str]]:
    """Return the tags of the original words, given those of the translation's words, and the step of each unit.

    Args:
        task: task of the tags.
        tags: predicted tags of the translation's words.
        pairs: alignment of the original words with those of the translation.
        words: number of original words.
    """
    if not marks_entities(task):
        targets = dict(pairs)
        other = OTHER if OTHER in task.labels else OUTSIDE
        moved_tags = [tags[targets[word]] if word in targets else other for word in range(words)]
        return moved_tags, [ALIGNMENT if word in targets else LOST for word in range(words)]
    back = [OUTSIDE] * words
    steps = []
    indices = [(word, word + 1) for word in range(len(tags))]
    [entities] = span_metrics.from_sentences([list(tags)], [indices], dialect=task.dialect)
    backward = [(target, source) for source, target in pairs]
    for first, last, label in entities:
        window, f1 = moved(range(first, last), backward, words)
        free = f1 >= LEAST_ALIGNED and all(back[word] == OUTSIDE for word in window)
        steps.append(ALIGNMENT if free else LOST)
        for word in window if free else ():
            back[word] = f"{'B' if word == window[0] else 'I'}-{label}"
    return back, steps
