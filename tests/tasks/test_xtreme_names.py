"""Names of the files that XTREME-R's scripts leave in their `download` folder, and the format of each.

The list was made by reading `scripts/download_data.sh` and `utils_preprocess.py` of google-research/xtreme (commit
838c13b). Left out: `download.log`; `mewslix/wikinews_labels/`, which repeats the entities of the mentions; MLQA's
cross-lingual pairs and LAReQA's `mlqa-r/`, which no task uses; and `*_processed_maxlen*/`, inputs cut for one
tokenizer.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from isogloss.data.tables import rows, written_rows
from isogloss.errors import DataError
from isogloss.systems.neural.fine_tuning import _ENGLISH as SIQA
from isogloss.tasks.loading import load, load_gold
from isogloss.tasks.registry import task

XNLI = "ar bg de el en es fr hi ru sw th tr ur vi zh"
PANX = (
    "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo my zh kk tr et "
    "fi hu qu pl uk az lt pa gu ro"
)
UDPOS = (
    "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur vi yo zh lt pl uk wo ro"
)
TATOEBA = (
    "af ar bg bn de el es et eu fa fi fr he hi hu id it ja jv ka kk ko ml mr nl pt ru sw ta te th tl tr ur vi zh az lt "
    "pl uk ro"
)
MEWSLIX = "ar de en es fa ja pl ro ta tr uk"
XQUAD = "ar de el en es hi ru th tr vi zh"
GOLDP = "tydiqa/tydiqa-goldp-v1.1"

# Task, split, languages, and the names of the files that together hold the split.
NAMES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("xnli", "train", "en", ("xnli/train-{lang}.tsv",)),
    ("xnli", "dev", XNLI, ("xnli/dev-{lang}.tsv",)),
    ("xnli", "test", XNLI, ("xnli/test-{lang}.tsv",)),
    ("pawsx", "train", "en", ("pawsx/train-{lang}.tsv",)),
    ("pawsx", "dev", "en de es fr ja ko zh", ("pawsx/dev-{lang}.tsv",)),
    ("pawsx", "test", "en de es fr ja ko zh", ("pawsx/test-{lang}.tsv",)),
    *(("wikiann", split, PANX, (f"panx/{split}-{{lang}}.tsv",)) for split in ("train", "dev", "test")),
    ("udpos", "train", "en", ("udpos/train-{lang}.tsv",)),
    ("udpos", "dev", "en", ("udpos/dev-{lang}.tsv",)),
    ("udpos", "test", UDPOS, ("udpos/test-{lang}.tsv",)),
    ("tatoeba", "test", TATOEBA, ("tatoeba/{lang}-en.{lang}", "tatoeba/{lang}-en.en")),
    ("bucc", "test", "zh ru de fr", ("bucc2018/{lang}-en.test.{lang}", "bucc2018/{lang}-en.test.en")),
    (
        "bucc",
        "dev",
        "zh ru de fr",
        ("bucc2018/{lang}-en.dev.{lang}", "bucc2018/{lang}-en.dev.en", "bucc2018/{lang}-en.dev.gold"),
    ),
    ("xquad", "train", "en", ("squad/train-v1.1.json",)),
    ("xquad", "dev", "en", ("squad/dev-v1.1.json",)),
    ("xquad", "test", XQUAD, ("xquad/xquad.{lang}.json",)),
    ("mlqa", "dev", "ar de en es hi vi zh", ("mlqa/MLQA_V1/dev/dev-context-{lang}-question-{lang}.json",)),
    ("mlqa", "test", "ar de en es hi vi zh", ("mlqa/MLQA_V1/test/test-context-{lang}-question-{lang}.json",)),
    ("tydiqa", "train", "ar bn en fi id ko ru sw te", (f"{GOLDP}-train/tydiqa.goldp.{{lang}}.train.json",)),
    ("tydiqa", "test", "ar bn en fi id ko ru sw te", (f"{GOLDP}-dev/tydiqa.goldp.{{lang}}.dev.json",)),
    ("xcopa", "train", "en", ("xcopa/train-{lang}.jsonl",)),
    ("xcopa", "dev", "en et ht id it qu sw ta th tr vi zh", ("xcopa/val-{lang}.jsonl",)),
    ("xcopa", "test", "en et ht id it qu sw ta th tr vi zh", ("xcopa/test-{lang}.jsonl",)),
    ("mewslix", "train", "en", ("mewslix/wikipedia_pairs-train.jsonl",)),
    ("mewslix", "dev", MEWSLIX, ("mewslix/wikinews_mentions/dev-{lang}.jsonl", "mewslix/candidate_set_entities.jsonl")),
    (
        "mewslix",
        "test",
        MEWSLIX,
        ("mewslix/wikinews_mentions/test-{lang}.jsonl", "mewslix/candidate_set_entities.jsonl"),
    ),
    ("lareqa", "test", XQUAD, ("lareqa/xquad-r/{lang}.json",)),
)
QUOTED = 'he said "no", twice'


def _pairs(split: str, labels: tuple[str, ...]) -> str:
    """Write pairs as the scripts do: by csv.writer, and without test labels."""
    table = io.StringIO()
    rows = ((QUOTED, "b", labels[0]), ("c", "d", labels[1]))
    csv.writer(table, delimiter="\t").writerows(row[: 2 if split == "test" else 3] for row in rows)
    return table.getvalue()


def _questions(split: str, *, article: bool = False) -> str:
    """Write questions as the scripts do: an article each, train ids of one digit, test answers empty."""
    answers = [{"answer_start": 0, "text": "" if split == "test" and not article else "c"}]
    ids = ["4", "4"] if split == "train" and not article else ["x--1-4", "x--2-4"]
    parts = [{"context": f"c{n}", "qas": [{"id": i, "question": "q", "answers": answers}]} for n, i in enumerate(ids)]
    if article:
        parts = [{**part, "sentences": ["c0"], "sentence_breaks": [[0, 2]]} for part in parts]
    return json.dumps({"version": "1", "data": [{"paragraphs": [part]} for part in parts]})


def _copa(split: str) -> str:
    labels = (0, 0) if split == "test" else (0, 1)
    return "".join(
        json.dumps({"premise": "p", "choice1": "a", "choice2": "b", "question": "cause", "label": label, "idx": idx})
        + "\n"
        for idx, label in enumerate(labels)
    )


ENTITY = {
    "entity_id": "Q1",
    "description": "ab",
    "description_language": "en",
    "sentence_spans": [{"start": 0, "end": 2}],
}


def _mentions(split: str, language: str) -> str:
    span = {"start": 0, "end": 2}
    context = {"document_id": "d", "language": language, "text": "ab", "sentence_spans": [span]}
    target = "" if split == "test" else "Q1"
    mention = {"example_id": f"{language}-1", "mention_span": {**span, "text": "ab"}, "entity_id": target}
    if split == "train":
        return json.dumps({"contextual_mention": {"context": context, "mention": mention}, "entity": ENTITY}) + "\n"
    return json.dumps({"context": context, "mentions": [mention]}) + "\n"


CONTENT: dict[str, Callable[[str, str, str], str]] = {
    "xnli": lambda name, split, language: _pairs(split, ("entailment", "neutral")),
    "pawsx": lambda name, split, language: _pairs(split, ("0", "1")),
    "wikiann": lambda name, split, language: "a\nb\n" if split == "test" else "a\tB-PER\nb\tO\n",
    "udpos": lambda name, split, language: "a\nb\n" if split == "test" else "a\tNOUN\nb\tVERB\n",
    "tatoeba": lambda name, split, language: "a\nb\n",
    "bucc": lambda name, split, language: (
        "x-1\ty-1\n" if name.endswith("gold") else f"{'y' if name.endswith('.en') else 'x'}-1\ttext\n"
    ),
    "xquad": lambda name, split, language: _questions(split),
    "mlqa": lambda name, split, language: _questions(split),
    "tydiqa": lambda name, split, language: _questions(split),
    "xcopa": lambda name, split, language: _copa(split),
    "mewslix": lambda name, split, language: (
        json.dumps(ENTITY) + "\n" if "candidate" in name else _mentions(split, language)
    ),
    "lareqa": lambda name, split, language: _questions(split, article=True),
}


def _cells() -> Iterator[tuple[str, str, str, tuple[str, ...]]]:
    for name, split, languages, files in NAMES:
        for language in languages.split():
            yield name, split, language, tuple(file.format(lang=language) for file in files)


@pytest.fixture(scope="module")
def download(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every file of the list."""
    root = tmp_path_factory.mktemp("download")
    for name, split, language, files in _cells():
        for file in files:
            path = root / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(CONTENT[name](file, split, language).encode())
    return root


