"""UD-POS: universal part-of-speech tags, in thirty-eight languages (UD 2.5; 2.7 for lt pl ro uk wo)."""

from isogloss.tasks.task import Layout, Task, counted

_UPOS = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X"
_TEST = (
    "af 425 ar 1680 bg 1116 de 22358 el 456 en 5440 es 3147 et 3760 eu 1799 fa 600 fi 4422 fr 5009 he 491 hi 2684 "
    "hu 449 id 1557 it 3518 ja 2372 kk 1047 ko 4276 lt 739 mr 47 nl 1471 pl 4942 pt 2681 ro 2272 ru 8976 ta 120 "
    "te 146 th 1000 tl 55 tr 4785 uk 892 ur 535 vi 800 wo 470 yo 100 zh 3455"
)
_DEV = (
    "af 194 ar 909 bg 1115 de 19233 el 403 en 3974 es 3054 et 3125 eu 1798 fa 599 fi 3239 fr 2903 he 484 hi 1659 "
    "hu 441 id 559 it 2278 ja 511 ko 3016 lt 672 mr 46 nl 1394 pl 3960 pt 1770 ro 2247 ru 8108 ta 80 te 131 tr 988 "
    "uk 672 ur 552 vi 800 wo 449 zh 1000"
)


TASK = Task(
    id="udpos",
    title="UD-POS: part-of-speech tagging",
    kind="tagging",
    category="structured",
    languages=tuple(counted(_TEST)),
    main=("f1",),
    layouts=(
        Layout(
            "tagged.treebanks",
            test="udpos/conllu/{lang}_*-ud-test.conllu",
            dev="udpos/conllu/{lang}_*-ud-dev.conllu",
            train="udpos/conllu/{lang}_*-ud-train*.conllu",
        ),
        Layout.by_split("tagged.words", "udpos/xtreme_r_tsv/{split}-{lang}.tsv"),
        Layout.by_split("tagged.words", "udpos/{split}-{lang}.tsv"),
    ),
    counts={"test": counted(_TEST), "dev": counted(_DEV)},
    cluster="sentence",
    # A "_" survives from treebanks that leave a word untagged.
    options={"labels": (*_UPOS.split(), "_"), "dialect": "conll"},
    licence="per treebank, mostly CC BY-SA 4.0 or CC BY-NC-SA",
    homepage="https://universaldependencies.org",
    citation="Nivre et al. (2018), Universal Dependencies 2.x",
)
