"""Test the data of a board: coverage, ranks, ties and metadata."""

import json
from dataclasses import replace
from itertools import combinations

import msgspec
import numpy as np
import pytest

import hostile
from board.made_systems import XTREME_R, number, record
from board.unpacking import unpacked as hundredths
from isogloss.board import ranking
from isogloss.board.build import make_board
from isogloss.board.facts import board_languages, places
from isogloss.board.model import BoardSystem
from isogloss.board.packing import NONE
from isogloss.board.ranking import PairedTests
from isogloss.board.site import read_systems
from isogloss.board.system_model import PairedTest
from isogloss.errors import DataError
from isogloss.languages import CODES, all_languages, further_languages, language
from isogloss.results.published_scores import read_published
from isogloss.results.readers import system_of_record
from isogloss.results.system import SystemResult
from isogloss.scoring.results import Results
from isogloss.site.page_parts import script_json
from isogloss.tasks.suites import suite
from uriel_files import write_uriel

SOME_RATES = (("a", 30), ("b", 10))


def unpacked(text, columns=1):
    return hundredths(text).reshape(-1, columns)


def board_of(*records, **options):
    return make_board(read_systems(records, XTREME_R), XTREME_R, **options)


def test_every_listed_language_has_its_own_place_on_the_map():
    listed = {entry.code: entry for entry in (*all_languages(), *further_languages())}
    located = places(listed)
    assert set(located) == set(listed)
    assert len(set(located.values())) == len(located)
    assert all(-60 < north < 75 and -180 <= east <= 180 for north, east in located.values())
    # Two scripts of a language are next to each other.
    assert (located["ace"], located["ace-Arab"]) == ((3.9, 96.6), (3.1, 97.4))


def test_languages_that_are_not_listed_are_near_none_and_not_in_uriel(tmp_path):
    write_uriel(tmp_path, ["S_A"], {"eng": [1], "deu": [1], "zul": [0]}, ancestors={"eng": ["IE"], "deu": ["IE"]})
    with pytest.warns(UserWarning, match="is not listed"):
        rows = {row.code: row for row in board_languages(["en", "de", "zu", "nah", "qab", "qac"], tmp_path)}
    assert (rows["en"].near, rows["zu"].place) == (["de", "zu"], (-28.9, 30.2))
    # URIEL lacks Nahuatl: its family and script have nothing in common with the others.
    assert (rows["nah"].near, rows["nah"].family) == ([], "Uto-Aztecan")
    assert (rows["qab"].near, rows["qab"].family, rows["qab"].place) == ([], "unknown", None)


def test_cells_and_averages_match_the_records():
    data = board_of(record("a", 61.23), record("b", 50.0)).data
    for task in data.tasks:
        cells = unpacked(data.cells[task.id], len(task.languages))
        assert cells.tolist() == [[6123] * len(task.languages), [5000] * len(task.languages)]
    assert unpacked(data.cells["xquad:f1"])[0] == 6523
    assert "xquad:em" not in data.cells
    assert set(data.averages) == {"overall", *XTREME_R.tasks, *XTREME_R.categories}
    for column in data.averages.values():
        assert unpacked(column.value)[:, 0].tolist() == [6123, 5000]
        assert unpacked(column.low)[:, 0].tolist() == [6023, 4900]
        assert unpacked(column.high)[:, 0].tolist() == [6223, 5100]


def test_incomplete_systems_are_unranked_and_list_missing_cells():
    board = board_of(record("whole", 50), record("part", 90, without=("xquad/th", "tatoeba")))
    whole, part = board.data.systems
    assert (whole.complete, part.complete) == (True, False)
    for column in ("overall", "qa", "xquad", "tatoeba", "retrieval"):
        assert unpacked(board.data.averages[column].value)[1, 0] == NONE
    for column in ("xnli", "mlqa", "classification"):
        assert unpacked(board.data.averages[column].value)[1, 0] == 9000
    for view in board.data.ranks.values():
        assert view.rank == [1, None]
    assert board.details[0].missing == []
    assert board.details[1].missing == ["xquad/th", "tatoeba"]


