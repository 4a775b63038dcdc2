"""Stored translations of whole examples: by id, row by row, in part, and with spans of their own."""

import gzip
import json
from pathlib import Path

import pytest

import isogloss as package
from e2e.command import isogloss
from isogloss.errors import DataError, IsoglossError
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.translation.cached_translator import CachedTranslator
from isogloss.translation.projection import EXACT, LOST
from isogloss.translation.stored_examples import match_stored, nearest_span
from isogloss.translation.translate import translate
from isogloss.translation.translated_files import translated_test_set, translated_training_set
from isogloss.translation.translation_records import SpanAgreement, compared_spans, read_record
from isogloss.translation.translators import UntranslatedError, open_translator

XCOPA, XNLI, TYDIQA = map(task, ("xcopa", "xnli", "tydiqa"))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    return tmp_path


def copa(text: str, number: int) -> str:
    row = {"premise": f"{text} {number}", "choice1": f"{text} a", "choice2": "b", "question": "cause", "idx": number}
    return json.dumps({**row, "label": number % 2}) + "\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_examples_are_matched_by_id_in_any_order(data: Path) -> None:
    put(data / "xcopa/data/it/test.it.jsonl", "".join(copa("italiano", n) for n in range(500)))
    stored = data / "mt" / "it.jsonl.gz"
    stored.parent.mkdir()
    # The same original text has two translations, each in its own example.
    rows = [copa(f"English{number}", number) for number in reversed(range(500))]
    stored.write_bytes(gzip.compress("".join(rows).encode()))
    name = f"replay:{data}/mt/{{source}}.jsonl#examples"
    [made] = package.translate("xcopa", "it", name, split="test", data=data, limits={}, quiet=True)
    assert made.notes == ("500 of 500 examples are in the file",)
    translated = translated_test_set(XCOPA, "it", "test", data)
    assert translated.ids == [str(number) for number in range(500)]
    assert translated["choices"][3] == ("English3 a", "b")
    assert translated["premise"][3] == "English3 3"


def test_missing_examples_are_listed_or_left_out(data: Path) -> None:
    put(data / "xcopa/data/en/train.en.jsonl", "".join(copa("English", n) for n in range(4)))
    put(data / "it.jsonl", copa("italiano", 0) + copa("italiano", 2) + copa("italiano", 9))
    words = ("translate", "xcopa", "--languages", "it", "--data", data, "--with")
    done = isogloss(*words, f"replay:{data}/it.jsonl#examples")
    assert (done.code, done.out) == (1, "")
    assert "2 of 4 examples have no translation (not in the file), first '1', '3'" in done.err
    assert "replay:FILE#examples,covered" in done.err
    done = isogloss(*words, f"replay:{data}/it.jsonl#examples,covered")
    assert done.code == 0, done.err
    assert "2 of 4 examples are in the file" in done.err
    train = translated_training_set(XCOPA, "it", data)
    assert (train.ids, train.notes) == (["0", "2"], ["2 of 4 examples are not translated"])
    # Without the setting, the error says what is missing.
    done = isogloss(*words, f"replay:{data}/it.jsonl")
    assert done.code == 1
    assert f"add 'examples': replay:{data}/it.jsonl#examples" in done.err


def test_test_sets_must_be_whole(data: Path) -> None:
    put(data / "xcopa/data/it/test.it.jsonl", "".join(copa("italiano", n) for n in range(500)))
    put(data / "it.jsonl", copa("English", 0))
    translator = open_translator(f"replay:{data}/it.jsonl#examples,covered", "it", "en")
    with pytest.raises(IsoglossError, match="only 1 of 500 examples are covered"):
        translate(XCOPA, "it", "test", data, translator)
    assert not (data / "translations").exists()


LABELS = ("entailment", "neutral", "contradiction")


def test_rows_without_ids_must_be_parallel(data: Path) -> None:
    rows = [(f"a {n}", f"b {n}", LABELS[n % 3]) for n in range(30)]
    put(data / "xnli/train-en.tsv", "".join("\t".join(row) + "\n" for row in rows))
    originals = load(XNLI, "en", "train", data)
    other = ["\t".join((f"A {n}", f"B {n}", LABELS[n % 3])) + "\n" for n in range(30)]
    header = "sentence1\tsentence2\tgold_label\n"
    stored = match_stored(XNLI, originals, put(data / "ko.tsv", header + "".join(other)), ("ko", "en"))
    assert stored.translated["text_a"] == [f"A {n}" for n in range(30)]
    assert stored.is_whole
    for name, lines, said in (
        ("shifted", other[1:] + other[:1], "only 0 of 30 labels are the same"),
        ("short", other[1:], "it has 29 rows, not 30"),
    ):
        with pytest.raises(DataError, match=said):
            match_stored(XNLI, originals, put(data / f"{name}.tsv", "".join(lines)), ("ko", "en"))
    with pytest.raises(DataError, match="no examples of xnli/en train"):
        match_stored(XNLI, originals, put(data / "noise.tsv", "one\ttwo\tthree\tfour\tfive\n"), ("ko", "en"))
    with pytest.raises(DataError, match="no such file"):
        match_stored(XNLI, originals, data / "nothing.tsv", ("ko", "en"))


def squad(*questions: tuple[str, str, str, int]) -> str:
    paragraphs = [
        {"context": context, "qas": [{"id": name, "question": "?", "answers": [{"text": text, "answer_start": at}]}]}
        for name, context, text, at in questions
    ]
    return json.dumps({"data": [{"paragraphs": paragraphs}]})


