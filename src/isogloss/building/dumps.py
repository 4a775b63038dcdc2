"""Streams of dump files: bz2 in one or many streams, gz, xz or plain, in parts, surviving damage.

Dumps are far larger than memory, and a damaged one still has most of its pages: streams yield what can be decoded and
count what cannot.
"""

import bz2
import codecs
import lzma
import mmap
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from isogloss.errors import DataError

# Bytes read at a time. Larger chunks are not faster.
CHUNK = 1 << 18
# Packed bytes of gz and xz at a time: those with the damage are lost. They unpack to 60 MB at most.
_PACKED_CHUNK = 1 << 13
# Bytes of a chunk of bz2: a few packed ones may unpack to gigabytes.
_MOST_UNPACKED = 1 << 22
# Beginning of a bz2 stream and its first block. Streams begin at whole bytes.
_STREAM = b"1AY&SY"
# Bytes per part of a plain file, at least.
_LEAST_PLAIN = 1 << 14
# Compressed bytes per part of a file with many streams: minutes of work, the cost of a kill.
PART_BYTES = 64 << 20


class FilePart(NamedTuple):
    """Records of a file that begin between two compressed positions; `stop` is 0 for the end of the file.

    Positions other than 0 are beginnings of bz2 streams, or anywhere in a plain file.
    """

    path: Path
    start: int = 0
    stop: int = 0


def split_file(path: Path, part_bytes: int = PART_BYTES) -> list[FilePart]:
    """Divide a dump into parts of about this size: bz2 at the beginnings of streams, plain files anywhere.

    Streams are found by their first ten bytes, so no index is needed. Files packed as gz or xz are one part.
    """
    size = _size(path)
    if path.suffix in (".gz", ".xz") or size <= part_bytes:
        return [FilePart(path)]
    starts = [0]
    if path.suffix != ".bz2":
        starts = list(range(0, size, max(part_bytes, _LEAST_PLAIN)))
        return [FilePart(path, start, stop) for start, stop in zip(starts, [*starts[1:], 0], strict=True)]
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
        while (found_at := _next_stream(content, starts[-1] + part_bytes)) > 0:
            starts.append(found_at)
    return [FilePart(path, start, stop) for start, stop in zip(starts, [*starts[1:], 0], strict=True)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(path)) from error


def _next_stream(content: Any, start: int) -> int:
    """Return the position of the next beginning of a bz2 stream, or -1."""
    position = content.find(_STREAM, start + 4)
    while position >= 0:
        head = content[position - 4 : position]
        if head[:3] == b"BZh" and head[3:].isdigit():
            return int(position) - 4
        position = content.find(_STREAM, position + 1)
    return -1


