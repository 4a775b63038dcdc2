"""Replies without an answer in the tables of scores, runs and comparisons, and in reports."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

import isogloss
from e2e.command import isogloss as command
from isogloss.explain.analysis import explain
from isogloss.figures import cost_text
from isogloss.reply_outcomes import Outcome, ReplyCounts
from isogloss.results.averages import Systems
from isogloss.results.readers import read_results, system_of_record
from isogloss.scoring.results import Results
from isogloss.systems.base import RepliedPredictions
from isogloss.tables.comparison_tables import comparison_tables, systems_tables
from isogloss.tables.reply_tables import LISTED, UNPARSED_NOTE, failure_table, unparsed_text
from isogloss.tables.score_tables import language_table, overview_table, score_tables
from isogloss.tables.table import Table
from isogloss.tasks.examples import Examples
from isogloss.tasks.suites import suite
from replied import EXAMPLES, facts, outcomes, write_replied

TASKS = ["mini-xnli", "mini-xquad"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model and a system without replies, with the same answers but for the replies that failed."""
    folder = tmp_path_factory.mktemp("replied")
    german = [facts(each, language="de", script="Latn") for each in outcomes(refusal=6, cut=3)]
    swahili = [facts(each, language="sw") for each in outcomes(none=12)]
    # Of the answers in Arabic, 15 are in English, and one cannot be told.
    arabic = [facts(each, language="ar", script="Arab") for each in outcomes()]
    arabic[:15] = [facts(Outcome.TOLERANT, language="en", script="Latn")] * 15
    arabic[-1] = facts(Outcome.STRICT)
    cells = {
        ("mini-xnli", "de"): german,
        ("mini-xnli", "sw"): swahili,
        ("mini-xquad", "ar"): arabic,
        ("mini-xquad", "de"): [facts(each, language="de-AT", script="Latn") for each in outcomes()],
    }
    write_replied(folder / "talker", cells)
    write_replied(folder / "quiet", dict.fromkeys(cells), "quiet")
    return folder


def scored(root: Path, *names: str) -> Systems:
    records = {name: isogloss.score(root / name, "mini", tasks=TASKS) for name in names}
    return {name: system_of_record(record, name) for name, record in records.items()}


def column(table: Table, head: str) -> list[str]:
    return [row[list(table.header).index(head)] for row in table.rows]


def test_the_overview_has_unparsed_shares_beside_scores(root: Path) -> None:
    table = overview_table(scored(root, "talker"))
    assert table.header == ("task", "metrics", "score", "95 %", "n", "unparsed", "languages")
    # 21 of 120, 0 of 120, the same by category, and 21 of 240.
    assert column(table, "unparsed") == ["17.5 %", "0.0 %", "17.5 %", "0.0 %", "8.8 %"]
    assert UNPARSED_NOTE in table.notes
    # 240 replies of 800 tokens in, 3 out, and $0.0001.
    assert "tokens: 192,000 in (48,000 cached), 720 out; cost $0.024, $0.10 per 1,000 examples" in table.notes
    assert not any("null" in note for note in table.notes)


def test_tables_without_replies_stay_as_they_are(root: Path) -> None:
    systems = scored(root, "quiet")
    assert "unparsed" not in overview_table(systems).header
    assert "unparsed" not in language_table(systems).header
    assert failure_table(systems) is None
    assert UNPARSED_NOTE not in overview_table(systems).notes


def test_systems_without_replies_have_no_share(root: Path) -> None:
    table = overview_table(scored(root, "talker", "quiet"))
    assert [row[-2] for row in table.rows if row[1] == "quiet"] == ["·"] * 5
    assert any(note.startswith("talker: tokens: ") for note in table.notes)


def test_languages_have_shares_over_tasks(root: Path) -> None:
    table = language_table(scored(root, "talker"))
    assert dict(zip(column(table, "code"), column(table, "unparsed"), strict=True)) == {
        "ar": "0.0 %",
        "de": "7.5 %",
        "sw": "20.0 %",
    }


