"""isogloss translate: summaries, limits, --check, and files of lines."""

import csv
import json
from pathlib import Path

import pytest

import isogloss as package
from e2e.command import isogloss
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.translation.translation_records import read_record

NOUNS = "dog cat bird horse cow fish goat mouse sheep wolf".split()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write 20 English training pairs, of which every text has at least four ordinary words."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "xnli").mkdir()
    rows = [
        f"there was a small {noun} in {year}\tthe old {noun} is very happy\tneutral\n"
        for noun in NOUNS
        for year in (1990, 2005)
    ]
    (tmp_path / "xnli/train-en.tsv").write_text("".join(rows))
    return tmp_path


def translated(data: Path, *words: object, command: str = "cat") -> tuple[int, str, Path]:
    done = isogloss("translate", "xnli", "--languages", "es", "--with", command, "--data", data, *words)
    return done.code, done.err, data / "translations/xnli/translate-train/es.jsonl"


def test_garbage_is_not_written(data: Path) -> None:
    code, said, path = translated(data)
    assert code == 1
    assert "untranslated 100.0 % (30 of 30, limit 20.0 %: translations equal to the source)" in said
    assert "--keep-garbage" in said
    assert not path.exists()
    # An earlier translation stays.
    assert translated(data, command="tr a-z n-za-m")[0] == 0
    before = path.read_bytes()
    assert translated(data)[0] == 1
    assert path.read_bytes() == before
    assert translated(data, "--keep-garbage")[0] == 0
    assert path.read_bytes() != before


def test_limits_are_the_users(data: Path) -> None:
    rot = "tr a-z n-za-m"
    assert translated(data, "--limit", "untranslated=1", "--limit", "copied=1", "--limit", "language=1")[0] == 0
    code, said, _ = translated(data, "--limit", "nummers=0.5", command=rot)
    assert (code, "Did you mean numbers" in said) == (2, True)
    for item in ("numbers", "numbers=half", "numbers=2"):
        code, said, _ = translated(data, "--limit", item, command=rot)
        assert code == 1
        assert "limit" in said
    (data / "settings.toml").write_text("[limits]\nnumbers = 0.0\n")
    code, said, _ = translated(data, "--config", data / "settings.toml", command="tr a-z0-9 n-za-m1234567890")
    assert (code, "numbers 100.0 % (20 of 20, limit 0.0 %" in said) == (1, True)


def test_summary_fits_a_terminal(data: Path) -> None:
    code, said, _ = translated(data, command="tr a-z n-za-m")
    assert code == 0
    first, *summary = said.splitlines()
    assert first.startswith("xnli/es train: 30 distinct texts, 30 translated (")
    assert summary[0] == "  length ratio 1.00, type-token ratio " + summary[0].rpartition(" ")[2]
    assert summary[-1].startswith("  none: empty, untranslated, copied, looped, length, script")
    assert max(map(len, summary)) <= 80


def test_check_reports_on_files(data: Path) -> None:
    translated(data, "--keep-garbage")
    words = ("translate", "xnli", "--languages", "es", "--data", data, "--check")
    done = isogloss(*words, "--json", data / "report.json", "--csv", data / "tables")
    assert done.code == 1
    assert "Artefacts of translation, xnli/es train (en to es, 30 texts)" in done.out
    assert "refused: translations of xnli/es train: untranslated 100.0 %" in done.err
    [report] = json.loads((data / "report.json").read_text())
    [share] = [each for each in report["shares"] if each["measure"] == "untranslated"]
    assert (share["count"], share["checked"]) == (30, 30)
    assert sorted(path.name for path in (data / "tables").iterdir()) == ["artefacts.csv", "faults.csv", "style.csv"]
    rows = list(csv.DictReader((data / "tables/artefacts.csv").open(encoding="utf-8")))
    assert [row["count"] for row in rows if row["measure"] == "untranslated"] == ["30"]
    assert isogloss(*words, "--keep-garbage").code == 0
    [same] = package.check_translations("xnli", "es", data=data)
    assert same.share("untranslated").count == 30
    missing = isogloss("translate", "xnli", "--languages", "de", "--data", data, "--check")
    assert (missing.code, "no translation of xnli's English training set to de" in missing.err) == (1, True)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "news.en").write_text("".join(f"The {noun} sleeps in the house .\n" for noun in NOUNS))
    (tmp_path / "news.de").write_text("".join(f"Der {noun} schläft in dem Haus .\n" for noun in NOUNS))
    (tmp_path / "one.de").write_text("".join(f"Der {noun} schläft im Haus .\n" for noun in NOUNS))
    (tmp_path / "two.de").write_text("".join(f"Das {noun} schläft in dem Haus .\n" for noun in NOUNS))
    return tmp_path