def test_averages_follow_from_cells_not_from_claims():
    claimed = record("part", without=("xquad/th",))
    tasks = [msgspec.structs.replace(average, missing=[]) for average in claimed.tasks]
    overall = msgspec.structs.replace(claimed.overall, missing=[])
    board = board_of(msgspec.structs.replace(claimed, tasks=tasks, overall=overall))
    assert not board.data.systems[0].complete
    assert board.details[0].missing == ["xquad/th"]


def test_ranks_have_sets_and_differ_between_views():
    strong_in_one = record("uneven", 60)
    cells = [
        msgspec.structs.replace(cell, metrics={"f1": number(90)}) if cell.task == "wikiann" else cell
        for cell in strong_in_one.cells
    ]
    averages = [
        msgspec.structs.replace(each, score=number(90)) if each.name == "wikiann" else each
        for each in strong_in_one.tasks
    ]
    uneven = msgspec.structs.replace(strong_in_one, cells=cells, tasks=averages)
    ranks = board_of(uneven, record("even", 61), record("last", 20)).data.ranks
    assert set(ranks) == {"category", "flat", "family", "speakers", "resources", "worst", "gini"}
    assert ranks["category"].rank == [1, 2, 3]
    assert ranks["gini"].rank == [3, 1, 1]
    for view in ranks.values():
        assert all(low <= rank <= high for low, rank, high in zip(view.low, view.rank, view.high, strict=True))


def noisy(name: str, value: float, spread: float, seed: int) -> Results:
    """Return a record of which the score varies between languages."""
    made, draw = record(name, value), np.random.default_rng(seed)
    moves = {code: draw.normal(0, spread) for code in sorted({cell.language for cell in made.cells})}
    cells = [
        msgspec.structs.replace(cell, metrics={metric: number(value + moves[cell.language]) for metric in cell.metrics})
        for cell in made.cells
    ]
    return msgspec.structs.replace(made, cells=cells, tasks=[])


def paired(p_values: dict[tuple[int, int], float]) -> PairedTests:
    """Return paired tests of the overall score, in both directions."""
    tests = {}
    for (one, other), p in p_values.items():
        for pair, sign in (((one, other), 1), ((other, one), -1)):
            tests[pair] = [PairedTest(column="overall", difference=sign, low=None, high=None, p=p)]
    return PairedTests(tests)


def test_rank_sets_and_letters_are_of_one_test():
    records = [noisy("a", 60, 2, 1), noisy("b", 59.5, 2, 2), noisy("c", 50, 2, 3), record("d", 30)]
    data = board_of(*records).data
    flat = data.ranks["flat"]
    assert flat.test == "languages"
    assert flat.groups == [[0, 1], [2], [3]]
    assert (flat.low, flat.high) == ([1, 1, 3, 4], [2, 2, 3, 4])
    assert data.example_tests == {}
    # One pair without a paired test: the ranking is tested over languages, as a whole.
    p_values = dict.fromkeys(combinations(range(4), 2), 0.001)
    one_missing = paired({pair: p for pair, p in p_values.items() if pair != (2, 3)})
    assert board_of(*records, paired=one_missing).data.ranks["category"] == data.ranks["category"]
    board = board_of(*records, paired=paired(p_values))
    category = board.data.ranks["category"]
    assert (category.test, category.groups) == ("examples", [[0], [1], [2], [3]])
    assert board.data.ranks["flat"] == flat
    assert board.data.own_rule == ["category"]
    assert board.data.example_tests["overall"][0] == (0, 1, 0.001)
    assert board.details[0].paired["b"][0].p == 0.001
    assert board.details[1].paired["a"][0].difference == -1
    # Paired tests are already corrected.
    borderline = board_of(*records, paired=paired({**p_values, (0, 1): 0.06, (2, 3): 0.07})).data.ranks["category"]
    assert borderline.groups == [[0, 1], [2, 3]]
    assert (borderline.low, borderline.high) == ([1, 1, 3, 3], [2, 2, 4, 4])
    assert set(board.data.tests) == {"examples", "languages", ""}
    assert "no gold" in board_of(*records, paired=PairedTests(why_none="no gold")).data.tests["languages"]


