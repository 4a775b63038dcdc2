"""TyDiQA-GoldP: questions people really asked, in nine languages; XTREME's test set is the published dev set."""

from isogloss.tasks.task import Layout, Task, counted

TASK = Task(
    id="tydiqa",
    title="TyDiQA-GoldP: extractive question answering",
    kind="qa",
    category="qa",
    languages=("en", "ar", "bn", "fi", "id", "ko", "ru", "sw", "te"),
    main=("f1", "em"),
    layouts=(
        Layout(
            "questions.all_languages",
            test="tydiqa/tydiqa-goldp-v1.1-dev.json",
            train="tydiqa/tydiqa-goldp-v1.1-train.json",
        ),
        Layout("questions.one_language", test="tydiqa/tydiqa-goldp-v1.1-dev/tydiqa-goldp-dev-{name}.json"),
        Layout(
            "questions.one_language",
            test="tydiqa_goldp/{name}_tydiqa_dev.json",
            train="tydiqa_goldp/{name}_tydiqa_train.json",
        ),
        Layout(
            "questions.one_language",
            test="tydiqa/tydiqa-goldp-v1.1-dev/tydiqa.{lang}.dev.json",
            train="tydiqa/tydiqa-goldp-v1.1-train/tydiqa.{lang}.train.json",
        ),
    ),
    counts={"test": counted("en 440 ar 921 bn 113 fi 782 id 565 ko 276 ru 812 sw 499 te 669")},
    cluster="article",
    options={"dialect": "squad"},
    licence="Apache 2.0",
    homepage="https://github.com/google-research-datasets/tydiqa",
    citation="Clark et al. (2020), TyDi QA: A Benchmark for Information-Seeking Question Answering",
)
