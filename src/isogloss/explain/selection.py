"""The attributes somebody asked for: which, how their lengths are counted, and how each is cut into buckets."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from isogloss.errors import PredictionError, unknown
from isogloss.explain import tagging
from isogloss.explain.attributes import CONVENTIONS, FERTILITY, Convention, attributes_for, fertility, from_jsonl
from isogloss.explain.buckets import Binning, fixed, learn
from isogloss.explain.model import Attribute, Column
from isogloss.tasks.examples import Examples

# What depends on a system's answers has no column of the examples: only the analysis of one system can show it.
RANK = Attribute("rank", "rank of the first hit among 20", ("bitext", "pool"), discrete=True)

# The word for every attribute there is.
ALL = "all"
Edges = Literal["language", "shared", "greedy", "fixed", "mixed"]
BinningRule = Literal["language", "shared", "greedy"] | tuple[float, ...]
BINNING_RULES = ("language", "shared", "greedy")
_CUT = re.compile(rf"{'|'.join(BINNING_RULES)}|[-+.:e\d]+")


@dataclass(frozen=True)
class AttributeSelection:
    """The attributes somebody asked for.

    Attributes:
        names: which, as in `aLen` or `aLen@whitespace`; all if None.
        cuts: how an attribute is cut, by its name or by "all": "language", into equal counts within each language;
            "shared", into equal counts over all languages of a task; "greedy", as in the XTREME-R paper; or at edges.
        own: attributes from a user's own files.
    """

    names: tuple[str, ...] | None = None
    cuts: Mapping[str, BinningRule] | None = None
    own: tuple[Attribute, ...] = ()

    def of(self, kind: str, examples: Examples | None = None) -> list[Attribute]:
        """The attributes of a kind of task, or those its examples have the columns for; one's own stand last."""
        if self.names is None:
            return [*attributes_of(kind, examples), *self.own]
        known = {one.name: one for convention in CONVENTIONS for one in attributes_of(kind, examples, convention)}
        return [*(one for name, one in known.items() if name in self.names), *self.own]

    def manner(self, name: str) -> BinningRule:
        """How the attribute of that name is cut."""
        cuts = self.cuts or {}
        return cuts.get(name, cuts.get(ALL, "language"))

    def cut(self, attribute: Attribute, column: Column) -> Binning:
        """The cut of a column: at the given edges, or as its values ask for."""
        manner = self.manner(attribute.name)
        if isinstance(manner, tuple):
            return fixed(manner)
        return learn(column, attribute.discrete, greedy=manner == "greedy")

    @property
    def edges(self) -> Edges:
        """How all are cut, or "mixed"; edges that are given count only where there are no others."""
        names = self.names or (ALL, *(self.cuts or ()))
        manners = {manner for name in names if not isinstance(manner := self.manner(name), tuple)}
        return "fixed" if not manners else "mixed" if len(manners) > 1 else manners.pop()


def attributes_of(kind: str, examples: Examples | None = None, convention: Convention = "script") -> list[Attribute]:
    """Every attribute of a kind of task; those of entities are told by this package's own rows."""
    of_example = attributes_for(kind, examples, convention)
    of_entity = list(tagging.ATTRIBUTES) if kind == "tagging" else []
    taken = {found.name for found in of_entity}
    of_answer = [RANK] if kind in RANK.kinds else []
    return [*of_entity, *(found for found in of_example if found.name not in taken), *of_answer]


def choose(words: Sequence[str] | None, kinds: Sequence[str]) -> AttributeSelection:
    """Attributes in a user's words.

    `aLen`, or `all`; its lengths counted by a convention, `aLen@whitespace`; or from a file, `mine@values.jsonl`, and
    `fertility@tokenizer.json` or `fertility@vocab.txt` under a tokenizer. Each may say how it is cut: at edges,
    `aLen=2:5:13`, or in a manner, `all=shared`.
    """
    if words is None:
        return AttributeSelection()
    names: list[str] = []
    cuts: dict[str, BinningRule] = {}
    own: list[Attribute] = []
    for name, source, cut in map(_parts, words):
        if name.casefold() == ALL:
            names += [found.name for found in _known(kinds, source).values()]
            found = Attribute(ALL, ALL, (), discrete=False)
        elif source in ("", *CONVENTIONS):
            found = _named(name, source, kinds)
            names.append(found.name)
        else:
            found = _from_file(name, source)
            own.append(found)
        if cut:
            cuts[found.name] = _manner(found, cut)
    return AttributeSelection(tuple(names), cuts, tuple(own))


def _parts(word: str) -> tuple[str, str, str]:
    """A word's name, source and cut; an equals sign in the path of a file cuts nothing."""
    head, _, cut = word.rpartition("=")
    if not head or ("@" in head and not _CUT.fullmatch(cut)):
        head, cut = word, ""
    name, _, source = head.partition("@")
    return name, source, cut


def _known(kinds: Iterable[str], source: str) -> dict[str, Attribute]:
    convention = source or CONVENTIONS[0]
    if convention not in CONVENTIONS:
        raise unknown("convention", source, CONVENTIONS)
    every = [found for kind in kinds for found in attributes_of(kind, None, convention)]
    return {found.name.partition("@")[0].casefold(): found for found in every}


def _named(name: str, source: str, kinds: Iterable[str]) -> Attribute:
    if name.casefold() == FERTILITY:
        fix = "Write fertility@tokenizer.json, or fertility@vocab.txt"
        raise PredictionError("fertility is that of a tokenizer, and none is named", fix=fix)
    known = _known(kinds, source)
    if name.casefold() not in known:
        raise unknown("attribute", name, [found.name.partition("@")[0] for found in known.values()])
    found = known[name.casefold()]
    if source not in ("", CONVENTIONS[0]) and found.name.partition("@")[2] != source:
        counted = [other.name for other in known.values() if "@" in other.name]
        raise PredictionError(f"{found.name} counts no tokens of a text", fix=f"{source} is for {', '.join(counted)}")
    return found


def _from_file(name: str, path: str) -> Attribute:
    of_tokenizer = name.casefold() == FERTILITY and not path.endswith(".jsonl")
    return fertility(path) if of_tokenizer else from_jsonl(path, name)


def _manner(attribute: Attribute, text: str) -> BinningRule:
    if attribute.discrete and text not in ("language", "shared"):
        raise PredictionError(f"{attribute.name} has values, not numbers: it cannot be cut at edges")
    if text in BINNING_RULES:
        return cast("BinningRule", text)
    if attribute.name == ALL:
        known = ", ".join(f"all={manner}" for manner in BINNING_RULES)
        raise PredictionError(f"{text!r} cannot be how all are cut", fix=f"Write {known}; edges are an attribute's own")
    try:
        return tuple(float(edge) for edge in text.split(":"))
    except ValueError:
        rules = ", ".join(f"{attribute.name}={rule}" for rule in BINNING_RULES)
        fix = f"Write {attribute.name}=2:5:13, or one of {rules}"
        raise PredictionError(f"{text!r} is not a list of edges", where=attribute.name, fix=fix) from None