def test_many_systems_have_no_letters(monkeypatch):
    """Groups of 1,000 systems would take ten megabytes."""
    records = [noisy(name, value, 2, seed) for seed, (name, value) in enumerate({"a": 60, "b": 59.5, "c": 50}.items())]
    monkeypatch.setattr(ranking, "MOST_LETTERED", 2)
    flat = board_of(*records).data.ranks["flat"]
    assert (flat.low, flat.high, flat.groups) == ([1, 1, 3], [2, 2, 3], [])


def test_views_with_the_same_figures_have_the_same_test(tmp_path):
    """A task is its own category, and each of its languages is of another family."""
    (tmp_path / "one.toml").write_text('title = "One"\ntasks = ["xnli"]\nlanguages = ["en", "sw", "th", "zh", "vi"]\n')
    one = suite(str(tmp_path / "one.toml"))
    systems = read_systems([noisy("a", 60, 2, 1), noisy("b", 59.5, 2, 2)], XTREME_R)
    tests = paired({(0, 1): 0.001})
    data = make_board(systems, one, paired=tests).data
    same = ["category", "flat", "family", "worst"]
    assert data.own_rule == [*same, "weights"]
    assert {name: view.test for name, view in data.ranks.items()} == {
        **dict.fromkeys(same, "examples"),
        **dict.fromkeys(("speakers", "resources", "gini"), "languages"),
    }
    for name in same:
        assert data.ranks[name].groups == data.ranks["category"].groups == [[1], [0]]


def test_systems_without_cells_are_ranked_but_not_tested():
    published = SystemResult(name="e", averages=dict.fromkeys(XTREME_R.tasks, number(55)))
    results = read_systems([noisy("a", 60, 2, 1), noisy("b", 40, 2, 2)], XTREME_R)
    flat = make_board([*results, published], XTREME_R).data.ranks["flat"]
    assert flat.rank == [1, 3, 2]
    # It may be the best or the worst, so the others' rank sets leave room for it.
    assert (flat.low, flat.high) == ([1, 2, None], [2, 3, None])
    assert flat.groups == [[0], [1]]


def test_tasks_are_tested_in_the_metric_reported_per_language():
    """The papers print XQuAD, MLQA and TyDiQA per language in F1 only, and averages of F1 and exact match."""
    data = make_board(read_published("published", XTREME_R), XTREME_R).data
    names = [f"{system.name} {system.regime}" for system in data.systems]
    ranks = {name: dict(zip(names, view.rank, strict=True)) for name, view in data.ranks.items()}
    tested = [names[index] for group in data.ranks["category"].groups for index in group]
    assert tested == ["XLM-R Large zero-shot", "mBERT zero-shot"]
    assert data.ranks["category"].test == "languages"
    assert ranks["family"]["XLM-R Large zero-shot"] == 1


def test_few_languages_leave_all_ranks_open(tmp_path):
    (tmp_path / "few.toml").write_text('title = "Few"\ntasks = ["xnli"]\nlanguages = ["en", "sw", "th", "zh"]\n')
    few = suite(str(tmp_path / "few.toml"))
    systems = read_systems([record("a", 80), record("b", 20)], XTREME_R)
    for view in make_board(systems, few).data.ranks.values():
        assert (view.low, view.groups, view.test) == ([None, None], [], "")


def test_systems_with_the_same_name_have_distinct_ids():
    board = board_of(record("same"), record("same"), record("same", regime="prompted"), record("Same!"))
    assert [system.id for system in board.data.systems] == ["same", "same-2", "same-prompted", "same-3"]
    assert [system.name for system in board.data.systems] == ["same", "same (2)", "same", "Same!"]
    assert [detail.id for detail in board.details] == [system.id for system in board.data.systems]


