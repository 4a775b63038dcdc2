"""Question answering: a stretch of the passage is written, copied token by token."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.targets import answer_spans, left_out_notes
from isogloss.systems.text2text.adapter import Text2TextAdapter, encode_pairs
from isogloss.systems.text2text.tokenizer import Seq2SeqSpecialTokens
from isogloss.systems.tokens.subwords import Int32, TextSlices, concatenate
from isogloss.systems.tokens.windows import AnswerSpans, Windows
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, masked, padded, padded_column
from isogloss.training.objective import Arrays, Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import Tensor, nn


class Text2TextReader(Text2TextAdapter):
    """XQuAD, MLQA and TyDiQA: the source is `question: … context: …`, the target the answer.

    Only what is in the passage may be written, so that every answer is a stretch of it, to the character, and none
    is in another language. Of a passage that does not fit a row, several windows are read; those without the answer
    write nothing, and the likeliest answer is taken.
    """

    name = "text2text reading"

    @property
    def learns_as(self) -> tuple[str, ...]:
        """Questions are learnt in one way, whichever task has them."""
        return (self.name,)

    def _objective(self, train: Examples) -> TrainingObjective:
        objective = super()._objective(train)
        usable = sum(begin >= 0 for begin, _ in answer_spans(train))
        objective.notes = left_out_notes(train, usable, "their answer is not in their passage")
        return objective

    def pairs(self, train: Examples) -> Encoded:
        """The first gold answer is written, from the window it lies in; nothing from others."""
        spans = answer_spans(train)
        contents = [list(train["question"]), list(train["context"]), spans]
        return self.tokenised("pairs", train, contents, lambda: self._encode_pairs(train, spans))

    def _encode_pairs(self, train: Examples, spans: list[tuple[int, int]]) -> Encoded:
        windows, sources = self.encode_windows(train)
        gold = AnswerSpans(*np.array(spans, np.int64).reshape(-1, 2).T)
        first, last, whole = windows.locate(gold)
        whole &= windows.covers(gold)[windows.examples]
        length = np.where(whole, last - first + 1, 0)
        begins = windows.slices.begins + first
        specials = self.special_tokens(train)
        pairs, starts = [], []
        for row, example in enumerate(windows.examples.tolist()):
            if spans[example][0] >= 0:
                source = sources.input_ids[sources.starts[row] : sources.starts[row + 1]]
                answer = windows.passages.ids[begins[row] : begins[row] + length[row]]
                pairs.append((source, self._answer_row(specials[example], answer)))
                starts.append(specials[example].decoder_start)
        return encode_pairs(pairs, starts)

    def _answer_row(self, special: Seq2SeqSpecialTokens, answer: Int32) -> Int32:
        """An answer as it is written: one that is too long is not ended."""
        if len(answer) > self.recipe.answer_length:
            return np.concatenate([special.target_prefix, answer[: self.recipe.answer_length]])
        return special.target(answer)

    def predict(self, model: "nn.Module", examples: Examples) -> list[str]:
        """A stretch of the passage of each; empty only where the passage is."""
        from isogloss.training.inference import outputs

        rows = self._sources(examples)
        best = np.full(len(examples), -np.inf)
        answers = [""] * len(examples)
        example_of = rows.columns["example"]
        prompts, ends = self.decoder_prompts(examples)

        def batch(items: Ints, width: int, size: int) -> Arrays:
            example = padded_column(example_of, items, size, 0)
            begin, end = (padded(rows.aligned[name], rows.starts, items, width, size, -1) for name in ("begin", "end"))
            sources = masked(rows, items, width, size, self.tokenizer.pad)
            places = {"inside": begin >= 0, "solid": end > begin}
            return {**sources, **places, "decoder_input_ids": prompts[example], "end": ends[example]}

        for items, (first, last, score) in outputs(model, rows.lengths, batch, self._copy_answers):
            for row, begin, end, value in zip(items, first.tolist(), last.tolist(), score.tolist(), strict=True):
                if end >= begin and value > best[example_of[row]]:
                    best[example_of[row]] = value
                    start = rows.starts[row]
                    span = rows.aligned["begin"][start + begin], rows.aligned["end"][start + end]
                    answers[example_of[row]] = examples["context"][example_of[row]][span[0] : span[1]].rstrip()
        return answers

    def _copy_answers(self, model: "nn.Module", batch: "Mapping[str, Tensor]") -> "tuple[Tensor, ...]":
        """The first and the last token of the answer in every row, and its log-probability."""
        from isogloss.systems.text2text.decoding import CopyConstraint, generate

        constraint = CopyConstraint(batch["input_ids"], batch["inside"], batch["solid"], batch["end"])
        generate(model, batch, constraint, self.recipe.answer_length)
        return constraint.first, constraint.last, constraint.score

    def _sources(self, examples: Examples) -> Encoded:
        contents = [list(examples["question"]), list(examples["context"])]
        return self.tokenised("read", examples, contents, lambda: self.encode_windows(examples)[1])

    def encode_windows(self, examples: Examples) -> tuple[Windows, Encoded]:
        """Every question, cut to `query_length` tokens, with every window of its passage.

        Returns:
            The windows, and the source of each, with the column `example` and, aligned, the characters of every token
            of the passage as `begin` and `end`, -1 elsewhere.
        """
        tokenizer, specials = self.tokenizer, self.special_tokens(examples)
        question, context = tokenizer.subwords(["question:", "context:"])
        longest = len(question) + self.recipe.query_length
        texts = tokenizer.subwords([f"question: {text}" for text in examples["question"]])
        heads = [np.concatenate([text[:longest], context]) for text in texts]
        room = np.array([self.room(one) - len(head) for one, head in zip(specials, heads, strict=True)], np.int64)
        if room.min(initial=1) < 1:
            what = f"a question of {len(heads[int(room.argmin())])} tokens leaves no room for its passage"
            fix = "Set a larger max_length or a smaller query_length"
            raise SystemFailureError(what, where=dataset_name(examples), fix=fix)
        windows = Windows.of(tokenizer.tokenizer, examples["context"], room, self.recipe.stride)
        before = [np.concatenate([one.source_prefix, head]) for one, head in zip(specials, heads, strict=True)]
        after = [one.source_suffix for one in specials]
        head, tail = (TextSlices.stacked(rows).rows(windows.examples) for rows in (before, after))
        ids, starts, places = concatenate([head, windows.slices, tail])
        characters = windows.characters(places[1], len(ids))
        return windows, Encoded(ids, starts, characters, {"example": windows.examples})
