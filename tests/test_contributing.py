"""The steps in CONTRIBUTING for changing the package, followed on a copy, are sufficient.

Extensions from outside the package are tested in `tests/plugins`.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss

VERB = '''"""isogloss hello: greet a language in its own name."""

from typing import Annotated

import typer

from isogloss.languages import language

app = typer.Typer(add_completion=False)


@app.command()
def hello(code: Annotated[str, typer.Argument(help="A language, e.g. sw.")]) -> None:
    """Greet a language in its own name."""
    typer.echo(f"Hello, {language(code).autonym}!")
'''

TASK = """
# Is a sentence about red or blue?
COLOURS = Task(
    id="colours",
    title="Colours: classification of sentences",
    languages=("en", "sw"),
    kind="classification",
    category="classification",
    main=("accuracy",),
    layouts=(Layout("colours.read", test="colours/{lang}.tsv"),),
    counts={"test": 2},
    options={"labels": ("red", "blue")},
    licence="CC0",
    homepage="",
    citation="nobody",
)
"""

READER = '''"""Colours: `text<TAB>label` a line."""

from isogloss.data.files import lines
from isogloss.tasks.examples import Examples
from isogloss.tasks.readers.split_files import SplitFiles


def read(files: SplitFiles) -> Examples | None:
    """The file of a language."""
    path = files.path()
    if path is None:
        return None
    rows = [line.split("\\t") for line in lines(path, files.digest)]
    columns = {"text": [text for text, _ in rows], "label": [label for _, label in rows]}
    return files.examples(files.row_ids(len(rows)), columns, "label")
'''


class Copy:
    """A copy of the package that can be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "src" / "isogloss"
        shutil.copytree(Path(isogloss.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))

    def write(self, path: str, text: str) -> None:
        (self.package / path).write_text(text, encoding="utf-8")

    def replace(self, path: str, old: str, new: str) -> None:
        text = (self.package / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        self.write(path, text.replace(old, new))

    def isogloss(self, *words: str) -> str:
        program = "import sys; from isogloss.cli.main import main; main(sys.argv[1:])"
        environment = {**os.environ, "PYTHONPATH": str(self.package.parent)}
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_a_verb_is_a_file_and_a_line(copy: Copy) -> None:
    copy.write("cli/hello.py", VERB)
    copy.replace("cli/main.py", "VERBS = {\n", 'VERBS = {\n    "hello": ("hello", "Greet a language."),\n')
    assert "Greet a language." in copy.isogloss("--help")
    assert copy.isogloss("hello", "sw") == "Hello, Kiswahili!\n"


@pytest.mark.slow
def test_a_task_is_an_entry_and_a_reader_and_joins_no_suite_uninvited(copy: Copy) -> None:
    copy.replace("tasks/shipped.py", "\n_ALL = (", f"{TASK}\n_ALL = (COLOURS, ")
    copy.write("tasks/readers/colours.py", READER)
    for code, (first, second) in {"en": ("a red hat", "a blue cat"), "sw": ("kofia nyekundu", "paka wa bluu")}.items():
        _write(copy.folder / f"data/colours/{code}.tsv", f"{first}\tred\n{second}\tblue\n")
        answers = ({"id": f"test-{row}", "prediction": "red"} for row in range(2))
        _write(copy.folder / f"answers/colours/{code}.jsonl", "".join(f"{json.dumps(answer)}\n" for answer in answers))
    listed = json.loads(copy.isogloss("list", "tasks", "--json"))
    assert [row["suites"] for row in listed if row["task"] == "colours"] == [""]
    copy.isogloss("export", "colours", "--data", "data", "--out", "inputs")
    copy.isogloss("validate", "answers", "--data", "data")
    copy.isogloss("score", "answers", "--data", "data", "--tasks", "colours", "--json", "results.json")
    results = json.loads((copy.folder / "results.json").read_text(encoding="utf-8"))
    assert [(task["name"], task["score"]["value"]) for task in results["tasks"]] == [("colours", 50.0)]
    assert results["categories"] == []
    assert results["overall"]["score"] is None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_language_of_the_checklist_is_a_row_and_a_file(copy: Copy) -> None:
    rows = (copy.package / "languages/languages.tsv").read_text(encoding="utf-8").splitlines()
    afrikaans = next(row for row in rows if row.startswith("af\t"))
    new = afrikaans.replace("af\tafr\tafr\tAfrikaans\tAfrikaans", "li\tlim\tlim\tLimburgish\tLimburgs")
    copy.write("languages/languages.tsv", "\n".join([*rows, new]) + "\n")
    relative = (copy.package / "grammar/languages/af.toml").read_text(encoding="utf-8")
    assert relative.count('code = "af"') == 1
    copy.write("grammar/languages/li.toml", relative.replace('code = "af"', 'code = "li"'))
    both = [copy.isogloss("checklist", "show", "comparisons-0007", "--languages", code) for code in ("af", "li")]
    assert both[0].replace("af", "li").split()[4:] == both[1].replace("af", "li").split()[4:]
    assert "0 findings" in copy.isogloss("checklist", "audit", "--languages", "li", "--cases", "20")
    copy.isogloss("checklist", "build", "--languages", "li", "--out", "built")
    assert (copy.folder / "built/li.jsonl").is_file()
