"""Test a board on disk: complete or unchanged, from every kind of input, and never over other files."""

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import pytest

import isogloss
from board.made_systems import XTREME_R, record, small_web  # noqa: F401  # a fixture
from isogloss.board import site
from isogloss.board.build import make_board
from isogloss.board.site import build_board, check_is_site, read_systems, write_site
from isogloss.cli.main import main
from isogloss.errors import DataError
from isogloss.metrics.significance import holm

pytestmark = pytest.mark.usefixtures("small_web")
SUITE = 'title = "Two tasks"\ntasks = ["mini-xnli", "mini-xcopa"]\nlanguages = ["sw", "th", "zh"]\n'


def read_data(folder: Path):
    text = (folder / "data.js").read_text(encoding="utf-8")
    data = json.loads(text.removeprefix("globalThis.isoglossBoardData = ").removesuffix(";\n"))
    data["systems"] = [dict(zip(data["system_fields"], values, strict=False)) for values in data["systems"]]
    return data


def read_detail(folder: Path, identifier: str):
    text = (folder / "systems" / f"{identifier}.js").read_text(encoding="utf-8")
    return json.loads(text.removeprefix(f'globalThis.isoglossSystem("{identifier}", ').removesuffix(");\n"))


def of_column(tests, column):
    return next(test for test in tests if test["column"] == column)


