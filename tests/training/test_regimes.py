"""Regimes: fits, training sets, refusals and skipped cells."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import DataError, UnknownNameError
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.shipped import SHIPPED
from isogloss.training.regimes import REGIMES, Fit, joined, regime

UDPOS, TYDIQA, XNLI = map(task, ("udpos", "tydiqa", "xnli"))


def tagged(root: Path, language: str, split: str, *sentences: str) -> None:
    """A file of `word/TAG` sentences in XTREME's layout."""
    path = root / "udpos" / f"{split}-{language}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ("\n".join(word.replace("/", "\t") for word in sentence.split()) + "\n\n" for sentence in sentences)
    path.write_text("".join(lines), encoding="utf-8")


def asked(root: Path, name: str, count: int) -> None:
    """A TyDiQA file of questions about numbers."""
    qas = [
        {"id": f"{name}-{n}", "question": f"{n}?", "answers": [{"text": str(n), "answer_start": 4}]}
        for n in range(count)
    ]
    paragraphs = [{"context": f"the {n} one", "qas": [qa]} for n, qa in enumerate(qas)]
    path = root / "tydiqa_goldp" / f"{name}_tydiqa_train.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"data": [{"paragraphs": paragraphs}]}))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """UD-POS in English, German and Finnish; TyDiQA in English, Korean and Swahili."""
    tagged(tmp_path, "en", "train", "a/DET dog/NOUN", "dogs/NOUN bark/VERB", "red/ADJ")
    tagged(tmp_path, "de", "train", "ein/DET Hund/NOUN")
    tagged(tmp_path, "fi", "train", "koira/NOUN haukkuu/VERB", "se/PRON")
    for name, count in (("english", 30), ("korean", 1200), ("swahili", 20)):
        asked(tmp_path, name, count)
    return tmp_path


@pytest.mark.parametrize("name", ["zero-shot", "translate-test", "translate-train-all", "in-language-all"])
def test_one_fit_serves_all_languages(name: str) -> None:
    assert regime(name).fits(("de", "sw")) == [Fit(("de", "sw"))]
    assert regime(name).fits(()) == []


@pytest.mark.parametrize("name", ["translate-train", "in-language", "in-language-1000"])
def test_each_language_has_its_own_fit(name: str) -> None:
    assert regime(name).fits(("de", "sw")) == [Fit(("de",), "de"), Fit(("sw",), "sw")]


def test_zero_shot_trains_on_english(data: Path) -> None:
    train = regime("zero-shot").training(UDPOS, Fit(("de",)), data, 0)
    whole = load("udpos", "en", "train", data)
    assert (train.ids, train.checksum, train.language) == (whole.ids, whole.checksum, "en")
    assert "language" not in train.columns


def test_in_language_trains_on_the_language(data: Path) -> None:
    train = regime("in-language").training(UDPOS, Fit(("fi",), "fi"), data, 0)
    assert train["tokens"] == [["koira", "haukkuu"], ["se"]]
    with pytest.raises(DataError, match="no train file of udpos/et") as caught:
        regime("in-language").training(UDPOS, Fit(("et",), "et"), data, 0)
    assert not caught.value.where  # nothing is damaged: the cell is skipped


def test_sources_are_joined_in_order(data: Path) -> None:
    train = regime("multi-source:en,de").training(UDPOS, Fit(("fi",)), data, 0)
    assert train.language == "de+en"
    assert train.ids == ["de:train-0", "en:train-0", "en:train-1", "en:train-2"]
    assert train["tokens"][0] == ["ein", "Hund"]
    assert train["tags"][-1] == ["ADJ"]
    assert train["text"] == ["ein Hund", "a dog", "dogs bark", "red"]
    assert train["language"] == ["de", "en", "en", "en"]
    assert [Path(source).name for source in train.sources] == ["train-de.tsv", "train-en.tsv"]
    parts = {load("udpos", code, "train", data).checksum for code in ("de", "en")}
    assert train.checksum not in parts
    assert train.checksum != regime("multi-source:en,fi").training(UDPOS, Fit(("fi",)), data, 0).checksum


def test_joined_questions_can_be_selected(data: Path) -> None:
    """The articles of one part do not describe the others."""
    parts = [load("tydiqa", code, "train", data) for code in ("en", "sw")]
    for part in parts:
        part.clusters = ["article"] * len(part)
    together = joined(parts)
    assert together.keep([len(together) - 1]).ids == ["sw:swahili-19"]


def test_error_names_source_without_training_set(data: Path) -> None:
    with pytest.raises(DataError, match="udpos/ar"):
        regime("multi-source:en,ar").training(UDPOS, Fit(("fi",)), data, 0)
    with pytest.raises(DataError, match="udpos has no sw training set"):
        regime("multi-source:en,sw").training(UDPOS, Fit(("fi",)), data, 0)


def test_all_uses_available_languages(data: Path) -> None:
    fit = Fit(("fi", "et"))
    train = regime("in-language-all").training(UDPOS, fit, data, 0)
    assert train.language == "en+de+fi"
    assert len(train) == 6
    assert train.notes == ["3 of 38 languages have one: en, de, fi"]
    (data / "udpos" / "train-de.tsv").unlink()
    (data / "udpos" / "train-fi.tsv").unlink()
    with pytest.raises(DataError, match="only en is available"):
        regime("in-language-all").training(UDPOS, fit, data, 0)


def test_all_raises_on_damaged_data(data: Path) -> None:
    (data / "udpos" / "train-de.tsv").write_text("ein\tDET\nHund\n\n")
    with pytest.raises(DataError, match="2 words has 1 tags"):
        regime("in-language-all").training(UDPOS, Fit(("fi",)), data, 0)


def test_limit_is_drawn_by_the_seed(data: Path) -> None:
    def drawn(seed: int) -> Any:
        return regime("in-language-1000").training(TYDIQA, Fit(("ko",), "ko"), data, seed)

    first, second, whole = drawn(0), drawn(1), load("tydiqa", "ko", "train", data)
    assert len(first) == len(set(first.ids)) == 1000
    assert set(first.ids) < set(whole.ids)
    assert [whole.ids.index(identifier) for identifier in first.ids] == sorted(map(whole.ids.index, first.ids))
    assert [answers[0] for answers in first["answers"]] == [identifier.split("-")[1] for identifier in first.ids]
    assert first.ids == drawn(0).ids != second.ids
    assert len({first.checksum, second.checksum, whole.checksum}) == 3
    left = 1200 - len(load("tydiqa", "ko", "dev", data))
    assert first.notes[1:] == [f"1,000 of {left:,} examples, drawn with seed 0"]
    few = regime("in-language-7")
    assert (few.name, len(few.training(TYDIQA, Fit(("ko",), "ko"), data, 0))) == ("in-language-7", 7)
    top = regime("in-language-first-7")
    taken = top.training(TYDIQA, Fit(("ko",), "ko"), data, 3, whole=True)
    assert (top.name, taken.ids) == ("in-language-first-7", whole.ids[:7])
    assert taken.notes == ["7 of 1,200 examples, the first of the file"]
    small = regime("in-language-1000").training(TYDIQA, Fit(("sw",), "sw"), data, 0)
    assert not any("drawn" in note for note in small.notes)


@pytest.mark.parametrize("name", ["xnli", "pawsx"])
def test_machine_translated_training_sets_are_not_in_language(name: str) -> None:
    with pytest.raises(DataError, match="only a machine-translated"):
        regime("in-language").training(task(name), Fit(("de",), "de"), None, 0)


def test_untranslatable_tasks_are_refused_with_reason() -> None:
    tasks = list(SHIPPED.values())
    refused = {name: {one.id for one in tasks if regime(name).refusal(one)} for name in REGIMES}
    retrieval = {"tatoeba", "bucc", "lareqa", "mewslix"}
    assert refused.pop("translate-train") == refused.pop("translate-train-all") == retrieval
    questions = {"xquad", "mlqa", "tydiqa"}
    assert refused.pop("translate-test-xtreme") == {one.id for one in tasks} - questions
    assert not any(refused.values())
    assert "generated in every language" in regime("translate-test").refusal(task("checklist-comparisons"))
    assert "does not depend on the text" in regime("translate-test-xtreme").refusal(XNLI)
    assert "projects tags back" in regime("translate-test-xtreme").refusal(UDPOS)
    # A retriever that learns from questions can learn from translated ones.
    assert not regime("translate-train").refusal(task("lareqa"), task("xquad"))


@pytest.mark.parametrize(
    "name", ["few-shot", "in-language-0", "in-language-01", "in-language-x", "multi", "multi-source", "multi-source:"]
)
def test_unknown_regime_raises(name: str) -> None:
    with pytest.raises(UnknownNameError, match="regime"):
        regime(name)


def test_unknown_source_raises() -> None:
    with pytest.raises(UnknownNameError, match="language 'xx'"):
        regime("multi-source:en,xx")


@given(st.lists(st.sampled_from(["en", "de", "sw", "zh"]), min_size=1))
def test_order_of_sources_does_not_matter(codes: list[str]) -> None:
    found = regime("multi-source:" + ",".join(codes))
    assert found.sources == tuple(sorted(set(codes)))
    assert regime(found.name) == found
    assert found.name.replace("-", "").isalpha()  # usable as a folder name


def test_joined_training_sets_of_real_languages(data_dir: Path) -> None:
    sizes = {code: len(load("tydiqa", code, "train", data_dir)) for code in ("en", "ko", "sw")}
    assert sizes == {"en": 3696, "ko": 1625, "sw": 2755}
    together = regime("in-language-all").training(TYDIQA, Fit(("ko", "fi")), data_dir, 0)
    assert together.language == "en+ko+sw"
    assert len(set(together.ids)) == len(together) == 8076 - 778  # without the dev splits
    first = sizes["en"] - 363
    held_out = {*load("tydiqa", "ko", "dev", data_dir).ids}
    korean = load("tydiqa", "ko", "train", data_dir)
    kept = next(row for row, identifier in enumerate(korean.ids) if identifier not in held_out)
    assert together["question"][first] == korean["question"][kept]
    assert together["language"][first - 1 : first + 1] == ["en", "ko"]
