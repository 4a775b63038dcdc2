"""Finding, counting and refusing files, on small ones made here."""

import json
import lzma
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import DataError, NoGoldError, UnknownNameError
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task


def pairs(path: Path, count: int, labels: list[str] | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"p{i}\th{i}" + (f"\t{labels[i % len(labels)]}" if labels else "") for i in range(count)]
    path.write_text("\n".join(rows) + "\n")


LABELS = ["entailment", "neutral", "contradiction"]


def test_rows_get_ids_and_columns(tmp_path: Path) -> None:
    pairs(tmp_path / "xnli/dev-sw.tsv", 2490, LABELS)
    examples = isogloss.load("xnli", "sw", split="dev", data=tmp_path)
    assert len(examples) == 2490
    assert examples.ids[:2] == ["dev-0", "dev-1"]
    assert examples[1] == {"id": "dev-1", "text_a": "p1", "text_b": "h1", "label": "neutral"}
    assert examples.label[:3] == LABELS
    assert next(iter(examples))["id"] == "dev-0"
    assert examples.units == examples.ids
    with pytest.raises(AttributeError, match="columns are id, text_a"):
        _ = examples.question
    with pytest.raises(UnknownNameError, match="Did you mean label"):
        examples["labels"]


def test_short_file_is_an_error_with_the_numbers(tmp_path: Path) -> None:
    pairs(tmp_path / "xnli/test-sw.tsv", 5009, LABELS)
    with pytest.raises(
        DataError,
        match=r"5009 examples, but xnli/sw test has 5010\. .*or use --allow-partial$",
    ):
        isogloss.load("xnli", "sw", data=tmp_path)
    assert isogloss.load("xnli", "sw", data=tmp_path, allow_partial=True).partial


def test_missing_data_error_lists_searched_paths(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"isogloss fetch xquad.*xquad/xquad\.\{lang\}\.json"):
        isogloss.load("xquad", "en", data=tmp_path)
    for name, split, dataset in (("xquad", "train", "squad"), ("xquad", "dev", "squad"), ("mlqa", "train", "squad")):
        with pytest.raises(DataError, match=rf"isogloss fetch {dataset}, .*squad/{split}-v1\.1\.json"):
            isogloss.load(name, "en", split=split, data=tmp_path)
    with pytest.raises(DataError, match=r"no train file of tydiqa/en .*isogloss fetch tydiqa, "):
        isogloss.load("tydiqa", "en", split="dev", data=tmp_path)
    with pytest.raises(DataError, match="isogloss fetch multinli, "):
        isogloss.load("xnli", "en", split="train", data=tmp_path)
    with pytest.raises(DataError, match=r"\. Point --data at a folder with one of: xcopa/data"):
        isogloss.load("xcopa", "et", split="train", data=tmp_path)
    with pytest.raises(DataError, match="lareqa has no dev split"):
        isogloss.load("lareqa", "en", split="dev", data=tmp_path)
    with pytest.raises(UnknownNameError, match=r"^xquad has no sw\. It has ar, de, el, en,"):
        isogloss.load("xquad", "sw", data=tmp_path)
    with pytest.raises(UnknownNameError, match=r"^unknown language of xquad 'eng'\. Did you mean en"):
        isogloss.load("xquad", "eng", data=tmp_path)
    with pytest.raises(UnknownNameError, match="unknown split"):
        isogloss.load("xquad", "en", split="tset", data=tmp_path)


def test_missing_gold_names_the_split_that_has_it(tmp_path: Path) -> None:
    pairs(tmp_path / "xnli/test-sw.tsv", 5010, None)
    pairs(tmp_path / "xnli/dev-sw.tsv", 2490, LABELS)
    with pytest.raises(DataError, match=r"no gold answers.*--split dev"):
        load_gold(task("xnli"), "sw", "test", tmp_path)


def test_labels_next_to_the_files_are_gold(tmp_path: Path) -> None:
    pairs(tmp_path / "xnli/test-sw.tsv", 5010, None)
    (tmp_path / "xnli/test-gold-labels.txt").write_text("".join(f"{LABELS[i % 3]}\n" for i in range(5010)))
    assert load_gold(task("xnli"), "sw", "test", tmp_path).label[:3] == LABELS


def test_placeholder_labels_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "xcopa/data/en"
    folder.mkdir(parents=True)
    for name, count, label in (("test", 500, lambda i: 0), ("val", 100, lambda i: i % 2)):
        lines = [
            json.dumps(
                {"premise": "p", "choice1": "a", "choice2": "b", "question": "cause", "idx": i, "label": label(i)}
            )
            for i in range(count)
        ]
        (folder / f"{name}.en.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError, match="every gold label is 0; the file has placeholders"):
        load_gold(task("xcopa"), "en", "test", tmp_path)
    assert len(load_gold(task("xcopa"), "en", "dev", tmp_path)) == 100


@pytest.mark.parametrize(
    ("path", "task_id", "line", "label"),
    [
        ("xnli/dev-en.tsv", "xnli", "p\th\t{}\n", "maybe"),
        ("panx/dev-qu.tsv", "wikiann", "w\tO\nv\t{}\n\n", "B-MISC"),
    ],
)
def test_gold_outside_of_the_declared_labels_is_refused(
    path: str, task_id: str, line: str, label: str, tmp_path: Path
) -> None:
    chosen, language = task(task_id), path[-6:-4]
    known = list(chosen.labels[:2]) * 2_000
    (tmp_path / path).parent.mkdir()
    rows = [line.format(known[row]) for row in range(chosen.expected(language, "dev") or 0)]
    (tmp_path / path).write_text("".join([*rows[:-1], line.format(label)]))
    with pytest.raises(NoGoldError, match=f"gold label '{label}' of dev-{len(rows) - 1} is not one of {known[0]}"):
        load_gold(chosen, language, "dev", tmp_path)
    (tmp_path / path).write_text("".join(rows))
    assert len(load_gold(chosen, language, "dev", tmp_path)) == len(rows)


def test_official_xnli_file_is_filtered_by_language_and_relabelled(tmp_path: Path) -> None:
    header = ["language", "gold_label", "s1b", "s2b", "s1p", "s2p", "sentence1", "sentence2", "promptID"]
    rows = ["\t".join(header)]
    for code in ("fr", "sw"):
        rows += ["\t".join([code, "contradictory", "", "", "", "", f"{code}-a{i}", f"b{i}", "1"]) for i in range(2490)]
    path = tmp_path / "XNLI-1.0/xnli.dev.tsv.xz"
    path.parent.mkdir()
    path.write_bytes(lzma.compress("\n".join(rows).encode()))
    examples = isogloss.load("xnli", "sw", split="dev", data=tmp_path)
    assert examples[0] == {"id": "dev-0", "text_a": "sw-a0", "text_b": "b0", "label": "contradiction"}


def test_repeated_ids_in_data_are_refused(tmp_path: Path) -> None:
    qas = [{"id": "same", "question": "q", "answers": [{"text": "c", "answer_start": 0}]}] * 1190
    folder = tmp_path / "xquad"
    folder.mkdir()
    (folder / "xquad.en.json").write_text(json.dumps({"data": [{"paragraphs": [{"context": "c", "qas": qas}]}]}))
    with pytest.raises(DataError, match="duplicate id 'same'"):
        isogloss.load("xquad", "en", data=tmp_path)
