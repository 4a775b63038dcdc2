"""Generation, multi-label, regression and choices: cells of tables, replies in free text, and judgements."""

import csv
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isogloss.errors import DataError, IsoglossError
from isogloss.prompts.formats.base import PromptReply
from isogloss.prompts.render import Prompts
from isogloss.prompts.settings import PromptSettings
from isogloss.reply_outcomes import Outcome
from isogloss.scoring.main_score import main_statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import KINDS, Reply, judge
from isogloss.tasks.registry import TASKS
from isogloss.tasks.task import Task
from open_tasks import OPEN_TASKS

stats = pytest.importorskip("scipy.stats")


def examples(name: str, language: str = "en", **columns: Any) -> Examples:
    ids = [f"test-{row}" for row in range(len(next(iter(columns.values()))))]
    return Examples(name, language, "test", ids, columns, KINDS[OPEN_TASKS[name].kind].gold)


def with_options(name: str, **options: Any) -> Task:
    task = OPEN_TASKS[name]
    return replace(task, options={**task.options, **options})


@pytest.mark.parametrize(
    ("kind", "name", "text", "value"),
    [
        ("generation", "references", "a text", ["a text"]),
        ("generation", "references", '["one", "two"]', ["one", "two"]),
        ("generation", "references", "[not JSON", ["[not JSON"]),
        ("generation", "text", '["one"]', '["one"]'),
        ("multilabel", "labels", "a|b c", ["a", "b c"]),
        ("multilabel", "labels", "a, b;c", ["a, b", "c"]),
        ("multilabel", "labels", "a, b, a", ["a", "b"]),
        ("multilabel", "labels", '["a, b"]', ["a, b"]),
        ("multilabel", "labels", " ", []),
        ("regression", "score", " 4.5 ", 4.5),
        ("regression", "text_a", "4.5", "4.5"),
        ("choice", "choices", '["x|y", "z"]', ("x|y", "z")),
        ("choice", "choices", "x | y | z", ("x", "y", "z")),
        ("choice", "label", "c", 2),
        ("choice", "label", "25", 25),
        ("classification", "label", "a|b", "a|b"),
    ],
)
def test_cells_of_tables(kind: str, name: str, text: str, value: Any) -> None:
    assert KINDS[kind].parse_column(name, text) == value


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        ("regression", "score", "4,5"),
        ("regression", "score", "nan"),
        ("choice", "label", "26"),
        ("choice", "label", ""),
    ],
)
def test_invalid_cells(kind: str, name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"number|index"):
        KINDS[kind].parse_column(name, text)


NUMBERS = {
    "4.2": (4.2, Outcome.STRICT),
    " **3** ": (3.0, Outcome.STRICT),
    "Answer: 4": (4.0, Outcome.TOLERANT),
    "I would rate it 4 out of 5.": (4.0, Outcome.TOLERANT),
    "3.5/5": (3.5, Outcome.TOLERANT),
    "Die Bewertung ist 3,5.": (3.5, Outcome.TOLERANT),
    "٣": (3.0, Outcome.STRICT),
    "<think>maybe 2 or 3</think>4": (4.0, Outcome.TOLERANT),
    '{"answer": 2}': (2.0, Outcome.TOLERANT),
    "between 2 and 4": (None, Outcome.SEVERAL),
    "17": (None, Outcome.UNPARSED),
    "I'm sorry, I cannot rate this.": (None, Outcome.REFUSAL),
    "very similar": (None, Outcome.UNPARSED),
    "": (None, Outcome.EMPTY),
}


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_in_replies(text: str) -> None:
    [reading] = KINDS["regression"].read_replies(OPEN_TASKS["likeness"], "en", [Reply(text)], {})
    assert reading == NUMBERS[text]


LABELS = {
    "law, jazz": (["law", "jazz"], Outcome.STRICT),
    "Law and Jazz": (["law", "jazz"], Outcome.STRICT),
    "none": ([], Outcome.STRICT),
    "[]": ([], Outcome.STRICT),
    '["law", "jazz"]': (["law", "jazz"], Outcome.STRICT),
    "- law\n- jazz": (["law", "jazz"], Outcome.TOLERANT),
    "Answer: kites": (["kites"], Outcome.TOLERANT),
    "None of the options fits.": ([], Outcome.TOLERANT),
    "law, chess": (["law"], Outcome.TOLERANT),
    "chess": (None, Outcome.UNPARSED),
    "It could be law or jazz.": (None, Outcome.SEVERAL),
    "I'm sorry, I cannot answer that.": (None, Outcome.REFUSAL),
    "": (None, Outcome.EMPTY),
}


