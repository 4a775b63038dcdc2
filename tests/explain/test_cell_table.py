"""Tables: the rows of a cell, its scores, and the requested attributes."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.errors import PredictionError
from isogloss.explain.analysis import explain_request
from isogloss.explain.cell_table import CellTable, cell_tables, gold_table
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.selection import AttributeSelection, choose_attributes
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.compare import compare_request
from isogloss.scoring.request import Request
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, Kind, Values
from isogloss.tasks.kinds.classification import Classification
from isogloss.tasks.kinds.tagging import gold_spans
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from isogloss.tasks.task import Task
from predictions.made import write_jsonl, xquad


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write English XQuAD; `right` has every answer, `half` one word of each, and nothing for every tenth."""
    root = tmp_path_factory.mktemp("rows")
    answers = xquad(root / "data")
    write_jsonl(root / "right/xquad/en.jsonl", dict(answers))
    half = {key: text.split()[0] for place, (key, text) in enumerate(answers.items()) if place % 10}
    write_jsonl(root / "half/xquad/en.jsonl", dict(half))
    return root


def request(made: Path) -> Request:
    return Request.of(tasks=["xquad"], languages=["en"], data=made / "data")


def only(systems: list[Path], asked: Request) -> CellTable:
    (table,) = cell_tables(systems, asked)
    return table


def test_questions_have_three_metrics_with_the_mean_first(made: Path) -> None:
    table = only([made / "half"], request(made))
    assert table.name == "xquad/en"
    assert list(table.metrics[0]) == ["score", "f1", "em"]
    # One of two words: F1 is 2/3 for nine in ten, exact match 0; the score is their mean.
    assert table.metrics[0]["f1"].score == pytest.approx(0.9 * 2 / 3)
    assert table.metrics[0]["em"].score == 0
    assert table.metrics[0]["score"].score == pytest.approx(0.3)
    assert table.scores[0][:2].tolist() == pytest.approx([0, 1 / 3])


def test_systems_share_a_table_and_its_columns(made: Path) -> None:
    table = only([made / "right", made / "half"], request(made))
    assert table.systems == (0, 1)
    assert [metrics["em"].score for metrics in table.metrics] == [1, 0]
    lengths, _ = choose_attributes(["aLen", "qLen"], ["qa"]).of("qa", table.examples)
    column = table.column(lengths)
    assert column is not None
    assert set(column.tolist()) == {2}


def test_system_without_the_cell_is_not_in_its_table(made: Path, tmp_path: Path) -> None:
    (tmp_path / "other/xcopa").mkdir(parents=True)
    found = cell_tables([tmp_path / "other", made / "half"], request(made))
    assert next(found).systems == (1,)
    with pytest.raises(PredictionError, match="no test predictions for xquad"):
        next(found)


@pytest.mark.parametrize("name", suite("mini").tasks)
def test_rows_of_every_kind_sum_to_the_score(name: str, tmp_path: Path) -> None:
    of = task(name)
    language = of.languages[0]
    gold = load_gold(of, language, "test", None)
    answers = dict(zip(gold.ids, gold[gold.gold], strict=True))
    if of.kind == "qa":
        answers = {key: value[0] for key, value in answers.items()}
    wrong = list(answers.values())[-1]
    if of.kind == "tagging":
        answers = {
            key: [of.labels[0]] * len(value) if row % 3 == 0 else value
            for row, (key, value) in enumerate(answers.items())
        }
    else:
        answers = {key: wrong if row % 3 == 0 else value for row, (key, value) in enumerate(answers.items())}
    write_jsonl(tmp_path / f"system/{name}/{language}.jsonl", answers)
    asked = Request.of("mini", tasks=[name], languages=[language])
    (cell,) = judged_cells(tmp_path / "system", asked)
    table = only([tmp_path / "system"], asked)
    whole = np.mean([cell.metrics[metric].score for metric in of.main])
    assert table.metrics[0][table.main].score == pytest.approx(whole)
    assert len(table.scores[0]) == len(gold)
    assert 0 < whole < 1


