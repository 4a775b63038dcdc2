"""XCOPA: which of two sentences is the cause or the effect of a third, in eleven languages."""

from isogloss.tasks.task import Layout, Task

TASK = Task(
    id="xcopa",
    title="XCOPA: choice of plausible alternatives",
    kind="choice",
    category="classification",
    languages=("et", "ht", "id", "it", "qu", "sw", "ta", "th", "tr", "vi", "zh"),
    also=("en",),
    main=("accuracy",),
    layouts=(
        Layout(
            "copa.copa",
            test="xcopa/data/{lang}/test.{lang}.jsonl",
            dev="xcopa/data/{lang}/val.{lang}.jsonl",
            train="xcopa/data/{lang}/train.{lang}.jsonl",
        ),
        Layout("copa.copa", test="xcopa/{lang}/test.{lang}.jsonl", dev="xcopa/{lang}/val.{lang}.jsonl"),
    ),
    counts={"test": 500, "dev": 100},
    parallel="xcopa",
    licence="CC BY 4.0",
    homepage="https://github.com/cambridgeltl/xcopa",
    citation="Ponti et al. (2020), XCOPA: A Multilingual Dataset for Causal Commonsense Reasoning",
)
