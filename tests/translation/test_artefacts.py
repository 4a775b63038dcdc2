"""Faults of translations on hand-made texts, the report on them, its limits and its tables."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import DataError, IsoglossError, MissingDataError, UnknownNameError
from isogloss.tables.translation_tables import artefact_table, score_table, style_table, translation_tables
from isogloss.tasks.registry import task
from isogloss.translation import text_checks
from isogloss.translation.artefacts import ParallelTexts, check_translations, judge_translations
from isogloss.translation.text_checks import Check, loop_lengths, text_styles
from isogloss.translation.translation_reports import LIMITS, MEASURES, GarbageTranslationError, TranslationReport

ENGLISH = ["The cat sat on the mat.", "It rained all day long.", "She bought 25 apples.", "He left early."]
SPANISH = ["El gato se sentó en la alfombra.", "Llovió todo el día.", "Compró 25 manzanas.", "Se fue temprano."]
ANY_TEXT = st.text(st.characters(codec=None), max_size=40)


def flags(check: Check) -> list[tuple[int, int]]:
    return list(zip(check.faults.tolist(), check.checked.tolist(), strict=True))


def judged(sources: list[str], translations: list[str], pair: str = "en-es", **options: object) -> TranslationReport:
    source, _, target = pair.partition("-")
    return judge_translations(
        ParallelTexts(
            sources=sources,
            translations=translations,
            source_language=source,
            target_language=target,
            **options,  # type: ignore[arg-type]
        )
    )


def test_empty_translations_of_texts() -> None:
    assert flags(text_checks.empty(["a", "b", " "], ["x", " \n", ""])) == [(0, 1), (1, 1), (0, 0)]


def test_untranslated_needs_words_besides_names_and_numbers() -> None:
    sources = ["the red house", "the red house", "Barack Obama 1961", "Stop", "in Paris"]
    translations = ["The  red house", "la casa roja", "Barack Obama 1961", "Stop", "in Paris"]
    assert flags(text_checks.untranslated(sources, translations, "en")) == [(1, 1), (0, 1), (0, 0), (0, 0), (0, 0)]


def test_copies_share_half_of_their_pairs_of_words() -> None:
    source = "we saw the old red house near the river"
    # Pairs of the translation: 4 with 2 of the source, then 5 with 2, then names only.
    translations = ["vimos the old red cerca", "vimos the old red cerca del", "Anna Maria Bell Rio", ""]
    assert flags(text_checks.copied([source] * 4, translations, "en")) == [(1, 1), (0, 1), (0, 1), (0, 0)]
    assert flags(text_checks.copied(["short one"], ["short one"], "en")) == [(0, 0)]
    assert flags(text_checks.copied(["今天天气很好我们走"], ["今天天气很好ね"], "zh")) == [(1, 1)]
    assert flags(text_checks.copied(["हम पुराने लाल घर गए"], ["हम पुराने लाल घर गए"], "hi")) == [(1, 1)]


def test_loops_by_hand() -> None:
    texts = {
        "very very very very good": 20,
        "very very very good and so on": 0,
        "haha haha": 0,
        "no. " * 5: 20,
        "no. " * 4: 0,
        "-" * 50: 0,
        "x" + "ab" * 15 + "y": 30,
        "很" * 20: 20,
        "a whole sentence that is rather long. " * 4: 152,
    }
    assert loop_lengths(list(texts)).tolist() == list(texts.values())
    assert loop_lengths([]).tolist() == []
    # The ends of texts interrupt loops.
    assert loop_lengths(["ababab"] * 10).tolist() == [0] * 10


@given(st.lists(st.text("ab ", max_size=60), max_size=5))
def test_loops_are_those_of_the_definition(texts: list[str]) -> None:
    def longest(text: str) -> int:
        best = 0
        for piece in range(1, len(text)):
            for start in range(len(text) - piece):
                end = start + piece
                while end < len(text) and text[end] == text[end - piece]:
                    end += 1
                has_letter = any(map(str.isalpha, text[start : start + piece]))
                if end - start >= max(4 * piece, 20) and has_letter:
                    best = max(best, end - start)
        return best

    assert loop_lengths(texts).tolist() == [longest(text) for text in texts]


def test_loops_of_the_source_may_be_kept() -> None:
    loop = "ha ha " * 10
    assert flags(text_checks.looped(["ja ja " * 8, "nice"], [loop, loop])) == [(0, 1), (1, 1)]


def test_odd_lengths_against_the_median_ratio() -> None:
    # All ratios are 2, except one of 6 and one of 0.5 of 100 characters: (600+10)/(200+10) > 2.5, 60/210 < 0.4.
    sources, lengths = ["x" * 100] * 7, [200, 200, 200, 200, 200, 600, 50]
    translations = ["y" * length for length in lengths]
    assert [fault for fault, _ in flags(text_checks.odd_lengths(sources, translations))] == [0, 0, 0, 0, 0, 1, 1]
    assert flags(text_checks.odd_lengths(["ab", "c"], ["", "d"])) == [(0, 0), (0, 1)]
    # Short texts may differ more: (12+10)/(2+10) < 2.5.
    assert flags(text_checks.odd_lengths(["ab"] * 3, ["cd", "cd", "abcdefghijkl"]))[2] == (0, 1)


@pytest.mark.filterwarnings("ignore:language 'qqq' is not listed")
def test_script_and_language() -> None:
    texts = ["Это русский текст, написанный кириллицей.", "This text is written in plain English words.", "12"]
    assert flags(text_checks.other_script(texts, "ru")) == [(0, 1), (1, 1), (0, 0)]
    assert flags(text_checks.other_script(["漢字", "カタカナ"], "ja")) == [(0, 1), (0, 1)]
    assert flags(text_checks.other_script(texts, "qqq")) == [(0, 0)] * 3
    pytest.importorskip("py3langid", reason="py3langid is not installed")
    assert flags(text_checks.other_language(texts, "en")) == [(1, 1), (0, 1), (0, 0)]
    # Nothing is said about languages that cannot be identified.
    assert flags(text_checks.other_language(texts, "bm")) == [(0, 0)] * 3


def test_numbers_are_compared_without_separators() -> None:
    sources = ["1,250.5 km in 1990, 3 men", "10,000 and 77", "2,600 acres", "year 1990 or 1990"]
    translations = ["1.250,5 km en 1990, tres", "10 000 y setenta y siete", "占地2，600英亩", "١٩٩٠"]
    assert flags(text_checks.lost_numbers(sources, translations)) == [(0, 2), (1, 2), (0, 1), (1, 2)]
    assert flags(text_checks.lost_numbers(["1990"], [""])) == [(0, 0)]


def test_links_and_placeholders() -> None:
    source = "See https://a.org/x?y=1, mail me@b.org, {name} has %d of <b>5</b> 50% of all"
    kept = "Vea https://a.org/x?y=1. Escriba a me@b.org; {name} tiene %d de <b>5</b>"
    assert flags(text_checks.lost_links([source] * 2, [kept, "Vea {nombre}"])) == [(0, 6), (6, 6)]
    chinese = "参考https://a.org/p/6，或搜索（http://www.b.com）下载"
    assert flags(text_checks.lost_links([chinese], ["See https://a.org/p/6 or http://www.b.com/"])) == [(0, 2)]


def test_names_begin_alike() -> None:
    sources = ["Yesterday Maria met Mr. Obama in London.", "We saw Mozart in Vienna", "A dog"]
    translations = ["Ayer María vio al señor Obama en Londres.", "Vimos a alguien en Viena", "Un perro"]
    # "Obama" follows a full stop, as the first word of a sentence would.
    assert flags(text_checks.lost_names(sources, translations, "en", "es")) == [(0, 2), (1, 2), (0, 0)]
    assert flags(text_checks.lost_names(sources, translations, "de", "en")) == [(0, 0)] * 3
    assert flags(text_checks.lost_names(sources, translations, "en", "ru")) == [(0, 0)] * 3


def test_style_by_hand() -> None:
    # Windows of 4 tokens: "a b a b" and "c d e f" have 2 and 4 types; the second collection has one window.
    ours, human = text_styles("en", ["a b a b. C d!", "e f"], ["a, b c d"])
    assert (ours.tokens, ours.window, ours.type_token_ratio) == (8, 4, (2 / 4 + 4 / 4) / 2)
    assert ours.sentence_length == pytest.approx(8 / 3)
    assert (human.tokens, human.type_token_ratio, human.sentence_length) == (4, 1, 4)
    nothing = text_styles("th", [])[0]
    assert (nothing.tokens, nothing.type_token_ratio, nothing.sentence_length) == (0, 0, 0)


def test_report_of_good_translations() -> None:
    report = judged(ENGLISH, SPANISH, references=[SPANISH])
    assert [each.measure for each in report.shares] == list(MEASURES)
    assert [each.count for each in report.shares] == [0] * len(MEASURES)
    assert (report.share("numbers").share, report.share("numbers").human) == (0, 0)
    assert report.share("links").share is None
    assert [(score.metric, round(score.value, 9)) for score in report.scores] == [("BLEU", 100), ("chrF2", 100)]
    assert report.scores[0].signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert report.length_ratio == report.human_length_ratio == np.median([32 / 23, 19 / 23, 19 / 21, 16 / 14])
    report.refuse_garbage()


def test_garbage_is_refused_with_measure_share_and_limit() -> None:
    report = judged(ENGLISH * 10, ENGLISH * 10)
    message = r"translations of texts: untranslated 100\.0 % \(40 of 40, limit 20\.0 %"
    with pytest.raises(GarbageTranslationError, match=message):
        report.refuse_garbage()
    assert report.share("untranslated").examples[0].source == ENGLISH[0]
    assert len(report.share("untranslated").examples) == 3
    with pytest.raises(GarbageTranslationError, match=r"empty 100\.0 % \(4 of 4, limit 2\.0 %"):
        judged(ENGLISH, [""] * 4).refuse_garbage()


def test_limits_can_be_set() -> None:
    report = judged([*ENGLISH] * 10, [*SPANISH[:3], ""] * 10)
    report.refuse_garbage({"empty": 0.5})
    with pytest.raises(GarbageTranslationError, match=r"empty 25\.0 % \(10 of 40, limit 10\.0 %"):
        report.refuse_garbage({"empty": 0.1})
    with pytest.raises(UnknownNameError, match="measure 'emty'"):
        report.refuse_garbage({"emty": 0.1})
    with pytest.raises(IsoglossError, match="limit of empty is 10"):
        report.refuse_garbage({"empty": 10})
    # One of two texts does not prove that more than a fifth is bad.
    judged(ENGLISH[:2], ["", SPANISH[1]]).refuse_garbage({"empty": 0.2})
    assert set(LIMITS) < set(MEASURES)


def test_parts_must_have_the_same_length() -> None:
    with pytest.raises(IsoglossError, match="4 sources, but 3 items in translations"):
        judged(ENGLISH, SPANISH[:3])
    with pytest.raises(IsoglossError, match="4 sources, but 0 items in reference 1"):
        judged(ENGLISH, SPANISH, references=[[]])


def test_intervals_are_clustered() -> None:
    rng = np.random.default_rng(3)
    theirs = [" ".join(rng.choice(list("abcdefgh"), size=12)) for _ in range(240)]
    ours = [text if row // 12 % 2 else text.replace("a", "x") for row, text in enumerate(theirs)]
    alone = judged(ours, ours, references=[theirs]).scores[0]
    together = judged(ours, ours, references=[theirs], clusters=[str(row // 12) for row in range(240)]).scores[0]
    assert (alone.sources, together.sources, alone.value) == (240, 20, together.value)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)  # type: ignore[operator]


def test_tables_and_notebooks() -> None:
    report = judged(ENGLISH, [*SPANISH[:3], ""], references=[SPANISH], name="a|b <set>")
    shares, scores, style, faults = translation_tables(report)
    assert list(shares.rows[0]) == ["empty", "1", "4", "25.0 %", "0.0 %", "2.0 %"]
    assert [row[1] for row in scores.rows] == ["BLEU", "chrF2"]
    assert [row[1] for row in style.rows] == ["translator", "human"]
    assert faults.rows == [("empty", "3", "He left early.", "")]
    assert "25.0" in artefact_table([report]).markdown() and "a\\|b" in score_table([report]).markdown()
    assert "&lt;set&gt;" in report._repr_html_() and "empty 25.0 %" in repr(report)
    frame = report.to_pandas()
    assert list(frame["measure"]) == [*MEASURES, "BLEU", "chrF2"]
    assert style_table([report]).plain().count("a|b") == 2


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, ANY_TEXT), max_size=4), st.sampled_from(["en-es", "zh-en", "en-th"]))
def test_any_text_can_be_checked(rows: list[tuple[str, str, str]], pair: str) -> None:
    sources, translations, references = ([row[part] for row in rows] for part in range(3))
    report = judged(sources, translations, pair, references=[references])
    for each in report.shares:
        assert 0 <= each.count <= each.checked and (each.share is None or 0 <= each.share <= 1)
    for table in translation_tables(report):
        table.markdown().encode()  # no lone surrogate is left


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word " * 2_000_000, "a" * 10_000_000, "!" * 10_000_000, "@1.,<{%" * 1_400_000])
def test_text_of_ten_megabytes(text: str) -> None:
    report = judged([text, "x"], [text, "y"])
    assert report.texts == 2 and report.share("looped").count == 0  # the source has the same loop
    assert all(len(example.source) <= 120 for each in report.shares for example in each.examples)


def put(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def copa(number: int, premise: str, *choices: str) -> dict[str, object]:
    first, second = choices
    return {"premise": premise, "choice1": first, "choice2": second, "question": "cause", "label": 0, "idx": number}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """XCOPA's English training set, and Italian and English dev sets."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    put(tmp_path / "xcopa/data/en/train.en.jsonl", [copa(7, "It fell.", "Ice came.", "Sun shone.")])
    for language, words in (("it", ("Cadde", "Gelo", "Sole")), ("en", ("It fell", "Ice", "Sun"))):
        rows = [copa(row, *(f"{word} {row}." for word in words)) for row in range(100)]
        put(tmp_path / f"xcopa/data/{language}/val.{language}.jsonl", rows)
    return tmp_path


