"""Task files: every format, column rule and source, and sentences about wrong ones."""

import csv
import gzip
import json
import lzma
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import LIVING_TASKS, TASKS, canonical
from isogloss.tasks.suites import suite
from isogloss.tasks.task_file import read_task_file

LIVING = Path(isogloss.__file__).parent / "tasks" / "living"
ROWS = [("Mun nyi", "good"), ('she said "no",\nthen left', "bad")]
HEAD = 'kind = "classification"\nlabels = ["good", "bad"]\n'
TAGS = 'kind = "tagging"\nlabels = ["O", "B-PER", "I-PER"]\n'


@pytest.fixture(autouse=True)
def _no_other_tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "no-data"))


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def declare(folder: Path, text: str, name: str = "toy") -> Path:
    return write(folder / f"{name}.toml", text)


def texts(examples: Examples) -> list[tuple[str, str]]:
    return list(zip(examples["text"], examples["label"], strict=True))


def as_csv(rows: list[tuple[str, ...]], **options: Any) -> str:
    from io import StringIO

    stream = StringIO()
    csv.writer(stream, **options).writerows(rows)
    return stream.getvalue()


def as_parquet() -> bytes:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    stream = pa.BufferOutputStream()
    parquet.write_table(pa.table({"text": [text for text, _ in ROWS], "label": [label for _, label in ROWS]}), stream)
    return bytes(stream.getvalue())


def as_zst(content: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(content))


RECORDS = [{"text": text, "label": label} for text, label in ROWS]
CSV = as_csv([("text", "label"), *ROWS])


@pytest.mark.parametrize(
    ("file", "content", "keys"),
    [
        ("csv", CSV, ""),
        ("csv", as_csv([("label", "text"), *(row[::-1] for row in ROWS)], delimiter=";"), "delimiter = ';'"),
        ("csv", as_csv(ROWS), "header = false\ncolumns = { text = 1, label = 2 }"),
        ("txt", CSV, 'format = "csv"'),
        ("csv.gz", gzip.compress(CSV.encode()), ""),
        ("csv.xz", lzma.compress(CSV.encode()), ""),
        ("csv.zst", lambda: as_zst(CSV.encode()), ""),
        ("tsv", as_csv([("text", "label"), *ROWS], delimiter="\t"), "quote = '\"'"),
        ("jsonl", "\n".join(map(json.dumps, RECORDS)), ""),
        ("json", json.dumps(RECORDS), ""),
        ("json", json.dumps({"version": 1, "data": RECORDS}), ""),
        ("json", json.dumps([{"in": {"s": t}, "out": [{"y": g}]} for t, g in ROWS]), None),
        ("parquet", as_parquet, ""),
        ("csv", "\ufeff" + CSV, ""),
    ],
    ids=count(),  # contents would make long names, and packed ones hold the time
)
def test_each_format_gives_the_same_examples(
    tmp_path: Path, file: str, content: str | bytes | Callable[[], bytes], keys: str | None
) -> None:
    if keys is None:
        write(tmp_path / "en" / "test.jsonl", "\n".join(json.dumps({"in": {"s": t}, "y": g}) for t, g in ROWS))
        file, keys = "jsonl", 'columns = { text = "in.s", label = "y" }'
    else:
        write(tmp_path / "en" / f"test.{file}", content() if callable(content) else content)
    path = declare(tmp_path, f'{HEAD}files = "{{language}}/{{split}}.{file.split(".")[0]}"\n{keys}\n')
    examples = isogloss.load(str(path), "en")
    assert texts(examples) == ROWS
    assert examples.ids == ["test-0", "test-1"]


def test_tsv_has_no_quoting_unless_declared(tmp_path: Path) -> None:
    write(tmp_path / "test.tsv", 'text\tlabel\n"a" b\tgood\n')
    task = isogloss.task(str(declare(tmp_path, HEAD + 'languages = "en"\nfiles = { test = "test.tsv" }')))
    assert list(isogloss.load(task, "en")["text"]) == ['"a" b']


