"""Tables: the rows of a cell, its scores, and the attributes somebody asks for."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.errors import PredictionError
from isogloss.explain.cell_table import CellTable, cell_tables
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.selection import AttributeSelection, choose_attributes
from isogloss.scoring.cells import Request, judged_cells
from isogloss.tasks.kinds.tagging import gold_spans
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from predictions.made import write_jsonl, xquad


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """XQuAD in English; `right` knows every answer, `half` says one word of each, every tenth nothing at all."""
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


def test_questions_have_three_metrics_and_the_mean_stands_first(made: Path) -> None:
    table = only([made / "half"], request(made))
    assert table.name == "xquad/en"
    assert list(table.metrics[0]) == ["score", "f1", "em"]
    # One of two words: F1 2/3 for nine in ten, no exact match; the score is their mean.
    assert table.metrics[0]["f1"].score == pytest.approx(0.9 * 2 / 3)
    assert table.metrics[0]["em"].score == 0
    assert table.metrics[0]["score"].score == pytest.approx(0.3)
    assert table.scores[0][:2].tolist() == pytest.approx([0, 1 / 3])


def test_systems_share_a_sheet_and_its_columns(made: Path) -> None:
    table = only([made / "right", made / "half"], request(made))
    assert table.systems == (0, 1)
    assert [metrics["em"].score for metrics in table.metrics] == [1, 0]
    lengths, _ = choose_attributes(["aLen", "qLen"], ["qa"]).of("qa", table.examples)
    column = table.column(lengths)
    assert column is not None
    assert set(column.tolist()) == {2}


def test_a_system_without_the_cell_is_not_in_its_sheet(made: Path, tmp_path: Path) -> None:
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


def test_entities_bring_their_own_attributes_once() -> None:
    names = [found.name for found in AttributeSelection().of("tagging")]
    assert names[:6] == ["tag", "sLen", "eLen", "tLen", "rPos", "eDen"]
    assert len(names) == len(set(names))
