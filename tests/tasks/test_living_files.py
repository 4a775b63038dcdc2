"""Ids, labels and shared sentences of the suite `living` in the real files, against counts made without isogloss."""

from pathlib import Path

import pytest

import isogloss
from isogloss.tasks.examples import Examples


def sets_of(data_dir: Path, name: str, split: str) -> dict[str, Examples]:
    """Load a task in all languages."""
    if not (data_dir / isogloss.task(name).layouts[0].test.partition("/")[0]).is_dir():
        pytest.skip(f"the data folder has no {name}")
    return {code: isogloss.load(name, code, split, data=data_dir) for code in isogloss.task(name).languages}


@pytest.mark.parametrize("name", ["sib200", "nusax"])
def test_translations_have_the_same_ids_and_labels(data_dir: Path, name: str) -> None:
    sets = sets_of(data_dir, name, "test")
    labels = {code: dict(zip(each.ids, each["label"], strict=True)) for code, each in sets.items()}
    assert all(each.units == each.ids and len(set(each.ids)) == len(each) for each in sets.values())
    assert all(one == labels["en"] for one in labels.values())


def test_texts_of_sib200_in_two_splits(data_dir: Path) -> None:
    test, train = (sets_of(data_dir, "sib200", split) for split in ("test", "train"))
    shared = {code: len({*test[code]["text"]} & {*train[code]["text"]}) for code in test}
    assert {code: count for code, count in shared.items() if count} == dict.fromkeys(
        ("ary", "azb", "dyu", "kbp", "lua", "sat"), 1
    )
    assert all(len({*each["text"]}) == 204 for each in test.values())


@pytest.mark.slow
def test_sentences_shared_by_masakhaner_and_masakhapos(data_dir: Path) -> None:
    ner, pos, ner_train, pos_train = (
        {code: each.clusters or [] for code, each in sets_of(data_dir, name, split).items()}
        for split in ("test", "train")
        for name in ("masakhaner", "masakhapos")
    )

    def inside(some: dict[str, list[str]], others: dict[str, list[str]]) -> int:
        return sum(cluster in found for code in some for found in [{*others[code]}] for cluster in some[code])

    assert sum(len({*clusters}) for clusters in ner.values()) == 30309
    assert inside(pos, ner) == 5450
    assert inside(pos, ner_train) == 907
    assert inside(ner, ner_train) == 865
    assert inside(pos, pos_train) == 28
