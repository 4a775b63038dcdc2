"""TyDiQA's dev split: cut from its training files, the same everywhere, and never trained on."""

import json
from binascii import crc32
from pathlib import Path

import pytest

from isogloss.errors import MissingDataError
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, regime

TYDIQA = task("tydiqa")
COUNT = 100


def questions(name: str, *, numbered: bool = True, texts: tuple[str, ...] = ()) -> str:
    """Return two questions on each of `COUNT` passages."""
    articles = []
    for n in range(COUNT):
        context = texts[n] if texts else f"{name} passage {n}"
        answers = [{"text": context, "answer_start": 0}]
        qas = [{"id": f"{name}-{n}-{m}" if numbered else str(m), "question": "q", "answers": answers} for m in range(2)]
        articles.append({"title": f"article {n // 10}", "paragraphs": [{"context": context, "qas": qas}]})
    return json.dumps({"data": articles})


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    put(tmp_path / "tydiqa_goldp/english_tydiqa_train.json", questions("english"))
    return tmp_path


# By another implementation of the checksum than the package uses.
WANTED = [n for n in range(COUNT) if crc32(f"english passage {n}".encode()) % 10 == 0]
DEV_IDS = [f"english-{n}-{m}" for n in WANTED for m in range(2)]


def test_dev_is_a_tenth_of_the_passages(data: Path) -> None:
    dev, train = load(TYDIQA, "en", "dev", data), load(TYDIQA, "en", "train", data)
    assert 5 < len(WANTED) < 15
    assert (dev.ids, dev.split, dev.has_gold) == (DEV_IDS, "dev", True)
    assert dev.checksum != train.checksum
    assert len(train) == 2 * COUNT  # as published
    assert dev.notes == [f"dev is {len(DEV_IDS)} of the 200 training examples; regimes leave them out of training"]


def test_regimes_train_on_the_rest(data: Path) -> None:
    rest = regime("zero-shot").training(TYDIQA, Fit(("ko",)), data, 0)
    whole = regime("zero-shot").training(TYDIQA, Fit(("ko",)), data, 0, whole=True)
    assert {*rest.ids} | {*DEV_IDS} == {*whole.ids}
    assert not {*rest.ids} & {*DEV_IDS}
    assert rest.checksum != whole.checksum
    assert rest.notes == [f"{len(DEV_IDS)} of 200 examples are the dev split and left out"]


def test_translations_of_dev_are_left_out_by_id(data: Path) -> None:
    translated = questions("english", texts=tuple(f"käännös {n}" for n in range(COUNT)))
    put(data / "TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-fi.json", translated)
    for name in ("translate-train", "translate-train-all"):
        train = regime(name).training(TYDIQA, Fit(("fi",), "fi"), data, 0)
        assert not {identifier.rpartition(":")[2] for identifier in train.ids} & {*DEV_IDS}
    assert len(train) == 2 * (200 - len(DEV_IDS))


def test_split_does_not_depend_on_the_layout(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "scripts"
    folder = other / "tydiqa/tydiqa-goldp-v1.1-train"
    put(folder / "tydiqa.goldp.en.train.json", questions("english", numbered=False))
    ours, theirs = load(TYDIQA, "en", "dev", data), load(TYDIQA, "en", "dev", other)
    assert list(ours["context"]) == list(theirs["context"])
    put(folder / "tydiqa-goldp-v1.1-train.json", questions("english"))
    assert load(TYDIQA, "en", "dev", other).ids == DEV_IDS


def test_set_of_one_passage_is_not_cut(tmp_path: Path) -> None:
    put(tmp_path / "tydiqa_goldp/english_tydiqa_train.json", questions("english", texts=("same",) * COUNT))
    with pytest.raises(MissingDataError, match="too small to cut a dev split"):
        load(TYDIQA, "en", "dev", tmp_path)
    assert len(regime("zero-shot").training(TYDIQA, Fit(("ko",)), tmp_path, 0)) == 200


def test_sizes_of_the_real_files(data_dir: Path) -> None:
    for language, dev, train in (("en", 363, 3696), ("ko", 164, 1625), ("sw", 251, 2755)):
        cut = load(TYDIQA, language, "dev", data_dir)
        assert (len(cut), len(load(TYDIQA, language, "train", data_dir))) == (dev, train)
        rest = regime("in-language").training(TYDIQA, Fit((language,), language), data_dir, 0)
        assert len(rest) == train - dev
        assert not {*rest["context"]} & {*cut["context"]}
