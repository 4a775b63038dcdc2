"""The registry of languages, read once from `languages.tsv`."""

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from isogloss.errors import near_names, unknown
from isogloss.grouping import group_by

RIGHT_TO_LEFT = frozenset({"Arab", "Hebr"})
# A language tag: language, script and region.
_TAG = re.compile(r"([a-z]{2,3})(-[a-z]{4})?(-(?:[a-z]{2}|[0-9]{3}))?")
UNSEGMENTED = frozenset({"Hans", "Jpan", "Mymr", "Thai"})


@dataclass(frozen=True, kw_only=True)
class Typology:
    """The five typological features of XTREME-R's Table 7, None if the print is illegible and no other source has them.

    `from_wals` names the illegible ones taken from WALS Online (Dryer and Haspelmath 2013), feature 51A, position of
    case affixes: case affixes count as inflection, adpositional clitics as clitics, neither as uninflected. Legible
    marks of inflection agree with it in 27 of 30 languages with case affixes or neither. WALS has no feature for the
    other marks.

    Attributes:
        diacritics: True if letters carry diacritics or other additional symbols.
        compounding: True if words are compounded extensively.
        clitics: True if function words attach to other words.
        inflection: True if words are inflected for grammatical meaning.
        derivation: True if one word may express a phrase or sentence of other languages.
    """

    diacritics: bool | None
    compounding: bool | None
    clitics: bool | None
    inflection: bool | None
    derivation: bool | None
    from_wals: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language of the benchmarks.

    Fields that begin with `paper_`, the Wikipedia size and the typology are XTREME-R's Table 7 as printed;
    they are None for Hausa, which that table does not list. The paper groups scripts coarsely and misprints
    some (Kazakh, Yoruba, Javanese, Tagalog); `script`, `family` and `branch` are the facts.

    Attributes:
        code: ISO 639-1, used throughout this package.
        iso3: ISO 639-3 for the same; a macrolanguage for ar, az, et, fa, ms, qu, sw and zh.
        individual: ISO 639-3 of the variety the benchmark texts are in; differs from `iso3` for those eight
            only. For qu it is the paper's Cusco Quechua; a dataset may use a neighbouring Southern variety.
        name: English name.
        autonym: the language's own name, cased as in lists.
        family: the genealogical family. An isolate is its own family. Haitian is filed, as in the paper,
            under "Creole", which names a kind of history rather than a common ancestor.
        branch: a well-known branch of the family ("isolate" if none).
        script: ISO 15924 code of the script the benchmark texts are in.
        wikipedia_articles: size of its Wikipedia in millions of articles, when the paper was written.
        paper_name: the paper's name of the language.
        paper_script: the paper's script group.
        paper_family: the paper's family group.
        new_in_xtreme_r: True if XTREME-R added it to XTREME's forty.
        typology: the five marks; also None if all are illegible.
    """

    code: str
    iso3: str
    individual: str
    name: str
    autonym: str
    family: str
    branch: str
    script: str
    wikipedia_articles: float | None
    paper_name: str | None
    paper_script: str | None
    paper_family: str | None
    new_in_xtreme_r: bool | None
    typology: Typology | None

    @property
    def rtl(self) -> bool:
        """True if the script runs from right to left."""
        return self.script in RIGHT_TO_LEFT

    @property
    def segmented(self) -> bool:
        """True if the script puts spaces between words (in Vietnamese, between syllables)."""
        return self.script not in UNSEGMENTED


@cache
def all_languages() -> tuple[Language, ...]:
    """Return every language, by ISO 639-1 code."""
    # A plain file next to this module: importing importlib.resources costs more than reading the table.
    lines = Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    return tuple(_language({name: text or None for name, text in zip(header, row, strict=True)}) for row in rows)


def _language(cell: dict[str, Any]) -> Language:
    marks = {field.name: cell.pop(field.name) for field in fields(Typology) if field.name != "from_wals"}
    values: dict[str, Any] = {name: mark and mark.endswith("1") for name, mark in marks.items()}
    from_wals = tuple(name for name, mark in marks.items() if mark and mark.startswith("WALS"))
    cell["typology"] = Typology(**values, from_wals=from_wals) if any(marks.values()) else None
    for name, convert in (("wikipedia_articles", float), ("new_in_xtreme_r", "1".__eq__)):
        cell[name] = None if cell[name] is None else convert(cell[name])
    return Language(**cell)


@cache
def _index() -> dict[str, Language]:
    return {
        key.casefold(): entry
        for entry in all_languages()
        for key in (entry.code, entry.iso3, entry.individual, entry.name, entry.paper_name)
        if key
    }


def language(name: str) -> Language:
    """Return a language by ISO 639-1 or 639-3 code or English name, ignoring case.

    Raises:
        UnknownNameError: unknown language; the message has the nearest codes or names.
    """
    entry = _index().get(name.casefold())
    if entry is None:
        is_tag = "-" in name or "_" in name
        raise unknown("language", name, _candidates(name), close=codes_meant_by(name, _codes()) if is_tag else None)
    return entry


def codes_meant_by(name: str, known: Collection[str]) -> list[str]:
    """Return the known codes that a tag or name can only mean: zh for zh-CN, cmn and Chinese.

    Two codes that merely look alike are different languages, so they are never suggested for each other.
    """
    text = name.strip().casefold().replace("_", "-")
    tag = _TAG.fullmatch(text)
    entry = _index().get(tag[1] if tag else text)
    if entry is None and not tag and len(text) > 3:
        entry = next((_index()[near] for near in near_names(text, _index(), 1, cutoff=0.8)), None)
    primary = entry.code if entry else tag[1] if tag else ""
    return [code for code in known if primary and code.partition("-")[0].casefold() == primary]


def _codes() -> set[str]:
    return {entry.code for entry in all_languages()}


def _candidates(name: str) -> set[str]:
    """Return names that an unknown name may be a typo of."""
    entries = all_languages()
    if len(name) > 3:
        return {spelling for entry in entries for spelling in (entry.name, entry.paper_name) if spelling}
    # Codes that share one letter are equally close, but people usually get the first letter right: jp for ja.
    codes = _codes()
    return {code for code in codes if code[0] == name[:1].casefold()} or codes


def families() -> dict[str, tuple[Language, ...]]:
    """Return the languages of each family, families by name."""
    return _grouped("family")


def scripts() -> dict[str, tuple[Language, ...]]:
    """Return the languages of each script, scripts by ISO 15924 code."""
    return _grouped("script")


def _grouped(attribute: str) -> dict[str, tuple[Language, ...]]:
    groups = group_by(all_languages(), attrgetter(attribute))
    return {name: tuple(groups[name]) for name in sorted(groups)}
