"""Columns of tables by their role in a task, and the kind of the task, from names and contents."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from isogloss.data.table_files import MISSING, FileTable
from isogloss.tasks.table_format import ColumnName

# Names of columns by role, the most specific first.
_NAMES: Mapping[str, str] = {
    "id": "id idx index_id index uid guid qid example_id sentence_id sent_id pairid pair_id question_id key",
    "language": "language lang locale language_code lang_code",
    "split": "split partition fold subset",
    "tokens": "tokens words",
    "tags": "tags ner_tags pos_tags upos ner pos labels",
    "context": "context passage paragraph article flores_passage",
    "question": "question query",
    "answers": "answers answer answer_text",
    "text_a": "text_a premise sentence1 text1 sentence_a sent1 question1 source_sentence src mt_source",
    "text_b": "text_b hypothesis sentence2 text2 sentence_b sent2 question2 target_sentence translation mt",
    "text": "text sentence content review tweet comment utterance document headline body message post input source src",
    "choices": "choices options endings",
    "premise": "premise passage flores_passage context stem ctx prompt",
    "label": "label category class sentiment topic gold_label gold emotion intent polarity correct answer "
    "correct_answer_num answerkey target y",
    "labels": "labels emotions categories topics tags genres",
    "score": "score similarity similarity_score rating quality z_mean mean da stars gold",
    "references": "references reference target summary translation simplification output ref",
    "cluster": "cluster group doc_id document_id article_id title document",
}
# Columns that form the choices, such as choice1 and choice2, or A, B, C and D.
_NUMBERED_CHOICE = re.compile(
    r"(?:choice|option|ending|answer|mc_answer|sol|alternative)[_ ]?([1-9a-f])", re.IGNORECASE
)
# A column with as many distinct values at most may be a label, if each occurs several times.
_MOST_LABELS = 60
_LONGEST_LABEL = 40


@dataclass(frozen=True)
class SampledColumn:
    """A column of a file: its name or number, and its cells."""

    name: str | int
    cells: Sequence[Any]

    @cached_property
    def present(self) -> list[Any]:
        """Cells with a value."""
        return [cell for cell in self.cells if cell is not None and cell is not MISSING and cell != ""]

    @property
    def is_list(self) -> bool:
        """True if cells are lists."""
        return bool(self.present) and all(isinstance(cell, list | tuple) for cell in self.present)

    @cached_property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len({str(cell) for cell in self.present})

    @cached_property
    def length(self) -> float:
        """Mean length in characters."""
        return sum(len(str(cell)) for cell in self.present) / max(1, len(self.present))

    @cached_property
    def numbers(self) -> list[float]:
        """All cells as numbers, empty if one is not a number."""
        try:
            return [float(cell) for cell in self.present if not isinstance(cell, bool)]
        except (TypeError, ValueError):
            return []

    @property
    def is_label(self) -> bool:
        """True if few short values occur again and again."""
        few = self.distinct <= min(_MOST_LABELS, max(2, len(self.present) // 3))
        return bool(self.present) and not self.is_list and few and self.length <= _LONGEST_LABEL

    @property
    def is_measure(self) -> bool:
        """True if all values are numbers and some are not whole, or there are too many for labels."""
        return bool(self.numbers) and (any(value % 1 for value in self.numbers) or not self.is_label)

    @property
    def is_text(self) -> bool:
        """True if cells are texts of several words or letters."""
        return bool(self.present) and not self.is_list and not self.numbers and not self.is_label


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Kind of a task and its columns by role."""

    kind: str
    columns: dict[str, ColumnName]


def guessed_roles(table: FileTable, kind: str = "", *, header: bool = True) -> Roles:
    """Return the kind and the columns of a table; `kind` is the user's choice, "" to guess it.

    Roles that cannot be guessed are left out.
    """
    # CoNLL numbers its columns beside their names.
    names = [name for name in table.names if not (name.isdecimal() and "tokens" in table.columns)]
    columns = {name: SampledColumn(name if header else int(name), table.columns[name]) for name in names}
    guesser = _Guesser(columns)
    common = {role: column for role in ("id", "language", "split") if (column := guesser.named(role))}
    if "id" in common:
        # A file of several languages may have an id once in each.
        keys = list(zip(*(map(str, column.cells) for column in common.values()), strict=True))
        if len(set(keys)) < len(keys):
            del common["id"]
    guesser.taken |= {str(column.name) for column in common.values()}
    guessers = {
        "tagging": guesser.tagging,
        "qa": guesser.qa,
        "choice": guesser.choice,
        "": guesser.texts,
    }
    special = tuple(guessers) if not kind else (kind,) if kind in guessers else ("",)
    for name in special:
        roles = guessers[name](kind)
        if roles is not None:
            own = {
                role: column.name if isinstance(column, SampledColumn) else column for role, column in roles[1].items()
            }
            return Roles(kind=roles[0], columns={**{role: each.name for role, each in common.items()}, **own})
    return Roles(kind=kind, columns={role: each.name for role, each in common.items()})


_Guess = tuple[str, dict[str, Any]] | None


