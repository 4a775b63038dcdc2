"""Dataset bias: hand-computed distributions and distances, shared edges, and missing cells."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.errors import DataError
from isogloss.explain.bias import bias_request, distances, distribution, shared_binnings
from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Attribute
from isogloss.explain.selection import choose_attributes
from isogloss.scoring.request import Request
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from predictions.made import xquad

NUMBER = Attribute("size", "its size", (), discrete=False)
WORD = Attribute("sort", "its sort", (), discrete=True)


def table(n: int) -> CellTable:
    examples = Examples("xnli", "en", "test", [str(i) for i in range(n)], {}, "label")
    return CellTable.of_examples(task("xnli"), examples, (), ())


def test_numbers_have_a_mean_and_quartiles() -> None:
    found = distribution(table(6), NUMBER, np.array([1.0, 2, 3, 4, 10, np.nan]))
    assert (found.n, found.mean, found.quartiles) == (6, 4, [1, 2, 3, 4, 10])
    empty = distribution(table(1), NUMBER, np.array([np.nan]))
    assert (empty.n, empty.mean, empty.quartiles) == (1, None, [])


def test_values_have_shares() -> None:
    assert distribution(table(4), WORD, np.array(["b", "a", "b", "c"])).shares == {"b": 0.5, "a": 0.25, "c": 0.25}


def test_distances_by_hand() -> None:
    found = distances("xnli", NUMBER, {"en": np.array([0.0, 1]), "de": np.array([2.0, 5]), "fr": np.array([0.0, 1])})
    assert (found.measure, found.languages) == ("wasserstein-1", ["en", "de", "fr"])
    # Half the mass moves from 0 to 2, half from 1 to 5.
    assert found.table == [[0, 3, 0], [3, 0, 3], [0, 3, 0]]
    words = {"en": np.array(["a", "a", "b", "c"]), "de": np.array(["a", "d"])}
    # |2/4 - 1/2| + 1/4 + 1/4 + 1/2, halved.
    assert distances("xnli", WORD, words).table == [[0, 0.5], [0.5, 0]]


def test_sizes_need_not_be_equal() -> None:
    columns = {"en": np.array([0.0, 0, 1, 1]), "de": np.array([0.0, 1])}
    assert distances("xnli", NUMBER, columns).table[0][1] == 0


def test_parts_of_speech_are_not_entities() -> None:
    asked = choose_attributes(["tag"], ["tagging"])
    titles = {
        name: bias_request(Request.of("mini", tasks=[name], languages=["en"]), asked).distributions[0].title
        for name in ("mini-udpos", "mini-wikiann")
    }
    assert titles == {"mini-udpos": "type of the span", "mini-wikiann": "type of the entity"}


def test_bias_of_synthetic_data(tmp_path: Path) -> None:
    xquad(tmp_path, "en")
    xquad(tmp_path, "de")
    found = bias_request(
        Request.of(tasks=["xquad"], languages=["en", "de", "ru"], data=tmp_path),
        choose_attributes(["aLen", "qType"], ["qa"]),
    )
    assert [(d.language, d.attribute, d.n) for d in found.distributions] == [
        ("en", "aLen", 1190),
        ("en", "qType", 1190),
        ("de", "aLen", 1190),
        ("de", "qType", 1190),
    ]
    assert found.distributions[0].mean == 2
    assert (found.distances[0].attribute, found.distances[0].table[0][1]) == ("aLen", 0)
    assert found.missing == ["xquad/ru"]


def test_no_data_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no test data for xquad"):
        bias_request(Request.of(tasks=["xquad"], data=tmp_path))


def test_shared_cuts_are_learnt_from_all_languages() -> None:
    selection = choose_attributes(["pLen"], ["choice"])
    both = shared_binnings(
        Request.of("mini", tasks=["mini-xcopa"]), choose_attributes(["pLen=shared", "c1Len"], ["choice"])
    )
    assert shared_binnings(Request.of("mini", tasks=["mini-xcopa"]), selection) == {}
    lengths = []
    for language in task("mini-xcopa").languages:
        one = bias_request(Request.of("mini", tasks=["mini-xcopa"], languages=[language]), selection)
        lengths += one.distributions[0].quartiles
    (cut,) = both.values()
    assert list(both) == [("mini-xcopa", "pLen")]
    assert cut.edges is not None
    assert min(lengths) <= min(cut.edges) <= max(cut.edges) < max(lengths)


@pytest.mark.parametrize("discrete", [False, True])
def test_samples_of_one_distribution_stay_below_the_noise(discrete: bool) -> None:
    rng = np.random.default_rng(0)
    below = pairs = 0
    for _ in range(12):
        samples = {
            code: rng.integers(0, 12, size) for code, size in (("en", 150), ("de", 300), ("fr", 80), ("sw", 150))
        }
        attribute = WORD if discrete else NUMBER
        columns = {code: sample.astype(str) if discrete else sample.astype(float) for code, sample in samples.items()}
        found = distances("xnli", attribute, columns)
        upper = np.triu_indices(4, 1)
        below += int((np.array(found.table)[upper] <= np.array(found.noise)[upper]).sum())
        pairs += len(upper[0])
        # Smaller samples differ more by chance.
        assert found.noise[0][2] > found.noise[0][1]
    assert below / pairs > 0.88


def test_real_differences_exceed_the_noise() -> None:
    rng = np.random.default_rng(0)
    found = distances("xnli", NUMBER, {"en": rng.normal(0, 1, 200), "de": rng.normal(1, 1, 200)})
    assert found.table[0][1] > 2 * found.noise[0][1] > 0
    assert found.table[0][0] == 0


def test_values_of_one_source_are_permuted_together() -> None:
    rng = np.random.default_rng(0)
    beyond = {True: 0, False: 0}
    for _ in range(20):
        columns = {code: np.repeat(rng.integers(0, 40, 30), 20).astype(float) for code in ("en", "de")}
        sources = {code: np.repeat(np.arange(30), 20) for code in columns}
        for known in (True, False):
            found = distances("xquad", NUMBER, columns, sources if known else None)
            beyond[known] += found.table[0][1] > found.noise[0][1]
    assert beyond[True] <= 4
    assert beyond[False] >= 15


def test_language_without_values_is_omitted() -> None:
    words = {"en": np.array(["a", "b"]), "de": np.array([], dtype=str), "fr": np.array(["a", "a"])}
    assert distances("xnli", WORD, words).languages == ["en", "fr"]
    numbers = {"en": np.array([1.0, 2]), "de": np.array([np.nan, np.nan])}
    assert distances("xnli", NUMBER, numbers).languages == ["en"]