def test_conll_and_conllu(tmp_path: Path) -> None:
    write(tmp_path / "bam" / "test.conll", "-DOCSTART- O\n\nAwa NN B-PER\nKeita NN I-PER\n\n-DOCSTART- O\n\nse V O\n")
    rows = ["1\tAwa\t_\tPROPN\t_\t_\t0\troot\t_\t_", "2\tnana\t_\tVERB\t_\t_\t1\tdep\t_\tSpaceAfter=No"]
    write(tmp_path / "zul" / "test.conllu", "# sent_id = 7\n# text = Awa nana\n" + "\n".join(rows) + "\n\n")
    keys = 'files = "{language}/{split}.conll"\ncolumns = { cluster = "document" }\n'
    entities = isogloss.load(str(declare(tmp_path, TAGS + keys, "ner")), "bm")
    assert list(entities["tokens"]) == [["Awa", "Keita"], ["se"]]
    assert list(entities["tags"]) == [["B-PER", "I-PER"], ["O"]]
    assert list(entities["text"]) == ["Awa Keita", "se"]
    assert entities.clusters == ["bm:1", "bm:2"]
    keys = 'kind = "tagging"\nlabels = ["PROPN", "VERB"]\nfiles = "{language}/{split}.conllu"\ncolumns.id = "sent_id"\n'
    words = isogloss.load(str(declare(tmp_path, keys, "pos")), "zu")
    assert (words.ids, list(words["tags"]), list(words["offsets"])) == (["7"], [["PROPN", "VERB"]], [[(0, 3), (4, 8)]])


def test_columns_of_a_conll_file_by_number(tmp_path: Path) -> None:
    write(tmp_path / "en.conll", "Awa B-PER x\nse O y\n")
    keys = 'languages = ["en"]\nfiles = { test = "en.conll" }\ncolumns = { tags = 2 }\n'
    assert list(isogloss.load(str(declare(tmp_path, TAGS + keys)), "en")["tags"]) == [["B-PER", "O"]]


def test_squad_and_a_table_of_questions(tmp_path: Path) -> None:
    article = {
        "context": "Bamako is large.",
        "qas": [{"id": "q1", "question": "Which?", "answers": [{"text": "Bamako"}]}],
    }
    squad = {"data": [{"title": "Mali", "paragraphs": [article]}]}
    write(tmp_path / "bm.json", json.dumps(squad))
    table = {"id": "q1", "question": "Which?", "context": "Bamako is large.", "answers": {"text": ["Bamako"]}}
    write(tmp_path / "bm.jsonl", json.dumps(table))
    for name, suffix in (("squad", "json"), ("table", "jsonl")):
        keys = f'kind = "qa"\nfiles = {{ test = "{{language}}.{suffix}" }}\n' + 'columns.cluster = "title"\n' * (
            name == "squad"
        )
        examples = isogloss.load(str(declare(tmp_path, keys, name)), "bm")
        assert (examples.ids, list(examples["answers"])) == (["q1"], [["Bamako"]])
        assert examples.clusters == (["bm:Mali"] if name == "squad" else None)
    assert list(examples["answer_starts"]) == [[0]]
    assert isogloss.task("squad").main == ("f1", "em")


def test_choices_from_several_columns(tmp_path: Path) -> None:
    write(tmp_path / "sw.csv", "premise,question,a,b,answer\np,cause,x,y,B\n")
    keys = 'kind = "choice"\nfiles = { test = "{language}.csv" }\nlabels = { A = "0", B = "1" }\n'
    keys += 'columns = { choices = ["a", "b"], label = "answer" }\n'
    examples = isogloss.load(str(declare(tmp_path, keys)), "sw")
    assert (list(examples["choices"]), list(examples["label"])) == ([("x", "y")], [1])


def test_one_file_for_all_languages_and_splits(tmp_path: Path) -> None:
    lines = [
        "lang,part,text,label",
        "bam,test,a,good",
        "English,test,b,bad",
        "zul_Latn,validation,c,good",
        "??,test,d,bad",
    ]
    write(tmp_path / "all.csv", "\n".join(lines))
    path = declare(tmp_path, HEAD + 'files = "all.csv"\ncolumns = { language = "lang", split = "part" }\n')
    with pytest.warns(UserWarning, match=r"'\?\?' is not a language"):
        task = isogloss.task(str(path))
    assert (task.languages, task.also) == (("bm", "en"), ("zu",))
    with pytest.warns(UserWarning, match=r"all.csv:5: '\?\?' is not a language; 1 rows are left out"):
        assert texts(isogloss.load(task, "en")) == [("b", "bad")]
    with pytest.warns(UserWarning, match="not a language"):
        assert texts(isogloss.load(task, "zu", "dev")) == [("c", "good")]