class _Guesser:
    """Guesses of the columns of one table."""

    def __init__(self, columns: Mapping[str, SampledColumn]) -> None:
        self.columns = columns
        self.taken: set[str] = set()

    def free(self) -> Iterable[SampledColumn]:
        return (column for column in self.columns.values() if str(column.name) not in self.taken)

    def named(self, role: str) -> SampledColumn | None:
        """Return the column with the best of a role's names."""
        by_name = {str(column.name).strip().lower(): column for column in self.free()}
        return next((by_name[name] for name in _NAMES[role].split() if name in by_name), None)

    def tagging(self, kind: str) -> _Guess:
        tokens, tags = self.named("tokens"), self.named("tags")
        if tokens is None or (tags is None and not kind) or (not kind and not tokens.is_list):
            return None
        return "tagging", {"tokens": tokens, **({"tags": tags} if tags else {})}

    def qa(self, kind: str) -> _Guess:
        context, question = self.named("context"), self.named("question")
        if context is None or question is None or self._choices():
            return None
        answers = self.named("answers")
        if answers is not None and answers.is_label and not kind:
            return None
        cluster = self.columns.get("title") or (context if _repeats(context) else None)
        roles = {"question": question, "context": context, "answers": answers, "cluster": cluster}
        return "qa", {role: column for role, column in roles.items() if column}

    def _choices(self) -> Any:
        whole = self.named("choices")
        if whole is not None:
            return whole
        marked = {
            str(column.name): match[1]
            for column in self.free()
            if (match := _NUMBERED_CHOICE.fullmatch(str(column.name)))
        }
        letters = {str(column.name): str(column.name) for column in self.free() if str(column.name) in tuple("ABCDEF")}
        chosen = marked if len(marked) > 1 else letters if len(letters) > 1 else {}
        return tuple(sorted(chosen, key=chosen.__getitem__))

    def choice(self, kind: str) -> _Guess:
        choices = self._choices()
        if not choices:
            return None
        self.taken |= set(choices) if isinstance(choices, tuple) else {str(choices.name)}
        premise, question, label = self.named("premise"), self.named("question"), self.named("label")
        # The kind has both; a dataset with one has it as both.
        roles = {"premise": premise or question, "question": question or premise, "choices": choices, "label": label}
        if premise and _repeats(premise):
            roles["cluster"] = premise
        return "choice", {role: column for role, column in roles.items() if column is not None}

    def texts(self, kind: str) -> _Guess:
        """Guess one or two texts with a label, labels, a number or references."""
        pair = (self.named("text_a"), self.named("text_b"))
        single = self.named("text")
        text = single or pair[0]
        inputs = {"text": text} if text else self._texts_by_contents()
        if pair[0] and pair[1] and pair[0] is not pair[1]:
            inputs = {"text_a": pair[0], "text_b": pair[1]}
        if not inputs:
            return None
        self.taken |= {str(column.name) for column in inputs.values()}
        kind, gold = self._gold(kind)
        first = inputs.get("text_a")
        cluster = {"cluster": first} if first and _repeats(first) else {}
        if kind == "generation" and "text_b" in inputs:
            inputs = {"text": inputs["text_a"], "references": inputs["text_b"]}
        return kind, {**inputs, **({_GOLD[kind]: gold} if gold is not None and kind in _GOLD else {}), **cluster}

    def _texts_by_contents(self) -> dict[str, SampledColumn]:
        texts = sorted((column for column in self.free() if column.is_text), key=lambda column: -column.length)
        if len(texts) > 1 and not any(column.is_label or column.is_measure for column in self.free()):
            texts = texts[:1]  # the other is the reference
        near = [column for column in texts[:2] if column.length > texts[0].length / 4]
        if len(near) == 2:
            in_order = sorted(near, key=list(self.columns.values()).index)
            return {"text_a": in_order[0], "text_b": in_order[1]}
        return {"text": near[0]} if near else {}

    def _gold(self, kind: str) -> tuple[str, SampledColumn | None]:
        """Return the kind and the gold column."""
        if kind:
            role = _GOLD.get(kind)
            return kind, (self.named(role) or self._by_contents(kind)) if role else None
        return next(iter(self._likely_gold()), ("classification", self.named("label")))

    def _likely_gold(self) -> Iterator[tuple[str, SampledColumn]]:
        """Yield kinds with their gold column, the likeliest first: by names that fit the contents, then by contents."""
        labels, label, score = self.named("labels"), self.named("label"), self.named("score")
        if labels is not None and (labels.is_list or _is_divided(labels)):
            yield "multilabel", labels
        if label is not None and label.is_label and not any(value % 1 for value in label.numbers):
            yield "classification", label
        for measure in (score, label):
            if measure is not None and measure.is_measure:
                yield "regression", measure
        if labels is not None and labels.is_label:
            yield "classification", labels
        references = self.named("references")
        if references is not None and (references.is_text or references.is_list):
            yield "generation", references
        for kind in ("classification", "regression", "generation"):
            if (column := self._by_contents(kind)) is not None:
                yield kind, column

    def _by_contents(self, kind: str) -> SampledColumn | None:
        tests = {
            "classification": "is_label",
            "regression": "is_measure",
            "generation": "is_text",
            "multilabel": "is_label",
        }
        # The last column: gold follows the inputs.
        several = [
            column for column in self.free() if getattr(column, tests.get(kind, "is_label")) and column.distinct > 1
        ]
        return several[-1] if several else None


_GOLD = {"classification": "label", "multilabel": "labels", "regression": "score", "generation": "references"}


def _is_divided(column: SampledColumn) -> bool:
    """Return True if cells have several labels, separated as the kind reads them."""
    return sum(any(sign in str(cell) for sign in "|;,") for cell in column.present) > len(column.present) / 20


def _repeats(column: SampledColumn) -> bool:
    """Return True if texts occur several times, as premises and passages do."""
    return len(column.present) >= 10 and column.distinct <= 0.8 * len(column.present)
