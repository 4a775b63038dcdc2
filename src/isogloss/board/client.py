"""Client for a board server: submit predictions, follow their state, publish them."""

import io
import os
import secrets
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import msgspec
import requests

from isogloss.decoding import convert_value
from isogloss.errors import DataError, IsoglossError
from isogloss.predictions.problems import SHOWN, ProblemText, number_of

TOKEN_VARIABLE = "ISOGLOSS_BOARD_TOKEN"  # noqa: S105 - not a secret
_CHUNK = 1 << 18
_WAITING = ("received", "validating", "scoring")
_SECONDS = 60.0


class BoardError(IsoglossError):
    """Error response of a board; `problems` lists all problems in an upload."""

    def __init__(self, what: str, *, where: str = "", fix: str = "", status: int = 0) -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status
        self.problems: list[ProblemText] = []


class BoardClient:
    """Client for the board at an address.

    Args:
        address: board address, e.g. https://board.example.org.
        token: team token; defaults to the environment variable ISOGLOSS_BOARD_TOKEN. Not needed for public data.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address.rstrip("/")
        self._session = requests.Session()
        # Otherwise requests would send credentials from ~/.netrc.
        self._session.trust_env = False
        token = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def board(self) -> dict[str, Any]:
        """Return the board's suite, limits and schema of submission metadata."""
        return self._request("GET", "board")

    def team(self) -> dict[str, Any]:
        """Return the team's quotas for this month and year, and its use of them."""
        return self._request("GET", "team")

    def queue(self) -> dict[str, Any]:
        """Return the submissions that are waiting or being scored."""
        return self._request("GET", "queue")

    def systems(self) -> Iterator[dict[str, Any]]:
        """Yield all published systems in the order of submission."""
        after: int | None = 0
        while after is not None:
            page = self._request("GET", f"systems?after={after}")
            yield from page["systems"]
            after = page["next"]

    def system(self, identifier: str) -> dict[str, Any]:
        """Return the public data of a system."""
        return self._request("GET", f"systems/{identifier}")

    def submissions(self) -> list[dict[str, Any]]:
        """Return the team's submissions, newest first."""
        submissions: list[dict[str, Any]] = self._request("GET", "submissions")["submissions"]
        return submissions

    def submission(self, key: str) -> dict[str, Any]:
        """Return a submission's state, problems and scores; cells only once it is published."""
        return self._request("GET", f"submissions/{key}")

    def publish(self, key: str) -> dict[str, Any]:
        """Publish a submission; raise BoardError if the year's publications are used or it awaits the administrator."""
        return self._request("POST", f"submissions/{key}/publish")

    def withdraw(self, key: str) -> dict[str, Any]:
        """Withdraw a submission."""
        return self._request("POST", f"submissions/{key}/withdraw")

    def submit(
        self, predictions: str | os.PathLike[str], metadata: Mapping[str, Any], *, publish: bool = False
    ) -> dict[str, Any]:
        """Submit predictions; resubmitting identical predictions creates no duplicate.

        Args:
            predictions: prediction folder, or an archive of one.
            metadata: system metadata, with the fields of `system.toml` (docs/formats.md).
            publish: True to publish when scored, without a preview.

        Returns:
            The queued submission.

        Raises:
            BoardError: the submission was refused; `problems` lists the reasons.
        """
        path = Path(predictions)
        if not path.exists():
            raise BoardError("missing folder or archive", where=str(path))
        fields = {"metadata": msgspec.json.encode(metadata).decode(), "publish": str(publish).lower()}
        with path.open("rb") if path.is_file() else TemporaryFile() as archive:
            if path.is_dir():
                pack_folder(path, archive)
            size = archive.seek(0, os.SEEK_END)
            archive.seek(0)
            form = _FormBody(archive, size, fields)
            return self._request("POST", "submissions", data=form, headers={"Content-Type": form.content_type})

    def wait(self, key: str, progress: Callable[[str], None] | None = None, seconds: float = 3_600) -> dict[str, Any]:
        """Wait until a submission is scored or rejected; raise BoardError after `seconds`."""
        started, pause = time.monotonic(), 0.2
        while (submission := self.submission(key))["state"] in _WAITING:
            if progress is not None:
                progress(submission["state"])
            if time.monotonic() - started > seconds:
                raise BoardError(f"submission {key} is still {submission['state']}", fix="Check again later")
            time.sleep(pause)
            pause = min(5.0, pause * 1.5)
        return submission

    def _request(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        address = f"{self.address}/api/v1/{path}"
        try:
            response = self._session.request(method, address, timeout=_SECONDS, allow_redirects=False, **options)
            content = response.json()
        except requests.JSONDecodeError:
            what = f"unexpected response with status {response.status_code}"
            raise BoardError(what, where=address, fix="Check the address of the board") from None
        except requests.RequestException as error:
            raise BoardError(f"cannot connect ({error})", where=self.address) from None
        if response.ok and isinstance(content, dict):
            return content
        raise _refused(content if isinstance(content, dict) else {}, response.status_code)


def _refused(content: Mapping[str, Any], status: int) -> BoardError:
    try:
        problems: list[ProblemText] = convert_value(content.get("problems", []), list[ProblemText], what="problems")
    except DataError:  # not the response of a board
        problems = []
    what = str(content.get("what", f"the board returned status {status}"))
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  … and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        what = f"{what}: {number_of(len(problems), 'problem')}\n{lines}{more}"
    error = BoardError(what, where=str(content.get("where", "")), fix=str(content.get("fix", "")), status=status)
    error.problems = problems
    return error


def pack_folder(folder: Path, out: IO[bytes]) -> None:
    """Pack a prediction folder without hidden files; identical files give identical bytes."""
    with tarfile.open(fileobj=out, mode="w:xz", preset=1) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") for part in name.parts):
                info = tarfile.TarInfo(name.as_posix())
                info.size = path.stat().st_size
                with path.open("rb") as stream:
                    archive.addfile(info, stream)


class _FormBody:
    # Streams the archive from disk.
    def __init__(self, archive: IO[bytes], size: int, fields: Mapping[str, str]) -> None:
        boundary = secrets.token_hex(16)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        head = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        head += f'--{boundary}\r\nContent-Disposition: form-data; name="archive"; filename="predictions"\r\n\r\n'
        tail = f"\r\n--{boundary}--\r\n"
        self._parts = [io.BytesIO(head.encode()), archive, io.BytesIO(tail.encode())]
        self._length = len(head.encode()) + size + len(tail)

    def __len__(self) -> int:
        return self._length

    def read(self, size: int = _CHUNK) -> bytes:
        """Return the next bytes; b"" at the end."""
        while self._parts:
            if chunk := self._parts[0].read(_CHUNK if size < 0 else size):
                return chunk
            self._parts.pop(0)
        return b""
