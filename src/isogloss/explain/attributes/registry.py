"""The attributes there are: ours, those that installed packages bring, and a user's own column."""

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.data.tables import jsonl
from isogloss.errors import DataError, unknown
from isogloss.explain.attributes import general, qa, retrieval, text
from isogloss.explain.attributes.lengths import CONVENTIONS, Convention
from isogloss.explain.attributes.packages import Plugins, installed, load
from isogloss.explain.model import Attribute, Column
from isogloss.tasks.examples import Examples

KINDS = ("classification", "choice", "tagging", "qa", "bitext", "pool", "mining")

Values = Callable[[Examples], Column]

_PAIRS = ("classification",)
_CHOICE = ("choice",)
_SEARCH = ("bitext", "pool")


def _many(kinds: tuple[str, ...], *named: tuple[str, str, Values], discrete: bool = False) -> tuple[Attribute, ...]:
    return tuple(Attribute(name, title, kinds, discrete, values) for name, title, values in named)


ATTRIBUTES: tuple[Attribute, ...] = (
    *_many(
        ("qa",),
        ("aLen", "answer length in tokens", qa.answer_length),
        ("qLen", "question length in tokens", qa.question_length),
        ("cLen", "context length in tokens", qa.context_length),
        ("aLen/qLen", "answer length over question length", qa.answer_question_ratio),
        ("aLen/cLen", "answer length over context length", qa.answer_context_ratio),
        ("qLen/cLen", "question length over context length", qa.question_context_ratio),
        ("BLEU-AQ", "lexical overlap of answer and question (BLEU)", qa.answer_question_bleu),
        ("BLEU-QC", "lexical overlap of question and context (BLEU)", qa.question_context_bleu),
        ("aPos", "relative position of the answer in the context", qa.answer_position),
        ("answers", "number of different gold answers", qa.answers),
    ),
    *_many(("qa",), ("qType", "question type", qa.question_type), discrete=True),
    *_many(("classification", "choice"), ("label", "gold label", text.label), discrete=True),
    *_many(
        _PAIRS,
        ("t1Len", "length of the first text in tokens", text.first_length),
        ("t2Len", "length of the second text in tokens", text.second_length),
        ("t2Len/t1Len", "length of the second text over the first", text.length_ratio),
    ),
    *_many(
        _CHOICE,
        ("pLen", "premise length in tokens", text.premise_length),
        ("c1Len", "length of the first choice in tokens", text.first_choice_length),
        ("c2Len", "length of the second choice in tokens", text.second_choice_length),
        ("rightLen/wrongLen", "length of the right choice over the wrong one", text.choice_ratio),
    ),
    *_many(("classification", "choice"), ("overlap", "lexical overlap of the two texts", text.lexical_overlap)),
    *_many(_CHOICE, ("question", "what is asked for: cause or effect", text.question), discrete=True),
    *_many(("classification", "choice"), ("negation", "negating word present", text.negation), discrete=True),
    *_many(("tagging",), ("sLen", "sentence length in tokens", text.sentence_length)),
    *_many((*_SEARCH, "mining"), ("queryLen", "query length in tokens", retrieval.query_length)),
    *_many(
        _SEARCH,
        ("targetLen", "target length in tokens", retrieval.target_length),
        ("surface", "surface overlap of query and target (character trigrams)", retrieval.surface_overlap),
    ),
    *_many(
        ("pool",),
        ("targetLang", "target language", retrieval.target_language),
        ("sameLang", "query and target in the same language", retrieval.same_language),
        ("freqBin", "frequency of the entity in Wikipedia", retrieval.frequency_bin),
        discrete=True,
    ),
    *_many(("pool",), ("poolShare", "share of the target's language in the pool", retrieval.pool_share)),
    *_many(
        KINDS,
        ("script", "main script", general.main_script),
        ("scriptMix", "scripts mixed", general.script_mix),
        discrete=True,
    ),
    *_many(
        KINDS,
        ("outOfScript", "share of letters outside the language's script", general.out_of_script),
        ("digits", "share of digits", general.digit_share),
        ("punctuation", "share of punctuation", general.punctuation_share),
    ),
)

# What the examples must have, where the kind alone does not promise it; the rest can always be computed.
_COLUMNS_OF = {
    **dict.fromkeys(("aLen", "aLen/qLen", "aLen/cLen", "BLEU-AQ", "answers"), "answers"),
    **dict.fromkeys(("t2Len", "t2Len/t1Len"), "text_b"),
    **dict.fromkeys(("targetLen", "surface", "targetLang", "sameLang", "poolShare"), "targets"),
    **dict.fromkeys(("label", "rightLen/wrongLen"), "label"),
    "aPos": "answer_starts",
    "freqBin": "frequency_bin",
}
_POOLED = frozenset({"targetLen", "surface", "targetLang", "sameLang", "poolShare"})
_ONE_TARGET = frozenset({"targetLang", "sameLang", "poolShare"})
_OF_TEXT = frozenset({"queryLen", "surface", "script", "scriptMix", "outOfScript", "digits", "punctuation"})


