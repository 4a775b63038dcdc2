"""Passages that are longer than an input, as windows that overlap, each after its question."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.tokens.inputs import Inputs
from isogloss.systems.tokens.special_tokens import Slices
from isogloss.systems.tokens.subwords import Pieces, encode, located, spread, unique
from isogloss.training.encoded import Array, Encoded
from isogloss.training.objective import Ints
from isogloss.training.recipes import Recipe


class Gold(NamedTuple):
    """Where the answers are: half-open characters of each passage."""

    begins: Ints
    ends: Ints


class _Windows(NamedTuple):
    """Stretches of passages, one a row, in order of the examples."""

    examples: Ints
    begins: Ints
    lengths: Ints


def windows(
    inputs: Inputs, questions: Sequence[str], contexts: Sequence[str], recipe: Recipe, gold: Gold | None = None
) -> Encoded:
    """Every question with every window of its passage.

    A question is cut to `query_length` pieces; a passage that does not fit after it is read in windows, each of which
    begins `stride` pieces after the one before, or where that one ends if the stride is longer.

    Returns:
        Rows in order of the questions, with the column `example`. Without gold, aligned: `begin` and `end`, the
        characters of each piece of the passage, -1 elsewhere. With gold, columns: `first` and `last`, the places of
        the answer's pieces in the row; both 0, the place of the first special token, in a window without the whole
        answer.

    Raises:
        SystemFailureError: a question leaves no room for its passage.
    """
    asked, which = unique(questions)
    question = Slices.of(encode(inputs.tokenizer, asked), which)
    question = question._replace(lengths=np.minimum(question.lengths, recipe.query_length))
    room = inputs.room(inputs.double, recipe.max_length) - question.lengths
    if room.min(initial=1) < 1:
        what = f"a question of {question.lengths.max()} pieces leaves no room for its passage"
        raise SystemFailureError(
            what, where=inputs.source.name, fix="Set a larger max_length or a smaller query_length"
        )
    passages, whose = unique(contexts)
    pieces = encode(inputs.tokenizer, passages, spans=True)
    cut = _cut(pieces.lengths[whose], room, recipe.stride)
    first = pieces.starts[whose][cut.examples] + cut.begins
    question = Slices(question.ids, question.begins[cut.examples], question.lengths[cut.examples])
    framed = inputs.double.around(question, Slices(pieces.ids, first, cut.lengths))
    if gold is None:
        aligned: dict[str, Array] = {}
        for side, name in enumerate(("begin", "end")):
            aligned[name] = np.full(len(framed.ids), -1, np.int32)
            aligned[name][framed.places[1]] = pieces.spans[spread(first, cut.lengths), side]
        return inputs.encoded(framed, aligned, {"example": cut.examples})
    ahead = len(inputs.double.specials[0]) + question.lengths + len(inputs.double.specials[1])
    return inputs.encoded(framed, {}, {"example": cut.examples, **_answers(pieces, whose, gold, cut, ahead)})


def _cut(lengths: Ints, room: Ints, stride: int) -> _Windows:
    """Windows over passages of some lengths, each with room for so many pieces, until one ends with the passage."""
    step = np.clip(stride, 1, room)  # a longer one would pass over what lies between two windows
    counts = 1 + np.maximum(0, -((room - lengths) // step))  # one, and one for every step begun beyond the room
    examples = np.repeat(np.arange(len(lengths)), counts)
    begins = spread(np.zeros(len(counts), np.int64), counts) * step[examples]
    return _Windows(examples, begins, np.minimum(room[examples], lengths[examples] - begins))


def _answers(pieces: Pieces, whose: Ints, gold: Gold, cut: _Windows, ahead: Ints) -> dict[str, Array]:
    """The places of the answer's first and last piece in each row, `ahead` pieces being before the passage."""
    owners = np.repeat(np.arange(len(pieces.starts) - 1), pieces.lengths)
    first, last = located(owners, pieces.spans, whose, gold.begins, gold.ends)
    base = pieces.starts[whose]
    low, high = ((place - base)[cut.examples] - cut.begins for place in (first, last))
    whole = (last >= 0)[cut.examples] & (low >= 0) & (high < cut.lengths)
    return {"first": np.where(whole, ahead + low, 0), "last": np.where(whole, ahead + high, 0)}
