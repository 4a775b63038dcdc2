"""Attributes of the real test sets: complete, and the lengths of the XTREME-R paper."""

from collections import Counter

import pytest

from isogloss.errors import DataError
from isogloss.explain.attributes import attribute, attributes_for
from isogloss.explain.buckets import learn_binning
from isogloss.tasks import task
from isogloss.tasks.loading import load

# XTREME-R paper, Table 25: minimum, the three inner edges, maximum.
TABLE_25 = {
    ("en", "qLen"): (3, 8, 11, 16, 29),
    ("en", "cLen"): (25, 91, 111, 156, 509),
    ("hi", "qLen"): (3, 8, 11, 15, 53),
    ("hi", "cLen"): (28, 104, 131, 171, 575),
    ("el", "qLen"): (3, 8, 11, 16, 30),
    ("el", "cLen"): (29, 97, 120, 162, 554),
    ("ru", "qLen"): (3, 6, 8, 11, 26),
    ("ru", "cLen"): (25, 86, 104, 140, 470),
    ("tr", "qLen"): (2, 6, 8, 11, 20),
    ("tr", "cLen"): (18, 75, 94, 130, 414),
    ("ar", "qLen"): (2, 7, 9, 12, 38),
    ("ar", "cLen"): (24, 83, 104, 138, 432),
    ("vi", "qLen"): (3, 10, 13, 17, 40),
    ("vi", "cLen"): (39, 127, 160, 213, 763),
}


def examples(name, language, data_dir):
    for split in ("test", "dev"):
        try:
            return load(name, language, split, data_dir, allow_partial=True)
        except DataError:
            continue
    pytest.skip(f"no {name}/{language} in the data folder")


@pytest.mark.parametrize(("language", "name"), TABLE_25)
def test_question_and_context_lengths_are_the_papers(language, name, data_dir):
    values = attribute(name, "whitespace").values(examples("xquad", language, data_dir))
    edges = learn_binning(values, False, greedy=True).edges
    assert (values.min(), *edges, values.max()) == TABLE_25[language, name]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("xquad", "th"),
        ("tydiqa", "te"),
        ("mlqa", "de"),
        ("xnli", "sw"),
        ("pawsx", "ja"),
        ("xcopa", "qu"),
        ("udpos", "zh"),
        ("wikiann", "my"),
        ("tatoeba", "ka"),
        ("lareqa", "el"),
    ],
)
def test_every_attribute_of_a_real_cell(name, language, data_dir):
    data = examples(name, language, data_dir)
    for one in attributes_for(task(name).kind, data):
        if one.level == "example" and (values := one.values(data)) is not None:
            assert len(values) == len(data), one.name


@pytest.mark.parametrize("language", task("xquad").languages)
def test_nearly_every_question_has_a_type(language, data_dir):
    kinds = Counter(attribute("qType").values(examples("xquad", language, data_dir)).tolist())
    assert kinds["other"] < 0.03 * kinds.total()
    assert all(kinds[kind] for kind in ("what", "how", "when", "where", "which", "who", "why", "how-many"))


@pytest.mark.parametrize("language", task("tydiqa").languages)
def test_nearly_every_asked_question_has_a_type(language, data_dir):
    kinds = Counter(attribute("qType").values(examples("tydiqa", language, data_dir)).tolist())
    assert kinds["other"] < 0.03 * kinds.total()
