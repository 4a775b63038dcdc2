"""Pseudo test sets: English test sets in other languages, with the gold that moves along."""

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import DataError, IsoglossError, MissingDataError, UnknownNameError
from isogloss.languages import registry
from isogloss.tasks.loading import load
from isogloss.tasks.pseudo_sets import pseudo_languages, pseudo_path
from isogloss.tasks.registry import task
from isogloss.translation.artefacts import check_translations, pseudo_quality
from isogloss.translation.translators import Translator


def shouted(lines: Sequence[str]) -> list[str]:
    """Translate into upper case."""
    return [line.upper() for line in lines]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with translations only: the mini tasks make their own files."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    return tmp_path


def test_labels_are_kept_and_examples_keep_their_english_ids(data: Path) -> None:
    [made] = isogloss.translate("mini-xnli", "pt", shouted, pseudo=True, limits={}, data=data)
    assert (made.split, made.path) == ("pseudo", data / "translations/mini-xnli/pseudo/pt.jsonl")
    english, pseudo = load("mini-xnli", "en", "test", data), load("mini-xnli", "pt", "pseudo", data)
    assert (pseudo.language, pseudo.split, pseudo.ids) == ("pt", "pseudo", english.ids)
    assert pseudo["text_a"] == [text.upper() for text in english["text_a"]]
    assert pseudo["label"] == english["label"]
    assert pseudo.units == english.units
    assert pseudo.checksum != english.checksum
    assert pseudo.notes == english.notes


def test_languages_of_a_task_may_have_a_pseudo_set_too(data: Path) -> None:
    isogloss.translate("mini-xnli", ["de", "pt"], shouted, pseudo=True, limits={}, data=data)
    assert load("mini-xnli", "de", "pseudo", data)["text_a"] != load("mini-xnli", "de", "test", data)["text_a"]
    assert pseudo_languages(task("mini-xnli"), "pseudo", data) == ("de", "pt")


def test_answers_move_along_and_questions_that_lose_theirs_are_left_out(data: Path) -> None:
    english = load("mini-xquad", "en", "test", data)
    lost = english["context"][0]

    def translator(lines: Sequence[str]) -> list[str]:
        return ["" if line.strip() and line.strip() in lost else line.upper() for line in lines]

    gone = {name for name, context in zip(english.ids, english["context"], strict=True) if context == lost}
    [made] = isogloss.translate("mini-xquad", "pt", translator, pseudo=True, limits={}, data=data)
    pseudo = load("mini-xquad", "pt", "pseudo", data)
    assert gone
    assert pseudo.ids == [name for name in english.ids if name not in gone]
    for context, answers, starts in zip(pseudo["context"], pseudo["answers"], pseudo["answer_starts"], strict=True):
        assert answers
        assert all(context[start : start + len(text)] == text for text, start in zip(answers, starts, strict=True))
    kept = dict(zip(english.ids, english["answers"], strict=True))
    assert pseudo["answers"] == [[text.upper() for text in kept[name]] for name in pseudo.ids]
    dropped = f"{len(gone)} of {len(english)} examples"
    assert pseudo.notes[-1] == f"{dropped} have no translation, or lost their gold in it: left out"
    assert f"{dropped} dropped" in made.notes


@pytest.mark.parametrize("name", ["mini-wikiann", "mini-udpos"])
def test_tags_move_along(data: Path, name: str) -> None:
    isogloss.translate(name, "pt", shouted, pseudo=True, limits={}, data=data)
    english, pseudo = load(name, "en", "test", data), load(name, "pt", "pseudo", data)
    assert len(pseudo) > 0.9 * len(english)
    tags = dict(zip(english.ids, english["tags"], strict=True))
    right = [own == tags[name] for name, own in zip(pseudo.ids, pseudo["tags"], strict=True)]
    assert sum(right) > 0.9 * len(right)
    for text, tokens, offsets in zip(pseudo["text"], pseudo["tokens"], pseudo["offsets"], strict=True):
        assert [text[start:end] for start, end in offsets] == tokens


def test_dev_sets_are_a_split_of_their_own(data: Path, tmp_path: Path) -> None:
    rows = "".join(f"a {n}\tb {n}\tneutral\n" for n in range(2490))
    (data / "xnli").mkdir()
    (data / "xnli/dev-en.tsv").write_text(rows.replace("a 1\tb 1\tneutral", "a 1\tb 1\tentailment"))
    [made] = isogloss.translate("xnli", "pt", shouted, pseudo=True, limits={}, split="dev", data=data)
    assert made.path == data / "translations/xnli/pseudo/dev-pt.jsonl"
    assert load("xnli", "pt", "pseudo-dev", data)["text_b"][0] == "B 0"
    with pytest.raises(MissingDataError, match=r"no pseudo test set of xnli/pt.*Run isogloss translate xnli --pseudo"):
        load("xnli", "pt", "pseudo", data)


