"""Projection of spans onto translations: of answers and entities, and of predicted answers back to the original text.

A span is moved by the first step that succeeds: markers that the translator carries along, an exact match of
its separate translation, word alignment, and a fuzzy match near the same relative position. Every step is counted.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from isogloss.translation.alignment import Aligner, Pairs, moved
from isogloss.translation.lines import LineTranslator, line_with
from isogloss.translation.markers import Markers, Span, surviving_markers, transferred
from isogloss.translation.words import Offsets, unspaced, word_offsets, word_texts, words_within

# Steps of a projection, in order, and the name of its failure; stored spans come with a translation.
STORED, MARKERS, EXACT, ALIGNMENT, FUZZY, LOST = "stored", "markers", "exact", "alignment", "fuzzy", "lost"
STEPS = (STORED, MARKERS, EXACT, ALIGNMENT, FUZZY, LOST)

# Least F1 of aligned words, and least overlap of letter pairs in a fuzzy match.
LEAST_ALIGNED, LEAST_FUZZY = 0.5, 0.65
# Windows may have this many words more or fewer than the text searched for, or this share of them.
_WORDS_APART, _SHARE_APART = 2, 0.3
# Penalty of a fuzzy match at the other end of the text.
_DISTANCE = 0.3


class ProjectedSpan(NamedTuple):
    """A projected span, and the step that found it."""

    span: Span
    step: str


@dataclass(frozen=True, kw_only=True)
class SpanToProject:
    """A span of a text that is to be found in the text's translation."""

    original: str
    translation: str
    span: Span

    @property
    def text(self) -> str:
        """Text of the span."""
        return self.original[slice(*self.span)]

    @property
    def expected(self) -> int:
        """Offset at the same relative position in the translation."""
        return round(self.span[0] * len(self.translation) / max(1, len(self.original)))


def exact_span(context: str, text: str, expected: int) -> Span | None:
    """Return the occurrence of a text nearest to an offset, preferably in the same case and without cutting words."""
    wanted, lower = text.strip().rstrip("."), context.lower()
    # Lower-casing may change the length, and then offsets do not match.
    for passage, sought in ((context, wanted), (lower if len(lower) == len(context) else "", wanted.lower())):
        matches = re.finditer(f"(?={re.escape(sought)})", passage) if sought else ()
        spans = [(match.start(), match.start() + len(sought)) for match in matches]
        cuts = {span: [_cuts(context, border) for border in span] for span in spans}
        whole = [span for span in spans if "number" not in cuts[span]]
        if whole:
            return min(whole, key=lambda span: (sum(map(bool, cuts[span])), abs(span[0] - expected)))
    return None


def _cuts(text: str, border: int) -> str:
    """Return the unit that a border cuts in two: "number", "word" or ""."""
    sides = text[max(0, border - 1) : border + 1]
    if len(sides) < 2 or not 0 < border < len(text) or not all(map(str.isalnum, sides)):
        return ""
    if sides.isdecimal():
        return "number"
    return "word" if len(word_offsets(sides)) == 1 else ""


def fuzzy_span(context: str, text: str, expected: int, least: float = LEAST_FUZZY) -> Span | None:
    """Return the most similar run of words near an offset, or None if none is similar enough.

    The similarity is the overlap (Dice coefficient) of pairs of letters, ignoring case and blanks; letters of scripts
    without spaces count one by one.
    """
    offsets, size = word_offsets(context), len(word_offsets(text))
    wanted = _letter_pairs(text)
    if not offsets or not wanted:
        return None
    apart = max(_WORDS_APART, round(size * _SHARE_APART))
    best, best_score = None, 0.0
    for first, (start, _) in enumerate(offsets):
        penalty = _DISTANCE * abs(start - expected) / max(1, len(context))
        for last in range(first + max(1, size - apart) - 1, min(first + size + apart, len(offsets))):
            end = offsets[last][1]
            similarity = _dice(wanted, _letter_pairs(context[start:end]))
            if similarity >= least and similarity - penalty > best_score:
                best, best_score = (start, end), similarity - penalty
    return best


@lru_cache(maxsize=1 << 16)
def _letter_pairs(text: str) -> Counter[str]:
    letters = "".join(text.casefold().split())
    # A letter of a script without spaces is often a word.
    alone = [letter for letter in letters if unspaced(letter) or len(letters) == 1]
    return Counter(
        [*alone, *(one + other for one, other in pairwise(letters) if not (unspaced(one) and unspaced(other)))]
    )


