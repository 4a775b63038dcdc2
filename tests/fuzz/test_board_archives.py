"""Archives submitted to a board: each ends in scores or problems, without leftover files or dead workers."""

import gzip
import io
import json
import tarfile
import warnings
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from board.server.made_board import METADATA, make_board, make_token
from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import STRINGS, spoil_bytes
from fuzz.oracle import MESSAGE, FaultError, attempt, check_length, check_printable
from fuzz.test_archives import MEMBERS, archive_of
from isogloss.board.server.board import Bearer, OpenBoard, bearer_of
from isogloss.board.server.database import Submission, reading
from isogloss.board.server.intake import IncomingArchive, accept
from isogloss.board.server.queue import JobClaims
from isogloss.board.server.scoring import score_submission
from isogloss.results.metadata import read_metadata


def prediction_files(case: Case) -> dict[str, bytes]:
    """Return the files of some cells; some are corrupted, misnamed, packed or unrelated."""
    rng, files = case.rng, {}
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(list(made.CELLS))
        language = rng.choice(made.CELLS[name])
        path, content = rng.choice(list(made.file_forms(name, language).items()))
        if rng.random() < 0.5:
            content, step = spoil_bytes(rng, content)
            case.tell(f"{name}/{path}: {step}")
        if rng.random() < 0.1:
            content, path = gzip.compress(content), f"{path}.gz"
        if rng.random() < 0.05:
            content = b"[" * 200_000
        if rng.random() < 0.05:
            content = b'{"id": "test-0", "prediction": ' + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}\n"
        files[f"{name}/{path}"] = content
    if rng.random() < 0.2:
        files[rng.choice(MEMBERS) or "x"] = rng.randbytes(30)
    if rng.random() < 0.2:
        files["system.toml"] = rng.choice(STRINGS).encode("utf-8", "surrogatepass")
    return files


def packed(case: Case, files: dict[str, bytes]) -> bytes:
    rng, out = case.rng, io.BytesIO()
    if rng.random() < 0.5:
        with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        return out.getvalue()
    mode: Any = rng.choice(("w", "w:gz", "w:xz", "w:bz2"))
    with tarfile.open(fileobj=out, mode=mode) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def submitted(board: OpenBoard, bearer: Bearer, content: bytes, name: str) -> str:
    """Submit an archive as the server does."""
    metadata, _ = read_metadata(METADATA | {"name": name})
    assert metadata is not None
    incoming = IncomingArchive(board)
    try:
        incoming.write(content)
        return accept(board, bearer, metadata, incoming, publish=False)[0]
    finally:
        incoming.close()


def check_outcome(board: OpenBoard, key: str) -> None:
    with reading(board.engine) as session:
        found = session.scalars(select(Submission).where(Submission.key == key)).one()
    problems = msgspec.json.decode(found.problems)
    if found.state not in ("preview", "rejected") or (found.state == "rejected" and not problems):
        raise FaultError("state", f"{found.state} with {len(problems)} problems", "a submission's end")
    if (found.state == "preview") != (not any(not problem["warning"] for problem in problems)):
        raise FaultError("state", f"{found.state} with errors", "a submission's end")
    for problem in problems:
        for text in problem.values():
            if isinstance(text, str):
                check_length(text, MESSAGE)
                check_printable(text, "a problem of a submission")
        if str(board.folder) in json.dumps(problem):
            raise FaultError("path", json.dumps(problem)[:300], "a path of the server")
    left = [*board.work.iterdir(), *board.incoming.iterdir()]
    if left:
        raise FaultError("leftover", str(left)[:200], "left behind")


@pytest.fixture
def board(tmp_path: Path) -> OpenBoard:
    return make_board(tmp_path / "board", monthly_submissions=10**6, monthly_uploads=10**6)


def test_board(campaign: Campaign, board: OpenBoard, tmp_path: Path) -> None:
    token = make_token(board)
    with reading(board.engine) as session:
        bearer = bearer_of(session, token, board.pepper)
    assert bearer is not None
    claims = JobClaims(board)
    around = {path for path in tmp_path.rglob("*") if "board" not in path.parts}

    def fuzzer(case: Case) -> None:
        content = archive_of(case) if case.rng.random() < 0.3 else packed(case, prediction_files(case))
        if case.rng.random() < 0.2:
            content, step = spoil_bytes(case.rng, content)
            case.tell(step)
        key = submitted(board, bearer, content or b"x", str(case.folder.name))
        # Jobs that timed out before are still in the queue, and come first.
        for job in iter(claims.claim, None):
            attempt(partial(score_submission, board, job))
        check_outcome(board, key)
        case.folder.rmdir()
        if outside := {path for path in tmp_path.rglob("*") if not {"board", "cases"} & set(path.parts)} - around:
            raise FaultError("escape", str(outside)[:200], "written outside")

    campaign.run(fuzzer, share=0.5)
