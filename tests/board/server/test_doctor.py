"""isogloss board doctor: a healthy board passes, and every fault is named with its location and a fix."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update

from board.server.made_board import answers, make_board, send, team_client, work_all, zip_of
from board.server.test_operations import damage
from board.server.verbs import admin, run
from isogloss.board.server import doctor, doctor_files
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import ScoringJob, Submission, writing
from isogloss.board.server.doctor import examine, finding_lines
from isogloss.board.server.doctor_files import BoardFinding

CHECKS = ["files", "secrets", "labels", "disk", "leftovers", "open files", "settings", "packages", "database"]
CHECKS += ["pepper", "archives", "site", "scratch", "queue"]


@pytest.fixture(autouse=True)
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Private folder of labels, and a umask like that of the server."""
    folder = tmp_path / "labels"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("ISOGLOSS_DATA", str(folder))
    os.umask(0o077)
    return folder


@pytest.fixture
def healthy(database_url: str, tmp_path: Path) -> OpenBoard:
    settings = {"monthly_submissions": 5, "monthly_uploads": 50, "unpacked_bytes": 1 << 20, "upload_bytes": 1 << 20}
    board = make_board(
        tmp_path / "my board", database=database_url, trusted_proxies=["127.0.0.1"], lease_seconds=0.2, **settings
    )
    client = team_client(board)
    for seed in range(2):
        send(client, zip_of(answers(seed)), publish=True)
    send(client, b"no archive")
    work_all(board)
    return board


def wrong(board: OpenBoard, *, deep: bool = False) -> list[BoardFinding]:
    return [finding for finding in examine(board.folder, deep=deep) if not finding.ok]


