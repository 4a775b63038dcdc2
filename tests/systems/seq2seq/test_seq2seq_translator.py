"""Translation by Hugging Face models: language codes, batches, limits. Weights and vocabularies are made here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'isogloss[train]'")

import torch
import transformers

from e2e.command import isogloss
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.systems.seq2seq import translator as module
from isogloss.translation.translators import open_translator
from systems.seq2seq.tiny_translators import CODES, SENTENCES, SPECIALS, WORDS, model_of, saved, tokenizer_of

# Tokens before a text from English into Spanish, and the first one of the translation.
PLACES = {
    "nllb": ("eng_Latn", "spa_Latn"),
    "m2m": ("__en__", "__es__"),
    "mbart": ("en_XX", "es_XX"),
    "madlad": ("<2es>", None),
    "opus": (">>spa<<", None),
    "plain": (None, None),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: saved(tmp_path_factory.mktemp(kind), kind) for kind in CODES}


@pytest.fixture(autouse=True)
def _unload() -> Iterator[None]:
    loaded = module._model
    yield
    loaded.cache_clear()


def translator_of(folder: Path, target: str = "es", **settings: Any) -> Any:
    return open_translator(f"hf:{folder}", "en", target, {"device": "cpu", **settings})


def one_by_one(folder: Path, kind: str, beams: int) -> list[str]:
    """Translate each sentence alone, by transformers' own means."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    before, first = PLACES[kind]
    written = []
    for text in SENTENCES:
        inputs = tokenizer(f"{before} {text}" if before else text, return_tensors="pt")
        most = min(2 * inputs["input_ids"].shape[1] + 32, 39)
        forced = {"forced_bos_token_id": tokenizer.convert_tokens_to_ids(first)} if first else {}
        with torch.inference_mode():
            output = model.generate(**inputs, num_beams=beams, do_sample=False, max_new_tokens=most, **forced)
        written.append(tokenizer.decode(output[0], skip_special_tokens=True).strip())
    return written


@pytest.mark.parametrize("kind", sorted(CODES))
@pytest.mark.parametrize("beams", [1, 4])
def test_batches_translate_as_single_texts_do(folders: dict[str, Path], kind: str, beams: int) -> None:
    expected = one_by_one(folders[kind], kind, beams)
    assert len({*expected}) > 1
    translator = translator_of(folders[kind], beams=beams)
    assert translator.translate(SENTENCES) == expected
    assert translator_of(folders[kind], beams=beams, batch=2).translate(SENTENCES[::-1]) == expected[::-1]
    assert translator.notes == []


