"""The attributes there are: ours, those that installed packages bring, and a user's own column."""

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any
from warnings import warn

import msgspec
import numpy as np

from isogloss.data.tables import jsonl
from isogloss.errors import DataError, unknown
from isogloss.explain.attributes import general, qa, retrieval, text
from isogloss.explain.attributes.answers import CONFIDENCE, ERROR_TYPE, RANK
from isogloss.explain.attributes.lengths import CONVENTIONS, REFERENCES, Convention, Texts, lengths, ratio
from isogloss.explain.attributes.needs import applies
from isogloss.explain.model import Attribute, Column
from isogloss.explain.tagging import ENTITY_ATTRIBUTES, TAG
from isogloss.metrics.statistics import FloatArray
from isogloss.plugins import Registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS

Values = Callable[..., Column | None]


def _number(name: str, title: str, needs: str, values: Values) -> Attribute:
    """A continuous attribute; its needs have blanks between them."""
    return Attribute(name, title, tuple(needs.split()), values=values)


def _tokens(name: str, title: str, needs: str, values: Values) -> Attribute:
    """One that counts tokens, by a convention."""
    return Attribute(name, title, tuple(needs.split()), values=values, counts_tokens=True)


def _length(name: str, title: str, needs: str, texts: Texts, over: Texts | None = None) -> Attribute:
    """The length of one text of every example in tokens, or its ratio to that of another."""

    def values(examples: Examples, convention: Convention = "script") -> FloatArray:
        counts = lengths(examples, texts, convention)
        return counts if over is None else ratio(counts, lengths(examples, over, convention))

    return _tokens(name, title, needs, values)


def _defined(name: str, title: str, needs: str, values: Values, *, discrete: bool = False) -> Attribute:
    """One that the paper and ExplainaBoard define in ways of their own."""
    return Attribute(name, title, tuple(needs.split()), discrete, values, conventions=REFERENCES)


def _named(name: str, title: str, needs: str, values: Values) -> Attribute:
    """One whose values are names."""
    return Attribute(name, title, tuple(needs.split()), values=values, discrete=True)


# Columns by name; a length that several attributes ask for is counted once.
_QUESTION, _CONTEXT, _SECOND_TEXT = itemgetter("question"), itemgetter("context"), itemgetter("text_b")
_ONE_OF_MANY = "targets single-target shared-pool pool"

