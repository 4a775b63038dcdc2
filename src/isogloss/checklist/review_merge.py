"""Merge of several speakers' reviews: agreement, proposed changes, and tests to mark as reviewed.

Agreement is the percentage of agreeing pairs, Cohen's kappa of two speakers, and Fleiss' kappa of more.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from pathlib import Path
from statistics import fmean

import msgspec

from isogloss.checklist.review_files import VERDICTS, SpeakerAnswer, SpeakerReview, Verdict
from isogloss.checklist.review_items import SAMPLED_CASES, ReviewItem
from isogloss.checklist.review_marks import content_hash, mark_text, standing_speakers, withdrawal_text
from isogloss.data.files import read_text
from isogloss.grammar.file import Grammar, grammar, grammar_path
from isogloss.grammar.schema import TESTS, key_line


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """Agreement on the items that at least two speakers judged.

    Attributes:
        percent: share of agreeing pairs of speakers, mean over items; None without items.
        kappa: chance-corrected agreement: Cohen's for two speakers, Fleiss' for more; None without items, or if all
            verdicts are equal, so that chance would agree as well.
        statistic: name of the kappa.
    """

    items: int
    speakers: int
    percent: float | None
    kappa: float | None
    statistic: str


@dataclass(frozen=True, kw_only=True)
class SpeakerOverview:
    """Summary of one speaker's file; `older` has the tests with changed wording."""

    file: str
    name: str
    date: date
    judged: int
    items: int
    older: list[str]


@dataclass(kw_only=True)
class ProposedChange:
    """An item that a speaker finds odd or wrong, or comments on.

    Attributes:
        key: key in the language file, or example id.
        sources: keys of the language file used in an example.
        verdicts: number of speakers per verdict.
        better: suggested wordings with the number of speakers.
        older: answers about an earlier wording.
    """

    key: str
    where: str
    wording: str
    sources: tuple[str, ...]
    verdicts: dict[Verdict, int]
    better: dict[str, int] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    older: list[SpeakerAnswer] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ReviewedTest:
    """Review result of a test in a language.

    Attributes:
        content: content hash of its present wording.
        speakers: number of speakers who judged all of its present wording.
        mark: mark for the language file, or "" with a reason.
        reason: reason for a missing mark.
        withdrawal: entry that replaces a contradicted mark, or "".
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
    """Merged reviews of a language."""

    language: str
    speakers: list[SpeakerOverview]
    tests: list[ReviewedTest]
    changes: list[ProposedChange]

    @property
    def marks(self) -> dict[str, str]:
        """Marks for the language file, by test."""
        return {test.test: test.mark for test in self.tests if test.mark}

    @property
    def withdrawals(self) -> dict[str, str]:
        """Entries that replace contradicted marks, by test."""
        return {test.test: test.withdrawal for test in self.tests if test.withdrawal}


def merge_reviews(reviews: Mapping[Path, SpeakerReview]) -> MergedReviews:
    """Merge reviews of one language: one per speaker, by file (`read_reviews`)."""
    all_reviews = list(reviews.values())
    speaker = grammar(all_reviews[0].language)
    contents = {test: content_hash(speaker, test) for test in TESTS}
    items = {item.key: item for review in all_reviews for item in review.items()}
    speakers = [
        SpeakerOverview(
            file=str(path),
            name=review.reviewer.name,
            date=review.date,
            judged=sum(answer.verdict != "" for answer in review.answers.values()),
            items=len(review.items()),
            older=[test for test, content in contents.items() if review.content[test] != content],
        )
        for path, review in reviews.items()
    ]
    tests = [_reviewed_test(test, content, all_reviews, items.values(), speaker) for test, content in contents.items()]
    return MergedReviews(speaker.code, speakers, tests, _changes(all_reviews, items, speaker.code))


def _verdict(review: SpeakerReview, item: ReviewItem) -> str:
    """Return the verdict on the present wording, or ""."""
    answer = review.answers.get(item.key)
    return answer.verdict if answer is not None and answer.wording == item.wording else ""


def _reviewed_test(
    test: str, content: str, reviews: Sequence[SpeakerReview], items: Collection[ReviewItem], speaker: Grammar
) -> ReviewedTest:
    verdicts = {
        item.key: {review.reviewer.id: verdict for review in reviews if (verdict := _verdict(review, item))}
        for item in items
        if test in item.tests
    }
    complete = [
        review
        for review in reviews
        if review.content[test] == content
        and review.cases >= SAMPLED_CASES
        and all(_verdict(review, item) for item in review.items() if test in item.tests)
    ]
    wrong = sum("wrong" in by_speaker.values() for by_speaker in verdicts.values())
    against = [
        review for review in reviews if any(_verdict(review, item) == "wrong" for item in items if test in item.tests)
    ]
    standing = standing_speakers(speaker, test, content)
    contradicted = bool(standing and against)
    if contradicted:
        reason = f"marked by {standing}, but {len(against)} find{'s' * (len(against) == 1)} {wrong} of its items wrong"
    elif not complete:
        reason = f"no speaker judged its complete present wording with at least {SAMPLED_CASES} cases"
    elif wrong:
        reason = f"{wrong} wrong: correct them, or ask the speaker"
    elif standing >= len(complete):
        reason = f"already marked by {standing}: pass the files of all speakers together"
    else:
        reason = ""
    return ReviewedTest(
        test=test,
        content=content,
        speakers=len(complete),
        agreement=agreement(verdicts),
        mark="" if reason else mark_text(len(complete), max(review.date for review in complete), content),
        reason=reason,
        withdrawal=withdrawal_text(len(against), max(review.date for review in against)) if contradicted else "",
    )


def _changes(reviews: Sequence[SpeakerReview], items: Mapping[str, ReviewItem], code: str) -> list[ProposedChange]:
    """Return the items that a speaker objects to, worst first, then in file order."""
    path = grammar_path(code)
    text = read_text(path)
    changes: list[tuple[int, int, int, ProposedChange]] = []
    for item in items.values():
        answers = [answer for review in reviews if (answer := review.answers.get(item.key)) is not None]
        present = [answer for answer in answers if answer.wording == item.wording]
        counts = Counter(answer.verdict for answer in present)
        older = [
            msgspec.structs.replace(answer, better=answer.better.strip(), remark=answer.remark.strip())
            for answer in answers
            if answer.wording != item.wording and (answer.verdict in ("odd", "wrong") or answer.better or answer.remark)
        ]
        better = Counter(answer.better.strip() for answer in present if answer.better.strip())
        remarks = [answer.remark.strip() for answer in present if answer.remark.strip()]
        if counts["odd"] or counts["wrong"] or better or remarks or older:
            line = _line(item, text)
            change = ProposedChange(
                key=item.key,
                where=f"{path.name}:{line}",
                wording=item.wording,
                sources=item.sources,
                verdicts={verdict: counts[verdict] for verdict in VERDICTS},
                better=dict(better.most_common()),
                remarks=remarks,
                older=older,
            )
            changes.append((-counts["wrong"], -counts["odd"], line, change))
    return [change for *_, change in sorted(changes, key=lambda entry: entry[:3])]


def _line(item: ReviewItem, text: str) -> int:
    """Return an item's line in the language file; for examples, that of the first template or word."""
    first = key_line(text, item.sources[0] if item.sources else item.key)
    # Each template of a list has its own line below the key.
    wanted = item.wording.partition(" / ")[0]
    lines = text.split("\n")
    below = (number for number, line in enumerate(lines[first - 1 :], first) if f'"{wanted}"' in line)
    return next(below, first) if item.kind == "template" else first