@pytest.mark.parametrize("text", LABELS)
def test_labels_in_replies(text: str) -> None:
    [reading] = KINDS["multilabel"].read_replies(OPEN_TASKS["subjects"], "en", [Reply(text)], {})
    assert reading == LABELS[text]


TEXTS = {
    "A short text.\nIn two lines.": ("A short text.\nIn two lines.", Outcome.STRICT),
    "Here is the gist:\n\nA short text.": ("A short text.", Outcome.TOLERANT),
    "<think>hm</think>\nA short text.": ("A short text.", Outcome.TOLERANT),
    "<answer>A short text.</answer>": ("A short text.", Outcome.TOLERANT),
    "I'm sorry, but I cannot help.": (None, Outcome.REFUSAL),
    " \n": (None, Outcome.EMPTY),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_in_replies(text: str) -> None:
    [reading] = KINDS["generation"].read_replies(OPEN_TASKS["gists"], "en", [Reply(text)], {})
    assert reading == TEXTS[text]


def test_cut_and_filtered_replies() -> None:
    for name, kind in (("likeness", "regression"), ("subjects", "multilabel"), ("gists", "generation")):
        read = KINDS[kind].read_replies(
            OPEN_TASKS[name], "en", [Reply("", cut=True), Reply("", filtered=True), Reply("9" * (1 << 17))], {}
        )
        assert [reading.outcome for reading in read][:2] == [Outcome.CUT, Outcome.FILTERED]


def test_generation_equals_sacrebleu() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    answers = ["The cat sat on the mat.", "A dog", "it rains today in Turku", "Nothing here"]
    references = [["The cat sat on a mat.", "The cat is sitting."], ["A dog barks"], ["It rains in Turku today"], ["x"]]
    made = examples("gists", text=answers, references=references)
    found = judge(OPEN_TASKS["gists"], made, answers)
    by_number = [[several[min(number, len(several) - 1)] for several in references] for number in range(2)]
    assert 100 * found.metrics["bleu"].score == pytest.approx(sacrebleu.corpus_bleu(answers, by_number).score)
    assert 100 * found.metrics["chrf"].score == pytest.approx(sacrebleu.corpus_chrf(answers, by_number).score)
    metric = sacrebleu.BLEU()
    metric.corpus_score(answers, [["The cat sat on a mat.", *("x" * 3)]])
    one = judge(OPEN_TASKS["gists"], examples("gists", references=[["a"]] * 4), answers)
    assert one.settings["bleu"].replace(",", "|") == str(metric.get_signature())
    # The score of a bucket is that of its summed statistics.
    part = found.metrics["bleu"].select(np.array([0, 2]))
    chosen = [[texts[0], texts[2]] for texts in by_number]
    assert 100 * part.score == pytest.approx(sacrebleu.corpus_bleu([answers[0], answers[2]], chosen).score)


def test_generation_takes_dialect_and_tokenizer_of_the_task() -> None:
    made = examples("gists", language="fr", references=[["l'été chaud"]])
    plain = judge(OPEN_TASKS["gists"], made, ["l'été froid"])
    other = judge(with_options("gists", dialect="rouge-score", tokenizer="char"), made, ["l'été froid"])
    assert plain.metrics["rouge-l"].score == pytest.approx(2 / 3)
    assert (plain.dialect, other.dialect) == ("", "rouge-score")
    assert "tok:char" in other.settings["bleu"]
    assert "tok:char" in judge(OPEN_TASKS["gists"], replace(made, language="th"), ["x"]).settings["bleu"]


def test_several_main_metrics_of_any_statistics_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(OPEN_TASKS["gists"], main=("chrf", "rouge-l"))
    monkeypatch.setitem(TASKS._loaded, "gists", task)
    monkeypatch.setitem(TASKS.shipped, "gists", "open_tasks:declared")  # type: ignore[arg-type]
    found = judge(task, examples("gists", references=[["a b c"], ["d e"]]), ["a b", "x e"]).metrics
    combined = main_statistics("gists", found)
    assert combined.score == pytest.approx((found["chrf"].score + found["rouge-l"].score) / 2)
    singles = combined.value.of_examples(combined.rows, np.ones(2))
    assert singles[1] == pytest.approx((found["chrf"].select(np.array([1])).score + 0.5) / 2)


@pytest.mark.parametrize(
    ("name", "gold", "answer", "message"),
    [
        ("gists", [], "x", "en test-0: a text without references cannot be scored"),
        (
            "subjects",
            ["chess"],
            ["law"],
            r"en test-0: expected gold labels of dance, law, kites, jazz, got \['chess'\]",
        ),
        ("likeness", float("nan"), 1.0, "en test-0: expected a finite gold number, got nan"),
        ("likeness", "4", 1.0, "en test-0: expected a finite gold number, got '4'"),
    ],
)
def test_invalid_gold_is_named(name: str, gold: Any, answer: Any, message: str) -> None:
    task = OPEN_TASKS[name]
    with pytest.raises(DataError, match=message):
        judge(task, examples(name, **{KINDS[task.kind].gold: [gold]}), [answer])


def test_errors_need_a_scale() -> None:
    task, made = OPEN_TASKS["likeness"], examples("likeness", score=[1, 2, 4])
    assert {"mae", "mse"} < judge(task, made, [1.0, 2.0, 3.0]).metrics.keys()
    bare = replace(task, options={})
    assert set(judge(bare, made, [1.0, 2.0, 3.0]).metrics) == {"pearson", "spearman"}
    with pytest.raises(IsoglossError, match=r"mae is relative to the scale .* Add the option range"):
        judge(replace(bare, main=("mae",)), made, [1.0, 2.0, 3.0])
    for ends in ((5, 0), (0, float("inf")), (1,), "0-5"):
        with pytest.raises(DataError, match="likeness: invalid range"):
            judge(with_options("likeness", range=ends), made, [1.0, 2.0, 3.0])


def test_chance_is_known_where_the_number_of_choices_varies() -> None:
    two = examples("quiz", choices=[("a", "b")] * 2, label=[0, 1])
    assert set(judge(OPEN_TASKS["quiz"], two, [0, 0]).metrics) == {"accuracy"}
    many = examples("quiz", choices=[("a", "b"), tuple("abcde")], label=[0, 4])
    assert judge(OPEN_TASKS["quiz"], many, [0, 4]).metrics["chance"].rows[:, 0].tolist() == [0.5, 0.2]


def test_label_folders_of_many_choices() -> None:
    task = OPEN_TASKS["quiz"]
    _, columns = KINDS["choice"].gold_columns(task, ["0", "1"], [3, 0])
    assert columns["choices"] == [("",) * 4] * 2
    assert KINDS["choice"].gold_columns(task, ["0"], [0])[1]["choices"] == [("", "")]
    with pytest.raises(DataError, match="gold index 99: at most 26 choices"):
        KINDS["choice"].gold_columns(task, ["0"], [99])


ROWS: dict[str, tuple[dict[str, Any], Any, str]] = {
    "gists": ({"text": "words"}, ["first", "second"], "Write the gist of the text. Answer with the text"),
    "subjects": ({"text": "words"}, ["jazz", "law"], "Options: dance, law, kites, jazz"),
    "likeness": ({"text_a": "one", "text_b": "two"}, 3.5, "How alike are the sentences?"),
    "quiz": ({"question": "Which?", "choices": tuple("abcdefghijkl")}, 11, "L. l"),
}


@pytest.mark.parametrize("wording", ["instruction", "question", "careful"])
@pytest.mark.parametrize("name", ROWS)
def test_prompts_ask_and_read_right_answers(name: str, wording: str) -> None:
    row, gold, asked = ROWS[name]
    prompts = Prompts(OPEN_TASKS[name], "de", PromptSettings(model="m", wording=wording))
    spoken = "\n".join(message["content"] for message in prompts.request(row).body["messages"])
    assert all(part in spoken for part in asked.split(". Answer"))
    written = prompts.format.write(row, gold)
    [reading] = prompts.format.read([row], [PromptReply(written)])
    assert reading.outcome is Outcome.STRICT
    assert reading.answer == {"gists": "first", "subjects": ["law", "jazz"]}.get(name, gold)


def test_korsts_is_scored_as_scipy_does(data_dir: Path) -> None:
    path = data_dir / "mt_xtreme" / "korsts" / "sts-test.tsv.xz"
    if not path.is_file():
        pytest.skip("no KorSTS in the data folder")
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    gold = [KINDS["regression"].parse_column("score", row["score"]) for row in rows]
    given = [
        len({*row["sentence1"]} & {*row["sentence2"]}) / len({*row["sentence1"]} | {*row["sentence2"]}) for row in rows
    ]
    made = examples("likeness", "ko", score=gold, text_a=given, text_b=given)
    found = judge(OPEN_TASKS["likeness"], made, given).metrics
    assert found["pearson"].score == pytest.approx(stats.pearsonr(gold, given).statistic, abs=1e-12)
    assert found["spearman"].score == pytest.approx(stats.spearmanr(gold, given).statistic, abs=1e-12)
    assert found["mae"].score == pytest.approx(np.abs(np.subtract(gold, given)).mean() / 5)
    assert found["mse"].score == pytest.approx(np.square(np.subtract(gold, given)).mean() / 25)