# In the order in which they are shown.
ATTRIBUTES: tuple[Attribute, ...] = (
    _length("aLen", "answer length in tokens", "answers", qa.first_answers),
    _length("qLen", "question length in tokens", "question context", _QUESTION),
    _length("cLen", "context length in tokens", "context", _CONTEXT),
    _length("aLen/qLen", "answer length over question length", "answers question", qa.first_answers, _QUESTION),
    _length("aLen/cLen", "answer length over context length", "answers context", qa.first_answers, _CONTEXT),
    _length("qLen/cLen", "question length over context length", "question context", _QUESTION, _CONTEXT),
    _defined("BLEU-AQ", "lexical overlap of answer and question (BLEU)", "answers question", qa.answer_question_bleu),
    _defined("BLEU-QC", "lexical overlap of question and context (BLEU)", "question context", qa.question_context_bleu),
    _number("aPos", "relative position of the answer in the context", "answer_starts context", qa.answer_position),
    _number("answers", "number of different gold answers", "answers", qa.answer_count),
    _defined("qType", "question type", "question context", qa.question_type, discrete=True),
    _named("label", "gold label", "label", text.label),
    _length("t1Len", "length of the first text in tokens", "first-text", text.first_texts),
    _length("t2Len", "length of the second text in tokens", "text_a text_b", _SECOND_TEXT),
    _length("t2Len/t1Len", "length of the second text over the first", "text_a text_b", _SECOND_TEXT, text.first_texts),
    _length("pLen", "premise length in tokens", "premise choices", itemgetter("premise")),
    _length("c1Len", "length of the first choice in tokens", "choices", text.first_choices),
    _length("c2Len", "length of the second choice in tokens", "choices", text.second_choices),
    _tokens("rightLen/wrongLen", "length of the right choice over the wrong one", "choices label", text.choice_ratio),
    _number("overlap", "lexical overlap of the two texts", "text_a text_b", text.pair_overlap),
    _number("overlap", "lexical overlap of the two texts", "premise choices label", text.choice_overlap),
    _named("question", "what is asked for: cause or effect", "question choices", text.question),
    _named("negation", "negating word present", "first-text", text.negation),
    _named("negation", "negating word present", "premise choices", text.choice_negation),
    TAG,
    _number("sLen", "sentence length in tokens", "tokens", text.sentence_length),
    *ENTITY_ATTRIBUTES,
    _length("queryLen", "query length in tokens", "text targets", itemgetter("text")),
    _tokens("targetLen", "target length in tokens", "targets pool ranking", retrieval.target_length),
    _number(
        "surface",
        "surface overlap of query and target (character trigrams)",
        "text targets pool ranking",
        retrieval.surface_overlap,
    ),
    _named("targetLang", "target language", _ONE_OF_MANY, retrieval.target_language),
    _named("sameLang", "query and target in the same language", _ONE_OF_MANY, retrieval.same_language),
    _named("freqBin", "frequency of the entity in Wikipedia", "frequency_bin", retrieval.frequency_bin),
    _number("poolShare", "share of the target's language in the pool", _ONE_OF_MANY, retrieval.pool_share),
    _named("script", "main script", "main-text", general.main_script),
    _named("scriptMix", "scripts mixed", "main-text", general.script_mix),
    _number("outOfScript", "share of letters outside the language's script", "main-text", general.out_of_script),
    _number("digits", "share of digits", "main-text", general.digit_share),
    _number("punctuation", "share of punctuation", "main-text", general.punctuation_share),
    RANK,
    ERROR_TYPE,
    CONFIDENCE,
)

# What only the paper and ExplainaBoard have: our own are others.
REFERENCE_ATTRIBUTES: tuple[Attribute, ...] = (
    _defined("similarity", "BLEU of the second text against the first, 0 to 100", "text_a text_b", text.similarity),
    _length(
        "text1_divided_text2", "first text's length over the second's", "text_a text_b", text.first_texts, _SECOND_TEXT
    ),
)

PLUGINS: Registry[Attribute] = Registry("attribute", Attribute, {}, "isogloss.attributes")


@cache
def all_attributes() -> tuple[Attribute, ...]:
    """Ours, and those that installed packages bring; of one whose name is taken a warning says so."""
    taken = {ours.name for ours in ATTRIBUTES}
    found: list[Attribute] = []
    for entry, brought in PLUGINS.loadable().items():
        if brought.name in taken:
            warn(f"attribute left out: {PLUGINS.origins[entry]}: the name {brought.name!r} is taken", stacklevel=2)
        else:
            taken.add(brought.name)
            found.append(replace(brought, values=brought.values and _guarded(brought.name, brought.values)))
    return (*ATTRIBUTES, *found)


def _guarded(name: str, values: Values) -> Values:
    """The function of an attribute from outside; where it fails, the attribute is left out, and a warning says why."""

    def guarded(examples: Examples, **settings: str) -> Column | None:
        try:
            found = values(examples, **settings)
            column: Any = None if found is None else np.asarray(found)
            if column is not None and column.shape != (len(examples),):
                raise ValueError(f"{column.shape} values for {len(examples)} examples")
        except Exception as error:
            where = f"{examples.task}/{examples.language}"
            warn(f"attribute left out: {name} of {where}: {type(error).__name__}: {error}", stacklevel=2)
            return None
        made: Column | None = column
        return made

    return guarded


def attributes_under(convention: Convention = "script") -> tuple[Attribute, ...]:
    """All attributes there are under a convention, by our definition; `counted` gives those of the convention."""
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    return (*all_attributes(), *(REFERENCE_ATTRIBUTES if convention in REFERENCES else ()))


