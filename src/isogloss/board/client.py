"""A client of a board's server: send predictions, see what became of them, publish them."""

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
from isogloss.predictions.problems import SHOWN, Problem, number_of

TOKEN_VARIABLE = "ISOGLOSS_BOARD_TOKEN"  # noqa: S105 - the name of a variable
_CHUNK = 1 << 18
_WAITING = ("received", "validating", "scoring")
_SECONDS = 60.0


class BoardError(IsoglossError):
    """What a board answered instead of doing what it was asked; `problems` are all that is wrong with an upload."""

    def __init__(self, what: str, *, where: str = "", fix: str = "", status: int = 0) -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status
        self.problems: list[Problem] = []


class BoardClient:
    """A board at an address, spoken to with a team's token.

    Args:
        address: of the board, e.g. https://board.example.org.
        token: the team's; default the environment variable ISOGLOSS_BOARD_TOKEN. Reading needs none.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
        self.address = address.rstrip("/")
        self._session = requests.Session()
        # Or requests would look for a password of the host in the user's files, and send it.
        self._session.trust_env = False
        token = os.environ.get(TOKEN_VARIABLE, "") if token is None else token
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"

    def board(self) -> dict[str, Any]:
        """What the board is: its suite, its limits, and what a submission must say."""
        return self._ask("GET", "board")

    def team(self) -> dict[str, Any]:
        """What the team may still submit this month."""
        return self._ask("GET", "team")

    def queue(self) -> dict[str, Any]:
        """What waits and what is being scored."""
        return self._ask("GET", "queue")

    def systems(self) -> Iterator[dict[str, Any]]:
        """All systems on the board, in the order they were submitted."""
        after: int | None = 0
        while after is not None:
            page = self._ask("GET", f"systems?after={after}")
            yield from page["systems"]
            after = page["next"]

    def system(self, identifier: str) -> dict[str, Any]:
        """All that is public of a system."""
        return self._ask("GET", f"systems/{identifier}")

    def submissions(self) -> list[dict[str, Any]]:
        """The team's submissions, the newest first."""
        found: list[dict[str, Any]] = self._ask("GET", "submissions")["submissions"]
        return found

    def submission(self, key: str) -> dict[str, Any]:
        """A submission of the team: its state, problems and scores."""
        return self._ask("GET", f"submissions/{key}")

    def publish(self, key: str) -> dict[str, Any]:
        """Put a submission on the board."""
        return self._ask("POST", f"submissions/{key}/publish")

    def withdraw(self, key: str) -> dict[str, Any]:
        """Take a submission off the board."""
        return self._ask("POST", f"submissions/{key}/withdraw")

    def submit(
        self, predictions: str | os.PathLike[str], metadata: Mapping[str, Any], *, publish: bool = False
    ) -> dict[str, Any]:
        """Send predictions; sent again, the same are the same submission.

        Args:
            predictions: a prediction folder, or an archive of one.
            metadata: what the system is, in the fields of a `system.toml` (docs/formats.md).
            publish: whether it goes to the board as soon as it is scored, without a preview.

        Returns:
            The submission, which is now in the queue.

        Raises:
            BoardError: it was refused; `problems` has every reason.
        """
        path = Path(predictions)
        if not path.exists():
            raise BoardError("there is no such folder or archive", where=str(path))
        if path.is_file():
            with path.open("rb") as stream:
                return self._send(stream, path.stat().st_size, metadata, publish)
        with TemporaryFile() as packed:
            pack_folder(path, packed)
            size = packed.tell()
            packed.seek(0)
            return self._send(packed, size, metadata, publish)

    def wait(self, key: str, progress: Callable[[str], None] | None = None, seconds: float = 3_600) -> dict[str, Any]:
        """Wait until a submission is scored or rejected.

        Raises:
            BoardError: that took longer than the seconds given.
        """
        started, pause = time.monotonic(), 0.2
        while (found := self.submission(key))["state"] in _WAITING:
            if progress is not None:
                progress(found["state"])
            if time.monotonic() - started > seconds:
                raise BoardError(f"submission {key} is still {found['state']}", fix="Ask again later")
            time.sleep(pause)
            pause = min(5.0, pause * 1.5)
        return found

    def _send(self, archive: IO[bytes], size: int, metadata: Mapping[str, Any], publish: bool) -> dict[str, Any]:
        form = _FormBody(
            archive, size, {"metadata": msgspec.json.encode(metadata).decode(), "publish": str(publish).lower()}
        )
        return self._ask("POST", "submissions", data=form, headers={"Content-Type": form.content_type})

    def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        address = f"{self.address}/api/v1/{path}"
        try:
            answer = self._session.request(method, address, timeout=_SECONDS, allow_redirects=False, **options)
            found = answer.json()
        except requests.JSONDecodeError:
            what = f"answered {answer.status_code}, and nothing that a board says"
            raise BoardError(what, where=address, fix="Is this the address of a board?") from None
        except requests.RequestException as error:
            raise BoardError(f"cannot be reached ({error})", where=self.address) from None
        if answer.ok and isinstance(found, dict):
            return found
        raise _refused(found if isinstance(found, dict) else {}, answer.status_code)


def _refused(answer: Mapping[str, Any], status: int) -> BoardError:
    try:
        problems: list[Problem] = convert_value(answer.get("problems", []), list[Problem], what="problems")
    except DataError:  # whatever answered is no board
        problems = []
    what = str(answer.get("what", f"the board answered {status}"))
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems[:SHOWN])
        more = f"\n  … and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        what = f"{what}: {number_of(len(problems), 'problem')}\n{lines}{more}"
    error = BoardError(what, where=str(answer.get("where", "")), fix=str(answer.get("fix", "")), status=status)
    error.problems = problems
    return error


def pack_folder(folder: Path, out: IO[bytes]) -> None:
    """Pack the files of a prediction folder, without what a run keeps for itself; the same files, the same bytes."""
    with tarfile.open(fileobj=out, mode="w:xz", preset=1) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder)
            if path.is_file() and not any(part.startswith(".") for part in name.parts):
                info = tarfile.TarInfo(name.as_posix())
                info.size = path.stat().st_size
                with path.open("rb") as stream:
                    archive.addfile(info, stream)


class _FormBody:
    """A form whose archive is read from disk as it is sent."""

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
        """The next bytes; b"" at the end."""
        while self._parts:
            if chunk := self._parts[0].read(_CHUNK if size < 0 else size):
                return chunk
            self._parts.pop(0)
        return b""
