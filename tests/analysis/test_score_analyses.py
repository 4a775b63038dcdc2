"""Analyses of scores: hand-made tables, the papers' systems, and invalid input."""

import warnings
from pathlib import Path

import msgspec
import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.registry import ANALYSES
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.languages.published import overall
from isogloss.results.published_scores import human_overall
from isogloss.scoring.results import Number
from predictions.made import write_jsonl
from report.made_records import results

OVER_SCORES = [name for name, entry in ANALYSES.items() if entry.takes == "scores"]


@pytest.fixture(autouse=True)
def no_warnings() -> None:
    warnings.simplefilter("error")


def table(tmp_path: Path, rows: str) -> str:
    path = tmp_path / "scores.csv"
    path.write_text("task,system,regime,language,value\n" + rows.replace(" ", "\n") + "\n", encoding="utf-8")
    return str(path)


def rows(finding: Finding, name: str, **where: object) -> list[dict[str, object]]:
    return [row for row in finding.table(name).records() if all(row[key] == value for key, value in where.items())]


def test_transfer_gap_of_a_record_has_the_scored_interval() -> None:
    finding = isogloss.analyze("transfer-gap", results("mine"))
    [xnli] = rows(finding, "gaps", task="xnli")
    assert (xnli["english"], xnli["others"], xnli["gap"], xnli["relative"]) == (80, 60, 20, 0.25)
    assert (xnli["gap_low"], xnli["gap_high"]) == (18, 22)
    assert (xnli["human"], xnli["to_human"]) == (92.8, pytest.approx(32.8))


def test_transfer_gap_tests_the_order_of_systems() -> None:
    """Gaps of 20 with an interval of 18 to 22 each: 4 points apart are significant, 2 are not."""
    order = {}
    for apart in (2.0, 4.0, 60.0):
        near, far = results("near"), results("far")
        [xnli, *others] = far.tasks
        gap = msgspec.structs.replace(xnli.gap, value=20 + apart, low=18 + apart, high=22 + apart)
        cells = [
            msgspec.structs.replace(cell, metrics={"accuracy": Number(cell.metrics["accuracy"].value - apart, 1, 2, 9)})
            if (cell.task, cell.language) != ("xnli", "en") and cell.task == "xnli"
            else cell
            for cell in far.cells
        ]
        far = msgspec.structs.replace(far, cells=cells, tasks=[msgspec.structs.replace(xnli, gap=gap), *others])
        order[apart] = isogloss.analyze("transfer-gap", near, far, tasks=["xnli"]).reading
    small = "near has the smallest gap (20.0; next is far with 22.0); the difference is not significant (p = 0.166"
    assert small in order[2.0]
    assert "next is far with 24.0); the difference is significant (p = 0.006, unpaired test)" in order[4.0]
    assert "the difference is significant (p ≤1e-300, unpaired test)" in order[60.0]


def test_readings_name_ties(tmp_path: Path) -> None:
    same = "xnli,a,,en,80 xnli,a,,de,70 xnli,a,,sw,70 xnli,b,,en,80 xnli,b,,de,70 xnli,b,,sw,70"
    assert "a and b have the same gap (10.0)" in isogloss.analyze("transfer-gap", table(tmp_path, same)).reading
    assert "with German and Swahili worst" in isogloss.analyze("families", table(tmp_path, same)).reading
    untested = isogloss.analyze("transfer-gap", "published", tasks=["xnli"]).reading
    assert "the order is not tested, since the gaps have no intervals" in untested


def test_transfer_gap_over_chosen_languages_has_no_interval() -> None:
    finding = isogloss.analyze("transfer-gap", results("mine"), languages=["en", "ar"], tasks=["xnli"])
    [xnli] = rows(finding, "gaps")
    assert (xnli["gap"], xnli["gap_low"]) == (10, None)


