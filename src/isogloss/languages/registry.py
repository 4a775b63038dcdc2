"""The registry of languages: the papers' 51 from `languages.tsv`, all others from `world.tsv`, and any tag.

Both files are read once, on first use.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any
from warnings import warn

from isogloss.errors import near_names, unknown
from isogloss.grouping import group_by
from isogloss.languages.subtags import BENCHMARK_TAGS
from isogloss.languages.tags import ISO3_OF, MACROLANGUAGE_OF, WIDER_SCRIPTS, LanguageTag, parse_tag
from isogloss.languages.world import LanguageFacts, all_codes, codes_by_glottocode, codes_by_name, facts_of

RIGHT_TO_LEFT = frozenset({"Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Syrc", "Thaa"})
UNSEGMENTED = frozenset({"Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt"})
# Family, branch or script of a language that the tables do not have: a group of its own.
UNKNOWN = "unknown"


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

    Fields that begin with `paper_`, the Wikipedia size and the typology are XTREME-R's Table 7 as printed. Hausa and
    further languages, which that table does not list, have None; further languages have a later Wikipedia size. The
    paper groups scripts coarsely and misprints some (Kazakh, Yoruba, Javanese, Tagalog); `script`, `family` and
    `branch` are the facts, "unknown" if the language is not listed.

    Attributes:
        code: the shortest BCP 47 tag, used throughout this package: ISO 639-1 for the 51 languages of the papers.
        iso3: ISO 639-3 for the same; a macrolanguage for ar, az, et, fa, ms, qu, sw and zh.
        individual: ISO 639-3 of the variety the benchmark texts are in; of the 51, it differs from `iso3` for those
            eight. For qu it is the paper's Cusco Quechua; a dataset may use a neighbouring Southern variety.
        name: English name.
        autonym: the language's own name, cased as in lists; "" if not listed.
        family: the genealogical family. An isolate is its own family. Haitian is filed, as in the paper,
            under "Creole", which names a kind of history rather than a common ancestor.
        branch: a well-known branch of the family ("isolate" if none).
        script: ISO 15924 code of the script the benchmark texts are in.
        wikipedia_articles: size of its Wikipedia in millions of articles, when the paper was written; of further
            languages in June 2026, None without a Wikipedia.
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
    def facts(self) -> LanguageFacts | None:
        """The row of the table of all languages; None for tags that are not in it."""
        return facts_of(self.code)

    @property
    def glottocode(self) -> str | None:
        """Glottolog's code, None if unknown."""
        return (self.facts and self.facts.glottocode) or None

    @property
    def latitude(self) -> float | None:
        """Degrees north of a typical place of the language, None if unknown."""
        return self.facts and self.facts.latitude

    @property
    def longitude(self) -> float | None:
        """Degrees east of a typical place of the language, None if unknown."""
        return self.facts and self.facts.longitude

    @property
    def speakers(self) -> int | None:
        """Estimated number of first- and second-language speakers, None if unknown."""
        return self.facts and self.facts.speakers

    @property
    def sources(self) -> Mapping[str, str]:
        """Source of each known field of the table of all languages, and of those from XTREME-R."""
        sources = dict(self.facts.sources) if self.facts else {}
        if self.code in _paper_codes():
            sources |= dict.fromkeys(("name", "autonym", "family", "branch", "script"), "Isogloss (languages.tsv)")
        if self.paper_name is not None:
            sources |= dict.fromkeys(("wikipedia_articles", "typology"), "XTREME-R, Table 7")
        return sources

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
    """Return the 51 languages of the papers, by ISO 639-1 code."""
    return tuple(map(_language, _rows("languages.tsv")))


@cache
def further_languages() -> tuple[Language, ...]:
    """Return the languages of benchmarks beyond the papers, by tag."""
    return tuple(entry for code in BENCHMARK_TAGS.split() if (entry := _of_table(code)))


def world_languages() -> tuple[Language, ...]:
    """Return all languages of the tables, by tag: about 7,900, with the papers' 51."""
    return tuple(entry for code in all_codes() if (entry := _papers().get(code) or _of_table(code)))


def _rows(name: str) -> list[dict[str, Any]]:
    # A plain file next to this module: importing importlib.resources costs more than reading the table.
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    return [{column: text or None for column, text in zip(header, row, strict=True)} for row in rows]