@pytest.mark.parametrize(
    ("name", "languages", "split", "message"),
    [
        (
            "mini-tatoeba",
            "pt",
            "",
            "mini-tatoeba cannot have pseudo test sets: its candidates would need translating too",
        ),
        ("mini-xnli", "en", "", "expected a language other than English"),
        ("mini-xnli", [], "", "expected a language other than English"),
        ("mini-xnli", "xx", "", "unknown language 'xx'"),
        ("mini-xnli", "../pt", "", "unknown language"),
        ("mini-xnli", "pt", "train", "unknown split of a pseudo test set 'train'"),
    ],
)
def test_impossible_requests_are_refused(
    data: Path, name: str, languages: str | list[str], split: str, message: str
) -> None:
    with pytest.raises((UnknownNameError, IsoglossError), match=message.replace("(", r"\(")):
        isogloss.translate(name, languages, shouted, pseudo=True, limits={}, split=split, data=data)
    assert not (data / "translations").exists()


def test_an_unlisted_language_is_accepted_with_a_warning(data: Path) -> None:
    registry._unlisted.cache_clear()  # a tag is warned about once
    with pytest.warns(UserWarning, match="'qqq' is not listed"):
        isogloss.translate("mini-xnli", "qqq", shouted, pseudo=True, limits={}, data=data)
    assert load("mini-xnli", "qqq", "pseudo", data).language == "qqq"


def test_a_set_that_loses_all_its_gold_is_an_error(data: Path) -> None:
    def translator(lines: Sequence[str]) -> list[str]:
        return ["…" if len(line) > 30 else "bla" for line in lines]

    with pytest.raises(IsoglossError, match="no example of mini-xquad/pt keeps its gold"):
        isogloss.translate("mini-xquad", "pt", translator, pseudo=True, limits={}, data=data)
    assert not pseudo_path(task("mini-xquad"), "pt", "pseudo", data).exists()


def edited(line: str, **changes: object) -> str:
    row = json.loads(line)
    inner = row.get("pseudo", row)
    return json.dumps({**row, "pseudo": {**inner, **changes}} if "pseudo" in row else {**row, **changes})


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: [], "not a pseudo test set: the first line does not describe it"),
        (lambda lines: lines[1:], "not a pseudo test set"),
        (lambda lines: lines[:1], "0 of .* examples: the file is incomplete"),
        (lambda lines: lines[:-3], "the file is incomplete"),
        (lambda lines: [*lines, lines[-1]], "occurs twice"),
        (lambda lines: [lines[0], edited(lines[1], id="else"), *lines[2:]], "'else' is not in mini-xquad/en"),
        (lambda lines: [lines[0], edited(lines[1], context=None), *lines[2:]], "has no 'context'"),
        (lambda lines: [lines[0], edited(lines[1], answer_starts=[9999]), *lines[2:]], "an answer is not at its off"),
        (lambda lines: [lines[0], edited(lines[1], answers=[], answer_starts=[]), *lines[2:]], "an answer is not at"),
        (lambda lines: [lines[0], edited(lines[1], answers=7), *lines[2:]], "pt.jsonl:2"),
        (lambda lines: [lines[0], lines[1][:30], *lines[2:]], "pt.jsonl:2"),
        (lambda lines: [edited(lines[0], originals="0"), *lines[1:]], "another version of the English test set"),
        (lambda lines: [edited(lines[0], language="sv"), *lines[1:]], "a pseudo set of mini-xquad/sv test, expected"),
    ],
)
def test_damaged_files_are_clear_errors(data: Path, damage: object, message: str) -> None:
    [made] = isogloss.translate("mini-xquad", "pt", shouted, pseudo=True, limits={}, data=data)
    assert made.path is not None
    lines = damage(made.path.read_text(encoding="utf-8").splitlines())  # type: ignore[operator]
    made.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        load("mini-xquad", "pt", "pseudo", data)


@pytest.mark.parametrize("language", ["../../secret", "PT", "pt ", "", "pt/../pt"])
def test_only_tags_are_looked_up(data: Path, language: str) -> None:
    isogloss.translate("mini-xnli", "pt", shouted, pseudo=True, limits={}, data=data)
    with pytest.raises(MissingDataError, match="there are pt"):
        load("mini-xnli", language, "pseudo", data)


