"""Predictions in memory: tables, functions, fitted systems and embeddings score as the same answers in files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.predictions.memory import open_predictions
from isogloss.predictions.on_demand import Embeddings
from isogloss.predictions.write import write_predictions
from isogloss.systems.base import system
from isogloss.tasks.examples import Examples

ASKED: dict[str, Any] = {"suite": "mini", "tasks": ["mini-xnli", "mini-udpos"], "languages": ["en", "sw"]}
CELLS = [(task, code) for task in ASKED["tasks"] for code in ASKED["languages"]]


def answers() -> dict[str, dict[str, dict[str, Any]]]:
    """Return answers that are right except for every third example."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for task, code in CELLS:
        examples = isogloss.load(task, code)
        gold = list(examples[examples.gold])
        shifted = [gold[row - 1] if row % 3 == 0 and task == "mini-xnli" else gold[row] for row in range(len(gold))]
        found.setdefault(task, {})[code] = dict(zip(examples.ids, shifted, strict=True))
    return found


def rows() -> list[dict[str, Any]]:
    return [
        {"task": task, "language": code, "id": name, "prediction": value}
        for task, cells in answers().items()
        for code, cell in cells.items()
        for name, value in cell.items()
    ]


@pytest.fixture(scope="module")
def in_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    for name, cells in answers().items():
        for code, cell in cells.items():
            write_predictions(folder, isogloss.task(name), code, "test", list(cell), list(cell.values()))
    return folder


def of_datasets(records: list[dict[str, Any]]) -> Any:
    """Return the answers of one task as a `datasets.Dataset`, whose columns hold values of one type."""
    datasets = pytest.importorskip("datasets")
    return datasets.Dataset.from_list([record for record in records if record["task"] == "mini-xnli"])


class LazyFrame:
    """A frame whose columns can be read only after `collect`, like those of polars."""

    columns = ("task", "language", "id", "prediction")

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._records = records

    def __getitem__(self, key: Any) -> Any:
        raise TypeError("LazyFrame is not subscriptable")

    def collect(self) -> pd.DataFrame:
        return pd.DataFrame(self._records)


