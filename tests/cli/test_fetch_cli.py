"""isogloss fetch: the table, the messages and the exit codes."""

import io
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from isogloss.cli.main import main
from isogloss.data.fetch.catalog import datasets


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["fetch", *words])
    return int(stop.value.code or 0)


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """Write a mirror of the one small dataset without a published checksum, with synthetic text."""
    folder = tmp_path / "mirror"
    (folder / "siqa").mkdir(parents=True)
    with tarfile.open(folder / "siqa/socialIQa_v1.4.tgz", "w:gz") as archive:
        for split in ("trn", "dev", "tst"):
            content = f'{{"split": "{split}"}}\n'.encode()
            info = tarfile.TarInfo(f"socialIQa_v1.4/socialIQa_v1.4_{split}.jsonl")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return folder


@pytest.fixture
def web_mirror(mirror: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(mirror))) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize("words", [(), ("--list",)])
def test_table_fits_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str]) -> None:
    assert run(*words, "--data", str(tmp_path)) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert max(map(len, lines[1:])) <= 80
    rows = {line.split()[0]: line for line in lines[3:-1] if line.strip()}
    assert set(rows) == set(datasets())
    assert "missing" in rows["xquad"]
    assert "0/12" in rows["xquad"]
    assert "CC BY-SA 4.0" in rows["xquad"]
    assert "466.1 MB" in rows["multinli"]
    assert "by hand" in rows["mldoc"]
    assert not list(tmp_path.iterdir())


def test_list_of_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--list", "panx", "--data", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "wikiann" in out
    assert "xquad" not in out


def test_fetch_from_a_folder_then_keep(
    tmp_path: Path, mirror: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "data"))
    assert run("siqa", "--mirror", str(mirror)) == 0
    captured = capsys.readouterr()
    assert captured.out == "siqa: 1 fetched\n"
    assert captured.err == ""  # no progress bars without a terminal
    assert (tmp_path / "data/siqa/socialIQa_v1.4_dev.jsonl").read_text() == '{"split": "dev"}\n'
    assert run("siqa", "siqa", "--mirror", str(mirror)) == 0
    assert capsys.readouterr().out == "siqa: 1 kept\n"
    assert run("--list", "siqa") == 0
    assert "present     3/3" in capsys.readouterr().out


def test_fetch_from_a_web_mirror(tmp_path: Path, web_mirror: str) -> None:
    assert run("siqa", "--mirror", web_mirror, "--data", str(tmp_path / "data")) == 0
    assert (tmp_path / "data/siqa/socialIQa_v1.4_trn.jsonl").exists()


def test_failures_are_reported_and_do_not_stop_the_rest(
    tmp_path: Path, mirror: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("squad", "tatoeba", "siqa", "--mirror", str(mirror), "--data", str(tmp_path / "data")) == 1
    captured = capsys.readouterr()
    assert captured.out == "squad: 2 failed\ntatoeba: 82 failed\nsiqa: 1 fetched\n"
    assert captured.err.count("failed: ") == 2 + 82
    assert "failed: squad/dev-v1.1.json\n" in captured.err
    assert f"{mirror}/squad/dev-v1.1.json" in captured.err


def test_shared_problem_of_many_files_is_reported_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isogloss.data.fetch.downloaders.time.sleep", lambda _: None)
    words = ("lareqa", "squad", "--mirror", "http://127.0.0.1:9", "--data", str(tmp_path), "--tries", "2")
    assert run(*words) == 1
    assert capsys.readouterr().err == (
        "failed: 11 lareqa files, 2 squad files\n  127.0.0.1:9: no connection. Check the network, or use --mirror\n"
    )


def test_mldoc_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("mldoc", "--data", str(tmp_path)) == 1
    assert "NIST" in capsys.readouterr().out
    (tmp_path / "mldoc").mkdir()
    (tmp_path / "mldoc/german.test").touch()
    assert run("mldoc", "--data", str(tmp_path)) == 0


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("xqad") == 2
    assert "xquad" in capsys.readouterr().err
    assert run("squad", "--mirror", str(tmp_path / "nowhere")) == 2
    assert "--mirror" in capsys.readouterr().err
    assert run("--nonsense") == 2


def test_help_has_examples_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    out = capsys.readouterr().out
    assert out.count("isogloss fetch ") >= 3
    assert "`uriel`" in out
    assert "Exit codes" in out


def test_importing_the_verb_is_light() -> None:
    code = "import isogloss.cli.fetch, sys; print([m for m in sys.modules if m in sys.argv])"
    heavy = ("numpy", "pooch", "requests", "rich.table", "rich.progress", "msgspec")
    result = subprocess.run([sys.executable, "-c", code, *heavy], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"
