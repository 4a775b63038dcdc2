"""Every word of every language is in a dictionary, attested in real text, or listed with a reason."""

import lzma
import re
import shutil
import subprocess
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from isogloss.grammar import CODES, grammar
from isogloss.languages import language

LISTED = Path(__file__).parent / "spelling"
DICTIONARIES = {
    "af": "af_ZA", "ar": "ar", "bg": "bg_BG", "bn": "bn_BD", "de": "de_DE", "el": "el_GR", "en": "en_US", "es": "es_ES",
    "et": "et_EE", "eu": "eu", "fa": "fa_IR", "fr": "fr", "gu": "gu_IN", "he": "he_IL", "hi": "hi_IN", "hu": "hu_HU",
    "id": "id_ID", "it": "it_IT", "kk": "kk_KZ", "ko": "ko", "lt": "lt_LT", "nl": "nl", "pl": "pl_PL",
    "pt": "pt_BR", "ro": "ro_RO", "ru": "ru_RU", "sw": "sw_TZ", "te": "te_IN", "th": "th_TH", "tl": "tl", "tr": "tr_TR",
    "uk": "uk_UA", "vi": "vi_VN",
}  # fmt: skip
# Debian has no dictionary for these: real text must attest their words.
ATTESTED = ("az", "ha", "ht", "ja", "jv", "ka", "ms", "my", "qu", "ur", "wo", "yo", "zh")
UDHR = {
    "az": "azj_latn", "ha": "hau_NG", "ht": "hat_kreyol", "ja": "jpn", "jv": "jav", "ka": "kat", "my": "mya",
    "qu": "quz", "ur": "urd", "wo": "wol", "yo": "yor", "zh": "cmn_hans",
}  # fmt: skip


def words(code: str) -> set[str]:
    """Return every word of the lexicons in every listed form; in scripts without blanks, every entry."""
    speaker = grammar(code)
    found: set[str] = set()
    for lexicon in speaker.lexicons.values():
        for word in lexicon.values():
            for form in (word.base, *word.forms.values()):
                parts = form.replace("~", " ").split() if language(code).segmented else [form.replace("~", "")]
                found.update(part.strip(".,;:!?،؟।'’\"") for part in parts)
    return {word for word in found if word}


def listed(code: str) -> set[str]:
    path = LISTED / f"{code}.tsv"
    if not path.exists():
        return set()
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert all(len(row) == 2 and row[1].strip() for row in rows), "word<TAB>reason"
    return {row[0] for row in rows}


def texts(data: Path, code: str) -> Iterator[str]:
    """Return all available real text of a language."""
    iso3 = {"zh": "cmn", "ms": "zsm"}.get(code, language(code).iso3)
    patterns = [f"panx/*-{code}.tsv*", f"udpos/conllu/{code}_*", f"udpos/xtreme_r_tsv/*-{code}.tsv*"]
    patterns += [f"xcopa/data/{code}/*", f"tatoeba/tatoeba.{iso3}-eng.{iso3}*", f"xquad/xquad.{code}.json*"]
    patterns += [f"xnli/dev-{code}.tsv*", f"mlqa/dev/dev-context-{code}-question-{code}.json*"]
    for pattern in patterns:
        for path in data.glob(pattern):
            raw = path.read_bytes()
            text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8")
            yield text.encode().decode("unicode_escape") if "\\u" in text[:3000] else text
    if code in UDHR:
        with zipfile.ZipFile(data / "nltk_corpora/udhr2.zip") as archive:
            yield archive.read(f"udhr2/{UDHR[code]}.txt").decode("utf-8")


def folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def listed_parts(code: str) -> set[str]:
    entries = listed(code)
    return {folded(part) for entry in entries for part in (entry, *re.split(r"[\s'’-]+", entry))}


