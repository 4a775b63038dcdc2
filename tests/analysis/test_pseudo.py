"""Pseudo test sets against human ones: differences, correlations, and quality of the texts."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss
from e2e.command import isogloss as command
from isogloss.analysis.finding import MEAN_ROW, AnalysisError, Finding
from isogloss.analysis.pseudo import FEWEST, correlations
from isogloss.analysis.pseudo_comparisons import restricted
from isogloss.errors import PredictionError
from isogloss.predictions.check import CheckedAnswers
from isogloss.scoring.cells import judge_checked
from isogloss.scoring.request import Request
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from predictions.made import write_jsonl

LANGUAGES = ("de", "sw", "ta")


def shouted(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder with pseudo sets of mini-xnli in three of its languages and a further one."""
    folder = tmp_path_factory.mktemp("data")
    isogloss.translate("mini-xnli", [*LANGUAGES, "sv"], shouted, pseudo=True, limits={}, data=folder)
    return folder


def write_system(root: Path, data: Path, wrong: dict[tuple[str, str], int]) -> Path:
    """Write answers of which the first so many are wrong, by language and split."""
    for (code, split), count in wrong.items():
        examples = load("mini-xnli", code, split, data)
        answers = {
            name: ("neutral" if gold == "entailment" else "entailment") if row < count else gold
            for row, (name, gold) in enumerate(zip(examples.ids, examples["label"], strict=True))
        }
        prefix = "pseudo-" if split == "pseudo" else ""
        write_jsonl(root / f"mini-xnli/{prefix}{code}.jsonl", answers)
    return root


