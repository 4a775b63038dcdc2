"""Registry of attributes: built-in, from installed packages, and user columns."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any, cast
from warnings import warn

import msgspec
import numpy as np

from isogloss.data.tables import jsonl
from isogloss.errors import DataError, unknown
from isogloss.explain.attributes import text
from isogloss.explain.attributes.bleu import bleus
from isogloss.explain.attributes.lengths import CONVENTIONS, REFERENCES, Convention, Texts, lengths, ratio
from isogloss.explain.attributes.needs import applies
from isogloss.explain.model import Attribute, Column
from isogloss.explain.tagging import ENTITY_ATTRIBUTES, TAG
from isogloss.metrics.statistics import FloatArray, sizes
from isogloss.plugins import Registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS

Values = Callable[..., Column | None]
# More different questions are not a property of examples.
_MOST_QUESTIONS = 12


def _number(name: str, title: str, needs: str, values: Values | None, **further: Any) -> Attribute:
    """Return an attribute, numeric by default; `needs` is separated by blanks."""
    return Attribute(name, title, tuple(needs.split()), values=values, **further)


_named = partial(_number, discrete=True)
# Counts of tokens by a convention, definitions that the paper and ExplainaBoard change, and properties of answers.
_tokens = partial(_number, counts_tokens=True)
_defined = partial(_number, conventions=REFERENCES)
_answered = partial(_number, values=None, level="answer")


def _length(name: str, title: str, needs: str, texts: Texts, over: Texts | None = None) -> Attribute:
    """Return the length of one text of every example in tokens, or its ratio to another text's length."""

    def values(examples: Examples, convention: Convention = "script") -> FloatArray:
        counts = lengths(examples, texts, convention)
        return counts if over is None else ratio(counts, lengths(examples, over, convention))

    return _tokens(name, title, needs, values)


def _bleu(name: str, title: str, needs: str, texts: Texts, references: Texts) -> Attribute:
    """Return the BLEU of one text of every example against another, 0 to 1; see `bleu.bleus`."""

    def values(examples: Examples, convention: Convention = "script") -> FloatArray:
        return bleus(texts(examples), references(examples), examples.language, convention)

    return _defined(name, title, needs, values)


def _strings(column: str, missing: str = "") -> Values:
    return lambda examples: np.array([str(value) or missing for value in examples[column]], dtype=np.str_)


def _choices(index: int) -> Texts:
    return lambda examples: [choices[index] for choices in examples["choices"]]


def _distinct_answers(examples: Examples) -> FloatArray:
    return np.array([len(set(answers)) for answers in examples["answers"]], dtype=np.float64)


def _asked(examples: Examples) -> Column | None:
    """Return the question of a choice, or None if there are many: those in words differ from example to example."""
    questions = _strings("question")(examples)
    return None if questions is None or len(set(questions.tolist())) > _MOST_QUESTIONS else questions


def _choice_counts(examples: Examples) -> Column | None:
    """Return the number of choices, or None if it is always the same."""
    counts = [str(len(choices)) for choices in examples["choices"]]
    return np.array(counts, dtype=np.str_) if len(set(counts)) > 1 else None


def _label_counts(examples: Examples) -> FloatArray:
    return np.array([len(labels) for labels in examples["labels"]], dtype=np.float64)


def _first_references(examples: Examples) -> list[str]:
    return [texts[0] for texts in examples["references"]]


# Columns by name; lengths shared by several attributes are computed once.
_QUESTION, _CONTEXT, _SECOND_TEXT = itemgetter("question"), itemgetter("context"), itemgetter("text_b")
_TEXT = itemgetter("text")
_LEXICAL = "lexical overlap of"
_SURFACE = "surface overlap of query and target (character trigrams)"
_PAIR, _ONE_OF_MANY = "text_a text_b", "targets single-target shared-pool pool"

# Attributes of a system's answers, available only in single-system analyses.
RANK = _answered("rank", "rank of the first hit among 20", "targets ranking", discrete=True)
ERROR_TYPE = _answered("errorType", "error type of the answer", "question context answers", discrete=True)
CONFIDENCE = _answered("confidence", "confidence of the system, 0 to 1", "main-text")
REPLY = _answered("reply", "outcome of reading a language model's reply", "main-text", discrete=True)

