"""isogloss task new: layouts, formats, columns and kinds are guessed from files, and the file reads back the same."""

import csv
import gzip
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import isogloss
from e2e.command import isogloss as command
from isogloss.cli.task import next_commands
from isogloss.data.table_syntax import TableSyntax
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.tasks.declaring.draft import TaskDraft
from isogloss.tasks.declaring.folder_survey import DataFile, has_header
from isogloss.tasks.declaring.path_patterns import path_patterns
from isogloss.tasks.task import Task
from isogloss.tasks.task_file import parse_task_file

CODES = ("eng", "swa", "zul")


@pytest.fixture(autouse=True)
def _no_other_tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "no-data"))


def sentiment(code: str, split: str, size: int = 30) -> list[dict[str, Any]]:
    labels = [("good", "bad", "fine")[hash_of(code, split, row) % 3] for row in range(size)]
    return [{"text": f"row {row} of {split}, in {code}", "label": label} for row, label in enumerate(labels)]


def hash_of(*parts: object) -> int:
    """Return a number that differs between languages, so that rows do not look parallel."""
    return sum(ord(sign) * (index + 3) for index, sign in enumerate("".join(map(str, parts)))) // 7


def table(rows: Sequence[Mapping[str, Any]], *, delimiter: str = ",", header: bool = True) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([[*rows[0]]] if header else [])
    writer.writerows(list(row.values()) for row in rows)
    return stream.getvalue()


