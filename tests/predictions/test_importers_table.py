"""`isogloss import table`: tables of any shape give the same predictions, and damaged ones an error."""

import csv
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from e2e.command import isogloss
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.predictions.importers import TableColumns, import_table
from isogloss.tasks.loading import load
from predictions.made import LABELS, wikiann_dev, xnli_dev, xquad

Rows = list[dict[str, Any]]
COLUMNS = TableColumns(prediction="class", id="pair")
NUMBERED = [f"{number}={label}" for number, label in enumerate(LABELS)]


def delimited(rows: Rows, delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def parquet(rows: Rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink)
    return sink.getvalue().to_pybytes()


def columns_of(rows: Rows) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


SHAPES: dict[str, Callable[[Rows], bytes]] = {
    "a.csv": lambda rows: delimited(rows, ","),
    "semicolons.csv": lambda rows: delimited(rows, ";"),
    "a.tsv": lambda rows: delimited(rows, "\t"),
    "mark.csv": lambda rows: b"\xef\xbb\xbf" + delimited(rows, ","),
    "a.csv.xz": lambda rows: lzma.compress(delimited(rows, ",")),
    "a.jsonl": lambda rows: "\n".join(map(json.dumps, rows)).encode(),
    "list.json": lambda rows: json.dumps(rows).encode(),
    "wrapped.json": lambda rows: json.dumps({"model": "m", "rows": rows, "n": 3}).encode(),
    "columns.json": lambda rows: json.dumps(columns_of(rows)).encode(),
    "pandas.json": lambda rows: json.dumps(
        {name: {str(i): value for i, value in enumerate(values)} for name, values in columns_of(rows).items()}
    ).encode(),
    "a.parquet": parquet,
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    xnli_dev(folder)
    xquad(folder)
    wikiann_dev(folder)
    return folder


@pytest.fixture(scope="module")
def rows() -> Rows:
    return [{"pair": f"dev-{i}", "note": f'say "{i}", twice', "class": (i + i // 9) % 3} for i in range(2490)]


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_gives_the_same_predictions(name: str, rows: Rows, data: Path, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(SHAPES[name](rows))
    cells = import_table([tmp_path / name], "xnli", COLUMNS, languages=["en"], split="dev", data=data, labels=NUMBERED)
    assert cells["en"].ids == [row["pair"] for row in rows]
    assert cells["en"].values == [LABELS[row["class"]] for row in rows]


@pytest.mark.parametrize("labels", [list(LABELS), [f"{label[:1]}={label}" for label in LABELS]])
def test_labels_by_order_or_spelling(labels: list[str], rows: Rows, tmp_path: Path) -> None:
    spelt = [{**row, "class": row["class"] if labels[0] == LABELS[0] else LABELS[row["class"]][0]} for row in rows]
    (tmp_path / "a.csv").write_bytes(delimited(spelt, ","))
    cells = import_table([tmp_path / "a.csv"], "xnli", COLUMNS, languages=["en"], split="dev", labels=labels)
    assert cells["en"].values == [LABELS[row["class"]] for row in rows]


def test_rows_without_ids_are_matched_by_position_if_the_count_fits(rows: Rows, data: Path, tmp_path: Path) -> None:
    path, options = tmp_path / "a.csv", {"languages": ["en"], "split": "dev", "data": data, "labels": NUMBERED}
    unnamed = [{"class": row["class"], "text_a": f"p{i}"} for i, row in enumerate(rows)]
    path.write_bytes(delimited(unnamed, ","))
    found = import_table([path], "xnli", TableColumns(prediction="class"), **options)["en"]
    assert found.ids == [row["pair"] for row in rows]
    assert found.notes == ["no ids: rows are matched with the examples by position"]
    path.write_bytes(delimited([unnamed[1], unnamed[0], *unnamed[2:]], ","))
    with pytest.raises(IsoglossError, match=r"text_a of 'dev-0' is 'p1' here but 'p0' in xnli/en dev \(2 of 2490"):
        import_table([path], "xnli", TableColumns(prediction="class"), **options)
    path.write_bytes(delimited(unnamed[:-1], ","))
    with pytest.raises(IsoglossError, match=r"2,489 rows without ids, but xnli/en dev has 2,490 examples\..*'text_a'"):
        import_table([path], "xnli", TableColumns(prediction="class"), **options)


def test_language_column_splits_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)
    names = {"en-US": "en", "zh_CN": "zh", "Thai": "th"}
    table = []
    for name, code in names.items():
        table += [{"lang": name, "meta": {"id": f"q{i}"}, "out": [{"text": f"{code} {i}"}]} for i in range(3)]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, table)))
    words = ("import", "table", tmp_path / "all.jsonl", "-t", "xquad", "-o", tmp_path / "preds", "--id", "meta.id")
    words += ("--prediction", "out.0.text", "--language-column", "lang")
    done = isogloss(*words)
    assert done.code == 0, done.err
    for code in names.values():
        lines = (tmp_path / f"preds/xquad/{code}.jsonl").read_text().splitlines()
        assert json.loads(lines[2]) == {"id": "q2", "prediction": f"{code} 2"}
    again = isogloss(*words)
    assert (again.code, "predictions exist already" in again.err) == (1, True)
    table.append({"lang": "he_IL", "meta": {"id": "q0"}, "out": [{"text": "x"}]})
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, table)))
    refused = isogloss(*words, "--force")
    assert "not languages of xquad: 'he_IL' (1 row)" in refused.err
    assert isogloss(*words, "--force", "--language", "en,zh").code == 0