def test_transfer_gap_compares_systems_over_shared_languages(tmp_path: Path) -> None:
    few = "xnli,few,zero-shot,en,80 xnli,few,zero-shot,de,70 xnli,few,zero-shot,sw,50"
    many = "xnli,many,zero-shot,en,90 xnli,many,zero-shot,de,80 xnli,many,zero-shot,fr,60 xnli,many,zero-shot,sw,10"
    alone = "pawsx,few,zero-shot,en,90 pawsx,few,zero-shot,de,80 pawsx,many,zero-shot,en,90 pawsx,many,zero-shot,fr,70"
    path = table(tmp_path, f"{few} {many} {alone}")
    found = isogloss.analyze("transfer-gap", path)
    assert [(row["system"], row["languages"], row["gap"]) for row in rows(found, "gaps", task="xnli")] == [
        ("few", 2, 20),
        ("many", 2, 45),
    ]
    assert [row["gap"] for row in rows(found, "gaps", task="pawsx")] == [10, 20]
    text = " ".join(found.notes)
    assert "xnli: over the 2 other languages that all systems have; --set shared=false uses all" in text
    assert "pawsx: not comparable, since the systems share no language except English" in text
    found = isogloss.analyze("transfer-gap", path, shared=False)
    assert [(row["languages"], row["gap"]) for row in rows(found, "gaps", task="xnli")] == [(2, 20), (3, 40)]
    assert "share" not in " ".join(found.notes)


def test_transfer_gap_against_table_3() -> None:
    finding = isogloss.analyze("transfer-gap", "published:all", tasks=["xnli", "pawsx", "udpos"])
    verdicts = {(row["row"], row["task"], row["source"]): row for row in rows(finding, "printed")}
    # XTREME's PAWS-X runs reproduce the printed gap of mBERT, but only the Table 2 mean of XLM-R Large.
    row = verdicts["mBERT", "pawsx", "XTREME in ERNIE-M"]
    assert (row["printed"], row["verdict"]) == (14.1, "equal")
    row = verdicts["XLM-R Large", "pawsx", "XTREME in ERNIE-M"]
    assert row["printed"] == 12.4
    assert row["gap"] == pytest.approx(94.7 - (89.7 + 90.1 + 90.4 + 78.7 + 79.0 + 82.3) / 6)
    assert "matches XTREME's Table 2, but the gap differs" in str(row["verdict"])
    assert verdicts["XLM-R Large", "xnli", "XTREME-R Table 15"]["verdict"] == "equal"
    assert "other runs" in str(verdicts["mBERT", "udpos", "XTREME-R Table 17"]["verdict"])


def test_transfer_gap_in_another_metric_is_noted() -> None:
    finding = isogloss.analyze("transfer-gap", "published:mBERT", tasks=["xquad"])
    assert {row["verdict"] for row in rows(finding, "printed")} == {"another metric"}
    # Lewis et al.'s mBERT, which ERNIE-M's table quotes: 65.2 - 37.7 in exact match.
    by_em = isogloss.analyze("transfer-gap", "published:mBERT [ERNIE-M]", tasks=["mlqa"], metric="em")
    [row] = rows(by_em, "printed")
    assert row["printed"] == 27.5
    assert row["gap"] == pytest.approx(27.48, abs=0.01)
    # XTREME's Table 2 has another average for mBERT, so this may be chance.
    assert str(row["verdict"]).startswith("equal, but from other runs")


def test_transfer_gap_uses_the_printed_metric_if_available() -> None:
    finding = isogloss.analyze("transfer-gap", "published:all", tasks=["mlqa"])
    compared = {(row["row"], row["source"]): row for row in rows(finding, "printed")}
    assert {source: row["metric"] for (_, source), row in compared.items()} == {
        "XTREME-R Table 20": "f1",
        "ERNIE-M": "em",
        "fairseq": "em",
    }
    assert compared["mBERT", "ERNIE-M"]["gap"] == pytest.approx(27.48, abs=0.01)
    assert compared["mBERT", "XTREME-R Table 20"]["verdict"] == "another metric"
    assert "other runs" in str(compared["XLM-R Large", "fairseq"]["verdict"])
    # The gaps stay in the shared metric.
    assert {row["metric"] for row in rows(finding, "gaps")} == {"f1"}


