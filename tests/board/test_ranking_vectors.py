"""The file that the page's ranking code is checked with says what ours says."""

import json

from board.ranking_vectors import FILE, vectors


def test_the_file_is_what_we_compute():
    assert json.loads(FILE.read_text(encoding="utf-8")) == vectors()


def test_by_hand():
    found = vectors()
    everything = found["cases"][0]
    means = {name: sum(rows[0]) / len(rows[0]) for name, rows in found["cells"].items()}
    assert abs(everything["figures"]["flat"][0] - sum(means.values()) / 5) < 1e-8
    by_category = [(means["xnli"] + means["xcopa"]) / 2, means["wikiann"], means["tydiqa"], means["tatoeba"]]
    assert abs(everything["figures"]["category"][0] - sum(by_category) / 4) < 1e-8
    ranks = everything["ranks"]["category"]
    assert ranks[2] == ranks[3]
    assert max(ranks) == ranks[-1] == 12
