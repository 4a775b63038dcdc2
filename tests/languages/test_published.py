"""The published results: complete tables with types and known names."""

import math
from collections import Counter
from pathlib import Path

import pytest

from isogloss.errors import UnknownNameError
from isogloss.languages import CODES, published

TABLES = {
    "changed_tasks": ("task change source", 3),
    "checklist_error_rates": ("source_table system language test error_rate", 600),
    "checklist_defects": ("language test defect", 18),
    "diversity": ("index suite value", 6),
    "doubts": ("about printed elsewhere system regime task attribute", 29),
    "further_systems": ("source task metric system regime language value", 1252),
    "human_scores": ("task basis source", 7),
    "keung": ("source_table task metric system row split language value", 440),
    "leaderboard_xtreme": ("date system event measure value source", 19),
    "mewslix_composition": ("description ar de en es fa ja pl ro ta tr uk", 50),
    "model_papers": (
        "model year paper url open_weights parameters_millions pretraining_data parallel_data licence kind",
        20,
    ),
    "mteb_tatoeba": (
        "model revision af ar az bg bn de el es et eu fa fi fr he hi hu id it ja jv ka kk ko "
        "lt ml mr nl pl pt ro ru sw ta te th tl tr uk ur vi zh",
        182,
    ),
    "overall_xtreme": ("system regime average", 11),
    "overall_xtreme-r": ("system regime average", 7),
    "per_language": ("source_table task metric system regime language value", 563),
    "printed_averages": ("source_table task metric system regime value", 35),
    "retrieval_subsets": ("task system subset value", 12),
    "speakers": ("language speakers_millions", 51),
    "systems": ("system parameters_millions monolingual_data parallel_data", 10),
    "transfer_gap": ("system average", 4),
}
NUMBERS = ("value", "average", "error_rate", "parameters_millions", "speakers_millions")


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def test_every_file_is_known():
    folder = Path(published.__file__).parent
    assert {path.stem for path in folder.glob("*.csv")} == set(TABLES)


@pytest.mark.parametrize("name", TABLES)
def test_every_row_fits_its_columns_and_none_is_lost(name):
    columns, count = TABLES[name]
    rows = published.table(name)
    assert len(rows) == count
    for row in rows:
        assert None not in row
        assert None not in row.values()
        wide = [column for column in row if ":" in column]
        assert list(row) == [*columns.split(), *wide]
        for column in (*wide, *set(NUMBERS).intersection(row)):
            assert not row[column] or math.isfinite(float(row[column]))


def test_doubts_agree_with_the_tables():
    about = {doubt.about: (doubt.printed, doubt.elsewhere) for doubt in published.doubts()}
    assert about["XTREME-R Table 13, parameters of mBERT"] == ("178M", "110M in its Appendix G")
    [size] = [row["parameters_millions"] for row in published.table("systems") if row["system"] == "mBERT"]
    assert f"{size}M" == about["XTREME-R Table 13, parameters of mBERT"][0]
    assert len(about) == len(published.doubts())


def test_unknown_table_is_an_error_with_near_names():
    with pytest.raises(UnknownNameError, match="per_language"):
        published.table("per_languages")


def test_overall_rows():
    first = published.overall("xtreme-r")[0]
    assert (first.system, first.regime, first.average) == ("mBERT", "zero-shot", 54.1)
    assert first.metrics["xquad"] == {"f1": 65.1, "em": 50.4}
    assert first.metrics["mewslix"] == {"map@20": 38.6}
    assert len(first.metrics) == 10
    human = published.overall("xtreme")[-1]
    assert (human.system, human.average) == ("Human", None)
    assert human.metrics["tydiqa"] == {"f1": 90.1}
    assert "wikiann" not in human.metrics


def test_unknown_suites_are_errors_with_near_names():
    with pytest.raises(UnknownNameError, match="xtreme-r"):
        published.overall("xtremer")


def test_per_language_rows():
    table = published.table("per_language")
    rows = [row for row in table if (row["task"], row["system"], row["regime"]) == ("xnli", "mBERT", "zero-shot")]
    assert [row["language"] for row in rows][:2] == ["en", "ar"]
    assert (len(rows), rows[0]["value"], rows[0]["metric"]) == (15, "81.7", "accuracy")
    assert {row["task"] for row in table if row["system"] == "mT5-XXL"} == {
        "xnli", "xcopa", "xquad", "mlqa", "tydiqa",
    }  # fmt: skip


