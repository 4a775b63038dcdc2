"""Tagging: words are numbered in the source, and each number is generated with its tag."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import IGNORED, label_ids, tag_ids
from isogloss.systems.text2text.adapter import NOTHING, PairRows, Seq2SeqTokenizer, Text2TextAdapter, encode_rows
from isogloss.systems.tokens.inputs import max_positions
from isogloss.systems.tokens.subwords import Int32
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Arrays, Encoded, Ints, padded_column


class TagFormat:
    """Tags as tokens, and back: `<extra_id_0> DET <extra_id_1> NOUN` for two words.

    Markers repeat after the last, for any number of words. A vocabulary must be able to distinguish the tags.
    """

    def __init__(self, tokenizer: Seq2SeqTokenizer, tags: Sequence[str]) -> None:
        self.tags, self.markers = tuple(tags), tokenizer.markers
        self.subwords = tokenizer.subwords(self.tags)
        self._tag_of = {tuple(row.tolist()): number for number, row in enumerate(self.subwords)}
        inside = {token for row in self.subwords for token in row[1:].tolist()}
        unknown = tokenizer.tokenizer.unk_token_id
        unspellable = [tag for tag, row in zip(tags, self.subwords, strict=True) if not len(row) or unknown in row]
        numbers = set(self.markers.tolist())
        alike = len(self._tag_of) < len(self.tags) or len(numbers) < len(self.markers)
        if unspellable or alike or unknown in numbers or inside & numbers:
            what = f"the vocabulary cannot spell the tags {', '.join(unspellable or self.tags)}"
            fix = "Use a model with capital letters and digits in its vocabulary"
            raise SystemFailureError(what, where=tokenizer.model.name, fix=fix)

    @property
    def longest(self) -> int:
        """Maximum number of tokens per word, including its marker."""
        return 1 + max(map(len, self.subwords))

    def marker(self, word: int) -> int:
        """Return the marker of a word."""
        return int(self.markers[word % len(self.markers)])

    def numbered(self, parts: Sequence[Int32]) -> Int32:
        """Return words or tags, each after its marker."""
        marked = ((np.array([self.marker(word)], np.int32), part) for word, part in enumerate(parts))
        return np.concatenate([NOTHING, *chain.from_iterable(marked)])

    def write(self, tags: Sequence[int]) -> Int32:
        """Return the tags of a sentence, given as indices into `tags`, as tokens."""
        return self.numbered([self.subwords[tag] for tag in tags])

    def parse(self, tokens: Sequence[int], words: int) -> list[int]:
        """Parse the tags generated for a number of words, ignoring what follows."""
        tags, position = [], 0
        for word in range(words):
            if position >= len(tokens) or tokens[position] != self.marker(word):
                raise ValueError(f"no marker of word {word} at token {position}")
            end = position + 2
            while end < len(tokens) and tuple(tokens[position + 1 : end + 1]) in self.prefixes:
                end += 1
            tag = self._tag_of.get(tuple(tokens[position + 1 : end]))
            if tag is None:
                raise ValueError(f"no tag after token {position}")
            tags.append(tag)
            position = end
        return tags

    @cached_property
    def prefixes(self) -> dict[tuple[int, ...], int]:
        """Numbers of all prefixes of tags; the empty one is 0."""
        numbers: dict[tuple[int, ...], int] = {(): 0}
        for row in self.subwords:
            for end in range(1, len(row) + 1):
                numbers.setdefault(tuple(row[:end].tolist()), len(numbers))
        return numbers


class Text2TextTagger(Text2TextAdapter):
    """UD-POS and WikiANN; a sentence that does not fit a row is split, and its tags are joined again."""

    name = "text2text tagging"

    @cached_property
    def format(self) -> TagFormat:
        """Format of the tags."""
        return TagFormat(self.tokenizer, self.task.labels)

    def pairs(self, train: Examples) -> Encoded:
        """Return pairs of numbered words and numbered tags."""
        bounds = np.cumsum([len(words) for words in train["tokens"]])
        numbers = tag_ids(self.task, train)
        if (untagged := numbers == IGNORED).any():  # a written sentence has a tag for every word
            numbers[untagged] = label_ids(self.task, ["X"], train)
        tags = [part.tolist() for part in np.split(numbers, bounds[:-1])]

        def rows() -> PairRows:
            specials = self.special_tokens(train)
            for (sentence, begin, end), source in self._parts(train):
                yield sentence, source, specials[sentence].target(self.format.write(tags[sentence][begin:end]))

        return self.cached_pairs(train, [list(map(list, train["tokens"])), tags], rows)

    def predict(self, model: Model, examples: Examples) -> list[list[str]]:
        """Return one tag per token."""
        from isogloss.training.inference import outputs

        rows = self._sources(examples)
        answers = [[""] * len(tokens) for tokens in examples["tokens"]]
        sentences, begins, words = (rows.columns[name] for name in ("sentence", "begin", "words"))

        def counts(items: Ints, width: int, size: int) -> Arrays:
            return {"words": padded_column(words, items, size, 1)}

        batch = self.prompted(examples, rows, "sentence", counts)
        for items, (written,) in outputs(model, rows.lengths, batch, self._write_tags):
            for row, tokens in zip(items.tolist(), written.tolist(), strict=True):
                tags = self.format.parse(tokens, int(words[row]))
                begin = int(begins[row])
                answers[int(sentences[row])][begin : begin + len(tags)] = [self.format.tags[tag] for tag in tags]
        return answers

    def _write_tags(self, model: Model, batch: Batch) -> tuple[Tensor]:
        """Return the tokens generated for every row."""
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

    def _parts(self, examples: Examples) -> Iterator[tuple[tuple[int, int, int], Int32]]:
        """Yield the sentence, begin and end of each row of numbered words, as many as fit, and the row."""
        subwords = iter(self.tokenizer.subwords([token for tokens in examples["tokens"] for token in tokens]))
        sentences = zip(examples["tokens"], self.special_tokens(examples), strict=True)
        for sentence, (tokens, special) in enumerate(sentences):
            room, most = self.room(special), len(tokens)
            if positions := max_positions(self.source.config):  # words with tags that always fit
                most = max(1, (positions - len(special.target(NOTHING))) // self.format.longest)
            words = [next(subwords)[: room - 1] for _ in tokens]  # a word too long for a row is cut
            begin = taken = 0
            for end, word in enumerate(words):
                if taken + 1 + len(word) > room or end - begin == most:
                    yield (sentence, begin, end), special.source(self.format.numbered(words[begin:end]))
                    begin, taken = end, 0
                taken += 1 + len(word)
            if words:
                yield (sentence, begin, len(words)), special.source(self.format.numbered(words[begin:]))