@pytest.mark.slow
def test_hub_dataset_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    label = datasets.ClassLabel(names=["good", "bad"])
    features = datasets.Features({"text": datasets.Value("string"), "label": label})
    columns = {"text": [text for text, _ in ROWS], "label": [0, 1]}
    saved = datasets.DatasetDict({"validation": datasets.Dataset.from_dict(columns, features=features)})
    saved.save_to_disk(str(tmp_path / "copy" / "bam"))
    write(tmp_path / "plain" / "test.jsonl", "\n".join(map(json.dumps, RECORDS)))
    keys = 'languages = ["bam"]\nhub = "./copy"\nconfig = "{language}"\n'
    copied = isogloss.load(str(declare(tmp_path, HEAD + keys, "copied")), "bm", "dev")
    # A clone of the hub's repository: a Parquet file per split, and the configurations in the card.
    card = "configs:\n- config_name: bam\n  data_files:\n  - split: validation\n    path: bam/validation-*"
    write(tmp_path / "clone" / "README.md", f"---\n{card}\n---\n")
    (tmp_path / "clone" / "bam").mkdir()
    saved["validation"].to_parquet(str(tmp_path / "clone" / "bam" / "validation-00000-of-00001.parquet"))
    cloned = isogloss.load(str(declare(tmp_path, HEAD + keys.replace("copy", "clone"), "cloned")), "bm", "dev")
    assert texts(cloned) == ROWS
    plain = isogloss.load(str(declare(tmp_path, HEAD + 'languages = ["bam"]\nhub = "./plain"\n', "plain")), "bm")
    assert texts(copied) == texts(plain) == ROWS
    assert copied.checksum != plain.checksum
    with pytest.raises(DataError, match="no test file"):
        isogloss.load("copied", "bm")


def test_languages_are_found_by_their_files(tmp_path: Path) -> None:
    for name in ("bam", "zul", "swh_Latn", "notes"):
        write(tmp_path / name / "test.csv", CSV)
    write(tmp_path / "eng" / "train.csv", CSV)
    path = declare(tmp_path, HEAD + 'files = "{language}/{split}.csv"\n')
    with pytest.warns(UserWarning, match="'notes' is not a language"):
        task = isogloss.task(str(path))
    assert (task.languages, task.also) == (("bm", "sw", "zu"), ("en",))
    assert task.codes["sw"] == "swh_Latn"
    assert texts(isogloss.load(task, "sw")) == texts(isogloss.load(task, "en", "train")) == ROWS


def test_unknown_language_in_the_list_does_not_affect_others(tmp_path: Path) -> None:
    for name in ("en", "klingon"):
        write(tmp_path / f"{name}.csv", CSV)
    path = declare(tmp_path, HEAD + 'languages = ["en", "klingon"]\nfiles = { test = "{language}.csv" }\n')
    with pytest.warns(UserWarning, match="unknown language 'klingon'"):
        task = isogloss.task(str(path))
    assert [texts(isogloss.load(task, code)) for code in task.languages] == [ROWS, ROWS]


def test_training_file_without_a_language_is_english(tmp_path: Path) -> None:
    write(tmp_path / "bm.csv", CSV)
    write(tmp_path / "train.csv", CSV)
    keys = 'files = { test = "{language}.csv", train = "train.csv" }\nlanguages = ["bm"]\nalso = ["en"]\n'
    task = isogloss.task(str(declare(tmp_path, HEAD + keys)))
    assert texts(isogloss.load(task, "en", "train")) == ROWS
    with pytest.raises(DataError, match="no train file"):
        isogloss.load(task, "bm", "train")


