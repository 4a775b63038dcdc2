"""Language tags: `language[-Script][-REGION][-variant][-x-private]` as in BCP 47, FLORES (`zho_Hant`) and ISO 639-3.

A tag is as short as possible: two letters if ISO 639-1 has the language, no script if it is the usual one. Private tags
(`x-klingon`, `qaa-x-mine`) are for languages without a code.
"""

from dataclasses import dataclass

from isogloss.languages.subtags import (
    EXTENDED_LANGUAGES,
    ISO_639_1,
    REPLACED_CODES,
    SCRIPT_CODES,
    SCRIPTS_IN_REGIONS,
    USUAL_VARIETIES,
    VARIANT_CODES,
)


def _pairs(text: str) -> dict[str, str]:
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


ISO3_OF = _pairs(ISO_639_1)
# iw is he, ger is de, deu is de.
_SHORT_OF = _pairs(REPLACED_CODES) | {iso3: short for short, iso3 in ISO3_OF.items()}
# cmn is usually meant by zh.
MACROLANGUAGE_OF = _pairs(USUAL_VARIETIES)
SCRIPTS = frozenset(SCRIPT_CODES.split())
_EXTENDED = _pairs(EXTENDED_LANGUAGES)
_VARIANTS = frozenset(VARIANT_CODES.split())
_SCRIPT_IN_REGION = _pairs(SCRIPTS_IN_REGIONS)

# Part of another script: FLORES writes Korean in Hang, without Chinese characters.
WIDER_SCRIPTS = {"Hang": "Kore"}
# Limits of BCP 47: the longest part, and the longest tag that everyone must accept.
_LONGEST_PART, _LONGEST_TAG = 8, 35
# Codes of ISO 639 that name no language: uncoded, several, undetermined, none.
_NO_LANGUAGE = frozenset({"mis", "mul", "und", "zxx"})


@dataclass(frozen=True)
class LanguageTag:
    """The parts of a tag in canonical case, "" if absent; languages with a two-letter code have that.

    `rest` has variants and the private part. Only the latter if the tag is private altogether.
    """

    language: str
    script: str = ""
    region: str = ""
    rest: str = ""

    @property
    def exists(self) -> bool:
        """False if no language has this two-letter code, or no script this code.

        Three-letter codes are not checked here: well-formed ones are accepted with a warning.
        """
        is_language = len(self.language) != 2 or self.language in ISO3_OF
        return is_language and self.language not in _NO_LANGUAGE and (not self.script or self.script in SCRIPTS)

    @property
    def implied_script(self) -> str:
        """The script as written or implied by the region (Hant in zh-TW), else ""."""
        return self.script or _SCRIPT_IN_REGION.get(f"{self.language}-{self.region}", "")

    def __str__(self) -> str:
        return "-".join(part for part in (self.language, self.script, self.region, self.rest) if part)


def parse_tag(text: str) -> LanguageTag | None:
    """Return the tag that a text spells, with hyphens or underscores and in any case, or None if it is malformed.

    Deprecated and bibliographic codes become those that replaced them: iw is he, and ger is de.
    """
    text = text.strip()
    parts = text.lower().replace("_", "-").split("-")
    if len(text) > _LONGEST_TAG or not all(
        part.isascii() and part.isalnum() and len(part) <= _LONGEST_PART for part in parts
    ):
        return None
    at = parts.index("x") if "x" in parts else len(parts)
    parts, private = parts[:at], parts[at:]
    if len(private) == 1:
        return None
    if private and not parts:
        return LanguageTag("", rest="-".join(private))
    language, *parts = parts
    if not (language.isalpha() and len(language) in (2, 3)):
        return None
    language = _SHORT_OF.get(language, language)
    if parts and _EXTENDED.get(parts[0]) == language:
        language = parts.pop(0)
    script = parts.pop(0).title() if parts and len(parts[0]) == 4 and parts[0].isalpha() else ""
    region = parts.pop(0).upper() if parts and _is_region(parts[0]) else ""
    if not _VARIANTS.issuperset(parts):
        return None
    return LanguageTag(_SHORT_OF.get(language, language), script, region, "-".join([*parts, *private]))


def _is_region(part: str) -> bool:
    return (len(part) == 2 and part.isalpha()) or (len(part) == 3 and part.isdigit())
