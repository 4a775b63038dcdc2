"""Tasks beyond XTREME-R that reach languages outside its fifty: the suite `living`.

Languages are named by their shortest BCP 47 tag; `Task.codes` has the names of their files.
"""

from functools import cache

from isogloss.languages import language
from isogloss.tasks.shipped import UPOS, XNLI, classification, tagging
from isogloss.tasks.task import Layout, Task, counted

# FLORES-200's codes.
_SIB200 = """
ace_Arab ace_Latn acm_Arab acq_Arab aeb_Arab afr_Latn ajp_Arab aka_Latn als_Latn amh_Ethi apc_Arab arb_Arab
arb_Latn ars_Arab ary_Arab arz_Arab asm_Beng ast_Latn awa_Deva ayr_Latn azb_Arab azj_Latn bak_Cyrl bam_Latn
ban_Latn bel_Cyrl bem_Latn ben_Beng bho_Deva bjn_Arab bjn_Latn bod_Tibt bos_Latn bug_Latn bul_Cyrl cat_Latn
ceb_Latn ces_Latn cjk_Latn ckb_Arab crh_Latn cym_Latn dan_Latn deu_Latn dik_Latn dyu_Latn dzo_Tibt ell_Grek
eng_Latn epo_Latn est_Latn eus_Latn ewe_Latn fao_Latn fij_Latn fin_Latn fon_Latn fra_Latn fur_Latn fuv_Latn
gaz_Latn gla_Latn gle_Latn glg_Latn grn_Latn guj_Gujr hat_Latn hau_Latn heb_Hebr hin_Deva hne_Deva hrv_Latn
hun_Latn hye_Armn ibo_Latn ilo_Latn ind_Latn isl_Latn ita_Latn jav_Latn jpn_Jpan kab_Latn kac_Latn kam_Latn
kan_Knda kas_Arab kas_Deva kat_Geor kaz_Cyrl kbp_Latn kea_Latn khk_Cyrl khm_Khmr kik_Latn kin_Latn kir_Cyrl
kmb_Latn kmr_Latn knc_Arab knc_Latn kon_Latn kor_Hang lao_Laoo lij_Latn lim_Latn lin_Latn lit_Latn lmo_Latn
ltg_Latn ltz_Latn lua_Latn lug_Latn luo_Latn lus_Latn lvs_Latn mag_Deva mai_Deva mal_Mlym mar_Deva min_Arab
min_Latn mkd_Cyrl mlt_Latn mni_Beng mos_Latn mri_Latn mya_Mymr nld_Latn nno_Latn nob_Latn npi_Deva nqo_Nkoo
nso_Latn nus_Latn nya_Latn oci_Latn ory_Orya pag_Latn pan_Guru pap_Latn pbt_Arab pes_Arab plt_Latn pol_Latn
por_Latn prs_Arab quy_Latn ron_Latn run_Latn rus_Cyrl sag_Latn san_Deva sat_Olck scn_Latn shn_Mymr sin_Sinh
slk_Latn slv_Latn smo_Latn sna_Latn snd_Arab som_Latn sot_Latn spa_Latn srd_Latn srp_Cyrl ssw_Latn sun_Latn
swe_Latn swh_Latn szl_Latn tam_Taml taq_Latn taq_Tfng tat_Cyrl tel_Telu tgk_Cyrl tgl_Latn tha_Thai tir_Ethi
tpi_Latn tsn_Latn tso_Latn tuk_Latn tum_Latn tur_Latn twi_Latn tzm_Tfng uig_Arab ukr_Cyrl umb_Latn urd_Arab
uzn_Latn vec_Latn vie_Latn war_Latn wol_Latn xho_Latn ydd_Hebr yor_Latn yue_Hant zho_Hans zho_Hant zsm_Latn
zul_Latn
"""
_MASAKHA = "bam bbj ewe fon hau ibo kin lug luo mos nya pcm sna swa tsn twi wol xho yor zul"
_NER_COUNTS = {
    "test": counted(
        "bm 1274 bbj 966 ee 1001 fon 1228 ha 1633 ig 2181 rw 2235 lg 1412 luo 1474 mos 1294 ny 1785 pcm 1613 sn 1773 "
        "sw 1883 tn 996 tw 1211 wo 1312 xh 1633 yo 1964 zu 1670"
    ),
    "dev": counted(
        "bm 638 bbj 483 ee 501 fon 623 ha 816 ig 1090 rw 1118 lg 706 luo 737 mos 648 ny 893 pcm 806 sn 887 sw 942 tn "
        "499 tw 605 wo 656 xh 817 yo 983 zu 836"
    ),
    "train": counted(
        "bm 4462 bbj 3384 ee 3505 fon 4343 ha 5716 ig 7634 rw 7825 lg 4942 luo 5161 mos 4532 ny 6250 pcm 5646 sn 6207 "
        "sw 6593 tn 3489 tw 4240 wo 4593 xh 5718 yo 6876 zu 5848"
    ),
}
_POS_COUNTS = {
    "test": counted(
        "bm 619 bbj 599 ee 582 fon 646 ha 601 ig 642 rw 604 lg 586 luo 606 mos 604 ny 582 pcm 600 sn 596 sw 553 tn "
        "602 tw 628 wo 625 xh 601 yo 713 zu 601"
    ),
    "dev": counted(
        "bm 154 bbj 149 ee 145 fon 161 ha 150 ig 160 rw 151 lg 146 luo 151 mos 151 ny 145 pcm 150 sn 149 sw 138 tn "
        "150 tw 157 wo 156 xh 150 yo 178 zu 150"
    ),
    "train": counted(
        "bm 775 bbj 750 ee 728 fon 810 ha 753 ig 803 rw 757 lg 733 luo 758 mos 757 ny 728 pcm 752 sn 747 sw 693 tn "
        "754 tw 785 wo 782 xh 752 yo 893 zu 753"
    ),
}
_AMERICAS = "aym bzd cni gn hch nah oto quy shp tar"
_NUSAX = {
    "ace": "acehnese",
    "ban": "balinese",
    "bjn": "banjarese",
    "bug": "buginese",
    "en": "english",
    "id": "indonesian",
    "jv": "javanese",
    "mad": "madurese",
    "min": "minangkabau",
    "nij": "ngaju",
    "su": "sundanese",
    "bbc": "toba_batak",
}