def _language(cell: dict[str, Any]) -> Language:
    marks = {field.name: cell.pop(field.name) for field in fields(Typology) if field.name != "from_wals"}
    values: dict[str, Any] = {name: mark and mark.endswith("1") for name, mark in marks.items()}
    from_wals = tuple(name for name, mark in marks.items() if mark and mark.startswith("WALS"))
    cell["typology"] = Typology(**values, from_wals=from_wals) if any(marks.values()) else None
    for name, convert in (("wikipedia_articles", float), ("new_in_xtreme_r", "1".__eq__)):
        cell[name] = None if cell[name] is None else convert(cell[name])
    return Language(**cell)


_NOT_PRINTED: dict[str, Any] = dict.fromkeys(
    ("paper_name", "paper_script", "paper_family", "new_in_xtreme_r", "typology")
)


@cache
def _of_table(code: str) -> Language | None:
    """Return a language of the table of all languages by its tag, or None."""
    facts = facts_of(code)
    if facts is None:
        return None
    primary = code.partition("-")[0]
    iso3 = ISO3_OF.get(primary, primary)
    return Language(
        code=code,
        iso3=iso3,
        individual=facts.individual or iso3,
        name=facts.names[0],
        autonym=facts.autonym,
        family=facts.family,
        branch=facts.branch,
        script=facts.scripts[0] if facts.scripts else UNKNOWN,
        wikipedia_articles=None if facts.articles is None else facts.articles / 1e6,
        **_NOT_PRINTED,
    )


@cache
def _papers() -> dict[str, Language]:
    """Return the papers' 51 languages by code, ISO 639-3 code and name."""
    index: dict[str, Language] = {}
    for entry in all_languages():
        for key in (entry.code, entry.iso3, entry.individual, entry.name, entry.paper_name):
            if key:
                index.setdefault(key.casefold(), entry)
    return index


@cache
def _paper_codes() -> frozenset[str]:
    return frozenset(entry.code for entry in all_languages())


def _of_tag(tag: LanguageTag) -> Language | None:
    """Return the listed language with a tag in its shortest form, or None."""
    return (_papers().get(tag.language) if tag == LanguageTag(tag.language) else None) or _of_table(str(tag))


def _primary(code: str) -> Language | None:
    """Return the language that the first part of a tag names, with its usual script, or None."""
    return _papers().get(code) or _of_table(MACROLANGUAGE_OF.get(code, code))


def language(name: str) -> Language:
    """Return a language by tag, ISO 639-3 code, Glottocode or English name, ignoring case.

    `sw`, `swh`, `swa_Latn`, `swah1253` and `Swahili` are the same language. Deprecated codes have their replacement's
    (iw is he), and a variety that its macrolanguage usually stands for is the macrolanguage (cmn is zh).

    Tags that are not listed are accepted with a warning; what is unknown about them is None or "unknown".

    Raises:
        UnknownNameError: not a tag, or a two-letter language or a script that does not exist; the message has the
            nearest codes or names.
    """
    entry = known_language(name)
    if entry is not None:
        return entry
    first, *more = name.strip().replace("_", "-").split("-")
    if more and (tag := parse_tag(first)) and (meant := _primary(tag.language)):
        raise unknown("language", name, (), close=[meant.code])
    raise unknown("language", name, _paper_codes() if more else _candidates(name))


def known_language(name: str) -> Language | None:
    """Return a language by any spelling that `language` accepts, or None."""
    if entry := listed_language(name):
        return entry
    tag = parse_tag(name)
    # Any three letters are well-formed, so an unlisted code in capitals is more likely a slip.
    if tag is not None and tag.exists and (_primary(tag.language) or name.strip()[:2].islower()):
        return _unlisted(_shortened(tag))
    return None


def listed_language(name: str) -> Language | None:
    """Return a language of the tables by tag, ISO 639-3 code, Glottocode or English name, or None."""
    key = name.strip().casefold()
    if entry := _papers().get(key):
        return entry
    tag = parse_tag(name)
    if tag is not None and (entry := _of_tag(_shortened(tag))):
        return entry
    code = (codes_by_glottocode() if len(key) == 8 and key[4:].isdigit() else codes_by_name()).get(key)
    return (_papers().get(code) or _of_table(code)) if code else None