class Interrupted(Translator):
    """Translate into upper case one text at a time, and stop after some."""

    def __init__(self, most: int) -> None:
        self.name, self.version, self.source, self.target = "interrupted", "1", "en", "pt"
        self.most, self.done = most, list[str]()

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        for text in texts:
            if len(self.done) == self.most:
                raise KeyboardInterrupt
            self.done.append(text)
            yield {text: text.upper()}


def test_a_killed_command_continues_where_it_stopped(data: Path) -> None:
    first, second = Interrupted(5), Interrupted(10**6)
    options = {"pseudo": True, "limits": {}, "data": data, "cache": data / "cache", "quiet": True}
    with pytest.raises(KeyboardInterrupt):
        isogloss.translate("mini-xnli", "pt", first, **options)  # type: ignore[arg-type]
    assert not (data / "translations").exists()
    [made] = isogloss.translate("mini-xnli", "pt", second, **options)  # type: ignore[arg-type]
    assert made.counts is not None
    assert (made.counts.cached, len(first.done)) == (5, 5)
    assert not {*first.done} & {*second.done}
    assert load("mini-xnli", "pt", "pseudo", data)["text_a"][0].isupper()
    header = json.loads(pseudo_path(task("mini-xnli"), "pt", "pseudo", data).read_text().splitlines()[0])["pseudo"]
    assert header["translator"] == "interrupted 1"


def test_stored_translations_of_a_part_make_a_set_of_that_part(data: Path) -> None:
    english = load("mini-xnli", "en", "test", data)
    texts = {text for name in ("text_a", "text_b") for text in english[name][:7]}
    pairs = "".join(json.dumps({"source": text, "target": text.upper()}) + "\n" for text in sorted(texts))
    stored = data / "stored.jsonl"
    stored.write_text(pairs, encoding="utf-8")
    [made] = isogloss.translate("mini-xnli", "pt", f"replay:{stored}", pseudo=True, limits={}, data=data)
    pseudo = load("mini-xnli", "pt", "pseudo", data)
    assert pseudo.ids[:7] == english.ids[:7]
    assert 7 <= len(pseudo) < len(english)
    assert f"{len(english) - len(pseudo)} of {len(english)} examples have no translation" in pseudo.notes[-1]
    assert not made.failure
    stored.write_text('{"source": "else", "target": "ELSE"}\n', encoding="utf-8")
    [none] = isogloss.translate("mini-xnli", "sv", f"replay:{stored}", pseudo=True, limits={}, data=data)
    assert none.path is None
    assert "not among the stored ones" in {*none.untranslated.values()}


def test_translations_are_checked_against_the_human_set(data: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu", reason="compares with sacrebleu")
    isogloss.translate(
        "mini-xnli", ["de", "sv"], lambda lines: [f"{line} !" for line in lines], pseudo=True, limits={}, data=data
    )
    xnli = task("mini-xnli")
    human, pseudo = load(xnli, "de", "test", data), load(xnli, "de", "pseudo", data)
    pairs: dict[tuple[str, str], tuple[str, str]] = {}
    for name in ("text_a", "text_b"):
        for source, ours, theirs in zip(load(xnli, "en", "test", data)[name], pseudo[name], human[name], strict=True):
            pairs.setdefault((source, ours), (ours, theirs))
    ours, theirs = zip(*pairs.values(), strict=True)
    bleu, chrf = pseudo_quality(xnli, "de", "pseudo", data)
    assert bleu.value == pytest.approx(sacrebleu.corpus_bleu(list(ours), [list(theirs)]).score)
    assert chrf.value == pytest.approx(sacrebleu.corpus_chrf(list(ours), [list(theirs)]).score)
    assert pseudo_quality(xnli, "sv", "pseudo", data) == ()
    report = check_translations(xnli, "sv", "pseudo", data)
    assert (report.source_language, report.target_language) == ("en", "sv")


def test_packed_files_are_read(data: Path) -> None:
    import gzip

    [made] = isogloss.translate("mini-xnli", "pt", shouted, pseudo=True, limits={}, data=data)
    assert made.path is not None
    with gzip.open(f"{made.path}.gz", "wb") as packed, made.path.open("rb") as plain:
        shutil.copyfileobj(plain, packed)
    made.path.unlink()
    assert load("mini-xnli", "pt", "pseudo", data)["text_a"][0].isupper()
    assert pseudo_languages(task("mini-xnli"), "pseudo", data) == ("pt",)
