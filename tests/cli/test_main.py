"""The `isogloss` command: help, exit codes, error messages and import limits."""

import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caches import new_cache
from isogloss.cli import demo
from isogloss.cli.main import VERBS, main, verb_command
from isogloss.languages.published import doubts
from isogloss.tasks.registry import MINI_TASKS, task
from isogloss.tasks.suites import suite
from parsed_commands import command_problem, commands
from sample import write_systems

HEAVY = ("torch", "transformers", "altair", "fastapi", "scipy", "sklearn", "pandas", "pyarrow")


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in VERBS)


def hidden_parameters(verb: str) -> list[str]:
    """Return the hidden options of a verb and its subcommands."""
    commands: list[Any] = [verb_command(verb)]
    hidden = []
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        hidden += [parameter.name for parameter in command.params if getattr(parameter, "hidden", False)]
    return hidden


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_every_option(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(verb, "--help") == 0
    text = capsys.readouterr().out
    assert f"isogloss {verb}" in text
    for parameter in hidden_parameters(verb):
        pytest.fail(f"hidden option {parameter}")


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_fits_eighty_columns(
    verb: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paragraphs wrap once, nothing is truncated, and examples can be copied."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(*([verb] if verb else []), "--help") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= (80 if verb else 92)
    assert not any(line.endswith("…│") or "… │" in line for line in lines)
    examples = itertools.dropwhile(lambda line: line.strip() != "Examples:", lines)
    assert [line for line in examples if line.startswith(" --")] == []


def examples_of_help(command: Any) -> Iterator[str]:
    for subcommand in getattr(command, "commands", {}).values():
        yield from examples_of_help(subcommand)
    _, _, examples = (command.help or "").partition("Examples:")
    lines = "\n".join(line.strip() for line in examples.replace("\b", "\n").splitlines())
    yield from (re.sub(r"  +\(.*\)$", "", line) for line in commands(lines))


@pytest.mark.parametrize("verb", VERBS)
def test_examples_of_help_are_valid(verb: str) -> None:
    """Verbs, options, values and names; pages of the documentation run such commands."""
    examples = list(examples_of_help(verb_command(verb)))
    assert examples or verb == "demo"
    assert [problem for line in examples if (problem := command_problem(line))] == []


# Examples that run anywhere, in a folder with a baseline's predictions and their scores.
OFFLINE = re.compile(
    r"list|completion|task new feelings --yes|plan (--score|published)|report results.json"
    r"|analyze( transfer-gap)?( results.json)?$|predict ngram --task mini|score runs.ngram|board admin create.*title"
    r"|checklist (show|reference --order|review --language)"
)


@pytest.mark.slow
def test_examples_of_help_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for split in ("train", "dev", "test"):
        rows = "".join(f"{word} {split} {row},{word}\n" for row in range(9) for word in ("good", "bad"))
        Path("feelings/en").mkdir(parents=True, exist_ok=True)
        Path(f"feelings/en/{split}.csv").write_text("text,label\n" + rows, encoding="utf-8")
    cells = ("--tasks", "mini-xnli", "--languages", "en,sw")
    assert run("run", "ngram", "--suite", "mini", *cells, "--seeds", "1", "--out", "runs") == 0
    assert run("score", "runs/ngram/zero-shot/seed-0", "--suite", "mini", "--json", "results.json") == 0
    examples = [line for verb in VERBS for line in examples_of_help(verb_command(verb))]
    chosen = [line for line in examples if OFFLINE.match(line.removeprefix("isogloss "))]
    assert len(chosen) >= 20
    assert [line for line in chosen if run(*shlex.split(line)[1:]) != 0] == []


def test_paragraphs_of_help_fill_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    run("board", "build", "--help")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    examples = lines.index("Examples:")
    assert [bool(line) for line in lines[examples - 3 : examples + 3]] == [False, True, False, True, True, True]
    paragraph = lines[examples - 2]
    assert paragraph.startswith("Replaces an existing site")
    assert paragraph.endswith("a public task.")


def test_unknown_verb_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("scroe") == 2
    assert "Did you mean score" in capsys.readouterr().err


def test_missing_verbs_and_invalid_options_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert run("score", "x", "--nonsense") == 2
    assert run("compare", "x") == 2
    assert run("--version") == 0


def test_errors_have_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", str(tmp_path / "missing")) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("what", ["tasks", "languages", "all-languages", "suites", "metrics", "systems"])
def test_lists_as_json(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", what, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    counts = {"tasks": 31, "languages": 51, "all-languages": 7867, "suites": 9, "metrics": 32, "systems": 7}
    assert len(rows) == counts[what]


def test_list_without_argument_names_the_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "--json") == 0
    names = [row["list"] for row in json.loads(capsys.readouterr().out)]
    assert names == [
        *("tasks", "languages", "all-languages", "suites", "metrics", "systems", "analyses", "doubts", "NAME")
    ]
    assert run("list") == 0
    assert "analyses for isogloss analyze" in capsys.readouterr().out


def test_one_task_one_language_and_a_typo(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "panx") == 0
    assert "wikiann" in capsys.readouterr().out
    assert run("list", "yo") == 0
    assert "Yoruba" in capsys.readouterr().out
    assert run("list", "mewslix", "--json") == 0
    fields = {row["field"]: row["value"] for row in json.loads(capsys.readouterr().out)}
    assert "116,903 in print; 115K" in fields["doubts"]
    assert run("list", "doubts", "--json") == 0
    assert [row["about"] for row in json.loads(capsys.readouterr().out)] == [doubt.about for doubt in doubts()]
    assert run("list", "taks") == 2
    assert "Did you mean tasks" in capsys.readouterr().err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_systems(tmp_path_factory.mktemp("made"), suite("xtreme-r"), 10, a=0.9, b=0.5)


@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_score_and_compare_in_every_form(made: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    gold = str(made / "gold")
    assert run("score", str(made / "a"), "--gold", gold, "--format", form, "--languages", "en,de,zh") == 0
    assert "overall" in capsys.readouterr().out
    assert (
        run("compare", str(made / "a"), str(made / "b"), "--gold", gold, "--format", form, "--tasks", "xnli,xcopa") == 0
    )
    assert "a is the better checkpoint" in capsys.readouterr().out


def test_records_are_written(made: Path, tmp_path: Path) -> None:
    words = ["score", str(made / "a"), "--gold", str(made / "gold"), "--json", str(tmp_path / "r.json")]
    assert run(*words, "--csv", str(tmp_path / "s.csv")) == 0
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["schema_version"] == 1
    assert record["system"]["name"] == "a"
    assert (tmp_path / "s.csv").read_text().startswith("level,task,language")


def test_validate_exit_codes(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "p/xquad"
    folder.mkdir(parents=True)
    (folder / "en.jsonl").write_text('{"id": 1}\n')
    assert run("validate", str(tmp_path / "p"), "--data", str(tmp_path)) == 1
    assert "en.jsonl:1" in capsys.readouterr().out.replace("\n", "")


def test_output_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = "".join(json.dumps({"id": f"q{row}", "prediction": {"x": "y" * 1_000}}) + "\n" for row in range(200))
    codes = task("wikiann").languages
    (tmp_path / "p/wikiann").mkdir(parents=True)
    for code in codes:
        (tmp_path / f"p/wikiann/{code}.jsonl").write_text(answers)
    for verb in ("validate", "score"):
        assert run(verb, str(tmp_path / "p"), "--data", str(tmp_path)) == 1
        captured = capsys.readouterr()
        text = captured.out + captured.err
        assert len(text) < 100_000
        assert "more" in text
    assert run("score", str(tmp_path / "p"), "--tasks", "x" * 1_000_000) == 2
    assert len(capsys.readouterr().err) < 30_000


# Run commands one after the other and print the modules imported after each.
IMPORTED = """
import json, sys
from isogloss.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as stop:
        assert not stop.code, words
    sys.stderr.write(f"\\nMODULES {' '.join(sys.modules)}\\n")
"""


def test_light_verbs_import_nothing_heavy(made: Path) -> None:
    a, b, gold = (str(made / name) for name in ("a", "b", "gold"))
    commands = [
        ["--help"],
        ["list", "tasks"],
        ["validate", a, "--gold", gold, "--languages", "en,de"],
        ["score", a, "--gold", gold, "--languages", "en,de"],
        ["compare", a, b, "--gold", gold, "--tasks", "xnli", "--languages", "en,de"],
    ]
    words = [sys.executable, "-c", IMPORTED, json.dumps(commands)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if line.startswith("MODULES ")]
    for (verb, *_), line in zip(commands, lines, strict=True):
        modules = set(line.split())
        assert "isogloss.cli.main" in modules
        assert not modules & set(HEAVY), verb
        if verb in ("--help", "list"):
            assert not modules & {"numpy", "msgspec", "filelock"}, verb


@pytest.fixture
def few_languages(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the demo's tasks in its own languages, and in each other one once: all 367 cells take three times as long."""
    if request.config.getoption("--every-case"):
        return
    seen: set[str] = set()
    lines = [f"tasks = {json.dumps(MINI_TASKS)}", "[languages]"]
    for name in MINI_TASKS:
        fresh = [code for code in task(name).languages if code not in seen][:12]
        kept = [code for code in task(name).languages if code in (*demo.LANGUAGES, *fresh)]
        seen.update(kept)
        lines.append(f"{name} = {json.dumps(kept)}")
    assert seen == {code for name in MINI_TASKS for code in task(name).languages}
    (tmp_path / "few.toml").write_text("\n".join(lines))
    monkeypatch.setattr(demo, "SUITE", str(tmp_path / "few.toml"))


@pytest.mark.slow
@pytest.mark.usefixtures("few_languages")
def test_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    assert run("demo", "--out", str(tmp_path / "runs"), "--seeds", "1") == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 60
    assert re.search("ngram on (mini|few)", text)
    assert "ngram is the better checkpoint" in text
    record = json.loads((tmp_path / "runs/ngram/zero-shot/seed-0/results.json").read_text())
    assert record["overall"]["missing"] == []
    for line, name in zip(text.splitlines()[-3:], ("report", "board-mini", "board"), strict=True):
        page = tmp_path / "runs" / name / "index.html"
        assert page.is_file()
        assert line.endswith(page.as_uri())
    for name in ("ngram", "first", "chance"):
        assert (tmp_path / f"runs/board-mini/systems/{name}.js").is_file()
    output = (tmp_path / "runs/output.txt").read_text()
    commands = [line for line in text.splitlines() if line.startswith("$ ")]
    assert all(line in output for line in commands)
    assert any("--title 'Three baselines on made-up tasks'" in line for line in commands)
    assert len(output) > 3 * len(text)


def piped(words: str, target: str) -> tuple[int, str]:
    """Return the exit code and stderr of a command with buffered output redirected in a shell."""
    command = f"{sys.executable} -m isogloss {words} {target}; exit ${{PIPESTATUS[0]}}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, env=environment, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words", ["--help", "list tasks", "fetch --list", "checklist show comparisons-0007 --languages de"]
)
def test_unwritable_output_has_no_traceback(words: str) -> None:
    """Covers a pipe closed early, a closed stdout and a full disk."""
    assert piped(words, "| head -c 5 >/dev/null") in ((0, ""), (141, ""))
    assert piped(words, ">&-") == (0, "")
    assert piped(words, ">/dev/full") == (1, "error: output: No space left on device\n")
