"""Check that a board is safe to put online, without changing anything."""

import json
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, requires, version
from ipaddress import ip_network
from pathlib import Path
from shlex import quote

from sqlalchemy import Engine, func, select, text
from sqlalchemy.orm import Session

from isogloss.board.server.board import FILE, BoardSettings, connect, read_settings
from isogloss.board.server.database import (
    ScoringJob,
    Submission,
    clear_errors,
    database_name,
    database_time,
    reading,
    table_version,
)
from isogloss.board.server.doctor_files import BoardFinding, file_findings
from isogloss.board.server.pages import site_number
from isogloss.board.server.pepper import verify_pepper
from isogloss.data.files import sha256_of
from isogloss.errors import DataError, IsoglossError
from isogloss.installation import install_command

# Seconds that a job may wait while no other runs.
_STUCK = 600
_WIDTH = 80
_INDENT = 18
# Largest sensible values; larger ones protect neither the labels nor the server.
_LARGEST = {
    "monthly_submissions": 50,
    "monthly_uploads": 1000,
    "job_seconds": 3600,
    "attempts": 20,
    "reads_per_minute": 10_000,
    "writes_per_minute": 1000,
    "failures_per_minute": 100,
    "silence_seconds": 120,
}


def examine(folder: Path, *, deep: bool = False) -> list[BoardFinding]:
    """Check a board and return what is right and wrong, one or more findings per check.

    Args:
        folder: board folder.
        deep: True to compare the checksums of all archives too.

    Raises:
        DataError: not a board folder, or its settings are invalid.
    """
    folder = folder.resolve()
    settings = read_settings(folder)
    findings = [*file_findings(folder, settings), *_settings(folder, settings), *_packages()]
    try:
        engine = connect(folder, settings)
        findings += _database(engine, folder, settings)
        checks: Sequence[Callable[[Session], Iterator[BoardFinding]]] = (
            lambda session: _pepper(session, folder),
            lambda session: _archives(session, folder, deep=deep),
            lambda session: _site(session, folder),
            lambda session: _scratch(session, folder),
        )
        for check in checks:
            with clear_errors(engine), reading(engine) as session:
                findings += check(session)
        with clear_errors(engine):
            findings += _queue(engine, folder, settings)
        engine.dispose()
    except IsoglossError as error:
        findings.append(BoardFinding(check="database", ok=False, what=error.what, where=error.where, fix=error.fix))
    return findings


def finding_lines(findings: Sequence[BoardFinding]) -> list[str]:
    """Return the findings as a table of at most 80 columns; a path or command longer than that is not broken."""
    lines = []
    for finding in findings:
        head = f"{'ok' if finding.ok else 'WRONG':6}{finding.check:{_INDENT - 6}}"
        lines += _wrapped(head, finding.what)
        lines += _wrapped(" " * _INDENT, f"in {finding.where}") if finding.where and not finding.ok else []
        lines += _wrapped(" " * _INDENT, f"fix: {finding.fix}") if finding.fix and not finding.ok else []
    wrong = sum(not finding.ok for finding in findings)
    return [*lines, "", f"{wrong} of {len(findings)} findings need attention" if wrong else "All is well."]


