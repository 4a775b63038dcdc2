"""The registry of languages, read once from `languages.tsv`."""

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from isogloss.errors import unknown

RIGHT_TO_LEFT = frozenset({"Arab", "Hebr"})
UNSEGMENTED = frozenset({"Hans", "Jpan", "Mymr", "Thai"})


@dataclass(frozen=True)
class Typology:
    """The five features XTREME-R marks (Table 7), all of them or none known for a language.

    Attributes:
        diacritics: letters carry diacritics or other additional symbols.
        compounding: words are compounded extensively.
        clitics: function words attach to other words.
        inflection: words are inflected for grammatical meaning.
        derivation: one word may say what elsewhere takes a phrase or a sentence.
    """

    diacritics: bool
    compounding: bool
    clitics: bool
    inflection: bool
    derivation: bool


@dataclass(frozen=True)
class Language:
    """One language as the benchmarks use it.

    Fields that begin with `paper_`, the Wikipedia size and the typology are XTREME-R's Table 7 as printed;
    they are None for Hausa, which that table does not list. The paper groups scripts coarsely and misprints
    some (Kazakh, Yoruba, Javanese, Tagalog); `script`, `family` and `branch` are the facts.

    Attributes:
        code: ISO 639-1, the name of the language everywhere in this package.
        iso3: ISO 639-3 for the same; a macrolanguage for ar, az, et, fa, ms, qu, sw and zh.
        individual: ISO 639-3 of the variety the benchmark texts are in; differs from `iso3` for those eight
            only. For qu it is the paper's Cusco Quechua; a dataset may use a neighbouring Southern variety.
        name: the English name.
        autonym: the name in the language itself, cased as it is listed there.
        family: the genealogical family. An isolate is its own family. Haitian is filed, as in the paper,
            under "Creole", which names a kind of history rather than a common ancestor.
        branch: a well-known branch of the family ("isolate" where there is none).
        script: ISO 15924 code of the script the benchmark texts are in.
        wikipedia_articles: size of its Wikipedia in millions of articles, when the paper was written.
        paper_name: the paper's name of the language.
        paper_script: the paper's script group.
        paper_family: the paper's family group.
        new_in_xtreme_r: whether XTREME-R added it to XTREME's forty.
        typology: the five marks; None also where the print could not be read with certainty.
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
        """Whether the script runs from right to left."""
        return self.script in RIGHT_TO_LEFT

    @property
    def segmented(self) -> bool:
        """Whether the script puts spaces between words (in Vietnamese, between syllables)."""
        return self.script not in UNSEGMENTED


@cache
def all_languages() -> tuple[Language, ...]:
    """Every language, by ISO 639-1 code."""
    # A plain file beside this one: importlib.resources costs more to import than the whole table to read.
    lines = Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()
    header, *rows = (line.split("\t") for line in lines)
    return tuple(_language(dict(zip(header, row, strict=True))) for row in rows)


def _language(cell: dict[str, str]) -> Language:
    marks = [cell[field.name] for field in fields(Typology)]
    return Language(
        code=cell["code"],
        iso3=cell["iso3"],
        individual=cell["individual"],
        name=cell["name"],
        autonym=cell["autonym"],
        family=cell["family"],
        branch=cell["branch"],
        script=cell["script"],
        wikipedia_articles=float(cell["wikipedia_articles"]) if cell["wikipedia_articles"] else None,
        paper_name=cell["paper_name"] or None,
        paper_script=cell["paper_script"] or None,
        paper_family=cell["paper_family"] or None,
        new_in_xtreme_r=cell["new_in_xtreme_r"] == "1" if cell["new_in_xtreme_r"] else None,
        typology=Typology(*(mark == "1" for mark in marks)) if all(marks) else None,
    )


@cache
def _index() -> dict[str, Language]:
    """Every name a language answers to, case-folded."""
    return {
        key.casefold(): entry
        for entry in all_languages()
        for key in (entry.code, entry.iso3, entry.individual, entry.name, entry.paper_name)
        if key
    }


def language(name: str) -> Language:
    """The language of an ISO 639-1 or 639-3 code or of an English name, in any case.

    Raises:
        UnknownNameError: with the nearest codes, or the nearest names for what is longer than a code.
    """
    entry = _index().get(name.casefold())
    if entry is None:
        raise unknown("language", name, _candidates(name))
    return entry


def _candidates(name: str) -> set[str]:
    """What an unknown name may have been meant for."""
    entries = all_languages()
    if len(name) > 3:
        return {known for entry in entries for known in (entry.name, entry.paper_name) if known}
    # Codes that share one letter are equally near by spelling, but people get the first one right: jp for ja.
    codes = {entry.code for entry in entries}
    return {code for code in codes if code[0] == name[:1].casefold()} or codes


def families() -> dict[str, tuple[Language, ...]]:
    """The languages of each family, families by name."""
    return _grouped("family")


def scripts() -> dict[str, tuple[Language, ...]]:
    """The languages of each script, scripts by ISO 15924 code."""
    return _grouped("script")


def _grouped(attribute: str) -> dict[str, tuple[Language, ...]]:
    groups: dict[str, list[Language]] = {}
    for entry in all_languages():
        groups.setdefault(getattr(entry, attribute), []).append(entry)
    return {name: tuple(groups[name]) for name in sorted(groups)}
