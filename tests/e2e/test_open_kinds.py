"""Generation, multi-label, regression and choices of varying number through the verbs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import isogloss
from isogloss.errors import PredictionError
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.request import Request
from isogloss.scoring.stored import can_store, read_cell, write_cell
from isogloss.systems.base import system
from open_tasks import LANGUAGES, OPEN_TASKS, SUITE, registered, write_data


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with registered():
        yield write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def baseline(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the n-gram system's predictions."""
    out = tmp_path_factory.mktemp("runs")
    done = isogloss.run("ngram", out=out, suite=SUITE, data=data, seeds=1)
    assert not done.failed
    return out / "ngram" / "zero-shot" / "seed-0"


def answers(data: Path, worsen: Any) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the gold of all tasks as predictions, changed by a function of task, row and gold."""
    made: dict[str, dict[str, dict[str, Any]]] = {}
    for name in OPEN_TASKS:
        for language in LANGUAGES:
            examples = isogloss.load(name, language, data=data)
            gold = zip(examples.ids, examples[examples.gold], strict=True)
            made.setdefault(name, {})[language] = {
                identifier: worsen(name, row, right) for row, (identifier, right) in enumerate(gold)
            }
    return made


def perfect(name: str, row: int, gold: Any) -> Any:
    return gold[0] if name == "gists" else gold


def poor(name: str, row: int, gold: Any) -> Any:
    """Spoil two of three answers."""
    if row % 3 == 0:
        return perfect(name, row, gold)
    return {"gists": "ban dora", "subjects": ["law"], "likeness": 5 - float(row % 7) / 2, "quiz": 1 - min(1, row % 2)}[
        name
    ]


def test_right_answers_score_100_and_wrong_ones_less(data: Path) -> None:
    best = isogloss.score(answers(data, perfect), suite=SUITE, data=data)
    assert best.overall is not None
    assert best.overall.score.value == pytest.approx(100)
    worse = isogloss.score(answers(data, poor), suite=SUITE, data=data)
    for cell in worse.cells:
        number = cell.metrics[OPEN_TASKS[cell.task].main[0]]
        assert number.low is not None
        assert number.high is not None
        assert -100 <= number.low < number.value < number.high <= 100
        assert number.value < 90


def test_signatures_name_references_and_tokenizers(data: Path) -> None:
    results = isogloss.score(answers(data, perfect), suite=SUITE, data=data, tasks=["gists"])
    for cell in results.cells:
        assert "|bleu:nrefs:var,case:mixed,eff:no,tok:13a,smooth:exp,version:2.6.0|" in cell.signature
        assert "|chrf:nrefs:var,case:mixed,eff:yes,nc:6,nw:0,space:no,version:2.6.0|" in cell.signature


def test_comparison_finds_the_better_system(data: Path) -> None:
    compared = isogloss.compare(answers(data, perfect), answers(data, poor), suite=SUITE, data=data)
    assert all(cell.p < 0.05 and cell.difference > 0 for cell in compared.cells)
    assert len(compared.cells) == len(OPEN_TASKS) * len(LANGUAGES)
    same = isogloss.compare(answers(data, poor), answers(data, poor), suite=SUITE, data=data)
    assert all(cell.p == 1 and cell.difference == 0 for cell in same.cells)


def test_explanations_bucket_corpus_metrics(data: Path) -> None:
    analysis = isogloss.explain(answers(data, poor), suite=SUITE, data=data)
    facets = {(facet.task, facet.attribute): facet for facet in analysis.explanations[0].facets}
    assert {("gists", "refLen"), ("gists", "t1Len"), ("subjects", "labels")} <= facets.keys()
    assert {("likeness", "goldScore"), ("likeness", "overlap"), ("quiz", "choices")} <= facets.keys()
    for facet in facets.values():
        assert all(-100 <= bucket.value <= 100 for bucket in facet.buckets)


def test_ngram_system_beats_chance(data: Path, baseline: Path) -> None:
    scored = isogloss.score(baseline, suite=SUITE, data=data)
    means = {average.name: average.score.value for average in scored.tasks}
    assert means["subjects"] > 50
    assert means["likeness"] > 50
    assert 10 < means["gists"] < 100
    chance = [cell.metrics["chance"].value for cell in scored.cells if cell.task == "quiz"]
    assert all(100 / 12 < value < 50 for value in chance)
    assert means["quiz"] > max(chance) + 20


def test_cells_are_stored_and_read_back(data: Path, tmp_path: Path) -> None:
    request = Request.of(SUITE, data=data)
    for number, cell in enumerate(judged_cells(answers(data, poor), request)):
        assert can_store(cell)
        write_cell(tmp_path / f"{number}.npz", cell)
        again = read_cell(tmp_path / f"{number}.npz")
        assert again is not None
        assert again.signature == cell.signature
        assert {name: one.score for name, one in again.metrics.items()} == {
            name: one.score for name, one in cell.metrics.items()
        }


@pytest.mark.parametrize(
    ("name", "answer", "message"),
    [
        ("gists", 3, "Expected `str`, got `int`"),
        ("subjects", ["dances"], "label 'dances' is not one of dance, law, kites, jazz. Did you mean dance?"),
        ("subjects", "law", "Expected `array`, got `str`"),
        ("likeness", "3", "Expected `float`, got `str`"),
        ("likeness", float("nan"), "nan is not a finite number"),
        ("likeness", float("inf"), "inf is not a finite number"),
        ("quiz", 26, "26 is not the index of one of "),
        ("quiz", "A", "'A' is a string"),
    ],
)
def test_invalid_answers_are_refused_by_id(data: Path, name: str, answer: Any, message: str) -> None:
    predictions = {name: {"en": answers(data, perfect)[name]["en"] | {"test-7": answer}}}
    with pytest.raises(PredictionError) as error:
        isogloss.score(predictions, suite=SUITE, data=data)
    assert message in str(error.value)
    assert "test-7" in str(error.value)


def test_answers_outside_the_scale_are_noted(data: Path) -> None:
    predictions = {"likeness": {"en": answers(data, perfect)["likeness"]["en"] | {"test-7": 70.0}}}
    [cell] = isogloss.score(predictions, suite=SUITE, data=data).cells
    assert any("outside the scale of 0 to 5" in note for note in cell.notes)
    assert 0 < cell.metrics["mae"].value <= 100 / 60


def test_constant_answers_correlate_by_0_with_a_note(data: Path) -> None:
    ids = isogloss.load("likeness", "en", data=data).ids
    [cell] = isogloss.score({"likeness": {"en": dict.fromkeys(ids, 2.5)}}, suite=SUITE, data=data).cells
    assert cell.metrics["pearson"].value == cell.metrics["spearman"].value == 0
    assert "all answers are equal, so that correlations are 0" in cell.notes


def test_missing_answers(data: Path) -> None:
    """A missing answer is never right: an empty text, no label, the mean number, no choice."""
    made = answers(data, perfect)
    for languages in made.values():
        languages["en"] = dict.fromkeys(languages["en"])
    results = isogloss.score(made, suite=SUITE, data=data, languages=["en"])
    for cell in results.cells:
        values = {name: number.value for name, number in cell.metrics.items() if name != "chance"}
        assert values == {name: 100 if name in ("mae", "mse") else 0 for name in values}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 30) | st.floats() | st.text(max_size=5) | st.sampled_from(["law", "A"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.parametrize("name", OPEN_TASKS)
@given(found=st.lists(JSON, min_size=1, max_size=6))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_answers_are_refused_or_scored(data: Path, name: str, found: list[Any]) -> None:
    examples = isogloss.load(name, "en", data=data)
    given_answers = {key: found[row % len(found)] for row, key in enumerate(examples.ids)}
    try:
        [cell] = isogloss.score({name: {"en": given_answers}}, suite=SUITE, data=data).cells
    except PredictionError as error:
        assert "test-" in str(error)
    else:
        assert all(-100 <= number.value <= 100 for number in cell.metrics.values())


def test_report_with_negative_correlations(data: Path, tmp_path: Path) -> None:
    turned = answers(data, lambda name, row, gold: 5 - gold if name == "likeness" else poor(name, row, gold))
    results = isogloss.score(turned, suite=SUITE, data=data)
    [worst] = {round(cell.metrics["pearson"].value) for cell in results.cells if cell.task == "likeness"}
    assert worst == -100
    path = tmp_path / "results.json"
    results.to_json(path)
    isogloss.report(path, out=tmp_path / "report", pictures=False)
    assert "likeness" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_gold_folders(data: Path, tmp_path: Path) -> None:
    """Labels in a folder give the same scores as the data folder."""
    made = answers(data, poor)
    for name in ("gists", "subjects", "likeness"):
        examples = isogloss.load(name, "en", data=data)
        gold = dict(zip(examples.ids, examples[examples.gold], strict=True))
        path = tmp_path / name / "test-en.json"
        path.parent.mkdir()
        path.write_text(json.dumps(gold), encoding="utf-8")
        one = {name: {"en": made[name]["en"]}}
        [own] = isogloss.score(one, suite=SUITE, data=data).cells
        [other] = isogloss.score(one, suite=SUITE, gold=tmp_path, tasks=[name]).cells
        assert own.metrics == other.metrics


def test_exported_inputs_hide_the_gold(data: Path, tmp_path: Path) -> None:
    for name, made in OPEN_TASKS.items():
        [(path, count), *_] = isogloss.export(name, tmp_path, data=data, languages=["en"])
        keys = set(json.loads(path.read_text(encoding="utf-8").splitlines()[0]))
        assert count == 60
        assert isogloss.tasks.kinds.kind_of(made).gold not in keys


def test_systems_without_a_form_name_others() -> None:
    assert system("encoder:m").refusal(OPEN_TASKS["gists"]).endswith("the text of gists: use ngram, text2text or llm")
    assert system("text2text:m").refusal(OPEN_TASKS["likeness"]).endswith(": use ngram, encoder or llm")


def test_ngram_copies_texts_without_training_files(data: Path) -> None:
    from dataclasses import replace

    task = OPEN_TASKS["gists"]
    untrained = replace(task, layouts=tuple(replace(layout, train="") for layout in task.layouts))
    made, examples = system("ngram"), isogloss.load("gists", "en", data=data)
    assert not made.needs_training(untrained)
    assert made.fit(untrained, None, 0).predict(examples) == examples["text"]


def test_neural_heads_train_and_answer(data: Path, tiny_bert: Path, tiny_mt5: Path) -> None:
    for name, model in (
        ("subjects", f"encoder:{tiny_bert}"),
        ("likeness", f"encoder:{tiny_bert}"),
        ("quiz", f"encoder:{tiny_bert}"),
        ("quiz", f"text2text:{tiny_mt5}"),
        ("gists", f"text2text:{tiny_mt5}"),
    ):
        task = OPEN_TASKS[name]
        train = isogloss.load(name, "en", "dev", data=data)
        examples = isogloss.load(name, "en", data=data)
        given = system(f"{model}#steps=2,quiet,max_length=32").fit(task, train, 0).predict(examples)
        assert len(given) == len(examples)
        kind = isogloss.tasks.kinds.kind_of(task)
        assert not list(kind.errors(task, examples, given))
        assert np.isfinite(isogloss.tasks.kinds.judge(task, examples, given).metrics[task.main[0]].score)