def test_reasons_are_listed_by_task_and_language(root: Path) -> None:
    table = failure_table(scored(root, "talker"))
    assert table is not None
    assert table.header == ("task", "language", "replies", "unparsed", "refusal", "none", "cut")
    assert [tuple(row) for row in table.rows] == [
        ("mini-xnli", "all", "120", "17.5 %", "6", "12", "3"),
        ("mini-xnli", "Swahili", "60", "20.0 %", "–", "12", "–"),
        ("mini-xnli", "German", "60", "15.0 %", "6", "–", "3"),
    ]
    [note] = table.notes
    assert note.split("; ") == [
        "refusal: the model says that it cannot answer",
        "none: it says that no option fits",
        "cut: ended at the token limit",
    ]


def test_only_the_worst_languages_are_listed(tmp_path: Path) -> None:
    codes = ("af", "ar", "bg", "bn", "de", "el", "en")
    cells = {
        ("mini-xnli", code): [facts(each) for each in outcomes(unparsed=place)] for place, code in enumerate(codes)
    }
    write_replied(tmp_path / "talker", cells)
    table = failure_table(scored(tmp_path, "talker"))
    assert table is not None
    assert column(table, "language") == ["all", "English", "Greek", "German", "Bengali", "Bulgarian"]
    assert len(table.rows) == 1 + LISTED
    assert table.notes[-1] == "1 more language with fewer such replies in the result record"
    assert column(table, "unreadable")[0] == "21"


def test_answers_in_other_languages_are_noted_for_free_answers_only(root: Path) -> None:
    notes = [note for note in overview_table(scored(root, "talker")).notes if "another" in note]
    assert notes == [
        # 15 of 119 answers, all of them among the 59 in Arabic.
        "answers in another language than the examples: mini-xquad 12.6 % (ar 25.4 %)",
        "answers in another script than the examples: mini-xquad 12.6 % (ar 25.4 %)",
    ]


def test_the_tables_fit_80_columns(root: Path) -> None:
    stream = io.StringIO()
    console = Console(file=stream, width=80, color_system=None)
    for table in score_tables(scored(root, "talker", "quiet")):
        table.print(console)
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    # The share stays with the score if not all columns fit.
    assert any(re.search(r"score\s+95 %\s+n\s+unparsed", line) for line in lines)
    assert sum(line.split()[:3] == ["mini-xnli", "talker", "Swahili"] for line in lines) == 1


def test_comparisons_note_different_shares(root: Path) -> None:
    folders = [root / "talker", root / "quiet"]
    note = "a part of the differences may come from how replies are read"
    table, *_ = comparison_tables(isogloss.compare(*folders, suite="mini", tasks=TASKS))
    assert f"replies without an answer: talker 8.8 %, quiet unknown; {note}" in table.notes
    three = isogloss.compare(*folders, root / "quiet", suite="mini", tasks=TASKS)
    table, *_ = systems_tables(three)  # type: ignore[arg-type]
    assert f"replies without an answer: talker 8.8 %, quiet (2) unknown, quiet (3) unknown; {note}" in table.notes
    table, *_ = comparison_tables(isogloss.compare(root / "talker", root / "talker", suite="mini", tasks=TASKS))
    assert not any(note in each for each in table.notes)


def test_runs_have_shares_over_all_seeds(tmp_path: Path) -> None:
    def talker(examples: Examples) -> RepliedPredictions:
        read = outcomes(refusal=15 if examples.language == "de" else 0)
        return RepliedPredictions(
            ["neutral" if each.is_answer else None for each in read], [facts(each) for each in read]
        )

    options = {"suite": "mini", "tasks": ["mini-xnli"], "languages": ["de", "en"], "seeds": 2, "jobs": 1}
    summary = isogloss.run(talker, out=tmp_path, **options)  # type: ignore[arg-type]
    assert isinstance(summary.tasks["mini-xnli"].replies, ReplyCounts)
    assert summary.tasks["mini-xnli"].replies.replies == 4 * EXAMPLES
    assert summary.tasks["mini-xnli"].replies.outcomes == {"refusal": 30, "strict": 4 * EXAMPLES - 30}
    assert summary.to_pandas()["unparsed"].tolist() == [12.5, 12.5]


TALKER = """
from isogloss.reply_outcomes import Outcome, ReplyFacts
from isogloss.systems.base import RepliedPredictions, System

class Talker(System):
    name = "talker"

    def needs_training(self, task):
        return False

    def fit(self, task, train, seed):
        return self

    def predict(self, examples):
        refused = [examples.language == "de" and row < 15 for row in range(len(examples))]
        outcomes = [Outcome.REFUSAL if each else Outcome.STRICT for each in refused]
        answers = [None if each else "neutral" for each in refused]
        return RepliedPredictions(answers, [ReplyFacts(outcome=each) for each in outcomes])
"""


