"""Corrupted data files in every layout of every task, and corrupted label folders."""

import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

from fuzz import made
from fuzz.campaign import Campaign, Case
from fuzz.mutators import PACKERS, spoil
from fuzz.oracle import FaultError, attempt, check_scores, check_tidy, command, read_json
from isogloss.data.conllu import tagged_words
from isogloss.tasks.loading import load, load_gold
from isogloss.tasks.mini.make import folder as mini_folder
from isogloss.tasks.registry import task

SQUAD = json.dumps(
    {
        "data": [
            {
                "title": "t",
                "paragraphs": [
                    {
                        "context": f"Ana is {row} years old. Bo is older.",
                        "qas": [
                            {
                                "id": f"english-{row}",
                                "question": "How old?",
                                "answers": [{"text": str(row), "answer_start": 7}],
                            }
                        ],
                        "sentence_breaks": [[0, 23], [24, 36]],
                    }
                    for row in range(10, 22)
                ],
            }
        ]
    }
)
COPA = "".join(
    json.dumps(
        {"premise": f"p{row}", "choice1": "a", "choice2": "b", "question": "cause", "label": row % 2, "idx": row}
    )
    + "\n"
    for row in range(12)
)
CONLLU = "".join(
    f"# sent_id = {row}\n# text = Ana don't sing.\n1\tAna\tAna\tPROPN\t_\t_\t4\tnsubj\t_\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\tdo\tAUX\t_\t_\t4\taux\t_\t_\n3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_\n"
    "4\tsing\tsing\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n4.1\tx\tx\tVERB\t_\t_\t_\t_\t4:x\t_\n5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_\n\n"
    for row in range(6)
)
MENTION = {
    "context": {"language": "de", "text": "Ana sings.", "sentence_spans": [{"start": 0, "end": 10}]},
    "mentions": [{"example_id": "m0", "entity_id": "Q1", "mention_span": {"start": 0, "end": 3, "text": "Ana"}}],
}
ENTITY = {
    "entity_id": "Q1",
    "title": "Ana",
    "description": "A singer.",
    "description_language": "de",
    "sentence_spans": [{"start": 0, "end": 9}],
}
PAIR = {"contextual_mention": {"context": MENTION["context"], "mention": MENTION["mentions"][0]}, "entity": ENTITY}  # type: ignore[index]


def rows(*cells: str) -> str:
    return "".join("\t".join(cell.replace("#", str(row)) for cell in cells) + "\n" for row in range(12))


PAIRS = rows("a#", "b#", "neutral")
WORDS = "".join(f"w{row}\tO\nAna\tB-PER\n.\tO\n\n" for row in range(6))
TAGS = "".join(f"w{row}\tNOUN\nAna\tPROPN\n.\tPUNCT\n\n" for row in range(6))
XNLI_HEADER = "language\tgold_label\ta\tb\tc\td\tsentence1\tsentence2\tpromptID\n"

