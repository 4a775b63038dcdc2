"""Translation by sequence-to-sequence models of Hugging Face: NLLB, M2M-100, mBART-50, MADLAD, Opus-MT and others."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from isogloss.checked_settings import Limits, PositiveInt, checked_settings
from isogloss.figures import counted
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import Model, ModelSource, failure, library, open_pretrained, quiet
from isogloss.systems.seq2seq.codes import code_of, scheme_of
from isogloss.translation.translators import Translator

# Tokens of a text, if neither tokenizer nor model has a limit.
_LONGEST = 512
# Source tokens and rows (texts × beams) per batch, on a GPU and on a CPU. The probabilities of the next token take a
# megabyte per row in a vocabulary of 256,000.
_TOKENS = {"cuda": 32_768, "cpu": 2_048}
_ROWS = {"cuda": 2_048, "cpu": 128}
# Tokens of a translation, at most: a multiple of the longest text in its batch, and some more.
_LONGER, _MORE = 2, 32


class Seq2SeqSettings:
    """Settings of a sequence-to-sequence model; see `Seq2SeqTranslator`."""

    beams: Annotated[int, Limits("from 1 to 32", lambda number: 1 <= number <= 32)]
    batch: PositiveInt
    tokens: PositiveInt
    dtype: Literal["bfloat16", "float16", "float32"]
    device: Literal["cuda", "cpu"]


def open_seq2seq(model: str, source: str, target: str, settings: Mapping[str, Any]) -> "Seq2SeqTranslator":
    """Open a model with settings that people wrote.

    Raises:
        UnknownNameError: unknown setting, or a language that the model does not know.
        IsoglossError: an invalid setting, or a model that cannot be opened.
    """
    checked = checked_settings(settings, Seq2SeqSettings, "setting of a translator", f"hf:{model}")
    return Seq2SeqTranslator(model, source, target, **checked)


class Seq2SeqTranslator(Translator):
    """A Hugging Face folder or hub name with an encoder and a decoder.

    Texts are sorted by length, the longest first, and divided into batches of similar numbers of tokens. The code of a
    model that needs its own is never run.

    Args:
        model: folder or hub name.
        source: language of the texts.
        target: language of the translations.
        beams: width of the beam search; 1 takes the most probable token each time, and is several times faster.
        batch: maximum number of texts at a time; default by the device.
        tokens: maximum number of source tokens at a time, with padding; default by the device.
        dtype: precision; default bfloat16 on a GPU that has it, float16 on others, float32 on a CPU.
        device: "cuda" or "cpu"; default the GPU if there is one.
    """

    def __init__(
        self,
        model: str,
        source: str,
        target: str,
        *,
        beams: int = 4,
        batch: int = 0,
        tokens: int = 0,
        dtype: str = "",
        device: str = "",
    ) -> None:
        self.name, self.source, self.target = f"hf:{model}", source, target
        if not model:
            fix = "Name it after the colon: hf:facebook/nllb-200-distilled-600M"
            raise SystemFailureError("no model", where="hf", fix=fix)
        self._torch = library("torch")
        self._device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._beams = beams
        self._most_texts = batch or max(1, _ROWS[self._device] // beams)
        self._most_tokens = tokens or _TOKENS[self._device]
        self._dtype = dtype or self._usual_dtype()
        self._opened = ModelSource(model)
        self._tokenizer = self._opened.tokenizer
        self._cut = 0
        self._find_codes()
        self._longest = self._longest_text()
        facts = f"transformers {library('transformers').__version__}, {self._beams} beams, {self._dtype}"
        self.version = f"{self._opened.identity}, {facts}, {self._longest} tokens"

    @property
    def notes(self) -> list[str]:
        """Number of texts that were too long for the model."""
        return [f"{counted(self._cut, 'text')} cut at {self._longest:,} tokens"] if self._cut else []

    def _usual_dtype(self) -> str:
        if self._device == "cpu":
            return "float32"
        return "bfloat16" if self._torch.cuda.is_bf16_supported() else "float16"

    def _find_codes(self) -> None:
        """Set the tokens before a text, and the first token of a translation."""
        tokenizer = self._tokenizer
        # M2M-100's tokenizer keeps its language codes outside the vocabulary.
        tokens = {**tokenizer.get_vocab(), **getattr(tokenizer, "lang_token_to_id", {})}
        scheme, known = scheme_of(tokens)
        self._prefix: list[int] = []
        self._first: int | None = None
        if scheme is None:
            return
        target = tokens[known[code_of(self.target, known, self.name)]]
        if scheme.marks_source:
            self._prefix, self._first = [tokens[known[code_of(self.source, known, self.name)]]], target
        else:
            self._prefix = [target]

    def _longest_text(self) -> int:
        limits = (self._tokenizer.model_max_length, getattr(self._opened.config, "max_position_embeddings", None))
        usable = [limit for limit in limits if isinstance(limit, int) and 0 < limit < 10**6]
        return min(usable, default=_LONGEST)

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield translations batch by batch, those of the longest texts first."""
        with failure("the tokenizer failed", self.name):
            encoded = [self._encoded(ids) for ids in self._ids(texts)]
        order = sorted(range(len(texts)), key=lambda number: (-len(encoded[number]), texts[number]))
        for rows in self._batches(order, encoded):
            for part, outputs in self._generated([encoded[row] for row in rows]):
                with failure("the tokenizer failed", self.name):
                    written = self._tokenizer.batch_decode(outputs, skip_special_tokens=True)
                yield {texts[rows[number]]: text.strip() for number, text in zip(part, written, strict=True)}

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        valid = [text.encode("utf-8", "replace").decode() for text in texts]
        with quiet():  # it warns about every long text
            ids: list[list[int]] = self._tokenizer(valid, add_special_tokens=False)["input_ids"] if valid else []
        return ids

    def _encoded(self, ids: list[int]) -> list[int]:
        """Return a text between its prefix and the end token, cut to what the model can read."""
        room = self._longest - len(self._prefix) - 1
        self._cut += len(ids) > room
        return [*self._prefix, *ids[:room], self._tokenizer.eos_token_id]

    def _batches(self, order: Sequence[int], encoded: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yield runs of texts that fit into a batch; the first of each is the longest."""
        start = 0
        while start < len(order):
            fitting = max(1, min(self._most_texts, self._most_tokens // len(encoded[order[start]])))
            yield list(order[start : start + fitting])
            start += fitting

    def _generated(self, inputs: list[list[int]]) -> Iterator[tuple[range, list[list[int]]]]:
        """Yield the outputs of some inputs, in halves if the memory does not suffice for all."""
        pending = [range(len(inputs))]
        while pending:
            part = pending.pop(0)
            try:
                outputs = self._outputs([inputs[number] for number in part])
            except SystemFailureError as error:
                if len(part) == 1 or not isinstance(error.__cause__, self._torch.cuda.OutOfMemoryError):
                    raise
                self._torch.cuda.empty_cache()
                middle = len(part) // 2
                self._most_tokens, self._most_texts = max(1, self._most_tokens // 2), middle
                pending = [part[:middle], part[middle:], *pending]
            else:
                yield part, outputs

    def _outputs(self, inputs: list[list[int]]) -> list[list[int]]:
        """Return the tokens of the translations."""
        torch, longest = self._torch, max(map(len, inputs))
        model = _model(self._opened, self._dtype, self._device)
        pad = model.config.pad_token_id or 0
        ids = torch.tensor([row + [pad] * (longest - len(row)) for row in inputs])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in inputs])
        first = {} if self._first is None else {"forced_bos_token_id": self._first}
        with failure("the model failed", self.name, "Set beams=1 or device=cpu"), quiet(), torch.inference_mode():
            outputs = model.generate(
                input_ids=ids.to(self._device),
                attention_mask=mask.to(self._device),
                num_beams=self._beams,
                do_sample=False,
                use_cache=True,
                max_new_tokens=self._most_written(longest),
                **first,
            ).tolist()
        # A translation without end is cut where it would be cut alone, whatever else was in the batch.
        lengths = [1 + self._most_written(len(row)) for row in inputs]
        # Language codes are not special tokens of every tokenizer.
        return [
            [token for token in row[:length] if token != self._first]
            for row, length in zip(outputs, lengths, strict=True)
        ]

    def _most_written(self, length: int) -> int:
        """Return the maximum number of tokens in the translation of a text of some length."""
        return min(_LONGER * length + _MORE, self._longest - 1)


@lru_cache(maxsize=1)
def _model(opened: ModelSource, dtype: str, device: str) -> Model:
    """Load a model's weights; the last one is kept for the next pair of languages."""
    torch, transformers = library("torch"), library("transformers")
    fix = "Pass a model that translates, such as facebook/nllb-200-distilled-600M"
    with failure("cannot load the weights", opened.name, fix), quiet():
        path = opened.folder or opened.name
        model = open_pretrained(transformers.AutoModelForSeq2SeqLM, path, dtype=getattr(torch, dtype))
        return model.to(device).eval()