def hunspell_rejects(code: str, name: str, scratch: Path) -> set[str]:
    """Return the words that hunspell does not know.

    Dictionaries of Indic scripts do not declare vowel signs as letters, so hunspell splits words at them; a corrected
    copy is used instead.
    """
    hunspell = shutil.which("hunspell")
    home = Path("/usr/share/hunspell")
    if hunspell is None or not (home / f"{name}.dic").exists():
        pytest.skip(f"no hunspell dictionary {name}")
    encoding = "utf-8"
    rules = (home / f"{name}.aff").read_bytes()
    if b"WORDCHARS" not in rules and rules.lstrip(b"\xef\xbb\xbf").startswith(b"SET UTF-8"):
        marks = "".join(c for c in map(chr, range(0x900, 0xD80)) if unicodedata.category(c)[0] == "M") + "\u200c\u200d"
        rules += f"\nWORDCHARS {marks}\n".encode()
    (scratch / f"{name}.aff").write_bytes(rules)
    (scratch / f"{name}.dic").symlink_to(home / f"{name}.dic")
    asked = "\n".join(sorted(words(code)))
    call = [hunspell, "-i", encoding, "-d", str(scratch / name), "-l"]
    done = subprocess.run(call, input=asked, capture_output=True, text=True, check=False)
    return set(done.stdout.split())


def old_chillus(word: str) -> str:
    """Return a text with Malayalam's final consonants in the dictionary's spelling: letter, virama, joiner."""
    plain = {"ൻ": "ന", "ർ": "ര", "ൽ": "ല", "ൾ": "ള", "ൺ": "ണ"}
    return "".join(f"{plain[c]}\u0d4d\u200d" if c in plain else c for c in word)


def test_malayalam_is_looked_up_as_the_dictionary_spells() -> None:
    path = Path("/usr/share/hunspell/ml_IN.dic")
    if not path.exists():
        pytest.skip("no hunspell dictionary ml_IN")
    known = {line.partition("/")[0] for line in path.read_text(encoding="utf-8").splitlines()}
    missing = {word for word in words("ml") if word not in known and old_chillus(word) not in known}
    assert {word for word in missing if folded(word) not in listed_parts("ml")} == set()


@pytest.mark.parametrize("code", [code for code in CODES if code in DICTIONARIES])
def test_dictionary_knows_every_word_that_is_not_listed(code: str, tmp_path: Path) -> None:
    rejected = hunspell_rejects(code, DICTIONARIES[code], tmp_path)
    assert {word for word in rejected if folded(word) not in listed_parts(code)} == set()


@pytest.mark.parametrize("code", ["mr", "pa", "ta"])
def test_aspell_knows_every_word_that_is_not_listed(code: str) -> None:
    aspell = shutil.which("aspell")
    if (
        aspell is None
        or code not in subprocess.run([aspell, "dicts"], capture_output=True, text=True, check=True).stdout
    ):
        pytest.skip(f"no aspell dictionary {code}")
    asked = "\n".join(sorted(words(code)))
    call = [aspell, "-l", code, "--encoding=utf-8", "list"]
    rejected = set(subprocess.run(call, input=asked, capture_output=True, text=True, check=True).stdout.split())
    assert {word for word in rejected if folded(word) not in listed_parts(code)} == set()


def test_voikko_knows_every_finnish_word_that_is_not_listed() -> None:
    code = "import sys, libvoikko; v = libvoikko.Voikko('fi')\n"
    code += "print(*(w for w in sys.stdin.read().split() if not v.spell(w)))"
    call = ["/usr/bin/python3", "-c", code]
    try:
        done = subprocess.run(call, input="\n".join(words("fi")), capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("voikko is not installed")
    assert {word for word in done.stdout.split() if folded(word) not in listed_parts("fi")} == set()


@pytest.mark.parametrize("code", [code for code in CODES if code in ATTESTED])
def test_real_text_attests_every_word_that_is_not_listed(code: str, data_dir: Path) -> None:
    corpus = folded("\n".join(texts(data_dir, code)))
    assert len(corpus) > 5000
    known = {folded(word) for word in listed(code)}
    if language(code).segmented:
        tokens = set(re.split(r"[\s\d.,;:!?()\"'«»“”‘’/\[\]{}<>|=،؟۔–—-]+", corpus))
        unattested = {
            w
            for w in words(code)
            if not set(re.split(r"['’-]", folded(w))) <= tokens | {""} and folded(w) not in tokens
        }
    else:
        unattested = {word for word in words(code) if folded(word) not in corpus}
    assert {word for word in unattested if folded(word) not in known} == set()
