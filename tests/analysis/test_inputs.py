"""Where scores come from: records, runs, seeds, published systems and CSV, all as one table."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.inputs import read_scores
from isogloss.analysis.published_scores import human_score, in_language_score, parameters_of, published_scores, speakers
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.languages import CODES
from isogloss.tasks.registry import task
from report.made_records import results

WriteCsv = Callable[[str], Path]


@pytest.fixture
def write_csv(tmp_path: Path) -> WriteCsv:
    def write(text: str) -> Path:
        path = tmp_path / "scores.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_record_gives_the_cells_of_its_averages_with_intervals_and_gaps() -> None:
    found = read_scores([results("mine", regime="zero-shot", parameters=110)])
    assert found.systems == ["mine"]
    assert found.values("mine", "xnli") == {"en": 80, "ar": 70, "ur": 60, "th": 50}
    # Partial gold, and tasks without an average, are in none.
    assert found.values("mine", "xquad") == {"en": 90, "hi": 40}
    assert found.tasks == ["xnli", "xquad"]
    assert found.metrics == {"xnli": "accuracy", "xquad": "score"}
    score = found.by_cell["mine"]["xquad"]["hi"]
    assert (score.low, score.high, score.n, score.regime) == (38, 42, 100, "zero-shot")
    assert found.gaps["mine", "xnli"].value == 20
    assert found.parameters == {"mine": 110}


def test_files_run_folders_and_seeds_are_the_same_record(tmp_path: Path) -> None:
    results("mine").to_json(tmp_path / "one.json")
    for seed, shift in enumerate((0, 4)):
        folder = tmp_path / "runs" / f"seed-{seed}"
        folder.mkdir(parents=True)
        results("mine", shift, seed=seed).to_json(folder / "results.json")
    by_file = read_scores([tmp_path / "one.json"])
    assert by_file.values("mine", "xnli") == read_scores([tmp_path / "runs" / "seed-0"]).values("mine", "xnli")
    seeds = read_scores([tmp_path / "runs"])
    assert seeds.values("mine", "xnli")["en"] == 82
    assert "mean of 2 seeds" in seeds.by_cell["mine"]["xnli"]["en"].source
    assert seeds.by_cell["mine"]["xnli"]["en"].low is None
    assert not seeds.gaps


def test_a_folder_without_a_record_says_what_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no results\.json.*Give a results\.json"):
        read_scores([tmp_path])


def test_the_metric_is_one_that_all_systems_have() -> None:
    both = read_scores([results("mine"), "published:mBERT, zero-shot"], tasks=["xquad"])
    assert both.metrics == {"xquad": "f1"}
    assert both.values("mine", "xquad") == {"en": 95, "hi": 45}
    assert any("compared in f1 alone" in note for note in both.notes)
    # A gap of the mean of two metrics is none of one of them.
    assert not both.gaps
    em = read_scores([results("mine"), "published:mBERT, zero-shot"], tasks=["xquad"], metric="em")
    assert em.systems == ["mine"]
    assert em.values("mine", "xquad") == {"en": 85, "hi": 35}
    assert any("left out for want of it: mBERT" in note for note in em.notes)


def test_published_groups_and_names() -> None:
    papers = read_scores(["published"])
    assert papers.systems == [
        "mBERT, zero-shot",
        "XLM-R Large, zero-shot",
        "mT5-XXL, zero-shot",
        "mBERT, translate-train",
        "mBERT, translate-train-all",
    ]
    assert papers.parameters["mT5-XXL, zero-shot"] == 13000
    assert read_scores(["published:xlm-r large"]).systems == ["XLM-R Large"]
    assert len(read_scores(["published:mteb"]).systems) == 182
    with pytest.raises(UnknownNameError, match="Did you mean xlm-r large"):
        read_scores(["published:xlmr large"])


def test_published_scores_are_of_our_tasks_and_languages_once_each() -> None:
    found = published_scores("published:all")
    places = [(each.system, each.regime, each.task, each.language, each.metric) for each in found]
    assert len(set(places)) == len(places)
    assert all(0 <= each.value <= 100 and each.source and each.regime for each in found)
    for name in {each.task for each in found}:
        assert {each.language for each in found if each.task == name} <= set(task(name).every_language)
    # MTEB's own check figures: means over the 41 languages.
    for model, mean in {"sentence-transformers/LaBSE": 95.41, "facebook/SONAR": 95.75}.items():
        values = [each.value for each in found if each.system == model]
        assert len(values) == 41
        assert sum(values) / 41 == pytest.approx(mean, abs=0.01)


def test_systems_of_two_sources_are_told_apart() -> None:
    names = {each.system for each in published_scores("published:all")}
    assert {"XLM-R Large", "XLM-R Large [ERNIE-M]", "ERNIE-M Large", "xglm-7.5B"} <= names
    assert "VECO Large" not in {each.system for each in published_scores("published:all") if each.task == "xnli"}


@pytest.mark.parametrize(
    ("name", "millions"),
    [("mBERT", 178), ("mT5-XXL", 13000), ("bloom-7b1", 7100), ("xglm-564M", 564), ("xglm-7.5B", 7500), ("LaBSE", None)],
)
def test_parameters_from_the_paper_or_the_name(name: str, millions: float | None) -> None:
    assert parameters_of(name) == millions


def test_ceilings_as_printed() -> None:
    assert human_score("xnli", "accuracy") == 92.8
    assert human_score("pawsx", "accuracy") == 97.5
    assert human_score("xquad", "score") == pytest.approx((91.2 + 82.3) / 2)
    assert human_score("tydiqa", "score") is None  # only its F1 is known
    assert human_score("wikiann", "f1") is None
    assert in_language_score("mBERT", "udpos", "f1") == 89.8
    assert in_language_score("XLM-R Large", "udpos", "f1") is None


def test_every_language_has_speakers() -> None:
    assert set(speakers()) == set(CODES)


def test_tidy_csv(write_csv: WriteCsv) -> None:
    path = write_csv("task,system,regime,language,value,low,high\npanx,a,,English,80,78,82\npanx,a,,de,70,,\n")
    found = read_scores([path])
    assert found.values("a", "wikiann") == {"en": 80, "de": 70}
    assert found.by_cell["a"]["wikiann"]["en"].low == 78


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,system,value\nxnli,a,1\n", "no column language"),
        ("task,system,language,value\nxnli,a,de,nan\n", "value is 'nan'"),
        ("task,system,language,value\nxnli,a,de,many\n", "value is 'many'"),
        ("task,system,language,value\nxnli,a,de,\n", "without a value"),
        ("task,system,language,value\nxnli,a,de\n", "fewer cells"),
        ("task,system,language,value\nxnli,a,de,1\nxnli,a,de,2\n", "two scores of a xnli de"),
        ("task,system,language,value\nxnly,a,de,1\n", "unknown task"),
        ("task,system,language,value\nxnli,a,klingon,1\n", "unknown language"),
        ("task,system,language,value\n", "no scores"),
        ("", "no column"),
    ],
)
def test_bad_csv_is_refused_with_the_place(write_csv: WriteCsv, text: str, message: str) -> None:
    with pytest.raises(IsoglossError, match=message):
        read_scores([write_csv(text)])


def test_a_score_that_is_no_number_is_refused() -> None:
    record = results("mine")
    broken = msgspec.structs.replace(record.cells[0].metrics["accuracy"], value=float("nan"))
    cells = [msgspec.structs.replace(record.cells[0], metrics={"accuracy": broken}), *record.cells[1:]]
    with pytest.raises(AnalysisError, match="the score is nan"):
        read_scores([msgspec.structs.replace(record, cells=cells)])


def test_nothing_left_of_the_asked_for() -> None:
    with pytest.raises(AnalysisError, match="no scores of these tasks and languages"):
        read_scores(["published"], tasks=["bucc"])