def test_stored_spans_are_kept_and_compared_with_projected_ones(data: Path) -> None:
    english = [
        ("1", "Paris in 1990.\nIt rained.", "1990", 9),
        ("2", "Paris in 1990.\nIt rained.", "Paris", 0),
        ("3", "Paris in 1990.\nIt rained.", "rained", 18),
    ]
    put(data / "tydiqa_goldp/english_tydiqa_train.json", squad(*english))
    context = "Pariisi vuonna 1990. Satoi."  # one line less
    finnish = [("1", context, "1990", 15), ("2", context, "Pariisi vuonna", 0), ("3", context, "", -1)]
    put(data / "fi.json", squad(*finnish))
    translator = CachedTranslator(open_translator(f"replay:{data}/fi.json", "en", "fi"), quiet=True)
    path = translate(TYDIQA, "fi", "train", data, translator)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {line["context"] for line in lines} == {context}
    assert [(line["answers"], line["answer_starts"], line["projection"]) for line in lines[:2]] == [
        (["1990"], [15], ["stored"]),
        (["Pariisi vuonna"], [0], ["stored"]),
    ]
    assert lines[2]["projection"] != ["stored"]
    record = read_record(path)
    assert record is not None
    assert record.steps["stored"] == 2
    assert sum(each.spans for each in record.agreement.values()) == 2
    assert sum(each.equal for each in record.agreement.values()) == 1
    assert record.notes[-1].startswith("of 2 stored spans, projection finds 50.0% exactly")


def test_agreement_counts_letters() -> None:
    counts = compared_spans(
        [EXACT, EXACT, EXACT, LOST, EXACT],
        [(0, 4), (0, 4), (0, 3), None, (0, 1)],
        [(0, 4), (2, 6), (2, 6), (0, 1), None],
    )
    # F1 of two of four letters is a half; of one letter of three and four, 2/7.
    assert counts == {
        EXACT: SpanAgreement(spans=3, equal=1, overlapping=2),
        LOST: SpanAgreement(spans=1, equal=0, overlapping=0),
    }


def test_whole_texts_are_replayed_whatever_their_line_breaks(data: Path) -> None:
    put(data / "tydiqa_goldp/english_tydiqa_train.json", squad(("1", "One.\nTwo.", "Two", 5)))
    pairs = [{"source": "One.\nTwo.", "target": "Yksi. Kaksi."}, {"source": "?", "target": "?"}]
    put(data / "pairs.jsonl", "".join(json.dumps(pair) + "\n" for pair in pairs))
    path = translate(TYDIQA, "fi", "train", data, open_translator(f"replay:{data}/pairs.jsonl", "en", "fi"))
    assert json.loads(path.read_text())["context"] == "Yksi. Kaksi."


@pytest.mark.parametrize("language", ["et", "id"])
def test_released_translations_of_xcopa(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    folder = data_dir / "mt_xtreme/xcopa-translate-test"
    if not folder.exists():
        pytest.skip("mt_xtreme is missing")
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path))
    name = f"replay:{folder}/{{source}}/test.{{source}}.jsonl#examples"
    [made] = package.translate("xcopa", language, name, split="test", data=data_dir, quiet=True)
    assert made.report is not None
    assert round(made.report.scores[0].value, 1) == {"et": 52.3, "id": 40.8}[language]
    assert len(translated_test_set(XCOPA, language, "test", data_dir)) == 500


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "language", "covered"),
    [("squad-es/dev-v1.1-es_small.json", "es", 732), ("squad-it/SQuAD_it-test.json", "it", 778)],
)
def test_released_questions_cover_a_part_of_xquad(data_dir: Path, name: str, language: str, covered: int) -> None:
    path = data_dir / "mt_xtreme" / name
    if not path.parent.exists():
        pytest.skip("mt_xtreme is missing")
    originals = load("xquad", "en", "test", data_dir)
    with pytest.raises(UntranslatedError, match=rf"{1190 - covered} of 1,190 examples have no translation"):
        match_stored(task("xquad"), originals, path, (language, "en"))
    stored = match_stored(task("xquad"), originals, path, (language, "en"), covered=True)
    assert len(stored.rows) == covered
    spans = stored.spans(stored.translated["context"])
    assert spans is not None
    assert sum(map(bool, spans)) > 0.7 * covered


@pytest.mark.parametrize("split", ["dev", "test"])
def test_korean_rows_are_parallel_to_xnli(data_dir: Path, split: str) -> None:
    path = data_dir / f"mt_xtreme/kornli/xnli.{split}.ko.tsv"
    if not path.parent.exists():
        pytest.skip("mt_xtreme is missing")
    originals = load(XNLI, "en", split, data_dir)
    stored = match_stored(XNLI, originals, path, ("ko", "en"))
    assert stored.is_whole
    assert stored.translated["text_a"][0].isascii() is False
    assert Path(stored.translated.sources[0]).name.startswith(f"xnli.{split}.ko")


def test_nearest_of_several_stored_spans() -> None:
    spans = [(0, 4), (6, 9), (5, 9)]
    assert nearest_span(spans, (5, 8)) == (5, 9)
    assert nearest_span(spans, (20, 30)) == nearest_span(spans, None) == (0, 4)
    assert nearest_span([], (0, 1)) is None
