"""Question answering: the answer is copied from the passage, token by token."""

import numpy as np

from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import answer_spans, left_out_notes
from isogloss.systems.text2text.adapter import PairRows, Text2TextAdapter
from isogloss.systems.tokens.subwords import TextSlices, Windows, concatenate
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Arrays, Encoded, Ints, TrainingObjective, padded


class Text2TextReader(Text2TextAdapter):
    """XQuAD, MLQA and TyDiQA: the source is `question: … context: …`, the target the answer, a span of the passage.

    A passage that does not fit a row is read in several windows; those without the answer generate nothing in training,
    and the most likely answer wins.
    """

    name = "text2text reading"

    def _objective(self, train: Examples) -> TrainingObjective:
        objective = super()._objective(train)
        usable = sum(begin >= 0 for begin, _ in answer_spans(train))
        objective.notes = left_out_notes(train, usable, "the answer does not occur in the passage")
        return objective

    def pairs(self, train: Examples) -> Encoded:
        """Return pairs with the first gold answer as the target of its window, and an empty target for others."""
        spans = answer_spans(train)
        contents = [list(train["question"]), list(train["context"]), spans]
        return self.cached_pairs(train, contents, lambda: self._pair_rows(train, spans))

    def _pair_rows(self, train: Examples, spans: list[tuple[int, int]]) -> PairRows:
        windows, sources = self.encode_windows(train)
        first, last, whole = windows.locate(np.array(spans, np.int64).reshape(-1, 2), covered=True)
        length = np.where(whole, last - first + 1, 0)
        begins = windows.slices.begins + first
        specials, longest = self.special_tokens(train), self.recipe.answer_length
        for row, example in enumerate(windows.examples.tolist()):
            if spans[example][0] >= 0:
                source = sources.input_ids[sources.starts[row] : sources.starts[row + 1]]
                answer = windows.passages.ids[begins[row] : begins[row] + length[row]]
                target = specials[example].target(answer)
                if len(answer) > longest:  # an answer that is too long has no end token
                    target = np.concatenate([specials[example].target_prefix, answer[:longest]])
                yield example, source, target

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return a span of each passage; empty only if the passage is."""
        from isogloss.training.inference import outputs

        contents = [list(examples["question"]), list(examples["context"])]
        rows = self.tokenised("read", examples, contents, lambda: self.encode_windows(examples)[1])
        best = np.full(len(examples), -np.inf)
        answers = [""] * len(examples)
        example_of = rows.columns["example"]

        def masks(items: Ints, width: int, size: int) -> Arrays:
            begin, end = (padded(rows.aligned[name], rows.starts, items, width, size, -1) for name in ("begin", "end"))
            return {"inside": begin >= 0, "solid": end > begin}

        batch = self.prompted(examples, rows, "example", masks)
        for items, (first, last, score) in outputs(model, rows.lengths, batch, self._copy_answers):
            for row, begin, end, value in zip(items, first.tolist(), last.tolist(), score.tolist(), strict=True):
                if end >= begin and value > best[example_of[row]]:
                    best[example_of[row]] = value
                    start = rows.starts[row]
                    span = rows.aligned["begin"][start + begin], rows.aligned["end"][start + end]
                    answers[example_of[row]] = examples["context"][example_of[row]][span[0] : span[1]].rstrip()
        return answers

    def _copy_answers(self, model: Model, batch: Batch) -> tuple[Tensor, ...]:
        """Return the first and last token of the answer in every row, and its log-probability."""
        from isogloss.systems.text2text.decoding import CopyConstraint, generate

        constraint = CopyConstraint(batch["input_ids"], batch["inside"], batch["solid"], batch["end"])
        generate(model, batch, constraint, self.recipe.answer_length)
        return constraint.first, constraint.last, constraint.score

    def encode_windows(self, examples: Examples) -> tuple[Windows, Encoded]:
        """Encode every question, cut to `query_length` tokens, with every window of its passage (column `example`),
        and, aligned, the characters of the passage's tokens: `begin`, `end`, or -1.
        """
        tokenizer, specials = self.tokenizer, self.special_tokens(examples)
        question, context = tokenizer.subwords(["question:", "context:"])
        longest = len(question) + self.recipe.query_length
        texts = tokenizer.subwords([f"question: {text}" for text in examples["question"]])
        heads = [np.concatenate([text[:longest], context]) for text in texts]
        room, taken = (np.array(list(sizes), np.int64) for sizes in (map(self.room, specials), map(len, heads)))
        windows = Windows.of(self.source, examples["context"], room, taken, self.recipe.stride)
        before = [np.concatenate([each.source_prefix, head]) for each, head in zip(specials, heads, strict=True)]
        after = [special.source_suffix for special in specials]
        head, tail = (TextSlices.stacked(rows).rows(windows.examples) for rows in (before, after))
        ids, starts, positions = concatenate([head, windows.slices, tail])
        characters = windows.characters(positions[1], len(ids))
        return windows, Encoded(ids, starts, characters, {"example": windows.examples})
