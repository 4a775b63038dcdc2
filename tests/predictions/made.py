"""Write a small but complete data folder with gold for some tasks."""

import json
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError
from isogloss.predictions.importers import import_files

LABELS = ("entailment", "neutral", "contradiction")


def write_jsonl(path: Path, answers: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": key, "prediction": value}) for key, value in answers.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def xnli_dev(data: Path, language: str = "en") -> list[str]:
    """Write XNLI dev in XTREME's layout and return the labels."""
    path = data / f"xnli/dev-{language}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    labels = [LABELS[i % 3] for i in range(2490)]
    path.write_text("".join(f"p{i}\th{i}\t{label}\n" for i, label in enumerate(labels)))
    return labels


def xquad(data: Path, language: str = "en") -> dict[str, str]:
    """Write XQuAD and return the answers by id."""
    answers = {f"q{i}": f"word{i % 7} thing{i % 5}" for i in range(1190)}
    paragraphs = [
        {
            "context": f"Here is {answer}.",
            "qas": [{"id": key, "question": "What?", "answers": [{"text": answer, "answer_start": 8}]}],
        }
        for key, answer in answers.items()
    ]
    path = data / f"xquad/xquad.{language}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))
    return answers


def wikiann_dev(data: Path, language: str = "qu") -> list[list[str]]:
    """Write WikiANN dev in XTREME's layout (Quechua has 100 sentences) and return the tags."""
    tags = [["B-PER", "I-PER", "O"] if i % 2 else ["O", "B-LOC"] for i in range(100)]
    path = data / f"panx/dev-{language}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    sentences = ["".join(f"w{k}\t{tag}\n" for k, tag in enumerate(sentence)) for sentence in tags]
    path.write_text("\n".join(sentences))
    return tags


def tatoeba(data: Path) -> None:
    """Write Tatoeba Javanese: 205 pairs, with the English side not in alphabetical order."""
    folder = data / "tatoeba"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tatoeba.jav-eng.eng").write_text("".join(f"{(i * 37) % 205:03d} english\n" for i in range(205)))
    (folder / "tatoeba.jav-eng.jav").write_text("".join(f"jawa {i}\n" for i in range(205)))


def bucc_dev(data: Path, dimension: int = 16) -> None:
    """Write the BUCC zh-en sample: 300 Chinese and 400 English sentences, 257 pairs (zh-i, en-i)."""
    folder = data / "bucc2018"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zh-en.dev.zh").write_text("".join(f"zh-{i}\tsentence {i}\n" for i in range(300)))
    (folder / "zh-en.dev.en").write_text("".join(f"en-{i}\tenglish {i}\n" for i in range(400)))
    (folder / "zh-en.dev.gold").write_text("".join(f"zh-{i}\ten-{i}\n" for i in range(257)))


def imported(tool: str, path: Path, task: str, language: str = "en", **options: Any) -> dict[str, Any]:
    """Return the answers that an importer reads, by id."""
    answers = import_files(tool, [path], task, language, **options)
    return dict(zip(answers.ids, answers.values, strict=True))


def import_refusal(tool: str, path: Path, task: str, language: str = "en", **options: Any) -> str:
    """Return the error message of an importer."""
    with pytest.raises(IsoglossError) as caught:
        import_files(tool, [path], task, language, **options)
    return str(caught.value)
