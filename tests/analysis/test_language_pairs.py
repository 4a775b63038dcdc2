"""Language pairs: matrices and shares of made rankings by hand, printed figures, and what cannot be split."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.language_pairs import _printed_composition, language_pairs
from isogloss.scoring.request import Request

pytestmark = pytest.mark.filterwarnings("error")


def only(finding: Finding, table: str, **where: Any) -> dict[str, Any]:
    [row] = [row for row in finding.table(table).records() if where.items() <= row.items()]
    return row


def finding_of(answers: Any, task: str = "mini-lareqa", **options: Any) -> Finding:
    return language_pairs([answers], Request.of("mini", tasks=[task]), **options)


def rankings(code: str, depth: int = 40) -> dict[str, list[str]]:
    """Rank the target in the query's language, then wrong candidates in it, then the English target."""
    examples = isogloss.load("mini-lareqa", code)
    assert examples.pool is not None
    own = [name for name, language in examples.pool.language_of.items() if language == code]
    answers = {}
    for name, targets in zip(examples.ids, examples["targets"], strict=True):
        mine, english = (next(t for t in targets if t.startswith(f"{language}_")) for language in (code, "en"))
        rest = [candidate for candidate in own if candidate not in targets]
        answers[name] = [mine, *rest[:4], english, *rest[4 : depth - 2]]
    return answers


def mentions(code: str) -> dict[str, list[str]]:
    """Rank the target first."""
    examples = isogloss.load("mini-mewslix", code)
    return {name: list(targets) for name, targets in zip(examples.ids, examples["targets"], strict=True)}


def test_a_matrix_by_hand() -> None:
    finding = finding_of({"mini-lareqa": {"de": rankings("de"), "sw": rankings("sw")}})
    # With the other right answers removed, four wrong ones precede the English one.
    assert [only(finding, "matrix-mini-lareqa", query=code, target=code)["score"] for code in ("de", "sw")] == [
        100,
        100,
    ]
    assert only(finding, "matrix-mini-lareqa", query="de", target="en")["score"] == pytest.approx(100 / 5)
    assert only(finding, "matrix-mini-lareqa", query="de", target="en")["found"] == 100
    assert only(finding, "matrix-mini-lareqa", query="de", target="fi")["score"] == 0
    assert only(finding, "matrix-mini-lareqa", query="sw", target="sw")["n"] == 60
    same = only(finding, "same-different", subset="same language", source="measured")
    different = only(finding, "same-different", subset="different languages", source="measured")
    everything = only(finding, "same-different", subset="all", source="measured")
    assert (same["score"], same["n"]) == (100, 120)
    assert (different["score"], different["n"]) == (pytest.approx(20 / 13), 120 * 13)
    assert everything["score"] == pytest.approx((100 + 20) / 14)
    gap = only(finding, "same-different", subset="same - different")
    assert gap["score"] == pytest.approx(100 - 20 / 13)
    # Twenty places: nineteen are German, one is English.
    share = only(finding, "bias", query="de", candidate="de")
    assert (share["share"], share["pool"]) == pytest.approx((95, 100 / 14))
    assert share["ratio"] == pytest.approx(0.95 * 14)
    assert share["ratio_low"] < share["ratio"] < share["ratio_high"]
    assert only(finding, "bias", query="all", candidate="en")["share"] == pytest.approx(5)
    assert only(finding, "own-language", query="sw")["share"] == pytest.approx(95)
    assert "13.3 times as often" in finding.reading


def test_composition_counts_targets_once_for_all_systems() -> None:
    finding = finding_of({"mini-mewslix": {"de": mentions("de"), "sw": mentions("sw")}}, "mini-mewslix")
    rows = finding.table("composition-mini-mewslix").records()
    for code in ("de", "sw"):
        examples = isogloss.load("mini-mewslix", code)
        assert examples.pool is not None
        counts = Counter(examples.pool.language_of[target] for [target] in examples["targets"])
        assert {row["target"]: row["n"] for row in rows if row["query"] == code} == counts
    assert all("printed" not in row for row in rows)


