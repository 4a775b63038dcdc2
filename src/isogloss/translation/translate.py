"""Translate training and test sets, and write them where the translation regimes look for them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.data.files import sha256_of
from isogloss.errors import DataError, IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.tagging import marks_entities
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from isogloss.translation.alignment import SPELLING, Aligner, alignment_text, spelling_aligner
from isogloss.translation.lines import LineTranslator
from isogloss.translation.projection import LOST, STORED, ProjectedSpan, SpanProjector, SpanToProject
from isogloss.translation.retrieval_sides import ENGLISH, candidate_side, joined_sides, queries_are_english
from isogloss.translation.stored_examples import StoredExamples, nearest_span, stored_columns
from isogloss.translation.tag_projection import TranslatedSentence, project_tags
from isogloss.translation.translated_files import (
    DataFolder,
    candidates_path,
    columns_to_translate,
    from_english,
    moving,
    texts_checksum,
    texts_to_replace,
    translation_path,
    with_texts,
    write_texts,
)
from isogloss.translation.translation_records import SpanAgreement, TranslationRecord, compared_spans
from isogloss.translation.translators import TranslationFunction, Translator
from isogloss.translation.words import word_texts

# Function that is called with originals and translations before they are written; it raises an error to refuse them.
Inspection = Callable[[Examples, Examples], None]


def translate(
    task: Task,
    language: str,
    split: str,
    data: DataFolder,
    translator: Translator | TranslationFunction,
    *,
    align: Aligner | None = None,
    mark: bool = True,
    inspect: Inspection | None = None,
) -> Path:
    """Translate the English training set to a language, or its test or dev set to English, and return the file.

    The translator is called with every distinct line once. Answers and tags are projected onto the translation, and a
    record with the counts of lost ones is written beside it (`translation_records`). Of retrieval tasks, the queries
    and candidates in the language are translated, each to a file of their own.

    Args:
        task: task to translate.
        language: the language other than English.
        split: "train" (from English), or "test" or "dev" (to English).
        data: data folder.
        translator: translator, or function from lines to their translations.
        align: aligner of words; default: compares the translations of single words with those of the text.
        mark: True to translate texts once more with markers around each answer or entity.
        inspect: called with originals and translated examples before anything is written.

    Raises:
        IsoglossError: the task cannot be translated, there is nothing to translate, or the translator fails.
    """
    sides = sides_to_translate(task, language, split, data)
    work = SetTranslation(task, language, translator, align=align, mark=mark)
    made = [work.translated(side) for side, _ in sides]
    if inspect is not None:
        target = language if split == "train" else ENGLISH
        translated = [with_texts(one.originals, one.columns, target, "", ()) for one in made]
        inspect(joined_sides([one.originals for one in made]), joined_sides(translated))
    for one, (_, path) in zip(made, sides, strict=True):
        projected = work.projected(one)
        write_texts(path, one.originals.ids, {**one.columns, **projected.columns})
        work.record(one.originals, projected, path, split).write(path)
    return sides[0][1]


def write_untranslated(task: Task, language: str, split: str, data: DataFolder, path: Path) -> list[tuple[Path, Path]]:
    """Write the same file with untranslated texts, to be translated in place by others.

    Returns:
        The path of each written file, and of the file to save its translation as. There are two if both the queries and
        the candidates of a retrieval task are in the language.
    """
    written = []
    for number, (originals, target) in enumerate(sides_to_translate(task, language, split, data)):
        names = columns_to_translate(originals)
        if moving(originals) == "tags":
            names += ["tokens", *(["tags"] if split == "train" else [])]
        own = path.with_name(f"{path.stem}-candidates{path.suffix}") if number else path
        write_texts(own, originals.ids, {name: originals.column(name) for name in names})
        written.append((own, target))
    return written


def sides_to_translate(task: Task, language: str, split: str, data: DataFolder) -> list[tuple[Examples, Path]]:
    """Return the examples to translate, with the file of their translation; for retrieval, queries and candidates.

    Raises:
        IsoglossError: the task cannot be translated.
        DataError: there is nothing in the language.
    """
    kind = kind_of(task)
    if not kind.translatable:
        raise IsoglossError(f"{task.id} cannot be translated: {task.kind} has no regime with translations")
    originals = load(task, ENGLISH if split == "train" else language, split, data)
    path = translation_path(task, language, split, data)
    if not kind.retrieval:
        return [(originals, path)]
    sides = [] if queries_are_english(task, originals) else [(originals, path)]
    if (candidates := candidate_side(originals, language)) is not None:
        sides.append((candidates, candidates_path(path)))
    if not sides:
        raise DataError(f"neither queries nor candidates in {language}", where=", ".join(originals.sources))
    return sides


@dataclass(frozen=True)
class TranslatedSide:
    """Examples with their translated columns, and the stored examples that these come from, if any."""

    originals: Examples
    columns: dict[str, Sequence[Any]]
    stored: StoredExamples | None = None


class SetTranslation:
    """The steps from examples to their translation: texts, then what moves with them, then the record of both.

    Args:
        task: task of the examples.
        language: the language other than English.
        translator: translator, or function from lines to their translations.
        align: aligner of words; default: compares the translations of single words with those of the text.
        mark: True to translate texts once more with markers around each answer or entity.
    """

    def __init__(
        self,
        task: Task,
        language: str,
        translator: Translator | TranslationFunction,
        *,
        align: Aligner | None = None,
        mark: bool = True,
    ) -> None:
        self._task, self._language, self._translator, self._mark = task, language, translator, mark
        self._lines = LineTranslator(translator)
        self._align = spelling_aligner(self._lines.dictionary) if align is None else align
        self._aligner = SPELLING if align is None else str(getattr(align, "name", "function"))

    def translated(self, originals: Examples) -> TranslatedSide:
        """Translate the texts of some examples; of sets from English, stored examples may cover a part."""
        names, translator = texts_to_replace(originals), self._translator
        stored = translator.stored_examples(self._task, originals) if isinstance(translator, Translator) else None
        if stored is None:
            self._lines.texts([text for name in names for text in _texts(originals.column(name))])  # all in one call
            columns: dict[str, Sequence[Any]] = {
                name: _translated(originals.column(name), self._lines) for name in names
            }
        else:
            if not stored.is_whole and not from_english(originals):
                what = f"only {len(stored.rows):,} of {stored.total:,} examples are covered"
                raise IsoglossError(what, fix="A translated test set needs all examples")
            originals, columns = originals.keep(stored.rows), stored_columns(stored, names)
        if not any(map(any, columns.values())):
            raise IsoglossError("no text to translate", where=", ".join(originals.sources))
        return TranslatedSide(originals, columns, stored)

    def projected(self, side: TranslatedSide) -> "Projected":
        """Project answers or tags onto the translated texts."""
        projector = SpanProjector(self._lines, self._align, mark=self._mark)
        match moving(side.originals):
            case "answers":
                return _projected_answers(side, projector, self._align)
            case "tags":
                return _projected_tags(self._task, side, projector, self._align)
        return Projected()

    def record(self, originals: Examples, projected: "Projected", path: Path, split: str) -> TranslationRecord:
        """Return the record of a written file."""
        steps = Counter(step for row_steps in projected.steps or () for step in row_steps)
        one = self._translator
        named = (one.name, one.version) if isinstance(one, Translator) else ("", "")
        return TranslationRecord(
            task=originals.task,
            language=self._language,
            split=split,
            translator=named[0],
            version=named[1],
            aligner=self._aligner if projected.unit else "",
            markers=self._mark and bool(projected.unit),
            checksum=sha256_of(path),
            originals=texts_checksum(originals),
            examples=len(originals),
            unit=projected.unit,
            total=steps.total(),
            steps=dict(steps),
            lost_share=steps[LOST] / max(1, steps.total()),
            dropped=projected.dropped,
            agreement=dict(projected.agreement),
        )


def _texts(column: Sequence[Any]) -> list[str]:
    """Return all texts of a column."""
    return [text for item in column for text in ((item,) if isinstance(item, str) else item)]


def _translated(column: Sequence[Any], lines: LineTranslator) -> list[Any]:
    """Return the translations of a column, of one or several texts per example."""
    translations = iter(lines.texts(_texts(column)))
    return [next(translations) if isinstance(item, str) else [next(translations) for _ in item] for item in column]


@dataclass(frozen=True)
class Projected:
    """Further columns of a translated file, and the steps of each example's units; None if nothing moves."""

    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    steps: list[list[str]] | None = None
    unit: str = ""
    dropped: int = 0
    agreement: Mapping[str, SpanAgreement] = field(default_factory=dict)


