"""Review files are read, or rejected with a location and a fix."""

import gzip
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from checklist.made_reviews import made_review, write_review
from isogloss.checklist.review_files import MAX_BYTES, read_review, read_reviews
from isogloss.errors import DataError


def test_file_of_the_page_is_read(tmp_path: Path) -> None:
    review = read_review(write_review(tmp_path, "Amina", {"adjective.old": {"verdict": "odd", "better": "aged"}}))
    assert (review.language, review.reviewer.name, str(review.date)) == ("en", "Amina", "2026-11-16")
    assert review.answers["adjective.old"].better == "aged"


def test_folders_and_files(tmp_path: Path) -> None:
    one, two = write_review(tmp_path, "one"), write_review(tmp_path, "two")
    assert list(read_reviews([tmp_path])) == [one, two]
    assert list(read_reviews([two, one])) == [two, one]
    with pytest.raises(DataError, match=r"no \*\.json file"):
        (tmp_path / "empty").mkdir()
        read_reviews([tmp_path / "empty"])
    with pytest.raises(DataError, match="no such file"):
        read_reviews([tmp_path / "absent.json"])


def test_other_files_of_a_folder_are_skipped(tmp_path: Path) -> None:
    one = write_review(tmp_path, "one")
    others = {"format.json": b'{"format": "x"}', "list.json": b"[]", "merged.json": b'{"speakers": []}'}
    for name, content in others.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="not the result of a review"):
            read_reviews([one, tmp_path / name])
    notes: list[str] = []
    assert list(read_reviews([tmp_path], on_note=notes.append)) == [one]
    assert [Path(note.partition(": skipped, ")[0]).name for note in notes] == list(others)
    # A truncated file of a speaker, or one of another version, must not be skipped.
    for spoilt in (sound()[:-9], changed(version=2)):
        (tmp_path / "two.json").write_bytes(spoilt)
        with pytest.raises(DataError, match=r"two\.json: "):
            read_reviews([tmp_path])
    (tmp_path / "two.json").unlink()
    one.unlink()
    with pytest.raises(DataError, match="no review files"):
        read_reviews([tmp_path])


def test_date_may_be_tomorrow_but_not_later(tmp_path: Path) -> None:
    today = datetime.now(UTC).date()
    for days in (-1, 0, 1):
        day = today + timedelta(days)
        assert read_review(write_review(tmp_path, "one", date=str(day))).date == day
    # Not two days: midnight may pass during the test.
    late = str(today + timedelta(days=3))
    with pytest.raises(DataError, match=f"dated in the future: {late}.*correct the date"):
        read_review(write_review(tmp_path, "one", date=late))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(DataError, match="is not a regular file"):
            read_review(path)


@cache
def sound() -> bytes:
    return json.dumps(made_review("Amina")).encode()


def changed(**changes: Any) -> bytes:
    return json.dumps(json.loads(sound()) | changes).encode()


def answered(key: str = "adjective.old", **changes: str) -> bytes:
    made = json.loads(sound())
    made["answers"][key] = {"wording": "older / old"} | changes
    return json.dumps(made).encode()


# Some have megabytes, so they are made when they are used.
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "truncated": (lambda: sound()[: len(sound()) // 2], "truncated"),
    "empty": (lambda: b"", "not the result of a review"),
    "not JSON": (lambda: b"<html>", "not the result of a review"),
    "not UTF-8": (lambda: sound().replace(b"Amina", b"Am\xffna"), "UTF-8|utf-8"),
    "a list": (lambda: b"[]", "not the result of a review"),
    "nested": (lambda: b'{"format": ' + b"[" * 50_000, "not the result of a review"),
    "another format": (lambda: changed(format="x"), "format 'x'"),
    "another version": (lambda: changed(version=2), "version 2 of the format; this isogloss reads 1"),
    "no such language": (lambda: sound().replace(b'"language": "en"', b'"language": "xx"'), "no language 'xx'"),
    "unknown keys": (lambda: answered("adjective.olld"), "unknown keys 'adjective.olld'"),
    "unknown case": (lambda: answered("comparisons-9999-00"), "unknown keys 'comparisons-9999-00'"),
    "unknown verdict": (lambda: answered(verdict="fine"), "Invalid enum value 'fine'"),
    "unknown field": (lambda: changed(more=1), "unknown field `more`"),
    "a long remark": (lambda: answered(remark="x" * 2001), "length <= 2000"),
    "a long name": (lambda: changed(reviewer={"id": "0" * 16, "name": "x" * 121}), "length <= 120"),
    "no such day": (lambda: changed(date="2026-02-30"), "date"),
    "a day to come": (lambda: changed(date="9999-12-31"), "dated in the future: 9999-12-31"),
    "a long language": (lambda: changed(language="x" * 3_000_000), "no language 'xxx"),
    "a long format": (lambda: changed(format="x" * 3_000_000), "format 'xxx"),
    "a long version": (lambda: changed(version="x" * 3_000_000), "version 'xxx"),
    "a long verdict": (lambda: answered(verdict="x" * 3_000_000), r"Invalid enum value 'xxx.*\.verdict`"),
    "a long field": (lambda: changed(**{"x" * 3_000_000: 1}), "unknown field `xxx"),
    "no tests": (lambda: changed(content={}), "missing content hashes"),
    "too many cases": (lambda: sound().replace(b'"cases": 8', b'"cases": 1000000000'), "<= 200"),
    "a bomb": (lambda: b" " * (MAX_BYTES + 1), "more than 4,194,304 bytes"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_invalid_reviews_are_refused(kind: str, tmp_path: Path) -> None:
    made, said = REFUSED[kind]
    path = tmp_path / "bad.json"
    path.write_bytes(made())
    with pytest.raises(DataError, match=said) as error:
        read_reviews([path])
    assert error.value.where.startswith(str(path))
    assert len(str(error.value)) < 2000


def test_packed_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.json.gz"
    path.write_bytes(gzip.compress(b" " * (MAX_BYTES + 1)))
    with pytest.raises(DataError, match="has more than"):
        read_review(path)


def test_another_language_is_refused(tmp_path: Path) -> None:
    one, two = write_review(tmp_path, "one"), write_review(tmp_path, "two", language="fi")
    with pytest.raises(DataError, match=r"reviews fi, not en.*one language at a time"):
        read_reviews([one, two])
    with pytest.raises(DataError, match="reviews en, not fi"):
        read_reviews([one], "fi")


def test_speaker_has_one_file(tmp_path: Path) -> None:
    one = write_review(tmp_path, "Amina")
    (tmp_path / "again").mkdir()
    same_name = write_review(tmp_path / "again", " AMINA ", reviewer={"id": "f" * 16, "name": " AMINA "})
    with pytest.raises(DataError, match=r"is from 'AMINA', like .*Pass only the newer file"):
        read_reviews([one, same_name])
    twice = tmp_path / "copy.json"
    twice.write_bytes(one.read_bytes())
    with pytest.raises(DataError, match="is from 'Amina'"):
        read_reviews([one, twice])
    nameless = [write_review(tmp_path, f"{n}", reviewer={"id": f"{n}" * 16, "name": ""}) for n in (1, 2)]
    assert len(read_reviews([one, *nameless])) == 3