def test_printed_composition_of_mewslix() -> None:
    """XTREME-R's Table 9: the sums of its rows and columns, as printed."""
    printed = _printed_composition("mewslix")
    totals = {"ar": 1440, "de": 1450, "en": 1420, "es": 1446, "fa": 428, "ja": 1449}
    totals |= {"pl": 1481, "ro": 1482, "ta": 1469, "tr": 1474, "uk": 1461}
    by_query, by_target = Counter(), Counter()
    for (query, target), count in printed.items():
        by_query[query] += count
        by_target[target] += count
    assert by_query == totals
    assert (by_query.total(), len(by_target), by_target["en"], by_target["wo"]) == (15_000, 50, 1427, 37)
    assert (printed["ar", "ar"], printed["uk", "ru"], printed["de", "gu"]) == (185, 147, 0)


def test_first_place() -> None:
    finding = finding_of({"mini-lareqa": {"de": rankings("de")}}, k=1)
    assert only(finding, "own-language", query="de")["share"] == 100
    with pytest.raises(AnalysisError, match="k must be at least 1, got 0"):
        finding_of({"mini-lareqa": {"de": rankings("de")}}, k=0)


def test_short_rankings_are_refused() -> None:
    with pytest.raises(AnalysisError, match="they need 33 ranked ids per question, one has 20, left out"):
        finding_of({"mini-lareqa": {"de": rankings("de", 20)}})


def test_error_names_only_a_few_reasons() -> None:
    short = {code: rankings(code, 20) for code in ("de", "en", "es", "sw")}
    with pytest.raises(AnalysisError, match=r"left out; .*, left out; 2 more: no cell can be split") as raised:
        finding_of({"mini-lareqa": short})
    assert raised.value.where.count("they need 33 ranked ids") == 2


def test_one_target_per_query() -> None:
    answers = {}
    for code in ("en", "de"):
        examples = isogloss.load("mini-mewslix", code)
        answers[code] = dict(zip(examples.ids, examples["targets"], strict=True))
    finding = finding_of({"mini-mewslix": answers}, "mini-mewslix")
    assert only(finding, "same-different", subset="all", source="measured")["score"] == 100
    assert sum(row["n"] for row in finding.table("matrix-mini-mewslix").records()) <= 120
    assert all(row["n"] >= 10 for row in finding.table("matrix-mini-mewslix").records())


def test_printed_table() -> None:
    from isogloss.analysis.language_pairs import printed_subsets

    printed = {(row[0], row[2]): row[5] for row in printed_subsets("lareqa")}
    assert printed["XLM-R Large", "different languages"] == 28.7
    assert len(printed_subsets("mewslix")) == 6
    assert printed_subsets("xnli") == []


def test_other_tasks_have_no_pool() -> None:
    with pytest.raises(AnalysisError, match="Choose retrieval from a pool of several languages: lareqa, mewslix"):
        finding_of({}, "mini-tatoeba")


def test_a_perfect_ranking_of_the_real_pool(data_dir: Path) -> None:
    if not (data_dir / "lareqa").is_dir():
        pytest.skip("the data folder has no lareqa")
    answers = {}
    for code in ("en", "th"):
        examples = isogloss.load("lareqa", code, data=data_dir)
        assert examples.pool is not None
        filler = list(examples.pool.ids)[:40]
        answers[code] = {
            name: [*targets, *(candidate for candidate in filler if candidate not in targets)]
            for name, targets in zip(examples.ids, examples["targets"], strict=True)
        }
    finding = language_pairs([{"lareqa": answers}], Request.of(tasks=["lareqa"], data=data_dir), k=11)
    assert {row["score"] for row in finding.table("matrix-lareqa").records()} == {100}
    # Eleven right answers, one in each language: the share is equal, the pool is not (852 of 13,014 are Thai).
    row = only(finding, "bias", query="en", candidate="th")
    assert row["share"] == pytest.approx(100 / 11)
    assert row["ratio"] == pytest.approx(13014 / 852 / 11)
    assert len([row for row in finding.table("same-different").records() if row["source"] != "measured"]) == 6
