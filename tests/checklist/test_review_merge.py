"""Merged reviews: proposed changes, review marks, and their withdrawal."""

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

import isogloss
from checklist.made_reviews import made_review, write_review
from isogloss.checklist.review_files import read_reviews
from isogloss.checklist.review_marks import content_hash, mark_text, review_status, write_marks
from isogloss.checklist.review_merge import MergedReviews, merge_reviews
from isogloss.cli.main import main
from isogloss.data.files import read_text
from isogloss.errors import IsoglossError
from isogloss.grammar.file import Grammar, grammar, grammar_path
from isogloss.grammar.schema import TESTS, key_line, parse

ENGLISH = grammar_path("en").read_text(encoding="utf-8")
LINES = ENGLISH.splitlines()


def merged(*paths: Path) -> MergedReviews:
    return merge_reviews(read_reviews(paths))


def english(old: str, new: str) -> Grammar:
    assert old in ENGLISH
    return Grammar(parse(ENGLISH.replace(old, new, 1), "en.toml"))


def marked(test: str, content: str) -> Grammar:
    return english(f'{test} = "unreviewed"', f'{test} = "reviewed by 2 on 2026-11-16, content {content}"')


def test_two_speakers_of_everything_mark_every_test(tmp_path: Path) -> None:
    found = merged(write_review(tmp_path, "one", date="2026-11-09"), write_review(tmp_path, "two"))
    assert set(found.marks) == set(TESTS)
    expected = f"reviewed by 2 on 2026-11-16, content {content_hash(grammar('en'), 'comparisons')}"
    assert found.marks["comparisons"] == expected
    assert found.changes == []
    [test] = [test for test in found.tests if test.test == "properties"]
    assert (test.agreement.percent, test.agreement.kappa) == (100, None)
    assert test.agreement.items == sum(
        "properties" in item.tests for item in next(iter(read_reviews([tmp_path]).values())).items()
    )


def test_wrong_or_missing_verdicts_prevent_a_mark(tmp_path: Path) -> None:
    wrong = write_review(tmp_path, "one", {"animal.dog": {"verdict": "wrong"}})
    odd = write_review(tmp_path, "two", {"adjective.old": {"verdict": "odd"}})
    open_ended = write_review(tmp_path, "three", {"state.tired": {"verdict": "", "remark": "?"}})
    reasons = {test.test: test.reason for test in merged(wrong, odd).tests}
    # A word shared by two tests prevents both marks.
    assert reasons["animal_vs_vehicle"] == reasons["animal_vs_vehicle_2"] == "1 wrong: correct them, or ask the speaker"
    assert reasons["comparisons"] == ""
    found = {test.test: test for test in merged(open_ended).tests}
    assert found["intensifiers"].reason.startswith("no speaker judged its complete present wording")
    assert (found["intensifiers"].speakers, found["comparisons"].speakers) == (0, 1)
    few = {test.reason for test in merged(write_review(tmp_path, "four", cases=7)).tests}
    assert few == {"no speaker judged its complete present wording with at least 8 cases"}


def test_changes_are_listed_by_key_with_their_line(tmp_path: Path) -> None:
    one = write_review(
        tmp_path,
        "one",
        {
            "adjective.old": {"verdict": "odd", "better": "aged ", "remark": "of people"},
            "templates.intensifiers.contexts[3]": {"verdict": "wrong", "better": "No."},
            "templates.job_vs_nationality.questions[1]": {"verdict": "odd"},
            "names.male": {"remark": "old-fashioned"},
        },
    )
    two = write_review(
        tmp_path,
        "two",
        {
            "adjective.old": {"verdict": "odd", "better": "aged"},
            "templates.intensifiers.contexts[3]": {"verdict": "wrong"},
            "comparisons-0008-01": {"verdict": "odd"},
        },
    )
    found = merged(one, two)
    changes = {change.key: change for change in found.changes}
    assert [change.key for change in found.changes][:2] == ["templates.intensifiers.contexts[3]", "adjective.old"]
    old = changes["adjective.old"]
    line = LINES.index('old = { base = "old", more = "older" }') + 1
    assert old.where == f"en.toml:{line}"
    assert (old.better, old.remarks, old.verdicts) == ({"aged": 2}, ["of people"], {"right": 0, "odd": 2, "wrong": 0})
    line = LINES.index('    "{b} is {reducer} {state}. {a} is {state}.",') + 1
    assert changes["templates.intensifiers.contexts[3]"].where == f"en.toml:{line}"
    [line] = [number for number, text in enumerate(LINES, 1) if "nationality?" in text]
    assert changes["templates.job_vs_nationality.questions[1]"].where == f"en.toml:{line}"
    case = changes["comparisons-0008-01"]
    assert case.sources == (
        "templates.comparisons.contexts[0]",
        "templates.comparisons.questions[1]",
        "adjective.quiet",
    )
    assert changes["names.male"].verdicts == {"right": 2, "odd": 0, "wrong": 0}


