"""Published systems: figures as printed, footnotes on inconsistencies, and all marked as reported."""

import re

import pytest

from board.made_systems import XTREME_R
from board.unpacking import unpacked
from isogloss.board.build import make_board
from isogloss.board.packing import NONE
from isogloss.board.site import read_systems
from isogloss.errors import DataError, UnknownNameError
from isogloss.languages.published import overall
from isogloss.results.averages import completed_averages
from isogloss.results.published_scores import published_scores, read_published
from isogloss.tasks.suites import suite


@pytest.fixture(scope="module")
def everyone():
    return read_published("published:all", XTREME_R)


def named(entries, name, regime="zero-shot"):
    return next(entry for entry in entries if (entry.name, entry.regime) == (name, regime))


@pytest.mark.parametrize("name", ["xtreme-r", "xtreme"])
def test_rows_and_averages_of_the_main_table(name):
    entries = read_published("published", suite(name))
    for row in overall(name):
        if row.regime == "human":
            continue
        columns = completed_averages(named(entries, row.system, row.regime), suite(name))
        assert ("overall" in columns) == (row.average is not None)
        if row.average is not None:
            assert columns["overall"].value == row.average
            of_tasks = completed_averages(named(entries, row.system, row.regime), suite(name))
            parts = [of_tasks[category].value for category in suite(name).categories]
            if name == "xtreme-r":
                assert sum(parts) / 4 == pytest.approx(row.average, abs=0.06)


def test_inconsistencies_in_print_are_footnotes(everyone):
    footnotes = {(entry.name, entry.regime, task) for entry in everyone for task, _ in entry.footnotes}
    assert footnotes == {
        *(("mBERT", regime, "") for regime in ("zero-shot", "translate-train", "translate-train-all")),
        *(("mT5-XXL", regime, "") for regime in ("zero-shot", "translate-train-all")),
        ("mBERT", "zero-shot", "xnli"),
        ("mBERT", "zero-shot", "tatoeba"),
        ("XLM-R Large", "zero-shot", "tatoeba"),
        ("mT5-XXL", "zero-shot", "tydiqa"),
        ("mT5-XXL", "zero-shot", "mewslix"),
        ("mT5-XXL", "zero-shot", "lareqa"),
        ("mBERT", "translate-train", "tydiqa"),
        ("mBERT", "translate-train-all", "tydiqa"),
        ("XLM-R Large [ERNIE-M]", "zero-shot", "mlqa"),
        ("XLM-R Large [ERNIE-M]", "zero-shot", "xnli"),
        ("XLM-R Large [fairseq]", "zero-shot", "mlqa"),
        ("mBERT [ERNIE-M]", "zero-shot", "mlqa"),
        ("XLM-R Base (as in the XLM-V paper)", "zero-shot", "xquad"),
    }
    (text,) = (text for task, text in named(everyone, "mBERT").footnotes if task == "xnli")
    assert text == "XTREME-R Table 15 prints an average of 65.4; its rows give 66.5"
    (text,) = (text for task, text in named(everyone, "mBERT").footnotes if not task)
    assert text == "XTREME-R Table 13, parameters of mBERT: 178M in print; 110M in its Appendix G"


def test_scores_on_translated_gold_are_marked():
    """XTREME's Table 2 calls them not directly comparable: they are on translations, without some questions."""
    entry = named(read_published("published:all", suite("xtreme")), "BERT-large", "translate-test")
    assert {task for task, _ in entry.footnotes} == {"xquad", "mlqa", "tydiqa"} < {*entry.averages}
    assert all("on translated gold" in text for _, text in entry.footnotes)


def test_a_row_of_the_main_table_has_no_cells_of_other_runs():
    """ERNIE-M's table quotes XTREME's own systems on PAWS-X; on XNLI and MLQA it has other runs of the same names."""
    entries = read_published("published:all", suite("xtreme"))
    names = [entry.name for entry in entries if entry.regime == "zero-shot"]
    for name, xnli in {"mBERT": None, "XLM": 75.1, "XLM-R Large": 80.9, "MMTE": None}.items():
        row = named(entries, name)
        assert {task for task, _ in row.cells} == {"pawsx"}
        assert len(row.averages) > 5
        assert row.source == "XTREME Table 2; by language as quoted in ERNIE-M"
        assert (f"{name} [ERNIE-M]" in names) == (name != "MMTE")
        if name != "MMTE":
            quoted = named(entries, f"{name} [ERNIE-M]")
            assert not quoted.averages
            assert {task for task, _ in quoted.cells} == ({"mlqa", "xnli"} if xnli else {"mlqa"})
    [text] = [text for task, text in named(entries, "XLM [ERNIE-M]").footnotes if task == "xnli"]
    assert text == (
        "another run than XLM of XTREME Table 2, which has accuracy 69.1; these scores by language give 75.1"
    )
    assert {score.system for score in published_scores("published:XLM")} == {
        "XLM [ERNIE-M]",
        "XLM [XTREME in ERNIE-M]",
    }
    assert {score.regime for score in published_scores("published:XLM, zero-shot")} == {"zero-shot"}
    [row] = [entry for entry in read_published("published:MMTE", suite("xtreme")) if entry.averages]
    assert len(row.cells) == 7