@pytest.fixture(scope="module")
def systems(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Five systems with known numbers of errors on both sets."""
    root = tmp_path_factory.mktemp("systems")
    made = []
    for number in range(5):
        wrong = {(code, "test"): 4 * number + at for at, code in enumerate(LANGUAGES)}
        wrong |= {(code, "pseudo"): 5 * number + 3 * at + number % 2 for at, code in enumerate(LANGUAGES)}
        made.append(write_system(root / f"system-{number}", data, {**wrong, ("sv", "pseudo"): 1}))
    return made


def analysed(folders: Sequence[Path], data: Path, **options: str) -> Finding:
    return isogloss.analyze("pseudo", *folders, data=data, suite="mini", tasks=["mini-xnli"], **options)


def test_scores_and_differences_are_those_of_the_answers(systems: list[Path], data: Path) -> None:
    finding = analysed(systems, data)
    n = len(load("mini-xnli", "en", "test", data))
    rows = finding.table("cells").records()
    assert len(rows) == 15  # Swedish has no human set
    for row in rows:
        number, at = int(str(row["system"])[-1]), LANGUAGES.index(str(row["language"]))
        human, pseudo = 100 * (1 - (4 * number + at) / n), 100 * (1 - (5 * number + 3 * at + number % 2) / n)
        assert (row["human"], row["pseudo"]) == (pytest.approx(human), pytest.approx(pseudo))
        assert row["difference"] == pytest.approx(pseudo - human)
        assert row["n"] == row["human_n"] == n


def test_only_examples_of_both_sets_are_compared(tmp_path: Path) -> None:
    """Give the same answers to the same questions: the score on the human set is over the part that both have."""
    human, english = load("mini-xquad", "de", "test", tmp_path), load("mini-xquad", "en", "test", tmp_path)
    german = {unit: row for row, unit in enumerate(human.units or ())}
    pairs: dict[str, str] = {}
    for unit, *texts in list(zip(english.units or (), english["context"], english["question"], strict=True))[::2]:
        for name, text in zip(("context", "question"), texts, strict=True):
            pairs.setdefault(text, human[name][german[unit]])
    for unit, answers in zip(english.units or (), english["answers"], strict=True):
        pairs.setdefault(answers[0], human["answers"][german[unit]][0])
    stored = tmp_path / "stored.jsonl"
    lines = (json.dumps({"source": source, "target": target}) for source, target in pairs.items())
    stored.write_text("\n".join(lines), encoding="utf-8")
    isogloss.translate("mini-xquad", "de", f"replay:{stored}", pseudo=True, limits={}, data=tmp_path)
    pseudo = load("mini-xquad", "de", "pseudo", tmp_path)
    inside = [german[unit] for unit in pseudo.units or ()]
    assert 0 < len(inside) < len(human)
    wrong = {row for row in range(len(human)) if row % 3 == 0}
    given = {name: "?" if row in wrong else human["answers"][row][0] for row, name in enumerate(human.ids)}
    write_jsonl(tmp_path / "system/mini-xquad/de.jsonl", given)
    rows = zip(pseudo.ids, inside, pseudo["answers"], strict=True)
    same = {name: "?" if row in wrong else answers[0] for name, row, answers in rows}
    write_jsonl(tmp_path / "system/mini-xquad/pseudo-de.jsonl", same)
    finding = isogloss.analyze("pseudo", tmp_path / "system", data=tmp_path, suite="mini", tasks=["mini-xquad"])
    for row in finding.table("cells").records():
        assert (row["n"], row["human_n"]) == (len(pseudo), len(human))
        assert row["human"] == pytest.approx(100 * sum(at not in wrong for at in inside) / len(inside))
        assert row["difference"] == pytest.approx(0, abs=1e-9)


def test_a_part_of_a_cell_has_the_score_of_its_examples(tmp_path: Path) -> None:
    tagging = task("mini-udpos")
    examples = load(tagging, "de", "test", tmp_path)
    values = [["X"] * len(tags) if row % 3 == 0 else tags for row, tags in enumerate(examples["tags"])]
    chosen = list(range(1, len(examples), 2))
    whole, part = (
        judge_checked(tagging, CheckedAnswers(split="test", examples=some, values=answers)).cell
        for some, answers in ((examples, values), (examples.keep(chosen), [values[row] for row in chosen]))
    )
    units = examples.units or []
    kept = restricted(whole, {units[row] for row in chosen})
    assert (kept.n, kept.units) == (part.n, part.units)
    for name, statistics in part.metrics.items():
        assert np.array_equal(kept.metrics[name].rows, statistics.rows)
        assert np.array_equal(kept.metrics[name].units, statistics.units)  # type: ignore[arg-type]


def test_intervals_pair_examples_with_the_same_original(systems: list[Path], data: Path, tmp_path: Path) -> None:
    # The same examples are wrong in both sets: the difference varies only with those that differ.
    finding = analysed([write_system(tmp_path, data, {("de", "test"): 20, ("de", "pseudo"): 22})], data)
    [row] = finding.table("cells").records()
    half = (float(row["difference_high"]) - float(row["difference_low"])) / 2  # type: ignore[arg-type]
    wide = (float(row["human_high"]) - float(row["human_low"])) / 2  # type: ignore[arg-type]
    # Unpaired, it would be wider than either score's by a factor of 1.4.
    assert half < 0.6 * wide


def test_correlations_over_systems_and_languages(systems: list[Path], data: Path) -> None:
    finding = analysed(systems, data)
    cells = finding.table("cells").records()
    for row in finding.table("languages").records():
        if row["language"] == MEAN_ROW:
            assert row["pearson"] is None
            continue
        same = [cell for cell in cells if cell["language"] == row["language"]]
        human, pseudo = ([cell[name] for cell in same] for name in ("human", "pseudo"))
        assert row["pearson"] == pytest.approx(np.corrcoef(human, pseudo)[0, 1])  # type: ignore[arg-type]
        assert row["systems"] == 5
        assert row["difference"] == pytest.approx(np.mean(pseudo) - np.mean(human))  # type: ignore[arg-type]
    for row in finding.table("systems").records():
        same = [cell for cell in cells if cell["system"] == row["system"]]
        human, pseudo = ([cell[name] for cell in same] for name in ("human", "pseudo"))
        assert row["pearson"] == pytest.approx(np.corrcoef(human, pseudo)[0, 1])  # type: ignore[arg-type]
        assert row["pearson_low"] is None  # three languages have no interval


def test_quality_of_the_texts_has_sacrebleus_signature(systems: list[Path], data: Path) -> None:
    finding = analysed(systems[:1], data)
    assert all(isinstance(row["chrf"], float) for row in finding.table("languages").records())
    assert any("BLEU nrefs:1|case:mixed|eff:no|tok:13a" in note for note in finding.notes)
    assert any("chrF2 nrefs:1" in note for note in finding.notes)


def test_records_have_the_same_scores_without_intervals(systems: list[Path], data: Path, tmp_path: Path) -> None:
    records = []
    for path in systems:
        for split in ("test", "pseudo"):
            records.append(tmp_path / f"{path.name}-{split}.json")
            isogloss.score(path, "mini", data, split=split, tasks=["mini-xnli"]).to_json(records[-1])
    recorded, answered = analysed(records, data), analysed(systems, data)
    for name in ("languages", "systems"):
        for one, other in zip(recorded.table(name).rows, answered.table(name).rows, strict=True):
            assert one == pytest.approx(other)
    assert {row["difference_low"] for row in recorded.table("cells").records()} == {None}
    with pytest.raises(AnalysisError, match="no system has answers to the human and the pseudo set"):
        analysed(records[:1], data)


def test_few_systems_have_no_correlation(systems: list[Path], data: Path) -> None:
    finding = analysed(systems[: FEWEST - 1], data)
    assert {row["pearson"] for row in finding.table("languages").records()} == {None}
    assert "Too few systems to tell if both sets order them alike" in finding.reading


def test_correlations_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats", reason="compares with scipy")
    x, y = [1.0, 2.0, 2.0, 5.0, 3.0, 8.0], [2.0, 1.0, 4.0, 4.0, 3.0, 9.0]
    pearson, low, high, spearman = correlations(x, y)
    expected = stats.pearsonr(x, y)
    assert pearson == pytest.approx(expected.statistic)
    interval = expected.confidence_interval(0.95)
    assert (low, high) == (pytest.approx(interval.low), pytest.approx(interval.high))
    assert spearman == pytest.approx(stats.spearmanr(x, y).statistic)


@given(st.lists(st.tuples(*[st.floats(0, 100, allow_subnormal=False)] * 2), max_size=8))
def test_correlations_are_bounded_or_unknown(pairs: list[tuple[float, float]]) -> None:
    values = correlations([x for x, _ in pairs], [y for _, y in pairs])
    assert all(value is None or -1 <= float(value) <= 1 for value in values)
    if len(pairs) < FEWEST or len({x for x, _ in pairs}) == 1:
        assert values == [None] * 4


def test_missing_sets_or_answers_are_clear_errors(systems: list[Path], data: Path, tmp_path: Path) -> None:
    with pytest.raises(AnalysisError, match="no language of mini-xnli has both a pseudo and a human test set"):
        analysed(systems, tmp_path)
    with pytest.raises(AnalysisError, match="expected the human split"):
        analysed(systems, data, split="pseudo")
    only_human = write_system(tmp_path / "human", data, {("de", "test"): 1})
    with pytest.raises(PredictionError, match="no pseudo predictions for mini-xnli"):
        analysed([only_human], data)
    apart = write_system(tmp_path / "apart", data, {("de", "test"): 1, ("ta", "pseudo"): 1})
    with pytest.raises(AnalysisError, match="no system has answers to the human and the pseudo set"):
        analysed([apart], data)


def test_the_command_prints_the_tables(systems: list[Path], data: Path, tmp_path: Path) -> None:
    done = command(
        "analyze", "pseudo", *systems, "--tasks", "mini-xnli", "--set", "suite=mini", "--data", data, "--csv", tmp_path
    )
    assert done.code == 0, done.err
    assert "Pseudo and human test sets: means over systems" in done.out
    assert (tmp_path / "languages.csv").read_text(encoding="utf-8").startswith("task,metric,language,systems,human")


@pytest.mark.parametrize(
    "options", [{"allow_partial": "true"}, {"strict": "yes"}, {"resample": "example"}, {"resample": "source"}]
)
def test_gold_options_match_score(systems: list[Path], data: Path, options: dict[str, str]) -> None:
    assert len(analysed(systems[:1], data, **options).table("cells").rows) == len(LANGUAGES)


def test_requests_may_ask_for_pseudo_sets_beside_human_ones(data: Path) -> None:
    request = Request.of("mini", tasks=["mini-xnli"], data=data, pseudo=True)
    xnli = request.task("mini-xnli")
    assert request.languages_of(xnli)[-1] == "sv"
    assert request.splits_of(xnli, "sv") == ("pseudo",)
    assert request.splits_of(xnli, "de") == ("test",)
    assert "sv" not in request.averaged_languages(xnli)
