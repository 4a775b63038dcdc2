"""Records of a report on translations: shares of faults, scores, and limits that refuse garbage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.errors import IsoglossError, unknown
from isogloss.figures import interval_text, score_text
from isogloss.metrics.estimate import estimate, wilson_interval
from isogloss.metrics.statistics import Statistics
from isogloss.notebooks import data_frame, html_table
from isogloss.translation.text_checks import TextStyle

# Names of the measures, with what counts; all are shares of something bad.
MEASURES: Mapping[str, str] = {
    "empty": "translations without text",
    "untranslated": "translations equal to the source",
    "copied": "translations with half of their pairs of words from the source, names and numbers aside",
    "looped": "translations that repeat a piece over and over",
    "length": "translations more than 2.5 times as long, or as short, as the median ratio predicts",
    "script": "translations in another script than the language's",
    "language": "translations identified as another language",
    "numbers": "numbers of two or more digits that the translation lacks",
    "links": "addresses, placeholders and tags that the translation lacks",
    "names": "capitalised words that the translation lacks",
}
# Largest shares that `refuse_garbage` accepts: far above what real translators produce.
LIMITS: Mapping[str, float] = {
    "empty": 0.02,
    "untranslated": 0.2,
    "copied": 0.2,
    "looped": 0.05,
    "length": 0.1,
    "script": 0.1,
    "language": 0.5,
    "numbers": 0.5,
    "links": 0.5,
}


# Of the 95 % interval, for many texts.
_QUANTILE = 1.96


class GarbageTranslationError(IsoglossError):
    """Translations with a larger share of faults than allowed."""


@dataclass(frozen=True)
class FaultyText:
    """A translation with a fault."""

    id: str
    source: str
    translation: str


@dataclass(frozen=True, kw_only=True)
class ArtefactShare:
    """A measure of a set of translations.

    Attributes:
        measure: name; `MEASURES` says what it counts.
        count: number of faults.
        checked: number of texts, numbers, links or names that were checked.
        human: share of the same faults in the human translations, if there are any.
        examples: the first few texts with a fault.
    """

    measure: str
    count: int
    checked: int
    human: float | None = None
    examples: tuple[FaultyText, ...] = ()

    @property
    def share(self) -> float | None:
        """Share of faults, 0..1, or None if nothing could be checked."""
        return self.count / self.checked if self.checked else None


@dataclass(frozen=True, kw_only=True)
class QualityScore:
    """BLEU or chrF of a set of translations, 0..100, with its 95 % interval and sacrebleu's signature."""

    metric: str
    value: float
    low: float | None
    high: float | None
    signature: str
    texts: int
    sources: int

    @classmethod
    def of(cls, metric: str, statistics: Statistics, clusters: Sequence[str] | None, signature: str) -> "QualityScore":
        """Return the score of some statistics; texts that share a cluster are one source of the interval."""
        numbers = {cluster: number for number, cluster in enumerate(dict.fromkeys(clusters or ()))}
        codes = None if clusters is None else np.array([numbers[cluster] for cluster in clusters], dtype=np.int64)
        score = estimate(statistics, codes, len(numbers))
        low, high = (None, None) if (bounds := score.score_interval()) is None else (100 * end for end in bounds)
        value, texts = 100 * score.value, len(statistics)
        return cls(
            metric=metric, value=value, low=low, high=high, signature=signature, texts=texts, sources=score.sources
        )


