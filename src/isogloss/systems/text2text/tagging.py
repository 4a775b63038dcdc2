"""Tagging: words are numbered where they are read, and every number is written with a tag after it."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from isogloss.systems.targets import tag_ids
from isogloss.systems.text2text.adapter import Text2TextAdapter, encode_pairs
from isogloss.systems.text2text.tag_format import TagFormat
from isogloss.systems.text2text.tokenizer import Seq2SeqSpecialTokens, encode_rows
from isogloss.systems.tokens.subwords import Int32
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, masked, padded_column
from isogloss.training.objective import Arrays, Ints

if TYPE_CHECKING:
    from torch import Tensor, nn


class _SentencePart(NamedTuple):
    """Some of the words of a sentence, as many as fit a row."""

    sentence: int
    begin: int
    end: int


class Text2TextTagger(Text2TextAdapter):
    """UD-POS and WikiANN; a sentence that does not fit a row is split into several, whose tags are joined again."""

    name = "text2text tagging"

    @cached_property
    def format(self) -> TagFormat:
        """How tags are written."""
        return TagFormat(self.tokenizer, self.task.labels)

    def pairs(self, train: Examples) -> Encoded:
        """The source has numbered words, the target numbered tags."""
        bounds = np.cumsum([len(words) for words in train["tokens"]])
        tags = [part.tolist() for part in np.split(tag_ids(self.task, train), bounds[:-1])]

        def make() -> Encoded:
            pairs, starts = [], []
            specials = self.special_tokens(train)
            for part, source in self._parts(train):
                special = specials[part.sentence]
                pairs.append((source, special.target(self.format.write(tags[part.sentence][part.begin : part.end]))))
                starts.append(special.decoder_start)
            return encode_pairs(pairs, starts)

        return self.tokenised("pairs", train, [list(map(list, train["tokens"])), tags], make)

    def predict(self, model: "nn.Module", examples: Examples) -> list[list[str]]:
        """One tag a token."""
        from isogloss.training.inference import outputs

        rows = self._sources(examples)
        answers = [[""] * len(tokens) for tokens in examples["tokens"]]
        sentences, begins, words = (rows.columns[name] for name in ("sentence", "begin", "words"))
        prompts, ends = self.decoder_prompts(examples)

        def batch(items: Ints, width: int, size: int) -> Arrays:
            sentence, counts = padded_column(sentences, items, size, 0), padded_column(words, items, size, 1)
            sources = masked(rows, items, width, size, self.tokenizer.pad)
            return {**sources, "decoder_input_ids": prompts[sentence], "end": ends[sentence], "words": counts}

        for items, (written,) in outputs(model, rows.lengths, batch, self._write_tags):
            for row, tokens in zip(items.tolist(), written.tolist(), strict=True):
                tags = self.format.parse(tokens, int(words[row]))
                begin = int(begins[row])
                answers[int(sentences[row])][begin : begin + len(tags)] = [self.format.tags[tag] for tag in tags]
        return answers

    def _write_tags(self, model: "nn.Module", batch: "Mapping[str, Tensor]") -> "tuple[Tensor]":
        """The tokens that are written for every row."""
        from isogloss.systems.text2text.decoding import TagConstraint, generate

        constraint = TagConstraint(self.format, batch["words"], batch["end"], self.tokenizer.pad)
        longest = int(batch["words"].max()) * self.format.longest + 1
        return (generate(model, batch, constraint, longest),)

    def _sources(self, examples: Examples) -> Encoded:
        def make() -> Encoded:
            parts = list(self._parts(examples))
            sentence, begin, end = np.array([part for part, _ in parts], np.int64).reshape(-1, 3).T
            return encode_rows([row for _, row in parts], sentence=sentence, begin=begin, words=end - begin)

        return self.tokenised("read", examples, [list(map(list, examples["tokens"]))], make)

    def _parts(self, examples: Examples) -> Iterator[tuple[_SentencePart, Int32]]:
        """Rows of numbered words, each as many words of a sentence as fit; a word too long for a row is cut."""
        subwords = iter(self.tokenizer.subwords([token for tokens in examples["tokens"] for token in tokens]))
        for sentence, (tokens, special) in enumerate(
            zip(examples["tokens"], self.special_tokens(examples), strict=True)
        ):
            room, most = self.room(special), self._max_words(special) or len(tokens)
            words = [next(subwords)[: room - 1] for _ in tokens]
            begin = taken = 0
            for end, word in enumerate(words):
                if taken + 1 + len(word) > room or end - begin == most:
                    yield _SentencePart(sentence, begin, end), special.source(self.format.numbered(words[begin:end]))
                    begin, taken = end, 0
                taken += 1 + len(word)
            if words:
                row = special.source(self.format.numbered(words[begin:]))
                yield _SentencePart(sentence, begin, len(words)), row

    def _max_words(self, special: Seq2SeqSpecialTokens) -> int:
        """Words whose tags fit the positions a model has, whatever they are; 0 where there is no end to them."""
        free = self.tokenizer.max_positions - special.target_count
        return max(1, free // self.format.longest) if self.tokenizer.max_positions else 0
