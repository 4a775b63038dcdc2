"""A task from outside in languages beyond the papers: every command takes them, and a broken one affects no other."""

import json
from pathlib import Path

import pytest

from plugins.installed import Environment, declare

# Listed in benchmarks or not, with a script of its own, region, private, not in the registry, not a tag at all.
LANGUAGES = ("en", "bm", "zu", "ace-Arab", "aa", "pt-BR", "qaa-x-toy", "x-toy", "xyz", "toyish")

TASK = f"""
from isogloss.tasks import Layout, Suite, Task

TASK = Task(
    id="moods",
    title="Moods: how a sentence sounds",
    kind="classification",
    category="classification",
    languages={LANGUAGES},
    main=("accuracy",),
    layouts=(Layout("pairs.documents", test="moods/{{lang}}.tsv", train="moods/train-{{lang}}.tsv"),),
    counts={{}},
    options={{"labels": ("good", "bad")}},
    licence="CC0-1.0",
    homepage="",
    citation="made for a test",
)
SUITE = Suite(id="moody", title="Moods", tasks=("moods",), rule="flat")
"""

# One process for all verbs: starting Python ten times takes longer than the verbs.
VERBS = """
import json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
import isogloss
from isogloss.cli.main import main

out = Path(sys.argv[1])
done = {}
def verb(name, *words):
    try:
        main([name, *map(str, words)])
        code = 0
    except SystemExit as end:
        code = end.code
    done[f"{name} {words[0]}" if name in ("analyze", "board") else name] = code
answers = out / "runs" / "ngram" / "zero-shot" / "seed-0"
suite = ("--suite", "moody")
verb("run", "ngram", *suite, "--seeds", 1, "--out", out / "runs")
verb("validate", answers)
verb("score", answers, *suite, "--json", out / "results.json")
verb("explain", answers, *suite, "--json", out / "explained.json")
verb("export", "moods", "--out", out / "inputs")
verb("report", out / "results.json", "--explain", out / "explained.json", "--no-pictures", "--out", out / "report")
verb("board", "build", answers, *suite, "--out", out / "pages")
for analysis in ("families", "dispersion"):
    verb("analyze", analysis, out / "results.json", "--json", out / f"{analysis}.json")
verb("analyze", "transfer-gap", out / "results.json", "--languages", "en,zul,toyish")
(out / "done.json").write_text(json.dumps(done))
"""


def write_moods(data: Path) -> None:
    (data / "moods").mkdir(parents=True)
    for place, code in enumerate(LANGUAGES):
        rows = [f"{mood}\tword{place} {mood}ly {row}" for row in range(20) for mood in ("good", "bad")]
        for name in (code, f"train-{code}"):
            (data / "moods" / f"{name}.tsv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")


def install_moods(site: Path) -> None:
    (site / "mood_plugin").mkdir(parents=True)
    (site / "mood_plugin" / "__init__.py").write_text(TASK, encoding="utf-8")
    points = {"isogloss.tasks": {"moods": "mood_plugin:TASK"}, "isogloss.suites": {"moody": "mood_plugin:SUITE"}}
    declare(site, "mood-plugin", points)


@pytest.fixture
def outside(tmp_path: Path) -> Environment:
    install_moods(tmp_path / "site")
    write_moods(tmp_path / "data")
    return Environment(tmp_path / "site", tmp_path / "data")


def test_every_verb_takes_any_language(outside: Environment, tmp_path: Path) -> None:
    done = outside.python("-c", VERBS, tmp_path)
    codes = json.loads((tmp_path / "done.json").read_text(encoding="utf-8"))
    assert set(codes.values()) == {0}, (codes, done.out[-2000:], done.err[-2000:])
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    scores = {cell["language"]: cell["metrics"]["accuracy"]["value"] for cell in results["cells"]}
    assert scores == dict.fromkeys(LANGUAGES, 100.0)
    finding = json.loads((tmp_path / "families.json").read_text(encoding="utf-8"))
    [groups] = (table["rows"] for table in finding["tables"] if table["name"] == "groups")
    families = {row[3]: row[4] for row in groups if row[0] == "family"}
    assert families == {"Indo-European": 2, "Niger-Congo": 2, "Austronesian": 1, "Afro-Asiatic": 1, "unknown": 3}
    assert {row[3]: row[4] for row in groups if row[0] == "script"} == {"Latn": 5, "Arab": 1, "unknown": 3}
    sizes = {row[3]: row[4] for row in groups if row[0] == "resources"}
    assert sizes == {"1M articles or more": 1, "10k to 100k": 1, "below 10k": 1, "unknown": 6}
    assert any("June 2026" in note for note in finding["notes"])


def test_broken_language_does_not_affect_the_others(outside: Environment, tmp_path: Path) -> None:
    (tmp_path / "data" / "moods" / "bm.tsv").write_bytes(b"good\tword\n\xff\xfe broken")
    done = outside.python("-c", VERBS, tmp_path)
    codes = json.loads((tmp_path / "done.json").read_text(encoding="utf-8"))
    # These two report the broken file when they have finished the other languages.
    assert {name for name, code in codes.items() if code} == {"run", "export"}
    assert done.err.count("bm.tsv:2: not UTF-8") >= 2
    others = set(LANGUAGES) - {"bm"}
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert {cell["language"] for cell in results["cells"]} == others
    assert {path.stem for path in (tmp_path / "inputs" / "moods").iterdir()} == others
    assert "qaa-x-toy" in (tmp_path / "pages" / "data.js").read_text(encoding="utf-8")