def _tags(codes: str) -> dict[str, str]:
    """Return file codes by shortest tag."""
    return {language(code).code: code for code in codes.split()}


_SCIENCE, _TRAVEL, _SHOWS = "science/technology", "travel", "entertainment"
_TOPICS = (_SCIENCE, _TRAVEL, "politics", "sports", "health", _SHOWS, "geography")
# Other names of the topics in replies of language models; "tourism" alone and "political" may mean something else.
_TOPIC_NAMES = {
    **dict.fromkeys(("science", "technology", "science and technology", "science & technology"), _SCIENCE),
    **dict.fromkeys(("technology and science", "technology/science"), _SCIENCE),
    "sport": "sports",
    **dict.fromkeys(("travel and tourism", "tourism and travel", "travel/tourism", "travel or tourism"), _TRAVEL),
    **dict.fromkeys(("arts and entertainment", "arts & entertainment", "arts/entertainment"), _SHOWS),
    **dict.fromkeys(("entertainment/arts", "entertainment/music", "music/entertainment"), _SHOWS),
}


def _sib200() -> Task:
    codes = _tags(_SIB200)
    return classification(
        id="sib200",
        title="SIB-200: topic classification",
        languages=tuple(codes),
        codes=codes,
        licence="CC BY-SA 4.0",
        homepage="https://github.com/dadelani/sib-200",
        citation="Adelani et al. (2024), SIB-200: A Simple, Inclusive, and Big Evaluation Dataset",
        layouts=(Layout.by_split("named_rows.sib200", "sib200/data/{code}/{split}.tsv"),),
        parallel="sib200",
        options={"labels": _TOPICS, "prompt": "topic", "synonyms": _TOPIC_NAMES},
        counts={"test": 204, "dev": 99, "train": 701},
    )


