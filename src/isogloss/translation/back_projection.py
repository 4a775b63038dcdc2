"""Predictions on translated test sets, projected back to the original texts and so to the original gold."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from isogloss.errors import DataError, PredictionError
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.translation.alignment import Pairs, Words, read_alignment, spelling_aligner
from isogloss.translation.projection import LOST, projected_back
from isogloss.translation.tag_projection import tags_back
from isogloss.translation.translated_answers import steps_note
from isogloss.translation.translated_files import ALIGNMENTS, moving
from isogloss.translation.words import word_texts


def project_back(task: Task, originals: Examples, translated: Examples, values: Sequence[Any]) -> tuple[list[Any], str]:
    """Return predictions on a translated test set as answers on the original, and a note with the counts.

    Predictions of labels need no projection and are returned as they are, without a note. An answer that cannot be
    projected stays as predicted, in English; words without an aligned tag count as wrong.

    Args:
        task: task of the predictions.
        originals: the original test set.
        translated: its translation, with the same ids.
        values: predictions on the translation, None for missing ones.

    Raises:
        PredictionError: a sentence has a wrong number of tags.
        DataError: a stored alignment is invalid.
    """
    kind = moving(originals)
    if not kind or ALIGNMENTS not in translated.columns:
        return list(values), ""
    steps: Counter[str] = Counter()
    back: list[Any] = []
    if kind == "answers":
        pairs = _alignments(translated, *(list(map(word_texts, one["context"])) for one in (originals, translated)))
        for value, context, passage, aligned in zip(
            values, translated["context"], originals["context"], pairs, strict=True
        ):
            place = projected_back(value, context, passage, aligned) if value else None
            back.append(passage[slice(*place.span)] if place else value)
            steps.update([place.step if place else LOST] if value else ())
        return back, steps_note(steps, "answers projected back to the original")
    pairs = _alignments(translated, originals["tokens"], translated["tokens"])
    for row, (value, tokens, aligned) in enumerate(zip(values, originals["tokens"], pairs, strict=True)):
        if value is None:
            back.append(None)
            continue
        _check(translated, row, value)
        tags, found_steps = tags_back(task, value, aligned, len(tokens))
        back.append(tags)
        steps.update(found_steps)
    return back, steps_note(steps, "tags projected back to the original")


def _check(translated: Examples, row: int, value: Sequence[Any]) -> None:
    """Raise a PredictionError unless there is one tag per word of the translation."""
    count, where = len(translated["tokens"][row]), f"{translated.task}/{translated.language} {translated.ids[row]}"
    if not all(isinstance(tag, str) for tag in value):
        raise PredictionError("only tags can be projected back, not spans", where=where, fix="Give one tag per token")
    if len(value) != count:
        raise PredictionError(f"{len(value)} tags for {count} tokens", where=where, fix="Give one tag per token")


def _alignments(translated: Examples, sources: Sequence[Words], targets: Sequence[Words]) -> list[Pairs]:
    """Return the stored alignments; those that are missing are made from the spellings of the words."""
    stored = translated[ALIGNMENTS]
    missing = [row for row, text in enumerate(stored) if text is None]
    made = dict(zip(missing, spelling_aligner()([(sources[row], targets[row]) for row in missing]), strict=True))
    alignments = []
    for row, text in enumerate(stored):
        pairs = made[row] if text is None else read_alignment(text, len(sources[row]), len(targets[row]))
        if pairs is None:
            where = f"{', '.join(translated.sources)}, example {translated.ids[row]}"
            raise DataError("the alignment does not match the words", where=where, fix="Translate the file again")
        alignments.append(pairs)
    return alignments