def agreement(verdicts: Mapping[str, Mapping[str, str]]) -> Agreement:
    """Return the agreement between speakers from the verdict of each on each item."""
    shared = [by_speaker for by_speaker in verdicts.values() if len(by_speaker) > 1]
    speakers = list(dict.fromkeys(speaker for by_speaker in shared for speaker in by_speaker))
    pairs = [combinations(by_speaker.values(), 2) for by_speaker in shared]
    percent = 100 * fmean(fmean(a == b for a, b in item) for item in pairs) if shared else None
    kappa, statistic = None, ""
    if len(speakers) > 2:
        kappa, statistic = fleiss_kappa([Counter(by_speaker.values()) for by_speaker in shared]), "Fleiss"
    elif shared:
        kappa, statistic = cohen_kappa([(item[speakers[0]], item[speakers[1]]) for item in shared]), "Cohen"
    return Agreement(items=len(shared), speakers=len(speakers), percent=percent, kappa=kappa, statistic=statistic)


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa of two speakers from their verdicts on each item, or None if chance always agrees."""
    observed = fmean(first == second for first, second in pairs)
    first, second = (Counter(verdicts) for verdicts in zip(*pairs, strict=True))
    expected = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(counts: Sequence[Mapping[str, int]]) -> float | None:
    """Return Fleiss' kappa from counts of verdicts per item, or None if chance always agrees.

    Items may have different numbers of speakers, at least two: each contributes its share of agreeing pairs.
    """
    totals = Counter[str]()
    observed = []
    for item in counts:
        totals.update(item)
        n = sum(item.values())
        observed.append(sum(count * (count - 1) for count in item.values()) / (n * (n - 1)))
    expected = sum((count / totals.total()) ** 2 for count in totals.values())
    return None if expected == 1 else (fmean(observed) - expected) / (1 - expected)
