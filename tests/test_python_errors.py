"""Invalid arguments in Python: one clear error of our own, never one from inside, and never a silent zero."""

from collections.abc import Callable
from typing import Any

import pytest

import isogloss
from isogloss.errors import IsoglossError

GIVEN: Any = isogloss  # the calls below have types that mypy would refuse


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    return {"mini-xnli": {"sw": dict.fromkeys(isogloss.load("mini-xnli", "sw").ids, "neutral")}}


CALLS: list[tuple[str, Callable[[dict[str, Any]], object]]] = [
    ("expected the name of a task, got NoneType", lambda given: GIVEN.score({None: {"sw": {}}}, suite="mini")),
    ("expected the name of a language of mini-xnli", lambda given: GIVEN.score({"mini-xnli": {None: {}}})),
    ("expected the name of a split, got int", lambda given: GIVEN.score(given, suite="mini", split=3)),
    ("no task is named. Name at least one", lambda given: GIVEN.score(given, suite="mini", tasks=[])),
    ("no language is named", lambda given: GIVEN.score(given, suite="mini", languages=[])),
    ("jobs must be a whole number of at least 1, got 1.5", lambda given: GIVEN.score(given, suite="mini", jobs=1.5)),
    ("jobs must be .* got 0", lambda given: GIVEN.compare(given, given, suite="mini", jobs=0)),
    ("jobs must be .* got '2'", lambda given: GIVEN.explain(given, suite="mini", jobs="2")),
    ("not a path", lambda given: GIVEN.score("x" * 100_000, suite="mini")),
    ("this one has none", lambda given: GIVEN.select({})),
    ("examples must be a whole number of at least 0", lambda given: GIVEN.explain(given, suite="mini", examples=-1)),
    ("unknown attribute 'lengths'", lambda given: GIVEN.explain(given, suite="mini", attributes="lengths")),
    ("score must be a number, got '70'", lambda given: GIVEN.plan(score="70", examples=100)),
    ("power must be a number", lambda given: GIVEN.plan(score=70, examples=100, power="80 %")),
    (
        r"a budget is a table of numbers, got 'seeds'. Pass \[\{",
        lambda given: GIVEN.plan(score=7, examples=99, budgets={"seeds": 5}),
    ),
    ("seeds of a budget must be", lambda given: GIVEN.plan(score=7, examples=99, budgets=[{"seeds": "5"}])),
    ("expected the name of an analysis, got NoneType", lambda given: GIVEN.analyze(None, "published")),
    (
        "the translator returned NoneType",
        lambda given: GIVEN.translate("mini-xnli", "sw", lambda texts: None),
    ),
    ("expected a language other than English", lambda given: GIVEN.translate("mini-xnli", None, lambda texts: texts)),
    (
        "expected a matrix of floats, got float64 with shape \\(60, 0\\)",
        lambda given: GIVEN.score(flat(), suite="mini"),
    ),
    ("expected a table, got NoneType", lambda given: GIVEN.select(None)),
    ("expected the name of a task, got NoneType", lambda given: GIVEN.load(None, "sw")),
    ("expected the name of a task, got Task. Pass 'xnli'", lambda given: GIVEN.task(isogloss.task("xnli"))),
    ("expected the name of a list, got int", lambda given: GIVEN.list(3)),
    ("no files to import", lambda given: GIVEN.import_files("hf", [], "xnli", "sw")),
    ("^missing.json: no such file", lambda given: GIVEN.import_files("hf", "missing.json", "xnli", "sw")),
    ("subset must be a whole number", lambda given: GIVEN.export("mini-xnli", "out", subset="20")),
    (
        "seed must be a whole number of at least 0, got -1",
        lambda given: GIVEN.predict("ngram", "mini-xnli", "sw", seed=-1),
    ),
    ("a system is a name such as .* got int", lambda given: GIVEN.predict(3, "mini-xnli", "sw")),
    (
        "seeds must be a whole number of at least 1, got 0",
        lambda given: GIVEN.run("ngram", out="out", suite="mini", seeds=0),
    ),
    ("subset must be .* got -1", lambda given: GIVEN.run("ngram", out="out", suite="mini", subset=-1)),
    ("jobs must be", lambda given: GIVEN.run("ngram", out="out", suite="mini", jobs=0)),
    ("expected results or their path, got NoneType", lambda given: GIVEN.report(None, "out")),
    ("expected results or their path, got dict", lambda given: GIVEN.build_board([given], "out")),
    ("^no results. Pass results", lambda given: GIVEN.report([], "out")),
    ("^publishd: no such file", lambda given: GIVEN.build_board("publishd", "out")),
    (
        "count must be a whole number of at least 1, got -1",
        lambda given: GIVEN.build_checklist("out", ["en"], count=-1),
    ),
    ("expected the name of a dataset, got int", lambda given: GIVEN.fetch(3)),
    ("answer to 'test-0': .* digits", lambda given: GIVEN.score(wide(given), suite="mini")),
]