@pytest.mark.parametrize("kind", sorted(CODES))
def test_inputs_of_the_model(folders: dict[str, Path], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    translator, calls = translator_of(folders[kind], tokens=30), []
    model = module._model(translator._opened, "float32", "cpu")
    monkeypatch.setattr(model, "generate", lambda **given: calls.append(given) or given["input_ids"])
    translator.translate(SENTENCES)
    tokenizer = tokenizer_of(CODES[kind])
    before, first = PLACES[kind]
    prefix = [tokenizer.convert_tokens_to_ids(before)] if before else []
    rows = []
    for call in calls:
        ids, mask = call["input_ids"], call["attention_mask"]
        assert len(ids) == 1 or ids.numel() <= 30
        assert call.get("forced_bos_token_id") == (tokenizer.convert_tokens_to_ids(first) if first else None)
        assert call["num_beams"] == 4
        assert (ids[mask == 0] == tokenizer.pad_token_id).all()
        rows += [row[kept == 1].tolist() for row, kept in zip(ids, mask, strict=True)]
    lengths = [len(row) for row in rows]
    assert lengths == sorted(lengths, reverse=True)
    known = {
        tuple(prefix + [tokenizer.convert_tokens_to_ids(word) for word in text.split()] + [2]) for text in SENTENCES
    }
    assert {tuple(row) for row in rows} == known


def test_long_texts_are_cut_and_counted(folders: dict[str, Path]) -> None:
    translator = translator_of(folders["nllb"], beams=1)
    long = " ".join(WORDS * 5)
    assert len(translator.translate([long, "a dog"])) == 2
    assert translator.notes == ["1 text cut at 40 tokens"]
    assert translator._encoded(list(range(100)))[0] == translator._prefix[0]
    assert len(translator._encoded(list(range(100)))) == 40


def test_version_depends_on_weights_and_settings(folders: dict[str, Path], tmp_path: Path) -> None:
    versions = {
        translator_of(folders["nllb"]).version,
        translator_of(folders["nllb"], beams=1).version,
        translator_of(folders["nllb"], dtype="bfloat16").version,
        translator_of(folders["m2m"]).version,
    }
    assert len(versions) == 4
    assert translator_of(folders["nllb"]).version == translator_of(saved(tmp_path, "nllb")).version
    assert translator_of(folders["nllb"], batch=1, tokens=9).version in versions


def test_memory_that_does_not_suffice_halves_the_batch(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = translator_of(folders["nllb"], beams=1).translate(SENTENCES)
    translator, sizes = translator_of(folders["nllb"], beams=1), []
    generate = (model := module._model(translator._opened, "float32", "cpu")).generate

    def limited(**given: Any) -> Any:
        sizes.append(len(given["input_ids"]))
        if sizes[-1] > 2:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return generate(**given)

    monkeypatch.setattr(model, "generate", limited)
    assert translator.translate(SENTENCES) == expected
    assert sizes == [6, 3, 1, 2, 3, 1, 2]


def test_command_translates_once(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "xnli").mkdir()
    rows = [f"{text}\t{SENTENCES[0]}\tneutral\n" for text in SENTENCES]
    (tmp_path / "xnli/train-en.tsv").write_text("".join(rows))
    words = ("translate", "xnli", "--languages", "es,zh", "--data", tmp_path, "--batch", 4)
    words = (*words, "--keep-garbage", "--with", f"hf:{folders['nllb']}#beams=1,device=cpu")
    done = isogloss(*words)
    assert done.code == 0, done.err
    spanish = Path(done.out.splitlines()[0])
    written = [json.loads(line)["text_a"] for line in spanish.read_text().splitlines()]
    assert written == translator_of(folders["nllb"], beams=1).translate(SENTENCES)
    monkeypatch.setattr(module, "_model", None)  # the weights are not needed again
    again = isogloss(*words)
    assert again.code == 0, again.err
    assert again.err.count("6 distinct texts, 6 from the cache") == 2


def test_unknown_language_and_settings(folders: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"does not know Swahili \(sw\)"):
        translator_of(folders["nllb"], target="sw")
    with pytest.raises(UnknownNameError, match="Did you mean beams"):
        translator_of(folders["nllb"], beam=1)
    with pytest.raises(IsoglossError, match="beams = 0 is not a whole number from 1 to 32"):
        translator_of(folders["nllb"], beams=0)
    with pytest.raises(IsoglossError, match="no such folder"):
        translator_of(tmp_path / "missing")
    with pytest.raises(IsoglossError, match="no model"):
        open_translator("hf:", "en", "es")


def test_model_without_decoder_is_refused(tiny_bert: Path) -> None:
    with pytest.raises(IsoglossError, match="cannot load the weights"):
        translator_of(tiny_bert).translate(["a dog"])


def test_models_own_code_is_not_run(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = saved(tmp_path, "plain")
    config = folder / "config.json"
    own = '"auto_map": {"AutoModelForSeq2SeqLM": "evil.Model"},'
    config.write_text(config.read_text().replace("{", "{" + own, 1))
    (folder / "evil.py").write_text("raise SystemExit('ran')\n")
    with pytest.raises(IsoglossError, match="requires its own Python code"):
        translator_of(folder).translate(["a dog"])


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sentencepiece model and its vocabulary as JSON."""
    sentencepiece = pytest.importorskip("sentencepiece")
    folder = tmp_path_factory.mktemp("pieces")
    text = folder / "text.txt"
    text.write_text("\n".join(SENTENCES * 20), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "spm"), vocab_size=45, minloglevel=2, hard_vocab_limit=False
    )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    learnt = [processor.id_to_piece(number) for number in range(3, processor.get_piece_size())]
    tables = {
        "m2m": [*SPECIALS, *learnt],
        "marian": ["</s>", "<unk>", ">>spa<<", ">>fra<<", *learnt, "<pad>"],
    }
    for name, tokens in tables.items():
        numbered = {token: number for number, token in enumerate(tokens)}
        (folder / f"{name}.json").write_text(json.dumps(numbered), encoding="utf-8")
    return folder


def test_tokenizers_of_m2m_and_marian_give_the_same_inputs(pieces: Path, tmp_path: Path) -> None:
    """Our inputs are those that the models' own tokenizers make."""
    m2m = transformers.M2M100Tokenizer(str(pieces / "m2m.json"), str(pieces / "spm.model"), src_lang="en")
    m2m.save_pretrained(tmp_path / "m2m")
    model_of("m2m", len(m2m) + 200).save_pretrained(tmp_path / "m2m")
    translator = translator_of(tmp_path / "m2m")
    assert translator._first == m2m.get_lang_id("es")
    for text in SENTENCES:
        assert translator._encoded(translator._ids([text])[0]) == m2m(text)["input_ids"]
    spm = str(pieces / "spm.model")
    marian = transformers.MarianTokenizer(spm, spm, str(pieces / "marian.json"))
    marian.save_pretrained(tmp_path / "marian")
    model_of("opus", len(marian)).save_pretrained(tmp_path / "marian")
    translator = translator_of(tmp_path / "marian")
    for text in SENTENCES:
        assert translator._encoded(translator._ids([text])[0]) == marian(f">>spa<< {text}")["input_ids"]
    assert len(translator.translate(SENTENCES)) == len(SENTENCES)
