"""The attributes somebody asked for: which, how each is defined, and how each is cut into buckets."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from isogloss.errors import PredictionError, unknown
from isogloss.explain.attributes import CONVENTIONS, FERTILITY, Convention, fertility, from_jsonl
from isogloss.explain.attributes.lengths import REFERENCES
from isogloss.explain.attributes.needs import applies
from isogloss.explain.attributes.registry import all_attributes, attributes_under, counted
from isogloss.explain.buckets import Binning, fixed_binning, learn_binning
from isogloss.explain.model import Attribute, Column
from isogloss.scoring.cells import Request
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task

# The word for every attribute there is.
ALL = "all"
# What may be asked for as a whole: our definitions and cuts, or those of others.
OURS = "ours"
Edges = Literal["language", "shared", "greedy", "above-zero", "fixed", "mixed"]
BinningRule = Literal["language", "shared", "greedy", "above-zero"] | tuple[float, ...]
BINNING_RULES = ("language", "shared", "greedy", "above-zero")
# How others cut numbers. The paper's Table 26 has the same edges of eLen in all languages, and 0 of rPos by itself.
REFERENCE_RULES: dict[str, dict[str, BinningRule]] = {
    "paper": {ALL: "greedy", "eLen": (1.0, 2.0, 4.0), "rPos": "above-zero"},
    "explainaboard": {ALL: "greedy"},
}
_RULE = re.compile(rf"{'|'.join(BINNING_RULES)}|[-+.:e\d]+")


@dataclass(frozen=True)
class AttributeSelection:
    """The attributes somebody asked for.

    Attributes:
        attributes: which, in the order they are shown; all there are if None.
        rules: how an attribute is cut, by its name or by "all": "language", into equal counts within each language;
            "shared", into equal counts over all languages of a task; "greedy", one bucket filled after the other;
            "above-zero", so above 0, which has a bucket of its own; or at edges.
        convention: whose definitions and cuts were asked for as a whole: "ours", or one of `REFERENCES`.
        crosses: pairs of attributes whose buckets are crossed; they need not be among `attributes`.
        asked: the words, kinds and convention it was chosen by, in which another process chooses it again: what makes
            the column of an attribute may be a function that cannot be pickled.
    """

    attributes: tuple[Attribute, ...] | None = None
    rules: Mapping[str, BinningRule] | None = None
    convention: str = OURS
    crosses: tuple[tuple[Attribute, Attribute], ...] = ()
    asked: tuple[Sequence[str] | None, Collection[str], str] | None = field(default=None, compare=False)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        if self.asked is not None:
            return choose_attributes, self.asked
        return AttributeSelection, (self.attributes, self.rules, self.convention, self.crosses)

    def crosses_of(self, kind: str, examples: Examples | None = None) -> list[tuple[Attribute, Attribute]]:
        """The crossed attributes of a kind of task, or of some examples of it."""
        found = KINDS[kind]
        return [pair for pair in self.crosses if all(applies(one, found, examples) for one in pair)]

    def of(self, kind: str, examples: Examples | None = None) -> list[Attribute]:
        """The selected attributes of a kind of task, or of some examples of it."""
        selected, found = all_attributes() if self.attributes is None else self.attributes, KINDS[kind]
        return [attribute for attribute in selected if applies(attribute, found, examples)]

    def rule(self, name: str) -> BinningRule:
        """How the attribute of that name is cut."""
        rules = self.rules or {}
        return rules.get(name, rules.get(ALL, "language"))

    def binning(self, attribute: Attribute, column: Column) -> Binning:
        """How a column is cut: at the given edges, or as its values ask for."""
        rule = self.rule(attribute.name)
        if isinstance(rule, tuple):
            return fixed_binning(rule)
        zero_apart = rule == "above-zero"
        return learn_binning(column, attribute.discrete, greedy=zero_apart or rule == "greedy", zero_apart=zero_apart)

    @property
    def edges(self) -> Edges:
        """How all are cut, or "mixed"; edges that are given count only where there are no others."""
        attributes = [*(self.attributes or ()), *(one for pair in self.crosses for one in pair)]
        names = [ALL, *(self.rules or ())] if self.attributes is None else [one.name for one in attributes]
        rules = {rule for name in names if not isinstance(rule := self.rule(name), tuple)}
        return "fixed" if not rules else "mixed" if len(rules) > 1 else rules.pop()


def choose_attributes(
    words: Sequence[str] | None, kinds: Collection[str], convention: str = OURS
) -> AttributeSelection:
    """Attributes in a user's words.

    Args:
        words: `aLen`, or `all`; defined by a convention, `aLen@whitespace` or `aLen@paper`; or from a file,
            `mine@values.jsonl`, and `fertility@tokenizer.json` or `fertility@vocab.txt` under a tokenizer. Each may
            say how it is cut: at edges, `aLen=2:5:13`, or by a rule, `all=shared`. Two are crossed by a plus sign,
            `aLen+qType`, and cut as each by itself. None selects all.
        kinds: the kinds of the tasks that are explained.
        convention: "ours"; or "paper" or "explainaboard", by which then everything is defined and cut about which the
            words say nothing else.

    Returns:
        The selection.

    Raises:
        UnknownNameError: no attribute of these kinds has that name, or there is no such convention.
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
    return AttributeSelection(attributes, rules, convention, crosses, (words, kinds, convention))


