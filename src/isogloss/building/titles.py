"""Wikis, link prefixes and page titles, as MediaWiki normalises them, and the hashes that stand for titles.

A page is identified by a 64-bit hash of its wiki and title. Two of 20 million titles of one wiki share a hash with a
probability of 1 in 100,000; whole titles of all Wikipedias would need several times the memory.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import quote, unquote

from isogloss.building.characters import decode_references
from isogloss.errors import DataError

# Language codes of the Wikipedias, as in their addresses.
_CODES = """
ab ace ady af ak als alt am ami an ang anp ar arc ary arz as ast atj av avk awa ay az azb ba ban bar bat-smg bcl bdr be
be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm bug bxr ca cbk-zam cdo ce ceb ch chr chy ckb co cr crh
cs csb cu cv cy da dag de dga din diq dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro fj fo fon fr
frp frr fur fy ga gag gan gcr gd gl glk gn gom gor got gpe gu guc gur guw gv ha hak haw he hi hif hr hsb ht hu hy hyw
ia iba id ie ig igl ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg kg kge ki kk kl km kn knc ko koi krc ks
ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij lld lmo ln lo lrc lt ltg lv mad mai map-bms mdf mg mhr mi min mk ml
mn mni mnw mo mos mr mrj ms mt mwl my myv mzn na nah nap nds nds-nl ne new nia nl nn no nov nqo nr nrm nso nv ny oc olo
om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rki rm rmy rn ro roa-rup roa-tara rsk ru rue
rw sa sah sat sc scn sco sd se sg sh shi shn si simple sk skr sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy
ta tay tcy tdd te tet tg th ti tig tk tl tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo
wa war wo wuu xal xh xmf yi yo za zea zgh zh zh-classical zh-min-nan zh-yue zu
"""
WIKIPEDIA_CODES = frozenset(_CODES.split())
# Prefixes that MediaWiki accepts for another code.
_OTHER_CODES = {
    "be-tarask": "be-x-old", "cmn": "zh", "cz": "cs", "dk": "da", "gsw": "als", "jp": "ja", "lzh": "zh-classical",
    "nan": "zh-min-nan", "nb": "no", "rup": "roa-rup", "sgs": "bat-smg", "vro": "fiu-vro", "yue": "zh-yue",
    "zh-cn": "zh", "zh-hans": "zh", "zh-hant": "zh", "zh-tw": "zh",
}  # fmt: skip
_PROJECTS = {"w": "wikipedia", "wikipedia": "wikipedia", "n": "wikinews", "wikinews": "wikinews"}
# Projects other than encyclopedias and news.
_ELSEWHERE = frozenset(
    """wikt wiktionary b wikibooks q wikiquote s wikisource v wikiversity voy wikivoyage c commons d wikidata m meta
    mw mediawikiwiki species wikispecies phab phabricator foundation wmf incubator outreach bugzilla mail doi imdb
    toollabs toolforge google iarchive isbn viaf wikia cache gerrit quality strategy testwiki""".split()
)
# Namespaces with the same English name on every wiki, and English aliases.
_NAMESPACES = {
    "media": -2, "special": -1, "talk": 1, "user": 2, "user talk": 3, "project": 4, "project talk": 5, "file": 6,
    "image": 6, "file talk": 7, "image talk": 7, "mediawiki": 8, "mediawiki talk": 9, "template": 10,
    "template talk": 11, "help": 12, "help talk": 13, "category": 14, "category talk": 15, "module": 828,
}  # fmt: skip
_INVISIBLE = re.compile("[\u200e\u200f\u202a-\u202e\u00ad]")
_SPACES = re.compile(r"[\s_]+")
_INVALID = re.compile(r"[<>\[\]{}|\n]")
_FILE_NAME = re.compile(
    r":.+\.(?:jpe?g|png|svg|gif|tiff?|webp|ogg|oga|ogv|webm|mp3|mp4|wav|flac|pdf|djvu|stl|xcf)$", re.I
)
_WIKI_NAME = re.compile(r"([a-z][a-z_]*?)(wikinews|wiki)")
_IN_FILE_NAME = re.compile(r"(?:^|[^a-z])([a-z][a-z_]*?wiki(?:news)?)-")


class Wiki(NamedTuple):
    """A wiki: its project, "wikipedia" or "wikinews", and its language code."""

    project: str
    code: str

    @property
    def name(self) -> str:
        """Database name, such as dewiki or zh_yuewiki."""
        return f"{self.code.replace('-', '_')}{'wiki' if self.project == 'wikipedia' else self.project}"

    def url(self, title: str) -> str:
        """Return the address of a page."""
        return f"http://{self.code}.{self.project}.org/wiki/{quote(title.replace(' ', '_'), safe='/:(),')}"


def wikipedia_code(name: str) -> str:
    """Return the code in a Wikipedia's address for another code of its language, such as `no` for `nb`."""
    code = name.replace("_", "-")
    return _OTHER_CODES.get(code, code)