# In display order.
ATTRIBUTES: tuple[Attribute, ...] = (
    _length("aLen", "answer length in tokens", "answers", text.first_answers),
    _length("qLen", "question length in tokens", "question context", _QUESTION),
    _length("cLen", "context length in tokens", "context", _CONTEXT),
    _length("aLen/qLen", "answer length over question length", "answers question", text.first_answers, _QUESTION),
    _length("aLen/cLen", "answer length over context length", "answers context", text.first_answers, _CONTEXT),
    _length("qLen/cLen", "question length over context length", "question context", _QUESTION, _CONTEXT),
    _bleu("BLEU-AQ", f"{_LEXICAL} answer and question (BLEU)", "answers question", text.first_answers, _QUESTION),
    # A question is far shorter than its context, so the brevity penalty makes the values tiny, as in the paper's Table
    # 25; only their order matters.
    _bleu("BLEU-QC", f"{_LEXICAL} question and context (BLEU)", "question context", _QUESTION, _CONTEXT),
    _number("aPos", "relative position of the answer in the context", "answer_starts context", text.answer_position),
    _number("answers", "number of different gold answers", "answers", _distinct_answers),
    _defined("qType", "question type", "question context", text.question_type, discrete=True),
    _named("label", "gold label", "label", _strings("label")),
    _length("t1Len", "length of the first text in tokens", "first-text", text.first_texts),
    _length("t2Len", "length of the second text in tokens", _PAIR, _SECOND_TEXT),
    _length("t2Len/t1Len", "length of the second text over the first", _PAIR, _SECOND_TEXT, text.first_texts),
    _length("pLen", "premise length in tokens", "premise choices", itemgetter("premise")),
    _length("c1Len", "length of the first choice in tokens", "choices", _choices(0)),
    _length("c2Len", "length of the second choice in tokens", "choices", _choices(1)),
    _tokens("rightLen/wrongLen", "length of the correct choice over the wrong one", "choices label", text.choice_ratio),
    _number("overlap", f"{_LEXICAL} the two texts", _PAIR, text.pair_overlap),
    _number("overlap", f"{_LEXICAL} the two texts", "premise choices label", text.choice_overlap),
    _named("question", "question: cause or effect", "question choices", _asked),
    _named("choices", "number of choices", "choices", _choice_counts),
    _number("labels", "number of gold labels", "labels", _label_counts),
    _number("goldScore", "gold number", "score", lambda examples: np.array(examples["score"], dtype=np.float64)),
    _length("refLen", "length of the first reference in tokens", "references", _first_references),
    _length("refLen/t1Len", "length of the reference over the text", "text references", _first_references, _TEXT),
    _named("negation", "negating word present", "first-text", text.negation),
    _named("negation", "negating word present", "premise choices", text.choice_negation),
    TAG,
    _number("sLen", "sentence length in tokens", "tokens", lambda examples: sizes(examples["tokens"]).astype(float)),
    *ENTITY_ATTRIBUTES,
    _length("queryLen", "query length in tokens", "text targets", itemgetter("text")),
    _tokens("targetLen", "target length in tokens", "targets pool ranking", text.target_length),
    _number("surface", _SURFACE, "text targets pool ranking", text.surface_overlap),
    _named("targetLang", "target language", _ONE_OF_MANY, text.target_language),
    _named("sameLang", "query and target in the same language", _ONE_OF_MANY, text.same_language),
    # Mewsli-X's bins of link frequency (XTREME-R paper, Appendix E).
    _named("freqBin", "frequency of the entity in Wikipedia", "frequency_bin", _strings("frequency_bin", "?")),
    _number("poolShare", "share of the target's language in the pool", _ONE_OF_MANY, text.pool_share),
    _named("script", "main script", "main-text", text.main_script),
    _named("scriptMix", "scripts mixed", "main-text", text.script_mix),
    _number("outOfScript", "share of letters outside the language's script", "main-text", text.out_of_script),
    _number("digits", "share of digits", "main-text", partial(text.character_share, kind=text.DIGITS)),
    _number("punctuation", "share of punctuation", "main-text", partial(text.character_share, kind=text.PUNCTUATION)),
    RANK,
    ERROR_TYPE,
    CONFIDENCE,
    REPLY,
)

# Attributes that only the paper and ExplainaBoard define.
REFERENCE_ATTRIBUTES: tuple[Attribute, ...] = (
    _defined("similarity", "BLEU of the second text against the first, 0 to 100", _PAIR, text.similarity),
    _length("text1_divided_text2", "first text's length over the second's", _PAIR, text.first_texts, _SECOND_TEXT),
)

PLUGINS: Registry[Attribute] = Registry("attribute", Attribute, {}, "isogloss.attributes")


@cache
def all_attributes() -> tuple[Attribute, ...]:
    """Return the built-in attributes and those of installed packages; warn about duplicate names."""
    taken = {ours.name for ours in ATTRIBUTES}
    plugins: list[Attribute] = []
    for entry, plugin in PLUGINS.loadable().items():
        if plugin.name in taken:
            warn(f"attribute skipped: {PLUGINS.origins[entry]}: the name {plugin.name!r} is taken", stacklevel=2)
        else:
            taken.add(plugin.name)
            plugins.append(replace(plugin, values=plugin.values and _guarded(plugin.name, plugin.values)))
    return (*ATTRIBUTES, *plugins)


