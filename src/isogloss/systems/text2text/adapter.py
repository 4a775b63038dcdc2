"""What all tasks have in common when they are put to a model as text to be rewritten."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.systems.neural.task_adapter import IGNORED, TaskAdapter
from isogloss.systems.text2text.tokenizer import Seq2SeqSpecialTokens, Seq2SeqTokenizer, encode_rows, join_fields
from isogloss.systems.tokens.inputs import check_length, language_codes, room_for_text
from isogloss.systems.tokens.subwords import Int32
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded, padded_column
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn

_GRANULE = 4  # targets are padded to a multiple of this


class Text2TextAdapter(TaskAdapter):
    """A task as text to be rewritten: the source, the target, and how the target is an answer."""

    @cached_property
    def tokenizer(self) -> Seq2SeqTokenizer:
        """The model's tokenizer."""
        return Seq2SeqTokenizer(self.source)

    def load_model(self, seed: int) -> "nn.Module":
        """The pretrained model, which needs no head."""
        from isogloss.systems.neural.output_layer import use_float32_logits

        model: nn.Module = self.source.load_model("AutoModelForSeq2SeqLM", seed)
        use_float32_logits(model)
        return model

    def _objective(self, train: Examples) -> TrainingObjective:
        return Seq2SeqObjective(self.pairs(train), self.tokenizer.pad)

    def check(self, examples: Examples) -> None:
        """Look whether the model knows their languages, where it needs them."""
        self.special_tokens(examples)

    @abstractmethod
    def pairs(self, train: Examples) -> Encoded:
        """Sources and targets, in turn; the column `start` has the decoder's first token of each pair."""

    def special_tokens(self, examples: Examples) -> list[Seq2SeqSpecialTokens]:
        """The special tokens of every example, which for some models name the language."""
        return [self.tokenizer.special_tokens(code) for code in language_codes(examples)]

    def decoder_prompts(self, examples: Examples) -> tuple[Ints, Ints]:
        """What a decoder is given before it writes, (examples, tokens), and the token that ends what it writes."""
        specials = self.special_tokens(examples)
        given = [[special.decoder_start, *special.target_prefix.tolist()] for special in specials]
        prompts = np.array(given, np.int64) if given else np.empty((0, 1), np.int64)
        return prompts, np.array([special.target_suffix[0] for special in specials], np.int64)

    def sources(self, examples: Examples, fields: Sequence[Sequence[str]]) -> list[Int32]:
        """Source rows: the fields of every example one after the other, cut to what fits."""
        subwords = iter(self.tokenizer.subwords([text for row in fields for text in row]))
        return [
            special.source(join_fields([next(subwords) for _ in row], self.room(special)))
            for special, row in zip(self.special_tokens(examples), fields, strict=True)
        ]

    def room(self, special: Seq2SeqSpecialTokens) -> int:
        """Sub-words that fit a source row; a SystemFailureError where none fits."""
        return room_for_text(self.source, self.recipe.max_length, special.source_count)

    def target(self, special: Seq2SeqSpecialTokens, text: Int32) -> Int32:
        """A target row; a text that is too long for a row is cut, as sources are."""
        return special.target(text[: max(self.recipe.max_length - special.target_count, 1)])

    def tokenised(self, what: str, examples: Examples, contents: Sequence[Any], make: Callable[[], Encoded]) -> Encoded:
        """Sources, or pairs: what `make` gives for columns of examples, from the cache where it has them."""
        recipe = self.recipe
        check_length(self.source, recipe.max_length)
        lengths = recipe.max_length, recipe.stride, recipe.query_length, recipe.answer_length
        model = self.source.config.decoder_start_token_id, self.tokenizer.max_positions
        settings = (what, *model, " ".join(self.task.labels), *lengths)
        return self._tokenised([language_codes(examples), *contents], settings, make)


def encode_pairs(pairs: Sequence[tuple[Int32, Int32]], starts: Sequence[int]) -> Encoded:
    """Rows of sources and targets in turn, with the decoder's first token of each pair."""
    return encode_rows([row for pair in pairs for row in pair], start=np.array(starts, np.int64))


class Seq2SeqObjective(TrainingObjective):
    """Sources to be rewritten as targets, which are its rows in turn; the loss is that of the target's tokens."""

    def __init__(self, pairs: Encoded, pad: int) -> None:
        self.pairs, self.pad = pairs, pad
        self._target_lengths = pairs.lengths[1::2]
        self.lengths = np.maximum(pairs.lengths[0::2], self._target_lengths)
        order = np.argsort(self.lengths, kind="stable")
        self._sorted, self._longest = self.lengths[order], np.maximum.accumulate(self._target_lengths[order])

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Sources, and as labels the targets."""
        flat, starts = self.pairs.input_ids, self.pairs.starts
        labels = padded(flat, starts, 2 * items + 1, self._target_width(width), size, IGNORED).astype(np.int64)
        first = padded_column(self.pairs.columns["start"], items, size, self.pad)
        given = shift_right(labels, first, self.pad)
        return {**masked(self.pairs, 2 * items, width, size, self.pad), "decoder_input_ids": given, "labels": labels}

    def _target_width(self, width: int) -> int:
        """The longest target of any item that fits a width: so a width has one shape only."""
        place = int(np.searchsorted(self._sorted, width, side="right")) - 1
        return -(-int(self._longest[max(place, 0)]) // _GRANULE) * _GRANULE

    def weight(self, items: Ints) -> float:
        """The number of target tokens."""
        return float(self._target_lengths[items].sum())

    def loss(self, model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "Tensor":
        """The summed cross-entropy of the target tokens."""
        from isogloss.systems.text2text.loss import target_loss

        return target_loss(model, batch)


def shift_right(labels: Array, first: Ints, pad: int) -> Array:
    """What a decoder is given to write labels: its first token, then all labels but the last."""
    given = np.roll(np.where(labels == IGNORED, pad, labels), 1, axis=-1)
    given[..., 0] = first.reshape(-1, *[1] * (labels.ndim - 2))
    return given
