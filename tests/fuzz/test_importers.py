"""Corrupted output files of other tools, and attribute and tokenizer files for `explain`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil
from fuzz.oracle import FaultError, check_tidy, command
from fuzz.test_predictions import lying_array
from isogloss.tasks.loading import load

DOC = {"premise": "p", "hypothesis": "h", "label": 0}


def lines(values: list[Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


# Tool, file name, task, language, valid content.
FILES: tuple[tuple[str, str, str, str, bytes], ...] = (
    (
        "hf",
        "predict_predictions.json",
        "mini-xquad",
        "de",
        json.dumps({f"xquad-test-{row}": "a" for row in range(60)}).encode(),
    ),
    (
        "hf",
        "predict_nbest_predictions.json",
        "mini-xquad",
        "de",
        json.dumps(
            {f"xquad-test-{row}": [{"text": "a", "probability": 0.9}, {"text": "b"}] for row in range(60)}
        ).encode(),
    ),
    (
        "hf",
        "predict_results.txt",
        "mini-xnli",
        "de",
        b"index\tprediction\n" + b"".join(b"%d\tneutral\n" % row for row in range(60)),
    ),
    ("hf", "predictions.txt", "mini-wikiann", "de", b"O B-PER I-PER\n" * 60),
    ("hf", "predictions.json", "mini-xnli", "de", json.dumps([0, 1, 2] * 20).encode()),
    (
        "lm-eval",
        "samples_xnli_de_2025.jsonl",
        "mini-xnli",
        "de",
        lines(
            [
                {
                    "doc_id": row,
                    "doc": DOC,
                    "target": "0",
                    "resps": [[["-1", "False"]]] * 3,
                    "filtered_resps": [["-1", "False"], ["-2", "False"], ["-3", "True"]],
                    "filter": "none",
                }
                for row in range(60)
            ]
        ),
    ),
    (
        "mteb",
        "Tatoeba_predictions.json",
        "mini-tatoeba",
        "de",
        json.dumps(
            {
                "mteb_model_meta": {"model_name": "a/b", "revision": "1"},
                "deu-eng": {"test": {"sentence1-sentence2": [{"corpus_id": row, "score": 0.5} for row in range(60)]}},
            }
        ).encode(),
    ),
    (
        "mteb",
        "XQuADRetrieval_predictions.json",
        "mini-lareqa",
        "de",
        json.dumps(
            {
                "mteb_model_meta": {"model_name": "a/b"},
                "de": {"test": {f"xquad-test-{row}_de": {"de_1_0": 0.5, "de_2_0": 0.25} for row in range(60)}},
            }
        ).encode(),
    ),
    (
        "explainaboard",
        "output.json",
        "mini-xnli",
        "de",
        json.dumps(
            [
                {"id": str(row), "predicted_label": "neutral", "true_label": "neutral", "text1": "a", "text2": "b"}
                for row in range(60)
            ]
        ).encode(),
    ),
)


def test_imports(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        rng = case.rng
        tool, name, task, language, content = rng.choice(FILES)
        path = case.folder / name
        if rng.random() < 0.1:
            tool, path = "hf", case.folder / "logits.npy"
            path.write_bytes(lying_array(case, np.zeros((60, 3), np.float32)))
        else:
            content, step = spoil(rng, name, content)
            case.tell(f"{name}: {step}")
            path.write_bytes(content)
        out = case.folder / "predictions"
        labels = rng.choice(((), ("--labels", "entailment,neutral,contradiction")))
        data = rng.choice(((), ("--data", case.folder)))
        done = command(
            "import",
            rng.choice((tool, "auto")),
            path,
            "--task",
            task,
            "--language",
            language,
            "--out",
            out,
            *labels,
            *data,
        )
        check_tidy(case.folder, set())
        if done.refused and out.exists():
            raise FaultError("output", f"a refused import wrote something: {done.text[:100]}", "refused but written")
        if not done.refused:
            command("validate", out)

    campaign.run(fuzzer, share=0.05)


def test_attribute_files(campaign: Campaign, tmp_path: Path) -> None:
    root = tmp_path / "predictions"
    (root / "mini-xnli").mkdir(parents=True)
    (root / "mini-xnli/de.jsonl").write_bytes(made.json_lines(made.answers("mini-xnli", "de")))
    ids = load("mini-xnli", "de").ids
    vocabulary = ("[UNK]", "[CLS]", "[SEP]", "a", "b", "##c", "ist")
    sound: dict[str, tuple[str, Callable[[], bytes]]] = {
        "mine@values.jsonl": (
            "values.jsonl",
            lambda: lines([{"id": key, "value": row / 7} for row, key in enumerate(ids)]),
        ),
        "fertility@vocab.txt": ("vocab.txt", lambda: "".join(f"{word}\n" for word in vocabulary).encode()),
        "fertility@tokenizer.json": (
            "tokenizer.json",
            lambda: json.dumps(
                {
                    "version": "1.0",
                    "truncation": None,
                    "padding": None,
                    "added_tokens": [],
                    "normalizer": None,
                    "pre_tokenizer": {"type": "Whitespace"},
                    "post_processor": None,
                    "decoder": None,
                    "model": {
                        "type": "WordPiece",
                        "unk_token": "[UNK]",
                        "continuing_subword_prefix": "##",
                        "max_input_chars_per_word": 100,
                        "vocab": {word: row for row, word in enumerate(vocabulary)},
                    },
                }
            ).encode(),
        ),
    }

    def fuzzer(case: Case) -> None:
        word, (name, content) = case.rng.choice(list(sound.items()))
        path = case.folder / name
        spoilt, step = spoil(case.rng, name, content())
        case.tell(f"{name}: {step}")
        path.write_bytes(spoilt)
        words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "de")
        command("explain", root, *words, "--attributes", word.replace(name, str(path)), limited=False)
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.02)