def test_hostile_names_are_cleaned_and_make_plain_ids():
    names = [*hostile.NAMES.values(), "../../etc/passwd", "x" * 10_000, "con", "LPT1", "constructor", "", "İı"]
    board = board_of(*(record(name, notes=[name], paper=name, url=name, regime=name) for name in names))
    ids = [system.id for system in board.data.systems]
    assert not {"con", "lpt1", "constructor"} & set(ids)
    assert len(set(ids)) == len(names)
    assert all(set(one) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and 0 < len(one) <= 70 for one in ids)
    for system in board.data.systems:
        assert 0 < len(system.name) <= 130
        assert system.url is None
        assert not hostile.ACTING.search(system.name + system.regime + str(system.paper))
    for value in (board.data, *board.details):
        text = script_json(value)
        assert not set("<>&\u2028\u2029") & set(text)
        json.loads(text)


def test_valid_metadata_is_typed_and_the_rest_is_undisclosed():
    known = record(
        "m",
        kind="LLM",
        year=2024,
        date="2024-05-06T12:00:00",
        parameters=560,
        open_weights="yes",
        parallel_data="no",
        url="https://example.org/m",
        licence="unknown",
        contamination="saw the test set",
        cost=-1,
        notes=["one", 2, None],
        tokens=True,
    )
    system = board_of(known).data.systems[0]
    assert system == BoardSystem(
        id="m",
        name="m",
        kind="llm",
        regime="",
        complete=True,
        year=2024,
        date="2024-05-06",
        url="https://example.org/m",
        parameters=560_000_000,
        open_weights=True,
        parallel_data=False,
        contamination="saw the test set",
        notes=["one", "2"],
        unparsed=0.0,
        provenance=0,
    )


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//example.org", "https://a b", 'http://x"onload=']
)
def test_only_web_addresses_are_linked(url):
    assert board_of(record("m", url=url)).data.systems[0].url is None


def test_unreadable_predictions_are_counted_per_cell():
    answered = record("a")
    cells = [
        msgspec.structs.replace(cell, notes=["30 of 100 answers are null"], unanswered=0.3)
        if cell.task == "xnli"
        else cell
        for cell in answered.cells
    ]
    board = board_of(msgspec.structs.replace(answered, cells=cells))
    shares = {(cell.task, cell.language): cell.unparsed for cell in board.details[0].cells}
    assert shares["xnli", "sw"] == 0.3 and shares["xcopa", "sw"] == 0
    assert board.data.systems[0].unparsed == pytest.approx(0.3 * 15 / 202, abs=1e-5)
    # Systems that parse answers themselves report more than missing ones.
    detail = board_of(record("b", unparsed={"xnli/sw": 0.5, "xcopa": 0.25, "mlqa": 7})).details[0]
    shares = {(cell.task, cell.language): cell.unparsed for cell in detail.cells}
    assert (shares["xnli", "sw"], shares["xnli", "de"], shares["xcopa", "et"], shares["mlqa", "de"]) == (
        0.5,
        0,
        0.25,
        0,
    )
    assert board_of(record("c", unparsed=0.125)).data.systems[0].unparsed == 0.125


def test_systems_scored_alike_share_provenance():
    other = msgspec.structs.replace(record("c"), isogloss="10.0")
    data = board_of(record("a"), record("b"), other).data
    assert [system.provenance for system in data.systems] == [0, 0, 1]
    assert [each.scorer for each in data.provenance] == ["9.9", "10.0"]
    assert data.provenance[0].checksums["xnli"]["sw"] == "xnli123"


def test_languages_have_neighbours_and_numbers(tmp_path):
    languages = {each.code: each for each in board_of(record("a"), data=tmp_path).data.languages}
    assert set(languages["uk"].near[:2]) == {"bg", "ru"}
    assert languages["ar"].rtl
    assert languages["en"].speakers > 10**9
    assert "de" in languages["nl"].near
    assert languages["ko"].near == []
    assert all(near in languages for each in languages.values() for near in each.near)