def test_other_forms_of_answers(data: Path, tmp_path: Path) -> None:
    tags = wikiann_dev(data)
    texts = [json.dumps(tags[0]), str(tags[1]), " ".join(tags[2]), *map(json.dumps, tags[3:])]
    (tmp_path / "ner.csv").write_bytes(delimited([{"prediction": text} for text in texts], ","))
    found = import_table([tmp_path / "ner.csv"], "wikiann", TableColumns(), languages=["qu"], split="dev", data=data)
    assert found["qu"].values == tags
    (tmp_path / "qa.json").write_text(json.dumps({"q0": "word0", "q1": 308, "q2": None}))
    found = import_table([tmp_path / "qa.json"], "xquad", TableColumns(), languages=["en"], data=data)
    assert dict(zip(found["en"].ids, found["en"].values, strict=True)) == {"q0": "word0", "q1": "308", "q2": None}
    (tmp_path / "tatoeba.csv").write_text("3,7 8 9\n4,[1]\n")
    columns = TableColumns(id="1", prediction="2")
    found = import_table([tmp_path / "tatoeba.csv"], "tatoeba", columns, languages=["jv"])
    assert found["jv"].values == [["7", "8", "9"], ["1"]]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.csv", b"pair,klass\nx,1\n", "no column 'class'; columns are 'pair', 'klass'. Did you mean klass?"),
        ("a.csv", b"pair,class,class\nx,1,2\n", "two columns are named 'class'"),
        ("a.csv", b"pair,class\nx\n", "a.csv:2: 1 cells, but the header has 2 columns"),
        ("a.csv", b"pair,class\nx,\x00\n", "not a table|label '\\\\x00'"),
        ("a.csv", b'pair,class\n"' + b"x" * 200_000, "not a table: field larger than field limit"),
        ("a.csv", b"pair,class\n\xff,1\n", "not UTF-8"),
        ("a.csv", b"", "no rows"),
        ("a.csv", b"pair,class\n", "no rows"),
        ("a.csv", b"pair,class\ndev-0,9\n", "the integer 9 instead of entailment"),
        ("a.csv", b"pair,class\n ,1\ndev-1,1\n", "invalid id ' '"),
        ("a.csv", b"pair,class\nx,1\nx,1\n", "duplicate answer to 'x'"),
        ("a.json", b"[" * 100_000, "not JSON"),
        ("a.json", b"7", "expected a JSON list or object with rows"),
        ("a.json", b'[{"pair": {"x": 1}, "class": 1}]', "invalid id"),
        ("a.json", b'[{"pair": "a", "class": 1}, {"pair": "b"}]', "no column 'class'; columns are 'pair'"),
        ("a.jsonl", b'{"pair": "a", "class": 1}\n{', "a.jsonl:2:1: not JSON"),
        ("a.parquet", b"PAR1 nonsense PAR1", "not a Parquet file"),
        ("a.csv.xz", b"pair,class", "a.csv.xz"),
        ("missing.csv", None, "no such file"),
    ],
)
def test_unusable_tables_are_explained(name: str, content: bytes | None, what: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(IsoglossError, match=what) as caught:
        import_table([tmp_path / name], "xnli", COLUMNS, languages=["en"], split="dev", labels=NUMBERED)
    assert len(str(caught.value)) < 2_000


def test_unknown_names_and_missing_language(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,prediction\n")
    for options in ({"split": "train"}, {"languages": ["xx"]}, {"labels": ["0=entails"]}):
        with pytest.raises(UnknownNameError):
            import_table([tmp_path / "a.csv"], "xnli", TableColumns(), **{"languages": ["en"], **options})
    with pytest.raises(IsoglossError, match="Pass one language, or the column with the languages"):
        import_table([tmp_path / "a.csv"], "xnli", TableColumns())
    done = isogloss("import", "hf", tmp_path / "a.csv", "-t", "xnli", "-l", "en", "-o", tmp_path, "--id", "id")
    assert (done.code, "belong to isogloss" in " ".join(done.err.split())) == (2, True)


def test_language_model_answers_score_as_published(data_dir: Path, tmp_path: Path) -> None:
    """MEGA reports an accuracy of 63.0 for GPT-3.5 on XCOPA in Haitian Creole."""
    table = data_dir / "mega_gpt35/xcopa/ht-direct.csv"
    if not table.is_file():
        pytest.skip(f"{table} is missing")
    answers = import_table([table], "xcopa", TableColumns(), languages=["ht"], data=data_dir)["ht"]
    gold = load("xcopa", "ht", data=data_dir)["label"]
    assert sum(value == label for value, label in zip(answers.values, gold, strict=True)) == 315


def test_replies_in_free_text_are_read(tmp_path: Path) -> None:
    rows = [
        {"pair": f"test-{i}", "class": text} for i, text in enumerate(["Answer: Neutral", "2", "neutral or 2", None])
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(SHAPES["a.jsonl"](rows))
    answers = import_table([path], "xnli", COLUMNS, languages=["sw"], labels=NUMBERED, replies=True)["sw"]
    assert answers.values == ["neutral", LABELS[2], None, None]
    assert any("replies without an answer: 1 of 3 (1 unparsed)" in note for note in answers.notes)
    with pytest.raises(IsoglossError):
        import_table([path], "xnli", COLUMNS, languages=["sw"], labels=NUMBERED)
    refused = isogloss("import", "hf", path, "-t", "xnli", "-l", "sw", "-o", tmp_path / "p", "--replies")
    assert refused.code == 2


def test_real_replies_with_choices(data_dir: Path) -> None:
    path = data_dir / "mega_gpt35" / "xcopa" / "ht-cot.csv"
    if not path.exists():
        pytest.skip("needs the published answers")
    columns = TableColumns(prediction="Prediction With Explanation", id="position")
    answers = import_table([path], "xcopa", columns, languages=["ht"], data=data_dir, replies=True)["ht"]
    assert sum(value is not None for value in answers.values) == 455
    assert any("replies without an answer: 45 of 500 (43 none of the options, 1 " in note for note in answers.notes)
