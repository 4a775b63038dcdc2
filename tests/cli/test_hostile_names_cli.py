"""One hostile set of names through the verbs: whatever a system, a file or a server is called, nothing obeys it."""

import json
import re
import signal
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from e2e.command import isogloss
from hostile import ACTING, NAMES
from isogloss.cli import options
from isogloss.cli.main import main
from isogloss.tasks.suites import suite
from sample import write_gold, write_system

each_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
ONE_CELL = ("--tasks", "xnli", "--languages", "en,de")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gold, and two systems, of which one is called otherwise in every test."""
    root = tmp_path_factory.mktemp("made")
    write_gold(root / "gold", suite("xtreme-r"), 10)
    for name, skill in (("plain", 0.9), ("other", 0.5)):
        write_system(root / name, suite("xtreme-r"), 10, name, skill)
    return root


@each_name
@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_verbs_show_the_name_and_do_not_obey_it(made: Path, name: str, form: str) -> None:
    written = name.encode(errors="replace").decode()
    toml = json.dumps(written, ensure_ascii=True).replace("\x7f", "\\u007f")
    (made / "other" / "system.toml").write_text(f"name = {toml}\ndescription = {toml}\n", encoding="utf-8")
    target = made / "results.json"
    for words in (("score", made / "other", "--json", target), ("compare", made / "plain", made / "other")):
        done = isogloss(*words, "--gold", made / "gold", *ONE_CELL, "--format", form)
        assert (done.code, done.err) == (0, "")
        assert not ACTING.search(done.out)
        assert form != "latex" or r"\input{" not in done.out
        assert form == "table" or "<img" not in done.out
    assert not ACTING.search(str(json.loads(target.read_text(encoding="utf-8"))))


@each_name
def test_errors_name_files_and_do_not_obey_them(tmp_path: Path, name: str) -> None:
    file = "".join(name.split("/"))[:80].replace("\x00", "")
    for words in (("score", tmp_path / file), ("report", tmp_path / file), ("validate", tmp_path / file), (name,)):
        done = isogloss(*words)
        assert done.code in (1, 2)
        assert done.err.startswith("error: ")
        assert not ACTING.search(done.out + done.err)


def test_a_folder_gives_its_system_a_name(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[31mred\n\\input{x}"
    folder.mkdir()
    (folder / "xnli").symlink_to(made / "plain" / "xnli")
    done = isogloss("score", folder, "--gold", made / "gold", *ONE_CELL)
    assert done.code == 0
    assert not ACTING.search(done.out)
    assert done.out.startswith("�[31mred \\input{x} on xtreme-r, test")


class _Rude(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(404, "\x1b[2J\x1b]0;owned\x07Nope")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def rude_server() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Rude)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_what_a_server_says_is_not_obeyed(rude_server: str, tmp_path: Path) -> None:
    done = isogloss("fetch", "xcopa", "--mirror", rude_server, "--data", tmp_path, "--tries", 1, "--stall", 5)
    assert done.code == 1
    assert "failed: xcopa" in done.err
    assert not ACTING.search(done.out + done.err)


def test_warnings_are_not_obeyed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import warnings

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)  # the program's own, not the tests'
    monkeypatch.setattr(sys, "argv", ["isogloss", "--version"])
    with pytest.raises(SystemExit):
        main()
    text = warnings.formatwarning(UserWarning(NAMES["terminal"]), UserWarning, "", 0)
    assert text.startswith("warning: ")
    assert not ACTING.search(text)


@each_name
def test_progress_is_not_obeyed(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with options.progress("scoring") as step:
        step(name)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert not ACTING.search(shown.replace("\r", ""))


def test_there_is_one_way_to_speak() -> None:
    """A line that a verb prints by itself would be one that nobody cleans."""
    for path in Path(options.__file__).parent.glob("*.py"):
        spoken = path.read_text(encoding="utf-8").count("typer.echo(")
        assert spoken == (1 if path.name == "options.py" else 0), path.name


@pytest.mark.parametrize("words", [("list", "tasks", "{}"), ("list", "--{}"), ("run", "--seeds", "{}", "ngram")])
def test_wrong_usage_is_said_and_not_obeyed(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([word.format("a\x1b[2J\u202eb") for word in words])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert "Usage: isogloss" in said
    assert not ACTING.search(said)