def test_languages_are_registered_ones():
    for name in ("per_language", "checklist_error_rates", "keung"):
        assert {row["language"] for row in published.table(name)} <= set(CODES)


def test_numbers_of_languages_per_task():
    rows = published.table("per_language")
    counts = Counter(row["task"] for row in rows if (row["system"], row["regime"]) == ("mBERT", "zero-shot"))
    assert counts == {
        "xnli": 15, "xcopa": 11, "udpos": 38, "wikiann": 48, "xquad": 11, "mlqa": 7, "tydiqa": 9,
        "tatoeba": 41, "mewslix": 11, "lareqa": 11,
    }  # fmt: skip


def test_checklist_has_hausa_and_lacks_romanian():
    rows = published.checklist()
    assert set(CODES) - {row.language for row in rows} == {"ro"}
    assert set(Counter((row.system, row.language) for row in rows).values()) == {6}


def test_transfer_gap_averages_are_over_the_five_tasks_with_one_label_or_answer():
    tasks = ("xnli", "pawsx", "xquad", "mlqa", "tydiqa")
    for row in published.table("transfer_gap"):
        gaps = [float(gap) for column, gap in row.items() if column.partition(":")[0] in tasks and gap]
        assert mean(gaps) == pytest.approx(float(row["average"]), abs=0.06)


def test_systems_and_subsets():
    by_system = {row["system"]: row for row in published.table("systems")}
    assert by_system["mT5"]["parameters_millions"] == "13000"
    assert by_system["MMTE"]["monolingual_data"] == ""
    subsets = {
        (row["task"], row["system"], row["subset"]): row["value"] for row in published.table("retrieval_subsets")
    }
    assert subsets["lareqa", "XLM-R Large", "different languages"] == "28.7"


def test_spreads_of_the_selection_study_match_their_rows_except_two_misprints():
    columns: dict[tuple[str, ...], dict[str, float]] = {}
    for row in published.table("keung"):
        cells = columns.setdefault((row["source_table"], row["system"], row["metric"], row["language"]), {})
        assert row["row"] not in cells, "one line, one figure"
        cells[row["row"]] = float(row["value"])
    misprinted = {}
    for column, cells in columns.items():
        printed = cells.pop("Δ", None)
        spread = round(max(cells.values()) - min(cells.values()), 1)
        if printed is not None and spread != printed:
            misprinted[column] = (printed, spread)
    assert misprinted == {
        ("Keung et al. Table 6", "mBERT", "accuracy", "hi"): (0.4, 1.4),
        ("Keung et al. Table 6", "XLM-R Large", "accuracy", "th"): (1.2, 0.7),
    }


def test_only_english_was_scored_on_dev():
    rows = published.table("keung")
    assert {(row["language"], row["source_table"][-2:]) for row in rows if row["split"] == "dev"} == {
        ("en", "2a"),
        ("en", "2b"),
    }


def test_one_implausible_mteb_model_is_left_out(data_dir: Path) -> None:
    """No other model has full marks on Tatoeba in any language, as the README states."""
    rows = published.table("mteb_tatoeba")
    best = {code: max(float(row[code]) for row in rows if row[code]) for code in rows[0] if code in CODES}
    assert (best["jv"], best["bn"], max(best.values()) < 100) == (91.7, 92.6, True)
    exact, alike = Counter[str](), Counter[str]()
    for path in sorted((data_dir / "tatoeba").glob("*.eng")):
        for side in (path, path.with_suffix(f".{path.stem.split('.')[1].split('-')[0]}")):
            sentences = side.read_text(encoding="utf-8").splitlines()
            exact[side.name] = len(sentences) - len(set(sentences))
        plain = ["".join(filter(str.isalnum, sentence.casefold())) for sentence in path.read_text("utf-8").splitlines()]
        alike[path.name] = len(plain) - len(set(plain))
    assert set(exact.values()) == {0}
    assert (len(alike), sum(alike.values()), sum(count > 0 for count in alike.values())) == (41, 45, 19)