def test_every_name_is_read_as_its_task(download: Path) -> None:
    for name, split, language, files in _cells():
        any_size = replace(task(name), counts={})
        examples = load(any_size, language, split, download)
        assert {str(download / file) for file in files} <= {*examples.sources}, (name, split, language)
        # The scripts remove the labels of test sets, except LAReQA's (and XCOPA's become 0).
        assert examples.has_gold == (split != "test" or name in ("xcopa", "lareqa")), (name, split, language)


def test_list_covers_the_suites(download: Path) -> None:
    listed = {(name, language) for name, split, language, _ in _cells() if split == "test"}
    for name in sorted({name for name, _ in listed}):
        assert {language for other, language in listed if other == name} >= {*task(name).languages}


def test_quotes_of_the_csv_writer_are_removed(download: Path) -> None:
    assert load(replace(task("xnli"), counts={}), "sw", "dev", download).text_a[0] == QUOTED
    assert b'"he said ""no"", twice"' in (download / "xnli/dev-sw.tsv").read_bytes()


@pytest.mark.parametrize("lines", ['"d"\te\n"f"\tg\n', '"d"\te\r\n"a" b\tc\r\n', '"d"\te\r\na\tb "c"\r\n'])
def test_quotes_of_the_text_are_kept(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(lines.encode())
    assert written_rows(path, 2) == [line.split("\t") for line in lines.splitlines()]


def test_published_quotes_are_kept(data_dir: Path) -> None:
    for prepared, published in (("test-de", "test-de"), ("test-zh", "test-zh"), ("dev-zh", "validation-zh")):
        ours = written_rows(data_dir / f"pawsx/{prepared}.tsv.xz", (2, 3))
        theirs = list(rows(data_dir / f"pawsx/with_id_and_label/{published}.tsv.xz", 4))[1:]
        assert [row[:2] for row in ours] == [row[1:3] for row in theirs]


def test_original_ids_are_preferred_in_tydiqa(download: Path, tmp_path: Path) -> None:
    assert load("tydiqa", "ko", "train", download).ids == ["train-0", "train-1"]
    whole = json.loads(_questions("dev"))
    whole["data"][0]["paragraphs"][0]["qas"][0]["id"] = "korean-1-0"
    for name, text in (("tydiqa.goldp.ko.train", _questions("train")), ("tydiqa-goldp-v1.1-train", json.dumps(whole))):
        path = tmp_path / f"{GOLDP}-train/{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert load("tydiqa", "ko", "train", tmp_path).ids == ["korean-1-0"]


def test_labels_set_to_zero_are_not_gold(download: Path, tmp_path: Path) -> None:
    path = tmp_path / "xcopa/test-et.jsonl"
    path.parent.mkdir()
    line = _copa("test").splitlines()[0]
    path.write_text("".join(line.replace('"idx": 0', f'"idx": {idx}') + "\n" for idx in range(500)))
    with pytest.raises(DataError, match="every gold label is 0"):
        load_gold(task("xcopa"), "et", "test", tmp_path)


def test_social_iqa_is_where_the_scripts_unpack_it() -> None:
    assert "siqa/socialIQa_v1.4_trn.jsonl" in SIQA
