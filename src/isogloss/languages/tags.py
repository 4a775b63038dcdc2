"""Language tags: `language[-Script][-REGION]` as in BCP 47, also as FLORES (`zho_Hant`) and ISO 639-3 write them.

A tag is as short as possible: two letters if ISO 639-1 has the language, no script if it is the usual one.
"""

import re
from dataclasses import dataclass

_TAG = re.compile(r"([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?", re.IGNORECASE)

# ISO 639-1, complete: the two-letter code is followed by that of ISO 639-3.
_PAIRS = """
aa aar ab abk ae ave af afr ak aka am amh an arg ar ara as asm av ava ay aym az aze ba bak be bel bg bul bi bis bm bam
bn ben bo bod br bre bs bos ca cat ce che ch cha co cos cr cre cs ces cu chu cv chv cy cym da dan de deu dv div dz dzo
ee ewe el ell en eng eo epo es spa et est eu eus fa fas ff ful fi fin fj fij fo fao fr fra fy fry ga gle gd gla gl glg
gn grn gu guj gv glv ha hau he heb hi hin ho hmo hr hrv ht hat hu hun hy hye hz her ia ina id ind ie ile ig ibo ii iii
ik ipk io ido is isl it ita iu iku ja jpn jv jav ka kat kg kon ki kik kj kua kk kaz kl kal km khm kn kan ko kor kr kau
ks kas ku kur kv kom kw cor ky kir la lat lb ltz lg lug li lim ln lin lo lao lt lit lu lub lv lav mg mlg mh mah mi mri
mk mkd ml mal mn mon mr mar ms msa mt mlt my mya na nau nb nob nd nde ne nep ng ndo nl nld nn nno no nor nr nbl nv nav
ny nya oc oci oj oji om orm or ori os oss pa pan pi pli pl pol ps pus pt por qu que rm roh rn run ro ron ru rus rw kin
sa san sc srd sd snd se sme sg sag sh hbs si sin sk slk sl slv sm smo sn sna so som sq sqi sr srp ss ssw st sot su sun
sv swe sw swa ta tam te tel tg tgk th tha ti tir tk tuk tl tgl tn tsn to ton tr tur ts tso tt tat tw twi ty tah ug uig
uk ukr ur urd uz uzb ve ven vi vie vo vol wa wln wo wol xh xho yi yid yo yor za zha zh zho zu zul
"""
_WORDS = _PAIRS.split()
ISO3_OF = dict(zip(_WORDS[::2], _WORDS[1::2], strict=True))
_SHORT_OF = {iso3: short for short, iso3 in ISO3_OF.items()}

# ISO 15924, scripts in use today.
_SCRIPT_WORDS = """
Adlm Arab Armn Bali Batk Beng Bopo Bugi Cakm Cans Cher Copt Cyrl Deva Ethi Geor Grek Gujr Guru Hang Hans Hant Hebr Hmng
Hmnp Java Jpan Kali Khmr Knda Kore Lana Laoo Latn Lepc Limb Lisu Mand Mlym Mong Mroo Mtei Mymr Newa Nkoo Olck Orya Osge
Osma Plrd Rohg Saur Sinh Sund Sylo Syrc Tagb Tale Talu Taml Tavt Telu Tfng Thaa Thai Tibt Vaii Wcho Yiii
"""
SCRIPTS = frozenset(_SCRIPT_WORDS.split())
# Part of another script: FLORES writes Korean in Hang, without Chinese characters.
WIDER_SCRIPTS = {"Hang": "Kore"}
# Codes of ISO 639 that name no language: uncoded, several, undetermined, none.
_NO_LANGUAGE = frozenset({"mis", "mul", "und", "zxx"})


@dataclass(frozen=True)
class LanguageTag:
    """The parts of a tag in canonical case, "" if absent; languages with a two-letter code have that."""

    language: str
    script: str = ""
    region: str = ""

    @property
    def exists(self) -> bool:
        """False if no language has this two-letter code, or no script this code.

        Three-letter codes are not checked: ISO 639-3 has thousands.
        """
        is_language = len(self.language) == 3 or self.language in ISO3_OF
        return is_language and self.language not in _NO_LANGUAGE and (not self.script or self.script in SCRIPTS)

    def __str__(self) -> str:
        return "-".join(part for part in (self.language, self.script, self.region) if part)


def parse_tag(text: str) -> LanguageTag | None:
    """Return the tag that a text spells, with hyphens or underscores and in any case, or None if it is malformed."""
    match = _TAG.fullmatch(text.strip())
    if match is None:
        return None
    language, script, region = (part or "" for part in match.groups())
    language = language.lower()
    return LanguageTag(_SHORT_OF.get(language, language), script.title(), region.upper())
