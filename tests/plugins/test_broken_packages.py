"""Packages that cannot be loaded, or that use our names, are reported when needed and do not affect other work."""

import json
from pathlib import Path

import pytest

from plugins.installed import Environment, declare

# A missing module, a missing object and an object of the wrong type; then names of built-in objects.
BROKEN = {"absent": "nowhere:THING", "failing": "broken_plugin:missing", "wrong": "broken_plugin:NUMBER"}
_OBJECTS = "kinds:qa tasks:xquad suites:xtreme-r metrics:accuracy attributes:aLen systems:ngram"
OURS = {f"isogloss.{group}": name for group, name in (entry.split(":") for entry in _OBJECTS.split())}


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    root = tmp_path_factory.mktemp("broken")
    declare(root / "site", "broken-plugin", {g: {**BROKEN, ours: "broken_plugin:NUMBER"} for g, ours in OURS.items()})
    (root / "site" / "broken_plugin.py").write_text("NUMBER = 3\n", encoding="utf-8")
    return Environment(root / "site", root / "data")


@pytest.fixture(scope="module")
def answered(broken: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the baseline's answers to a built-in task, with the broken package installed."""
    runs = tmp_path_factory.mktemp("runs")
    words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "en,sw", "--seeds", 1, "--out", runs)
    broken.isogloss("run", "ngram", *words)
    return runs / "ngram" / "zero-shot" / "seed-0"


@pytest.mark.parametrize("what", ["tasks", "suites", "metrics"])
def test_lists_skip_unloadable_objects_with_a_warning(broken: Environment, what: str) -> None:
    done = broken.isogloss("list", what, "--json")
    assert not {*BROKEN} & {next(iter(row.values())) for row in json.loads(done.out)}
    noun = what.removesuffix("s")
    for message in (
        f"warning: {noun} skipped: nowhere:THING: {noun} 'absent' cannot be loaded: No module named 'nowhere'",
        f"warning: {noun} skipped: broken_plugin:missing: {noun} 'failing' cannot be loaded: ",
        f"{noun} 'wrong' cannot be loaded: it is a int, not a {noun.capitalize()}",
        f"warning: {noun} skipped: broken_plugin:NUMBER: the name {OURS[f'isogloss.{what}']!r} is taken",
    ):
        assert message in done.err, done.err


def test_systems_are_listed_by_name_and_ours_are_ours(broken: Environment) -> None:
    sources = {row["system"]: row["from"] for row in json.loads(broken.isogloss("list", "systems", "--json").out)}
    assert sources["ngram"] == "isogloss.systems.ngram:NgramSystem"
    assert sources["absent"] == "nowhere:THING"


@pytest.mark.slow
def test_every_verb_serves_our_tasks(broken: Environment, answered: Path, tmp_path: Path) -> None:
    words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "en,sw")
    assert "2 files, 0 errors" in broken.isogloss("validate", answered).out
    broken.isogloss("export", "mini-xnli", "--languages", "en", "--out", tmp_path / "inputs")
    target = tmp_path / "results.json"
    broken.isogloss("score", answered, *words, "--json", target)
    assert [cell["language"] for cell in json.loads(target.read_text(encoding="utf-8"))["cells"]] == ["en", "sw"]
    broken.isogloss("compare", answered, answered, *words)
    broken.isogloss("explain", answered, *words)
    broken.isogloss("report", target, "--no-pictures", "--out", tmp_path / "report")


@pytest.mark.parametrize("name", BROKEN)
def test_requesting_one_is_an_error_with_reason(broken: Environment, name: str, tmp_path: Path) -> None:
    for words in (("list", name), ("run", name, "--suite", "mini", "--out", tmp_path)):
        error = broken.isogloss(*words, code=1).err
        assert f"error: {BROKEN[name]}" in error, error
        assert "cannot be loaded" in error or "is not a System" in error


@pytest.mark.slow
def test_every_command_reports_the_requested_name(broken: Environment, answered: Path, tmp_path: Path) -> None:
    for words in (
        ("export", "absent", "--out", tmp_path),
        ("score", answered, "--tasks", "absent"),
        ("score", answered, "--suite", "absent"),
        ("validate", answered, "--tasks", "absent"),
    ):
        assert broken.isogloss(*words, code=1).err.startswith("error: nowhere:THING: ")


