"""The built-in tasks, as data; `isogloss list` imports this module, so it stays light."""

from functools import partial

from isogloss.tasks.task import Layout, Task, counted

classification = partial(Task, kind="classification", category="classification", main=("accuracy",))
tagging = partial(Task, kind="tagging", category="structured", main=("f1",), cluster="sentence")
_qa = partial(Task, kind="qa", category="qa", main=("f1", "em"), cluster="article")
_retrieval = partial(Task, kind="pool", category="retrieval", main=("map@20",))

XNLI = classification(
    id="xnli",
    title="XNLI: natural language inference",
    languages=("en", "ar", "bg", "de", "el", "es", "fr", "hi", "ru", "sw", "th", "tr", "ur", "vi", "zh"),
    licence="CC BY-NC 4.0",
    homepage="https://github.com/facebookresearch/XNLI",
    citation="Conneau et al. (2018), XNLI: Evaluating Cross-lingual Sentence Representations",
    layouts=(
        Layout.by_split("pairs.xnli", "xnli/XNLI-1.0/xnli.{split}.tsv", "test", "dev"),
        Layout.by_split("pairs.prepared_xnli", "xnli/{split}-{lang}.tsv"),
        Layout.by_split("pairs.xnli", "XNLI-1.0/xnli.{split}.tsv", "test", "dev"),
        Layout("pairs.multinli", train="xnli/XNLI-MT-1.0/multinli/multinli.train.{lang}.tsv"),
    ),
    english_training=True,
    parallel="xnli",
    cluster="premise",
    options={
        "labels": ("entailment", "neutral", "contradiction"),
        "synonyms": {"contradictory": "contradiction"},
        "prompt": "nli",
    },
    counts={"test": 5010, "dev": 2490},
)

XCOPA = classification(
    id="xcopa",
    title="XCOPA: choice of plausible alternatives",
    kind="choice",
    languages=("et", "ht", "id", "it", "qu", "sw", "ta", "th", "tr", "vi", "zh"),
    also=("en",),
    licence="CC BY 4.0",
    homepage="https://github.com/cambridgeltl/xcopa",
    citation="Ponti et al. (2020), XCOPA: A Multilingual Dataset for Causal Commonsense Reasoning",
    layouts=(
        Layout("copa.copa", *(f"xcopa/data/{{lang}}/{name}.{{lang}}.jsonl" for name in ("test", "val", "train"))),
        Layout("copa.copa", test="xcopa/{lang}/test.{lang}.jsonl", dev="xcopa/{lang}/val.{lang}.jsonl"),
        Layout("copa.copa", *(f"xcopa/{name}-{{lang}}.jsonl" for name in ("test", "val", "train"))),
    ),
    parallel="xcopa",
    counts={"test": 500, "dev": 100},
)

# XTREME only.
PAWSX = classification(
    id="pawsx",
    title="PAWS-X: paraphrase identification",
    languages=("en", "de", "es", "fr", "ja", "ko", "zh"),
    licence="free use, attribution requested",
    homepage="https://github.com/google-research-datasets/paws",
    citation="Yang et al. (2019), PAWS-X: A Cross-lingual Adversarial Dataset for Paraphrase Identification",
    layouts=(
        Layout("pairs.pawsx", "pawsx/{lang}/test_2k.tsv", "pawsx/{lang}/dev_2k.tsv", "pawsx/{lang}/train.tsv"),
        Layout("pairs.pawsx", train="pawsx/{lang}/translated_train.tsv"),
        Layout("pairs.pawsx", *(f"pawsx/with_id_and_label/{name}-{{lang}}.tsv" for name in ("test", "validation"))),
        Layout.by_split("pairs.prepared_pawsx", "pawsx/{split}-{lang}.tsv"),
        Layout.by_split("pairs.pawsx", "x-final/{lang}/{split}_2k.tsv", "test", "dev"),
    ),
    english_training=True,
    # Row i of every language translates the same English pair, although a few labels differ.
    parallel="pawsx",
    cluster="sentence",
    options={"labels": ("0", "1"), "prompt": "paraphrase"},
    counts={"test": 2000, "dev": 2000},
)

# As in Keung et al. (2020); users supply the Reuters corpus.
MLDOC = classification(
    id="mldoc",
    title="MLDoc: document classification",
    languages=("en", "de", "es", "fr", "it", "ja", "ru", "zh"),
    licence="Reuters RCV1/RCV2, by agreement with NIST",
    homepage="https://github.com/facebookresearch/MLDoc",
    citation="Schwenk and Li (2018), A Corpus for Multilingual Document Classification in Eight Languages",
    layouts=(
        Layout("pairs.documents", "mldoc/{name}.test", "mldoc/{name}.dev", "mldoc/{name}.train.{size}"),
        Layout.by_split("pairs.documents", "mldoc/{lang}/{split}.tsv"),
    ),
    options={"labels": ("CCAT", "ECAT", "GCAT", "MCAT"), "prompt": "topic"},
    counts={"test": 4000, "dev": 1000},
    # Nominal: some languages have fewer documents than their largest file says.
    train_sizes=(1000, 2000, 5000, 10_000),
)

UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
_UDPOS_TEST = counted(
    "af 425 ar 1680 bg 1116 de 22358 el 456 en 5440 es 3147 et 3760 eu 1799 fa 600 fi 4422 fr 5009 he 491 hi 2684 "
    "hu 449 id 1557 it 3518 ja 2372 kk 1047 ko 4276 lt 739 mr 47 nl 1471 pl 4942 pt 2681 ro 2272 ru 8976 ta 120 "
    "te 146 th 1000 tl 55 tr 4785 uk 892 ur 535 vi 800 wo 470 yo 100 zh 3455"
)
_UDPOS_DEV = counted(
    "af 194 ar 909 bg 1115 de 19233 el 403 en 3974 es 3054 et 3125 eu 1798 fa 599 fi 3239 fr 2903 he 484 hi 1659 "
    "hu 441 id 559 it 2278 ja 511 ko 3016 lt 672 mr 46 nl 1394 pl 3960 pt 1770 ro 2247 ru 8108 ta 80 te 131 tr 988 "
    "uk 672 ur 552 vi 800 wo 449 zh 1000"
)
# UD 2.5; 2.7 for lt pl ro uk wo.
UDPOS = tagging(
    id="udpos",
    title="UD-POS: part-of-speech tagging",
    languages=tuple(_UDPOS_TEST),
    licence="per treebank, mostly CC BY-SA 4.0 or CC BY-NC-SA",
    homepage="https://universaldependencies.org",
    citation="Nivre et al. (2018), Universal Dependencies 2.x",
    layouts=(
        Layout(
            "tagged.treebanks", *(f"udpos/conllu/{{lang}}_*-ud-{name}.conllu" for name in ("test", "dev", "train*"))
        ),
        Layout.by_split("tagged.words", "udpos/xtreme_r_tsv/{split}-{lang}.tsv"),
        Layout.by_split("tagged.words", "udpos/{split}-{lang}.tsv"),
    ),
    # Treebanks leave some words untagged ("_").
    options={"labels": (*UPOS.split(), "_"), "dialect": "conll", "prompt": "pos"},
    counts={"test": _UDPOS_TEST, "dev": _UDPOS_DEV},
)

_WIKIANN_LANGUAGES = (
    "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo my zh kk tr "
    "et fi hu qu pl uk az lt pa gu ro"
).split()
_WIKIANN_SMALL = {
    **dict.fromkeys("af az bn hi kk ml mr ms sw ta te tl ur".split(), 1000),
    **dict.fromkeys("gu jv my pa qu yo".split(), 100),
}
_WIKIANN_COUNTS = {code: _WIKIANN_SMALL.get(code, 10_000) for code in _WIKIANN_LANGUAGES}
# PAN-X, in the balanced splits by Rahimi et al.
WIKIANN = tagging(
    id="wikiann",
    title="WikiANN: named entity recognition",
    languages=tuple(_WIKIANN_LANGUAGES),
    licence="none stated; text from Wikipedia, CC BY-SA",
    homepage="https://github.com/afshinrahimi/mmner",
    citation="Pan et al. (2017), Cross-lingual Name Tagging; splits of Rahimi et al. (2019)",
    layouts=(
        Layout.by_split("tagged.panx", "wikiann/{lang}/{split}"),
        Layout.by_split("tagged.words", "wikiann/{split}-{lang}.tsv"),
        Layout.by_split("tagged.words", "panx/{split}-{lang}.tsv"),
    ),
    options={
        "labels": ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"),
        "dialect": "conll",
        "prompt": "ner",
    },
    counts={"test": _WIKIANN_COUNTS, "dev": _WIKIANN_COUNTS},
)

