"""Hostile system, file and server names are escaped in the output of every verb."""

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
from sample import write_systems

each_name = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
ONE_CELL = ("--tasks", "xnli", "--languages", "en,de")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write gold and two systems; every test renames the second."""
    return write_systems(tmp_path_factory.mktemp("made"), suite("xtreme-r"), 10, plain=0.9, other=0.5)


@each_name
@pytest.mark.parametrize("form", ["table", "md", "latex"])
def test_system_names_are_escaped(made: Path, name: str, form: str) -> None:
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
def test_file_names_in_errors_are_escaped(tmp_path: Path, name: str) -> None:
    file = "".join(name.split("/"))[:80].replace("\x00", "")
    for words in (("score", tmp_path / file), ("report", tmp_path / file), ("validate", tmp_path / file), (name,)):
        done = isogloss(*words)
        assert done.code in (1, 2)
        assert done.err.startswith("error: ")
        assert not ACTING.search(done.out + done.err)


def test_folder_names_are_escaped(made: Path, tmp_path: Path) -> None:
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


def test_server_messages_are_escaped(rude_server: str, tmp_path: Path) -> None:
    done = isogloss("fetch", "xcopa", "--mirror", rude_server, "--data", tmp_path, "--tries", 1, "--stall", 5)
    assert done.code == 1
    assert "failed: xcopa" in done.err
    assert not ACTING.search(done.out + done.err)


def test_warnings_are_escaped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import warnings

    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(signal, "signal", lambda number, handler: None)  # keep the tests' handlers
    monkeypatch.setattr(sys, "argv", ["isogloss", "--version"])
    with pytest.raises(SystemExit):
        main()
    text = warnings.formatwarning(UserWarning(NAMES["terminal"]), UserWarning, "", 0)
    assert text.startswith("warning: ")
    assert not ACTING.search(text)


@each_name
def test_progress_is_escaped(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with options.progress("scoring") as step:
        step(name)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert not ACTING.search(shown.replace("\r", ""))


def test_only_say_prints() -> None:
    """Only `say` escapes control characters."""
    for path in Path(options.__file__).parent.glob("*.py"):
        calls = path.read_text(encoding="utf-8").count("typer.echo(")
        assert calls == (1 if path.name == "options.py" else 0), path.name


@pytest.mark.parametrize("words", [("list", "tasks", "{}"), ("list", "--{}"), ("run", "--seeds", "{}", "ngram")])
def test_usage_errors_are_escaped(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([word.format("a\x1b[2J\u202eb") for word in words])
    message = capsys.readouterr().err
    assert ended.value.code == 2
    assert "Usage: isogloss" in message
    assert not ACTING.search(message)
