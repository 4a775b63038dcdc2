"""Language codes of translation models, recognised by the tokens in their vocabularies.

| models | token | place |
|---|---|---|
| NLLB | `eng_Latn` | before the text; of the target, first in the translation |
| M2M-100 | `__en__` | likewise |
| mBART-50 | `en_XX` | likewise |
| MADLAD | `<2en>` | of the target, before the text |
| Opus-MT into several languages | `>>eng<<`, `>>es<<` | likewise |
| Opus-MT between two languages, and others | none | |
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from isogloss.errors import UnknownNameError, near_names
from isogloss.languages import Language, language

# Codes in models that differ from those in the registry, by the registry's code.
_OTHER_CODES = {
    "he": ("iw",),
    "jv": ("jw",),
    "qu": ("quy",),
    "tl": ("fil",),
    "zh": ("zho", "cmn", "zh_CN"),
    "no": ("nob", "nb"),
    "nb": ("no",),
    "nso": ("ns",),
    "fuv": ("ff",),
    "az": ("azj",),
    "fa": ("pes",),
}
# NLLB's vocabulary calls Santali, which it writes in Ol Chiki, `sat_Beng`.
_OTHER_SCRIPTS = {"Kore": "Hang", "Olck": "Beng"}
_REGIONAL = re.compile(r"[a-z]{2,3}[_-][A-Za-z]{2}")
_FEWEST = 2  # tokens of a form in a vocabulary with language codes


@dataclass(frozen=True)
class CodeScheme:
    """Spelling of language codes, and their place.

    Attributes:
        name: name of the models.
        pattern: pattern of a token, with the code as its group.
        marks_source: True if texts and translations begin with the codes of their own languages; False if texts begin
            with the code of the target.
    """

    name: str
    pattern: re.Pattern[str]
    marks_source: bool


SCHEMES = (
    CodeScheme("NLLB", re.compile(r"([a-z]{3}_[A-Z][a-z]{3})"), marks_source=True),
    CodeScheme("M2M-100", re.compile(r"__([a-z]{2,3})__"), marks_source=True),
    CodeScheme("mBART-50", re.compile(r"([a-z]{2}_[A-Z]{2})"), marks_source=True),
    CodeScheme("MADLAD", re.compile(r"<2([A-Za-z]{2,}(?:[_-][A-Za-z]+)*)>"), marks_source=False),
    CodeScheme("Opus-MT", re.compile(r">>([A-Za-z]{2,}(?:[_-]\w+)*)<<"), marks_source=False),
)


def scheme_of(vocabulary: Collection[str]) -> tuple[CodeScheme | None, dict[str, str]]:
    """Return the scheme of a vocabulary, None without one, and its tokens by code."""
    best: tuple[CodeScheme | None, dict[str, str]] = None, {}
    for scheme in SCHEMES:
        tokens = {match[1]: token for token in vocabulary if (match := scheme.pattern.fullmatch(token))}
        if len(tokens) >= _FEWEST and len(tokens) > len(best[1]):
            best = scheme, tokens
    return best


def code_of(tag: str, known: Collection[str], model: str) -> str:
    """Return a model's code of a language.

    Args:
        tag: code of the language in the registry, or any name of it.
        known: codes of the model.
        model: name of the model, for errors.

    Raises:
        UnknownNameError: the model does not know the language; the message has its nearest codes.
    """
    entry = language(tag)
    for candidate in _candidates(entry):
        if candidate in known:
            return candidate
    # A region that only the model names: es_XX, pt_br.
    base = entry.code.partition("-")[0]
    regional = sorted(code for code in known if _REGIONAL.fullmatch(code) and re.split("[_-]", code)[0] == base)
    if regional and "-" not in entry.code:
        return regional[0]
    bases = {base, entry.iso3, entry.individual, *_OTHER_CODES.get(base, ())}
    near = sorted(code for code in known if re.split("[_-]", code)[0] in bases)
    near = near or near_names(f"{entry.individual}_{entry.script}", known)
    fix = f"The nearest codes are {', '.join(near[:3])}; choose a model that knows the language" if near else ""
    what = f"the model does not know {entry.name} ({entry.code}) among its {len(known):,} languages"
    raise UnknownNameError(what, where=model, fix=fix or "Choose a model that knows the language")


def _candidates(entry: Language) -> Iterator[str]:
    """Yield spellings of a language, the most specific first."""
    base = entry.code.partition("-")[0]
    others = _OTHER_CODES.get(base, ())
    scripts = [entry.script, *([_OTHER_SCRIPTS[entry.script]] if entry.script in _OTHER_SCRIPTS else [])]
    names = dict.fromkeys([entry.individual, entry.iso3, *others, base])
    for name in names:
        for script in scripts:
            yield f"{name}_{script}"
            yield f"{name}-{script}"
    if "-" not in entry.code:  # a code alone is in the usual script
        yield from dict.fromkeys([base, *others, entry.iso3, entry.individual])
    else:
        yield entry.code
        yield entry.code.replace("-", "_")