class DumpStream:
    """Decoded bytes of a part of a file, then of what follows it, with counts of damage.

    Iterating yields chunks. `is_past_end` becomes True when the chunks of the part have been yielded and further ones
    belong to the next part: a reader finishes its record in them and stops.
    """

    def __init__(self, part: FilePart, counts: Counter[str]) -> None:
        self.part = part
        self.counts = counts
        self.is_past_end = False

    def __iter__(self) -> Iterator[bytes]:
        path = self.part.path
        try:
            if path.suffix == ".bz2":
                chunks = self._bz2_chunks()
            elif path.suffix == ".gz":
                chunks = self._packed_chunks(lambda: zlib.decompressobj(wbits=31), zlib.error)
            elif path.suffix == ".xz":
                chunks = self._packed_chunks(lzma.LZMADecompressor, lzma.LZMAError)
            else:
                chunks = self._plain_chunks()
            yield from _in_utf8(chunks)
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror or error})", where=str(path)) from error

    def _plain_chunks(self) -> Iterator[bytes]:
        position, stop = self.part.start, self.part.stop
        with self.part.path.open("rb") as stream:
            stream.seek(position)
            while chunk := stream.read(min(CHUNK, stop - position) if position < stop else CHUNK):
                self.is_past_end = 0 < stop <= position
                position += len(chunk)
                yield chunk

    def _packed_chunks(self, decoder_type: Callable[[], Any], damage: type[Exception]) -> Iterator[bytes]:
        """Yield the content of concatenated gz or xz streams, up to the first damage."""
        decoder = decoder_type()
        is_fresh = True
        with self.part.path.open("rb") as stream:
            while packed := stream.read(_PACKED_CHUNK):
                while packed:
                    if decoder.eof:
                        packed = packed.lstrip(b"\0")  # padding between streams
                        if not packed:
                            break
                        decoder, is_fresh = decoder_type(), True
                    try:
                        chunk = decoder.decompress(packed)
                    except damage:
                        self.counts["damaged streams"] += 1
                        return
                    is_fresh = False
                    packed = decoder.unused_data if decoder.eof else b""
                    if chunk:
                        yield chunk
        if not decoder.eof and not is_fresh:
            self.counts["truncated files"] += 1

    def _bz2_chunks(self) -> Iterator[bytes]:
        """Yield the content of bz2 streams from the part's start; after damage, continue with the next stream."""
        with self.part.path.open("rb") as stream:
            position, size = self.part.start, self.part.path.stat().st_size
            while position < size:
                if self.part.stop and position >= self.part.stop:
                    self.is_past_end = True
                stream.seek(position)
                length = yield from self._one_bz2_stream(stream)
                position = position + length if length > 0 else self._skip_damage(stream, position)

    def _one_bz2_stream(self, stream: Any) -> Any:
        """Yield the content of the stream at the file's position; return its length, or 0 if it is damaged."""
        decoder = bz2.BZ2Decompressor()
        # Begin with little, because a stream may be short, and what follows it is read again.
        length, step = 0, _PACKED_CHUNK
        while not decoder.eof:
            packed = stream.read(step) if decoder.needs_input else b""
            step = min(2 * step, CHUNK)
            if decoder.needs_input and not packed:
                self.counts["truncated files"] += 1
                return length or 1
            length += len(packed)
            try:
                chunk = decoder.decompress(packed, _MOST_UNPACKED)
            except (OSError, ValueError, EOFError):
                self.counts["damaged streams"] += 1
                return 0
            if chunk:
                yield chunk
        return length - len(decoder.unused_data)

    @staticmethod
    def _skip_damage(stream: Any, position: int) -> int:
        """Return the position of the first stream after a damaged one, or the end of the file."""
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            following = _next_stream(content, position + 1)
            return following if following > 0 else len(content)


def _in_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield text in UTF-8, also if its first bytes declare UTF-16."""
    first = next(chunks, b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
        for chunk in chain([first], chunks):
            yield decoder.decode(chunk).encode("utf-8", "replace")
        return
    if first:
        yield first
    yield from chunks


def lines_of(stream: DumpStream, longest: int = 64 << 20) -> Iterator[bytes]:
    """Yield the lines that begin in a part, without line ends; longer ones are counted and left out.

    Every part but the first skips its beginning up to a line end, and reads one line past its end: the line that may
    have begun exactly there.
    """
    pieces: list[bytes] = []  # of a line without an end so far
    length, is_cut = 0, stream.part.start > 0
    for chunk in stream:
        was_past_end = stream.is_past_end
        first, line_end, rest = chunk.partition(b"\n")
        pieces.append(first)
        if line_end:
            *further, unfinished = rest.split(b"\n")
            for line in (b"".join(pieces), *further):
                if is_cut:
                    is_cut = False
                else:
                    yield line
                if was_past_end:
                    return
            pieces, length = [unfinished], 0
        length += len(pieces[-1])
        if length > longest:
            stream.counts["overlong lines"] += not is_cut
            pieces, length, is_cut = [], 0, True
    if any(pieces) and not is_cut:
        yield b"".join(pieces)
