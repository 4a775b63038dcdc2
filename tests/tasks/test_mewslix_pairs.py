"""Mewsli-X's training file: mentions in English Wikipedia, each with its entity."""

import json
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.errors import DataError


def pair(identifier: str, text: str, mention: str, entity: str, description: str) -> dict[str, Any]:
    start = text.index(mention)
    span = {"start": start, "end": start + len(mention), "text": mention}
    context = {"document_id": "Q1", "language": "en", "text": text, "sentence_spans": [{"start": 0, "end": len(text)}]}
    return {
        "contextual_mention": {
            "context": {**context, "section_title": "History"},
            "mention": {"example_id": identifier, "mention_span": span, "entity_id": entity},
        },
        "entity": {
            "entity_id": entity,
            "title": mention,
            "description": description,
            "description_language": "en",
            "sentence_spans": [{"start": 0, "end": len(description)}],
        },
    }


def written(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "mewslix/wikipedia_pairs-train.jsonl"
    path.parent.mkdir()
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder


def test_pairs_are_read_like_the_test_set(tmp_path: Path) -> None:
    records = [
        pair("m1", "We saw Oslo\nat night.", "Oslo", "Q585", "Oslo is a city."),
        pair("m2", "A fjord near Oslo.", "fjord", "Q45776", "A fjord is an inlet."),
        pair("m3", "Oslo has a port.", "Oslo", "Q585", "Oslo is a city."),
    ]
    train = isogloss.load("mewslix", "en", "train", written(tmp_path, records), allow_partial=True)
    assert train["text"] == [
        "Oslo: We saw { Oslo } at night.",
        "fjord: A { fjord } near Oslo.",
        "Oslo: { Oslo } has a port.",
    ]
    assert train["targets"] == [["Q585"], ["Q45776"], ["Q585"]]
    assert train.pool is not None
    assert list(train.pool.ids) == ["Q585", "Q45776"]
    assert list(train.pool.text) == ["Oslo is a city.", "A fjord is an inlet."]
    assert list(train.pool.languages) == ["en", "en"]


def test_short_file_is_refused_as_training_set(tmp_path: Path) -> None:
    data = written(tmp_path, [pair("m1", "We saw Oslo.", "Oslo", "Q585", "Oslo is a city.")])
    with pytest.raises(DataError, match="1 examples, but mewslix/en train has 167719"):
        isogloss.load("mewslix", "en", "train", data)


def test_only_english_has_one(tmp_path: Path) -> None:
    data = written(tmp_path, [pair("m1", "We saw Oslo.", "Oslo", "Q585", "Oslo is a city.")])
    with pytest.raises(DataError, match="no train file of mewslix/de"):
        isogloss.load("mewslix", "de", "train", data)
