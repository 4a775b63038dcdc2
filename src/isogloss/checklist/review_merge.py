"""What several speakers' reviews come to: how far they agree, what is to be changed, which tests they vouch for."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from isogloss.checklist.review_agreement import Agreement, agreement
from isogloss.checklist.review_files import VERDICTS, SpeakerReview, Verdict
from isogloss.checklist.review_items import SAMPLED_CASES, ReviewItem
from isogloss.checklist.review_marks import content_hash, mark_text, standing_speakers, withdrawal_text
from isogloss.data.files import read_text
from isogloss.grammar.file import Grammar, grammar, grammar_path
from isogloss.grammar.schema import TESTS, key_line


@dataclass(frozen=True)
class SpeakerOverview:
    """One speaker's file in short: who, when, how many items were judged, and the tests whose words changed since."""

    file: str
    name: str
    date: date
    judged: int
    asked: int
    older: list[str]


@dataclass(frozen=True)
class OlderRemark:
    """What a speaker said of a wording that has changed since."""

    wording: str
    verdict: str
    better: str
    remark: str


@dataclass
class ProposedChange:
    """An item that some speaker finds odd or wrong, or has something to say about.

    Attributes:
        key: of the language file, or the id of an example.
        where: file and line.
        wording: what it says now.
        sources: the keys of the language file that an example is made of.
        verdicts: how many speakers gave each.
        better: suggested wordings, each with how many speakers suggest it.
        remarks: as they were made.
        older: what was said of an earlier wording.
    """

    key: str
    where: str
    wording: str
    sources: tuple[str, ...]
    verdicts: dict[Verdict, int]
    better: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    older: list[OlderRemark] = field(default_factory=list)


@dataclass(frozen=True)
class ReviewedTest:
    """Whether a test in the language can be marked as reviewed.

    Attributes:
        test: its name.
        content: the hash of its present words.
        speakers: how many judged all of it in these words.
        agreement: how far all speakers agree.
        mark: for the language file; empty where there is a reason against it.
        reason: why there is no mark.
        withdrawal: what the language file is to say instead of a mark that speakers contradict; empty where none do.
    """

    test: str
    content: str
    speakers: int
    agreement: Agreement
    mark: str
    reason: str
    withdrawal: str


@dataclass(frozen=True)
class MergedReviews:
    """What the reviews of a language come to."""

    language: str
    speakers: list[SpeakerOverview]
    tests: list[ReviewedTest]
    changes: list[ProposedChange]

    @property
    def marks(self) -> dict[str, str]:
        """The marks to be put into the language file, by test."""
        return {test.test: test.mark for test in self.tests if test.mark}

    @property
    def withdrawals(self) -> dict[str, str]:
        """What is to stand in the language file instead of marks that speakers contradict, by test."""
        return {test.test: test.withdrawal for test in self.tests if test.withdrawal}


def merge_reviews(reviews: Mapping[Path, SpeakerReview]) -> MergedReviews:
    """What the reviews of a language come to.

    Args:
        reviews: one of each speaker, by file, all of one language (`read_reviews`).
    """
    given = list(reviews.values())
    speaker = grammar(given[0].language)
    contents = {test: content_hash(speaker, test) for test in TESTS}
    items = {item.key: item for review in given for item in review.items()}
    return MergedReviews(
        speaker.code,
        [_overview(path, review, contents) for path, review in reviews.items()],
        [_reviewed_test(test, content, given, items.values(), speaker) for test, content in contents.items()],
        _changes(given, items, speaker.code),
    )


def _overview(path: Path, review: SpeakerReview, contents: Mapping[str, str]) -> SpeakerOverview:
    judged = sum(answer.verdict != "" for answer in review.answers.values())
    older = [test for test, content in contents.items() if review.content[test] != content]
    return SpeakerOverview(str(path), review.reviewer.name, review.date, judged, len(review.items()), older)


def _verdict(review: SpeakerReview, item: ReviewItem) -> str:
    """The verdict on the present wording; empty where there is none, or one of another wording."""
    answer = review.answers.get(item.key)
    return answer.verdict if answer is not None and answer.wording == item.wording else ""


def _reviewed_test(
    test: str, content: str, given: Sequence[SpeakerReview], items: Collection[ReviewItem], speaker: Grammar
) -> ReviewedTest:
    asked = [item for item in items if test in item.tests]
    verdicts = {
        item.key: {review.reviewer.id: said for review in given if (said := _verdict(review, item))} for item in asked
    }
    complete = [review for review in given if review.content[test] == content and _is_complete(review, test)]
    wrong = sum("wrong" in said.values() for said in verdicts.values())
    against = [review for review in given if any(_verdict(review, item) == "wrong" for item in asked)]
    standing = standing_speakers(speaker, test, content)
    contradicted = bool(standing and against)
    if contradicted:
        reason = f"marked by {standing}, but {len(against)} find{'s' * (len(against) == 1)} {wrong} of its items wrong"
    elif not complete:
        reason = f"nobody judged all of its present words, with {SAMPLED_CASES} cases at least"
    elif wrong:
        reason = f"{wrong} wrong: mend them, or hear from the speaker"
    elif standing >= len(complete):
        reason = f"marked already, by {standing}: give the files of all speakers together"
    else:
        reason = ""
    mark = "" if reason else mark_text(len(complete), max(review.date for review in complete), content)
    withdrawal = withdrawal_text(len(against), max(review.date for review in against)) if contradicted else ""
    return ReviewedTest(test, content, len(complete), agreement(verdicts), mark, reason, withdrawal)


def _is_complete(review: SpeakerReview, test: str) -> bool:
    asked = (item for item in review.items() if test in item.tests)
    return review.cases >= SAMPLED_CASES and all(_verdict(review, item) for item in asked)


def _changes(given: Sequence[SpeakerReview], items: Mapping[str, ReviewItem], code: str) -> list[ProposedChange]:
    """What somebody does not find right, the worst first, then in the order of the file."""
    path = grammar_path(code)
    text = read_text(path)
    found: list[tuple[int, ProposedChange]] = []
    for item in items.values():
        said = [answer for review in given if (answer := review.answers.get(item.key)) is not None]
        present = [answer for answer in said if answer.wording == item.wording]
        counts = Counter(answer.verdict for answer in present)
        older = [
            OlderRemark(each.wording, each.verdict, each.better.strip(), each.remark.strip())
            for each in said
            if each.wording != item.wording and (each.verdict in ("odd", "wrong") or each.better or each.remark)
        ]
        better = Counter(each.better.strip() for each in present if each.better.strip())
        remarks = [each.remark.strip() for each in present if each.remark.strip()]
        if counts["odd"] or counts["wrong"] or better or remarks or older:
            line = _line(item, text)
            verdicts = {verdict: counts[verdict] for verdict in VERDICTS}
            change = ProposedChange(
                item.key,
                f"{path.name}:{line}",
                item.wording,
                item.sources,
                verdicts,
                dict(better.most_common()),
                remarks,
                older,
            )
            found.append((line, change))
    found.sort(key=lambda each: (-each[1].verdicts["wrong"], -each[1].verdicts["odd"], each[0]))
    return [change for _, change in found]


def _line(item: ReviewItem, text: str) -> int:
    """The line of the language file that an item is on; of an example, that of its first template or word."""
    first = key_line(text, item.sources[0] if item.sources else item.key)
    # Of a list of templates each has a line of its own, below that of the key.
    wanted = item.wording.partition(" / ")[0]
    lines = text.split("\n")
    below = (number for number, line in enumerate(lines[first - 1 :], first) if f'"{wanted}"' in line)
    return next(below, first) if item.kind == "template" else first