def test_in_language_ceiling_of_the_same_model(tmp_path: Path) -> None:
    cells = "udpos,m,zero-shot,en,90 udpos,m,zero-shot,de,60 udpos,m,zero-shot,fr,70 "
    cells += "udpos,m,in-language,de,80 udpos,m,in-language,fr,94"
    finding = isogloss.analyze("transfer-gap", table(tmp_path, cells))
    [row] = rows(finding, "gaps")
    assert (row["in_language"], row["to_in_language"]) == (87, 22)


def test_families_by_hand(tmp_path: Path) -> None:
    cells = "xnli,a,,en,90 xnli,a,,de,80 xnli,a,,ru,70 xnli,a,,sw,40"
    finding = isogloss.analyze("families", table(tmp_path, cells), group="script")
    [family] = rows(finding, "groups", grouping="family", group="Indo-European")
    assert (family["languages"], family["mean"]) == (3, 80)
    assert (family["lowest"], family["lowest_language"]) == (70, "Russian")
    assert (family["highest"], family["highest_language"]) == (90, "English")
    latin = rows(finding, "groups", grouping="script", group="Latn")
    assert latin[0]["mean"] == 70
    assert rows(finding, "groups", grouping="branch", group="Indo-European: Germanic")[0]["languages"] == 2
    # The others' mean is 190 / 3.
    [swahili] = rows(finding, "standing", grouping="family", group="Niger-Congo")
    assert (swahili["above"], swahili["tasks"]) == (pytest.approx(40 - 190 / 3), 1)
    # The chart of one task has reference lines for English, the mean of the others, and human performance.
    assert dict(finding.figures[-1].marks) == {
        "human": 92.8,
        "English": 90,
        "mean without English": pytest.approx(190 / 3),
    }
    assert finding.figures[-1].y == "script"
    with pytest.raises(UnknownNameError, match="unknown group 'famly'"):
        isogloss.analyze("families", "published", group="famly")


def test_families_of_the_papers_count_every_language_once() -> None:
    finding = isogloss.analyze("families", "published:XLM-R Large")
    for task, languages in {"udpos": 38, "wikiann": 48, "tatoeba": 41, "mlqa": 7}.items():
        for grouping in ("family", "branch", "script", "resources"):
            counts = [int(str(row["languages"])) for row in rows(finding, "groups", task=task, grouping=grouping)]
            assert sum(counts) == languages


def test_rankings_flat_and_category_are_table_4s(tmp_path: Path) -> None:
    """For tasks with one metric, the means equal those of Table 4."""
    single = ["xnli", "xcopa", "udpos", "wikiann", "mewslix", "lareqa", "tatoeba"]
    finding = isogloss.analyze("rankings", "published", tasks=single)
    printed = {row.system: row.metrics for row in overall("xtreme-r") if row.regime == "zero-shot"}
    for row in rows(finding, "ranks", view="flat", panel="zero-shot, 7 tasks"):
        name = str(row["system"]).partition(",")[0]
        mean = sum(next(iter(printed[name][task].values())) for task in single) / 7
        assert row["figure"] == pytest.approx(mean, abs=0.06)
    for row in rows(finding, "ranks", view="category", panel="zero-shot, 7 tasks"):
        name = str(row["system"]).partition(",")[0]
        scores = {task: next(iter(printed[name][task].values())) for task in single}
        parts = [("xnli", "xcopa"), ("udpos", "wikiann"), ("mewslix", "lareqa", "tatoeba")]
        mean = sum(sum(scores[task] for task in part) / len(part) for part in parts) / 3
        assert row["figure"] == pytest.approx(mean, abs=0.06)


