"""isogloss task check: every defect is reported where it is planted, and nowhere else."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from e2e.command import isogloss as command
from isogloss.errors import UnknownNameError
from isogloss.tasks.checking.defects import Defect
from isogloss.tasks.checking.text_faults import text_faults

SIZES = {"train": 60, "dev": 50, "test": 50}
WORDS = {
    "en": "the example number {row} belongs to the set {split}",
    "sw": "mfano huu wa namba {row} ni wa sehemu ya {split}",
    "ru": "этот пример номер {row} относится к части под названием {split}",
}
Rows = list[dict[str, Any]]
Cells = dict[tuple[str, str], Rows]


@pytest.fixture(autouse=True)
def _no_other_tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")
    monkeypatch.setenv("ISOGLOSS_DATA", str(tmp_path / "no-data"))


def clean() -> Cells:
    """Return parallel examples of three languages without any defect."""
    return {
        (language, split): [
            {
                "id": f"{split}-{row}",
                "text": words.format(row=row, split=split),
                "label": ("good", "bad")[row * 7 % 3 == 0],
            }
            for row in range(size)
        ]
        for language, words in WORDS.items()
        for split, size in SIZES.items()
    }


def written(folder: Path, cells: Cells, head: str = "", name: str = "planted") -> Path:
    for (language, split), rows in cells.items():
        path = folder / language / f"{split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / f"{name}.toml"
    head = head or 'kind = "classification"\nlabels = ["good", "bad"]\nparallel = true\n'
    path.write_text(f'{head}files = "{{language}}/{{split}}.jsonl"\n', encoding="utf-8")
    return path


def places(defects: list[Defect]) -> set[tuple[str, str, str]]:
    return {(defect.code, defect.language, defect.split) for defect in defects}


def test_clean_files_have_no_defects(tmp_path: Path) -> None:
    report = isogloss.check_task(str(written(tmp_path, clean())))
    assert report.defects == []
    assert report.sizes["sw"] == {"test": 50, "dev": 50, "train": 60}
    assert report.labels["sw"]["test"] == {"good": 33, "bad": 17}
    assert repr(report) == "TaskReport(planted: no problems: 480 examples in 3 languages)"


def _text(cells: Cells, text: str, language: str = "sw", split: str = "test", row: int = 7) -> None:
    cells[language, split][row]["text"] = text


def _duplicate(cells: Cells) -> None:
    rows = cells["sw", "test"]
    rows[7]["text"] = f" {rows[10]['text']}  "  # blanks do not count
    assert rows[7]["label"] == rows[10]["label"]


def _conflict(cells: Cells) -> None:
    rows = cells["sw", "test"]
    rows[7]["text"] = rows[9]["text"]
    assert rows[7]["label"] != rows[9]["label"]


def _leak(cells: Cells) -> None:
    _text(cells, cells["sw", "train"][3]["text"])


def _untranslated(cells: Cells) -> None:
    _text(cells, cells["en", "test"][7]["text"])


def _relabelled(cells: Cells) -> None:
    cells["sw", "test"][7]["label"] = "bad" if cells["sw", "test"][7]["label"] == "good" else "good"


def _lost_row(cells: Cells) -> None:
    del cells["sw", "test"][7]


def _other_ids(cells: Cells) -> None:
    cells["sw", "test"][7]["id"] = "another"


def _unseen(cells: Cells) -> None:
    for row in cells["sw", "train"]:
        row["label"] = "good"


def _no_gold(cells: Cells) -> None:
    for row in cells["sw", "test"]:
        del row["label"]


def _placeholders(cells: Cells) -> None:
    for row in cells["sw", "test"]:
        row["label"] = "good"


def _two_forms(cells: Cells) -> None:
    _text(cells, DECOMPOSED)
    _text(cells, "maneno mengine yenye é", row=8)


def _small(cells: Cells) -> None:
    for language in WORDS:
        del cells[language, "test"][20:]


DECOMPOSED = unicodedata.normalize("NFD", "huu ni mfano mwingine wa maneno yenye é")
DEFECTS: dict[str, tuple[Callable[[Cells], None], set[tuple[str, str, str]]]] = {
    "duplicate": (_duplicate, {("duplicate", "sw", "test")}),
    "conflict": (_conflict, {("conflict", "sw", "test")}),
    "leak": (_leak, {("split-overlap", "sw", "test")}),
    "untranslated": (_untranslated, {("language-overlap", "sw", "")}),
    "relabelled": (_relabelled, {("gold-mismatch", "sw", "test")}),
    "lost row": (_lost_row, {("unit-mismatch", "sw", "test"), ("small-split", "sw", "test")}),
    "other ids": (_other_ids, {("unit-mismatch", "sw", "test")}),
    "unseen": (
        _unseen,
        {
            ("unseen-label", "sw", "test"),
            ("unseen-label", "sw", "dev"),
            ("placeholder-gold", "sw", "train"),
        },
    ),
    "no gold": (_no_gold, {("no-gold", "sw", "test")}),
    "placeholders": (_placeholders, {("placeholder-gold", "sw", "test")}),
    "small": (_small, {("small-split", language, "test") for language in WORDS}),
    "empty": (lambda cells: _text(cells, "  "), {("empty-text", "sw", "test")}),
    "long": (lambda cells: _text(cells, "maneno mengi " * 400), {("long-text", "sw", "test")}),
    "lost character": (
        lambda cells: _text(cells, "maneno ya \ufffd mengi sana hapa"),
        {("replacement-character", "sw", "test")},
    ),
    "mojibake": (lambda cells: _text(cells, "maneno ya cafÃ© mengi sana hapa"), {("mojibake", "sw", "test")}),
    "control": (lambda cells: _text(cells, "maneno ya\x08 mengi sana hapa"), {("control-character", "sw", "test")}),
    "mark": (lambda cells: _text(cells, "maneno ya\ufeff mengi sana hapa"), {("byte-order-mark", "sw", "test")}),
    "script": (lambda cells: _text(cells, "эти слова не из этого языка"), {("unexpected-script", "sw", "test")}),
    "normalization": (
        _two_forms,
        {("mixed-normalization", "sw", "test")},
    ),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_defects_where_they_are_planted(name: str, tmp_path: Path) -> None:
    plant, expected = DEFECTS[name]
    cells = clean()
    plant(cells)
    report = isogloss.check_task(str(written(tmp_path, cells)))
    assert places(report.defects) == expected
    assert not report.errors
    in_test = [each for each in report.defects if each.split == "test" and each.count == 1 and each.ids]
    assert all(each.ids in (("test-7",), ("test-10",), ("test-9",), ("another",)) for each in in_test)


def test_unreadable_files_do_not_hide_others(tmp_path: Path) -> None:
    cells = clean()
    _duplicate(cells)
    path = written(tmp_path, cells)
    with (tmp_path / "ru" / "dev.jsonl").open("a") as stream:
        stream.write('{"id": "x", "text"')
    (tmp_path / "en" / "dev.jsonl").write_bytes(b"\xff\xfe\0")
    report = isogloss.check_task(str(path))
    assert places(report.errors) == {("unreadable-file", "ru", "dev"), ("unreadable-file", "en", "dev")}
    assert places(report.warnings) == {("duplicate", "sw", "test")}
    assert any(f"dev.jsonl:{SIZES['dev'] + 1}" in defect.what for defect in report.errors)


def test_counts_and_missing_languages(tmp_path: Path) -> None:
    head = 'kind = "classification"\nlabels = ["good", "bad"]\nlanguages = "en sw ru zu"\n'
    head += "counts = { test = 50, train = 61 }\n"
    report = isogloss.check_task(str(written(tmp_path, clean(), head)))
    expected = {("wrong-count", language, "train") for language in WORDS} | {("no-files", "zu", "")}
    assert places(report.errors) == expected
    assert "60 examples, but 61 are declared" in report.errors[-1].what


def _tagged(tmp_path: Path, *sentences: tuple[list[str], list[str]]) -> set[tuple[str, str, str]]:
    rows: Cells = {("en", "test"): [{"tokens": ["word", str(row)], "tags": ["B-PER", "O"]} for row in range(60)]}
    rows["en", "test"] += [{"tokens": tokens, "tags": tags} for tokens, tags in sentences]
    path = written(tmp_path, rows, 'kind = "tagging"\nlabels = ["O", "B-PER", "I-PER"]\n')
    return places([defect for defect in isogloss.check_task(str(path)).defects if defect.code != "missing-label"])


def test_tags(tmp_path: Path) -> None:
    assert _tagged(tmp_path) == set()
    assert _tagged(tmp_path, (["a", "b", "c"], ["B-PER", "I-PER", "O"])) == set()
    assert _tagged(tmp_path, (["a", "b"], ["O", "I-PER"])) == {("invalid-iob", "en", "test")}
    assert _tagged(tmp_path, (["a", "b"], ["O"])) == {("tag-count", "en", "test")}
    assert _tagged(tmp_path, (["a", ""], ["O", "O"])) == {("empty-token", "en", "test")}


def test_answers_and_choices(tmp_path: Path) -> None:
    questions = [
        {"question": f"what is number {row} here", "context": f"here is the number {row} of all", "answers": [str(row)]}
        for row in range(60)
    ]
    questions[7]["answers"] = ["elsewhere"]
    report = isogloss.check_task(
        str(written(tmp_path / "qa", {("en", "test"): questions}, 'kind = "qa"\n', "asked-questions"))
    )
    assert places(report.defects) == {("answer-not-in-context", "en", "test")}
    options = [
        {
            "premise": f"item {row}",
            "question": "effect",
            "choices": [f"it fell {row}", f"it rose {row}"],
            "label": row % 2,
        }
        for row in range(60)
    ]
    options[7]["choices"] = ["it fell 7", "it fell 7"]
    options[8]["label"] = 2
    report = isogloss.check_task(str(written(tmp_path / "choice", {("en", "test"): options}, 'kind = "choice"\n')))
    assert places(report.warnings) == {("equal-choices", "en", "test")}
    assert places(report.errors) == {("choice-out-of-range", "en", "test")}


def test_columns_with_few_values_agree_between_translations(tmp_path: Path) -> None:
    cells: Cells = {
        (language, "test"): [
            {
                "premise": WORDS[language].format(row=row, split="test"),
                "question": ("cause", "effect")[row % 3 == 0],
                "choices": [f"{WORDS[language]} {row} {sign}" for sign in "ab"],
                "label": row % 2,
            }
            for row in range(60)
        ]
        for language in WORDS
    }
    head = 'kind = "choice"\nparallel = true\n'
    assert isogloss.check_task(str(written(tmp_path, cells, head))).defects == []
    for row in cells["ru", "test"]:
        row["question"] = "effect"
    [defect] = isogloss.check_task(str(written(tmp_path, cells, head))).defects
    assert (defect.code, defect.language, defect.count, defect.detail) == ("column-mismatch", "ru", 40, "question")


def test_byte_order_mark_of_a_file(tmp_path: Path) -> None:
    path = written(tmp_path, clean())
    file = tmp_path / "ru" / "dev.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert places(isogloss.check_task(str(path)).defects) == {("file-byte-order-mark", "ru", "dev")}


@pytest.mark.parametrize(
    "text",
    [
        "« Il est né à « Âge » »",
        "NÃO É MANHÃ»",
        "Ð is a letter of Icelandic… Ðe",
        "ÅÄÖ – på svenska",
        "straße, naïve, façade — “quoted”",
        "20 °C à – l'été…",
    ],
)
def test_right_texts_are_not_mojibake(text: str) -> None:
    assert text_faults([[(0, text)]], "fr").rows == {}


@pytest.mark.parametrize("text", ["Привет, мир", "नमस्ते दुनिया", "Γειά σου", "café", "it’s “so”", "日本語"])
def test_mojibake(text: str) -> None:
    wrong = "".join(
        bytes([byte]).decode("cp1252", "ignore") or bytes([byte]).decode("latin-1") for byte in text.encode()
    )
    assert "mojibake" in text_faults([[(0, wrong)]], "xx").rows
    assert "mojibake" not in text_faults([[(0, text)]], "xx").rows


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    cells = clean()
    assert command("task", "check", written(tmp_path / "clean", cells, name="clean"), "--strict").code == 0
    _duplicate(cells)
    path = written(tmp_path / "doubled", cells)
    done = command("task", "check", path, "--json", tmp_path / "report.json")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == "1 problem in 1 language (0 errors, 1 warning); 480 examples in 3 languages"
    assert all(len(line) <= 80 for line in done.out.splitlines())
    record = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert [(each["code"], each["ids"]) for each in record["defects"]] == [("duplicate", ["test-10"])]
    assert command("task", "check", path, "--strict").code == 1
    (tmp_path / "doubled" / "ru" / "dev.jsonl").write_text("{")
    monkeypatch.setenv("COLUMNS", "400")  # paths wrap
    done = command("task", "check", path)
    assert (done.code, "dev.jsonl:1" in done.out) == (1, True)
    assert command("task", "check", path, "--languages", "de").code == 2


def test_unknown_language(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="has no de"):
        isogloss.check_task(str(written(tmp_path, clean())), languages=["de"])


def test_report_for_notebooks(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    cells = clean()
    _duplicate(cells)
    report = isogloss.check_task(str(written(tmp_path, cells)))
    assert list(report.to_pandas()["code"]) == ["duplicate"]
    assert "duplicates" in str(report.defects[0])
    assert "<table" in report._repr_html_()


# Defects of published files, which the check must find.
REAL = [
    ("xquad", "el", "byte-order-mark", "test"),
    ("xcopa", "en", "placeholder-gold", "test"),
    ("xcopa", "tr", "reader-note", "dev"),
    ("pawsx", "ja", "gold-mismatch", "dev"),
    ("nusax", "nij", "duplicate", "test"),
    ("americasnli", "nah", "empty-text", "test"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(name for name, *_ in REAL))
def test_real_defects(name: str, data_dir: Path) -> None:
    report = isogloss.check_task(name, data_dir)
    expected = {(code, language, split) for task, language, code, split in REAL if task == name}
    if not report.sizes:
        pytest.skip(f"no files of {name}")
    assert expected <= places(report.defects)