def test_neighbours_follow_typology_if_available(tmp_path):
    codes = sorted({language(code).iso3 for code in CODES} | {language(code).individual for code in CODES})
    # No languages are alike except two unrelated ones.
    features = {code: [float(place == row % 7 + 1) for place in range(9)] for row, code in enumerate(codes)}
    features |= {"fin": [1.0] * 4 + [0.0] * 5, "tam": [1.0] * 4 + [0.0] * 5}
    write_uriel(tmp_path, [f"S_{place}" for place in range(9)], features)
    languages = {each.code: each for each in board_of(record("a"), data=tmp_path).data.languages}
    assert (languages["fi"].near[0], languages["ta"].near[0]) == ("ta", "fi")
    assert all(len(each.near) == 5 for each in languages.values())


def test_the_transfer_gap_is_recorded_or_computed():
    (detail,) = make_board(read_published("published:mBERT, zero-shot", XTREME_R), XTREME_R).details
    gaps = {gap.task: gap for gap in detail.gaps}
    xnli = {cell.language: cell.metrics["accuracy"][0] for cell in detail.cells if cell.task == "xnli"}
    english = xnli.pop("en")
    assert gaps["xnli"].value == pytest.approx(english - sum(xnli.values()) / 14, abs=1e-3)
    assert gaps["xnli"].low is None
    assert "xquad" not in gaps
    assert {gap.value for gap in board_of(record("a")).details[0].gaps} == {7.0}


def test_cells_have_the_interval_of_the_mean_of_their_metrics():
    cells = {(cell.task, cell.language): cell.metrics for cell in board_of(record("a")).details[0].cells}
    assert cells["xquad", "de"] == {"f1": (64.0, 63.0, 65.0), "em": (56.0, 55.0, 57.0), "score": (60.0, 59.0, 61.0)}
    assert cells["xnli", "de"] == {"accuracy": (60.0, 59.0, 61.0)}
    (reported,) = make_board(read_published("published:mBERT, zero-shot", XTREME_R), XTREME_R).details
    assert not any("score" in cell.metrics for cell in reported.cells)


def test_an_invalid_score_is_rejected_with_its_cell():
    with pytest.raises(DataError, match=r"xnli/.* is 6553"):
        board_of(record("a", 6553.5))


def test_fixed_ids_are_kept_or_rejected():
    entries = [
        SystemResult(name="x", averages=dict.fromkeys(XTREME_R.tasks, number(3)), id="team-x"),
        system_of_record(record("Team X"), "", XTREME_R),
    ]
    assert [system.id for system in make_board(entries, XTREME_R).data.systems] == ["team-x", "team-x-2"]
    entries[1] = replace(entries[1], id="../x")
    with pytest.raises(DataError, match="invalid or duplicate id"):
        make_board(entries, XTREME_R)


def test_scores_of_different_splits_are_rejected():
    with pytest.raises(DataError, match="different splits"):
        board_of(record("a"), msgspec.structs.replace(record("b"), split="dev"))
    with pytest.raises(DataError, match="different splits"):
        read_systems(["published", msgspec.structs.replace(record("b"), split="dev")], XTREME_R)
    assert board_of(msgspec.structs.replace(record("b"), split="dev")).data.provenance[0].split == "dev"


@pytest.mark.parametrize("name", ["xtreme-r", "xtreme", "mini", "mldoc", "checklist"])
def test_a_board_may_be_empty(name):
    board = make_board([], suite(name), title="New")
    assert (board.data.systems, board.data.ranks, board.data.example_tests) == ([], {}, {})
    assert [task.id for task in board.data.tasks] == list(suite(name).tasks)
    assert all(task.lower_is_better == (name == "checklist") for task in board.data.tasks)


def test_the_lowest_is_first_if_lower_is_better():
    tests = suite("checklist")
    entries = [
        SystemResult(name=name, averages=dict.fromkeys(tests.tasks, number(value))) for name, value in SOME_RATES
    ]
    data = make_board(entries, tests).data
    assert data.ranks["flat"].rank == [2, 1]
    assert unpacked(data.averages["overall"].value)[:, 0].tolist() == [3000, 1000]