def test_an_order_that_depends_on_the_view_does_not_survive(tmp_path: Path) -> None:
    """One system is good in English and bad elsewhere; weighted by Wikipedia articles it is ahead."""
    codes = "en de fr es ru sw yo tl kk ka te".split()
    cells = [f"xnli,big,,{code},{95 if code in ('en', 'de', 'fr', 'es', 'ru') else 30}" for code in codes]
    cells += [f"xnli,even,,{code},70" for code in codes]
    cells += [f"xnli,worst,,{code},20" for code in codes]
    finding = isogloss.analyze("rankings", table(tmp_path, " ".join(cells)))
    [flipped] = rows(finding, "conclusions", first="even", second="big")
    assert flipped["survives"] is False
    assert "resources" in str(flipped["against"])
    [constant] = rows(finding, "conclusions", first="even", second="worst")
    # Both are constant over languages, so neither has lower inequality, which does not change their order.
    assert (constant["views"], constant["of"], constant["against"]) == (6, 7, "")
    assert "and 2 change order in some views" in finding.reading
    assert [row["figure"] for row in rows(finding, "ranks", view="gini", system="even")] == [0]


def test_own_speakers(tmp_path: Path) -> None:
    cells = "xnli,a,,en,90 xnli,a,,sw,10 xnli,b,,en,40 xnli,b,,sw,60"
    own = tmp_path / "speakers.csv"
    own.write_text("language,speakers\nen,1\nSwahili,3\n", encoding="utf-8")
    finding = isogloss.analyze("rankings", table(tmp_path, cells), speakers=str(own))
    assert {row["system"]: row["figure"] for row in rows(finding, "ranks", view="speakers")} == {"a": 30, "b": 55}
    own.write_text("language,speakers\nen,-1\n", encoding="utf-8")
    with pytest.raises(AnalysisError, match="non-negative"):
        isogloss.analyze("rankings", table(tmp_path, cells), speakers=str(own))


def test_only_systems_of_one_regime_are_ranked(tmp_path: Path) -> None:
    cells = "xnli,a,zero-shot,en,90 xnli,a,zero-shot,sw,10 xnli,b,prompted,en,40 xnli,b,prompted,sw,60"
    with pytest.raises(AnalysisError, match="two systems of one regime"):
        isogloss.analyze("rankings", table(tmp_path, cells))


def test_few_languages_are_not_tested(tmp_path: Path) -> None:
    cells = [
        f"xnli,{name},,{code},{score}" for name, score in (("a", 90), ("b", 20)) for code in ("en", "sw", "de", "fr")
    ]
    finding = isogloss.analyze("rankings", table(tmp_path, " ".join(cells)))
    for row in rows(finding, "ranks", view="flat"):
        assert (row["rank_low"], row["rank_high"], row["letters"]) == (1, 2, "")
    assert any("not tested, fewer than 5 languages: xnli (category, flat" in note for note in finding.notes)
    [pair] = rows(finding, "conclusions")
    assert (pair["survives"], pair["p"]) == (False, 1)
    assert "a has the best figure in all 7 views, the order is not tested;" in finding.reading


def test_equal_figures_do_not_change_an_order(tmp_path: Path) -> None:
    """All systems are constant over languages, so that inequality is 0 for all; the listing begins with the worst."""
    codes = "en de fr es ru sw yo tl kk ka te".split()
    scores = {"d": 30, "c": 50, "b": 60, "a": 70}
    cells = [f"xnli,{name},,{code},{score}" for name, score in scores.items() for code in codes]
    finding = isogloss.analyze("rankings", table(tmp_path, " ".join(cells)))
    assert "a has the best figure in all 7 views" in finding.reading
    assert "none changes order" in finding.reading
    assert all(row["against"] == "" for row in rows(finding, "conclusions"))
    cells = [f"xnli,{name},,{code},50" for name in "ab" for code in codes]
    equal = isogloss.analyze("rankings", table(tmp_path, " ".join(cells)))
    assert "a and b have the best figure in all 7 views, significantly best in none of them;" in equal.reading
    assert "the order of the pair is not significant in some views" in equal.reading