def _shortened(tag: LanguageTag) -> LanguageTag:
    """Return the tag with the shortest code of its language, without the script if it is the usual one."""
    entry = _primary(tag.language)
    if entry is None:
        return tag
    is_usual = entry.script in (tag.script, WIDER_SCRIPTS.get(tag.script))
    return replace(tag, language=entry.code, script="" if is_usual else tag.script)


@cache  # so that a tag is warned about once
def _unlisted(tag: LanguageTag) -> Language:
    base = _of_tag(LanguageTag(tag.language, tag.script)) or _primary(tag.language)
    known = f"; family and branch are those of {base.name}" if base else ""
    warn(f"language {str(tag)!r} is not listed{known} (isogloss list all-languages)", stacklevel=3)
    script = tag.implied_script or (base.script if base else UNKNOWN)
    if base is not None:
        own_script = tag.script if tag.script != base.script else ""
        added = "-".join(part for part in (own_script, tag.region, tag.rest) if part)
        name = f"{base.name} ({added})"
        unknown_here = _NOT_PRINTED | {"wikipedia_articles": None}
        return replace(base, code=str(tag), name=name, autonym="", script=script, **unknown_here)
    iso3 = ISO3_OF.get(tag.language, tag.language)
    return Language(
        code=str(tag),
        iso3=iso3,
        individual=iso3,
        name=str(tag),
        autonym="",
        family=UNKNOWN,
        branch=UNKNOWN,
        script=script,
        wikipedia_articles=None,
        **_NOT_PRINTED,
    )


def expected_scripts(name: str) -> frozenset[str]:
    """Return the scripts (ISO 15924) that texts in a language may have; empty if unknown, so that any script fits.

    A tag with a script has only that one (`sr-Latn`), or the script that its region implies (`zh-TW`). Other languages
    have every script in use: Serbian is written in Cyrillic and Latin letters.

    Raises:
        UnknownNameError: not a language.
    """
    entry = language(name)
    tag = parse_tag(entry.code)
    if tag is not None and tag.implied_script:
        return frozenset({tag.implied_script})
    facts = entry.facts or (facts_of(tag.language) if tag else None)
    return frozenset({entry.script, *(facts.scripts if facts else ())}) - {UNKNOWN}


def codes_meant_by(name: str, known: Collection[str]) -> list[str]:
    """Return the known codes that a tag or name can only mean: zh for zh-CN, cmn and Chinese.

    Two codes that merely look alike are different languages, so they are never suggested for each other.
    """
    tag = parse_tag(name)
    if tag and tag.script and str(_shortened(tag)) in known:
        return [str(_shortened(tag))]
    text = name.strip().casefold()
    entry = _primary(tag.language) if tag else listed_language(text)
    if entry is None and not tag and len(text) > 3:
        names = _benchmark_names()
        entry = next((names[near] for near in near_names(text, names, 1, cutoff=0.8)), None)
    primary = entry.code.partition("-")[0] if entry else tag.language if tag else ""
    return [code for code in known if primary and code.partition("-")[0].casefold() == primary]


@cache
def _benchmark_names() -> dict[str, Language]:
    """Return the languages of benchmarks by name in lower case."""
    entries = (*all_languages(), *further_languages())
    return {name.casefold(): entry for entry in reversed(entries) for name in (entry.name, entry.paper_name) if name}


def _candidates(name: str) -> Collection[str]:
    """Return names that an unknown name may be a typo of."""
    if len(name) > 3:
        entries = (*all_languages(), *further_languages())
        names = {spelling for entry in entries for spelling in (entry.name, entry.paper_name) if spelling}
        # A rare language with a similar name is seldom meant.
        is_near = near_names(name, map(str.lower, names), 1, cutoff=0.7)
        return names if is_near else {entry.name for entry in world_languages()}
    # Codes that share one letter are equally close, but people usually get the first letter right: jp for ja.
    codes = _paper_codes()
    return {code for code in codes if code[0] == name[:1].casefold()} or codes


def families() -> dict[str, tuple[Language, ...]]:
    """Return the papers' 51 languages by family, families by name."""
    return _grouped("family")


def scripts() -> dict[str, tuple[Language, ...]]:
    """Return the papers' 51 languages by script, scripts by ISO 15924 code."""
    return _grouped("script")


def _grouped(attribute: str) -> dict[str, tuple[Language, ...]]:
    groups = group_by(all_languages(), attrgetter(attribute))
    return {name: tuple(groups[name]) for name in sorted(groups)}