def _wrapped(head: str, words: str) -> list[str]:
    return textwrap.wrap(
        words,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def findings_json(findings: Sequence[BoardFinding]) -> str:
    """Return the findings as a JSON object."""
    all_ok = all(finding.ok for finding in findings)
    return json.dumps({"ok": all_ok, "findings": [asdict(finding) for finding in findings]}, indent=2)


def _settings(folder: Path, settings: BoardSettings) -> Iterator[BoardFinding]:
    where, count = str(folder / FILE), 0
    for fault, fix in _setting_faults(settings):
        count += 1
        yield BoardFinding(check="settings", ok=False, what=fault, where=where, fix=fix)
    if not count:
        yield BoardFinding(check="settings", ok=True, what="quotas, limits and proxies are sensible")


def _setting_faults(settings: BoardSettings) -> Iterator[tuple[str, str]]:
    for name, largest in _LARGEST.items():
        value = getattr(settings, name)
        if value > largest:
            yield f"{name} = {value} is practically unlimited", f"Set it to at most {largest}"
        elif not value:
            yield f"{name} = 0 refuses everything", "Remove the line to use the default"
    if not settings.worker_bytes:
        yield "worker_bytes = 0 lets one submission use all memory", "Remove the line to use the default"
    if not settings.trusted_proxies:
        what = "trusted_proxies is empty: with a proxy all clients share one rate limit, without one there is no TLS"
        yield what, 'Run it behind a TLS proxy and set trusted_proxies = ["127.0.0.1"]'
    for proxy in settings.trusted_proxies:
        if proxy == "*" or _is_large(proxy):
            what = f"trusted_proxies contains {proxy}, so clients can forge their addresses"
            yield what, "List only the addresses of your proxies"


def _is_large(network: str) -> bool:
    try:
        return ip_network(network, strict=False).num_addresses > 2**16
    except ValueError:
        return False


def _packages() -> Iterator[BoardFinding]:
    """Compare the server's packages with the lower bounds that isogloss declares."""
    try:
        declared = requires("isogloss") or []
    except PackageNotFoundError:
        declared = []
    outdated = []
    for requirement in declared:
        match = re.match(r"([A-Za-z0-9._-]+)[^;]*?>=([0-9.]+).*extra == .board.", requirement)
        if match is None:
            continue
        try:
            installed = version(match[1])
        except PackageNotFoundError:
            installed = "0"
        if _numbers(installed) < _numbers(match[2]):
            outdated.append(f"{match[1]} {installed} is older than {match[2]}")
    if outdated:
        fix = install_command("board").replace(" install ", " install --upgrade ", 1)
        yield BoardFinding(check="packages", ok=False, what="; ".join(outdated), fix=fix)
    else:
        yield BoardFinding(check="packages", ok=True, what="versions are recent enough")


def _numbers(text_: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text_.partition("+")[0])[:4]))


def _database(engine: Engine, folder: Path, settings: BoardSettings) -> list[BoardFinding]:
    """Check version and integrity; raise DataError if the database is unusable, so that nothing else is checked."""
    current, newest = table_version(engine)
    if current != newest:
        what = "the database has no tables" if current is None else f"its tables have version {current}, not {newest}"
        verb = "serve" if current is None else "admin migrate"
        raise DataError(what, where=database_name(engine), fix=f"isogloss board {verb} {quote(str(folder))}")
    if engine.dialect.name == "sqlite":
        with clear_errors(engine), engine.connect() as connection:
            problems = list(connection.scalars(text("PRAGMA quick_check(5)")))
        if problems != ["ok"]:
            fix = "Stop the server and restore the newest backup with isogloss board admin restore BACKUP NEW-FOLDER"
            raise DataError(f"damaged: {problems[0]}", where=database_name(engine), fix=fix)
    return [BoardFinding(check="database", ok=True, what=f"{engine.dialect.name}, version {current}, intact")]


def _pepper(session: Session, folder: Path) -> Iterator[BoardFinding]:
    try:
        verify_pepper(session, folder)
    except DataError as error:
        yield BoardFinding(check="pepper", ok=False, what=error.what, where=error.where, fix=error.fix)
    else:
        yield BoardFinding(check="pepper", ok=True, what="matches the tokens")


def _archives(session: Session, folder: Path, *, deep: bool) -> Iterator[BoardFinding]:
    query = select(Submission.key, Submission.archive, Submission.archive_bytes)
    rows = session.execute(query.where(Submission.archive_removed_at.is_(None))).all()
    faults = 0
    for key, sha256, size in rows:
        path = folder / "archives" / sha256[:2] / sha256
        if not path.is_file():
            what = f"missing archive of submission {key}"
        elif path.stat().st_size != size or (deep and sha256_of(path) != sha256):
            what = f"damaged archive of submission {key}"
        else:
            continue
        faults += 1
        board = quote(str(folder))
        restored = f"tar -xf BACKUP -C {board} archives/{sha256[:2]}/{sha256}"
        fix = f"{restored}, or isogloss board admin delete {board} {key}"
        yield BoardFinding(check="archives", ok=False, what=what, where=str(path), fix=fix)
    if not faults:
        what = f"{len(rows)} submissions, {'checksums' if deep else 'sizes'} match"
        yield BoardFinding(check="archives", ok=True, what=what)


