"""The record `checksums.json` of a data folder: what was unpacked from which download.

Checksums that nobody has published are taken from the first download and hold from then on.
"""

from pathlib import Path

import msgspec

from isogloss.data.files import read_bytes
from isogloss.decoding import decode_json


class FetchedFile(msgspec.Struct, frozen=True):
    """A download that was fetched: its checksum, its address, and the checksum of each file it gave."""

    sha256: str
    url: str
    files: dict[str, str]


class ChecksumRecord:
    """What was fetched into a data folder, by `<dataset>/<file name>`; every change is written at once.

    A new record is kept in the folder `scratch` until it is whole; a file that is no such record is a DataError.
    """

    def __init__(self, path: Path, *, scratch: Path) -> None:
        self.path = path
        self._new = scratch / path.name
        self._fetched: dict[str, FetchedFile] = {}
        if self.path.exists():
            raw, expected = read_bytes(path), dict[str, FetchedFile]
            self._fetched = decode_json(
                raw, str(path), expected, what="a record of checksums", fix="Move the file away"
            )

    def get(self, key: str) -> FetchedFile | None:
        """What is known of a download, None where it was never fetched."""
        return self._fetched.get(key)

    def add(self, key: str, fetched: FetchedFile) -> None:
        """Keep what is known of a download."""
        self._fetched[key] = fetched
        packed = msgspec.json.encode(self._fetched, order="sorted")
        self._new.write_bytes(msgspec.json.format(packed, indent=1) + b"\n")
        self._new.replace(self.path.resolve())