def test_answers_to_a_task_that_cannot_be_loaded_are_named(broken: Environment, tmp_path: Path) -> None:
    (tmp_path / "absent").mkdir()
    assert "task 'absent' cannot be loaded" in broken.isogloss("validate", tmp_path, code=1).err


def test_task_of_a_kind_that_cannot_be_loaded(tmp_path: Path) -> None:
    """The task can be listed; commands that need its kind report that it cannot be loaded."""
    code = """
from isogloss.tasks import Layout, Task
files = (Layout("pairs.documents", test="odd/{lang}.tsv"),)
TASK = Task(id="odd", title="Odd: a task", kind="absent", category="odd", languages=("en",), main=("accuracy",),
            layouts=files, counts={}, licence="", homepage="", citation="")
"""
    (tmp_path / "odd_plugin.py").write_text(code, encoding="utf-8")
    declare(tmp_path, "odd-plugin", {"isogloss.tasks": {"odd": "odd_plugin:TASK", "other": "odd_plugin:TASK"}})
    declare(tmp_path, "kinds-plugin", {"isogloss.kinds": {"absent": "nowhere:KIND"}})
    env = Environment(tmp_path, tmp_path / "data")
    done = env.isogloss("list", "tasks")
    assert "odd" in done.out
    assert "task 'other' cannot be loaded: its own name is 'odd'" in done.err
    (tmp_path / "data" / "odd").mkdir(parents=True)
    (tmp_path / "data" / "odd" / "en.tsv").write_text("yes\ttext\n", encoding="utf-8")
    assert "kind 'absent' cannot be loaded" in env.isogloss("export", "odd", "--out", tmp_path / "out", code=1).err


def test_first_of_two_packages_has_the_name(tmp_path: Path) -> None:
    code = "from isogloss.tasks import Suite\nSUITE = Suite(id='ours', title='{}', tasks=('xnli',))\n"
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(code.format(name), encoding="utf-8")
        declare(tmp_path, name, {"isogloss.suites": {"ours": f"{name}:SUITE"}})
    done = Environment(tmp_path, tmp_path / "data").isogloss("list", "suites", "--json")
    (title,) = (row["title"] for row in json.loads(done.out) if row["suite"] == "ours")
    other = {"one": "two", "two": "one"}[title]
    assert f"warning: {other}:SUITE skipped: {title}:SUITE has the name 'ours' in isogloss.suites" in done.err


@pytest.mark.slow
def test_failing_plugins_are_skipped_for_builtin_tasks(answered: Path, tmp_path: Path) -> None:
    """A raising attribute and metric, and an attribute of the wrong length, are skipped; a plain list works."""
    code = """
from isogloss.explain.model import Attribute
from isogloss.metrics.registry import Metric

def fails(*_):
    raise KeyError("boom")

FAILING = Attribute("failing", "it fails", needs=("text_a",), values=fails)
SHORT = Attribute("short", "too few", needs=("text_a",), values=lambda examples: [1.0])
LISTED = Attribute("listed", "a list", needs=("text_a",), discrete=True,
                   values=lambda examples: ["even" if row % 2 == 0 else "odd" for row in range(len(examples))])
METRIC = Metric("failing-metric", "it fails", kinds=("classification",), statistics=fails)
"""
    (tmp_path / "failing_plugin.py").write_text(code, encoding="utf-8")
    attributes = {name.lower(): f"failing_plugin:{name}" for name in ("FAILING", "SHORT", "LISTED")}
    groups = {"isogloss.attributes": attributes, "isogloss.metrics": {"failing-metric": "failing_plugin:METRIC"}}
    declare(tmp_path, "failing-plugin", groups)
    env = Environment(tmp_path, tmp_path / "data")
    words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "sw")
    scored = env.isogloss("score", answered, *words)
    assert "metric skipped: failing-metric of mini-xnli/sw: KeyError: 'boom'" in scored.err
    target = tmp_path / "explained.json"
    for systems in ([answered], [answered, answered], ["--bias"]):
        done = env.isogloss("explain", *systems, *words, "--json", target)
        assert "attribute skipped: failing of mini-xnli/sw: KeyError: 'boom'" in done.err
        assert "attribute skipped: short of mini-xnli/sw: ValueError: (1,) values for " in done.err
        assert "listed" in target.read_text(encoding="utf-8")