def lines(rows: Iterable[Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def declared(folder: Path, **options: Any) -> tuple[TaskDraft, Task]:
    draft = isogloss.new_task(folder, **options)
    home = folder if folder.is_dir() else folder.parent
    return draft, draft.write(home / f"{draft.name}.toml")


def per_language(pattern: str, form: Any, splits: Iterable[str] = ("train", "dev", "test")) -> dict[str, str | bytes]:
    return {
        pattern.format(language=code, split=split): form(sentiment(code, split)) for code in CODES for split in splits
    }


LAYOUTS = {
    "folders of CSV": (per_language("{language}/{split}.csv", table), "{language}/{split}.csv"),
    "folders of splits": (per_language("{split}/{language}.csv", table), "{split}/{language}.csv"),
    "names": (per_language("mood-{split}-{language}.csv", table), "mood-{split}-{language}.csv"),
    "JSON lines": (per_language("{split}.{language}.jsonl", lines), "{split}.{language}.jsonl"),
    "JSON": (per_language("{language}/{split}.json", json.dumps), "{language}/{split}.json"),
    "JSON lines in .json": (per_language("{language}/{split}.json", lines), "{language}/{split}.json"),
    "packed": (
        per_language("{language}/{split}.csv.gz", lambda rows: gzip.compress(table(rows).encode())),
        "{language}/{split}.csv",
    ),
    "semicolons": (
        per_language("{language}/{split}.csv", lambda rows: table(rows, delimiter=";")),
        "{language}/{split}.csv",
    ),
    "TSV with quotes": (
        per_language(
            "{language}/{split}.tsv",
            lambda rows: table([{**row, "text": f'a "b"\t{row["text"]}'} for row in rows], delimiter="\t"),
        ),
        "{language}/{split}.tsv",
    ),
    "no header": (
        per_language("{language}/{split}.tsv", lambda rows: table(rows, delimiter="\t", header=False)),
        "{language}/{split}.tsv",
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, tmp_path: Path) -> None:
    files, pattern = LAYOUTS[name]
    draft, task = declared(write(tmp_path / "mood", files))
    assert draft.notes == []
    assert (task.id, task.kind, task.languages) == ("mood", "classification", ("en", "sw", "zu"))
    assert task.labels == ("bad", "fine", "good")
    assert task.counts == {"test": 30, "dev": 30, "train": 30}
    assert task.parallel == ""
    assert task.layouts[0].dev == pattern.replace("{split}", "dev")
    examples = isogloss.load(task, "sw", "dev")
    expected = [row["text"] for row in sentiment("swa", "dev")]
    assert [text.removeprefix('a "b"\t') for text in examples["text"]] == expected
    assert examples["label"] == [row["label"] for row in sentiment("swa", "dev")]


def test_one_file_with_columns_for_language_and_split(tmp_path: Path) -> None:
    rows = [
        {"lang": code, "split": name, "review": row["text"], "sentiment": row["label"]}
        for code in ("eng_Latn", "Swahili", "zu")
        for name in ("train", "validation", "test")
        for row in sentiment(code, name)
    ]
    draft, task = declared(write(tmp_path, {"mood.csv": table(rows)}) / "mood.csv")
    assert draft.columns == {"language": "lang", "split": "split", "text": "review", "label": "sentiment"}
    assert (task.id, task.languages, task.counts["dev"]) == ("mood", ("en", "sw", "zu"), 30)
    assert isogloss.load(task, "sw", "dev")["text"] == [row["text"] for row in sentiment("Swahili", "validation")]


def test_names_of_languages_and_splits(tmp_path: Path) -> None:
    names = {"toba_batak": "bbc", "english": "en", "swahili": "sw"}
    files = {
        f"{name}/{split}.csv": table(sentiment(name, split))
        for name in (*names, "elvish")
        for split in ("valid", "test")
    }
    draft, task = declared(write(tmp_path / "mood", files))
    assert set(task.languages) == set(names.values())
    assert task.layouts[0].dev == "{language}/valid.csv"
    assert any("'elvish'" in note for note in draft.notes)
    assert len(isogloss.load(task, "bbc", "dev")) == 30


def test_training_set_without_a_language(tmp_path: Path) -> None:
    files = {f"{code}.csv": table(sentiment(code, "test")) for code in CODES}
    files["train.csv"] = table(sentiment("eng", "train", 40))
    _, task = declared(write(tmp_path / "mood", {f"mood/{name}": text for name, text in files.items()}))
    assert task.layouts[0].train == "mood/train.csv"
    assert len(isogloss.load(task, "en", "train")) == 40


def test_parallel_ids_and_clusters(tmp_path: Path) -> None:
    def rows(code: str, shift: int) -> list[dict[str, Any]]:
        return [
            {
                "id": 7 * row,
                "premise": f"{code} {row // 3}",
                "hypothesis": f"{code} {row} too",
                "label": row * 5 % 3 + shift,
            }
            for row in range(60)
        ]

    files = {f"{code}/test.csv": table(rows(code, 0)) for code in CODES}
    draft, task = declared(write(tmp_path / "one", files))
    assert task.parallel == "one"
    assert task.labels == ("0", "1", "2")
    assert any("premise" in note for note in draft.notes)
    files = {f"{code}/test.csv": table(rows(code, hash_of(code) % 5)) for code in CODES}
    draft, task = declared(write(tmp_path / "two", files))
    assert task.parallel == ""
    assert task.cluster == "premise"
    assert draft.columns["text_a"] == "premise"


def test_conll(tmp_path: Path) -> None:
    sentences = "Anna B-PER\nMaria I-PER\nsings O\n\nBerlin B-LOC\nis O\nold O\n\n"
    files = {
        f"{code}/{split}.txt": sentences * (5 + index) for index, code in enumerate(CODES) for split in ("test", "dev")
    }
    _, task = declared(write(tmp_path / "names", files))
    assert (task.kind, task.labels) == ("tagging", ("O", "B-LOC", "B-PER", "I-PER"))
    assert task.counts["test"] == {"en": 10, "sw": 12, "zu": 14}
    assert isogloss.load(task, "zu")["tokens"][1] == ["Berlin", "is", "old"]


def test_conll_with_an_empty_word(tmp_path: Path) -> None:
    files = {f"{code}/test.txt": "Anna B-PER\nsings O\n\n" * 3000 + "\u3000 O\nsings O\n\n" for code in CODES[:2]}
    _, task = declared(write(tmp_path / "names", files))
    assert isogloss.load(task, "en")["tokens"][-1] == ["\u3000", "sings"]


def test_squad(tmp_path: Path) -> None:
    def squad(code: str) -> str:
        questions = [
            {"id": f"q{row}", "question": f"{code} {row}?", "answers": [{"text": "here", "answer_start": 0}]}
            for row in range(12)
        ]
        return json.dumps(
            {"data": [{"title": "Place", "paragraphs": [{"context": f"here in {code}", "qas": questions}]}]}
        )

    _, task = declared(write(tmp_path / "asked", {f"asked.{code}.json": squad(code) for code in CODES}))
    assert (task.kind, task.parallel, task.cluster) == ("qa", "asked", "title")
    assert isogloss.load(task, "sw")["answers"][0] == ["here"]


def test_parquet(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for code in CODES:
        (tmp_path / "mood" / code).mkdir(parents=True)
        parquet.write_table(pa.Table.from_pylist(sentiment(code, "test")), tmp_path / "mood" / code / "test.parquet")
    _, task = declared(tmp_path / "mood")
    assert isogloss.load(task, "zu")["label"] == [row["label"] for row in sentiment("zul", "test")]


KINDS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "multilabel": ([{"text": f"some text {row}", "labels": ["joy", "fear"][: row % 3]} for row in range(30)], "labels"),
    "regression": (
        [{"sentence1": f"a {row}", "sentence2": f"b {row}", "score": row / 7} for row in range(30)],
        "score",
    ),
    "generation": (
        [{"document": f"a long text {row} of words", "summary": f"the short text {row}"} for row in range(30)],
        "references",
    ),
    "choice": (
        [
            {
                "passage": f"text {row}",
                "question": f"why {row}?",
                "mc_answer1": f"a{row}",
                "mc_answer2": f"b{row}",
                "correct_answer_num": row % 2 + 1,
            }
            for row in range(30)
        ],
        "label",
    ),
    "tagging": ([{"tokens": ["a", str(row)], "ner_tags": ["O", "B-X"]} for row in range(30)], "tags"),
    "qa": (
        [
            {
                "context": f"it is {row}",
                "question": f"what {row}?",
                "answers": {"text": [str(row)], "answer_start": [6]},
            }
            for row in range(30)
        ],
        "answers",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str, tmp_path: Path) -> None:
    rows, gold = KINDS[kind]
    draft, task = declared(write(tmp_path / "set", {f"{code}.jsonl": lines(rows) for code in CODES}))
    assert draft.kind == kind
    examples = isogloss.load(task, "sw")
    assert examples.gold == gold
    assert examples.has_gold
    if kind == "choice":  # counted from 1 in the files
        assert list(examples["label"][:4]) == [0, 1, 0, 1]
        assert list(examples["choices"][1]) == ["a1", "b1"]


def test_user_corrects_the_guess(tmp_path: Path) -> None:
    rows = [{"a": f"a text {row}", "b": f"another {row}", "stars": row % 5} for row in range(30)]
    folder = write(tmp_path / "set", {"en.csv": table(rows)})
    assert isogloss.new_task(folder).kind == "classification"
    draft = isogloss.new_task(folder, kind="regression", columns={"text": "b", "score": "stars"}, name="stars")
    assert (draft.name, draft.kind) == ("stars", "regression")
    with pytest.raises(UnknownNameError, match="Did you mean stars"):
        isogloss.new_task(folder, columns={"label": "star"})
    with pytest.raises(UnknownNameError, match="classification"):
        isogloss.new_task(folder, kind="clasification")


def test_language_of_files_that_do_not_name_it(tmp_path: Path) -> None:
    pytest.importorskip("py3langid")
    rows = [{"text": f"это предложение номер {row} на русском языке", "label": row % 2} for row in range(30)]
    draft, task = declared(write(tmp_path / "set", {"test.csv": table(rows)}))
    assert task.languages == ("ru",)
    assert len(isogloss.load(task, "ru")) == 30
    assert any("by its texts it is ru" in note for note in draft.notes)


def test_headers() -> None:
    assert has_header([["text", "label"], ["a b", "x"]])
    assert has_header([["Text of it", "Stars"], ["a b", "x"]])
    assert not has_header([["one", "good"], ["two", "bad"], ["three", "good"], ["four", "bad"], ["five", "good"]])
    assert not has_header([["a sentence of many words here", "7"], ["another one of them is here", "8"]])


def test_paths_are_read_as_a_whole() -> None:
    """Codes such as `id` and `no` are also words: the place with most languages counts."""
    files = [
        DataFile(Path(), f"id_data/{code}_{script}/{split}.tsv")
        for code, script in (("zho", "Hant"), ("zho", "Hans"), ("swh", "Latn"))
        for split in ("train", "test")
    ]
    patterns = path_patterns(files)
    assert patterns.files == {"test": "id_data/{language}/test.tsv", "train": "id_data/{language}/train.tsv"}
    assert set(patterns.languages.values()) == {"zh", "zh-Hant", "sw"}


# Hostile input.


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "The folder is empty"),
        ({"x.bin": b"\0\1"}, "1 × .bin"),
        ({"en.csv": b""}, "empty"),
        ({"en.csv": bytes(range(256)) * 9}, "not a text file"),
        ({"en.tsv": b"a\tb\n" + b"x" * 300_000}, "bytes|columns"),
        ({"en.csv": b"\xff\xfe\xfa,b\n"}, "UTF-8"),
        ({"en.json": b"{"}, "JSON"),
        ({"en.jsonl": b'{"a": 1}\n[]\n'}, "en.jsonl:2"),
        ({"en.csv.gz": b"\x1f\x8b\x08\0damaged"}, "truncated or damaged"),
        ({"en.parquet": b"PAR1"}, "Parquet"),
        ({"en.txt": b"nothing to see here"}, "neither a table"),
        ({"en.csv": b"a,b\n1,2\n3,4\n"}, "cannot tell|needs the columns"),
    ],
)
def test_wrong_files(files: dict[str, bytes], message: str, tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    with pytest.raises(IsoglossError, match=message):
        isogloss.new_task(write(tmp_path / "set", files))


def test_damaged_file_beside_others(tmp_path: Path) -> None:
    files, _ = LAYOUTS["folders of CSV"]
    draft = isogloss.new_task(write(tmp_path / "mood", {**files, "eng/train.csv": b"\xff\0"}))
    assert any("train.csv" in note for note in draft.notes)
    assert draft.counts["train"] == {"sw": 30, "zu": 30}


def test_folder_that_links_to_itself(tmp_path: Path) -> None:
    folder = write(tmp_path / "mood", LAYOUTS["folders of CSV"][0])
    (folder / "again").symlink_to(folder, target_is_directory=True)
    (folder / "gone.csv").symlink_to(folder / "nowhere.csv")
    assert set(isogloss.new_task(folder).languages.values()) == {"en", "sw", "zu"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_forbidden_file(tmp_path: Path) -> None:
    folder = write(tmp_path / "mood", LAYOUTS["folders of CSV"][0])
    (folder / "eng" / "train.csv").chmod(0)
    assert any("Permission denied" in note for note in isogloss.new_task(folder).notes)


def test_odd_names(tmp_path: Path) -> None:
    names = ["set's {x}/en.csv", "a\nb/sw.csv", 'it\'s a "set"/en.csv', 'it\'s a "set"/zu.csv']
    draft, task = declared(write(tmp_path / "Mood; rm -rf *", {name: table(sentiment("x", name)) for name in names}))
    assert (task.id, task.languages) == ("mood-rm--rf", ("en", "zu"))
    assert len(isogloss.load(task, "zu")) == 30
    assert draft.name == task.id


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such folder or file"):
        isogloss.new_task(tmp_path / "nowhere")


# Drafts as text.

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
NAMES = TEXTS.filter(lambda text: text == text.strip())


@given(
    labels=st.lists(NAMES, min_size=1, max_size=40, unique=True),
    mapped=st.booleans(),
    column=NAMES,
    counts=st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)),
    parallel=st.booleans(),
    delimiter=st.sampled_from(["", ";", "|", "\t"]),
    licence=TEXTS,
)
def test_written_task_reads_back(
    labels: list[str],
    mapped: bool,
    column: str,
    counts: tuple[int, int],
    parallel: bool,
    delimiter: str,
    licence: str,
) -> None:
    draft = TaskDraft(
        name="drafted",
        folder=Path("/data"),
        kind="classification",
        files={"test": "{language}/test.csv", "dev": "{language}/dev.csv"},
        syntax=TableSyntax(delimiter=delimiter, header=False, quote="" if mapped else None),
        columns={"text": column, "label": 2, "cluster": (column, 1)},
        languages={"swa": "sw", "toba_batak": "bbc"},
        labels={label: f"x{label}" for label in labels} if mapped else labels,
        parallel=parallel,
        counts={"test": dict(zip(("sw", "bbc"), counts, strict=True)), "dev": {"sw": 1, "bbc": 1}},
        licence=licence,
    )
    task = parse_task_file(draft.toml(), Path("/data/drafted.toml"))
    [layout] = task.layouts
    assert layout.table is not None
    assert task.labels == tuple(f"x{label}" if mapped else label for label in labels)
    assert layout.table.values == ({label: f"x{label}" for label in labels} if mapped else {})
    assert layout.table.columns == {"text": column, "label": 2, "cluster": (column, 1)}
    assert layout.table.syntax == draft.syntax
    assert (layout.test, layout.dev, layout.train) == (
        "{language}/test.csv",
        "{language}/dev.csv",
        "{language}/train.csv",
    )
    assert dict(task.codes) == {"sw": "swa", "bbc": "toba_batak"}
    assert [task.expected("sw", "test"), task.expected("bbc", "test")] == list(counts)
    assert (bool(task.parallel), task.licence, task.id, task.folder) == (parallel, licence, "drafted", "/data")


# The command.


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "mood", LAYOUTS["folders of CSV"][0])
    monkeypatch.chdir(tmp_path)
    assert command("task", "new", "mood").code == 2  # no terminal
    done = command("task", "new", "mood", "--yes")
    assert done.code == 0, done.err
    assert 'kind = "classification"' in done.out
    assert "isogloss score runs/ngram/zero-shot/seed-0 --suite mood/mood.toml" in done.out
    before = (folder / "mood.toml").read_bytes()
    done = command("task", "new", "mood", "--yes", "--kind", "regression")
    assert (done.code, "--force" in done.err) == (1, True)
    assert (folder / "mood.toml").read_bytes() == before
    assert command("task", "new", "mood", "--yes", "--force").code == 0
    done = command("task", "new", "mood", "--yes", "--out", tmp_path / "tasks" / "other.toml", "--name", "other")
    assert done.code == 0, done.err
    assert 'data = "../mood"' in done.out
    assert command("task", "new", "mood", "--yes", "--columns", "text").code == 2