def test_translated_training_set_of_a_task(data: Path) -> None:
    row = {"id": "7", "premise": "Cayó.", "choices": ["Vino hielo.", ""]}
    put(data / "translations/xcopa/translate-train/es.jsonl", [row])
    report = check_translations(task("xcopa"), "es", "train", data)
    assert (report.name, report.source_language, report.target_language) == ("xcopa/es train", "en", "es")
    assert (report.texts, report.share("empty").count, report.scores) == (3, 1, ())
    assert report.share("empty").examples[0].id == "7 choices 2"


def test_translated_test_set_is_compared_with_the_english_one(data: Path) -> None:
    rows = [copa(row, f"It fell {row}.", f"Ice {row}.", f"Sun {row}." if row else "Sunny 0.") for row in range(100)]
    put(data / "xcopa/data-gmt/it/val.it.jsonl", rows)
    report = check_translations(task("xcopa"), "it", "dev", data)
    assert (report.source_language, report.target_language, report.texts) == ("it", "en", 300)
    assert [score.sources for score in report.scores] == [100, 100]
    assert all(99 < score.value < 100 for score in report.scores)


def test_missing_and_mismatched_translations(data: Path) -> None:
    with pytest.raises(MissingDataError, match="no translation of xcopa's English training set to es"):
        check_translations(task("xcopa"), "es", "train", data)
    rows = [copa(row, "It fell.", "Ice came.", "Sun shone.") for row in (7, 8)]
    put(data / "xcopa_translate_train/xcopa_et_translate_train.jsonl", rows)
    with pytest.raises(DataError, match="translated example '8' is not one of the originals"):
        check_translations(task("xcopa"), "et", "train", data)


