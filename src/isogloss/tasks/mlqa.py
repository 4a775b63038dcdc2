"""MLQA: questions over Wikipedia paragraphs, in seven languages; question and context in the same one."""

from isogloss.tasks.task import Layout, Task, counted

_FILE = "{split}/{split}-context-{lang}-question-{lang}.json"

TASK = Task(
    id="mlqa",
    title="MLQA: extractive question answering",
    kind="qa",
    category="qa",
    languages=("en", "ar", "de", "es", "hi", "vi", "zh"),
    main=("f1", "em"),
    layouts=(
        Layout.by_split("questions.one_language", f"mlqa/{_FILE}", "test", "dev"),
        Layout.by_split("questions.one_language", f"mlqa/MLQA_V1/{_FILE}", "test", "dev"),
        Layout("questions.english", train="squad/train-v1.1.json"),
    ),
    counts={
        "test": counted("en 11590 de 4517 es 5253 ar 5335 zh 5137 vi 5495 hi 4918"),
        "dev": counted("en 1148 de 512 es 500 ar 517 zh 504 vi 511 hi 507"),
    },
    parallel="mlqa",
    cluster="article",
    options={"dialect": "mlqa"},
    licence="CC BY-SA 3.0",
    homepage="https://github.com/facebookresearch/MLQA",
    citation="Lewis et al. (2020), MLQA: Evaluating Cross-lingual Extractive Question Answering",
)
