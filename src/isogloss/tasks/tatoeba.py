"""Tatoeba: for each English sentence find its translation, in forty-one languages (LASER's v1 files)."""

from isogloss.tasks.task import Layout, Task

_LANGUAGES = (
    "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw zh kk tr et fi hu "
    "az lt pl uk ro"
).split()
_SMALL = {"jv": 205, "te": 234, "ta": 307, "sw": 390, "th": 548, "kk": 575, "ml": 687, "ka": 746}

TASK = Task(
    id="tatoeba",
    title="Tatoeba: sentence retrieval",
    kind="bitext",
    category="retrieval",
    languages=tuple(_LANGUAGES),
    main=("accuracy",),
    layouts=(
        Layout("bitext.tatoeba", test="tatoeba/tatoeba.{iso3}-eng"),
        Layout("bitext.tatoeba_prepared", test="tatoeba/{lang}-en"),
    ),
    counts={"test": {code: _SMALL.get(code, 1000) for code in _LANGUAGES}},
    cluster="English sentence",
    licence="CC BY 2.0 FR",
    homepage="https://github.com/facebookresearch/LASER",
    citation="Artetxe and Schwenk (2019), Massively Multilingual Sentence Embeddings",
)