# As in Keung et al. (2020). 2002: Spanish and Dutch, also with NLTK; 2003: English and German, supplied by users.
CONLL = tagging(
    id="conll",
    title="CoNLL-2002/2003: named entity recognition",
    languages=("en", "de", "es", "nl"),
    licence="research use, by agreement",
    homepage="https://www.clips.uantwerpen.be/conll2003/ner",
    citation="Tjong Kim Sang (2002), Sang and De Meulder (2003), Language-Independent Named Entity Recognition",
    layouts=tuple(
        Layout("tagged.conll", *(f"{folder}/{{code}}.{name}" for name in ("testb", "testa", "train")))
        for folder in ("conll2003", "conll2002", "conll")
    ),
    codes={"en": "eng", "de": "deu", "es": "esp", "nl": "ned"},
    cluster="document",
    options={
        "labels": ("O", *(f"{mark}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for mark in "BI")),
        "dialect": "conll",
        "prompt": "ner",
    },
    counts={
        "test": counted("en 3453 de 3005 es 1517 nl 5195"),
        "dev": counted("en 3250 de 2867 es 1915 nl 2895"),
        "train": counted("en 14041 de 12152 es 8323 nl 15806"),
    },
)

XQUAD = _qa(
    id="xquad",
    title="XQuAD: extractive question answering",
    languages=("en", "ar", "de", "el", "es", "hi", "ru", "th", "tr", "vi", "zh"),
    # Romanian was added after the paper; the reference code lists it, but no published average includes it.
    also=("ro",),
    licence="CC BY-SA 4.0",
    homepage="https://github.com/google-deepmind/xquad",
    citation="Artetxe et al. (2020), On the Cross-lingual Transferability of Monolingual Representations",
    layouts=(
        Layout("questions.one_language", test="xquad/xquad.{lang}.json"),
        Layout("questions.english", dev="squad/dev-v1.1.json", train="squad/train-v1.1.json"),
    ),
    parallel="xquad",
    # Articles keep their English titles in every language.
    options={"dialect": "squad", "shared_titles": True},
    counts={"test": 1190},
)

_MLQA_FILE = "{split}/{split}-context-{lang}-question-{lang}.json"
# Question and context in the same language.
MLQA = _qa(
    id="mlqa",
    title="MLQA: extractive question answering",
    languages=("en", "ar", "de", "es", "hi", "vi", "zh"),
    licence="CC BY-SA 3.0",
    homepage="https://github.com/facebookresearch/MLQA",
    citation="Lewis et al. (2020), MLQA: Evaluating Cross-lingual Extractive Question Answering",
    layouts=(
        Layout.by_split("questions.one_language", f"mlqa/{_MLQA_FILE}", "test", "dev"),
        Layout.by_split("questions.one_language", f"mlqa/MLQA_V1/{_MLQA_FILE}", "test", "dev"),
        Layout("questions.english", train="squad/train-v1.1.json"),
    ),
    parallel="mlqa",
    options={"dialect": "mlqa"},
    counts={
        "test": counted("en 11590 de 4517 es 5253 ar 5335 zh 5137 vi 5495 hi 4918"),
        "dev": counted("en 1148 de 512 es 500 ar 517 zh 504 vi 511 hi 507"),
    },
)

_GOLDP = "tydiqa/tydiqa-goldp-v1.1"
_PREPARED = "tydiqa_goldp/{name}_tydiqa"
# XTREME's test set is the published dev set.
TYDIQA = _qa(
    id="tydiqa",
    title="TyDiQA-GoldP: extractive question answering",
    languages=("en", "ar", "bn", "fi", "id", "ko", "ru", "sw", "te"),
    licence="Apache 2.0",
    homepage="https://github.com/google-research-datasets/tydiqa",
    citation="Clark et al. (2020), TyDi QA: A Benchmark for Information-Seeking Question Answering",
    layouts=(
        Layout("questions.all_languages", test=f"{_GOLDP}-dev.json", train=f"{_GOLDP}-train.json"),
        Layout("questions.one_language", test=f"{_GOLDP}-dev/tydiqa-goldp-dev-{{name}}.json"),
        Layout("questions.one_language", test=f"{_PREPARED}_dev.json", train=f"{_PREPARED}_train.json"),
        # XTREME's scripts move the file of all languages beside their own, which lack its ids.
        Layout("questions.all_languages", train=f"{_GOLDP}-train/tydiqa-goldp-v1.1-train.json"),
        *(
            Layout(
                "questions.one_language",
                test=f"{_GOLDP}-dev/{name}.{{lang}}.dev.json",
                train=f"{_GOLDP}-train/{name}.{{lang}}.train.json",
            )
            for name in ("tydiqa.goldp", "tydiqa")
        ),
    ),
    options={"dialect": "squad"},
    # No dev set is published; the paper's, of 634 questions (Table 2), is not described.
    dev_from_train=10,
    counts={"test": counted("en 440 ar 921 bn 113 fi 782 id 565 ko 276 ru 812 sw 499 te 669")},
)

_TATOEBA_LANGUAGES = (
    "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw zh kk tr et fi hu "
    "az lt pl uk ro"
).split()
_TATOEBA_SMALL = counted("jv 205 te 234 ta 307 sw 390 th 548 kk 575 ml 687 ka 746")
# LASER's v1 files; queries are English.
TATOEBA = _retrieval(
    id="tatoeba",
    title="Tatoeba: sentence retrieval",
    kind="bitext",
    languages=tuple(_TATOEBA_LANGUAGES),
    main=("accuracy",),
    licence="CC BY 2.0 FR",
    homepage="https://github.com/facebookresearch/LASER",
    citation="Artetxe and Schwenk (2019), Massively Multilingual Sentence Embeddings",
    layouts=(
        Layout("bitext.tatoeba", test="tatoeba/tatoeba.{iso3}-eng"),
        Layout("bitext.tatoeba_prepared", test="tatoeba/{lang}-en"),
    ),
    cluster="English sentence",
    counts={"test": {code: _TATOEBA_SMALL.get(code, 1000) for code in _TATOEBA_LANGUAGES}},
)

# A mention in the news and its entity among a million descriptions in fifty languages.
MEWSLIX = _retrieval(
    id="mewslix",
    title="Mewsli-X: multilingual entity linking",
    languages=("ar", "de", "en", "es", "fa", "ja", "pl", "ro", "ta", "tr", "uk"),
    licence="Apache 2.0, text CC BY 2.5",
    homepage="https://github.com/google-research/google-research",
    citation="Ruder et al. (2021), XTREME-R: Towards More Challenging and Nuanced Multilingual Evaluation",
    layouts=(
        Layout.by_split("isogloss.tasks.mewslix:read", "mewslix/wikinews_mentions-{split}.jsonl", "test", "dev"),
        # As downloaded: with ids and entities but without article text.
        Layout.by_split(
            "isogloss.tasks.mewslix:read", "mewslix/wikinews_mentions_no_text-{split}.jsonl", "test", "dev"
        ),
        Layout.by_split("isogloss.tasks.mewslix:read", "mewslix/wikinews_mentions/{split}-{lang}.jsonl", "test", "dev"),
        # Mentions in English Wikipedia with their entities. Their dev portion differs from WikiNews'.
        Layout("isogloss.tasks.mewslix:read_pairs", train="mewslix/wikipedia_pairs-train.jsonl"),
    ),
    cluster="document",
    options={"single_target": True},
    counts={
        "test": counted("ar 1501 de 1551 en 1490 es 1552 fa 458 ja 1519 pl 1562 ro 672 ta 1567 tr 1215 uk 1537"),
        "dev": counted("ar 318 de 326 en 316 es 311 fa 72 ja 310 pl 304 ro 145 ta 312 tr 262 uk 315"),
        "train": counted("en 167719"),
    },
)

# One pool of eleven languages, with one correct answer per language.
LAREQA = _retrieval(
    id="lareqa",
    title="LAReQA: answer retrieval from a multilingual pool",
    languages=("ar", "de", "el", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"),
    licence="CC BY-SA 4.0",
    homepage="https://github.com/google-research-datasets/lareqa",
    citation="Roy et al. (2020), LAReQA: Language-Agnostic Answer Retrieval from a Multilingual Pool",
    layouts=(Layout("isogloss.tasks.lareqa:read", test="lareqa/xquad-r/{lang}.json"),),
    # The questions are XQuAD's, so both tasks are resampled together.
    parallel="xquad",
    cluster="article",
    counts={
        "test": 1190,
        "candidates": counted("ar 1222 de 1276 el 1234 en 1180 es 1215 hi 1244 ru 1219 th 852 tr 1167 vi 1209 zh 1196"),
    },
)

# XTREME only; its test set is BUCC's training set.
BUCC = _retrieval(
    id="bucc",
    title="BUCC 2018: bitext mining",
    kind="mining",
    languages=("de", "fr", "ru", "zh"),
    main=("f1",),
    licence="research use",
    homepage="https://comparable.limsi.fr/bucc2018",
    citation="Zweigenbaum et al. (2018), Overview of the Third BUCC Shared Task",
    layouts=(
        Layout("bitext.bucc", test="bucc/{lang}-en/{lang}-en.training", dev="bucc/{lang}-en/{lang}-en.sample"),
        Layout.by_split("bitext.bucc", "bucc2018/{lang}-en.{split}", "test", "dev"),
        Layout("bitext.bucc", test="bucc2018/{lang}-en/{lang}-en.training", dev="bucc2018/{lang}-en/{lang}-en.sample"),
    ),
    # Only counts of gold pairs are official; sentences are not counted.
    counts={
        "test-pairs": counted("de 9580 fr 9086 ru 14435 zh 1899"),
        "dev-pairs": counted("de 1038 fr 929 ru 2374 zh 257"),
    },
)

_ALL = (XNLI, XCOPA, UDPOS, WIKIANN, XQUAD, MLQA, TYDIQA, TATOEBA, MEWSLIX, LAREQA, PAWSX, BUCC, MLDOC, CONLL)
SHIPPED = {task.id: task for task in _ALL}


def declared(task_id: str) -> Task:
    """Return a built-in task."""
    return SHIPPED[task_id]
