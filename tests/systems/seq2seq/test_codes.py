"""Language codes of translation models."""

from contextlib import suppress

import pytest

from isogloss.errors import UnknownNameError
from isogloss.languages import all_languages
from isogloss.systems.seq2seq.codes import code_of, scheme_of
from isogloss.tasks.registry import task

# The codes of the published models that our languages have.
NLLB = """afr_Latn arb_Arab azj_Latn ben_Beng bul_Cyrl deu_Latn ell_Grek eng_Latn est_Latn eus_Latn fin_Latn fra_Latn
guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hun_Latn ind_Latn ita_Latn jav_Latn jpn_Jpan kat_Geor kaz_Cyrl kor_Hang
lit_Latn mal_Mlym mar_Deva mya_Mymr nld_Latn pan_Guru pes_Arab pol_Latn por_Latn quy_Latn ron_Latn rus_Cyrl spa_Latn
swh_Latn tam_Taml tel_Telu tgl_Latn tha_Thai tur_Latn ukr_Cyrl urd_Arab vie_Latn wol_Latn yor_Latn zho_Hans zho_Hant
zsm_Latn yue_Hant""".split()
M2M = """af ar az bg bn de el en es et fa fi fr gu ha he hi ht hu id it ja jv ka kk ko lt ml mr ms my nl pa pl pt ro ru
sw ta th tl tr uk ur vi wo yo zh""".split()
MBART = """ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP
nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN
pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI""".split()
# In these codes an entry of the registry is spelled in a way of its own.
SPECIAL = {
    "nllb": {
        "ar": "arb_Arab",
        "et": "est_Latn",
        "ko": "kor_Hang",
        "qu": "quy_Latn",
        "fa": "pes_Arab",
        "zh": "zho_Hans",
        "zh-Hant": "zho_Hant",
        "ms": "zsm_Latn",
        "sw": "swh_Latn",
    },
    "mbart": {"en": "en_XX", "zh": "zh_CN", "sw": "sw_KE", "pt": "pt_XX"},
    "m2m": {"he": "he", "zh": "zh", "tl": "tl"},
    "madlad": {"he": "iw", "tl": "fil", "es": "es", "zh": "zh", "zh-Hant": "zh_Hant", "jv": "jv"},
    "opus": {"es": "spa", "zh": "cmn_Hans", "pt": "pt_br", "fr": "fr"},
}
KNOWN = {
    "nllb": NLLB,
    "mbart": MBART,
    "m2m": M2M,
    "madlad": ["iw", "fil", "es", "zh", "zh_Hant", "jv"],
    "opus": ["spa", "cmn_Hans", "cmn_Hant", "pt_br", "fr", "fr_FR"],
}


@pytest.mark.parametrize(("kind", "tag", "code"), [(k, t, c) for k, table in SPECIAL.items() for t, c in table.items()])
def test_code_in_the_spelling_of_a_model(kind: str, tag: str, code: str) -> None:
    assert code_of(tag, KNOWN[kind], "model") == code


def test_every_language_of_the_papers_has_a_code_of_its_own() -> None:
    codes = {entry.code: code_of(entry.code, NLLB, "nllb") for entry in all_languages()}
    assert len(codes) == len(set(codes.values())) == 51
    missing = {entry.code for entry in all_languages() if entry.code not in M2M}
    assert missing == {"eu", "qu", "te"}
    for tag in missing:
        with pytest.raises(UnknownNameError, match=rf"does not know \w+ \({tag}\)"):
            code_of(tag, M2M, "m2m")


@pytest.mark.filterwarnings("ignore:language 'sr-Latn' is not listed")
def test_error_names_the_nearest_codes() -> None:
    with pytest.raises(UnknownNameError) as caught:
        code_of("sr-Latn", ["srp_Cyrl", "spa_Latn", "eng_Latn"], "hf:nllb")
    assert "the model does not know" in str(caught.value)
    assert "srp_Cyrl" in caught.value.fix
    assert caught.value.where == "hf:nllb"
    for known in (["zho_Hant", "eng_Latn"], ["zh_Hant", "en"]):  # another script
        with pytest.raises(
            UnknownNameError, match=rf"Chinese \(zh\) among its 2 languages\. The nearest codes are {known[0]}"
        ):
            code_of("zh", known, "model")


def test_scheme_is_recognised_by_the_vocabulary() -> None:
    words = ["▁the", "the", "en", "<s>", "</s>", "a_b", "__init__"]
    for name, spelled in (
        ("NLLB", NLLB),
        ("M2M-100", [f"__{code}__" for code in M2M]),
        ("mBART-50", MBART),
        ("MADLAD", [f"<2{code}>" for code in KNOWN["madlad"]]),
        ("Opus-MT", [f">>{code}<<" for code in KNOWN["opus"]]),
    ):
        scheme, tokens = scheme_of([*words, *spelled])
        assert scheme is not None
        assert scheme.name == name
        assert sorted(tokens.values()) == sorted(spelled)
    assert scheme_of(words) == (None, {})


def test_codes_of_the_published_vocabularies() -> None:
    nllb = pytest.importorskip("transformers.models.nllb.tokenization_nllb").FAIRSEQ_LANGUAGE_CODES
    m2m = pytest.importorskip("transformers.models.m2m_100.tokenization_m2m_100").FAIRSEQ_LANGUAGE_CODES["m2m100"]
    sib = task("sib200")  # its codes are those of FLORES, which NLLB uses
    codes = {tag: sib.codes.get(tag, tag) for tag in sib.every_language}
    known = {tag: code for tag, code in codes.items() if code in nllb}
    assert len(known) > 195
    assert {tag: code_of(tag, nllb, "nllb") for tag in known} == known
    assert code_of("sat", nllb, "nllb") == "sat_Beng"
    # Every code of M2M-100 but two has one of our languages; Norwegian, Northern Sotho and Fula under other codes.
    reached = set()
    for tag in sib.every_language:
        with suppress(UnknownNameError):
            reached.add(code_of(tag, m2m, "m2m"))
    assert set(m2m) - reached == {"br", "fy"}
