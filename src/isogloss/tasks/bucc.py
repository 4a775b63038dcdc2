"""BUCC 2018: mine translation pairs from two comparable corpora (XTREME only; its test is BUCC's training set)."""

from isogloss.tasks.task import Layout, Task, counted

TASK = Task(
    id="bucc",
    title="BUCC 2018: bitext mining",
    kind="mining",
    category="retrieval",
    languages=("de", "fr", "ru", "zh"),
    main=("f1",),
    layouts=(
        Layout("bitext.bucc", test="bucc/{lang}-en/{lang}-en.training", dev="bucc/{lang}-en/{lang}-en.sample"),
        Layout.by_split("bitext.bucc", "bucc2018/{lang}-en.{split}", "test", "dev"),
        Layout("bitext.bucc", test="bucc2018/{lang}-en/{lang}-en.training", dev="bucc2018/{lang}-en/{lang}-en.sample"),
    ),
    # Sentences are not counted by anybody; the gold pairs are.
    counts={
        "test-pairs": counted("de 9580 fr 9086 ru 14435 zh 1899"),
        "dev-pairs": counted("de 1038 fr 929 ru 2374 zh 257"),
    },
    licence="research use",
    homepage="https://comparable.limsi.fr/bucc2018",
    citation="Zweigenbaum et al. (2018), Overview of the Third BUCC Shared Task",
)