def test_ranks_letters_and_sentences_are_of_one_test(tmp_path: Path) -> None:
    """Two systems are alike, and a third is far behind in every language, level and spread."""
    codes = "en de fr es ru sw yo tl kk ka te".split()
    scores = {"a": (80, 70), "b": (70, 80), "c": (30, 10)}
    cells = [
        f"xnli,{name},,{code},{scores[name][place % 2] + place}" for name in scores for place, code in enumerate(codes)
    ]
    finding = isogloss.analyze("rankings", table(tmp_path, " ".join(cells)))
    flat = {
        row["system"]: (row["rank_low"], row["rank_high"], row["letters"])
        for row in rows(finding, "ranks", view="flat")
    }
    assert flat == {"a": (1, 2, "a"), "b": (1, 2, "a"), "c": (3, 3, "b")}
    assert rows(finding, "conclusions", first="a", second="b")[0]["survives"] is False
    assert "Verdicts hold in similar languages (all pairs tested over languages, Holm's correction)." in finding.reading


def test_transfer_gap_of_error_rates(tmp_path: Path) -> None:
    errors = {"en": 20.0, "de": 50.0, "sw": 70.0}
    (tmp_path / "errors.csv").write_text(
        "task,system,language,value\n"
        + "".join(f"checklist-comparisons,A,{code},{value}\n" for code, value in errors.items())
    )
    finding = isogloss.analyze("transfer-gap", tmp_path / "errors.csv")
    [row] = finding.table("gaps").records()
    assert row["gap"] == pytest.approx(40)
    assert row["relative"] == pytest.approx(0.5)  # 80 % are right in English, 40 % elsewhere
    assert "A loses 40.0 points outside English" in finding.reading


def test_saturation_by_hand(tmp_path: Path) -> None:
    cells = "xnli,a,,en,93 xnli,b,,en,92.9 xnli,a,,sw,70 xnli,b,,sw,60"
    finding = isogloss.analyze("saturation", table(tmp_path, cells), noise="xnli:4")
    [english] = rows(finding, "cells", language="en")
    assert (english["best"], english["second"], english["told_apart"]) == ("a", "b", None)  # a CSV without n
    assert english["to_human"] == pytest.approx(-0.2)
    assert english["to_noise"] == 3
    [task] = rows(finding, "tasks")
    assert (task["beyond_human"], task["score"]) == (1, 81.5)


def test_saturation_tests_the_difference_instead_of_its_power(tmp_path: Path) -> None:
    """1.8 points of 5,010 examples are below the detectable difference (2.3) and yet significant."""
    path = tmp_path / "sized.csv"
    path.write_text(
        "task,system,language,value,n\nxnli,a,en,80.0,5010\nxnli,b,en,78.2,5010\nxnli,a,sw,70,400\nxnli,b,sw,68,400\n"
        "xnli,a,de,75,400\nxnli,b,de,75,400\n"
    )
    finding = isogloss.analyze("saturation", path)
    cells = {row["language"]: row for row in rows(finding, "cells")}
    assert cells["en"]["p"] == pytest.approx(0.028742, abs=1e-6)  # scipy.stats.fisher_exact
    assert [cells[code]["told_apart"] for code in ("en", "sw", "de")] == [True, False, False]
    assert cells["de"]["p"] == pytest.approx(1)
    assert float(str(cells["en"]["detectable"])) > 1.8
    assert "differ significantly in 1 of 3 tests (p < 0.05 each; 0 after Holm's correction)" in finding.reading
    [task] = rows(finding, "tasks")
    # The errors of parallel languages add up: an upper bound.
    assert (task["told_apart"], round(float(str(task["difference"])), 6)) == (False, round(3.8 / 3, 6))