def _computable(name: str, examples: Examples) -> bool:
    column = _COLUMNS_OF.get(name)
    if name == "overlap":
        column = "label" if "choices" in examples.columns else "text_b"
    if column is not None and column not in examples.columns:
        return False
    if (name in _POOLED and examples.pool is None) or (name in _OF_TEXT and not _has_text(examples)):
        return False
    return name not in _ONE_TARGET or retrieval.single_target(examples)


def _has_text(examples: Examples) -> bool:
    """False for Mewsli-X as it is downloaded: its queries have no text until the articles are restored."""
    if "tokens" in examples.columns or "text" not in examples.columns:
        return True
    try:
        examples.column("text")
    except DataError:
        return False
    return True


@cache
def plugins() -> Plugins:
    """Attributes of installed packages, loaded once."""
    return load(installed(), [ours.name for ours in ATTRIBUTES])


def _known() -> tuple[Attribute, ...]:
    return (*ATTRIBUTES, *plugins().attributes)


def attributes_for(kind: str, examples: Examples | None = None, convention: Convention = "script") -> list[Attribute]:
    """The attributes of a kind of tasks.

    Args:
        kind: a kind of tasks, as `Task.kind` has it.
        examples: with them, only the attributes that they have the columns for.
        convention: how lengths are counted; see `count_tokens`.
    """
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    fitting = [known for known in _known() if kind in known.kinds]
    if examples is not None:
        fitting = [known for known in fitting if _computable(known.name, examples)]
    return [_counted(known, convention) for known in fitting]


def attribute(name: str, convention: Convention = "script") -> Attribute:
    """The attribute of that name, in any case.

    Raises:
        UnknownNameError: with the nearest names.
    """
    known = {one.name.casefold(): one for one in _known()}
    if name.casefold() not in known:
        # Near names are found in lower case; they are shown as they are written.
        raise unknown("attribute", name, [one.name for one in known.values()])
    return _counted(known[name.casefold()], convention)


def _counted(found: Attribute, convention: Convention) -> Attribute:
    """The attribute with its lengths counted by a convention, which its name then has; others stay as they are."""
    if convention not in CONVENTIONS:
        raise unknown("convention", convention, CONVENTIONS)
    if convention == "script" or found.values is None or not _takes_convention(found.values):
        return found
    values: Any = found.values
    name, title = f"{found.name}@{convention}", f"{found.title} ({convention})"
    return replace(found, name=name, title=title, values=partial(values, convention=convention))


def _takes_convention(values: Values) -> bool:
    code = getattr(values, "__code__", None)
    return code is not None and "convention" in code.co_varnames[: code.co_argcount]


class _Row(msgspec.Struct):
    id: str | int
    value: bool | int | float | str
    task: str = ""
    language: str = ""


def from_jsonl(path: str | os.PathLike[str], name: str, kinds: Iterable[str] = KINDS) -> Attribute:
    """A user's own attribute, from a file with one `{"id": …, "value": …}` a line.

    Numbers make a continuous attribute; strings, true and false make a discrete one. A line may also name a `task`
    and a `language`, where the same id means different examples in different places; the more exact line wins.

    Raises:
        DataError: the file mixes numbers and strings, or gives an id twice; or, when the column is computed, it lacks
            an example.
    """
    where = str(path)
    found: dict[tuple[str, str, str], bool | float | str] = {}
    for number, row in enumerate(jsonl(Path(path), _Row), 1):
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
        column = [_looked_up(found, places, identifier) for identifier in examples.ids]
        if None in column:
            missing = examples.ids[column.index(None)]
            raise DataError(
                f"no value for {column.count(None)} of {len(column)} examples, the first is {missing!r}", where=where
            )
        if continuous:
            return np.array(column, dtype=np.float64)
        return np.array([str(value).lower() if isinstance(value, bool) else value for value in column], dtype=np.str_)

    return Attribute(name, f"{name} (from {Path(path).name})", tuple(kinds), not continuous, values)


def _looked_up(
    found: dict[tuple[str, str, str], bool | float | str], places: tuple[tuple[str, str], ...], identifier: str
) -> bool | float | str | None:
    return next((found[key] for place in places if (key := (*place, identifier)) in found), None)