def _dice(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def aligned_span(span: Span, source: Offsets, target: Offsets, pairs: Pairs) -> tuple[Span, float] | None:
    """Return the span of the words that are aligned with those of a span, and the F1 of aligned words."""
    words, f1 = moved(words_within(source, *span), pairs, len(target))
    return ((target[words[0]][0], target[words[-1]][1]), f1) if words else None


class SpanProjector:
    """Projects spans of texts onto their translations."""

    def __init__(self, translator: LineTranslator, align: Aligner, *, mark: bool = True) -> None:
        self._translator = translator
        self._align = align
        self._mark = mark

    def translations(self, texts: Sequence[str]) -> list[str]:
        """Return the separate translations of some texts."""
        return self._translator.answers(texts)

    def project(self, spans: Sequence[SpanToProject]) -> list[ProjectedSpan | None]:
        """Return each span in its text's translation, None for those that are lost."""
        markers = self._markers(spans) if self._mark else None
        places, marked_texts = self._by_markers(spans, markers)
        self.translations([span.text for span in spans])
        rest: list[int] = []
        for row, span in enumerate(spans):
            if places[row] is None and (exact := _first_exact(span, self._spellings(span, marked_texts.get(row)))):
                places[row] = ProjectedSpan(exact, EXACT)
            if places[row] is None:
                rest.append(row)
        # Questions share passages, and entities sentences.
        texts = {row: (spans[row].original, spans[row].translation) for row in rest}
        both = list(dict.fromkeys(texts.values()))
        aligned = self._align([(word_texts(one), word_texts(other)) for one, other in both])
        pairs_of = dict(zip(both, aligned, strict=True))
        for row in rest:
            spellings = self._spellings(spans[row], marked_texts.get(row))
            places[row] = _aligned_or_fuzzy(spans[row], pairs_of[texts[row]], spellings)
        return places

    def _spellings(self, span: SpanToProject, marked_text: str | None) -> list[str]:
        """Return the translations of a span that may occur in the translated text, best first."""
        [translated] = self.translations([span.text])
        return [text for text in dict.fromkeys((marked_text, translated)) if text]

    def _markers(self, spans: Sequence[SpanToProject]) -> Markers | None:
        lines = ((span, line_with(span.original, *span.span)) for span in spans)
        texts = [(line.line, (span.span[0] - line.offset, span.span[1] - line.offset)) for span, line in lines if line]
        return surviving_markers(self._translator.attempt, texts) if texts else None

    def _by_markers(
        self, spans: Sequence[SpanToProject], markers: Markers | None
    ) -> tuple[list[ProjectedSpan | None], dict[int, str]]:
        """Return the spans found by markers, and the marked texts of translations that differ from the plain ones."""
        places: list[ProjectedSpan | None] = [None] * len(spans)
        marked: dict[int, str] = {}
        lines = {row: line for row, span in enumerate(spans) if (line := line_with(span.original, *span.span))}
        if markers is None:
            return places, marked
        for row, line in lines.items():
            start, end = spans[row].span
            if not markers.occur_in(line.line):
                marked[row] = markers.mark(line.line, (start - line.offset, end - line.offset))
        inside: dict[int, str] = {}
        for (row, _), translation in zip(marked.items(), self._translator.attempt(list(marked.values())), strict=True):
            if (read := markers.read(translation)) is None:
                continue
            text, span = read
            before, plain = _line(spans[row].translation, lines[row].number)
            if (place := transferred(text, span, plain)) is None:
                inside[row] = text[slice(*span)]
            else:
                places[row] = ProjectedSpan((before + place[0], before + place[1]), MARKERS)
        return places, inside


def _line(text: str, number: int) -> tuple[int, str]:
    """Return the offset and text of a line, "" if there are fewer lines."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[:number]), "".join(lines[number : number + 1])


def _first_exact(span: SpanToProject, spellings: Iterable[str]) -> Span | None:
    matches = (exact_span(span.translation, text, span.expected) for text in spellings)
    return next(filter(None, matches), None)


def _aligned_or_fuzzy(span: SpanToProject, pairs: Pairs, spellings: Iterable[str]) -> ProjectedSpan | None:
    offsets = word_offsets(span.original), word_offsets(span.translation)
    aligned = aligned_span(span.span, *offsets, pairs)
    if aligned is not None and aligned[1] >= LEAST_ALIGNED:
        return ProjectedSpan(aligned[0], ALIGNMENT)
    return find_fuzzy(span.translation, spellings, span.expected)


def find_fuzzy(context: str, spellings: Iterable[str], expected: int) -> ProjectedSpan | None:
    """Return the first fuzzy match of some texts."""
    matches = (fuzzy_span(context, text, expected) for text in spellings)
    return next((ProjectedSpan(match, FUZZY) for match in matches if match), None)


def find_text(context: str, text: str, expected: int) -> ProjectedSpan | None:
    """Return the exact or else the fuzzy match of a text near an offset."""
    if exact := exact_span(context, text, expected):
        return ProjectedSpan(exact, EXACT)
    return find_fuzzy(context, (text,), expected)


def projected_back(answer: str, translation: str, original: str, pairs: Pairs) -> ProjectedSpan | None:
    """Return the span of the original text that an answer from its translation stands for.

    Args:
        answer: text predicted from the translation.
        translation: text that it was predicted from.
        original: text that the span is sought in.
        pairs: alignment of the words of the original with those of the translation.
    """
    located = find_text(translation, answer, 0)
    stretch = len(original) / max(1, len(translation))
    expected = round(located.span[0] * stretch) if located else 0
    # Names and numbers are the same in both texts.
    if exact := exact_span(original, answer, expected):
        return ProjectedSpan(exact, EXACT)
    if located is not None:
        offsets = word_offsets(translation), word_offsets(original)
        occurrences = [match.span() for match in re.finditer(re.escape(answer.strip()), translation)]
        backward = [(target, source) for source, target in pairs]
        moves = (aligned_span(span, *offsets, backward) for span in occurrences or [located.span])
        best = max(filter(None, moves), key=lambda move: move[1], default=None)
        if best is not None and best[1] >= LEAST_ALIGNED:
            return ProjectedSpan(best[0], ALIGNMENT)
    return find_fuzzy(original, (answer,), expected)


def steps_text(steps: Mapping[str, int], total: int, what: str) -> str:
    """Return the counts of a projection in words: `answers: 80 of 100 projected (markers 70, exact 10), 20 lost`."""
    lost = steps.get(LOST, 0)
    parts = ", ".join(f"{step} {steps[step]:,}" for step in STEPS if step != LOST and steps.get(step))
    how = f" ({parts})" if parts else ""
    return f"{what}: {total - lost:,} of {total:,} projected{how}, {lost:,} lost ({lost / max(1, total):.1%})"