def attributes_for(kind: str, examples: Examples | None = None, convention: Convention = "script") -> list[Attribute]:
    """The attributes of a kind of tasks.

    Args:
        kind: the name of a kind, as `Task.kind` has it.
        examples: with them, only the attributes that they have what is needed for.
        convention: how they are defined; see `count_tokens` and `bleus`.

    Returns:
        The attributes in the order in which they are shown.

    Raises:
        UnknownNameError: there is no such kind, or convention.
    """
    found = KINDS[kind]
    return [counted(one, convention) for one in attributes_under(convention) if applies(one, found, examples)]


def attribute(name: str, convention: Convention = "script", kind: str | None = None) -> Attribute:
    """The attribute of that name, in any case.

    Args:
        name: as printed, e.g. "aLen".
        convention: how it is defined; see `count_tokens` and `bleus`.
        kind: the kind of tasks it is for, where several attributes have that name; else the first of them is given.

    Returns:
        The attribute; `attribute("aLen").values(examples)` is its column.

    Raises:
        UnknownNameError: there is none; the message has the nearest names.
    """
    known = [one for one in attributes_under(convention) if kind is None or applies(one, KINDS[kind])]
    found = next((one for one in known if one.name.casefold() == name.casefold()), None)
    if found is None:
        raise unknown("attribute", name, dict.fromkeys(one.name for one in known))
    return counted(found, convention)


def counted(found: Attribute, convention: Convention) -> Attribute:
    """The attribute as a convention defines it, which its name then has; what the convention leaves as it is stays."""
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    if convention == CONVENTIONS[0] or found.values is None or not found.takes(convention):
        return found
    name, title = f"{found.name}@{convention}", f"{found.title} ({convention})"
    return replace(found, name=name, title=title, values=partial(found.values, convention=convention))


class _ValueLine(msgspec.Struct):
    id: str | int
    value: bool | int | float | str
    task: str = ""
    language: str = ""


def from_jsonl(path: str | os.PathLike[str], name: str) -> Attribute:
    """A user's own attribute, from a file with one `{"id": …, "value": …}` a line.

    Numbers make a continuous attribute; strings, true and false make a discrete one. A line may also name a `task`
    and a `language`, where the same id means different examples in different places; the more exact line wins.

    Args:
        path: the file.
        name: what the attribute is called.

    Returns:
        An attribute of examples of any kind.

    Raises:
        DataError: the file mixes numbers and strings, or gives an id twice; or, when the column is computed, it lacks
            an example.
    """
    where = str(path)
    found: dict[tuple[str, str, str], bool | float | str] = {}
    for number, row in enumerate(jsonl(Path(path), _ValueLine), 1):
        key = (row.task, row.language, str(row.id))
        if key in found:
            raise DataError(f"id {key[2]!r} is given twice", where=f"{where}:{number}")
        found[key] = row.value
    numeric = {not isinstance(value, bool | str) for value in found.values()}
    if len(numeric) != 1:
        what = "numbers and strings are mixed" if numeric else "the file has no lines"
        raise DataError(what, where=where, fix='Write {"id": …, "value": …} lines, values all of one sort')
    continuous = numeric.pop()

    def values(examples: Examples) -> Column:
        places = ((examples.task, examples.language), (examples.task, ""), ("", examples.language), ("", ""))
        column = [
            next((found[key] for place in places if (key := (*place, identifier)) in found), None)
            for identifier in examples.ids
        ]
        if None in column:
            missing = examples.ids[column.index(None)]
            raise DataError(
                f"no value for {column.count(None)} of {len(column)} examples, the first is {missing!r}", where=where
            )
        if continuous:
            return np.array(column, dtype=np.float64)
        return np.array([str(value).lower() if isinstance(value, bool) else value for value in column], dtype=np.str_)

    return Attribute(name, f"{name} (from {Path(path).name})", (), not continuous, values)