# (task, language, split) and its files in one layout: all are needed, and one is corrupted.
LAYOUTS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    (
        "xnli",
        "de",
        "test",
        {"xnli/XNLI-1.0/xnli.test.tsv": XNLI_HEADER + rows("de", "neutral", "", "", "", "", "a#", "b#", "1")},
    ),
    ("xnli", "de", "test", {"xnli/test-de.tsv": rows("a#", "b#"), "xnli/test-gold-labels.txt": rows("neutral")}),
    ("xnli", "de", "dev", {"xnli/dev-de.tsv": PAIRS}),
    ("xnli", "de", "train", {"xnli/XNLI-MT-1.0/multinli/multinli.train.de.tsv": "premise\thypo\tlabel\n" + PAIRS}),
    ("pawsx", "de", "test", {"pawsx/de/test_2k.tsv": "id\tsentence1\tsentence2\tlabel\n" + rows("#", "a#", "b#", "1")}),
    ("pawsx", "de", "test", {"pawsx/test-de.tsv": rows("a#", "b#", "1")}),
    ("mldoc", "de", "test", {"mldoc/german.test": rows("CCAT", "text #")}),
    ("mldoc", "de", "dev", {"mldoc/de/dev.tsv": rows("MCAT", "text #")}),
    ("xcopa", "sw", "test", {"xcopa/data/sw/test.sw.jsonl": COPA, "xcopa/data/zh/test.zh.jsonl": COPA}),
    ("xcopa", "zh", "dev", {"xcopa/zh/val.zh.jsonl": COPA}),
    (
        "udpos",
        "de",
        "test",
        {"udpos/conllu/de_gsd-ud-test.conllu": CONLLU, "udpos/conllu/de_pud-ud-test.conllu": CONLLU},
    ),
    ("udpos", "zh", "test", {"udpos/test-zh.tsv": TAGS}),
    ("wikiann", "de", "test", {"wikiann/de/test": "".join(f"de:w{row}\tO\nde:Ana\tB-PER\n\n" for row in range(6))}),
    ("wikiann", "de", "test", {"panx/test-de.tsv": WORDS}),
    ("xquad", "de", "test", {"xquad/xquad.de.json": SQUAD}),
    ("xquad", "en", "dev", {"squad/dev-v1.1.json": SQUAD}),
    ("mlqa", "de", "test", {"mlqa/test/test-context-de-question-de.json": SQUAD}),
    ("mlqa", "de", "dev", {"mlqa/MLQA_V1/dev/dev-context-de-question-de.json": SQUAD}),
    ("tydiqa", "en", "test", {"tydiqa/tydiqa-goldp-v1.1-dev.json": SQUAD}),
    ("tydiqa", "en", "test", {"tydiqa_goldp/english_tydiqa_dev.json": SQUAD}),
    ("tatoeba", "de", "test", {"tatoeba/tatoeba.deu-eng.eng": rows("a#"), "tatoeba/tatoeba.deu-eng.deu": rows("b#")}),
    ("tatoeba", "de", "test", {"tatoeba/de-en.en": rows("a#"), "tatoeba/de-en.de": rows("b#")}),
    (
        "bucc",
        "de",
        "test",
        {
            "bucc/de-en/de-en.training.de": rows("de-#", "a#"),
            "bucc/de-en/de-en.training.en": rows("en-#", "b#"),
            "bucc/de-en/de-en.training.gold": rows("de-#", "en-#"),
        },
    ),
    (
        "mewslix",
        "de",
        "test",
        {
            "mewslix/wikinews_mentions-test.jsonl": json.dumps(MENTION) + "\n",
            "mewslix/candidate_set_entities.jsonl": json.dumps(ENTITY) + "\n",
        },
    ),
    ("mewslix", "en", "train", {"mewslix/wikipedia_pairs-train.jsonl": json.dumps(PAIR) + "\n"}),
    (
        "lareqa",
        "de",
        "test",
        {f"lareqa/xquad-r/{code}.json": SQUAD for code in "ar de el en es hi ru th tr vi zh".split()},
    ),
)


def read_all(name: str, language: str, split: str, data: Path) -> Any:
    """Return the examples with every column, including lazy ones, and the pool."""
    examples = load(name, language, split, data, allow_partial=True)
    columns = [list(examples[column]) for column in examples.columns]
    pool = examples.pool and (list(examples.pool.ids), list(examples.pool.languages), list(examples.pool.text))
    return columns, pool


def test_data_files(campaign: Campaign) -> None:
    def fuzzer(case: Case) -> None:
        rng, data = case.rng, case.folder / "data"
        name, language, split, files = rng.choice(LAYOUTS)
        chosen = rng.choice(list(files))
        for path, text in files.items():
            content, suffix = text.encode(), ""
            if path == chosen:
                content, step = spoil(rng, path, content)
                suffix = rng.choice(("", "", *PACKERS))
                case.tell(f"{name}/{language} {split} {path}{suffix}: {step}")
            target = data / (path + suffix)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(PACKERS[suffix](content))
        attempt(lambda: read_all(name, language, split, data))
        attempt(lambda: load_gold(task(name), language, split, data, allow_partial=True))
        if rng.random() < 0.1:
            words = ("--tasks", name, "--languages", language, "--data", data)
            command(
                "explain", "--bias", *words, "--suite", "xtreme-r", "--json", case.folder / "bias.json", limited=False
            )
            command(
                "export", name, "--split", split, "--languages", language, "--data", data, "--out", case.folder / "out"
            )
        check_tidy(case.folder, set())

    campaign.run(fuzzer, share=0.18)