def test_saturation_pairs_answers_if_there_are_any(tmp_path: Path) -> None:
    for name, wrong in (("good", 1), ("better", 0)):
        for code in ("en", "de"):
            examples = isogloss.load("mini-xnli", code)
            answers = dict(zip(examples.ids, examples[examples.gold], strict=True))
            for row, key in enumerate(answers):
                # Both fail on every other example, one of them also on half of the rest.
                if row % 2 or (wrong and row % 4 == 0):
                    answers[key] = "neutral" if answers[key] != "neutral" else "entailment"
            write_jsonl(tmp_path / name / f"mini-xnli/{code}.jsonl", answers)
        scored = isogloss.score(tmp_path / name, suite="mini", tasks=["mini-xnli"])
        (tmp_path / name / "results.json").write_bytes(msgspec.json.encode(scored))
    folders = [tmp_path / "good", tmp_path / "better"]
    paired = isogloss.analyze("saturation", *folders, data=tmp_path)
    unpaired = isogloss.analyze("saturation", *folders)
    compared = isogloss.compare(*folders, suite="mini", tasks=["mini-xnli"], languages=["de"])
    assert "The tests are paired." in paired.reading
    [cell], [other] = rows(paired, "cells", language="de"), rows(unpaired, "cells", language="de")
    assert (cell["test"], other["test"]) == ("paired", "unpaired")
    assert cell["p"] == pytest.approx(compared.cells[0].p)
    assert float(str(cell["p"])) < float(str(other["p"]))
    assert {row["test"] for row in rows(paired, "tasks")} == {"paired"}


def test_saturation_of_published_scores_uses_test_sizes() -> None:
    finding = isogloss.analyze("saturation", "published", tasks=["xcopa", "xnli"])
    [quechua] = rows(finding, "cells", task="xcopa", language="qu", regime="zero-shot")
    assert quechua["n"] == 500
    # sqrt((p q + p' q') / n) times 2.80.
    assert float(str(quechua["detectable"])) == pytest.approx(8.8, abs=0.2)
    [english] = rows(finding, "cells", task="xnli", language="en", regime="zero-shot")
    assert (english["told_apart"], english["test"]) == (True, "unpaired")
    # Planning: (1.96 + 0.84)² (p q + p' q') examples for one point.
    variance = sum(share * (1 - share) for share in (0.926, 0.887))
    assert english["needed"] == pytest.approx(2.8016**2 * variance / 0.01**2, rel=0.02)
    half = isogloss.analyze("saturation", "published", tasks=["xcopa"], correlation=0.5)
    [paired] = rows(half, "cells", task="xcopa", language="qu", regime="zero-shot")
    assert float(str(paired["detectable"])) == pytest.approx(float(str(quechua["detectable"])) * 0.5**0.5, rel=0.02)


def test_a_sentence_of_tags_is_more_than_one_example() -> None:
    finding = isogloss.analyze("saturation", "published", tasks=["udpos"])
    rows = [row for row in finding.table("cells").records() if row["second"] is not None]
    assert {row["told_apart"] for row in rows} == {True, None}  # unknown below the upper bound
    assert all(row["needed"] is None for row in rows)
    assert "cannot be judged (udpos)" in finding.reading