def command(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return int(stop.value.code or 0)


def test_the_command_builds_a_site_of_records_and_published_systems(tmp_path, capsys):
    record("mine", 61.0, regime="zero-shot").to_json(tmp_path / "results.json")
    out = tmp_path / "site"
    assert command("board", "build", tmp_path / "results.json", "published", "--out", out, "--title", "Ours") == 0
    assert str(out / "index.html") in capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {
        *("index.html", "look.css", "board.css", "pages.css", "app.js", "data.js", "systems", "cards")
    }
    data = read_data(out)
    assert data["schema"] == 3
    assert data["title"] == "Ours"
    assert [system["id"] for system in data["systems"][:3]] == ["mine", "mbert", "xlm-r-large"]
    assert {path.stem for path in (out / "systems").iterdir()} == {system["id"] for system in data["systems"]}
    detail = read_detail(out, "mine")
    assert detail["cells"][0]["signature"].startswith("task:xnli|")
    assert detail["gaps"][0] == {"task": "xnli", "value": 7.0, "low": 6.0, "high": 8.0}


def test_prediction_folders_are_scored_on_the_way(tmp_path):
    """A folder of predictions, a folder of such folders, and a record of the same predictions give the same scores."""
    suite = tmp_path / "two.toml"
    suite.write_text(SUITE)
    for name in ("one", "two"):
        for task_name in ("mini-xnli", "mini-xcopa"):
            for code in ("sw", "th", "zh"):
                examples = isogloss.load(task_name, code)
                answers = [label if row % 3 or name == "one" else None for row, label in enumerate(examples["label"])]
                path = tmp_path / "predictions" / name / task_name / f"{code}.jsonl"
                path.parent.mkdir(parents=True, exist_ok=True)
                lines = (
                    json.dumps({"id": key, "prediction": value})
                    for key, value in zip(examples.ids, answers, strict=True)
                )
                path.write_text("\n".join(lines))
    isogloss.score(tmp_path / "predictions/two", suite=str(suite)).to_json(tmp_path / "two.json")
    seen = []
    for source in (tmp_path / "predictions", tmp_path / "predictions/two", tmp_path / "two.json"):
        assert command("board", "build", source, "--suite", suite, "--out", tmp_path / "site") == 0
        data = read_data(tmp_path / "site")
        names = ["one", "two"] if source.name == "predictions" else ["two"]
        assert [system["name"] for system in data["systems"]] == names
        assert [system.get("has_predictions", False) for system in data["systems"]] == [source.is_dir()] * len(names)
        seen.append(read_detail(tmp_path / "site", "two")["cells"])
    assert len(seen[0]) == 6
    assert seen[0] == seen[1] == seen[2]
    (tmp_path / "predictions/two/mini-xnli/sw.jsonl").write_text('{"id": "no such", "prediction": "neutral"}\n')
    (tmp_path / "empty").mkdir()
    assert command("board", "build", tmp_path / "predictions", "--suite", suite, "--out", tmp_path / "site") == 1
    assert command("board", "build", tmp_path / "empty", "--suite", suite, "--out", tmp_path / "site") == 1


def test_the_default_is_all_published_systems(tmp_path):
    assert command("board", "build", "-o", tmp_path / "site") == 0
    assert len(read_data(tmp_path / "site")["systems"]) == 235


def test_other_folders_are_left_unchanged(tmp_path, capsys):
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    assert command("board", "build", "published", "-o", home) == 1
    assert "not a board folder" in capsys.readouterr().err
    assert (home / "thesis.tex").read_text() == "years of work"
    (home / "data.js").write_text("const mine = 1;")
    assert command("board", "build", "published", "-o", home) == 1
    assert command("board", "build", "published", "-o", home / "thesis.tex") == 1


def test_foreign_files_in_a_site_are_not_lost(tmp_path):
    out = tmp_path / "site"
    build_board(["published"], out)
    (out / "CNAME").write_text("board.example.org")
    with pytest.raises(DataError, match="CNAME"):
        build_board(["published"], out)
    assert (out / "CNAME").is_file()


def test_a_site_is_replaced_as_a_whole(tmp_path):
    out = tmp_path / "site"
    build_board(["published:all"], out)
    build_board([record("only")], out)
    assert [path.name for path in (out / "systems").iterdir()] == ["only.js"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_folders_are_renamed_if_they_cannot_be_exchanged(tmp_path, monkeypatch):
    monkeypatch.setattr(site, "_exchanged", lambda one, other: False)
    test_a_site_is_replaced_as_a_whole(tmp_path)


def test_a_failed_build_keeps_the_old_site(tmp_path, small_web):  # noqa: F811
    out = tmp_path / "site"
    build_board(["published"], out)
    before = (out / "data.js").read_bytes()
    (small_web / "main.js").write_text("export default 1;\n")
    with pytest.raises(DataError, match="not supported by the bundle"):
        build_board([record("new")], out)
    assert (out / "data.js").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_old_folders_of_killed_builds_are_removed(tmp_path):
    old, young = tmp_path / ".site.a.part", tmp_path / ".site.b.part"
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (0, 0))
    build_board(["published"], tmp_path / "site")
    assert not old.exists()
    assert young.exists()


def test_a_link_to_a_site_stays_a_link(tmp_path):
    build_board(["published"], tmp_path / "real")
    (tmp_path / "link").symlink_to("real")
    build_board([record("new")], tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert [path.name for path in (tmp_path / "real" / "systems").iterdir()] == ["new.js"]


# Fork one build per line of standard input, kill it after that many file operations, and print how it ended.
KILLED = """
import os, signal, sys
from itertools import combinations
from pathlib import Path
from isogloss.board import site
site.WEB = Path(sys.argv[1])

def count(event, arguments):
    global left
    if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "ctypes.dlsym"):
        if event != "open" or ".part" in str(arguments[0]):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

# The children inherit what this process has read and cached.
site.build_board(["published:XLM-R Large"], Path(sys.argv[3]))
for line in sys.stdin:
    left = int(line)
    child = os.fork()
    if not child:
        sys.addaudithook(count)
        site.build_board(["published:XLM-R Large"], Path(sys.argv[2]))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_time_leaves_the_old_site_or_the_new_one(tmp_path, small_web):  # noqa: F811
    out = tmp_path / "site"
    build_board(["published:mBERT"], out)
    old = sorted(path.name for path in (out / "systems").iterdir())
    seen = set()
    arguments = [sys.executable, "-c", KILLED, str(small_web), str(out), str(tmp_path / "first")]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as builder:
        assert builder.stdin is not None
        assert builder.stdout is not None
        for instant in range(200):
            builder.stdin.write(f"{instant}\n")
            code = int(builder.stdout.readline())
            names = sorted(path.name for path in (out / "systems").iterdir())
            assert sorted(system["id"] + ".js" for system in read_data(out)["systems"]) == names
            assert {"index.html", "board.css", "app.js"} <= {path.name for path in out.iterdir()}
            seen.add(names == old)
            if code == 0:
                break
            assert code == -signal.SIGKILL
        builder.stdin.close()
    assert code == 0
    assert seen == {True, False}


def answers_with_mistakes(folder: Path, every: int, name: str) -> Path:
    """Return scored gold answers of the synthetic suite with every `every`-th one wrong."""
    for task, options in (("mini-xnli", ["entailment", "neutral", "contradiction"]), ("mini-xcopa", [0, 1])):
        (folder / task).mkdir(parents=True)
        for code in ("sw", "th", "zh"):
            examples = isogloss.load(task, code)
            lines = []
            for place, (identifier, gold) in enumerate(zip(examples.ids, examples[examples.gold], strict=True)):
                wrong = next(option for option in options if option != gold)
                lines.append(json.dumps({"id": identifier, "prediction": gold if (place + 1) % every else wrong}))
            (folder / task / f"{code}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "system.toml").write_text(f'name = "{name}"\nregime = "zero-shot"\n')
    return folder


@pytest.fixture
def two_tasks(tmp_path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(SUITE)
    return path


def test_systems_with_predictions_have_paired_tests(tmp_path, two_tasks):
    folders = [answers_with_mistakes(tmp_path / name, every, name) for name, every in (("a", 20), ("b", 15), ("c", 2))]
    for folder in folders:
        isogloss.score(folder, suite=str(two_tasks)).to_json(folder / "results.json")
    build_board([*folders], tmp_path / "site", suite=str(two_tasks))
    data = read_data(tmp_path / "site")
    assert all(system["has_predictions"] and system["complete"] for system in data["systems"])
    assert data["ranks"]["category"]["groups"] == [[0, 1], [2]]
    assert data["ranks"]["category"]["test"] == "examples"
    assert set(data["example_tests"]) == {"overall", *(task["id"] for task in data["tasks"])}
    detail = read_detail(tmp_path / "site", "a")
    overall = {
        other: next(each for each in of if each["column"] == "overall") for other, of in detail["paired"].items()
    }
    # The same contrasts as isogloss compare, corrected over the same pairs.
    for pair in isogloss.compare(*folders, suite=str(two_tasks)):
        tests = read_detail(tmp_path / "site", pair.first)["paired"][pair.second]
        contrasts = {"overall": pair.overall} | {each.name: each for each in (*pair.tasks, *pair.cells)}
        assert {test["column"]: (test["difference"], test["p"]) for test in tests} == {
            column: (pytest.approx(contrast.difference), contrast.p) for column, contrast in contrasts.items()
        }
    assert overall["c"]["p"] < 0.05 < overall["b"]["p"]
    mirrored = of_column(read_detail(tmp_path / "site", "c")["paired"]["a"], "overall")
    assert (mirrored["low"], mirrored["high"]) == (-overall["c"]["high"], -overall["c"]["low"])


def data_tasks(data) -> list[str]:
    return [task["id"] for task in data["tasks"]]


def test_paired_tests_of_systems_with_different_cells_are_corrected_over_pairs(tmp_path, two_tasks):
    folders = [answers_with_mistakes(tmp_path / name, every, name) for name, every in (("a", 20), ("b", 8), ("c", 9))]
    first, second = (path for path in folders[2].iterdir() if path.is_dir())
    shutil.rmtree(first)
    (second / "zh.jsonl").unlink()
    build_board([*folders], tmp_path / "site", suite=str(two_tasks))
    data = read_data(tmp_path / "site")
    pairs = [isogloss.compare(one, other, suite=str(two_tasks)) for one, other in combinations(folders, 2)]
    tests = [read_detail(tmp_path / "site", pair.first)["paired"][pair.second] for pair in pairs]
    # What two systems share is compared as isogloss compare does, with its names; p is corrected over all pairs.
    for pair, own in zip(pairs, tests, strict=True):
        labels = [each.label for each in (*pair.tasks, *([pair.overall] if pair.overall else []), *pair.cells)]
        assert [test["column"] for test in own] == labels
        assert all(test["p"] >= one.p for test, one in zip(own, pair.tasks, strict=False))
        assert all((test["p"] < 0.05) == (test["low"] * test["high"] > 0) for test in own)
    (shared,) = {contrast.label for contrast in pairs[1].tasks}
    assert shared == f"{second.name}*"
    # One test per pair and task, and both tasks only for the first pair: p-values alone are those of single tests.
    single = [pair.tasks[0].p for pair in pairs[1:]]
    both = [isogloss.compare(*folders[:2], suite=str(two_tasks), tasks=task).tasks[0].p for task in data_tasks(data)]
    expected = holm([*both, *single]).tolist()
    found = {test["column"]: test["p"] for test in tests[0]}
    assert [*(found[task] for task in data_tasks(data)), *(of_column(own, shared)["p"] for own in tests[1:])] == (
        pytest.approx(expected)
    )
    # Only averages of all cells decide ranks.
    assert {column: len(of) for column, of in data["example_tests"].items()} == {
        "overall": 1,
        **dict.fromkeys(data_tasks(data), 1),
    }


def test_seeds_form_one_system_with_the_interval_of_their_summary(tmp_path, two_tasks):
    run = tmp_path / "runs" / "m" / "zero-shot"
    for seed, every in enumerate((20, 15)):
        folder = answers_with_mistakes(run / f"seed-{seed}", every, "m")
        isogloss.score(folder, suite=str(two_tasks)).to_json(folder / "results.json")
    build_board([run], tmp_path / "site", suite=str(two_tasks))
    data = read_data(tmp_path / "site")
    assert [system["id"] for system in data["systems"]] == ["m"]
    detail = read_detail(tmp_path / "site", "m")
    seeds = [isogloss.score(run / f"seed-{seed}", suite=str(two_tasks))["mini-xnli", "sw"].score for seed in (0, 1)]
    assert detail["cells"][0]["metrics"]["accuracy"][0] == pytest.approx(sum(seeds) / 2, abs=1e-4)
    assert "mean of 2 seeds" in detail["cells"][0]["notes"]
    isogloss.score(run, suite=str(two_tasks)).to_json(run / "results.json")
    build_board([run], tmp_path / "site", suite=str(two_tasks))
    assert read_data(tmp_path / "site")["averages"]["overall"]["low"]


def test_explanations_are_on_the_pages_of_their_systems(tmp_path, two_tasks):
    folders = [answers_with_mistakes(tmp_path / name, every, name) for name, every in (("a", 20), ("b", 3))]
    for folder in folders:
        isogloss.score(folder, suite=str(two_tasks)).to_json(folder / "results.json")
    explained, bias = tmp_path / "explain.json", tmp_path / "bias.json"
    words = ("--suite", two_tasks, "--languages", "sw")
    assert command("explain", *folders, *words, "--json", explained) == 0
    assert command("explain", "--bias", *words, "--json", bias) == 0
    out = tmp_path / "site"
    assert (
        command("board", "build", *folders, "-s", two_tasks, "--explain", explained, "--explain", bias, "-o", out) == 0
    )
    assert read_data(out)["has_bias"]
    assert (out / "bias.js").read_text(encoding="utf-8").startswith("globalThis.isoglossBias = {")
    own, other = (read_detail(out, name)["analyses"] for name in "ab")
    chart = own["single"][0]
    assert {"task", "language", "metric", "attribute", "title", "bars", "insight", "edges", "best", "worst"} == set(
        chart
    )
    assert all(len(bar) == 7 for bar in chart["bars"])
    one, mirrored = own["pairwise"]["b"][0]["bars"][0], other["pairwise"]["a"][0]["bars"][0]
    assert one[3:6] == [mirrored[4], mirrored[3], -mirrored[5]]
    for cell, examples in own["examples"].items():
        assert cell.endswith("/sw")
        assert all(example["inputs"] and example["answer"] for example in examples.values())
    build_board([*folders], out, suite=str(two_tasks))
    assert not (out / "bias.js").exists()


def test_a_checklist_record_joins_the_system_of_its_name(tmp_path):
    from isogloss.scoring.results import CellScore, Number, Overall, Results

    cells = [
        CellScore(
            task="checklist-comparisons",
            language=code,
            split="test",
            metrics={"error": Number(12.5, 10.0, 15.0, 200)},
            signature="",
        )
        for code in ("sw", "ha")
    ]
    rates = Results(
        suite="checklist",
        system={"name": "m"},
        split="test",
        cells=cells,
        tasks=[],
        categories=[],
        overall=Overall("flat", None, []),
        pairs=[],
        isogloss="9.9",
    )
    board = make_board(read_systems([record("m"), rates], XTREME_R), XTREME_R)
    assert [system.id for system in board.data.systems] == ["m"]
    # Hausa is in no task of XTREME-R, but has a name.
    assert [(language.code, language.name) for language in board.details[0].checklist_languages] == [("ha", "Hausa")]
    rate, _ = board.details[0].checklist
    assert (rate.test, rate.language, rate.value, rate.low) == ("comparisons", "sw", 12.5, 10.0)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"schema_version": 1}', "\x00"])
def test_invalid_records_are_rejected(tmp_path, content):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(DataError):
        build_board([tmp_path / "results.json"], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot be written"):
        write_site(make_board(read_systems([record("m")], XTREME_R), XTREME_R), tmp_path / "file" / "site")


def test_an_empty_folder_becomes_a_site(tmp_path):
    (tmp_path / "site").mkdir()
    check_is_site(tmp_path / "site")
    build_board(["published"], tmp_path / "site")
    check_is_site(tmp_path / "site")