def flat() -> dict[str, Any]:
    """Return embeddings without dimensions."""
    return {"mini-tatoeba": {"sw": isogloss.predictions.Embeddings(queries=[[]] * 60, candidates=[[]] * 60)}}


def wide(given: dict[str, Any]) -> dict[str, Any]:
    """Return numbers of thousands of digits as labels."""
    return {"mini-xnli": {"sw": dict.fromkeys(given["mini-xnli"]["sw"], 10**5000)}}


@pytest.mark.parametrize(("message", "call"), CALLS, ids=[message for message, _ in CALLS])
def test_one_clear_error(
    message: str,
    call: Callable[[dict[str, Any]], object],
    answers: dict[str, Any],
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsoglossError) as raised:
        call(answers)
    raised.match(message)
    assert not list(tmp_path.iterdir())


def test_scores_that_a_record_does_not_have(answers: dict[str, Any]) -> None:
    results = isogloss.score(answers, suite="mini")
    for key, message in {
        "mini-xnil": "no score of mini-xnil. Did you mean mini-xnli?",
        "xquad": "no score of xquad. Scored: mini-xnli",
        ("mini-xnli", "de"): "no score of mini-xnli/de. mini-xnli is scored in sw",
        ("xquad", "sw"): "no score of xquad. Scored: mini-xnli",
        3: '3 is neither a task nor a task and a language. Write results["xquad", "sw"]',
    }.items():
        given: Any = key
        with pytest.raises(KeyError) as raised:
            results[given]
        assert isinstance(raised.value, IsoglossError)
        assert str(raised.value) == message


def test_scores_of_missing_answers_say_so(answers: dict[str, Any]) -> None:
    nothing = {"mini-xnli": {"sw": dict.fromkeys(answers["mini-xnli"]["sw"]), **answers["mini-xnli"]}}
    nothing["mini-xnli"]["sw"] = dict.fromkeys(answers["mini-xnli"]["sw"], float("nan"))
    assert repr(isogloss.score(nothing, suite="mini")).endswith("mini-xnli/sw 0.0; no answers in 1 of 1 cell>")
    assert repr(isogloss.score(answers, suite="mini")).endswith("mini-xnli/sw 33.3>")


def test_errors_of_functions_name_the_line() -> None:
    def guess(examples: Any) -> Any:
        return examples["hypothesis"]

    with pytest.raises(IsoglossError, match=r'guess failed: .*\(line \d+: return examples\["hypothesis"\]\)'):
        isogloss.score(guess, suite="mini", tasks=["mini-xnli"], languages=["sw"])


def test_one_name_need_not_be_in_a_list(answers: dict[str, Any], tmp_path: Any) -> None:
    [(path, _)] = isogloss.export("mini-xnli", tmp_path, languages="sw")
    assert path.name == "sw.jsonl"
    assert [*isogloss.check_task("mini-xnli", languages="sw").sizes] == ["sw"]
    assert len(isogloss.validate(answers, tasks="mini-xnli", languages="sw").cells) == 1
    found = isogloss.analyze("families", "published:keung", tasks="xnli")
    assert found == isogloss.analyze("families", "published:keung", tasks=["xnli"])
    assert [path.name for path, _ in isogloss.build_checklist(tmp_path / "checklist", "sw", count=1)] == ["sw.jsonl"]
