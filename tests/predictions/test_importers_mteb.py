"""Import of mteb's predictions: scores become rankings; answers to other tasks raise."""

import json
import math
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.command import cell, isogloss, scored, values, write, write_xtreme
from isogloss.predictions.importers import import_files
from isogloss.predictions.importers.mteb import DEPTH, rank
from predictions.made import import_refusal, imported, tatoeba

META = {"mteb_model_meta": {"model_name": "somebody/something", "revision": "1"}}
IDS = st.text("0123456789ab", min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)


def saved(path: Path, **subsets: Any) -> Path:
    return write(path, json.dumps({**META, **{name.replace("_", "-"): split for name, split in subsets.items()}}))


answers, refusal = partial(imported, "mteb"), partial(import_refusal, "mteb")


# ---------------------------------------------------------------------------------------------------------- rankings


def test_tied_scores_are_ordered_by_id() -> None:
    assert rank({"b": 1.0, "a": 1.0, "10": 1.0, "9": 1.0, "c": 2.0}) == ["c", "9", "10", "a", "b"]


@given(st.dictionaries(IDS, st.integers(-3, 3).map(float), max_size=30))
def test_ranking_has_decreasing_scores_and_all_ids(scores: dict[str, float]) -> None:
    ranked = rank(scores)
    assert sorted(ranked) == sorted(scores)
    assert all(scores[a] >= scores[b] for a, b in pairwise(ranked))


@given(st.dictionaries(IDS, st.integers(-3, 3).map(float), max_size=30), st.randoms(use_true_random=False))
def test_ranking_is_independent_of_file_order(scores: dict[str, float], random: Any) -> None:
    shuffled = list(scores.items())
    random.shuffle(shuffled)
    assert rank(dict(shuffled)) == rank(scores)


@given(st.dictionaries(IDS, st.floats(-3, 3), min_size=2, max_size=30), st.integers(1, 5))
def test_shallow_ranking_is_a_prefix_of_a_deep_one(scores: dict[str, float], depth: int) -> None:
    assert rank(scores, depth) == rank(scores)[:depth]


# ------------------------------------------------------------------------------------------------------------- files


def test_rankings_score_as_computed_by_hand(tmp_path: Path) -> None:
    write_xtreme(tmp_path / "gold", "lareqa", "de", json.dumps({"q1": ["a", "b"], "q2": ["c", "d"]}))
    file = saved(
        tmp_path / "Mine_predictions.json",
        de={"test": {"q1": {"x": 0.9, "a": 0.8, "b": 0.7}, "q2": {"d": 1, "y": 0.5, "z": 0.4, "c": 0.1}}},
        en={"test": {"q3": {"a": 1.0}}},
    )
    assert isogloss("import", "auto", file, "-t", "lareqa", "-l", "de", "-o", tmp_path / "preds").code == 0
    record = scored(tmp_path / "preds", "--gold", tmp_path / "gold", "--tasks", "lareqa")
    # (1/2 + 2/3) / 2 and (1/1 + 2/4) / 2
    expected = 100 * ((1 / 2 + 2 / 3) / 2 + (1 + 2 / 4) / 2) / 2
    assert values(cell(record, "lareqa", "de")["metrics"])["map@20"] == pytest.approx(expected)


def test_deep_rankings_are_cut_with_a_note(tmp_path: Path) -> None:
    file = saved(tmp_path / "p.json", default={"test": {"q": {f"d{i}": -float(i) for i in range(DEPTH + 1)}}})
    found = import_files("mteb", [file], "mewslix", "de")
    assert found.values == [[f"d{i}" for i in range(DEPTH)]]
    assert any(f"cut at {DEPTH}" in note for note in found.notes)


def test_version_1_writes_one_file_per_subset(tmp_path: Path) -> None:
    file = write(tmp_path / "Mine_de_predictions.json", json.dumps({"q": {"a": 0.1, "b": 0.2}}))
    assert import_files("auto", [file], "lareqa", "de").values == [["b", "a"]]