@dataclass(frozen=True, kw_only=True)
class TranslationReport:
    """Artefacts and scores of a set of translations.

    Attributes:
        name: name of the set, such as "xcopa/et test".
        source_language: language of the originals.
        target_language: language of the translations.
        texts: number of texts.
        length_ratio: median ratio of translated to original characters; None if there are no texts.
        human_length_ratio: the same of the human translations.
        shares: measures in the order of `MEASURES`.
        scores: BLEU and chrF, if there are human translations.
        style: richness and sentence length of the translations.
        human_style: the same of human texts in the language.
    """

    name: str
    source_language: str
    target_language: str
    texts: int
    length_ratio: float | None
    human_length_ratio: float | None
    shares: tuple[ArtefactShare, ...]
    scores: tuple[QualityScore, ...]
    style: TextStyle
    human_style: TextStyle | None

    def __repr__(self) -> str:
        pair = f"{self.source_language}-{self.target_language}"
        faults = [f"{each.measure} {percent_text(each.share)}" for each in self.shares if each.count]
        scores = [f"{score.metric} {score_text(score.value)}" for score in self.scores]
        return f"<TranslationReport: {self.name} {pair}, {self.texts:,} texts: {', '.join([*scores, *faults])}>"

    def share(self, measure: str) -> ArtefactShare:
        """Return a measure by name."""
        for each in self.shares:
            if each.measure == measure:
                return each
        raise unknown("measure", measure, MEASURES)

    def refuse_garbage(self, limits: Mapping[str, float] = LIMITS) -> None:
        """Raise an error if the share of a fault exceeds its limit.

        Two texts prove little: the lower end of the share's 95 % interval must exceed the limit.

        Args:
            limits: largest share, 0..1, by measure; measures without a limit are not checked.

        Raises:
            GarbageTranslationError: names each such measure with its share and limit.
            IsoglossError: unknown measure, or a limit outside 0..1.
        """
        over = []
        for measure, limit in checked_limits(limits).items():
            own = self.share(measure)
            if own.share is not None and wilson_interval(own.share, own.checked, _QUANTILE)[0] > limit:
                counts = f"{own.count:,} of {own.checked:,}, limit {percent_text(limit)}"
                over.append(f"{measure} {percent_text(own.share)} ({counts}: {MEASURES[measure]})")
        if over:
            fix = "Check the translator and its languages, or raise the limit (--limit, --keep-garbage)"
            raise GarbageTranslationError("; ".join(over), where=f"translations of {self.name}", fix=fix)

    def _repr_html_(self) -> str:
        rows = [
            (each.measure, f"{each.count:,}", f"{each.checked:,}", percent_text(each.share), percent_text(each.human))
            for each in self.shares
        ]
        scores = [
            (score.metric, score_text(score.value), interval_text(score.low, score.high), score.signature)
            for score in self.scores
        ]
        head = ("measure", "count", "of", "share", "human")
        quality = html_table("Scores", ("metric", "score", "95 %", "signature"), scores) if scores else ""
        return html_table(f"Translations of {self.name}", head, rows) + quality

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per measure and score."""
        key = {"name": self.name, "source": self.source_language, "target": self.target_language}
        rows: list[dict[str, Any]] = [
            {
                **key,
                "measure": each.measure,
                "value": each.share,
                "human": each.human,
                "count": each.count,
                "n": each.checked,
            }
            for each in self.shares
        ]
        rows += [
            {
                **key,
                "measure": score.metric,
                "value": score.value,
                "low": score.low,
                "high": score.high,
                "n": score.texts,
            }
            for score in self.scores
        ]
        return data_frame(rows)


def checked_limits(limits: Mapping[str, float]) -> Mapping[str, float]:
    """Return limits if their measures exist and they are shares.

    Raises:
        UnknownNameError: unknown measure.
        IsoglossError: a limit outside 0..1.
    """
    for measure, limit in limits.items():
        if measure not in MEASURES:
            raise unknown("measure", measure, MEASURES)
        if not 0 <= limit <= 1:
            raise IsoglossError(f"limit of {measure} is {limit}", fix="A limit is a share from 0 to 1")
    return limits


def allowed_limits(limits: Mapping[str, float] | None) -> Mapping[str, float]:
    """Return the usual limits with those that a user sets: None for none, {} to accept everything.

    Raises:
        UnknownNameError: unknown measure.
        IsoglossError: a limit outside 0..1.
    """
    return checked_limits({**LIMITS, **limits} if limits else LIMITS if limits is None else {})


def percent_text(share: float | None) -> str:
    """Format a share in percent, or a dot if missing."""
    return score_text(None) if share is None else f"{score_text(100 * share)} %"
