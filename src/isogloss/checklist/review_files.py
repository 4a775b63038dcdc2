"""What speakers send back: a JSON file each, written by the page of `isogloss checklist review`."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from isogloss.checklist.review_items import ReviewItem, review_items
from isogloss.checklist.tasks import CASES
from isogloss.data.files import read_bytes
from isogloss.decoding import decode_json
from isogloss.errors import DataError, near_names
from isogloss.escaping import printable
from isogloss.grammar.file import CODES
from isogloss.grammar.schema import TESTS

FORMAT = "isogloss-checklist-review"
VERSION = 1
# Characters of a name, a better wording or a remark, and bytes of a file: the page lets nobody write more.
MAX_NAME = 120
MAX_TEXT = 2_000
MAX_BYTES = 4 << 20
MAX_SEED = 1 << 31

_AGAIN = "Ask the speaker to download the result from the page and send it again"

Verdict = Literal["right", "odd", "wrong"]
VERDICTS: tuple[Verdict, ...] = ("right", "odd", "wrong")
SpeakerText = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class SpeakerAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a speaker said about one item: of which wording, the verdict if any, a better wording, a remark."""

    wording: Annotated[str, msgspec.Meta(max_length=20_000)]
    verdict: Literal["right", "odd", "wrong", ""] = ""
    better: SpeakerText = ""
    remark: SpeakerText = ""


class SpeakerIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who a file is from: a random id, and a name or initials if the speaker gave any."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME)] = ""


class SpeakerReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One speaker's review of a language.

    Attributes:
        format: always `FORMAT`.
        version: always `VERSION`.
        isogloss: the version that made the page.
        language: its code.
        content: the hash of all that each test said.
        cases: how many of each test were on the page.
        seed: by which they were sampled.
        reviewer: who.
        date: when.
        answers: by the key of the item.
    """

    format: str
    version: int
    isogloss: Annotated[str, msgspec.Meta(max_length=60)]
    language: str
    content: dict[str, Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{12}$")]]
    cases: Annotated[int, msgspec.Meta(ge=1, le=CASES)]
    seed: Annotated[int, msgspec.Meta(ge=0, lt=MAX_SEED)]
    reviewer: SpeakerIdentity
    date: date
    answers: dict[str, SpeakerAnswer]

    def items(self) -> tuple[ReviewItem, ...]:
        """All that the speaker was asked, in today's wording."""
        return review_items(self.language, self.cases, self.seed)


class OtherFormatError(DataError):
    """A file that is whole, but not the result of a review."""


def read_reviews(
    paths: Iterable[Path], language: str | None = None, on_note: Callable[[str], None] | None = None
) -> dict[Path, SpeakerReview]:
    """The files of several speakers of one language.

    Args:
        paths: files, or folders with `*.json` in them; whatever else is in such a folder is skipped.
        language: what they must be about; None for whatever the first is about.
        on_note: is told what is skipped.

    Raises:
        DataError: a file is damaged, too large, of another version or language, has unknown keys, or is from a speaker
            who has another one; or there is none.
    """
    reviews: dict[Path, SpeakerReview] = {}
    for path, named in _files(paths):
        try:
            review = read_review(path)
        except OtherFormatError as error:
            if named:
                raise
            if on_note is not None:
                on_note(f"{error.where}: skipped, {error.what}")
            continue
        first = next(iter(reviews), None)
        wanted = language or (reviews[first].language if first else review.language)
        if review.language != wanted:
            fix = "Read the files of one language at a time"
            raise DataError(f"is about {review.language}, not {wanted}", where=str(path), fix=fix)
        for other, earlier in reviews.items():
            _refuse_same_speaker(path, review, other, earlier)
        reviews[path] = review
    if not reviews:
        raise DataError("nothing that speakers sent back was read", fix="Name the files that they sent")
    return reviews


