"""WikiANN (PAN-X): named entities in Wikipedia text, in forty-eight languages, balanced splits of Rahimi et al."""

from isogloss.tasks.task import Layout, Task

_LANGUAGES = (
    "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo my zh kk tr "
    "et fi hu qu pl uk az lt pa gu ro"
).split()
_THOUSAND = "af az bn hi kk ml mr ms sw ta te tl ur".split()
_HUNDRED = "gu jv my pa qu yo".split()
_COUNTS = {code: 100 if code in _HUNDRED else 1000 if code in _THOUSAND else 10_000 for code in _LANGUAGES}

TASK = Task(
    id="wikiann",
    title="WikiANN: named entity recognition",
    kind="tagging",
    category="structured",
    languages=tuple(_LANGUAGES),
    main=("f1",),
    layouts=(
        Layout.by_split("tagged.panx", "wikiann/{lang}/{split}"),
        Layout.by_split("tagged.words", "wikiann/{split}-{lang}.tsv"),
        Layout.by_split("tagged.words", "panx/{split}-{lang}.tsv"),
    ),
    counts={"test": _COUNTS, "dev": _COUNTS},
    cluster="sentence",
    options={"labels": ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC"), "dialect": "conll"},
    licence="none stated; text from Wikipedia, CC BY-SA",
    homepage="https://github.com/afshinrahimi/mmner",
    citation="Pan et al. (2017), Cross-lingual Name Tagging; splits of Rahimi et al. (2019)",
)
