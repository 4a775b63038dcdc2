"""The command itself: help, exit codes, errors without tracebacks, and what it may not import."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from isogloss.cli.main import VERBS, main
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from sample import write_gold, write_system

HEAVY = ("torch", "transformers", "altair", "fastapi", "scipy", "sklearn", "pandas", "pyarrow")


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_help_names_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(f"\n  {verb} " in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(verb, "--help") == 0
    text = capsys.readouterr().out
    assert f"isogloss {verb}" in text
    assert text.count("--") <= 40


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_help_fits_eighty_columns(
    verb: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paragraphs are not broken twice, nothing is cut off, and examples can be copied as they stand."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(*([verb] if verb else []), "--help") == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= (80 if verb else 92)
    assert not any(line.endswith("…│") or "… │" in line for line in lines)
    assert [line for line in lines if line.startswith(" --")] == []


def test_an_unknown_verb_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("scroe") == 2
    assert "Did you mean score" in capsys.readouterr().err


def test_no_words_and_wrong_options_are_usage_errors(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 2
    assert run("score", "x", "--nonsense") == 2
    assert run("compare", "x") == 2
    assert run("--version") == 0


def test_errors_have_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("score", str(tmp_path / "nobody")) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("error: ")
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("what", ["tasks", "languages", "suites", "metrics", "systems"])
def test_lists_as_json(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", what, "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == {"tasks": 19, "languages": 51, "suites": 6, "metrics": 16, "systems": 5}[what]


def test_one_task_one_language_and_a_typo(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("list", "panx") == 0
    assert "wikiann" in capsys.readouterr().out
    assert run("list", "yo") == 0
    assert "Yoruba" in capsys.readouterr().out
    assert run("list", "taks") == 2
    assert "Did you mean tasks" in capsys.readouterr().err


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    write_gold(root / "gold", suite("xtreme-r"), 10)
    for name, skill in (("a", 0.9), ("b", 0.5)):
        write_system(root / name, suite("xtreme-r"), 10, name, skill)
    return root


@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_score_and_compare_in_every_form(made: Path, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    gold = str(made / "gold")
    assert run("score", str(made / "a"), "--gold", gold, "--format", form) == 0
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
    answers = "".join(json.dumps({"id": f"q{row}", "prediction": {"x": "y" * 1_000}}) + "\n" for row in range(1_000))
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


def imported(*words: str) -> set[str]:
    """The modules a command imports, in a process of its own."""
    code = (
        "import sys\nfrom isogloss.cli.main import main\n"
        f"try:\n    main({list(words)!r})\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write('MODULES ' + ' '.join(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize("verb", ["list", "score", "validate", "compare"])
def test_light_verbs_import_nothing_heavy(verb: str, made: Path) -> None:
    words = {
        "list": ["list", "tasks"],
        "score": ["score", str(made / "a"), "--gold", str(made / "gold")],
        "validate": ["validate", str(made / "a")],
        "compare": ["compare", str(made / "a"), str(made / "b"), "--gold", str(made / "gold"), "--tasks", "xnli"],
    }[verb]
    modules = imported(*words)
    assert "isogloss.cli.main" in modules
    assert not modules & set(HEAVY)
    if verb == "list":
        assert "numpy" not in modules
        assert "msgspec" not in modules


@pytest.mark.slow
def test_the_demo_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from isogloss.tasks.mini import make

    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    make.folder.cache_clear()
    assert run("demo", "--out", str(tmp_path / "runs"), "--seeds", "1") == 0
    make.folder.cache_clear()
    text = capsys.readouterr().out
    assert "ngram on mini" in text
    assert "not comparable with mini" in " ".join(text.split())
    assert "rule: fair" in text
    record = json.loads((tmp_path / "runs/ngram/zero-shot/seed-0/results.json").read_text())
    assert record["overall"]["missing"] == []
    for line, name in zip(text.splitlines()[-3:], ("report", "board-mini", "board"), strict=True):
        page = tmp_path / "runs" / name / "index.html"
        assert page.is_file()
        assert line.endswith(page.as_uri())


def piped(words: str, target: str) -> tuple[int, str]:
    """Exit code and errors of a command whose output goes somewhere, as a shell would have it, buffered."""
    command = f"{sys.executable} -m isogloss {words} {target}; exit ${{PIPESTATUS[0]}}"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, env=environment, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words", ["--help", "list tasks", "fetch --list", "checklist show comparisons-0007 --languages de"]
)
def test_output_that_goes_nowhere(words: str) -> None:
    """A pipe that is closed early, no output at all, a disk that is full: never a traceback."""
    assert piped(words, "| head -c 5 >/dev/null") in ((0, ""), (141, ""))
    assert piped(words, ">&-") == (0, "")
    assert piped(words, ">/dev/full") == (1, "error: output: No space left on device\n")