def test_lines_are_judged_as_sacrebleu_does(lines: Path) -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    words = ("translate", "--languages", "en,de", "--source", lines / "news.en", "--reference", lines / "news.de")
    done = isogloss(*words, "--target", lines / "one.de", "--target", lines / "two.de", "--json", lines / "r.json")
    assert done.code == 0, done.err
    assert "BLEU" in done.out
    reports = json.loads((lines / "r.json").read_text())
    human = (lines / "news.de").read_text().splitlines()
    for report, name in zip(reports, ("one.de", "two.de"), strict=True):
        assert report["name"] == name.removesuffix(".de")
        own = (lines / name).read_text().splitlines()
        bleu, chrf = (score["value"] for score in report["scores"])
        assert bleu == pytest.approx(sacrebleu.corpus_bleu(own, [human]).score, abs=1e-9)
        assert chrf == pytest.approx(sacrebleu.corpus_chrf(own, [human]).score, abs=1e-9)
    [report] = package.check_lines(lines / "news.en", lines / "one.de", ("en", "de"), references=[lines / "news.de"])
    assert report.scores[0].value == reports[0]["scores"][0]["value"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--languages", "en,de", "--source", "news.en"), "--source and --target go together"),
        (("--languages", "de", "--source", "news.en", "--target", "one.de"), "lines need two languages"),
        (("--languages", "en,de", "--source", "news.en", "--target", "none.de"), "none.de: no such file"),
        (("--languages", "en,de", "--check"), "nothing to check"),
        (("--languages", "en,de"), "no task"),
        (
            ("--languages", "en,de", "--source", "news.en", "--target", "one.de", "--reference", "short.de"),
            "short.de: 1 lines, but news.en has 10",
        ),
    ],
)
def test_incomplete_requests_name_the_problem(
    lines: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], said: str
) -> None:
    (lines / "short.de").write_text("Der Hund .\n")
    monkeypatch.chdir(lines)
    done = isogloss("translate", *words)
    assert done.code == 1
    assert said in done.err


def test_unknown_names_of_lines(lines: Path) -> None:
    with pytest.raises(UnknownNameError, match="tokenizer"):
        package.check_lines(
            lines / "news.en", lines / "one.de", ("en", "de"), references=[lines / "news.de"], tokenizer="14a"
        )
    with pytest.raises(DataError, match="no such file"):
        package.check_lines(lines / "nothing", lines / "one.de", ("en", "de"))


WIKIANN = "en:Paris\tB-LOC\nen:sleeps\tO\n\nen:Rome\tB-LOC\nen:wakes\tO\n\n"


@pytest.fixture
def entities(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "panx").mkdir()
    (tmp_path / "panx/train-en.tsv").write_text(WIKIANN.replace("en:", ""))
    return tmp_path


def test_aligner_and_markers_are_in_the_record(entities: Path, tiny_bert: Path) -> None:
    path = entities / "translations/wikiann/translate-train/es.jsonl"
    words = ("translate", "wikiann", "--languages", "es", "--with", "tr a-z A-Z", "--data", entities, "--keep-garbage")
    for further, aligner, markers in (
        ((), "spelling", True),
        (("--no-markers",), "spelling", False),
        (("--align", f"encoder:{tiny_bert}", "--no-markers"), f"encoder:{tiny_bert.name}, layer ", False),
        (("--align", f"{tiny_bert}#layer=1"), f"encoder:{tiny_bert.name}, layer 1, ", True),
    ):
        done = isogloss(*words, *further)
        assert done.code == 0, done.err
        record = read_record(path)
        assert record is not None
        assert record.aligner.startswith(aligner)
        assert (record.markers, "markers" in record.steps) == (markers, markers)
        assert (record.translator, record.unit, record.total) == ("tr a-z A-Z", "entities", 2)
    (entities / "settings.toml").write_text(f'align = "{tiny_bert}"\nmarkers = false\n')
    assert isogloss(*words, "--config", entities / "settings.toml").code == 0
    record = read_record(path)
    assert record is not None
    assert (record.aligner.startswith("encoder:"), record.markers) == (True, False)


def test_unusable_aligners_are_reported(entities: Path, tiny_bert: Path) -> None:
    words = ("translate", "wikiann", "--languages", "es", "--with", "cat", "--data", entities, "--align")
    for name, said in ((f"encoder:{entities}/nothing", "cannot load the model"), (f"{tiny_bert}#layer=99", "no layer")):
        done = isogloss(*words, name)
        assert done.code == 1
        assert said in done.err
    with pytest.raises(IsoglossError):
        package.translate("wikiann", "es", "cat", data=entities, settings={"markers": "no"})
