"""Selection of attributes, their definitions, and their cuts into buckets."""

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypedDict, cast

from isogloss.errors import PredictionError, unknown
from isogloss.explain.attributes import CONVENTIONS, FERTILITY, Convention, fertility, from_jsonl
from isogloss.explain.attributes.lengths import REFERENCES
from isogloss.explain.attributes.needs import applies
from isogloss.explain.attributes.registry import all_attributes, attributes_under, counted, named
from isogloss.explain.buckets import Binning, fixed_binning, learn_binning
from isogloss.explain.model import Attribute, Column
from isogloss.scoring.request import Request, Resample
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task

# Name for all attributes.
ALL = "all"
# Complete conventions: our definitions and cuts, or those of others.
OURS = "ours"
Edges = Literal["language", "shared", "greedy", "above-zero", "fixed", "mixed"]
BinningRule = Literal["language", "shared", "greedy", "above-zero"] | tuple[float, ...]
BINNING_RULES = ("language", "shared", "greedy", "above-zero")
# Cuts used by others. The paper's Table 26 has the same edges of eLen in all languages, and a separate 0 of rPos.
REFERENCE_RULES: dict[str, dict[str, BinningRule]] = {
    "paper": {ALL: "greedy", "eLen": (1.0, 2.0, 4.0), "rPos": "above-zero"},
    "explainaboard": {ALL: "greedy"},
}
_RULE = re.compile(rf"{'|'.join(BINNING_RULES)}|[-+.:e\d]+")


class CellOptions(TypedDict, total=False):
    """Options that select cells; `explain` documents them."""

    suite: str
    data: str | os.PathLike[str] | None
    split: str
    tasks: Sequence[str] | None
    languages: Sequence[str] | None


class ExplainOptions(CellOptions, total=False):
    """Options of `explain` that select cells and determine their scores."""

    resample: Resample
    strict: bool
    dialect: str


@dataclass(frozen=True, kw_only=True)
class AttributeSelection:
    """Selected attributes, and the rules by which they are cut, by name or by "all".

    A rule is "language", equal counts within each language; "shared", equal counts over all languages of a task;
    "greedy", buckets filled in turn; "above-zero", the same above 0, which has its own bucket; or a tuple of edges.
    """

    attributes: tuple[Attribute, ...] | None = None  # in display order; None for all
    rules: Mapping[str, BinningRule] | None = None
    convention: str = OURS  # source of all definitions and cuts: "ours", or one of `REFERENCES`
    crosses: tuple[tuple[Attribute, Attribute], ...] = ()  # they need not be among `attributes`
    # Words, kinds and convention it was chosen by, so that another process can rebuild it: an attribute's function may
    # not be picklable.
    choice: tuple[Sequence[str] | None, Collection[str], str] | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self.choice is not None:
            return choose_attributes, self.choice
        return partial(AttributeSelection, **vars(self)), ()

    def crosses_of(self, kind: str, examples: Examples | None = None) -> list[tuple[Attribute, Attribute]]:
        """Return the crossed attributes of a kind of task, or of some of its examples."""
        return [pair for pair in self.crosses if all(applies(attribute, KINDS[kind], examples) for attribute in pair)]

    def of(self, kind: str, examples: Examples | None = None) -> list[Attribute]:
        """Return the selected attributes of a kind of task, or of some of its examples."""
        selected = all_attributes() if self.attributes is None else self.attributes
        return [attribute for attribute in selected if applies(attribute, KINDS[kind], examples)]

    def includes(self, attribute: Attribute) -> bool:
        """Return True if the attribute is selected."""
        return self.attributes is None or attribute in self.attributes

    def rule(self, name: str) -> BinningRule:
        """Return the binning rule of an attribute."""
        rules = self.rules or {}
        return rules.get(name, rules.get(ALL, "language"))

    def binning(self, attribute: Attribute, column: Column) -> Binning:
        """Return the binning of a column: with given edges, or learnt from its values."""
        rule = self.rule(attribute.name)
        if isinstance(rule, tuple):
            # Edges of a convention divide its buckets XS to XL; edges of users name their own.
            usual = REFERENCE_RULES.get(self.convention, {}).get(attribute.name)
            return fixed_binning(rule, named=rule == usual)
        zero_apart = rule == "above-zero"
        return learn_binning(column, attribute.discrete, greedy=zero_apart or rule == "greedy", zero_apart=zero_apart)

    @property
    def edges(self) -> Edges:
        """Binning rule of all attributes, or "mixed"; given edges count only if there are no others."""
        attributes = [*(self.attributes or ()), *(attribute for pair in self.crosses for attribute in pair)]
        names = [ALL, *(self.rules or ())] if self.attributes is None else [attribute.name for attribute in attributes]
        rules = {rule for name in names if not isinstance(rule := self.rule(name), tuple)}
        return "fixed" if not rules else "mixed" if len(rules) > 1 else rules.pop()