def test_the_validation_split_is_dev(tmp_path: Path) -> None:
    file = saved(tmp_path / "p.json", fas={"test": {"q": {"a": 1}}, "validation": {"q": {"b": 1}}})
    assert answers(file, "mewslix", "fa") == {"q": ["a"]}
    assert answers(file, "mewslix", "fa", split="dev") == {"q": ["b"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"task_name": "Tatoeba", "mteb_version": "2", "scores": {}}, "only scores, no predictions"),
        ({**META, "fr": {"test": {}}}, "no subset for de. The file has fr"),
        ({**META}, "no subset for de. The file has none"),
        ({**META, "de": {}, "deu": {}}, "several subsets for de. The file has de, deu"),
        ({**META, "de": {"dev": {}}}, "no test split in subset 'de'. It has dev"),
        ({**META, "de": []}, "no test split in subset 'de'. It has none"),
        ({**META, "de": {"test": {}}}, "no rankings in 'de', 'test'"),
        ({**META, "de": {"test": [1]}}, "no rankings in 'de', 'test'"),
        ({**META, "de": {"test": {"q": "a"}}}, "(query 'q'): expected scores by document id"),
        ({**META, "de": {"test": {"q": {"a": math.nan}}}}, "(query 'q'): expected a number as score of 'a', got nan"),
        ({**META, "de": {"test": {"q": {"a": "1"}}}}, "(query 'q'): expected a number as score of 'a', got '1'"),
        (["a"], "expected a JSON object of subsets"),
    ],
)
def test_other_files_raise_with_the_reason(tmp_path: Path, content: Any, message: str) -> None:
    assert message in refusal(write(tmp_path / "p.json", json.dumps(content)), "lareqa", "de")


def test_long_lists_of_names_are_cut(tmp_path: Path) -> None:
    file = saved(tmp_path / "p.json", **{f"s{i}": {} for i in range(200)})
    assert refusal(file, "lareqa", "de").endswith("s19, …")


# ------------------------------------------------------------------------------------------------------ bitext mining


def neighbours(*places: int) -> dict[str, Any]:
    return {"test": {"sentence1-sentence2": [{"corpus_id": place, "score": 0.5} for place in places]}}


def test_neighbours_of_english_sentences_are_answers(tmp_path: Path) -> None:
    tatoeba(tmp_path / "data")
    file = saved(tmp_path / "p.json", eng_jav=neighbours(*range(204, -1, -1)))
    found = answers(file, "tatoeba", "jv", data=tmp_path / "data")
    assert found == {str(i): [str(204 - i)] for i in range(205)}
    stranger = saved(tmp_path / "s.json", eng_jav=neighbours(*range(204), 205))
    assert "candidate '205' is not in the pool" in refusal(stranger, "tatoeba", "jv", data=tmp_path / "data")


def test_tatoeba_of_mteb_has_the_opposite_direction(tmp_path: Path) -> None:
    message = refusal(saved(tmp_path / "p.json", deu_eng=neighbours(0, 1)), "tatoeba", "de")
    assert "from 'deu' to English, but tatoeba goes from English to de" in message
    assert "queries-de.npy" in message


def test_neighbours_answer_only_tatoeba(tmp_path: Path) -> None:
    file = saved(tmp_path / "p.json", eng_deu=neighbours(0))
    assert "bitext neighbours do not answer lareqa" in refusal(file, "lareqa", "de")
    assert "known to have a translation" in refusal(file, "bucc", "de")
    assert "mteb does not save predictions for xnli" in refusal(file, "xnli", "de")
    broken = saved(tmp_path / "b.json", eng_deu={"test": {"sentence1-sentence2": [{"score": 1}]}})
    assert "missing corpus_id in row 0" in refusal(broken, "tatoeba", "de")


def test_unknown_ids_raise_if_data_is_available(tmp_path: Path) -> None:
    tatoeba(tmp_path / "data")
    file = saved(tmp_path / "p.json", jv={"test": {"sha-1": {"doc-1": 1.0}}})
    assert "none of the 1 ids is in tatoeba/jv test" in refusal(file, "tatoeba", "jv", data=tmp_path / "data")