def test_healthy_board(healthy: OpenBoard, capsys: pytest.CaptureFixture[str]) -> None:
    findings = examine(healthy.folder, deep=True)
    assert [finding.check for finding in findings] == CHECKS
    assert wrong(healthy) == []
    capsys.readouterr()
    assert run("board", "doctor", healthy.folder) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 2, "one line per check"
    assert all(line.startswith("ok    ") for line in lines[:-2])
    assert max(map(len, lines)) <= 80
    assert lines[-1] == "All is well."
    assert run("board", "doctor", healthy.folder, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["ok"]
    assert [finding["check"] for finding in record["findings"]] == CHECKS


def no_archive(board: OpenBoard) -> str:
    path = next(board.folder.glob("archives/*/*"))
    path.unlink()
    return str(path)


def short_archive(board: OpenBoard) -> str:
    path = next(board.folder.glob("archives/*/*"))
    path.write_bytes(b"")
    return str(path)


def readable_archive(board: OpenBoard) -> str:
    path = next(board.folder.glob("archives/*/*"))
    path.chmod(0o640)
    return str(path)


def readable_pepper(board: OpenBoard) -> str:
    (board.folder / "pepper.key").chmod(0o604)
    return "pepper.key"


def other_pepper(board: OpenBoard) -> str:
    (board.folder / "pepper.key").write_text("0" * 64)
    return "pepper.key"


def no_pepper(board: OpenBoard) -> str:
    (board.folder / "pepper.key").unlink()
    return "pepper.key"


def old_upload(board: OpenBoard) -> str:
    path = board.incoming / "0.part"
    path.write_bytes(b"")
    os.utime(path, (time.time() - 100_000,) * 2)
    return str(path)


def old_scratch(board: OpenBoard) -> str:
    (board.work / "1-abc").mkdir()
    return str(board.work / "1-abc")


def no_site(board: OpenBoard) -> str:
    (board.site / "current").unlink()
    return str(board.site)


def old_site(board: OpenBoard) -> str:
    link = board.site / "current"
    link.unlink()
    shutil.move(str(max(board.site.glob("site-*"))), board.site / "site-0")
    link.symlink_to("site-0")
    return str(board.site)


def failed_site(board: OpenBoard) -> str:
    with writing(board.engine) as session:
        session.add(ScoringJob(kind="site", state="failed"))
    return str(board.site)


def dead_worker(board: OpenBoard) -> str:
    with writing(board.engine) as session:
        session.add(ScoringJob(kind="score", state="running", owner="dead", submission_id=1))
    return "job "


def no_worker(board: OpenBoard) -> str:
    with writing(board.engine) as session:
        session.add(ScoringJob(kind="score", submission_id=1, created_at="2020-01-01T00:00:00Z"))
    return "job "


def old_tables(board: OpenBoard) -> str:
    with board.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    return board.engine.url.database or ""


FAULTS: dict[str, list[Callable[[OpenBoard], str]]] = {
    "archives": [no_archive, short_archive],
    "files": [readable_archive],
    "secrets": [readable_pepper],
    "pepper": [other_pepper, no_pepper],
    "leftovers": [old_upload],
    "scratch": [old_scratch],
    "site": [no_site, old_site, failed_site],
    "queue": [dead_worker, no_worker],
    "database": [old_tables],
}


@pytest.mark.database("sqlite")
@pytest.mark.parametrize(("check", "fault"), [(check, fault) for check, faults in FAULTS.items() for fault in faults])
def test_every_fault_is_named(check: str, fault: Callable[[OpenBoard], str], healthy: OpenBoard) -> None:
    where = fault(healthy)
    findings = wrong(healthy)
    assert check in {finding.check for finding in findings}
    assert {finding.check for finding in findings} <= {check, "files"}, "a readable secret is also a readable file"
    [finding] = [finding for finding in findings if finding.check == check]
    assert where in finding.where
    assert finding.what
    assert finding.fix
    assert run("board", "doctor", healthy.folder) == 1


@pytest.mark.database("sqlite")
def test_deep_check_compares_checksums(healthy: OpenBoard) -> None:
    path = next(healthy.folder.glob("archives/*/*"))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert wrong(healthy) == []
    [finding] = wrong(healthy, deep=True)
    assert (finding.check, finding.where) == ("archives", str(path))


@pytest.mark.database("sqlite")
def test_fixes_of_files_work(healthy: OpenBoard) -> None:
    """The commands for permissions and leftovers repair the board when run as printed."""
    readable_archive(healthy)
    readable_pepper(healthy)
    (healthy.folder / "board.toml").chmod(0o666)
    old_upload(healthy)
    for finding in wrong(healthy):
        assert os.system(finding.fix.partition(";")[0]) == 0  # noqa: S605 - our own command
    assert wrong(healthy) == []


@pytest.mark.database("sqlite")
def test_labels(healthy: OpenBoard, labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open folders inside a private one are private; an open path down to the labels is not."""
    inner = labels / "inner"
    inner.mkdir()
    inner.chmod(0o755)
    monkeypatch.setenv("ISOGLOSS_DATA", str(inner))
    assert wrong(healthy) == []
    monkeypatch.setattr(doctor_files, "_others_can_enter", lambda folder: folder == inner)
    [finding] = wrong(healthy)
    assert (finding.check, finding.where) == ("labels", str(inner))
    assert str(inner) in finding.fix


def test_open_path_to_labels() -> None:
    assert doctor_files._others_can_enter(Path("/usr/share"))
    assert not doctor_files._others_can_enter(Path("/root")) or Path("/root").stat().st_mode & 0o001


@pytest.mark.parametrize(
    "line",
    [
        "trusted_proxies = []",
        'trusted_proxies = ["*"]',
        'trusted_proxies = ["0.0.0.0/0"]',
        "monthly_submissions = 0",
        "monthly_submissions = 1000000",
        "monthly_uploads = 100000",
        "job_seconds = 86400",
        "worker_bytes = 0",
        "failures_per_minute = 100000",
    ],
)
def test_unsafe_settings(line: str, tmp_path: Path) -> None:
    board = make_board(tmp_path / "board", trusted_proxies=["127.0.0.1"], monthly_submissions=5, monthly_uploads=50)
    board.engine.dispose()
    path, name = board.folder / "board.toml", line.split(maxsplit=1)[0]
    path.write_text("".join(kept for kept in path.read_text().splitlines(True) if not kept.startswith(name)) + line)
    findings = [finding for finding in wrong(board) if finding.check == "settings"]
    assert [name in finding.what for finding in findings] == [True]
    assert findings[0].where == str(path)


@pytest.mark.database("sqlite")
def test_disk_open_files_and_packages(healthy: OpenBoard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_files.shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10, 9, 1))  # type: ignore[attr-defined]
    monkeypatch.setattr(doctor_files.resource, "getrlimit", lambda _: (256, 1024))
    monkeypatch.setattr(doctor, "version", lambda name: "0.1" if name == "fastapi" else "999")
    findings = {finding.check: finding for finding in wrong(healthy)}
    assert set(findings) == {"disk", "open files", "packages"}
    assert "fastapi 0.1 is older than" in findings["packages"].what
    assert "LimitNOFILE=65536" in findings["open files"].fix


def test_damaged_database_and_unknown_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    board = make_board(tmp_path / "board")
    board.engine.dispose()
    damage(board.folder, "tables")
    findings = {finding.check: finding for finding in wrong(board)}
    assert "damaged" in findings["database"].what
    assert "isogloss board admin restore" in findings["database"].fix
    assert run("board", "doctor", tmp_path) == 1
    assert "not a board folder" in capsys.readouterr().err


@pytest.mark.database("sqlite")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change owners")
def test_owners(healthy: OpenBoard) -> None:
    os.chown(healthy.folder / "board.toml", 65534, 65534)
    [finding] = wrong(healthy)
    assert finding.what == "1 files do not belong to root, so the server may be unable to change them"
    assert finding.fix == f"chown -R root '{healthy.folder}'"


@pytest.mark.database("sqlite")
def test_nothing_is_changed(healthy: OpenBoard) -> None:
    """Examining a board without tables and pepper creates neither."""
    (healthy.folder / "pepper.key").unlink()
    before = {
        path: path.read_bytes() for path in healthy.folder.rglob("*") if path.is_file() and "sqlite" not in path.name
    }
    examine(healthy.folder, deep=True)
    after = {
        path: path.read_bytes() for path in healthy.folder.rglob("*") if path.is_file() and "sqlite" not in path.name
    }
    assert before == after


@pytest.mark.database("sqlite")
def test_purged_archives_are_not_missed(healthy: OpenBoard) -> None:
    assert admin("purge", healthy.folder, "--rejected-before", 0) == 0
    assert wrong(healthy) == []
    with writing(healthy.engine) as session:
        session.execute(update(Submission).values(archive_removed_at=None))
    assert [finding.check for finding in wrong(healthy)] == ["archives"]
    open_board(healthy.folder).engine.dispose()


def test_table_fits_80_columns() -> None:
    what = "many words " * 30
    lines = finding_lines([BoardFinding(check="open files", ok=False, what=what, where="/a/b", fix=what)])
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("WRONG open files  many words")
    assert "                  in /a/b" in lines