def test_labels_units_and_clusters(tmp_path: Path) -> None:
    write(
        tmp_path / "bm.jsonl",
        '{"text": "a", "label": 0, "of": 7, "page": "x"}\n{"text": "b", "label": 1, "of": 9, "page": "x"}\n',
    )
    keys = 'kind = "classification"\nlabels = { 0 = "no", 1 = "yes" }\nfiles = { test = "{language}.jsonl" }\n'
    keys += 'parallel = true\ncolumns = { unit = "of", cluster = "page" }\n'
    examples = isogloss.load(str(declare(tmp_path, keys)), "bm")
    assert list(examples["label"]) == ["no", "yes"]
    assert (examples.units, examples.clusters) == (["7", "9"], ["x", "x"])
    assert isogloss.task("toy").cluster == "page"


def test_file_without_gold_is_read_without_it(tmp_path: Path) -> None:
    write(tmp_path / "bm.csv", "text,label\na,\nb,\n")
    task = isogloss.task(str(declare(tmp_path, HEAD + 'files = { test = "{language}.csv" }\n')))
    assert not isogloss.load(task, "bm").has_gold


def test_files_are_next_to_the_task_file_or_in_data(tmp_path: Path) -> None:
    keys = HEAD + 'languages = ["en"]\nfiles = { test = "sets/{language}.csv", dev = "sets/dev-{language}.csv" }\n'
    path = declare(tmp_path / "mine", keys)
    write(tmp_path / "mine" / "sets" / "en.csv", CSV)
    write(tmp_path / "data" / "sets" / "dev-en.csv", CSV)
    for split in ("test", "dev"):
        assert texts(isogloss.load(str(path), "en", split, data=tmp_path / "data")) == ROWS
    path = declare(tmp_path / "other", keys + 'data = "../mine"\n', "toy2")
    assert texts(isogloss.load(str(path), "en")) == ROWS
    with pytest.raises(DataError, match="no dev file of toy2/en") as caught:
        isogloss.load(str(path), "en", "dev")
    assert str(tmp_path / "mine") in str(caught.value)