def test_remarks_on_older_wording_are_marked(tmp_path: Path) -> None:
    review = made_review("one", {"adjective.old": {"wording": "olde", "verdict": "wrong", "better": "old"}})
    review["content"]["comparisons"] = "0" * 12
    path = tmp_path / "one.json"
    path.write_text(json.dumps(review), encoding="utf-8")
    found = merged(path)
    assert found.speakers[0].older == ["comparisons"]
    [change] = found.changes
    assert [(old.wording, old.verdict, old.better) for old in change.older] == [("olde", "wrong", "old")]
    assert change.verdicts == {"right": 0, "odd": 0, "wrong": 0}
    assert set(found.marks) == set(TESTS) - {"comparisons"}


def test_right_content_of_other_wordings_does_not_count(tmp_path: Path) -> None:
    found = merged(write_review(tmp_path, "one", {"adjective.old": {"wording": "olde"}}))
    assert set(found.marks) == set(TESTS) - {"comparisons"}


def test_mark_stands_until_the_words_change() -> None:
    content = content_hash(grammar("en"), "comparisons")
    vouched = review_status(marked("comparisons", content), "comparisons")
    assert (vouched.text, vouched.reviewed) == (f"reviewed by 2 on 2026-11-16, content {content}", True)
    text = ENGLISH.replace(
        'comparisons = "unreviewed"', f'comparisons = "reviewed by 2 on 2026-11-16, content {content}"'
    )
    for old, new in (
        ('more = "older"', 'more = "elder"'),
        ('"Who is less {adjective@a}?"', '"Who is not so {adjective@a}?"'),
        ('"James"', '"Jim"'),
    ):
        assert old in text
        status = review_status(Grammar(parse(text.replace(old, new, 1), "en.toml")), "comparisons")
        assert status.text == "unreviewed: reviewed by 2 on 2026-11-16, but the wording has changed since"
        assert (status.reviewed, status.withdrawn) == (False, True)
    # Other tests' wording and comments do not matter.
    other = Grammar(parse(text.replace('dog = "a dog"', 'dog = "a hound" # !', 1), "en.toml"))
    assert review_status(other, "comparisons").reviewed


def test_unreviewed_content_is_not_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.checklist.review_marks.content_hash", lambda *_: pytest.fail("computed"))
    doubt = english('comparisons = "unreviewed"', 'comparisons = "unreviewed; unsure of less"')
    assert review_status(doubt, "comparisons").text == "unreviewed; unsure of less"


@pytest.mark.parametrize(
    "mark",
    [
        "reviewed by Amina, 2026",
        "reviewed by 0 on 2026-11-16, content 0123456789ab",
        "reviewed by 2 on 2026-13-16, content 0123456789ab",
        "reviewed by 2 on 2026-11-16, content 0123456789AB",
        "reviewed by 2 on 2026-11-16, content 0123456789ab!",
        "unreviewedly",
    ],
)
def test_mark_has_one_form(mark: str) -> None:
    with pytest.raises(IsoglossError, match='review of comparisons must be "unreviewed" or "reviewed by 2 on'):
        english('comparisons = "unreviewed"', f'comparisons = "{mark}"')


def test_marks_change_their_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "en.toml"
    text = ENGLISH.replace('comparisons = "unreviewed"', 'comparisons  =  "unreviewed; a \\"doubt\\"" # why')
    path.write_text(text, encoding="utf-8")
    path.chmod(0o640)
    mark = "reviewed by 2 on 2026-11-16, content 0123456789ab"
    write_marks(path, {"comparisons": mark, "animal_vs_vehicle": mark})
    before, after = text.splitlines(), path.read_text(encoding="utf-8").splitlines()
    differing = {old: new for old, new in zip(before, after, strict=True) if old != new}
    assert differing == {
        'comparisons  =  "unreviewed; a \\"doubt\\"" # why': f'comparisons  =  "{mark}" # why',
        'animal_vs_vehicle = "unreviewed"': f'animal_vs_vehicle = "{mark}"',
    }
    assert path.stat().st_mode & 0o777 == 0o640
    path.write_text(ENGLISH.replace('comparisons = "unreviewed"', "comparisons = 'unreviewed'"), encoding="utf-8")
    with pytest.raises(IsoglossError, match="missing line comparisons"):
        write_marks(path, {"comparisons": mark})
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("end", ["\x85", "\u2028", "\u2029"])
def test_only_a_line_feed_ends_a_line(end: str, tmp_path: Path) -> None:
    path = tmp_path / "en.toml"
    text = f"# a{end}b\n{ENGLISH}"
    path.write_text(text, encoding="utf-8")
    write_marks(path, {"comparisons": "unreviewed; of late"})
    assert path.read_text(encoding="utf-8") == text.replace("unreviewed", "unreviewed; of late", 1)
    assert key_line(text, "adjective.old") == key_line(ENGLISH, "adjective.old") + 1


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no locks there")
def test_concurrent_marks_are_both_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "en.toml"
    path.write_text(ENGLISH, encoding="utf-8")
    both = Barrier(2)

    def read_together(path: Path) -> str:
        text = read_text(path)
        with suppress(BrokenBarrierError):
            both.wait(0.5)
        return text

    monkeypatch.setattr("isogloss.checklist.review_marks.read_text", read_together)
    tests = ("comparisons", "properties")
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda test: write_marks(path, {test: f"unreviewed; of {test}"}), tests))
    review = parse(path.read_text(encoding="utf-8"), "en.toml").review
    assert [review[test] for test in tests] == [f"unreviewed; of {test}" for test in tests]
    assert list(tmp_path.iterdir()) == [path]


