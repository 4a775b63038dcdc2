"""Projected tags on hand-made translations, in both directions, and through files."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from isogloss.errors import DataError, PredictionError
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, regime
from isogloss.translation.alignment import spelling_aligner
from isogloss.translation.back_projection import project_back
from isogloss.translation.lines import LineTranslator
from isogloss.translation.projection import SpanProjector
from isogloss.translation.tag_projection import (
    TaggedTranslation,
    TranslatedSentence,
    gold_tags,
    project_tags,
    tags_back,
)
from isogloss.translation.translate import translate, write_untranslated
from isogloss.translation.translated_files import translated_test_set, translated_training_set, translation_path
from isogloss.translation.translation_records import record_path

WIKIANN, UDPOS = task("wikiann"), task("udpos")
WORDS = {"Maria": "Maria", "saw": "vio", "New": "Nueva", "York": "York", "old": "vieja"}
SENTENCES = {
    "Maria saw New York": "Maria vio Nueva York",
    "old New York": "Nueva York vieja",
    "New York": "Nueva York",
    "Maria saw": "Maria vio",
}


def spanish(lines: Sequence[str]) -> list[str]:
    """Translate known texts and words, and carry square brackets along."""

    def one(line: str) -> str:
        bare = line.replace("[", "").replace("]", "")
        if bare == line or bare not in SENTENCES:
            return SENTENCES.get(line, WORDS.get(line, ""))
        inside = line.partition("[")[2].partition("]")[0]
        place = SENTENCES.get(inside, WORDS.get(inside, ""))
        return SENTENCES[bare].replace(place, f"[{place}]")

    return list(map(one, lines))


def projected(name: str, text: str, tags: str, translation: str) -> TaggedTranslation:
    tokens = text.split()
    offsets, position = [], 0
    for token in tokens:
        offsets.append((position, position + len(token)))
        position += len(token) + 1
    lines = LineTranslator(spanish)
    align = spelling_aligner(lines.dictionary)
    sentence = TranslatedSentence(text, tokens, offsets, tags.split(), translation)
    return project_tags(task(name), [sentence], SpanProjector(lines, align), align)[0]


def test_entities_move_by_markers() -> None:
    found = projected("wikiann", "old New York", "O B-LOC I-LOC", "Nueva York vieja")
    assert found == (["Nueva", "York", "vieja"], ["B-LOC", "I-LOC", "O"], ["markers"])


def test_sentence_with_a_lost_entity_loses_its_tags() -> None:
    found = projected("wikiann", "Maria saw New York", "B-PER O B-LOC I-LOC", "Maria vio la ciudad")
    assert (found.tags, found.steps) == (None, ["exact", "lost"])


def test_two_entities_do_not_share_words() -> None:
    found = projected("wikiann", "Maria saw Maria", "B-PER O B-PER", "Maria vio")
    assert (found.tags, found.steps) == (None, ["exact", "lost"])


def test_words_are_cut_at_entities() -> None:
    found = projected("wikiann", "Maria saw", "B-PER O", "Mariavio")
    assert (found.tokens, found.tags) == (["Maria", "vio"], ["B-PER", "O"])


def test_parts_of_speech_move_along_alignments() -> None:
    found = projected("udpos", "old New York", "ADJ PROPN PROPN", "Nueva York vieja")
    assert found == (["Nueva", "York", "vieja"], ["PROPN", "PROPN", "ADJ"], ["alignment"] * 3)
    found = projected("udpos", "Maria saw New York", "PROPN VERB PROPN PROPN", "Maria vio a Nueva York")
    assert found.tags == ["PROPN", "VERB", None, "PROPN", "PROPN"]
    assert gold_tags(UDPOS, found.tags) == ["PROPN", "VERB", "X", "PROPN", "PROPN"]
    assert gold_tags(WIKIANN, ["O", None]) is None
    assert found.steps.count("lost") == 1
    # 3 of 5 words are aligned: too few.
    found = projected("udpos", "Maria saw New York", "PROPN VERB PROPN PROPN", "Maria vio algo muy York")
    assert (found.tags, found.steps.count("lost")) == (None, 2)


def test_tags_return_to_the_original() -> None:
    pairs = [(0, 2), (1, 0), (2, 1)]
    assert tags_back(UDPOS, ["PROPN", "PROPN", "ADJ"], pairs, 4) == (
        ["ADJ", "PROPN", "PROPN", "X"],
        ["alignment"] * 3 + ["lost"],
    )
    assert tags_back(WIKIANN, ["B-LOC", "I-LOC", "O"], pairs, 4) == (["O", "B-LOC", "I-LOC", "O"], ["alignment"])
    assert tags_back(WIKIANN, ["B-LOC", "I-LOC", "O"], [], 4) == (["O"] * 4, ["lost"])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """English training sentences, and Spanish dev sentences."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    (tmp_path / "panx").mkdir()
    train = "old\tO\nNew\tB-LOC\nYork\tI-LOC\n\nMaria\tB-PER\nsaw\tO\n\nUnknown\tB-PER\n\n"
    (tmp_path / "panx/train-en.tsv").write_text(train)
    (tmp_path / "panx/dev-jv.tsv").write_text("York\tB-LOC\nvieja\tO\n\n" * 100)
    return tmp_path


