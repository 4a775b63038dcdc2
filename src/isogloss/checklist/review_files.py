"""Review files: one JSON file per speaker, written by the page of `isogloss checklist review`."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

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
# Maximum characters of a name, suggestion or remark, and maximum bytes of a file, as enforced by the page.
MAX_NAME = 120
MAX_TEXT = 2_000
MAX_BYTES = 4 << 20
MAX_SEED = 1 << 31

_AGAIN = "Ask the speaker to download the result from the page and send it again"

Verdict = Literal["right", "odd", "wrong"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
SpeakerText = Annotated[str, msgspec.Meta(max_length=MAX_TEXT)]


class SpeakerAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A speaker's answer to one item: the wording, an optional verdict, a suggestion, a remark."""

    wording: Annotated[str, msgspec.Meta(max_length=20_000)]
    verdict: Literal[Verdict, ""] = ""
    better: SpeakerText = ""
    remark: SpeakerText = ""


class SpeakerIdentity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Author of a file: a random id, and a name or initials if given."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]
    name: Annotated[str, msgspec.Meta(max_length=MAX_NAME)] = ""


class SpeakerReview(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One speaker's review of a language.

    Attributes:
        isogloss: version that made the page.
        content: content hash of each test.
        cases: number of cases of each test on the page.
        seed: sampling seed.
        answers: answers by item key.
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
        """Return all items of the speaker's page, in their present wording."""
        return review_items(self.language, self.cases, self.seed)


class OtherFormatError(DataError):
    """A valid file that is not the result of a review."""


def read_reviews(
    paths: Iterable[Path], language: str | None = None, on_note: Callable[[str], None] | None = None
) -> dict[Path, SpeakerReview]:
    """Read the files of several speakers of one language (default: that of the first file).

    Paths are files, or folders with `*.json` files; those of another format in a folder are skipped with a note.
    """
    reviews: dict[Path, SpeakerReview] = {}
    files: list[Path] = []
    named = list(paths)
    for path in named:
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise DataError("no *.json file in this folder", where=str(path), fix="Pass the files sent by speakers")
        files += inside
    for path in files:
        try:
            review = read_review(path)
        except OtherFormatError as error:
            if path in named:
                raise
            if on_note is not None:
                on_note(f"{error.where}: skipped, {error.what}")
            continue
        language = language or review.language
        if review.language != language:
            fix = "Read the files of one language at a time"
            raise DataError(f"reviews {review.language}, not {language}", where=str(path), fix=fix)
        for other, earlier in reviews.items():
            _refuse_same_speaker(path, review, other, earlier)
        reviews[path] = review
    if not reviews:
        raise DataError("no review files", fix="Pass the files sent by speakers")
    return reviews


def read_review(path: Path) -> SpeakerReview:
    """Read and check the file of one speaker; JSON of another format raises an OtherFormatError."""
    where = str(path)
    if path.exists() and not path.is_file():
        raise DataError("is not a regular file", where=where, fix="Save the speaker's file, and pass that")
    raw = read_bytes(path, most=MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise DataError(f"has more than {MAX_BYTES:,} bytes, too large for a review", where=where, fix=_AGAIN)
    _refuse_other_versions(decode_json(raw, where, what="the result of a review", fix=_AGAIN), where)
    review: SpeakerReview = decode_json(raw, where, SpeakerReview, what="the result of a review", fix=_AGAIN)
    if review.language not in CODES:
        what = f"no language {_quoted(review.language)} in the checklist"
        raise DataError(what, where=where, fix=f"Known: {', '.join(CODES)}")
    # The earliest time zone is 14 hours ahead of UTC, never more than a day.
    if review.date > datetime.now(UTC).date() + timedelta(days=1):
        fix = "Ask the speaker to correct the date on the page and send the result again"
        raise DataError(f"dated in the future: {review.date}", where=where, fix=fix)
    if set(review.content) != set(TESTS):
        raise DataError("missing content hashes of the tests", where=where, fix=f"Tests are {', '.join(TESTS)}")
    _refuse_unknown_keys(review, {item.key: item for item in review.items()}, where)
    return review


def _quoted(value: Any) -> str:
    return printable(repr(value), MAX_NAME)


def _refuse_other_versions(content: Any, where: str) -> None:
    if not isinstance(content, dict) or "format" not in content:
        raise OtherFormatError("not the result of a review: missing format", where=where, fix=_AGAIN)
    if content["format"] != FORMAT:
        what = f"not the result of a review: format {_quoted(content['format'])}, expected {FORMAT!r}"
        raise OtherFormatError(what, where=where, fix=_AGAIN)
    if content.get("version") != VERSION:
        what = f"version {_quoted(content.get('version'))} of the format; this isogloss reads {VERSION}"
        fix = "Read it with the isogloss version that made the page, or review again on a new page"
        raise DataError(what, where=where, fix=fix)


def _refuse_unknown_keys(review: SpeakerReview, items: Mapping[str, ReviewItem], where: str) -> None:
    unknown = [key for key in review.answers if key not in items]
    if not unknown:
        return
    close = near_names(unknown[0][:MAX_NAME], items, 1)
    shown = ", ".join(repr(key[:MAX_NAME]) for key in unknown[:5])
    more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
    fix = f"The nearest is {close[0]!r}. " if close else ""
    fix += f"Pages of this isogloss have other items: use isogloss {review.isogloss}, or review again on a new page"
    raise DataError(f"unknown keys {shown}{more}", where=where, fix=fix)


def _refuse_same_speaker(path: Path, review: SpeakerReview, other: Path, earlier: SpeakerReview) -> None:
    name = review.reviewer.name.strip()
    same_name = name != "" and name.casefold() == earlier.reviewer.name.strip().casefold()
    if review.reviewer.id == earlier.reviewer.id or same_name:
        what = f"is from {name!r}, like {other}" if name else f"is from the same speaker as {other}"
        fix = "Pass only the newer file; if they are two people, use different names"
        raise DataError(what, where=str(path), fix=fix)