@pytest.mark.parametrize("name", ["xtreme-r", "xtreme"])
def test_averages_and_cells_of_a_row_come_from_one_run_or_a_footnote_says_so(name):
    """Averages are the main table's. Cells must be of the same paper, and a mean beyond rounding needs a footnote."""
    members, conflicts = suite(name).members, set()
    entries = read_published("published:all", suite(name))
    for entry in entries:
        footnoted = {task for task, _ in entry.footnotes}
        for task in members.keys() & entry.averages.keys() & {task for task, _ in entry.cells}:
            cells = [entry.cells.get((task, code)) for code in suite(name).languages_of(task)]
            printed = {"xtreme-r": "XTREME-R Table ", "xtreme": "XTREME in "}[name]
            assert all(cell.source.startswith(printed) for cell in cells if cell)
            [row] = [row for row in overall(name) if (row.system, row.regime) == (entry.name, entry.regime)]
            for metric, average in row.metrics[task].items():
                values = [cell.metrics[metric].value for cell in cells if cell and metric in cell.metrics]
                if len(values) == len(cells) and abs(sum(values) / len(values) - average) > 0.06:
                    assert task in footnoted
                    conflicts.add((entry.name, entry.regime, task))
    expected = {("mT5-XXL", "zero-shot"), ("mBERT", "translate-train"), ("mBERT", "translate-train-all")}
    assert conflicts == ({(*key, "tydiqa") for key in expected} if name == "xtreme-r" else set())


@pytest.mark.parametrize("name", ["xtreme-r", "xtreme"])
def test_cells_of_a_row_have_one_source(name):
    for entry in read_published("published:all", suite(name)):
        assert len({cell.source.partition(" Table ")[0] for cell in entry.cells.values()}) <= 1


def test_conflicting_figures_name_the_run_that_they_match(everyone):
    """TyDiQA in XTREME-R: some rows of Table 21 have the averages of other runs."""
    texts = {
        (entry.name, entry.regime): text for entry in everyone for task, text in entry.footnotes if task == "tydiqa"
    }
    assert texts["mT5-XXL", "zero-shot"].endswith(
        "give 81.9, as XTREME-R Table 4 prints for translate-train-all: probably another run"
    )
    assert texts["mBERT", "translate-train"].endswith("give 55.1, as XTREME Table 2 prints: probably another run")


def test_a_model_has_one_size_in_all_regimes(everyone):
    sizes = {entry.metadata.get("parameters") for entry in everyone if entry.name == "mT5-XXL"}
    assert sizes == {13_000}


def test_metadata(everyone):
    systems = {(system.name, system.regime): system for system in make_board(everyone, XTREME_R).data.systems}
    assert len(systems) == len(everyone) == 235
    assert all(system.reported and not system.has_predictions and system.source for system in systems.values())
    large = systems["XLM-R Large", "zero-shot"]
    assert (large.parameters, large.pretraining_data, large.year) == (559_000_000, "6.3T tokens", 2020)
    largest = systems["XLM-R XXL", "translate-train-all"]
    assert (largest.year, largest.parameters, largest.licence) == (2021, 10_700_000_000, "MIT")
    assert (systems["mBERT", "zero-shot"].parallel_data, systems["mBERT", "zero-shot"].licence) == (False, "Apache-2.0")
    assert large.parallel_data is False
    assert systems["InfoXLM Large", "zero-shot"].licence is None
    assert systems["ERNIE-M Large", "zero-shot"].parallel_data == "69 GB"
    assert systems["bloom-7b1", "prompted"].kind == "llm"
    assert systems["bloom-7b1", "prompted"].parameters == 7_100_000_000
    assert systems["sentence-transformers/LaBSE", "embedding"].kind == "retrieval"
    assert systems["mteb/baseline-random-encoder", "embedding"].kind == "floor"
    assert {system.kind for system in systems.values() if system.name.startswith("mT5")} == {"encoder-decoder"}
    assert systems["mBERT", "zero-shot"].kind == "encoder"
    in_xtreme = read_published("published:all", suite("xtreme"))
    assert {entry.metadata["kind"] for entry in in_xtreme if entry.name.startswith("VECO")} == {"encoder-decoder"}
    prompted = {system.kind for system in systems.values() if re.match(r"bloom|xglm|llama|mpt", system.name)}
    assert prompted == {"llm"}
    assert {system.kind for system in systems.values() if system.regime == "embedding"} == {"retrieval", "floor"}
    assert systems["mBERT", "translate-train"].translated_data is True
    assert systems["mBERT", "zero-shot"].translated_data is False


def test_question_answering_has_only_f1_by_language(everyone):
    data = make_board(everyone, XTREME_R).data
    index = next(row for row, system in enumerate(data.systems) if system.id == "mbert")
    cells = {name: unpacked(data.cells[name]).reshape(len(everyone), -1)[index] for name in ("xquad", "xquad:f1")}
    assert set(cells["xquad"].tolist()) == {NONE}
    assert NONE not in cells["xquad:f1"]
    average = unpacked(data.averages["xquad"].value)[index]
    assert abs(average - 5775) == 1
    assert data.ranks["category"].rank[index] == 3
    # Languages are tested by the metric that the papers report for them.
    ranking = data.ranks["category"]
    assert (ranking.test, ranking.low[index], ranking.high[index]) == ("languages", 2, 3)


def test_checklist_error_rates(everyone):
    assert len(named(everyone, "mBERT").checklist) == len(named(everyone, "XLM-R Large").checklist) == 300


def test_one_system():
    assert {entry.regime for entry in read_published("published:mBERT", XTREME_R)} == {
        "zero-shot",
        "translate-train",
        "translate-train-all",
    }
    with pytest.raises(UnknownNameError, match="labse"):
        read_published("published:sentence-transformers/LaBSA", XTREME_R)


def test_a_suite_without_published_scores_is_an_error():
    with pytest.raises(DataError, match="no scores of mini"):
        read_systems(["published:all"], suite("mini"))
