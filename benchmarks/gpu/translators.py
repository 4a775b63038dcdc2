"""Speed of `hf:` translators compared with transformers' translation pipeline, in one run.

    python benchmarks/gpu/translators.py [--size nllb-600m] [--texts 4000] [--beams 1,4] [--json FILE]

Needs torch and transformers, and no network: the model has the shape of NLLB-200 (600M) and random weights, texts have
the lengths of XNLI's sentences. A random model never ends a sentence, so that every translation ends after 0.8 to 1.2
times the tokens of its text, for all contestants alike. transformers 5 has no translation pipeline any more; there, its
steps are repeated: tokenize, generate, decode, batch by batch in the order of the texts.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import torch
import transformers

from isogloss.systems.seq2seq import translator as seq2seq

# Every twentieth quantile of the tokens of the 9,999 distinct English sentences in XNLI's dev and test sets, counted
# with a WordPiece vocabulary of 119,547.
QUANTILES = (2, 7, 8, 8, 9, 10, 10, 11, 11, 12, 13, 13, 14, 15, 16, 18, 20, 23, 28, 35, 60)
SIZES: dict[str, dict[str, int]] = {
    "nllb-600m": {"vocab_size": 256_206, "d_model": 1024, "layers": 12, "heads": 16, "ffn": 4096},
    "tiny": {"vocab_size": 1_000, "d_model": 32, "layers": 2, "heads": 2, "ffn": 64},
}
CODES = ["eng_Latn", "spa_Latn", "deu_Latn"]
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
# Texts that the slowest contestant gets: one at a time.
SINGLE = 100
PIPELINE_BATCH = 64


def write_model(folder: Path, size: dict[str, int]) -> None:
    """Write a random model and a tokenizer of numbered words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    count = size["vocab_size"] - len(SPECIALS) - len(CODES)
    vocabulary = {word: number for number, word in enumerate([*SPECIALS, *(f"w{n}" for n in range(count))])}
    made = Tokenizer(models.WordLevel(vocabulary, SPECIALS[3]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    names = ("bos_token", "pad_token", "eos_token", "unk_token")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, model_max_length=1024, **dict(zip(names, SPECIALS, strict=True))
    )
    tokenizer.add_special_tokens({"additional_special_tokens": CODES})
    code = (CODES[0], tokenizer.convert_tokens_to_ids(CODES[0]))
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{CODES[0]} $A </s>", special_tokens=[code, ("</s>", 2)]
    )
    config = transformers.M2M100Config(
        vocab_size=size["vocab_size"],
        d_model=size["d_model"],
        encoder_layers=size["layers"],
        decoder_layers=size["layers"],
        encoder_attention_heads=size["heads"],
        decoder_attention_heads=size["heads"],
        encoder_ffn_dim=size["ffn"],
        decoder_ffn_dim=size["ffn"],
        max_position_embeddings=1024,
        scale_embedding=True,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    torch.manual_seed(0)
    model = transformers.M2M100ForConditionalGeneration(config)
    model.generation_config.max_length = 200  # as NLLB's own
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def texts_of(count: int, words: int) -> list[str]:
    """Return random texts with the lengths of real ones."""
    generator = torch.Generator().manual_seed(1)
    where = torch.rand(count, generator=generator, dtype=torch.float64) * (len(QUANTILES) - 1)
    low = where.long().clamp(max=len(QUANTILES) - 2)
    table = torch.tensor(QUANTILES, dtype=torch.float64)
    lengths = (table[low] + (where - low) * (table[low + 1] - table[low])).round().long().tolist()
    return [
        " ".join(f"w{number}" for number in torch.randint(words, (length,), generator=generator).tolist())
        for length in lengths
    ]


class RealisticEnd(transformers.LogitsProcessor):
    """Ends a translation after 0.8 to 1.2 times the tokens of its text, depending on the text."""

    def __init__(self, ids: torch.Tensor, mask: torch.Tensor, beams: int) -> None:
        factor = 0.8 + 0.1 * ((ids * mask).sum(1) % 5)
        self._ends = (mask.sum(1) * factor).round().long().repeat_interleave(beams)

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        over = (input_ids.shape[1] - 1 >= self._ends)[:, None]
        is_end = torch.arange(scores.shape[1], device=scores.device) == 2
        return torch.where(over == is_end, scores, torch.finfo(scores.dtype).min)


def end_realistically(model: Any) -> None:
    """Let all calls of `generate` end their translations."""
    generate = model.generate

    def ending(*given: Any, **settings: Any) -> Any:
        ids, mask = settings.get("input_ids", given[0] if given else None), settings["attention_mask"]
        beams = settings.get("num_beams") or 1
        rule = transformers.LogitsProcessorList([RealisticEnd(ids, mask, beams)])
        return generate(*given, **settings, logits_processor=rule)

    model.generate = ending


def by_pipeline(model: Any, folder: Path, batch: int, beams: int) -> Callable[[Sequence[str]], list[str]]:
    """Return transformers' pipeline, or its steps where it has been removed."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    target = tokenizer.convert_tokens_to_ids(CODES[1])
    if int(transformers.__version__.split(".")[0]) < 5:
        pipe = transformers.pipeline("translation", model=model, tokenizer=tokenizer, device=model.device)
        settings = {"batch_size": batch, "num_beams": beams, "forced_bos_token_id": target}
        return lambda texts: [each["translation_text"] for each in pipe(list(texts), **settings)]

    def steps(texts: Sequence[str]) -> list[str]:
        written: list[str] = []
        for start in range(0, len(texts), batch):
            inputs = tokenizer(list(texts[start : start + batch]), return_tensors="pt", padding=True).to(model.device)
            inputs.pop("token_type_ids", None)
            with torch.no_grad():
                outputs = model.generate(**inputs, num_beams=beams, forced_bos_token_id=target)
            written += tokenizer.batch_decode(outputs, skip_special_tokens=True)
        return written

    return steps


def timed(translate: Callable[[Sequence[str]], list[str]], texts: Sequence[str]) -> tuple[float, list[str]]:
    """Return texts per second and the translations, after a warm-up."""
    translate(texts[:8])
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    started = time.perf_counter()
    written = translate(texts)
    return len(texts) / (time.perf_counter() - started), written


def measure(folder: Path, texts: Sequence[str], beams: int) -> dict[str, float]:
    """Return the rates of all contestants with the same weights, precision and beams."""
    ours = seq2seq.Seq2SeqTranslator(str(folder), "en", "es", beams=beams)
    model = seq2seq._model(ours._opened, ours._dtype, ours._device)
    if "generate" not in vars(model):
        end_realistically(model)
    rates = {}
    rates["isogloss"], own = timed(ours.translate, texts)
    rates["pipeline, batches of 64"], theirs = timed(by_pipeline(model, folder, PIPELINE_BATCH, beams), texts)
    rates["pipeline"], _ = timed(by_pipeline(model, folder, 1, beams), texts[:SINGLE])
    rates["equal translations"] = sum(map(str.__eq__, own, theirs)) / len(texts)
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=sorted(SIZES), default="nllb-600m")
    parser.add_argument("--texts", type=int, default=4000)
    parser.add_argument("--beams", default="1,4")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    size, report = SIZES[chosen.size], {}
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), size)
        texts = texts_of(chosen.texts, size["vocab_size"] - len(SPECIALS) - len(CODES))
        for beams in map(int, chosen.beams.split(",")):
            rates = report[f"{beams} beams"] = measure(Path(folder), texts, beams)
            for name in ("isogloss", "pipeline, batches of 64", "pipeline"):
                times = rates["isogloss"] / rates[name]
                print(f"{chosen.size}, {beams} beams: {name}: {rates[name]:,.1f} texts/s (isogloss {times:.1f} ×)")
            print(f"  {rates['equal translations']:.1%} of the translations are equal")
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
