"""Files are read in blocks of lines; block boundaries have no effect."""

import io
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data import files
from isogloss.data.files import blocks, lines
from isogloss.data.tables import jsonl
from isogloss.errors import DataError


class Record(msgspec.Struct):
    idx: int


def one_by_one(raw: bytes) -> list[str]:
    found = [line.decode().rstrip("\r\n") for line in io.BytesIO(raw)]
    return [found[0].removeprefix("\ufeff"), *found[1:]] if found else []


@given(
    text=st.text(st.sampled_from("\n\r\ta é\ufeff\u2028\u0085𝄞"), max_size=40),
    size=st.integers(1, 9),
)
def test_lines_do_not_depend_on_the_block_size(text: str, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("blocks") / "a.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK", size)
        assert list(lines(path)) == one_by_one(text.encode())
        assert b"".join(blocks(path)) == text.encode().removeprefix(b"\xef\xbb\xbf")


@pytest.mark.parametrize("size", [1, 7, 1 << 18])
def test_faults_are_located_in_any_block(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", size)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"idx": 1}\n\n{"idx": 2}\r\n{"idx": 3}\n')
    assert [record.idx for record in jsonl(path, Record)] == [1, 2, 3]
    path.write_bytes(b'{"idx": 1}\n\n{"idx": 2}\n{"idx":\n3}\n')
    with pytest.raises(DataError, match=r"a\.jsonl:4: not the expected JSON record"):
        list(jsonl(path, Record))
    path.write_bytes(b'{"idx": 1}\n\n{"idx": 2}\n{"idx": "\xff"}\n')
    with pytest.raises(DataError, match=r"a\.jsonl:4: not UTF-8: byte 0xff"):
        list(jsonl(path, Record))