def _site(session: Session, folder: Path) -> Iterator[BoardFinding]:
    jobs = select(func.max(ScoringJob.id)).where(ScoringJob.kind == "site")
    done, failed, waiting = (
        session.scalar(jobs.where(ScoringJob.state.in_(states))) or -1
        for states in (("done",), ("failed",), ("queued", "running"))
    )
    built, where = site_number(folder / "site/current"), str(folder / "site")
    if waiting >= 0:
        yield BoardFinding(check="site", ok=True, what="being rebuilt")
    elif failed > done:
        what, fix = "the pages could not be built", "Read the log of the workers, then publish or restart the server"
        yield BoardFinding(check="site", ok=False, what=what, where=where, fix=fix)
    elif built < 0:
        fix = f"isogloss board serve {quote(str(folder))}"
        yield BoardFinding(check="site", ok=False, what="the pages have not been built", where=where, fix=fix)
    elif built < done:
        what, fix = "the pages are older than the newest build", f"Restart isogloss board serve {quote(str(folder))}"
        yield BoardFinding(check="site", ok=False, what=what, where=where, fix=fix)
    else:
        yield BoardFinding(check="site", ok=True, what="built and current")


def _scratch(session: Session, folder: Path) -> Iterator[BoardFinding]:
    active = session.scalars(select(ScoringJob.id).where(ScoringJob.state.in_(("queued", "running"))))
    numbers = set(map(str, active))
    work = folder / "work"
    left = [path for path in work.glob("*") if path.name.partition("-")[0] not in numbers]
    if left:
        fix = f"rm -r {quote(str(left[0]))}, or run a worker, which removes them"
        what = f"{len(left)} folders of finished jobs were left behind"
        yield BoardFinding(check="scratch", ok=False, what=what, where=str(left[0]), fix=fix)
    else:
        yield BoardFinding(check="scratch", ok=True, what="no folders of finished jobs")


def _queue(engine: Engine, folder: Path, settings: BoardSettings) -> Iterator[BoardFinding]:
    """Watch running jobs for one lease, in which each must send a heartbeat; a queue without workers must not wait."""
    before, oldest, age = _jobs(engine)
    deadline = time.monotonic() + settings.lease_seconds
    silent = dict(before)
    while silent and time.monotonic() < deadline:
        time.sleep(min(1.0, settings.lease_seconds / 10))
        now, _, _ = _jobs(engine)
        silent = {job: beats for job, beats in silent.items() if now.get(job) == beats}
    if silent:
        what = f"{len(silent)} running jobs have no living worker"
        fix = f"isogloss board work {quote(str(folder))}, which takes them over"
        yield BoardFinding(check="queue", ok=False, what=what, where=f"job {min(silent)[0]}", fix=fix)
    elif oldest is not None and not before and age > _STUCK:
        what = f"job {oldest} has waited {age / 60:.0f} minutes, and no other is running"
        fix = f"isogloss board work {quote(str(folder))}; read its log if it does not help"
        yield BoardFinding(check="queue", ok=False, what=what, where=f"job {oldest}", fix=fix)
    else:
        yield BoardFinding(check="queue", ok=True, what=f"{len(before)} jobs running; none is stuck")


def _jobs(engine: Engine) -> tuple[dict[tuple[int, str], int], int | None, float]:
    """Return the heartbeats of running jobs by id and owner, and the id and age in seconds of the oldest queued job."""
    with reading(engine) as session:
        running = session.scalars(select(ScoringJob).where(ScoringJob.state == "running")).all()
        queued = session.scalar(select(ScoringJob).where(ScoringJob.state == "queued").order_by(ScoringJob.id).limit(1))
        beats = {(job.id, job.owner): job.beats for job in running}
        if queued is None:
            return beats, None, 0.0
        since = datetime.strptime(queued.created_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        return beats, queued.id, (database_time(session) - since).total_seconds()