def _files(paths: Iterable[Path]) -> list[tuple[Path, bool]]:
    """All files, each with whether it was named itself."""
    found: list[tuple[Path, bool]] = []
    for path in paths:
        inside = [(each, False) for each in sorted(path.glob("*.json"))] if path.is_dir() else [(path, True)]
        if not inside:
            raise DataError("no *.json file in this folder", where=str(path), fix="Name the files that speakers sent")
        found += inside
    return found


def read_review(path: Path) -> SpeakerReview:
    """The file of one speaker.

    Raises:
        OtherFormatError: it is JSON of something else.
        DataError: it is damaged, too large, of another version, of no language there is, of a day that is still to
            come, or has unknown keys.
    """
    where = str(path)
    if path.exists() and not path.is_file():
        raise DataError("is no regular file", where=where, fix="Save what the speaker sent, and name that file")
    raw = read_bytes(path, most=MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DataError(f"has or unpacks to more than {MAX_BYTES:,} bytes: no review does", where=where, fix=_AGAIN)
    _refuse_other_versions(decode_json(raw, where, what="the result of a review", fix=_AGAIN), where)
    review: SpeakerReview = decode_json(raw, where, SpeakerReview, what="the result of a review", fix=_AGAIN)
    if review.language not in CODES:
        what = f"no language {_quoted(review.language)} in the checklist"
        raise DataError(what, where=where, fix=f"Known: {', '.join(CODES)}")
    # Where the day begins first it is 14 hours ahead of UTC, never more than a day.
    latest = datetime.now(UTC).date() + timedelta(days=1)
    if review.date > latest:
        fix = "Let the speaker correct the date on the page and send the result again"
        raise DataError(f"dated {review.date}, a day that is still to come", where=where, fix=fix)
    if set(review.content) != set(TESTS):
        wanted = ", ".join(TESTS)
        raise DataError("does not say which words of each test it is about", where=where, fix=f"Tests are {wanted}")
    _refuse_unknown_keys(review, {item.key: item for item in review.items()}, where)
    return review


def _quoted(value: Any) -> str:
    """A value of a file for a message: it may be as long as the file."""
    return printable(repr(value), MAX_NAME)


def _refuse_other_versions(said: Any, where: str) -> None:
    if not isinstance(said, dict) or "format" not in said:
        raise OtherFormatError("not the result of a review: it does not say so", where=where, fix=_AGAIN)
    if said["format"] != FORMAT:
        what = f"not the result of a review: format {_quoted(said['format'])}, not {FORMAT!r}"
        raise OtherFormatError(what, where=where, fix=_AGAIN)
    if said.get("version") != VERSION:
        what = f"version {_quoted(said.get('version'))} of the format; this isogloss reads {VERSION}"
        fix = "Read it with the isogloss that made the page, or review again on a page that this one makes"
        raise DataError(what, where=where, fix=fix)


def _refuse_unknown_keys(review: SpeakerReview, known: Mapping[str, ReviewItem], where: str) -> None:
    strange = [key for key in review.answers if key not in known]
    if not strange:
        return
    close = near_names(strange[0][:MAX_NAME], known, 1)
    shown = ", ".join(repr(key[:MAX_NAME]) for key in strange[:5])
    more = f" and {len(strange) - 5} more" if len(strange) > 5 else ""
    fix = f"The nearest is {close[0]!r}. " if close else ""
    fix += f"A page by this isogloss has others: read the file with isogloss {review.isogloss}, or review on a new page"
    raise DataError(f"unknown keys {shown}{more}", where=where, fix=fix)


def _refuse_same_speaker(path: Path, review: SpeakerReview, other: Path, earlier: SpeakerReview) -> None:
    one, two = review.reviewer, earlier.reviewer
    names = {one.name.strip().casefold(), two.name.strip().casefold()}
    if one.id == two.id or (len(names) == 1 and names != {""}):
        who = f"is from {one.name.strip()!r}" if one.name.strip() else "is from the speaker"
        fix = "Read the newer file only; if they are two people, let them give different names"
        raise DataError(f"{who}, as {other} is", where=str(path), fix=fix)