def test_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": row, "text": f"a text {row}", "label": row % 2} for row in range(30)]
    folder = write(tmp_path / "mood", {f"{name}/test.csv": table(rows) for name in ("english", "swahili", "banjarish")})
    answers = iter(
        # A wrong name, kind, column and tag are asked for again.
        [
            "My Feelings",
            "feelings",
            "sorting",
            "",
            "",
            "text=txt",
            "",
            "",
            "0=bad,1=good",
            "Elvish",
            "bjn",
            "n",
            "CC0",
            "y",
        ]
    )
    shown: list[str] = []

    def answer(question: str, default: Any = None, **options: Any) -> Any:
        shown.append(f"{question} [{default}]")
        text = next(answers)
        return default if text == "" else {"y": True, "n": False}.get(text, text)

    monkeypatch.setattr("typer.prompt", answer)
    monkeypatch.setattr("typer.confirm", answer)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    done = command("task", "new", folder)
    assert done.code == 0, done.err
    columns = "Columns [id=id,text=text,label=label]"
    assert list(dict.fromkeys(shown))[:4] == ["Name [mood]", "Kind [classification]", columns, "Labels [0,1]"]
    assert "Language of 'banjarish' [bjn]" in shown
    task = isogloss.task(str(folder / "feelings.toml"))
    assert (task.labels, task.languages, task.parallel, task.licence) == (
        ("bad", "good"),
        ("bjn", "en", "sw"),
        "",
        "CC0",
    )
    assert isogloss.load(task, "bjn")["label"][:2] == ["bad", "good"]


def test_next_commands(tmp_path: Path) -> None:
    files = {
        f"{code}/{split}.csv": table(sentiment(code, split)) for code in ("swa", "zul") for split in ("train", "test")
    }
    _, task = declared(write(tmp_path / "african", files))
    assert "isogloss run ngram --suite a.toml --regime in-language --seeds 1 --out runs" in next_commands(
        task, Path("a.toml")
    )
    _, task = declared(write(tmp_path / "tested", {f"{code}.csv": table(sentiment(code, "test")) for code in CODES}))
    assert next_commands(task, Path("my tasks/a.toml"))[1] == "isogloss export 'my tasks/a.toml' --out inputs"