def test_commands_write_and_show_replies(tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(TALKER, encoding="utf-8")
    system = f"{tmp_path}/talker.py:Talker"
    chosen = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "de,en", "--seeds", 2)
    done = command("run", system, *chosen, "--out", tmp_path / "runs")
    # 30 of 240 replies.
    assert re.search(r"^ mini-xnli .* 12\.5 % +2 *$", done.out, re.MULTILINE)
    assert UNPARSED_NOTE in done.out
    command("predict", system, "-t", "mini-xnli", "-l", "de", "--out", tmp_path / "answers")
    found = isogloss.score(tmp_path / "answers", "mini", tasks=["mini-xnli"])
    assert found["mini-xnli", "de"].replies.failures == {Outcome.REFUSAL: 15}  # type: ignore[union-attr]


def test_reports_have_a_section_on_replies(root: Path, tmp_path: Path) -> None:
    for name in ("talker", "quiet"):
        isogloss.score(root / name, "mini", tasks=TASKS).to_json(tmp_path / f"{name}.json")
    page = isogloss.report([tmp_path / "talker.json"], tmp_path / "report", pictures=False)
    text = page.read_text(encoding="utf-8")
    assert "Replies without an answer" in text
    assert (tmp_path / "report/tables/replies.csv").read_text().splitlines()[1] == "mini-xnli,all,120,17.5 %,6,12,3"
    page = isogloss.report([tmp_path / "quiet.json"], tmp_path / "other", pictures=False)
    assert "Replies without an answer" not in page.read_text(encoding="utf-8")


def test_systems_read_from_records_have_their_replies(root: Path, tmp_path: Path) -> None:
    isogloss.score(root / "talker", "mini", tasks=TASKS).to_json(tmp_path / "talker.json")
    [system] = read_results([tmp_path / "talker.json"], suite("mini"))
    assert system.replies is not None
    assert (system.replies.replies, system.replies.unparsed) == (240, pytest.approx(21 / 240))
    assert system.unanswered == pytest.approx(21 / 240)
    assert system.cells["mini-xnli", "sw"].unanswered == pytest.approx(0.2)
    assert system.prompt_sd is None


def test_means_over_prompts_have_their_spread(tmp_path: Path) -> None:
    for prompt, refusals in {"long": 6, "short": 12}.items():
        read = [facts(each) for each in outcomes(refusal=refusals)]
        write_replied(tmp_path / f"talker/prompt-{prompt}", {("mini-xnli", "de"): read})
    record: Results = isogloss.score(tmp_path / "talker", "mini", tasks=["mini-xnli"])
    system = system_of_record(record, "talker")
    # Accuracies of 90 and 80.
    assert system.prompt_sd == pytest.approx(50**0.5)
    # Not the larger share of one of the prompts.
    assert system.unanswered == pytest.approx(0.15)


def test_outcomes_are_an_attribute_of_answers(root: Path) -> None:
    found = explain(root / "talker", suite="mini", tasks=["mini-xnli"], languages=["de"]).explanations[0]
    facet = next(facet for facet in found.facets if facet.attribute == "reply")
    shown = [(score.bucket.name, score.bucket.n, score.value) for score in facet.buckets]
    assert shown == [("strict", 51, 100), ("refusal", 6, 0), ("cut", 3, 0)]
    without = explain(root / "quiet", suite="mini", tasks=["mini-xnli"], languages=["de"]).explanations[0]
    assert all(facet.attribute != "reply" for facet in without.facets)


def test_figures_of_replies() -> None:
    assert unparsed_text(None) == "·"
    few = ReplyCounts(replies=10_000, outcomes={Outcome.STRICT: 9_999, Outcome.CUT: 1})
    assert unparsed_text(few) == "<0.1 %"
    assert [cost_text(each) for each in (0, 0.000012, 0.0956, 0.1, 1234.5)] == [
        "$0.00",
        "$0.000012",
        "$0.096",
        "$0.10",
        "$1,234.50",
    ]
