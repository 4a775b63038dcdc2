"""Insufficient, constant and invalid input of analyses by kind, and checks of a sound finding."""

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import isogloss
from isogloss.analysis.finding import Finding, TidyTable
from isogloss.errors import IsoglossError
from isogloss.tables.findings import finding_charts, finding_tables, tidy_csv
from predictions.made import write_jsonl
from uriel_files import write_uriel

# Writes the input of a case into a folder, and returns the sources to analyse.
Case = Callable[[Path], Sequence[object]]

LANGUAGES = ("en", "de", "sw", "th", "zh", "ur", "fr", "ha")
SCORES = "task,system,regime,language,metric,value,low,high,n\n"
CHECKPOINTS = "step,seed,language,split,value,n\n"


def attempt(name: str, sources: Sequence[object], **options: Any) -> Finding | None:
    """Return the finding, which must be sound, or None after a clear refusal. Warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            finding = isogloss.analyze(name, *sources, **options)
        except IsoglossError as refusal:
            assert refusal.what
            assert "Traceback" not in str(refusal)
            assert len(str(refusal)) < 10_000
            return None
        check_sound(finding)
    return finding


def check_sound(finding: Finding) -> None:
    """Check for complete tables of finite numbers, figures with existing columns, and texts without gaps."""
    assert finding.tables
    assert all(table.rows for table in finding.tables[:1])
    for text in (finding.reading, finding.title, *finding.notes):
        assert not {"nan", "inf", "None"} & set(text.replace("(", " ").replace(",", " ").split()), text
    for table in finding.tables:
        _check_table(table)
    for figure in finding.figures:
        columns = {column.name for column in finding.table(figure.table).columns}
        named = {figure.x, figure.y, figure.colour, figure.label, figure.panel} - {""}
        assert named <= columns, (figure, columns)
    assert msgspec.json.decode(msgspec.json.encode(finding), type=Finding).reading == finding.reading
    assert json.dumps([table.records() for table in finding.tables], allow_nan=False)
    assert all(table.rows or "no rows" in table.notes for table in finding_tables(finding))
    assert all(tidy_csv(table) for table in finding.tables)
    assert finding._repr_html_()
    finding_charts(finding)


def _check_table(table: TidyTable) -> None:
    assert len({column.name for column in table.columns}) == len(table.columns)
    for row in table.rows:
        assert len(row) == len(table.columns), (table.name, row)
        assert all(math.isfinite(value) for value in row if isinstance(value, float)), (table.name, row)
    for record in table.records():
        for column in table.columns:
            value, low, high = (record.get(name) for name in (column.name, column.low, column.high))
            if isinstance(low, float) and isinstance(high, float) and isinstance(value, float):
                # A skewed estimate may lie outside its BCa interval, but the bounds are ordered.
                assert low <= high, (table.name, column.name, record)


def scores(rows: Mapping[tuple[str, str], Mapping[str, object]], **more: str) -> Case:
    """Write scores by (system, task) and language; `more` has the columns low, high and n, or a regime."""

    def write(folder: Path) -> Sequence[object]:
        regime, rest = more.get("regime", "zero-shot"), ",".join(more.get(name, "") for name in ("low", "high", "n"))
        lines = [
            f"{task},{system},{regime},{code},,{value},{rest}\n"
            for (system, task), values in rows.items()
            for code, value in values.items()
        ]
        return _text("scores.csv", SCORES + "".join(lines))(folder)

    return write


def _text(name: str, content: str | bytes) -> Case:
    def write(folder: Path) -> Sequence[object]:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return [folder / name]

    return write


def _spread(shift: float = 0, codes: Sequence[str] = LANGUAGES) -> dict[str, float]:
    return {code: 80 - 3.7 * rank + shift for rank, code in enumerate(codes)}


TWO = {("a", "xnli"): _spread(), ("b", "xnli"): _spread(1.5)}
_FILES: dict[str, Case] = {
    "an empty file": _text("x.csv", ""),
    "wrong columns": _text("x.csv", "a,b,c\n1,2,3\n"),
    "bytes": _text("x.csv", b"\xff\x00\xfe" * 50),
    "no such file": lambda folder: [folder / "nowhere.csv"],
    "an empty folder": lambda folder: [folder],
    "nothing": lambda _: [],
}
OVER_SCORES: dict[str, Case] = {
    **_FILES,
    "an empty record": _text("results.json", "{}"),
    "only a header": _text("x.csv", SCORES),
    "sound": scores(TWO),
    "one language": scores({("a", "xnli"): {"de": 50}, ("b", "xnli"): {"de": 60}}),
    "only English": scores({("a", "xnli"): {"en": 50}, ("b", "xnli"): {"en": 60}}),
    "one score": scores({("a", "xnli"): {"en": 50}}),
    "one system": scores({("a", "xnli"): _spread()}),
    "English missing": scores({key: {c: v for c, v in values.items() if c != "en"} for key, values in TWO.items()}),
    "constant": scores({key: dict.fromkeys(LANGUAGES, 50) for key in TWO}),
    "nothing right": scores({key: dict.fromkeys(LANGUAGES, 0) for key in TWO}),
    "all right": scores({key: dict.fromkeys(LANGUAGES, 100) for key in TWO}, low="100", high="100", n="500"),
    "the same system twice": scores({("a", "xnli"): _spread(), ("b", "xnli"): _spread()}),
    "no task in common": scores({("a", "xnli"): _spread(), ("b", "pawsx"): _spread(codes=("en", "de", "fr"))}),
    "no language in common": scores({("a", "xnli"): {"de": 50, "en": 60}, ("b", "xnli"): {"fr": 50, "sw": 40}}),
    "one example": scores(TWO, n="1"),
    "languages without metadata": scores(
        {("a", "wikiann"): {"ha": 50, "wo": 40}, ("b", "wikiann"): {"ha": 51, "wo": 44}}
    ),
    "not a number": scores({("a", "xnli"): {"en": "nan", "de": 5}, ("b", "xnli"): {"en": 4, "de": 5}}),
    "infinite": scores({("a", "xnli"): {"en": "inf", "de": 5}, ("b", "xnli"): {"en": 4, "de": 5}}),
    "no value": scores({("a", "xnli"): {"en": "", "de": 5}, ("b", "xnli"): {"en": 4, "de": 5}}),
    "an unknown language": scores({("a", "xnli"): {"xx": 50, "en": 60}}),
    "another regime": scores(TWO, regime="in-language"),
}


def checkpoints(runs: Sequence[Mapping[tuple[str, str], Sequence[object]]], n: str = "") -> Case:
    """Write the scores of the checkpoints of each run by (language, split)."""
    lines = [
        f"{step},{seed},{code},{split},{value},{n}\n"
        for seed, run in enumerate(runs)
        for (code, split), values in run.items()
        for step, value in enumerate(values)
    ]
    return _text("checkpoints.csv", CHECKPOINTS + "".join(lines))


def _run(seed: int, codes: Sequence[str] = ("en", "de", "sw"), count: int = 6) -> dict[tuple[str, str], list[object]]:
    rng = np.random.default_rng(seed)
    return {(code, split): rng.uniform(40, 60, count).tolist() for code in codes for split in ("dev", "test")}


def _without(run: Mapping[tuple[str, str], Any], split: str) -> dict[tuple[str, str], Any]:
    return {key: values for key, values in run.items() if key[1] != split}


OVER_CHECKPOINTS: dict[str, Case] = {
    **_FILES,
    "only a header": _text("x.csv", CHECKPOINTS),
    "sound": checkpoints([_run(0), _run(1), _run(2)], "500"),
    "one language": checkpoints([_run(0, ("de",)), _run(1, ("de",))]),
    "only English": checkpoints([_run(0, ("en",)), _run(1, ("en",))]),
    "English missing": checkpoints([_run(0, ("de", "sw")), _run(1, ("de", "sw"))]),
    "one run": checkpoints([_run(0)]),
    "one checkpoint": checkpoints([_run(0, count=1), _run(1, count=1)]),
    "two checkpoints": checkpoints([_run(0, count=2), _run(1, count=2)]),
    "constant": checkpoints([{key: [50] * 6 for key in _run(0)}] * 2, "500"),
    "nothing right": checkpoints([{key: [0] * 6 for key in _run(0)}] * 2, "500"),
    "all right": checkpoints([{key: [100] * 6 for key in _run(0)}] * 2, "500"),
    "runs without languages in common": checkpoints([_run(0, ("en", "de")), _run(1, ("en", "sw"))]),
    "runs of different lengths": checkpoints([_run(0), _run(1, count=2)], "1"),
    "no dev": checkpoints([_without(_run(0), "dev")]),
    "no test": checkpoints([_without(_run(0), "test")]),
    "not a number": checkpoints([{**_run(0), ("en", "dev"): ["nan"] * 6}]),
    "no value": checkpoints([{**_run(0), ("en", "dev"): [""] * 6}]),
}


# Prediction for an example, from its row, all gold answers, and the beginning of the pool if any.
Answer = Callable[[int, Sequence[Any], list[str]], object]


def predictions(answer: Answer, codes: Sequence[str], systems: int = 1) -> Case:
    """Write labels, tags and rankings for the mini suite."""

    def write(folder: Path) -> Sequence[object]:
        roots = [folder / f"system-{number}" for number in range(systems)]
        for root in roots:
            for name in ("mini-xnli", "mini-wikiann", "mini-udpos", "mini-lareqa"):
                for code in codes:
                    examples = isogloss.load(name, code)
                    pool = list(examples.pool.ids)[:40] if examples.pool else []
                    gold = examples[examples.gold]
                    answers = {name: answer(row, gold, pool) for row, name in enumerate(examples.ids)}
                    write_jsonl(root / f"{name}/{code}.jsonl", answers)
        return roots

    return write


def _right(row: int, gold: Sequence[Any], pool: list[str]) -> object:
    return [*gold[row], *(candidate for candidate in pool if candidate not in gold[row])] if pool else gold[row]


def _same(row: int, gold: Sequence[Any], pool: list[str]) -> object:
    return pool or ([gold[0][0]] * len(gold[row]) if isinstance(gold[row], list) else gold[0])


def _empty_answers(folder: Path) -> Sequence[object]:
    (folder / "mini-xnli").mkdir()
    (folder / "mini-xnli/en.jsonl").write_text("")
    return [folder]


MINI = ("en", "de", "sw")
OVER_PREDICTIONS: dict[str, Case] = {
    **_FILES,
    "all right": predictions(_right, MINI),
    "always the same": predictions(_same, MINI),
    "one language": predictions(_right, ("de",)),
    "only English": predictions(_right, ("en",)),
    "English missing": predictions(_same, ("de", "sw")),
    "the same system twice": predictions(_same, MINI, systems=2),
    "no answers": predictions(lambda *_: None, MINI),
    "numbers": predictions(lambda row, *_: float("nan") if row % 2 else row, MINI),
    "empty answers": predictions(lambda row, gold, _: [] if isinstance(gold[row], list) else "", MINI),
    "an empty file in a folder": _empty_answers,
}


def _uriel(values: Mapping[str, Sequence[float]]) -> Case:
    def write(folder: Path) -> Sequence[object]:
        write_uriel(folder, ["S_A", "S_B"], values)
        return ["en,de"]

    return write


def _broken_uriel(folder: Path) -> Sequence[object]:
    (folder / "lang2vec").mkdir()
    (folder / "lang2vec/feature_predictions.npz").write_bytes(b"no archive")
    return ["en,de"]


OVER_LANGUAGES: dict[str, Case] = {
    "nothing": lambda _: [],
    "one language": lambda _: ["en"],
    "English missing": lambda _: ["de,sw"],
    "an unknown language": lambda _: ["en,xx"],
    "no language": lambda _: [","],
    "an empty name": lambda _: [""],
    "the same twice": lambda _: ["en,en"],
    "a file": _text("x.csv", ""),
    "no metadata": lambda _: ["qqq"],
    "languages that are alike": _uriel({"eng": [1, 1], "deu": [1, 1]}),
    "languages without features": _uriel({"eng": [0, 0], "deu": [0, 0]}),
    "features that are not numbers": _uriel({"eng": [math.nan, 0], "deu": [0, 0]}),
    "a language without features": _uriel({"eng": [1, 0]}),
    "a broken file": _broken_uriel,
}

CASES: Mapping[str, Mapping[str, Case]] = {
    "scores": OVER_SCORES,
    "predictions": OVER_PREDICTIONS,
    "checkpoints": OVER_CHECKPOINTS,
    "languages": OVER_LANGUAGES,
}