def test_training_set_with_projected_entities(data: Path) -> None:
    path = translate(WIKIANN, "es", "train", data, spanish)
    train = regime("translate-train").training(WIKIANN, Fit(("es",), "es"), data, 0)
    assert train["tokens"] == [["Nueva", "York", "vieja"], ["Maria", "vio"]]
    assert train["tags"] == [["B-LOC", "I-LOC", "O"], ["B-PER", "O"]]
    assert train["offsets"][0] == [(0, 5), (6, 10), (11, 16)]
    assert train.notes == [
        "tags: 2 of 3 projected (markers 2), 1 lost (33.3%)",
        "1 of 3 sentences dropped: too few tags could be projected",
    ]
    counts = json.loads(record_path(path).read_text())
    assert (counts["unit"], counts["total"], counts["dropped"]) == ("entities", 3, 1)
    assert counts["steps"] == {"markers": 2, "lost": 1}


def test_damaged_tags_are_reported(data: Path) -> None:
    path = translate(WIKIANN, "es", "train", data, spanish)
    whole = path.read_text()
    path.write_text(whole.replace('"B-LOC","I-LOC","O"', '"B-LOC"'))
    with pytest.raises(DataError, match="1 tags for 3 words"):
        translated_training_set(WIKIANN, "es", data)
    path.write_text(whole.replace('["Nueva","York"', '["York","Nueva"'))
    with pytest.raises(DataError, match="do not occur in 'text' in this order"):
        translated_training_set(WIKIANN, "es", data)


def test_by_hand_has_words_and_tags(data: Path, tmp_path: Path) -> None:
    [(path, _)] = write_untranslated(WIKIANN, "es", "train", data, tmp_path / "todo.jsonl")
    assert json.loads(path.read_text().splitlines()[0]).keys() == {"id", "text", "tokens", "tags"}
    translation_path(WIKIANN, "es", "train", data).parent.mkdir(parents=True)
    path.rename(translation_path(WIKIANN, "es", "train", data))
    assert translated_training_set(WIKIANN, "es", data)["tags"] == load(WIKIANN, "en", "train", data)["tags"]


def test_predicted_tags_return_from_the_translation(data: Path) -> None:
    english = {"York vieja": "old York", "York": "York", "vieja": "old"}
    path = translate(WIKIANN, "jv", "dev", data, lambda lines: [english[line] for line in lines])
    translated, originals = translated_test_set(WIKIANN, "jv", "dev", data), load(WIKIANN, "jv", "dev", data)
    assert translated["tokens"][0] == ["old", "York"]
    assert "tags" not in translated.columns
    back, note = project_back(WIKIANN, originals, translated, [["O", "B-LOC"]] * 99 + [None])
    assert back == [["B-LOC", "O"]] * 99 + [None]
    assert note == "tags projected back to the original: 99 of 99 projected (alignment 99), 0 lost (0.0%)"
    with pytest.raises(PredictionError, match="1 tags for 2 tokens"):
        project_back(WIKIANN, originals, translated, [["O"]] * 100)
    with pytest.raises(PredictionError, match="not spans"):
        project_back(WIKIANN, originals, translated, [[(0, 3, "LOC")]] * 100)
    path.write_text(path.read_text().replace("0-1 1-0", "0-1 1-7"))
    translated = translated_test_set(WIKIANN, "jv", "dev", data)
    with pytest.raises(DataError, match="alignment does not match"):
        project_back(WIKIANN, originals, translated, [["O", "B-LOC"]] * 100)