def test_history_of_xtremes_leaderboard(tmp_path: Path) -> None:
    """XTREME-R: a gap to people of "roughly 25" points at XTREME's release, and "less than 12" in April 2021."""
    assert human_overall("xtreme") == pytest.approx(((92.8 + 97.5) / 2 + 97.0 + ((91.2 + 82.3) / 2 * 2 + 90.1) / 3) / 3)
    assert round(human_overall("xtreme") or 0, 1) == 93.3
    assert human_overall("mldoc") is None
    history = isogloss.analyze("saturation", "published", tasks=["xcopa"]).table("leaderboard").records()
    gaps = {row["score"]: row["to_human"] for row in history if row["measure"] == "overall"}
    assert (gaps[68.2], gaps[81.4]) == pytest.approx((25.1, 11.9), abs=0.05)
    veco = [row for row in history if row["system"] == "VECO"]
    assert [(row["date"], row["score"]) for row in veco] == [("2021-03", None), ("2021-04-15", 92.7)]
    assert {(row["parameters"], row["monolingual"], row["parallel"]) for row in veco} == {(559, "1.3 TB", "6.4M pairs")}
    [printed] = [row.metrics for row in overall("xtreme") if (row.system, row.regime) == ("mBERT", "zero-shot")]
    [retrieval] = [row["score"] for row in history if (row["system"], row["measure"]) == ("mBERT", "retrieval")]
    assert retrieval == pytest.approx((printed["bucc"]["f1"] + printed["tatoeba"]["accuracy"]) / 2)
    mine = table(tmp_path, "xnli,a,,en,80 xnli,a,,de,70")
    assert "leaderboard" not in {each.name for each in isogloss.analyze("saturation", mine).tables}


@pytest.mark.parametrize("options", [{"noise": "many"}, {"noise": "xnli:101"}, {"correlation": 1.0}])
def test_saturation_refuses_invalid_options(options: dict[str, object]) -> None:
    with pytest.raises(IsoglossError, match=r"invalid noise|correlation must be at least 0"):
        isogloss.analyze("saturation", "published:mBERT", **options)


@pytest.mark.parametrize("name", OVER_SCORES)
@pytest.mark.parametrize(
    "cells",
    [
        "xnli,a,,en,50",
        "xnli,a,,en,50 xnli,a,,de,50 xnli,b,,en,50 xnli,b,,de,50",
        "xnli,a,,de,0 xnli,a,,fr,0 xnli,b,,de,100 xnli,b,,fr,100",
        "xnli,a,,en,0 xnli,a,,de,0 xnli,a,,fr,0 xnli,a,,ru,0 xnli,a,,zh,0 xnli,b,,en,1",
        "checklist-comparisons,a,,ha,20 checklist-comparisons,b,,ha,30",
    ],
)
def test_small_or_constant_input_causes_no_warning(tmp_path: Path, name: str, cells: str) -> None:
    try:
        finding = isogloss.analyze(name, table(tmp_path, cells))
    except AnalysisError as error:
        assert len(str(error)) > 20
    else:
        assert finding.reading
        assert all(len(row) == len(table.columns) for table in finding.tables for row in table.rows)


def test_too_few_languages_or_systems_are_refused(tmp_path: Path) -> None:
    one = table(tmp_path, "xnli,a,,en,50")
    with pytest.raises(AnalysisError, match="needs 2 languages in a task"):
        isogloss.analyze("transfer-gap", one)
    with pytest.raises(AnalysisError, match="a ranking needs 2 systems, got a"):
        isogloss.analyze("rankings", one)
    with pytest.raises(AnalysisError, match="no task has English"):
        isogloss.analyze("transfer-gap", "published:mBERT, zero-shot", tasks=["xcopa"])


def test_no_sources_and_unknown_names() -> None:
    with pytest.raises(AnalysisError, match="nothing to analyse"):
        isogloss.analyze("families")
    with pytest.raises(UnknownNameError, match="Did you mean families"):
        isogloss.analyze("family", "published")
    with pytest.raises(UnknownNameError, match="unknown option of rankings 'resample'"):
        isogloss.analyze("rankings", "published", resample=3)
    with pytest.raises(UnknownNameError, match="Pass a whole number"):
        isogloss.analyze("language-pairs", "predictions", k="some")
    with pytest.raises(UnknownNameError, match="Pass a number"):
        isogloss.analyze("saturation", "published", correlation="some")


@pytest.mark.parametrize("name", OVER_SCORES)
def test_the_same_input_gives_the_same_finding(name: str) -> None:
    source, tasks = ("published:keung", ["xnli"]) if name == "spread" else ("published", ["xnli", "xcopa"])
    first, second = (isogloss.analyze(name, source, tasks=tasks) for _ in range(2))
    assert first == second
