"""Sources of scores: records, runs, seeds, published systems and CSV."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.languages import CODES
from isogloss.results.published_scores import human_score, in_language_score, parameters_of, published_scores, speakers
from isogloss.results.readers import read_results
from isogloss.results.views import ScoreView, score_view
from isogloss.site.write import report
from isogloss.tasks.registry import task
from report.made_records import results

WriteCsv = Callable[[str], Path]


def read_scores(sources: list[Any], **options: Any) -> ScoreView:
    return score_view(read_results(sources), **options)


@pytest.fixture
def write_csv(tmp_path: Path) -> WriteCsv:
    def write(text: str) -> Path:
        path = tmp_path / "scores.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_record_gives_the_cells_of_its_averages_with_intervals_and_gaps() -> None:
    view = read_scores([results("mine", regime="zero-shot", parameters=110)])
    assert view.systems == ["mine"]
    assert view.values("mine", "xnli") == {"en": 80, "ar": 70, "ur": 60, "th": 50}
    # Cells with partial gold and tasks without an average are excluded.
    assert view.values("mine", "xquad") == {"en": 90, "hi": 40}
    assert view.tasks == ["xnli", "xquad"]
    assert view.metrics == {"xnli": "accuracy", "xquad": "score"}
    score = view.scores["mine"]["xquad"]["hi"]
    assert (score.error, score.n, score.regime) == (pytest.approx(4 / 3.92), 100, "zero-shot")
    assert view.gaps["mine", "xnli"].value == 20
    assert view.results["mine"].parameters == 110


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
    assert "mean of 2 seeds" in seeds.scores["mine"]["xnli"]["en"].cell.source
    assert seeds.scores["mine"]["xnli"]["en"].error is None
    assert not seeds.gaps


def test_a_folder_without_a_record(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing results\.json.*Pass a results\.json"):
        read_scores([tmp_path])


def test_the_metric_is_shared_by_all_systems() -> None:
    both = read_scores([results("mine"), "published:mBERT, zero-shot"], tasks=["xquad"])
    assert both.metrics == {"xquad": "f1"}
    assert both.values("mine", "xquad") == {"en": 95, "hi": 45}
    assert any("compared in f1 because" in note for note in both.notes)
    # The gap of the mean of two metrics does not apply to one of them.
    assert not both.gaps
    em = read_scores([results("mine"), "published:mBERT, zero-shot"], tasks=["xquad"], metric="em")
    assert em.systems == ["mine"]
    assert em.values("mine", "xquad") == {"en": 85, "hi": 35}
    assert any("systems without it: mBERT" in note for note in em.notes)


def test_published_groups_and_names() -> None:
    papers = read_scores(["published"])
    assert papers.systems == [
        "mBERT, zero-shot",
        "XLM-R Large, zero-shot",
        "mT5-XXL, zero-shot",
        "mBERT, translate-train",
        "mBERT, translate-train-all",
    ]
    assert papers.results["mT5-XXL, zero-shot"].parameters == 13000
    assert read_scores(["published:xlm-r large"]).systems == ["XLM-R Large"]
    assert len(read_scores(["published:mteb"]).systems) == 182
    with pytest.raises(UnknownNameError, match="Did you mean xlm-r large"):
        read_scores(["published:xlmr large"])


def test_published_scores_are_unique_and_have_known_tasks() -> None:
    scores = published_scores("published:all")
    keys = [(score.system, score.regime, score.task, score.language, score.metric) for score in scores]
    assert len(set(keys)) == len(keys)
    assert all(0 <= score.value <= 100 and score.source and score.regime for score in scores)
    for name in {score.task for score in scores}:
        assert {score.language for score in scores if score.task == name} <= set(task(name).every_language)
    # MTEB's means over the 41 languages.
    for model, mean in {"sentence-transformers/LaBSE": 95.41, "facebook/SONAR": 95.75}.items():
        values = [score.value for score in scores if score.system == model]
        assert len(values) == 41
        assert sum(values) / 41 == pytest.approx(mean, abs=0.01)


def test_systems_of_two_sources_have_distinct_names() -> None:
    names = {score.system for score in published_scores("published:all")}
    assert {"XLM-R Large", "XLM-R Large [ERNIE-M]", "ERNIE-M Large", "xglm-7.5B"} <= names
    assert "VECO Large" not in {score.system for score in published_scores("published:all") if score.task == "xnli"}


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("mBERT", 178),
        ("mT5-XXL", 13000),
        ("bloom-7b1", 7100),
        ("xglm-564M", 564),
        ("xglm-7.5B", 7500),
        ("LaBSE", None),
        ("ERNIE-M Base", None),
    ],
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
    view = read_scores([path])
    assert view.values("a", "wikiann") == {"en": 80, "de": 70}
    assert view.scores["a"]["wikiann"]["en"].cell.metrics["f1"].low == 78


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task,system,value\nxnli,a,1\n", "no column language"),
        ("task,system,language,value\nxnli,a,de,nan\n", "value is 'nan'"),
        ("task,system,language,value\nxnli,a,de,many\n", "value is 'many'"),
        ("task,system,language,value\nxnli,a,de,1e300\n", "expected 0 to 100"),
        ("task,system,language,value,n\nxnli,a,de,50,-3\n", "expected 0 to 100"),
        ("task,system,language,value\nxnli,a,de\n", "fewer cells"),
        ("task,system,language,value\nxnli,a,de,1\nxnli,a,de,2\n", "duplicate score of a: xnli/de"),
        ("task,system,language,value\nxnly,a,de,1\n", "unknown task"),
        ("task,system,language,value\nxnli,a,klingon,1\n", "unknown language"),
        ("", "no column"),
    ],
)
def test_bad_csv_is_refused_with_its_line(write_csv: WriteCsv, text: str, message: str) -> None:
    with pytest.raises(IsoglossError, match=message):
        read_scores([write_csv(text)])


def test_an_invalid_score_is_refused() -> None:
    record = results("mine")
    broken = msgspec.structs.replace(record.cells[0].metrics["accuracy"], value=float("nan"))
    cells = [msgspec.structs.replace(record.cells[0], metrics={"accuracy": broken}), *record.cells[1:]]
    with pytest.raises(DataError, match="is nan"):
        read_scores([msgspec.structs.replace(record, cells=cells)])


def test_no_scores_of_the_requested_tasks(write_csv: WriteCsv) -> None:
    for source, tasks in (
        ("published", ["bucc"]),
        (write_csv("task,system,language,value\n"), None),
        (write_csv("task,system,language,value\nxnli,a,de,\n"), None),
    ):
        with pytest.raises(AnalysisError, match="no scores of these tasks and languages"):
            isogloss.analyze("families", source, tasks=tasks)


def test_records_of_several_systems_in_one_file(tmp_path: Path) -> None:
    """`isogloss score A B --json` writes a list."""
    names = ["plain", "other"]
    path = tmp_path / "both.json"
    path.write_bytes(b"[" + b",".join(msgspec.json.encode(results(name)) for name in names) + b"]")
    assert [system.name for system in read_results([path])] == names
    assert all(name in report(path, tmp_path / "report", pictures=False).read_text(encoding="utf-8") for name in names)
    path.write_text('[{"suite": 3}]', encoding="utf-8")
    with pytest.raises(DataError, match=r"both\.json: not a list of result records"):
        read_results([path])
