"""Translated data: our own files, those of XTREME and others, and projected answers."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import DataError, IsoglossError
from isogloss.tasks.kinds.qa import QuestionAnswering
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.regimes import Fit, regime
from isogloss.translation.cached_translator import CachedTranslator
from isogloss.translation.translate import translate, write_untranslated
from isogloss.translation.translated_answers import find_answers
from isogloss.translation.translated_files import (
    translated_test_set,
    translated_training_set,
    translation_path,
)
from isogloss.translation.translation_records import projection_notes
from isogloss.translation.translators import UntranslatedError, command_translator, open_translator

XNLI, XCOPA, TYDIQA, XQUAD, PAWSX = map(task, ("xnli", "xcopa", "tydiqa", "xquad", "pawsx"))
LABELS = ("entailment", "neutral", "contradiction")


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def put_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    return put(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def squad(*rows: tuple[str, str, str, int]) -> str:
    """Return a SQuAD file of (id, context, answer, start)."""
    paragraphs = [
        {"context": context, "qas": [{"id": name, "question": "?", "answers": [{"text": text, "answer_start": at}]}]}
        for name, context, text, at in rows
    ]
    return json.dumps({"data": [{"paragraphs": paragraphs}]})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small English training sets and a Spanish test set."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    put(tmp_path / "xnli/train-en.tsv", "".join(f"it is {n}\tno {n}\t{LABELS[n % 3]}\n" for n in range(4)))
    put(tmp_path / "xnli/test-es.tsv", "".join(f"es {n}\tno {n}\t{LABELS[n % 3]}\n" for n in range(5010)))
    context = "In May 1990 the red house burnt, in May 1990."
    english = [("english-1", context, "the red house", 12), ("english-2", context, "May 1990", 36)]
    put(tmp_path / "tydiqa_goldp/english_tydiqa_train.json", squad(*english))
    copa = {"premise": "It fell.", "choice1": "Ice.", "choice2": "Sun.", "question": "cause", "label": 0, "idx": 7}
    put_rows(tmp_path / "xcopa/data/en/train.en.jsonl", [copa])
    return tmp_path


def test_our_own_folder_gives_texts_and_the_original_labels(data: Path) -> None:
    rows = [{"id": f"train-{n}", "text_a": f"es {n}", "text_b": f"no {n}", "label": "wrong"} for n in (3, 0, 2)]
    put_rows(data / "translations/xnli/translate-train/es.jsonl", rows)
    train = regime("translate-train").training(XNLI, Fit(("es",), "es"), data, 0)
    assert (train.language, train.split, train.gold) == ("es", "train", "label")
    assert train.ids == ["train-0", "train-2", "train-3"]
    assert train["text_a"] == ["es 0", "es 2", "es 3"]
    assert train["label"] == ["entailment", "contradiction", "entailment"]
    assert train.notes == ["1 of 4 examples are not translated"]
    assert [Path(source).name for source in train.sources] == ["train-en.tsv", "es.jsonl"]


def test_all_is_english_and_its_translations(data: Path) -> None:
    for code in ("es", "sw"):
        rows = [{"id": f"train-{n}", "text_a": f"{code} {n}", "text_b": "no"} for n in range(4)]
        put_rows(data / f"translations/xnli/translate-train/{code}.jsonl", rows)
    train = regime("translate-train-all").training(XNLI, Fit(("es", "de")), data, 0)
    assert train.language == "en+es+sw"
    assert train["text_a"][3:6] == ["it is 3", "es 0", "es 1"]
    assert train["label"] == [LABELS[n % 3] for n in range(4)] * 3


def test_folder_may_be_elsewhere_and_packed(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "else"))
    path = put(tmp_path / "else/xcopa/translate-train/it.jsonl.gz", "")
    row = {"id": "7", "premise": "È caduto.", "choices": ["Ghiaccio.", "Sole."], "question": "causa"}
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    train = translated_training_set(XCOPA, "it", data)
    assert train["choices"] == [("Ghiaccio.", "Sole.")]
    assert train["question"] == ["cause"]  # the format's label, not the language's
    assert train["label"] == [0]


def test_answers_are_projected_to_nearest_occurrence(data: Path) -> None:
    context = "En mayo 1990 La casa roja ardió, en mayo 1990."
    rows = [
        {"id": "english-1", "question": "q", "context": context, "answers": ["la casa roja."]},
        {"id": "english-2", "question": "q", "context": context, "answers": ["mayo 1990"]},
    ]
    put_rows(data / "translations/tydiqa/translate-train/fi.jsonl", rows)
    train = translated_training_set(TYDIQA, "fi", data)
    assert train["answers"] == [["La casa roja"], ["mayo 1990"]]
    assert train["answer_starts"] == [[13], [36]]
    rows[0]["answers"] = ["el hogar"]
    put_rows(data / "translations/tydiqa/translate-train/fi.jsonl", rows)
    train = translated_training_set(TYDIQA, "fi", data)
    assert train.ids == ["english-2"]
    assert train["context"] == [context]
    assert train.notes == [
        "answers: 1 of 2 projected (exact 1), 1 lost (50.0%)",
        "1 of 2 questions dropped: the answer is not in the passage",
    ]
    rows[1]["answers"] = [""]
    put_rows(data / "translations/tydiqa/translate-train/fi.jsonl", rows)
    with pytest.raises(DataError, match="no example left to train on"):
        translated_training_set(TYDIQA, "fi", data)


@given(st.text(max_size=30), st.integers(0, 30), st.integers(1, 30), st.integers(-5, 40))
def test_located_answer_is_at_its_offset(context: str, start: int, length: int, place: int) -> None:
    text = context[start : start + length]
    for answer, at in find_answers(context, [(text, place), (text.upper(), place), ("never there: 0123456789" * 3, 0)]):
        assert context[at : at + len(answer)] == answer
        assert answer


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="."), min_size=1).filter(lambda text: text == text.strip())
)
def test_present_answer_is_located(text: str) -> None:
    assert find_answers(f"x {text} y {text} z", [(text, len(text) + 5)])[0][1] == len(text) + 5


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "train-9", "text_a": "a", "text_b": "b"}, "id 'train-9' is not one of xnli/en train"),
        ({"id": "train-1", "text_a": "a"}, "'text_b' is not a text"),
        ({"id": "train-1", "text_a": 3, "text_b": "b"}, "es.jsonl:1: not the expected JSON record"),
    ],
)
def test_mismatched_rows_are_reported(data: Path, row: dict[str, Any], said: str) -> None:
    put_rows(data / "translations/xnli/translate-train/es.jsonl", [row])
    with pytest.raises(DataError) as caught:
        translated_training_set(XNLI, "es", data)
    assert said in str(caught.value)
    assert "es.jsonl" in caught.value.where


def test_wrong_number_of_choices_is_reported(data: Path) -> None:
    put_rows(data / "translations/xcopa/translate-train/it.jsonl", [{"id": 7, "premise": "a", "choices": ["b"]}])
    with pytest.raises(DataError, match="'choices' is not 2 texts"):
        translated_training_set(XCOPA, "it", data)


def test_answers_as_single_text_are_reported(data: Path) -> None:
    row = {"id": "english-1", "question": "q", "context": "la casa roja", "answers": "la casa"}
    put_rows(data / "translations/tydiqa/translate-train/fi.jsonl", [row])
    with pytest.raises(DataError, match=r"fi\.jsonl:1: not the expected JSON record"):
        translated_training_set(TYDIQA, "fi", data)


def test_missing_translation_error_has_no_location(data: Path) -> None:
    for read in (
        lambda: translated_training_set(XNLI, "de", data),
        lambda: translated_test_set(XNLI, "es", "test", data),
    ):
        with pytest.raises(DataError, match="no translation of xnli's") as caught:
            read()
        assert not caught.value.where
        assert "isogloss translate" in caught.value.fix
    with pytest.raises(DataError, match=r"Run isogloss fetch multinli or isogloss fetch xnli-translated, or run iso"):
        translated_training_set(XNLI, "de", data)


def test_questions_keep_ids_and_gold(data: Path) -> None:
    rows = [{"id": f"test-{n}", "text_a": f"en {n}", "text_b": "no"} for n in reversed(range(5010))]
    path = put_rows(data / "translations/xnli/translate-test/es.jsonl", rows)
    asked, originals = regime("translate-test").examples(XNLI, "es", "test", data), load("xnli", "es", "test", data)
    assert (asked.language, set(asked["language"])) == ("es", {"en"})
    assert (asked.ids, asked["label"], asked.units) == (originals.ids, originals["label"], originals.units)
    assert asked["text_a"][17] == "en 17"
    assert asked.checksum != originals.checksum
    put_rows(path, rows[:-2])
    with pytest.raises(DataError, match="2 of 5,010 examples are not translated, first 'test-0'"):
        translated_test_set(XNLI, "es", "test", data)


def test_english_needs_no_translation(data: Path) -> None:
    put(data / "xnli/test-en.tsv", "a\tb\tneutral\n" * 5010)
    assert regime("translate-test").examples(XNLI, "en", "test", data)["text_a"][0] == "a"
    assert len(regime("translate-train").training(XNLI, Fit(("en",), "en"), data, 0)) == 4


@pytest.mark.parametrize("place", ["translations/XNLI/translate-train", "xnli/XNLI-Translated"])
@pytest.mark.parametrize("own", ["it is\tno\t", ""])
def test_xtremes_translated_pairs(data: Path, place: str, own: str) -> None:
    rows = f"{own}es uno\tno\tcontradictory\n{own}es dos\tno\tneutral\ndamaged\n"
    put(data / place / "en-es-translated.tsv", rows)
    train = translated_training_set(XNLI, "es", data)
    assert (train["text_a"], train["text_b"]) == (["es uno", "es dos"], ["no", "no"])
    assert train["label"] == ["contradiction", "neutral"]
    assert train.notes == ["1 of 3 damaged rows dropped"]


def test_file_of_other_columns_is_refused(data: Path) -> None:
    put(data / "translations/PAWSX/translate-train/en-es-translated.tsv", "1\ta\tb\n2\tc\td\n")
    with pytest.raises(DataError, match="2 of 2 rows are not pairs with a label of pawsx"):
        translated_training_set(PAWSX, "es", data)


def test_training_sets_of_xnli_and_pawsx_are_translations(data: Path) -> None:
    head = "premise\thypo\tlabel\n"
    put(data / "xnli/XNLI-MT-1.0/multinli/multinli.train.es.tsv", f"{head}es\tno\tcontradictory\nd\te\tneutral\nf\n")
    spanish = translated_training_set(XNLI, "es", data)
    assert (spanish["text_a"], spanish["label"]) == (["es", "d"], ["contradiction", "neutral"])
    assert spanish.notes == ["1 of 3 damaged rows dropped"]
    put(data / "pawsx/es/translated_train.tsv", "id\tsentence1\tsentence2\tlabel\n1\tes\tno\t1\n")
    assert translated_training_set(PAWSX, "es", data)["label"] == ["1"]


@pytest.mark.parametrize(
    "row", ["es {0}\tno\ten {0}\tno\tneutral", "es {0}\tno\ten {0}\tno", "en {0}\tno\tneutral", "en {0}\tno"]
)
def test_xtremes_translated_test_sets(data: Path, row: str) -> None:
    path = put(
        data / "translations/XNLI/translate-test/test-es-en-translated.tsv",
        "".join(f"{row.format(n)}\n" for n in range(5010)),
    )
    asked = translated_test_set(XNLI, "es", "test", data)
    assert asked["text_a"][4] == "en 4"
    assert asked["label"][:3] == list(LABELS)
    assert (asked.language, set(asked["language"])) == ("es", {"en"})
    put(path, "a\tb\tneutral\n" * 5009)
    with pytest.raises(DataError, match="the 5,009 examples do not match the 5,010 of xnli/es test"):
        translated_test_set(XNLI, "es", "test", data)
    put(path, "a\n" * 5010)
    with pytest.raises(DataError, match="expected 2 to 5 columns, got 1"):
        translated_test_set(XNLI, "es", "test", data)


def test_xtremes_translated_questions(data: Path) -> None:
    rows = [("a", "sitä en tiedä", "tiedä", 8), ("b", "ei mitään", "mitään", 0), ("c", "ei", "joo", 0)]
    put(data / "translations/TyDiQA-GoldP/translate-train/tydiqa.translate.train.en-fi.json", squad(*rows))
    train = translated_training_set(TYDIQA, "fi", data)
    assert train.ids == ["a", "b"]
    assert train.root == data
    assert train["answer_starts"] == [[8], [3]]
    assert train.notes == ["1 of 3 questions dropped: the answer is not in the passage"]
    # The same SQuAD files serve XQuAD and MLQA.
    put(data / "translations/SQuAD/translate-train/squad.translate.train.en-es.json", squad(*rows, rows[0]))
    for other in (XQUAD, task("mlqa")):
        assert translated_training_set(other, "es", data).ids == ["train-0", "train-1", "train-3"]
    put(data / "mlqa/mlqa-translate-train/vi_squad-translate-train-train-v1.1.json", squad(*rows))
    assert translated_training_set(task("mlqa"), "vi", data).ids == ["a", "b"]


def test_translated_copa(data: Path) -> None:
    row = {"premise": "E.", "choice1": "x", "choice2": "y", "question": "effect", "label": 1, "idx": 3}
    put_rows(data / "xcopa_translate_train/xcopa_et_translate_train.jsonl", [row])
    assert translated_training_set(XCOPA, "et", data)["choices"] == [("x", "y")]
    tests = [{**row, "idx": n, "premise": f"et {n}", "label": n % 2} for n in range(500)]
    put_rows(data / "xcopa/data/et/test.et.jsonl", tests)
    put_rows(data / "xcopa/data-gmt/et/test.et.jsonl", [{**one, "premise": "en", "label": 0} for one in tests])
    asked = translated_test_set(XCOPA, "et", "test", data)
    assert asked["premise"] == ["en"] * 500
    assert asked["label"][:3] == [0, 1, 0]


def upper(*options: str) -> str:
    """Translate every line to upper case."""
    code = "import sys; sys.stdout.writelines(line.upper() for line in sys.stdin)"
    return f"{sys.executable} -c '{code}' {' '.join(options)}"


def test_program_output_is_read_back(data: Path) -> None:
    path = translate(TYDIQA, "fi", "train", data, command_translator(upper()))
    assert path == translation_path(TYDIQA, "fi", "train", data)
    train = translated_training_set(TYDIQA, "fi", data)
    assert train["answers"] == [["THE RED HOUSE"], ["MAY 1990"]]
    assert train["answer_starts"] == [[12], [36]]
    translate(XNLI, "es", "test", data, command_translator(upper()))
    assert translated_test_set(XNLI, "es", "test", data)["text_a"][2] == "ES 2"
    translate(XCOPA, "it", "train", data, command_translator(upper()))
    assert translated_training_set(XCOPA, "it", data)["choices"] == [("ICE.", "SUN.")]


def test_stored_translations_need_neither_marked_texts_nor_words(data: Path) -> None:
    """Markers and alignments are attempted only: a file of translations has the texts, at most."""
    pairs = {
        "?": "?",
        "In May 1990 the red house burnt, in May 1990.": "En mayo 1990 la casa roja ardió, en mayo 1990.",
        "the red house": "La casa roja",
    }
    rows = [{"source": source, "target": target} for source, target in pairs.items()]
    stored = open_translator(f"replay:{put_rows(data / 'stored.jsonl', rows)}", "en", "fi")
    for translator in (stored, CachedTranslator(stored, data / "cache", quiet=True)):
        path = translate(TYDIQA, "fi", "train", data, translator)
        train = translated_training_set(TYDIQA, "fi", data)
        # The date has no translation of its own, but its spelling aligns.
        assert train["answers"] == [["la casa roja"], ["mayo 1990"]]
        assert train.notes == ["answers: 2 of 2 projected (exact 1, alignment 1), 0 lost (0.0%)"]
        assert projection_notes(path) == ["answers: 2 of 2 projected (exact 1, alignment 1), 0 lost (0.0%)"]
    incomplete = put_rows(data / "incomplete.jsonl", rows[:1])
    with pytest.raises(UntranslatedError):
        translate(TYDIQA, "fi", "train", data, open_translator(f"replay:{incomplete}", "en", "fi"))


def test_translations_of_other_texts_are_refused(data: Path) -> None:
    path = translate(XNLI, "es", "train", data, command_translator(upper()))
    rows = [f"it is {n}\tno {n}\t{LABELS[n % 3]}\n" for n in (1, 0, 2, 3)]
    put(data / "xnli/train-en.tsv", "".join(rows))
    with pytest.raises(DataError, match="translated from another version of xnli/en train"):
        translated_training_set(XNLI, "es", data)
    path.write_text(path.read_text() + "\n")  # since then edited by hand
    assert translated_training_set(XNLI, "es", data)["text_a"][0] == "IT IS 0"


def test_line_breaks_stay(data: Path) -> None:
    put(data / "tydiqa_goldp/english_tydiqa_train.json", squad(("english-1", "one\n\n two\nthree", "two", 6)))
    translate(TYDIQA, "fi", "train", data, command_translator(upper()))
    assert translated_training_set(TYDIQA, "fi", data)["context"] == ["ONE\n\nTWO\nTHREE"]


def test_by_hand_writes_the_same_file(data: Path, tmp_path: Path) -> None:
    [(path, target)] = write_untranslated(TYDIQA, "fi", "train", data, tmp_path / "todo.jsonl")
    assert target == data / "translations/tydiqa/translate-train/fi.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    assert first.keys() == {"id", "question", "context", "answers"}
    translation_path(TYDIQA, "fi", "train", data).parent.mkdir(parents=True)
    path.rename(translation_path(TYDIQA, "fi", "train", data))
    assert translated_training_set(TYDIQA, "fi", data)["answers"] == load("tydiqa", "en", "train", data)["answers"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-translator-anywhere", "cannot start"),
        (f"{sys.executable} -c 'raise SystemExit(\"no model\")'", "exited with 1: no model"),
        (f"{sys.executable} -c 'print()'", "got 1"),
        ("an 'open quote", "cannot start"),
    ],
)
def test_failing_program_is_reported(data: Path, command: str, said: str) -> None:
    with pytest.raises(IsoglossError, match=said):
        translate(XNLI, "es", "train", data, command_translator(command))
    assert not translation_path(XNLI, "es", "train", data).exists()


def test_kind_without_texts_is_not_translated(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuestionAnswering, "translatable", ())
    with pytest.raises(IsoglossError, match="tydiqa cannot be translated"):
        translate(TYDIQA, "es", "train", data, command_translator(upper()))


@pytest.mark.parametrize("count", [0, 3])
def test_function_must_return_one_translation_per_text(data: Path, count: int) -> None:
    with pytest.raises(IsoglossError, match=rf"the translator returned {count} texts for 8"):
        translate(XNLI, "es", "train", data, lambda texts: texts[:count])


def test_lone_surrogates_of_a_translator_are_replaced(data: Path) -> None:
    path = translate(XNLI, "es", "train", data, lambda texts: [f"{text}\ud800" for text in texts])
    assert json.loads(path.read_text().splitlines()[0])["text_b"] == "no 0?"


def test_kind_declares_translatable_columns(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuestionAnswering, "translatable", ("question",))
    path = translate(TYDIQA, "fi", "train", data, command_translator(upper()))
    assert json.loads(path.read_text().splitlines()[0]).keys() == {
        *("id", "question", "answers", "answer_starts", "projection")
    }
    originals, train = load("tydiqa", "en", "train", data), translated_training_set(TYDIQA, "fi", data)
    assert train["question"] == [text.upper() for text in originals["question"]]
    assert train["context"] == originals["context"]
    assert train["answers"] == originals["answers"]  # located in the passage, ignoring case


def test_unprojectable_columns_are_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QuestionAnswering, "moves_with_text", ("answers", "context"))
    with pytest.raises(IsoglossError, match="tydiqa cannot be translated: answers and context would need projecting"):
        translate(TYDIQA, "fi", "train", data, command_translator(upper()))