def _projected_answers(side: TranslatedSide, projector: SpanProjector, align: Aligner) -> Projected:
    originals = side.originals
    passages = originals["context"]
    contexts = side.columns.get("context", passages)
    added: dict[str, Sequence[Any]] = {}
    steps: list[list[str]] = [[] for _ in originals.ids]
    agreement: Mapping[str, SpanAgreement] = {}
    if originals.has_gold:
        answers, starts = originals["answers"], originals["answer_starts"]
        units = [(row, *one) for row in range(len(originals)) for one in zip(answers[row], starts[row], strict=True)]
        spans = [
            SpanToProject(original=passages[row], translation=contexts[row], span=(start, start + len(text)))
            for row, text, start in units
        ]
        texts: list[list[str]] = [[] for _ in originals.ids]
        offsets: list[list[int | None]] = [[] for _ in originals.ids]
        translations = projector.translations([text for _, text, _ in units])
        places = projector.project(spans)
        stored = _stored_places(side, [row for row, *_ in units], contexts, places)
        agreement = compared_spans(
            [place.step if place else LOST for place in places],
            [place.span if place else None for place in places],
            [place.span if place else None for place in stored],
        )
        for (row, *_), own, projected, separate in zip(units, stored, places, translations, strict=True):
            place = own or projected
            texts[row].append(contexts[row][slice(*place.span)] if place else separate)
            offsets[row].append(place.span[0] if place else None)
            steps[row].append(place.step if place else LOST)
        added = {"answers": texts, "answer_starts": offsets, "projection": steps}
    if not from_english(originals):
        both = list(dict.fromkeys(zip(passages, contexts, strict=True)))  # questions share passages
        pairs = align([(word_texts(passage), word_texts(context)) for passage, context in both])
        texts_of = dict(zip(both, map(alignment_text, pairs), strict=True))
        added["alignment"] = [texts_of[one] for one in zip(passages, contexts, strict=True)]
    dropped = sum({*row_steps} <= {LOST} for row_steps in steps) if originals.has_gold else 0
    return Projected(added, steps, "answers", dropped, agreement)


