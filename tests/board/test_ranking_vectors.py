"""Test that the file for the page's ranking code is up to date."""

import json

from board.ranking_vectors import FILE, vectors


def test_the_file_matches_the_computation():
    assert json.loads(FILE.read_text(encoding="utf-8")) == vectors()


def test_by_hand():
    content = vectors()
    everything = content["cases"][0]
    means = {name: sum(rows[0]) / len(rows[0]) for name, rows in content["cells"].items()}
    assert abs(everything["figures"]["flat"][0] - sum(means.values()) / 5) < 1e-8
    by_category = [(means["xnli"] + means["xcopa"]) / 2, means["wikiann"], means["tydiqa"], means["tatoeba"]]
    assert abs(everything["figures"]["category"][0] - sum(by_category) / 4) < 1e-8
    ranks = everything["ranks"]["category"]
    assert ranks[2] == ranks[3]
    assert max(ranks) == ranks[-1] == 12
