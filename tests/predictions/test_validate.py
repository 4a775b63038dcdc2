"""Validation reports every problem with its location and a fix."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import isogloss
from isogloss.predictions import check
from isogloss.predictions.formats import Answers
from isogloss.predictions.problems import MAX_PROBLEMS, ProblemCode
from isogloss.predictions.validate import ValidationReport, validate
from isogloss.tasks.kinds import kind_of
from predictions.made import LABELS, tatoeba, wikiann_dev, write_jsonl, xnli_dev, xquad


def texts(report: ValidationReport) -> str:
    return "\n".join(str(problem) for problem in report.everything())


def test_valid_folder_has_no_problem(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "pred"
    labels = xnli_dev(data)
    write_jsonl(root / "xnli/dev-en.jsonl", {f"dev-{i}": label for i, label in enumerate(labels)})
    write_jsonl(root / "xquad/en.jsonl", dict(xquad(data)))
    (root / "system.toml").write_text('name = "x"')
    report = validate(root, data)
    assert report.everything() == []
    assert [(cell.task, cell.language, cell.split, cell.answers) for cell in report.cells] == [
        ("xnli", "en", "dev", 2490),
        ("xquad", "en", "test", 1190),
    ]


def test_all_problems_of_a_file_are_reported(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "pred"
    labels = xnli_dev(data)
    answers: dict[str, object] = {f"dev-{i}": label for i, label in enumerate(labels)}
    answers["dev-5"] = "neutrall"
    del answers["dev-7"]
    answers["dev-9999"] = "neutral"
    path = write_jsonl(root / "xnli/dev-en.jsonl", answers)
    path.write_text(path.read_text() + '{"id": "dev-3", "prediction": "neutral"}\n')
    found = texts(validate(root, data))
    assert "label 'neutrall' is not one of entailment, neutral, contradiction. Did you mean neutral?" in found
    assert "xnli/en/dev-5" in found
    assert "no answer for 1 of 2490 examples: dev-7" in found
    [unanswered] = (problem for problem in validate(root, data).errors if problem.code is ProblemCode.UNANSWERED)
    assert (unanswered.count, unanswered.total) == (1, 2490)
    assert "1 id is not in xnli/en dev: 'dev-9999'" in found
    assert "duplicate id 'dev-3', first at" in found
    assert "dev-en.jsonl:2491" in found


@pytest.mark.parametrize(
    ("answer_of", "what", "fix"),
    [
        (LABELS.index, "2,490 predictions: integers 0–2 instead of entailment, neutral, contradiction", "0=entailment"),
        (lambda label: LABELS.index(label) + 1, "2,490 predictions: integers 1–3 instead of", "1=entailment,2=neutral"),
        (lambda label: "Maybe", "2,490 predictions: label 'Maybe' is not one of entailment,", "Write the label itself"),
        (str.title, "2,490 predictions: 'Entailment', 'Neutral', 'Contradiction' instead of", "isogloss import table"),
    ],
)
def test_equal_problems_are_one(answer_of: Callable[[str], object], what: str, fix: str, tmp_path: Path) -> None:
    answers = {f"dev-{i}": answer_of(label) for i, label in enumerate(xnli_dev(tmp_path / "data"))}
    path = write_jsonl(tmp_path / "pred/xnli/dev-en.jsonl", answers)
    [problem] = validate(tmp_path / "pred", tmp_path / "data").errors
    assert problem.count == 2490
    assert problem.where == f"{path}:1 (xnli/en/dev-0)"
    assert problem.what.startswith(what)
    assert fix in problem.fix


def test_similar_problems_are_one(tmp_path: Path) -> None:
    answers: dict[str, object] = {f"dev-{i}": ["O"] * (i + 7) for i, _ in enumerate(wikiann_dev(tmp_path / "data"))}
    path = write_jsonl(tmp_path / "pred/wikiann/dev-qu.jsonl", answers)
    path.write_text(path.read_text() * 2)
    duplicates, counts = validate(tmp_path / "pred", tmp_path / "data").errors
    assert duplicates.what == f"duplicate id 'dev-0', first at {path}:1; 99 more like it"
    assert (counts.what, counts.fix) == ("7 tags for 2 tokens; 99 more like it", "Give one tag per token")


def test_wrong_keys_are_named_with_those_found(tmp_path: Path) -> None:
    xnli_dev(tmp_path / "data")
    path = tmp_path / "pred/xnli/dev-en.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"qid": "dev-0", "answer": "neutral"}\n' * 7)
    [problem] = validate(tmp_path / "pred", tmp_path / "data").errors
    assert problem.what == "7 lines: no key 'id' or 'prediction'; found 'qid', 'answer'"
    assert "isogloss import table FILE --id KEY --prediction KEY" in problem.fix
    path.write_text('{"id": "dev-0", "label": "neutral"}\n{"id": "dev-1", "gold": 1}\n')
    [problem] = validate(tmp_path / "pred", tmp_path / "data").errors
    assert problem.what == "no key 'prediction'; found 'id', 'label'; 1 more like it"


def test_answers_in_another_language_are_doubted(tmp_path: Path) -> None:
    answers = xquad(tmp_path / "data")
    shares = {"few": 475, "enough": 476}  # of 1,190: below and at 40 %
    for name, found in shares.items():
        changed = {key: text.upper() if i < found else f"другое {i}" for i, (key, text) in enumerate(answers.items())}
        write_jsonl(tmp_path / name / "xquad/en.jsonl", dict(changed))
    [doubt] = validate(tmp_path / "few", tmp_path / "data").everything()
    assert doubt.warning
    assert doubt.code is ProblemCode.UNLIKELY_ANSWERS
    assert doubt.what == "only 475 of 1,190 answers occur in their passages"
    [cell] = isogloss.score(tmp_path / "few", data=tmp_path / "data").cells
    assert cell.notes == [f"{doubt.what}. {doubt.fix}"]
    assert validate(tmp_path / "enough", tmp_path / "data").everything() == []


def test_right_answers_are_not_doubted_and_translations_are(data_dir: Path) -> None:
    kind, english = kind_of(isogloss.task("xquad")), isogloss.load("xquad", "en", data=data_dir)
    for code in isogloss.task("xquad").languages:
        answers = [texts[0] for texts in isogloss.load("xquad", code, data=data_dir)["answers"]]
        assert bool(kind.doubt(english, answers)) == (code != "en")


def test_long_answer_is_shortened(tmp_path: Path) -> None:
    labels = xnli_dev(tmp_path / "data")
    answers = {f"dev-{i}": label for i, label in enumerate(labels)} | {"dev-0": "x" * 1_000_000}
    write_jsonl(tmp_path / "pred/xnli/dev-en.jsonl", answers)
    [problem] = validate(tmp_path / "pred", tmp_path / "data").errors
    assert "dev-0" in str(problem)
    assert "Write the label itself" in str(problem)
    assert len(str(problem)) < 2_000


def test_wrong_tag_count_names_the_sentence(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "pred"
    answers: dict[str, object] = {f"dev-{i}": tags for i, tags in enumerate(wikiann_dev(data))}
    answers["dev-4"] = ["O"]
    answers["dev-6"] = ["O", "B-CAT"]
    write_jsonl(root / "panx/dev-qu.jsonl", answers)
    found = texts(validate(root, data))
    assert "dev-qu.jsonl:5 (wikiann/qu/dev-4): 1 tags for 2 tokens" in found
    assert "tag 'B-CAT' is not one of O, B-PER" in found


def test_spans_must_be_inside_the_text(tmp_path: Path) -> None:
    sentences = len(wikiann_dev(tmp_path / "data"))
    spans = [[0, 2, "PER"], [3, 99, "LOC"], [0, 1, "CAT"]]
    write_jsonl(tmp_path / "pred/wikiann/dev-qu.jsonl", {f"dev-{i}": spans if i == 1 else [] for i in range(sentences)})
    found = texts(validate(tmp_path / "pred", tmp_path / "data"))
    assert "span 3-99 is outside the text" in found
    assert "type 'CAT' is not one of LOC, ORG, PER" in found


def test_rankings_with_unknown_and_repeated_candidates(tmp_path: Path) -> None:
    data, root = tmp_path / "data", tmp_path / "pred"
    tatoeba(data)
    answers: dict[str, object] = {str(i): [str(i)] for i in range(205)}
    answers["3"] = ["3", "4", "3"]
    answers["8"] = 205
    write_jsonl(root / "tatoeba/jv.jsonl", answers)
    found = texts(validate(root, data))
    assert "tatoeba/jv/3): candidate '3' is ranked more than once" in found
    assert "tatoeba/jv/8): candidate '205' is not in the pool" in found


def embeddings(root: Path, rows: int, candidates: int, dimension: int = 8) -> None:
    folder = root / "tatoeba"
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for side, count, width in (("queries", rows, 8), ("candidates", candidates, dimension)):
        np.save(folder / f"{side}-jv.npy", rng.normal(size=(count, width)).astype(np.float32))
        (folder / f"{side}-jv.ids.txt").write_text("".join(f"{i}\n" for i in range(count)))


def test_embeddings_of_wrong_shape_or_content(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tatoeba(data)
    embeddings(tmp_path / "a", 205, 205, dimension=9)
    assert "8 dimensions, but the candidates have 9" in texts(validate(tmp_path / "a", data))
    embeddings(tmp_path / "b", 204, 205)
    assert "no vector for 1 id, e.g. '204'" in texts(validate(tmp_path / "b", data))
    embeddings(tmp_path / "c", 205, 205)
    path = tmp_path / "c/tatoeba/queries-jv.npy"
    vectors = np.load(path)
    vectors[17, 3] = np.nan
    np.save(path, vectors)
    assert "row 17 (id '17') is not finite" in texts(validate(tmp_path / "c", data))
    path.write_bytes(b"\x93NUMPY nonsense")
    assert "not a plain .npy array" in texts(validate(tmp_path / "c", data))
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "not a plain .npy array" in texts(validate(tmp_path / "c", data))


def test_misnamed_files_and_folders(tmp_path: Path) -> None:
    root = tmp_path / "pred"
    write_jsonl(root / "xquda/en.jsonl", {"a": "b"})
    write_jsonl(root / "xquad/fr.jsonl", {"a": "b"})
    (root / "notes.txt").write_text("hello")
    report = validate(root, tmp_path)
    found = texts(report)
    assert "not the name of a task. Did you mean xquad?" in found
    assert "fr.jsonl: not a language of xquad" in found
    assert len(report.errors) == 2


def test_without_data_only_the_format_is_checked(tmp_path: Path) -> None:
    root = tmp_path / "pred"
    path = write_jsonl(root / "xquad/en.jsonl", {"a": "b"})
    path.write_text(path.read_text() * 2 + "{bad\n")
    found = texts(validate(root, tmp_path / "nowhere"))
    assert "duplicate id 'a'" in found
    assert "en.jsonl:3: not JSON" in found
    assert "ids and answers not checked: the examples are not available" in found


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe"])
def test_empty_and_binary_files(tmp_path: Path, content: bytes) -> None:
    data, root = tmp_path / "data", tmp_path / "pred"
    xquad(data)
    (root / "xquad").mkdir(parents=True)
    (root / "xquad/en.jsonl").write_bytes(content)
    assert validate(root, data).everything() != []


def test_only_tasks_in_the_folder_are_checked_and_paths_can_be_strings(tmp_path: Path) -> None:
    answers = xquad(tmp_path / "data")
    write_jsonl(tmp_path / "p" / "xquad" / "en.jsonl", answers)
    report = validate(str(tmp_path / "p"), str(tmp_path / "data"))
    assert repr(report) == "ValidationReport(1 file, 0 errors, 0 warnings)"
    assert "no predictions found" in texts(validate(str(tmp_path / "p"), str(tmp_path / "data"), tasks=["xnli"]))


def test_checking_stops_after_a_thousand_errors(tmp_path: Path) -> None:
    """Faults of one line are reported once; a file stops at 1,000 errors, and so does the folder."""
    sentences = len(wikiann_dev(tmp_path / "data"))
    path = tmp_path / "pred/wikiann/dev-qu.jsonl"
    write_jsonl(path, {f"dev-{i}": [[7, 99, "PER"]] * 50 for i in range(sentences)})
    [spans] = validate(tmp_path / "pred", tmp_path / "data").errors
    assert spans.what.startswith("span 7-99 is outside the text")
    assert spans.what.endswith(f"; {sentences - 1} more like it")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] * 3_000)
    report = validate(tmp_path / "pred", tmp_path / "data")
    duplicates, end = report.errors[:2]
    assert (duplicates.code, duplicates.merged) == (ProblemCode.DUPLICATE_ID, MAX_PROBLEMS)
    assert str(end) == f"{path}: … and more: stopped reading after 1,000 problems"
    assert ProblemCode.TOO_MANY_PROBLEMS not in [problem.code for problem in report.problems], "no other file is left"


def test_remaining_files_are_not_read(tmp_path: Path) -> None:
    root = tmp_path / "pred"
    for code in ("ar", "bg", "de"):
        (root / "xnli").mkdir(parents=True, exist_ok=True)
        (root / f"xnli/{code}.jsonl").write_text("x\n" * 700)
    report = validate(root, tmp_path / "data")
    assert [cell.language for cell in report.cells] == ["ar", "bg"]
    assert str(report.problems[-1]) == f"{root}: … and more: stopped reading after 1,400 problems"
    assert sum(problem.count for problem in report.errors if problem.code is ProblemCode.INVALID_LINE) == 1_400


def test_misnamed_files_are_limited(tmp_path: Path) -> None:
    (tmp_path / "xnli").mkdir()
    for number in range(1_200):
        (tmp_path / f"xnli/{number}.jsonl").touch()
    (tmp_path / "xnli/de.jsonl").touch()
    report = validate(tmp_path)
    assert report.cells == []
    *names, end = report.problems
    assert {problem.code for problem in names} == {ProblemCode.UNKNOWN_LANGUAGE}
    assert len(names) == end.count == MAX_PROBLEMS
    assert end.code is ProblemCode.TOO_MANY_PROBLEMS


def test_distinct_descriptions_are_limited(tmp_path: Path) -> None:
    """Equal problems of many answers count once, so that the same mistake in every language is reported."""
    labels = xnli_dev(tmp_path / "data")
    task = isogloss.task("xnli")
    examples = isogloss.load("xnli", "en", "dev", data=tmp_path / "data")

    class Distinct(type(kind_of(task))):  # type: ignore[misc]
        def errors(self, *_: object) -> Iterator[tuple[int, str, str]]:
            return ((row, f"wrong {row}", "") for row in range(len(labels)))

    answers = Answers(Path("en.jsonl"), ids=examples.ids, values=labels, numbers=[0] * len(labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "kind_of", lambda _: Distinct())
        _, problems = check.align(task, examples, answers)
    assert [problem.merged for problem in problems] == [MAX_PROBLEMS, 1]
    assert problems[1].code is ProblemCode.TOO_MANY_PROBLEMS