class _ChosenWords:
    """What a user's words come to, one after the other.

    Attributes:
        wanted: names of attributes, each with the convention that defines it.
    """

    def __init__(self, usual: Convention, kinds: Collection[str]) -> None:
        self._usual, self._kinds = usual, kinds
        self.wanted: set[tuple[str, str]] = set()
        self.from_files: list[Attribute] = []
        self.crosses: list[tuple[Attribute, Attribute]] = []
        self.rules: dict[str, BinningRule] = {}

    def add(self, word: str) -> None:
        """Take in a word: a cross, all attributes, one by its name, or one from a file."""
        if sides := _crossed(word, self._usual, self._kinds):
            self.crosses.append(sides)
            return
        name, source, rule = _parts(word)
        if name.casefold() == ALL:
            found = self._add_all(source)
        elif source in ("", *CONVENTIONS):
            found, how = _named(name, source, self._usual, self._kinds)
            self.wanted.add((found.name.partition("@")[0], how))
        else:
            found = _from_file(name, source)
            self.from_files.append(found)
        if rule:
            self.rules[found.name] = _rule(found, rule)

    def _add_all(self, source: str) -> Attribute:
        how = _convention(source) if source else self._usual
        known = _known(self._kinds, how)
        self.wanted.update((one.name, how if one.takes(how) else CONVENTIONS[0]) for one in known)
        return Attribute(ALL, ALL)

    def named(self) -> list[Attribute]:
        """The attributes that were asked for by name, in the order of the registry."""
        places = [(how, one) for how in CONVENTIONS for one in _known(self._kinds, how)]
        return [counted(one, how) for how, one in places if (one.name, how) in self.wanted]


def select_attributes(words: Sequence[str] | None, request: Request, convention: str = OURS) -> AttributeSelection:
    """The attributes in a user's words, checked against the kinds of the request's tasks."""
    return choose_attributes(words, sorted({task(name).kind for name in request.tasks}), convention)


def _known(kinds: Collection[str], convention: Convention) -> list[Attribute]:
    """The attributes that tasks of these kinds have under a convention, by our definition."""
    return [one for one in attributes_under(convention) if any(applies(one, KINDS[kind]) for kind in kinds)]


def _parts(word: str) -> tuple[str, str, str]:
    """A word's name, source and rule; an equals sign in the path of a file is no rule."""
    head, _, rule = word.rpartition("=")
    if not head or ("@" in head and not _RULE.fullmatch(rule)):
        head, rule = word, ""
    name, _, source = head.partition("@")
    return name, source, rule


def _crossed(word: str, usual: Convention, kinds: Collection[str]) -> tuple[Attribute, Attribute] | None:
    """The two attributes of a word such as `aLen+qType@paper`; None for any other: paths and edges may have a plus."""
    first, plus, second = word.partition("+")
    sides = [side.partition("@") for side in (first, second)]
    if not plus or "=" in word or any(source not in ("", *CONVENTIONS) for _, _, source in sides):
        return None
    (one, _), (other, _) = (_named(name, source, usual, kinds) for name, _, source in sides)
    for attribute in (one, other):
        if attribute.values is None and attribute.level != "entity":
            raise PredictionError(f"{attribute.name} depends on the answers of a system: it cannot be crossed")
    return one, other


def _convention(source: str) -> Convention:
    if source not in ("", *CONVENTIONS):
        raise unknown("convention", source, CONVENTIONS)
    return cast("Convention", source or CONVENTIONS[0])


def _named(name: str, source: str, usual: Convention, kinds: Collection[str]) -> tuple[Attribute, Convention]:
    """The attribute of that name, of several that apply to different kinds the first, and whose definition it has."""
    if name.casefold() == FERTILITY:
        fix = "Write fertility@tokenizer.json, or fertility@vocab.txt"
        raise PredictionError("fertility is that of a tokenizer, and none is named", fix=fix)
    how = _convention(source) if source else usual
    known = _known(kinds, how)
    found = next((one for one in known if one.name.casefold() == name.casefold()), None)
    if found is None:
        raise unknown("attribute", name, {one.name for one in known})
    if how != CONVENTIONS[0] and not found.takes(how):
        if source:
            others = ", ".join(other.name for other in known if other.takes(how))
            what = f"{found.name} counts no tokens: under {how} it is the same"
            raise PredictionError(what, fix=f"{how} is for {others}")
        how = CONVENTIONS[0]
    return counted(found, how), how


def _from_file(name: str, path: str) -> Attribute:
    of_tokenizer = name.casefold() == FERTILITY and not path.endswith(".jsonl")
    return fertility(path) if of_tokenizer else from_jsonl(path, name)


def _rule(attribute: Attribute, text: str) -> BinningRule:
    if attribute.discrete and text not in ("language", "shared"):
        raise PredictionError(f"{attribute.name} has values, not numbers: it cannot be cut at edges")
    if text in BINNING_RULES:
        return cast("BinningRule", text)
    if attribute.name == ALL:
        known = ", ".join(f"all={rule}" for rule in BINNING_RULES)
        raise PredictionError(f"{text!r} cannot be how all are cut", fix=f"Write {known}; edges are an attribute's own")
    try:
        return tuple(float(edge) for edge in text.split(":"))
    except ValueError:
        rules = ", ".join(f"{attribute.name}={rule}" for rule in BINNING_RULES)
        fix = f"Write {attribute.name}=2:5:13, or one of {rules}"
        raise PredictionError(f"{text!r} is not a list of edges", where=attribute.name, fix=fix) from None