def _stored_places(
    side: TranslatedSide,
    rows: Sequence[int],
    contexts: Sequence[str],
    projected: Sequence[ProjectedSpan | None],
) -> list[ProjectedSpan | None]:
    """Return the stored span of each answer, given its row and its projected place.

    It is the one at the same place in the list if there are as many, and otherwise the nearest: translations of SQuAD
    have the answers of several annotators, of which XQuAD has one.
    """
    spans = None if side.stored is None else side.stored.spans(contexts)
    if spans is None:
        return [None] * len(rows)
    places: list[ProjectedSpan | None] = []
    seen: Counter[int] = Counter()
    counts = Counter(rows)
    for row, place in zip(rows, projected, strict=True):
        same = spans[row][seen[row] :][:1] if len(spans[row]) == counts[row] else spans[row]
        own = nearest_span(same, place.span if place else None)
        places.append(ProjectedSpan(own, STORED) if own else None)
        seen[row] += 1
    return places


def _projected_tags(task: Task, side: TranslatedSide, projector: SpanProjector, align: Aligner) -> Projected:
    unit = "entities" if marks_entities(task) else "words"
    originals, texts = side.originals, side.columns["text"]
    if not from_english(originals):
        tokens = [word_texts(text) for text in texts]
        pairs = align(list(zip(originals["tokens"], tokens, strict=True)))
        return Projected({"tokens": tokens, "alignment": [alignment_text(one) for one in pairs]}, None, unit)
    names = ("text", "tokens", "offsets", "tags")
    sentences = [TranslatedSentence(*one) for one in zip(*(originals[name] for name in names), texts, strict=True)]
    tagged = project_tags(task, sentences, projector, align)
    steps = [one.steps for one in tagged]
    tags: dict[str, Sequence[Any]] = {"tokens": [one.tokens for one in tagged], "tags": [one.tags for one in tagged]}
    return Projected({**tags, "projection": steps}, steps, unit, sum(one.tags is None for one in tagged))