def _guarded(name: str, values: Values) -> Values:
    """Wrap a plugin attribute's function: if it fails, warn and skip the attribute."""

    def guarded(examples: Examples, **settings: str) -> Column | None:
        try:
            result = values(examples, **settings)
            column: Any = None if result is None else np.asarray(result)
            if column is not None and column.shape != (len(examples),):
                raise ValueError(f"{column.shape} values for {len(examples)} examples")
        except Exception as error:
            where = f"{examples.task}/{examples.language}"
            warn(f"attribute skipped: {name} of {where}: {type(error).__name__}: {error}", stacklevel=2)
            return None
        return cast("Column | None", column)

    return guarded


def attributes_under(convention: Convention = "script") -> tuple[Attribute, ...]:
    """Return all attributes of a convention, by our definition; `counted` applies the convention."""
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    return (*all_attributes(), *(REFERENCE_ATTRIBUTES if convention in REFERENCES else ()))


def attributes_for(kind: str, examples: Examples | None = None, convention: Convention = "script") -> list[Attribute]:
    """Return the attributes of a kind of task, in display order.

    Args:
        kind: name of a kind, as in `Task.kind`.
        examples: restrict to attributes that these examples support.
        convention: definition of the attributes; see `count_tokens` and `bleus`.

    Raises:
        UnknownNameError: unknown kind or convention.
    """
    entries = attributes_under(convention)
    return [counted(entry, convention) for entry in entries if applies(entry, KINDS[kind], examples)]


def attribute(name: str, convention: Convention = "script", kind: str | None = None) -> Attribute:
    """Return an attribute by name, ignoring case.

    Args:
        name: as printed, e.g. "aLen".
        convention: definition; see `count_tokens` and `bleus`.
        kind: kind of task, to choose between attributes with the same name; default the first.

    Returns:
        The attribute; `attribute("aLen").values(examples)` is its column.

    Raises:
        UnknownNameError: unknown name; the message has the nearest names.
    """
    entries = attributes_under(convention)
    return counted(named([entry for entry in entries if kind is None or applies(entry, KINDS[kind])], name), convention)


def named(attributes: Sequence[Attribute], name: str) -> Attribute:
    """Return the first attribute with a name, ignoring case."""
    match = next((attribute for attribute in attributes if attribute.name.casefold() == name.casefold()), None)
    if match is None:
        raise unknown("attribute", name, dict.fromkeys(attribute.name for attribute in attributes))
    return match


def counted(attribute: Attribute, convention: Convention) -> Attribute:
    """Return the attribute as defined by a convention, with the convention in its name, or unchanged."""
    if convention == CONVENTIONS[0] or attribute.values is None or not attribute.takes(convention):
        return attribute
    name, title = f"{attribute.name}@{convention}", f"{attribute.title} ({convention})"
    return replace(attribute, name=name, title=title, values=partial(attribute.values, convention=convention))


class _ValueLine(msgspec.Struct):
    id: str | int
    value: bool | int | float | str
    task: str = ""
    language: str = ""


def from_jsonl(path: str | os.PathLike[str], name: str) -> Attribute:
    """Read a user's attribute from a file with one `{"id": …, "value": …}` per line.

    Numbers make a continuous attribute; strings, true and false make a discrete one. A line may also name a `task`
    and a `language`, if the same id occurs in several cells; the more specific line wins.

    Args:
        path: file.
        name: name of the attribute.

    Returns:
        An attribute of examples of any kind.

    Raises:
        DataError: the file mixes numbers and strings, or has a duplicate id; or, when the column is computed, an
            example is missing.
    """
    where = str(path)
    by_key: dict[tuple[str, str, str], bool | float | str] = {}
    for number, row in enumerate(jsonl(Path(path), _ValueLine), 1):
        key = (row.task, row.language, str(row.id))
        if key in by_key:
            raise DataError(f"duplicate id {key[2]!r}", where=f"{where}:{number}")
        by_key[key] = row.value
    numeric = {not isinstance(value, bool | str) for value in by_key.values()}
    if len(numeric) != 1:
        what = "the file mixes numbers and strings" if numeric else "empty file"
        raise DataError(what, where=where, fix='Write {"id": …, "value": …} lines with values of one type')
    continuous = numeric.pop()

    def values(examples: Examples) -> Column:
        cells = ((examples.task, examples.language), (examples.task, ""), ("", examples.language), ("", ""))
        column = [
            next((by_key[key] for cell in cells if (key := (*cell, identifier)) in by_key), None)
            for identifier in examples.ids
        ]
        if None in column:
            missing = examples.ids[column.index(None)]
            what = f"no value for {column.count(None)} of {len(column)} examples, first {missing!r}"
            raise DataError(what, where=where)
        if continuous:
            return np.array(column, dtype=np.float64)
        return np.array([str(value).lower() if isinstance(value, bool) else value for value in column], dtype=np.str_)

    return Attribute(name, f"{name} (from {Path(path).name})", (), discrete=not continuous, values=values)