@pytest.mark.slow
def test_real_translations_have_the_documented_figures(data_dir: Path, tmp_path: Path) -> None:
    translated = data_dir / "mt_xtreme/xcopa-translate-test"
    if not translated.is_dir():
        pytest.skip("no translations of XCOPA in the data folder")
    (tmp_path / "xcopa").mkdir()
    (tmp_path / "xcopa/data").symlink_to(data_dir / "xcopa/data")
    (tmp_path / "xcopa/data-gmt").symlink_to(translated)
    reports = {code: check_translations(task("xcopa"), code, "test", tmp_path) for code in ("id", "th")}
    table = (Path(__file__).parents[2] / "benchmarks/measured/translation/3-xcopa.tsv").read_text(encoding="utf-8")
    for code, report in reports.items():
        report.refuse_garbage()
        cells = next(line.split("\t") for line in table.splitlines() if line.startswith(f"{code}\t"))
        assert cells[1] == f"{report.texts:,}"
        figures = [f"{score.value:.1f} ({score.low:.1f}–{score.high:.1f})" for score in report.scores]
        assert cells[-2:] == figures
    # Some Indonesian choices of the release are English.
    assert reports["id"].share("untranslated").count == 4
    assert [each.id for each in reports["id"].share("untranslated").examples] == [
        *("330 choices 1", "416 choices 2", "440 choices 2")
    ]