FORMS: dict[str, Callable[[list[dict[str, Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "mapping of columns": lambda records: {name: [record[name] for record in records] for name in records[0]},
    "arrow": lambda records: pa.Table.from_pylist([each for each in records if each["task"] == "mini-udpos"]),
    "pandas of arrow": lambda records: pa.Table.from_pylist(
        [each for each in records if each["task"] == "mini-udpos"]
    ).to_pandas(),
    "datasets": of_datasets,
    "lazy frame": LazyFrame,
}


@pytest.mark.parametrize("form", FORMS)
def test_tables_score_as_files(form: str, in_files: Path) -> None:
    table = FORMS[form](rows())
    there = open_predictions(table)
    tasks = [name for name in ASKED["tasks"] if there.has(isogloss.task(name))]
    asked = ASKED | {"tasks": tasks}
    assert tasks
    assert isogloss.score(table, **asked).cells == isogloss.score(in_files, **asked).cells
    assert isogloss.validate(table, tasks=tasks).errors == []
    assert isogloss.explain(table, **asked).explanations[0].facets
    difference = isogloss.compare(table, in_files, **asked)
    assert {contrast.difference for contrast in difference.cells} == {0.0}


def test_a_function_scores_as_its_answers(in_files: Path) -> None:
    given = answers()

    def repeats(examples: Examples) -> list[Any]:
        return [given[examples.task][examples.language][name] for name in examples.ids]

    results = isogloss.score(repeats, **ASKED)
    assert results.cells == isogloss.score(in_files, **ASKED).cells
    assert results.system["name"] == "repeats"
    checked = isogloss.validate(repeats, tasks=["mini-xnli"], languages=["sw"])
    assert (len(checked.cells), checked.errors) == (1, [])
    with pytest.raises(PredictionError, match=r"nothing to check\. Name its tasks"):
        isogloss.validate(repeats)


def test_a_fitted_system_scores_as_its_run(tmp_path: Path) -> None:
    asked = {"suite": "mini", "tasks": ["mini-xnli"], "languages": ["en", "sw"]}
    isogloss.run("ngram", out=tmp_path, seeds=1, **asked)
    fitted = system("ngram").fit(isogloss.task("mini-xnli"), isogloss.load("mini-xnli", "en", "train"), 0)
    of_run = isogloss.score(tmp_path / "ngram/zero-shot/seed-0", **asked)
    assert isogloss.score(fitted, **asked).cells == of_run.cells


def test_analyses_take_predictions_in_memory(in_files: Path) -> None:
    asked = {"suite": "mini", "tasks": ["mini-xnli"], "languages": ["en", "sw"]}
    of_memory = isogloss.analyze("consistency", {"mini-xnli": answers()["mini-xnli"]}, **asked)
    of_files = isogloss.analyze("consistency", in_files, **asked)
    assert [[row[1:] for row in table.rows] for table in of_memory.tables] == [
        [row[1:] for row in table.rows] for table in of_files.tables
    ]
    assert "<predictions in memory>" in of_memory.command
    with pytest.raises(AnalysisError, match="expected results, got predictions"):
        isogloss.analyze("families", answers())


def test_functions_that_fail_name_the_cell() -> None:
    def short(examples: Examples) -> list[str]:
        return ["neutral"]

    def broken(examples: Examples) -> list[str]:
        raise ZeroDivisionError("oops")

    def unlisted(examples: Examples) -> str:
        return "neutral"

    count = len(isogloss.load("mini-xnli", "en"))
    for function, expected in (
        (short, f"mini-xnli/en: short returned 1 answers to {count} examples"),
        (broken, "mini-xnli/en: broken failed: ZeroDivisionError: oops"),
        (unlisted, "mini-xnli/en: unlisted returned str, expected a list with one answer per example"),
    ):
        with pytest.raises(PredictionError, match=expected):
            isogloss.score(function, suite="mini", tasks=["mini-xnli"], languages=["en"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (PredictionError, "PredictionError is a class, not a fitted system"),
        (3, "predictions cannot be of type int. Pass a folder, {task"),
        ([{"id": "test-0"}], "type list.* pass several one by one, and records as a table"),
        ({"test-0": "neutral"}, "expected {task: {language: {id: answer}}}, but 'test-0' has a str"),
        ({"test": pd.DataFrame()}, "but 'test' has a DataFrame"),
        ({"mini-xnli": {"test-0": "neutral"}}, "mini-xnli/test-0: expected {id: answer} or Embeddings, got str"),
        ({"wikiann": {"sw": {}}, "panx": {"sw": {}}}, "wikiann/sw: two sets of answers, one under an alias"),
        ({"mini-xnli": {"sw": pd.Series(["a", "b"], ["x", "x"])}}, "mini-xnli/sw: ids occur more than once"),
        ({"mini-xnli": {"sw": Embeddings(queries=[], candidates=[])}}, "embeddings are for retrieval tasks"),
    ],
)
def test_other_forms_are_refused_with_the_right_ones(given: Any, message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        isogloss.score(given, suite="mini")


def test_misspelt_options_name_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown option 'langauges'\. Did you mean languages"):
        isogloss.score({}, langauges=["sw"])  # type: ignore[call-arg]


def test_objects_in_place_of_names_are_refused() -> None:
    suite = isogloss.tasks.suite("mini")
    for options, message in (
        ({"suite": suite}, "expected the name of a suite, got Suite. Pass 'mini'"),
        ({"tasks": [isogloss.task("xnli")]}, "expected the name of a task, got Task. Pass 'xnli'"),
        ({"tasks": 3}, "expected the name of a task, got int"),
        ({"suite": None}, "expected the name of a suite, got NoneType"),
    ):
        with pytest.raises(UnknownNameError, match=message):
            isogloss.score({}, **options)  # type: ignore[arg-type]


def table_of(**changed: Any) -> Any:
    """Return a table of two good rows, one of them changed."""
    good = {"task": "mini-xnli", "language": "en", "id": "test-0", "prediction": "neutral"}
    return pd.DataFrame([good, good | {"id": "test-1"} | changed])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(task="mini-xnl"), r"row 1 of the table: .*mini-xnl.*Did you mean mini-xnli"),
        (table_of(language="xx"), "row 1 of the table: unknown language of mini-xnli 'xx'"),
        (table_of(language=None), "row 1 of the table: column 'language': expected a name, got (None|nan)"),
        (table_of(id="test-0"), "row 1 of the table: column 'id': 'test-0' occurs twice in mini-xnli/en"),
        (table_of(id=1.0), r"row 1 of the table: column 'id': expected text, got 1\.0"),
        (table_of().rename(columns={"prediction": "answer"}), "no column 'prediction'.*this one has .*answer"),
        ({"task": ["mini-xnli"], "prediction": []}, "no column 'language'"),
        (
            {"task": ["mini-xnli"], "language": ["en"], "id": ["test-0"], "prediction": []},
            "columns of different lengths: task 1, language 1, id 1, prediction 0",
        ),
        (
            {"task": "mini-xnli", "language": [], "id": [], "prediction": []},
            "column 'task': expected one value per row",
        ),
        (pd.DataFrame([[1, 2]], columns=["task", "task"]).assign(**table_of()), "several columns are called 'task'"),
    ],
)
def test_wrong_tables_name_the_column_and_the_row(table: Any, message: str) -> None:
    with pytest.raises((PredictionError, UnknownNameError), match=message):
        isogloss.score(table, suite="mini")
    with pytest.raises((PredictionError, UnknownNameError), match=message):
        isogloss.validate(table)


def test_missing_values_are_abstentions_and_wrong_answers_problems() -> None:
    records = [row for row in rows() if (row["task"], row["language"]) == ("mini-xnli", "en")]
    records[0] = records[0] | {"prediction": None}
    found = isogloss.validate(pd.DataFrame(records))
    by_id = pd.DataFrame(records).set_index("id")["prediction"]
    for missing in (by_id, by_id.astype("string"), {**by_id, records[0]["id"]: np.nan}):
        assert isogloss.validate({"mini-xnli": {"en": missing}}).everything() == found.everything()
    assert found.errors == []
    assert [problem.code.value for problem in found.everything()] == ["null-answers"]
    records[1] = records[1] | {"prediction": "perhaps"}
    [error] = isogloss.validate(pd.DataFrame(records)).errors
    assert records[1]["id"] in str(error)


def test_validate_asks_for_a_known_split() -> None:
    with pytest.raises(UnknownNameError, match="split"):
        isogloss.validate(answers(), split="train")


def test_embeddings_in_memory_rank_as_those_in_files(tmp_path: Path) -> None:
    examples = isogloss.load("mini-tatoeba", "sw")
    assert examples.pool is not None
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(len(examples), 8)).astype(np.float32)
    candidates = rng.normal(size=(len(examples.pool), 8)).astype(np.float32)
    folder = tmp_path / "mini-tatoeba"
    folder.mkdir()
    for name, vectors, ids in (("queries-sw", queries, examples.ids), ("candidates-sw", candidates, examples.pool.ids)):
        np.save(folder / f"{name}.npy", vectors)
        (folder / f"{name}.ids.txt").write_text("\n".join(ids) + "\n", encoding="utf-8")
    asked: dict[str, Any] = {"suite": "mini", "tasks": ["mini-tatoeba"], "languages": ["sw"]}
    given = Embeddings(queries=queries, candidates=candidates)
    of_files = isogloss.score(tmp_path, **asked)
    assert isogloss.score({"mini-tatoeba": {"sw": given}}, **asked).cells == of_files.cells

    def embed(_: Examples) -> Embeddings:
        return given

    assert isogloss.score(embed, **asked).cells == of_files.cells
    for wrong, message in (
        (Embeddings(queries=queries[:-1], candidates=candidates), f"queries: {len(queries) - 1} rows, expected"),
        (Embeddings(queries=queries, candidates=candidates[:, :3]), "8 dimensions, but the candidates have 3"),
        (Embeddings(queries=queries * np.nan, candidates=candidates), "queries: row 0 is not finite"),
        (Embeddings(queries=queries[0], candidates=candidates), "queries: expected a matrix of floats"),
        (Embeddings(queries=[[1.0], [1.0, 2.0]], candidates=candidates), "queries: the rows have different lengths"),
    ):
        with pytest.raises(PredictionError, match=message):
            isogloss.score({"mini-tatoeba": {"sw": wrong}}, **asked)