def test_mark_by_more_speakers_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vouched = marked("comparisons", content_hash(grammar("en"), "comparisons"))
    monkeypatch.setattr("isogloss.checklist.review_merge.grammar", lambda _: vouched)
    paths = [write_review(tmp_path, name) for name in ("one", "two", "three")]
    assert {test.test: test.reason for test in merged(*paths[:2]).tests}["comparisons"].startswith(
        "already marked by 2"
    )
    assert merged(*paths).marks["comparisons"].startswith("reviewed by 3 on 2026-11-16")


def test_speaker_who_finds_something_wrong_withdraws_a_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vouched = marked("comparisons", content_hash(grammar("en"), "comparisons"))
    monkeypatch.setattr("isogloss.checklist.review_merge.grammar", lambda _: vouched)
    said = {"adjective.old": {"verdict": "wrong"}, "adjective.young": {"verdict": "wrong"}}
    right, wrong = write_review(tmp_path, "one"), write_review(tmp_path, "two", said, date="2026-11-14")
    # A speaker who judged nothing else can contradict it, too.
    brief = made_review("three", {"adjective.old": {"verdict": "wrong"}}, date="2026-11-13")
    brief["answers"] = {"adjective.old": brief["answers"]["adjective.old"]}
    (tmp_path / "three.json").write_text(json.dumps(brief), encoding="utf-8")
    for paths, reason, withdrawal in (
        ([right, wrong], "1 finds 2 of its items wrong", "1 found something wrong on 2026-11-14"),
        ([tmp_path / "three.json"], "1 finds 1 of its items wrong", "1 found something wrong on 2026-11-13"),
        ([tmp_path], "2 find 2 of its items wrong", "2 found something wrong on 2026-11-14"),
    ):
        found = merged(*paths)
        [test] = [test for test in found.tests if test.test == "comparisons"]
        assert (test.mark, test.reason) == ("", f"marked by 2, but {reason}")
        assert found.withdrawals == {"comparisons": f"unreviewed; {withdrawal}"}
        status = review_status(
            english('comparisons = "unreviewed"', f'comparisons = "unreviewed; {withdrawal}"'), "comparisons"
        )
        assert (status.text, status.reviewed) == (f"unreviewed; {withdrawal}", False)
    # Outdated and missing marks are not withdrawn.
    for unmarked in (marked("comparisons", "0" * 12), grammar("en")):
        monkeypatch.setattr("isogloss.checklist.review_merge.grammar", lambda _, unmarked=unmarked: unmarked)
        assert merged(right, wrong).withdrawals == {}


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["checklist", "review", *words])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_verb_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_review(tmp_path, "one", {"adjective.old": {"verdict": "wrong", "better": "=1+1", "remark": "\x1b[2J|"}})
    write_review(tmp_path, "two", {"adjective.old": {"verdict": "odd"}})
    record = tmp_path / "out" / "all.json"
    assert run("--read", str(tmp_path), "--json", str(record)) == 0
    said = capsys.readouterr().out
    assert "=1+1 (1)" in said
    assert "\x1b" not in said
    assert 'animal_vs_vehicle = "reviewed by 2 on 2026-11-16, content' in said
    assert "\ncomparisons = " not in said
    assert json.loads(record.read_text(encoding="utf-8"))["changes"][0]["key"] == "adjective.old"
    assert run("--read", str(tmp_path), "--format", "md") == 0
    assert "| adjective.old | en.toml:" in capsys.readouterr().out
    # Its own output may be in the folder it reads.
    assert run("--read", str(tmp_path), "--json", str(tmp_path / "all.json")) == 0
    assert "note" not in capsys.readouterr().err
    assert run("--read", str(tmp_path)) == 0
    assert f"note: {tmp_path / 'all.json'}: skipped, not the result of a review" in capsys.readouterr().err
    # Without --mark nothing is written.
    assert grammar_path("en").read_text(encoding="utf-8") == ENGLISH


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "add --language and --out"),
        (["--language", "en"], "add --language and --out"),
        (["--read"], "--read needs result files"),
        (["x.json"], "add --read"),
        (["--mark", "--language", "en", "--out", "x"], "add --read"),
        (["--language", "xx", "--out", "x"], "unknown language of the checklist 'xx'"),
        (["--language", "en", "--out", "x", "--cases", "201"], "201"),
    ],
)
def test_wrong_usage(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(*words) in (1, 2)
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


# Run commands one after the other; stop at the first that fails.
IN_TURN = """
import json, sys
from isogloss.cli.main import main
for words in json.loads(sys.argv[1]):
    try:
        main(["checklist", *words])
    except SystemExit as stop:
        if stop.code:
            raise
    sys.stderr.flush()
    print("END", flush=True)
"""


@pytest.mark.slow
def test_marked_and_withdrawn_in_a_checkout(tmp_path: Path) -> None:
    package = tmp_path / "src" / "isogloss"
    shutil.copytree(Path(isogloss.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    file = package / "grammar" / "languages" / "en.toml"
    results = tmp_path / "results"
    results.mkdir()
    write_review(results, "one")
    write_review(results, "two")

    def isogloss_(*commands: tuple[str, ...], code: int = 0) -> list[str]:
        """Run commands in one process, which reads the language file once, and return their outputs."""
        done = subprocess.run(
            [sys.executable, "-c", IN_TURN, json.dumps(commands)],
            env={**os.environ, "PYTHONPATH": str(package.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout
        return done.stdout.split("END\n")

    def reviews() -> set[str]:
        rows = (tmp_path / "built" / "en.jsonl").read_text(encoding="utf-8").splitlines()
        return {row["review"] for row in map(json.loads, rows) if row["test"] == "comparisons"}

    read = ("review", "--read", str(results))
    show = ("show", "comparisons-0000", "--languages", "en")
    build = ("build", "--out", str(tmp_path / "built"), "--languages", "en", "--cases", "2")
    assert "not an editable checkout" in isogloss_((*read, "--mark"), code=1)[0]
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    assert "marked comparisons, intensifiers" in isogloss_((*read, "--mark"))[0]
    before = file.read_text(encoding="utf-8")
    against = write_review(tmp_path, "three", {"adjective.old": {"verdict": "wrong"}})
    _, shown, again, contradicted, _ = isogloss_(build, show, (*read, "--mark"), (*read, str(against)))
    [mark] = reviews()
    assert mark.startswith("reviewed by 2 on 2026-11-16, content ")
    assert f"en: {mark}" in shown
    assert "no tests to mark" in again
    said = 'comparisons = "unreviewed; 1 found something wrong on 2026-11-16"'
    assert said in contradicted
    assert file.read_text(encoding="utf-8") == before
    assert "withdrew the mark of comparisons\n" in isogloss_((*read, str(against), "--mark"))[0]
    assert said in file.read_text(encoding="utf-8")
    isogloss_(build)
    assert reviews() == {"unreviewed; 1 found something wrong on 2026-11-16"}
    file.write_text(before.replace('more = "older"', 'more = "elder"'), encoding="utf-8")
    withdrawn = "unreviewed: reviewed by 2 on 2026-11-16, but the wording has changed since"
    _, shown, unmarked, _ = isogloss_(build, show, read)
    assert reviews() == {withdrawn}
    assert f"en: {withdrawn}" in shown
    assert "no speaker judged its complete present wording" in unmarked


def test_readers_are_informed(monkeypatch: pytest.MonkeyPatch) -> None:
    def notes(speaker: Grammar) -> list[str]:
        monkeypatch.setattr("isogloss.checklist.reader.grammar", lambda _: speaker)
        return [note for note in isogloss.load("checklist-comparisons", "en").notes if "reviewed" in note]

    content = content_hash(grammar("en"), "comparisons")
    assert notes(grammar("en")) == ["unreviewed by a native speaker"]
    assert notes(marked("comparisons", content)) == [f"reviewed by 2 on 2026-11-16, content {content}"]
    assert notes(marked("comparisons", "0" * 12)) == [
        "unreviewed by a native speaker",
        "unreviewed: reviewed by 2 on 2026-11-16, but the wording has changed since",
    ]


def test_mark_reads_back() -> None:
    from datetime import date

    parse(ENGLISH.replace('"unreviewed"', f'"{mark_text(12, date(2027, 1, 2), "0" * 12)}"'), "en.toml")
