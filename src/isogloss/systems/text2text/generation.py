"""Generation: the source is the text, the target its first reference, generated without constraints."""

from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.text2text.adapter import PairRows, Text2TextAdapter, encode_rows
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Encoded


class Text2TextGenerator(Text2TextAdapter):
    """Summaries and the like: greedy decoding of up to `max_length` tokens."""

    name = "text2text generation"

    def pairs(self, train: Examples) -> Encoded:
        """Return pairs with the first reference as the target."""
        texts, targets = list(train["text"]), [references[0] for references in train[train.gold]]

        def rows() -> PairRows:
            sources = self.sources(train, [[text] for text in texts])
            written = zip(self.special_tokens(train), self.tokenizer.subwords(targets), strict=True)
            for number, (source, text) in enumerate(zip(sources, written, strict=True)):
                yield number, source, self.target(*text)

        return self.cached_pairs(train, [texts, targets], rows)

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return the generated texts."""
        import numpy as np

        from isogloss.training.inference import outputs

        texts = list(examples["text"])
        numbers = np.arange(len(texts))
        make = self.sources(examples, [[text] for text in texts])
        rows = self.tokenised("read", examples, [texts], lambda: encode_rows(make, example=numbers))
        batch = self.prompted(examples, rows, "example", lambda items, width, size: {})
        answers = [""] * len(texts)
        for items, (tokens,) in outputs(model, rows.lengths, batch, self._written):
            decoded = self.tokenizer.tokenizer.batch_decode(tokens, skip_special_tokens=True)
            for item, text in zip(items.tolist(), decoded, strict=True):
                answers[item] = text.strip()
        return answers

    def _written(self, model: Model, batch: Batch) -> tuple[Tensor]:
        """Return the tokens of every row, `end` after its end."""
        from isogloss.systems.text2text.decoding import AnyToken, generate

        return (generate(model, batch, AnyToken(batch["end"]), self.recipe.max_length),)