def choose_attributes(
    words: Sequence[str] | None, kinds: Collection[str], convention: str = OURS
) -> AttributeSelection:
    """Parse a selection of attributes.

    Args:
        words: `aLen`, or `all`; defined by a convention, `aLen@whitespace` or `aLen@paper`; or from a file,
            `mine@values.jsonl`, and `fertility@tokenizer.json` or `fertility@vocab.txt` under a tokenizer. Each may
            specify its cut: at edges, `aLen=2:5:13`, or by a rule, `all=shared`. Two are crossed by a plus sign,
            `aLen+qType`, and cut like each. None selects all.
        kinds: kinds of the explained tasks.
        convention: "ours"; or "paper" or "explainaboard", which then define and cut everything
            that the words leave open.

    Raises:
        UnknownNameError: unknown attribute or convention.
        PredictionError: an attribute cannot be defined or cut in that way.
        DataError: a file cannot be read.
    """
    if convention not in (OURS, *REFERENCES):
        raise unknown("convention", convention, (OURS, *REFERENCES))
    if words is None and convention == OURS:
        return AttributeSelection()
    usual = CONVENTIONS[0] if convention == OURS else cast("Convention", convention)
    chosen = _ChosenWords(usual, kinds)
    for word in [ALL] if words is None else words:
        chosen.add(word)
    rules = chosen.rules if ALL in chosen.rules else REFERENCE_RULES.get(convention, {}) | chosen.rules
    attributes, crosses = (*chosen.named(), *chosen.from_files), tuple(chosen.crosses)
    return AttributeSelection(
        attributes=attributes, rules=rules, convention=convention, crosses=crosses, choice=(words, kinds, convention)
    )


class _ChosenWords:
    """Parser state of a selection; `wanted` are attribute names with their convention."""

    def __init__(self, usual: Convention, kinds: Collection[str]) -> None:
        self._usual, self._kinds = usual, kinds
        self.wanted: set[tuple[str, str]] = set()
        self.from_files: list[Attribute] = []
        self.crosses: list[tuple[Attribute, Attribute]] = []
        self.rules: dict[str, BinningRule] = {}

    def add(self, word: str) -> None:
        """Parse a word: a cross, all attributes, a name, or a file."""
        if sides := self._crossed(word):
            self.crosses.append(sides)
            return
        head, _, rule = word.rpartition("=")
        if not head or ("@" in head and not _RULE.fullmatch(rule)):
            head, rule = word, ""  # an equals sign in a path is not a rule
        name, _, source = head.partition("@")
        if name.casefold() == ALL:
            attribute = Attribute(ALL, ALL)
            how = self._convention(source)
            for each in self._available(how):
                self.wanted.add((each.name, how if each.takes(how) else CONVENTIONS[0]))
        elif source in ("", *CONVENTIONS):
            attribute, how = self._named(name, source)
            self.wanted.add((attribute.name.partition("@")[0], how))
        else:
            is_tokenizer = name.casefold() == FERTILITY and not source.endswith(".jsonl")
            attribute = fertility(source) if is_tokenizer else from_jsonl(source, name)
            self.from_files.append(attribute)
        if rule:
            self.rules[attribute.name] = _rule(attribute, rule)

    def named(self) -> list[Attribute]:
        available = [(how, attribute) for how in CONVENTIONS for attribute in self._available(how)]
        return [counted(attribute, how) for how, attribute in available if (attribute.name, how) in self.wanted]

    def _available(self, convention: Convention) -> list[Attribute]:
        """Return the attributes of the kinds under a convention, by our definition."""
        kinds = [KINDS[kind] for kind in self._kinds]
        return [entry for entry in attributes_under(convention) if any(applies(entry, kind) for kind in kinds)]

    def _convention(self, source: str) -> Convention:
        if source not in ("", *CONVENTIONS):
            raise unknown("convention", source, CONVENTIONS)
        return cast("Convention", source or self._usual)

    def _crossed(self, word: str) -> tuple[Attribute, Attribute] | None:
        """Return the two attributes of `aLen+qType@paper`, or None: paths and edges may contain a plus."""
        first, plus, second = word.partition("+")
        sides = [side.partition("@") for side in (first, second)]
        if not plus or "=" in word or any(source not in ("", *CONVENTIONS) for _, _, source in sides):
            return None
        (left, _), (right, _) = (self._named(name, source) for name, _, source in sides)
        for attribute in (left, right):
            if attribute.values is None and attribute.level != "entity":
                raise PredictionError(f"{attribute.name} depends on a system's answers and cannot be crossed")
        return left, right

    def _named(self, name: str, source: str) -> tuple[Attribute, Convention]:
        """Return the first matching attribute for the kinds, and its convention."""
        if name.casefold() == FERTILITY:
            fix = "Write fertility@tokenizer.json, or fertility@vocab.txt"
            raise PredictionError("fertility needs a tokenizer", fix=fix)
        how = self._convention(source)
        available = self._available(how)
        attribute = named(available, name)
        if how != CONVENTIONS[0] and not attribute.takes(how):
            if source:
                others = ", ".join(other.name for other in available if other.takes(how))
                what = f"{attribute.name} does not count tokens: {how} does not change it"
                raise PredictionError(what, fix=f"Use {how} with {others}")
            how = CONVENTIONS[0]
        return counted(attribute, how), how


def select_attributes(words: Sequence[str] | None, request: Request, convention: str = OURS) -> AttributeSelection:
    """Parse a selection of attributes and check it against the kinds of the request's tasks."""
    words = [words] if isinstance(words, str) else words
    return choose_attributes(words, sorted({task(name).kind for name in request.tasks}), convention)


def _rule(attribute: Attribute, text: str) -> BinningRule:
    if attribute.discrete and text not in ("language", "shared"):
        raise PredictionError(f"{attribute.name} is not numeric and cannot be cut at edges")
    if text in BINNING_RULES:
        return cast("BinningRule", text)
    if attribute.name == ALL:
        fix = f"Write {', '.join(f'all={rule}' for rule in BINNING_RULES)}; edges belong to a single attribute"
        raise PredictionError(f"{text!r} cannot apply to all attributes", fix=fix)
    try:
        return tuple(float(edge) for edge in text.split(":"))
    except ValueError:
        rules = ", ".join(f"{attribute.name}={rule}" for rule in BINNING_RULES)
        fix = f"Write {attribute.name}=2:5:13, or one of {rules}"
        raise PredictionError(f"{text!r} is not a list of edges", where=attribute.name, fix=fix) from None