def _masakhaner() -> Task:
    codes = _tags(_MASAKHA)
    return tagging(
        id="masakhaner",
        title="MasakhaNER 2.0: named entity recognition",
        languages=tuple(codes),
        codes=codes,
        licence="CC BY-NC 4.0",
        homepage="https://github.com/masakhane-io/masakhane-ner",
        citation="Adelani et al. (2022), MasakhaNER 2.0: Africa-centric Transfer Learning for Named Entity Recognition",
        layouts=(Layout.by_split("tagged.spaced", "masakhaner2/data/{code}/{split}.txt"),),
        corpus="masakha",
        options={
            "labels": ("O", *(f"{mark}-{kind}" for kind in ("PER", "ORG", "LOC", "DATE") for mark in "BI")),
            # The paper reports the F1 of seqeval.
            "dialect": "seqeval-1.2.2",
            "prompt": "ner",
        },
        counts=_NER_COUNTS,
    )


def _masakhapos() -> Task:
    codes = _tags(_MASAKHA)
    return tagging(
        id="masakhapos",
        title="MasakhaPOS: part-of-speech tagging",
        languages=tuple(codes),
        codes=codes,
        main=("accuracy",),
        licence="CC BY-NC 4.0",
        homepage="https://github.com/masakhane-io/masakhane-pos",
        citation="Dione et al. (2023), MasakhaPOS: Part-of-Speech Tagging for Typologically Diverse African Languages",
        layouts=(Layout.by_split("tagged.spaced", "masakhapos/{code}/{split}.txt"),),
        corpus="masakha",
        options={"labels": tuple(UPOS.split()), "dialect": "conll", "prompt": "pos"},
        counts=_POS_COUNTS,
    )


def _americasnli() -> Task:
    codes = _tags(_AMERICAS)
    return classification(
        id="americasnli",
        title="AmericasNLI: natural language inference",
        languages=tuple(codes),
        codes=codes,
        licence="CC BY-SA 4.0",
        homepage="https://github.com/abteen/americasnli",
        citation="Ebrahimi et al. (2022), AmericasNLI: Evaluating Zero-shot Natural Language Understanding",
        layouts=(Layout.by_split("named_rows.americasnli", "americasnli/{split}/{code}.tsv", "test", "dev"),),
        # A part of XNLI, translated from Spanish.
        parallel=XNLI.parallel,
        cluster=XNLI.cluster,
        train_on="xnli",
        options=XNLI.options,
        counts={
            "test": counted("ay 750 bzd 750 cni 750 gn 750 hch 750 nah 738 oto 748 quy 750 shp 750 tar 750"),
            "dev": counted("ay 743 bzd 743 cni 658 gn 743 hch 743 nah 585 oto 222 quy 743 shp 743 tar 743"),
        },
    )


def _nusax() -> Task:
    return classification(
        id="nusax",
        title="NusaX: sentiment of reviews and comments",
        languages=tuple(_NUSAX),
        codes=_NUSAX,
        licence="CC BY-SA 4.0",
        homepage="https://github.com/IndoNLP/nusax",
        citation="Winata et al. (2023), NusaX: Multilingual Parallel Sentiment Dataset",
        layouts=(Layout("named_rows.nusax", *(f"nusax/{{code}}/{name}.csv" for name in ("test", "valid", "train"))),),
        parallel="nusax",
        options={"labels": ("negative", "neutral", "positive"), "prompt": "sentiment"},
        counts={"test": 400, "dev": 100, "train": 500},
    )


_MAKERS = {
    "sib200": _sib200,
    "masakhaner": _masakhaner,
    "masakhapos": _masakhapos,
    "americasnli": _americasnli,
    "nusax": _nusax,
}


@cache
def declared(task_id: str) -> Task:
    """Return a task of the suite; made on first use, because file codes need the table of languages."""
    return _MAKERS[task_id]()
