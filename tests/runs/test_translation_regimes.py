"""The regimes with translations end to end, one kind of task at a time: a trivial translator and a tiny encoder."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isogloss
from e2e.command import isogloss as isogloss_command
from isogloss.runs import jobs
from isogloss.runs.records import CellRecord, read_record
from isogloss.scoring.results import CellScore, Results
from isogloss.systems.neural.fit_log import FitLog, read_fit_log
from isogloss.training import loop

# Real tasks in their own layouts, with made-up content. Spanish is English with every word prefixed by "z".
NOUNS = "bird boat cake door farm fish king lamp milk road ship tree".split()
PLACES = "Avalon Bagdad Cadiz Delhi Essen Fargo Genoa Havre".split()
COUNT = 24
SETTINGS = {"steps": 4, "batch": 8, "learning_rate": 1e-3, "select": "last", "checkpoints": 100.0, "quiet": True}
SMALL = {"dev_examples": 0, "test_examples": 0, "siqa": False, **SETTINGS}
TO_SPANISH = r"import re, sys; sys.stdout.writelines(re.sub(r'(\w+)', r'z\1', line) for line in sys.stdin)"
TO_ENGLISH = r"import re, sys; sys.stdout.writelines(re.sub(r'\bz(\w+)', r'\1', line) for line in sys.stdin)"


def spanish(text: str) -> str:
    return " ".join(f"z{word}" for word in text.split())


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def pairs(root: Path) -> None:
    labels = ("entailment", "neutral", "contradiction")
    rows = [(f"the {NOUNS[n % 12]} is here", f"a {NOUNS[n % 7]}", labels[n % 3]) for n in range(5010)]
    put(root / "xnli/train-en.tsv", "".join("\t".join(row) + "\n" for row in rows[:COUNT]))
    for code, say in (("en", str), ("es", spanish)):
        put(root / f"xnli/test-{code}.tsv", "".join(f"{say(a)}\t{say(b)}\t{label}\n" for a, b, label in rows))


def choices(root: Path) -> None:
    for name, code, count, say in (("train", "en", COUNT, str), ("test", "it", 500, spanish)):
        rows = [
            {
                "idx": n,
                "premise": say(f"the {NOUNS[n % 12]} fell"),
                "choice1": say("it was wet"),
                "choice2": say(f"a {NOUNS[n % 5]} came"),
                "question": "cause",
                "label": n % 2,
            }
            for n in range(count)
        ]
        put(root / f"xcopa/data/{code}/{name}.{code}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def question(n: int, say: Callable[[str], str]) -> dict[str, Any]:
    context, answer = say(f"the {NOUNS[n % 12]} is in {PLACES[n % 8]} now"), say(PLACES[n % 8])
    asked = {"id": str(n), "question": say(f"where is the {NOUNS[n % 12]}")}
    answers = [{"text": answer, "answer_start": context.index(answer)}]
    return {"context": context, "qas": [{**asked, "answers": answers}]}


def questions(root: Path) -> None:
    for path, count, say in (("squad/train-v1.1", COUNT, str), ("xquad/xquad.es", 1190, spanish)):
        paragraphs = [question(n, say) for n in range(count)]
        put(root / f"{path}.json", json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}))


def tags(root: Path) -> None:
    for path, count, say in (("train-en", COUNT, str), ("dev-eu", 1798, spanish)):
        rows = [
            f"{say('the')}\tDET\n{say(NOUNS[n % 12])}\tNOUN\n{say('sees')}\tVERB\n{say(PLACES[n % 8])}\tPROPN\n\n"
            for n in range(count)
        ]
        put(root / f"udpos/{path}.tsv", "".join(rows))


KINDS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "xnli": (pairs, "es", "test"),
    "xcopa": (choices, "it", "test"),
    "xquad": (questions, "es", "test"),
    "udpos": (tags, "eu", "dev"),
}


def command(program: str) -> str:
    return f'{sys.executable} -c "{program}"'


class Runs:
    """Translated data of one task, and the runs of a tiny encoder on it."""

    def __init__(self, name: str, model: Path, folder: Path) -> None:
        make, self.language, self.split = KINDS[name]
        self.name, self.model, self.folder = name, model, folder
        make(folder / "data")
        for split, program in (("train", TO_SPANISH), (self.split, TO_ENGLISH)):
            options: dict[str, Any] = {
                "split": split,
                "data": folder / "data",
                "cache": folder / "cache",
                "quiet": True,
                "limits": {},  # the made-up words are in no language
            }
            [made] = isogloss.translate(name, self.language, command(program), **options)
            assert made.path is not None, made.failure

    def arguments(self, regime: str) -> dict[str, Any]:
        return {
            "tasks": [self.name],
            "languages": [self.language],
            "split": self.split,
            "regime": regime,
            "seeds": 1,
            "data": str(self.folder / "data"),
            "out": str(self.folder / "runs"),
            "settings": SMALL,
            # 30 examples are enough for a test.
            "subset": 30,
        }

    def run(self, regime: str) -> CellRecord:
        summary = isogloss.run(f"encoder:{self.model}", **self.arguments(regime))
        assert summary.cells["done"] == 1, (summary.failed, summary.skipped)
        return self.record(regime)

    def seed(self, regime: str) -> Path:
        return next((self.folder / "runs").glob(f"*/{regime}/seed-0"))

    def record(self, regime: str) -> CellRecord:
        prefix = "" if self.split == "test" else f"{self.split}-"
        found = read_record(self.seed(regime) / f".cells/{self.name}/{prefix}{self.language}.json")
        assert found is not None
        return found

    def fit(self, regime: str) -> FitLog:
        target = f"-{self.language}" if regime == "translate-train" else ""
        log = read_fit_log(self.seed(regime) / f".training/{self.name}{target}")
        assert log is not None
        return log


def score(record: CellRecord) -> CellScore:
    assert record.score is not None
    return record.score


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_under_every_regime(name: str, tiny_bert: Path, tmp_path: Path) -> None:
    runs = Runs(name, tiny_bert, tmp_path)
    code = runs.language
    runs.run("translate-train")
    assert runs.fit("translate-train").learnt_from["language"] == code
    together = score(runs.run("translate-train-all"))
    assert runs.fit("translate-train-all").learnt_from["language"] == f"en+{code}"
    assert runs.fit("translate-train-all").learnt_from["examples"] == 2 * COUNT
    assert any(note.startswith("training set: 2 of ") and f": en, {code}" in note for note in together.notes)
    record = runs.run("translate-test")
    assert not score(record).partial
    projected = [note for note in score(record).notes if "projected back to the original" in note]
    assert len(projected) == (name in ("xquad", "udpos"))
    # What is stored answers the original questions.
    [results] = [Results.from_json(path) for path in runs.seed("translate-test").glob("*results.json")]
    assert [cell.notes for cell in results.cells] == [score(record).notes]


def test_questions_on_translated_gold_stay_apart(
    tiny_bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = Runs("xquad", tiny_bert, tmp_path)
    translated = tmp_path / "data/translations/xquad/translate-test/es.jsonl"
    first, *lines = translated.read_text().splitlines()
    lost = {**json.loads(first), "answer_starts": [None], "projection": ["lost"]}
    translated.write_text("\n".join([json.dumps(lost), *lines]) + "\n")
    xtreme, projected = score(runs.run("translate-test-xtreme")), score(runs.run("translate-test"))
    assert (xtreme.partial, projected.partial) == (True, False)
    assert (xtreme.metrics["f1"].n, projected.metrics["f1"].n) == (1189, 1190)
    assert "dialect:squad-translated-gold|" in xtreme.signature
    assert "dialect:squad|" in projected.signature
    [results] = [Results.from_json(path) for path in runs.seed("translate-test-xtreme").glob("results.json")]
    assert results.tasks == []
    assert [cell.notes for cell in results.cells] == [xtreme.notes]
    # The command prints the scores and says what they are.
    settings = [f"--{name}={value}" for name, value in (("out", tmp_path / "runs"), ("data", tmp_path / "data"))]
    config = tmp_path / "settings.toml"
    config.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in SMALL.items()))
    chosen = ["--tasks=xquad", "--languages=es", "--seeds=1", "--subset=30", f"--config={config}", *settings]
    done = isogloss_command("run", f"encoder:{tiny_bert}", "--regime=translate-test-xtreme", *chosen)
    assert done.code == 0, done.err
    assert f"{xtreme.score:.1f}†" in done.out
    assert "scored on translated gold, as XTREME's translate-test: not comparable" in done.out


def test_regimes_with_the_same_training_share_weights(
    tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Runs("xnli", tiny_bert, tmp_path)
    runs.run("zero-shot")
    trained = runs.fit("zero-shot")
    assert not trained.weights_from
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", None)  # nothing is trained again
        runs.run("translate-test")
    reused = runs.fit("translate-test")
    assert reused.weights_from == str(runs.seed("zero-shot") / ".training/xnli")
    assert (reused.fingerprint, reused.seconds) == (trained.fingerprint, 0)
    # A translated training set has its own fit.
    runs.run("translate-train")
    assert not runs.fit("translate-train").weights_from


def test_a_killed_run_is_resumed(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs, undisturbed = (Runs("udpos", tiny_bert, tmp_path / name) for name in ("killed", "undisturbed"))

    def killed(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if (child := os.fork()) == 0:
        monkeypatch.setattr(jobs, "fill_cell", killed)  # after the fit, before the first cell
        runs.run("translate-train-all")
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    with monkeypatch.context() as patch:
        patch.setattr(loop, "train", None)  # the fit is finished
        record = runs.run("translate-train-all")
    expected = undisturbed.run("translate-train-all")
    assert score(record) == score(expected)
    assert record.checksums == expected.checksums