def test_answers_that_are_spans_have_entities(tmp_path: Path) -> None:
    of = task("mini-wikiann")
    language = of.languages[0]
    gold = load_gold(of, language, "test", None)
    spans = gold_spans(of, gold)
    said = {key: found if row % 3 else [] for row, (key, found) in enumerate(zip(gold.ids, spans, strict=True))}
    write_jsonl(tmp_path / f"system/mini-wikiann/{language}.jsonl", said)
    asked = Request.of("mini", tasks=["mini-wikiann"], languages=[language])
    (cell,) = judged_cells(tmp_path / "system", asked)
    table = only([tmp_path / "system"], asked)
    assert table.metrics[0]["f1"].sums.tolist() == cell.metrics["f1"].sums.tolist()
    assert len(table.row_example) == sum(map(len, spans))
    titles = {cut.attribute.name: cut.attribute.title for cut in bucketed_rows(table, AttributeSelection())}
    assert titles["eLen"] == "entity length in characters"
    assert {"sLen", "tLen", "rPos", "eDen"} <= set(titles)


def test_parts_of_speech_are_spans_not_entities(tmp_path: Path) -> None:
    of = task("mini-udpos")
    gold = load_gold(of, "en", "test", None)
    write_jsonl(tmp_path / "system/mini-udpos/en.jsonl", dict(zip(gold.ids, gold["tags"], strict=True)))
    table = only([tmp_path / "system"], Request.of("mini", tasks=["mini-udpos"], languages=["en"]))
    titles = {cut.attribute.name: cut.attribute.title for cut in bucketed_rows(table, AttributeSelection())}
    assert titles["tag"] == "type of the span"
    assert titles["tLen"] == "span length in characters, blanks not counted"
    assert not any("entit" in title for title in titles.values())


def test_entities_have_their_own_attributes_once() -> None:
    names = [found.name for found in AttributeSelection().of("tagging")]
    assert names[:6] == ["tag", "sLen", "eLen", "tLen", "rPos", "eDen"]
    assert len(names) == len(set(names))


def test_sentences_are_counted_in_tokens_for_any_answers() -> None:
    of = task("wikiann")
    tokens = [["Ada", "met", "Bo", "Li"], ["In", "Oslo"]]
    tags = [["B-PER", "O", "B-PER", "I-PER"], ["O", "B-LOC"]]
    examples = Examples("wikiann", "en", "test", ["a", "b"], {"tokens": tokens, "tags": tags}, "tags")
    table = gold_table(of, examples, None)
    (length,) = choose_attributes(["sLen"], ["tagging"]).of("tagging", examples)
    column = table.column(length)
    assert column is not None
    assert column.tolist() == [4, 4, 2]


def test_kind_may_judge_several_rows_of_an_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question has two rows; in the second, half of the systems' answers are wrong."""

    def judge(self: Kind, task: Task, examples: Examples, values: Values) -> Judgement:
        right = np.array([a == b for a, b in zip(examples["label"], values, strict=True)])
        twice = np.repeat(np.arange(len(examples)), 2)
        rows = np.stack([right, right & (np.arange(len(right)) % 2 == 0)], axis=1).astype(float).reshape(-1, 1)
        return Judgement({"accuracy": Statistics(rows, MEAN, twice)}, row_example=twice)

    monkeypatch.setattr(Classification, "judge", judge)
    gold = load_gold(task("mini-xnli"), "en", "test", None)
    pairs = list(zip(gold.ids, gold["label"], strict=True))
    for name, step in (("one", 3), ("two", 5)):
        said = {key: label if row % step else "neutral" for row, (key, label) in enumerate(pairs)}
        write_jsonl(tmp_path / f"{name}/mini-xnli/en.jsonl", said)
    systems = [tmp_path / "one", tmp_path / "two"]
    asked = Request.of("mini", tasks=["mini-xnli"], languages=["en"])
    found = explain_request(systems, asked, choose_attributes(["label", "t1Len"], ["classification"]), examples=1)
    (comparison,) = compare_request(systems, asked)
    scores = (comparison.cells[0].first, comparison.cells[0].second)
    for explanation, score in zip(found.explanations, scores, strict=True):
        for facet in explanation.facets:
            assert sum(each.bucket.n for each in facet.buckets) == 2 * len(gold)
            total = sum(each.bucket.n * each.value for each in facet.buckets)
            assert total / (2 * len(gold)) == pytest.approx(score)
            assert all(each.low <= each.value <= each.high and each.low < each.high for each in facet.buckets)
    table = next(cell_tables(systems, asked))
    assert set(table.scores[0].tolist()) == {0, 0.5, 1}
    assert found.pairs[0].cells[0].difference == pytest.approx(comparison.cells[0].difference)