def wiki_of(name: str, where: str = "") -> Wiki:
    """Return the wiki with a database name (dewiki, dewikinews) or, for a Wikipedia, with a language code (de)."""
    code = wikipedia_code(name)
    if code in WIKIPEDIA_CODES:
        return Wiki("wikipedia", code)
    match = _WIKI_NAME.fullmatch(name)
    code = wikipedia_code(match[1]) if match else ""
    if match is None or code not in WIKIPEDIA_CODES:
        raise DataError(f"unknown wiki {name!r}", where=where, fix="Write dewiki, dewikinews or zh_yuewiki")
    return Wiki("wikipedia" if match[2] == "wiki" else "wikinews", code)


def wiki_in_file_name(name: str) -> str:
    """Return the database name at the beginning of a dump's file name, or ""."""
    match = _IN_FILE_NAME.search(name)
    return match[1] if match else ""


def normal_title(text: str) -> str:
    """Return a title as MediaWiki stores it: decoded, composed, single spaces, a capital first letter; "" if empty."""
    if "&" in text:
        text = decode_references(text)
    if "%" in text:
        text = unquote(text, errors="replace")
    if not text.isascii():
        text = normalize("NFC", _INVISIBLE.sub("", text))
    # Most titles need no replacements, and the test is cheaper.
    is_plain = text.isprintable() and "_" not in text and "  " not in text
    title = text.strip() if is_plain else _SPACES.sub(" ", text).strip()
    return _capital(title[:1]) + title[1:]


def _capital(letter: str) -> str:
    upper = letter.upper()
    # MediaWiki capitalises neither ß nor Georgian letters, unlike Unicode's rules.
    return upper if len(upper) == 1 and not "\u1c90" <= upper <= "\u1cbf" else letter


def page_hash(code: str, title: str) -> int:
    """Return the 64-bit hash of a normal title in a Wikipedia; never 0."""
    digest = blake2b(f"{code}:{title}".encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


class LinkTarget(NamedTuple):
    """Target of a link: the Wikipedia's code ("" if it is not an article) and title, or the kind of other link.

    `kind` is "article", "file", "category", "interlanguage" (a page's other languages, not shown in its text),
    "namespace" (any other namespace), "elsewhere" (another project), or "invalid". `hash` is that of an article.
    """

    kind: str
    code: str = ""
    title: str = ""
    hash: int = 0


_HIDDEN = {6: "file", 14: "category"}


class LinkResolver:
    """Resolution of link targets on the pages of one wiki.

    `namespaces` are the names in the header of its dump, in lower case, with their numbers. Prefixes follow MediaWiki:
    `[[w:de:X]]` on any wiki and `[[:de:X]]` on a Wikipedia lead to the German Wikipedia, `[[w:X]]` to that of the
    wiki's language, `[[:de:X]]` on Wikinews to the German Wikinews, and `[[de:X]]` links versions of one page.
    """

    def __init__(self, wiki: Wiki, namespaces: Mapping[str, int]) -> None:
        self.wiki = wiki
        # The project's own name is a namespace, also if the dump has no header.
        self._namespaces = {**_NAMESPACES, wiki.project: 4, **namespaces}
        self.resolve = lru_cache(maxsize=100_000)(self._resolve)

    def _resolve(self, text: str) -> LinkTarget:
        """Return the target of a link's left side."""
        if "&" in text:
            text = decode_references(text)
        rest = (text.partition("#")[0] if "#" in text else text).strip()
        is_shown = rest.startswith(":")
        if is_shown:
            rest = rest[1:].strip()
        if not rest or _INVALID.search(rest):
            return LinkTarget("invalid")
        if ":" not in rest:
            return self._article(*self.wiki, rest)
        return self._prefixed(rest, is_shown)

    def _prefixed(self, rest: str, is_shown: bool) -> LinkTarget:
        project, code = self.wiki
        is_local = True
        while ":" in rest:
            prefix, _, after = rest.partition(":")
            name = _SPACES.sub(" ", prefix).strip().lower()
            if is_local and name in self._namespaces:
                hidden = "" if is_shown else _HIDDEN.get(self._namespaces[name], "")
                return LinkTarget(hidden or "namespace")
            if name in _PROJECTS:
                project = _PROJECTS[name]
            elif (other := _OTHER_CODES.get(name, name)) in WIKIPEDIA_CODES:
                if is_local and not is_shown and project == self.wiki.project:
                    return LinkTarget("interlanguage")
                code = other
            elif name in _ELSEWHERE:
                return LinkTarget("elsewhere")
            elif name in self._namespaces or name in _NAMESPACES:
                return LinkTarget("namespace")
            else:
                break
            is_local, rest = False, after.strip().removeprefix(":")
        if not is_shown and is_local and _FILE_NAME.search(rest):
            return LinkTarget("file")  # an alias of the namespace, which dumps do not list
        return self._article(project, code, rest)

    @staticmethod
    def _article(project: str, code: str, rest: str) -> LinkTarget:
        title = normal_title(rest.partition("#")[0])
        if not title or len(title) > 255:
            return LinkTarget("invalid")
        if project != "wikipedia":
            return LinkTarget("elsewhere")
        return LinkTarget("article", code, title, page_hash(code, title))