def test_sound_layouts_are_read(tmp_path: Path) -> None:
    """The files corrupted above are valid originally."""
    for place, (name, language, split, files) in enumerate(LAYOUTS):
        data = tmp_path / str(place)
        for path, text in files.items():
            (data / path).parent.mkdir(parents=True, exist_ok=True)
            (data / path).write_text(text, encoding="utf-8")
        done = attempt(lambda: read_all(name, language, split, data))  # noqa: B023
        # Their only defect is the small number of examples.
        assert not done.refused or re.search(r"candidate sentences, expected|examples, but", done.text), done.text


@cache
def sound_labels(root: Path) -> Path:
    made.label_files(root)
    return root


def test_label_folders(campaign: Campaign, tmp_path: Path) -> None:
    """Gold and answers in XTREME's layout for all tasks, including mining, which the built-in suite lacks."""
    sound = sound_labels(tmp_path / "labels")

    def fuzzer(case: Case) -> None:
        rng = case.rng
        name = rng.choice(made.LABELLED.tasks)
        for side in ("gold", "system"):
            shutil.copytree(sound / side / name, case.folder / side / name)
        [path] = (case.folder / rng.choice(("gold", "gold", "system")) / name).iterdir()
        content, step = spoil(rng, path.name, path.read_bytes())
        case.tell(f"{path.relative_to(case.folder)}: {step}")
        path.write_bytes(content)
        language = path.stem.removeprefix("test-")
        target = case.folder / "results.json"
        words = ("--gold", case.folder / "gold", "--tasks", name, "--languages", language)
        valid = command("validate", case.folder / "system", *words)
        suite = {"bucc": "xtreme", "pawsx": "xtreme", "mldoc": "mldoc"}.get(name, "xtreme-r")
        done = command("score", case.folder / "system", *words, "--suite", suite, "--json", target)
        check_tidy(case.folder, set())
        if not done.refused:
            check_scores(read_json(target))
        elif not valid.refused and path.parent.parent.name == "system":
            raise FaultError(
                "disagreement", f"validate passes it, score says {done.text[:200]!r}", "validate and score"
            )

    campaign.run(fuzzer, share=0.08)


def test_shipped_files(campaign: Campaign, tmp_path: Path) -> None:
    """Public functions that take decoded files or lines."""
    lines = CONLLU.splitlines()
    squad = json.loads((mini_folder() / "lareqa/xquad-r/de.json").read_text(encoding="utf-8"))
    squad["data"][0]["paragraphs"] = squad["data"][0]["paragraphs"][:3]

    def fuzzer(case: Case) -> None:
        from fuzz.mutators import spoil_json
        from isogloss.tasks.lareqa import build
        from isogloss.tasks.mewslix import entity_text, mention_text

        rng = case.rng
        kind = rng.choice(("conllu", "lareqa", "mention", "entity"))
        if kind == "conllu":
            changed = rng.choices(lines, k=rng.randrange(30))
            case.tell(f"{changed}")
            attempt(lambda: list(tagged_words(changed, rng.choice(("de", "fr", "zh")))))
            return
        value, step = spoil_json(rng, {"lareqa": squad, "mention": MENTION, "entity": ENTITY}[kind])
        case.tell(f"{kind}: {step}")
        if not isinstance(value, dict):
            return
        call = {
            "lareqa": lambda: build({"de": value}),
            "mention": lambda: mention_text(value),
            "entity": lambda: entity_text(value),
        }
        attempt(call[kind])

    campaign.run(fuzzer, share=0.04)