def test_checksum_depends_on_how_files_are_read(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", CSV)
    keys = HEAD + 'files = { test = "{language}.csv" }\n'
    first = isogloss.load(str(declare(tmp_path, keys)), "en").checksum
    assert isogloss.load(str(declare(tmp_path, keys + 'title = "Toy"\n')), "en").checksum == first
    assert isogloss.load(str(declare(tmp_path, keys + 'columns.label = "label"\n')), "en").checksum != first


FILES = 'files = { test = "{language}.csv" }\n'


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ('kind = "classifcation"\n', "unknown kind 'classifcation'. Did you mean classification"),
        ("", "missing kind"),
        (HEAD + "lables = []\n", "unknown key of a task file 'lables'. Did you mean labels"),
        (HEAD + 'kind2 = "x"\n', "toy.toml: unknown key of a task file 'kind2'"),
        (HEAD, "missing files"),
        (HEAD + 'files = "{tongue}.csv"\n', "unknown placeholder 'tongue'"),
        (HEAD + 'files = "{language.csv"\n', "unbalanced braces"),
        (HEAD + 'files = { tset = "a.csv" }\n', "unknown split 'tset'. Did you mean test"),
        ('kind = "classification"\n' + FILES, "missing labels, which kind 'classification' needs"),
        (HEAD + FILES + "columns = { lable = 'x' }\n", "'lable'. Did you mean label"),
        (HEAD + FILES + "columns = { label = 0 }\n", "label = 0 is not a column's name"),
        (HEAD + FILES + "header = 1\n", "header = 1 is not true or false"),
        (HEAD + FILES + 'format = "cvs"\n', "unknown format 'cvs'. Did you mean csv"),
        (HEAD + FILES + 'delimiter = "||"\n', "delimiter = '||' is not one character"),
        (HEAD + FILES + 'id = "../x"\n', "'../x' cannot be the id of a task"),
        (HEAD + FILES + 'languages = ["../x"]\n', "unknown language '../x'"),
        (HEAD + FILES + 'languages = ["sw", "swh"]\n', "languages has sw twice"),
        (HEAD + FILES, "no languages found: no file matches {language}.csv"),
        (HEAD + FILES + 'languages = ["en"]\ncounts = { test = "en" }\n', "'en' is not a number of examples"),
        (HEAD + FILES + 'languages = ["en"]\ncounts = { test = "sw 4" }\n', "unknown language of the task 'sw'"),
        (HEAD + FILES + 'languages = ["en"]\nsynonyms = { god = ["x"] }\n', "unknown label 'god'. Did you mean good"),
        (HEAD + 'hub = "owner/name"\nlanguages = ["en"]\n', "missing revision of the hub dataset"),
        (HEAD + FILES + 'revision = "1"\n', "revision without hub"),
        ('kind = "pool"\n' + FILES, "need candidates"),
        ("kind = ", "not TOML"),
        (HEAD + FILES + 'languages = ["en"]\nunits = { colum = "x" }\n', "unknown key of [units] 'colum'"),
    ],
)
def test_wrong_task_files(tmp_path: Path, keys: str, message: str) -> None:
    path = declare(tmp_path, keys)
    with pytest.raises(IsoglossError) as caught:
        isogloss.task(str(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


LONG = "a" * 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "en.csv: the file is empty"),
        ("text,label\n", "en.csv: the file is empty"),
        ("text,label\na,good\nb\n", "en.csv:3: expected 2 columns, got 1"),
        ("sentence,label\na,good\n", "its kind needs the columns text, or text_a and text_b, with the gold in label"),
        ("text,label\na,goood\n", "en.csv:2: unknown label 'goood', not one of good, bad. Did you mean good"),
        ("id,text,label\n1,a,good\n1,b,bad\n", "en.csv:3: duplicate id '1', first in "),
        ("id,text,label\n,a,good\n", "en.csv:2: column 'id': the row has no id"),
        ("text,label\na,good\nb,\n", "en.csv:3: the row has no label, but others have"),
        ('text,label\n"a,good\n', "not CSV"),
        ("text,text,label\na,b,good\n", "en.csv:1: two columns are named 'text'"),
        (b"text,label\n\xff,good\n", "en.csv:2: not UTF-8: byte 0xff"),
        (f"text,label\n{LONG},good\nb\n", "en.csv:3: expected 2 columns, got 1"),
    ],
)
def test_wrong_tables(tmp_path: Path, content: str | bytes, message: str) -> None:
    write(tmp_path / "en.csv", content)
    with pytest.raises(DataError) as caught:
        isogloss.load(str(declare(tmp_path, HEAD + FILES)), "en")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("en.jsonl", '{"text": "a", "label": "good"}\n{"text": \n', "en.jsonl:2: not a JSON object per line"),
        (
            "en.jsonl",
            '{"text": "a", "label": "good"}\n{"label": "bad"}\n',
            "en.jsonl:2: column 'text': expected a text",
        ),
        ("en.jsonl", '{"text": ["a"], "label": "good"}\n', "en.jsonl:1: column 'text': expected a text, got ['a']"),
        ("en.json", '{"text": "a"}', "expected a JSON array of objects"),
        ("en.json", "[]", "the file is empty"),
        ("en.parquet", "PAR1", "not Parquet"),
        ("en.dat", "x", "unknown file format"),
    ],
)
def test_wrong_records(tmp_path: Path, file: str, content: str, message: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow")
    write(tmp_path / file, content)
    keys = HEAD + f'files = {{ test = "{{language}}{Path(file).suffix}" }}\n'
    with pytest.raises(DataError) as caught:
        isogloss.load(str(declare(tmp_path, keys)), "en")
    assert message in str(caught.value)


def test_missing_column_suggests_the_nearest(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", "sentense,label\na,good\n")
    with pytest.raises(DataError) as caught:
        isogloss.load(str(declare(tmp_path, HEAD + FILES + 'columns = { text = "sentence" }\n')), "en")
    assert "en.csv:1: expected the columns sentence: has no column sentence. Did you mean 'sentense'?" in str(
        caught.value
    )


def test_sources_of_task_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "mine" / "en.csv", CSV)
    declare(tmp_path / "mine", HEAD + FILES, "first")
    declare(tmp_path / "mine", HEAD + FILES + 'id = "second"\n', "other")
    write(tmp_path / "mine" / "suite.toml", 'tasks = ["first.toml", "xnli"]\n')
    assert isogloss.tasks_from(tmp_path / "mine") == ["first", "second"]
    assert {"first", "second"} <= {*TASKS}
    assert os.environ["ISOGLOSS_TASKS"] == str(tmp_path / "mine")
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    with pytest.raises(UnknownNameError, match="unknown task 'second'"):
        isogloss.task("second")
    assert suite(str(tmp_path / "mine" / "suite.toml")).tasks == ("first", "xnli")
    assert suite(str(tmp_path / "mine" / "other.toml")).tasks == ("second",)
    declare(tmp_path / "data" / "tasks", HEAD + 'data = "../../mine"\n' + FILES, "third")
    assert texts(isogloss.load("third", "en", data=tmp_path / "data")) == ROWS


def test_two_tasks_with_one_id(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", CSV)
    with pytest.raises(DataError, match="there is a task 'xnli' of an installed package"):
        isogloss.task(str(declare(tmp_path, HEAD + FILES, "xnli")))
    first, second = declare(tmp_path, HEAD + FILES), declare(tmp_path / "b", HEAD + FILES)
    isogloss.task(str(first))
    with pytest.raises(DataError, match="there is a task 'toy' in"):
        isogloss.task(str(second))
    first.unlink()
    with pytest.raises(DataError, match="no languages found"):
        isogloss.task(str(second))


def test_names_in_records_are_never_paths(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", CSV)
    with pytest.raises(UnknownNameError):
        canonical(str(declare(tmp_path, HEAD + FILES)))


def test_damaged_task_file_does_not_affect_others(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", CSV)
    declare(tmp_path, HEAD + FILES, "good")
    declare(tmp_path, "kind = [", "damaged")
    isogloss.tasks_from(tmp_path)
    with pytest.warns(UserWarning, match="task skipped: .*damaged.toml: not TOML"):
        assert "good" in TASKS.loadable()
    with pytest.raises(DataError, match="not TOML"):
        isogloss.task("damaged")


def test_changed_task_file_is_read_again(tmp_path: Path) -> None:
    write(tmp_path / "en.csv", CSV)
    isogloss.tasks_from(declare(tmp_path, HEAD + FILES))
    declare(tmp_path, HEAD + FILES + 'title = "New title"\n')
    assert isogloss.task("toy").title == "New title"


@pytest.mark.parametrize("name", LIVING_TASKS)
def test_task_files_of_the_package_are_valid_and_short(name: str) -> None:
    """The package reads its own files without checks, to list them fast."""
    text = (LIVING / f"{name}.toml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 40
    checked, shipped = read_task_file(LIVING / f"{name}.toml"), isogloss.task(name)
    for field in ("id", "kind", "category", "languages", "main", "counts", "codes", "options", "parallel", "cluster"):
        assert getattr(checked, field) == getattr(shipped, field)


def test_every_kind_declares_what_a_table_needs() -> None:
    for name in TASKS.shipped:
        kind = KINDS[isogloss.task(name).kind]
        assert all(column in kind.inputs for names in kind.needed for column in names)


def test_another_edition_of_a_task(tmp_path: Path) -> None:
    rows = "".join(f"premise {row}\thypothesis {row}\tneutral\n" for row in range(4))
    for code in ("en", "qu"):
        (tmp_path / "xnli").mkdir(exist_ok=True)
        (tmp_path / "xnli" / f"test-{code}.tsv").write_text(rows, encoding="utf-8")
    path = tmp_path / "mine.toml"
    path.write_text('based_on = "xnli"\nlanguages = ["en", "qu"]\ncounts = { test = 4 }\n', encoding="utf-8")
    declared = isogloss.task(str(path))
    assert (declared.id, declared.base_id, declared.languages, declared.labels) == (
        "mine", "xnli", ("en", "qu"), isogloss.task("xnli").labels
    )  # fmt: skip
    assert len(isogloss.load(str(path), "qu", data=tmp_path / "none")) == 4
    for keys, said in (
        ('based_on = "xnly"', "Did you mean xnli"),
        ('based_on = "xnli"\nkind = "qa"', "kind is that of the task it is based on"),
        ('based_on = "xnli"\nlanguages = ["en"]\ncounts = { test = "sw 3" }', "sw"),
    ):
        path.write_text(keys + "\n", encoding="utf-8")
        with pytest.raises(IsoglossError, match=said):
            isogloss.task(str(path))
